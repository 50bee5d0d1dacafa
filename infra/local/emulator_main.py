"""Entry point of the AWS emulator's process: ministack behind a guard, with errors named as on AWS.

Lambda reports a raised exception under its class name, and state machines retry and catch by that
name; ministack reports every one as Runtime.HandlerError. A task that waits for its token fails
when its function fails; ministack waits on. Workers of a function start one after the other: a
laptop has no more processors for many. A queue lets the groups of its messages take turns, as SQS
does. Not a fork: seven names of the pinned version are wrapped, and a contract test notices when
they move.
"""

import hmac
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ministack.core import lambda_runtime
from ministack.services import lambda_svc

from cairn.kernel.clock import utc_now
from infra.local.guard import Guard

REPORTED = '"error": str(e), "trace": traceback.format_exc()'
NAMED = '"error_type": type(e).__name__, ' + REPORTED
WORKER_DIED = "Worker process died"
BROKEN_PIPE = "[Errno 32]"
"""Of a worker that was killed just before it was given its call."""

NEVER_STARTED = "Worker process exited immediately"

EXITED = "Runtime.ExitError"

PATIENCE = 5.0
"""Seconds that calls wait for the first answer of a function's newest worker."""

PAUSE = 0.01

last = threading.local()


def name_errors() -> None:
    """Make workers report the exception's class, and the emulator pass it on as errorType."""
    runtime: Any = lambda_runtime
    service: Any = lambda_svc
    script: str = runtime._PYTHON_WORKER_SCRIPT
    if script.count(REPORTED) != 1:
        raise RuntimeError("this ministack's worker script is not the one cairn was tested with")
    runtime._PYTHON_WORKER_SCRIPT = script.replace(REPORTED, NAMED)
    invoke_worker = runtime.Worker.invoke
    execute = service._execute_function_warm

    def invoke(self: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        answer: dict[str, Any] = invoke_worker(self, *args, **kwargs)
        self.answered = True
        last.error_type = EXITED if is_dead(answer) else answer.get("error_type")
        return answer

    def execute_and_name(*args: Any, **kwargs: Any) -> dict[str, Any]:
        last.error_type = None
        result: dict[str, Any] = execute(*args, **kwargs)
        if result.get("error") and last.error_type:
            result["body"]["errorType"] = last.error_type
        elif result.get("error") and _never_started(result):
            result["body"]["errorType"] = EXITED
        return result

    runtime.Worker.invoke = invoke
    service._execute_function_warm = execute_and_name


def is_dead(answer: Mapping[str, Any]) -> bool:
    """Return whether an answer is of a worker that went away, not of its handler."""
    error = str(answer.get("error", ""))
    return "error_type" not in answer and error.startswith((WORKER_DIED, BROKEN_PIPE))


def _never_started(result: dict[str, Any]) -> bool:
    """Return whether a worker died while it imported its handler."""
    return str(result["body"].get("errorMessage", "")).startswith(NEVER_STARTED)


def start_one_at_a_time() -> None:
    """Let a call wait for the worker that is being started, rather than start one more.

    Each loads libraries, a model or connectors: six that do so at once are all ready later than two
    that take turns. Patience is short, so that nobody waits for good for who waits for him.
    """
    runtime: Any = lambda_runtime
    service: Any = lambda_svc
    take, deciding = service.acquire_worker, threading.Lock()

    def take_in_turn(name: str, config: Any, code: bytes, qualifier: str = "$LATEST") -> Any:
        key = runtime._worker_key(name, config, qualifier)
        while True:
            with deciding:
                workers = list(runtime._workers.get(key, ()))
                is_free = any(not worker.in_use for worker in workers)
                if is_free or not any(_starts(worker) for worker in workers):
                    return take(name, config, code, qualifier=qualifier)
            time.sleep(PAUSE)

    service.acquire_worker = take_in_turn


def _starts(worker: Any) -> bool:
    """Return whether a worker was started a moment ago and has answered nothing yet."""
    return not hasattr(worker, "answered") and time.time() - worker.last_used < PATIENCE


def take_turns() -> None:
    """Hand out a standard queue's messages of each group in turn, those in flight counted."""
    from ministack.services import sqs

    service: Any = sqs
    collect = service._collect_msgs

    def collect_in_turn(queue: dict[str, Any], most: int, hidden: int) -> list[dict[str, Any]]:
        if queue["is_fifo"]:
            return collect(queue, most, hidden)
        return collect({**queue, "messages": in_turn(queue["messages"])}, most, hidden)

    service._collect_msgs = collect_in_turn


def in_turn(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages so that the first of each group come first, then the second ones."""
    seen: Counter[str] = Counter()
    places: list[int] = []
    for message in messages:
        group = message.get("group_id") or ""
        places.append(seen[group] if group else 0)
        seen[group] += 1
    return [message for _, message in sorted(zip(places, messages, strict=True), key=_place)]


def _place(placed: tuple[int, dict[str, Any]]) -> int:
    return placed[0]


def fail_callbacks() -> None:
    """Let a task that waits for its token fail with the function that was to keep the token."""
    from ministack.services import stepfunctions

    service: Any = stepfunctions
    call_function = service._call_lambda
    wait_for_token = service._invoke_with_callback

    def call(function: str, event: Any) -> Any:
        token = getattr(last, "token", None)
        try:
            return call_function(function, event)
        except service._ExecutionError as error:
            waiting = service._task_tokens.get(token)
            if waiting:
                waiting["error"] = {"Error": error.error, "Cause": error.cause}
                waiting["event"].set()
            raise

    def wait(resource: str, parameters: Any, token: str, state: Any) -> Any:
        last.token = token
        try:
            return wait_for_token(resource, parameters, token, state)
        finally:
            last.token = None

    service._call_lambda = call
    service._invoke_with_callback = wait


def save_on_request() -> None:
    """Save the state at SIGUSR1, so that a killed emulator comes back with its deployment."""
    from ministack import app
    from ministack.core import persistence

    server: Any = app
    store: Any = persistence

    def save(_number: int, _frame: object) -> None:
        store.save_all(server._build_persistence_save_dict())

    signal.signal(signal.SIGUSR1, save)


def keep_sessions_secret() -> None:
    """Make credentials of execution roles from this stack's secret: ministack's can be guessed."""
    from ministack import app
    from ministack.services import sts

    sessions: Any = sts
    runtime: Any = lambda_runtime
    service: Any = lambda_svc
    original = runtime.execution_credentials
    stack_secret = os.environ["AWS_SECRET_ACCESS_KEY"].encode()

    def derive(text: str) -> str:
        return hmac.digest(stack_secret, text.encode(), "sha256").hex()

    def credentials(config: dict[str, Any]) -> dict[str, str]:
        if not app.AUTH:
            return original(config)
        function, role = config["FunctionArn"], config.get("Role", "")
        account, role_name = function.split(":")[4], role.rsplit("/", 1)[-1]
        session = f"{role_name}/{config.get('FunctionName', 'function')[:64]}"
        key = f"ASIA{derive(f'key {function} {role}')[:16].upper()}"
        secret, token = derive(f"secret {key}"), derive(f"token {key}")
        record = {
            "Arn": f"arn:aws:sts::{account}:assumed-role/{session}",
            "UserId": session.replace("/", ":"),
            "SecretAccessKey": secret,
            "SessionToken": token,
        }
        sessions.register_session(key, record)
        return {
            "AWS_ACCESS_KEY_ID": key,
            "AWS_SECRET_ACCESS_KEY": secret,
            "AWS_SESSION_TOKEN": token,
        }

    runtime.execution_credentials = service.execution_credentials = credentials


def put_up_guard() -> None:
    """Let nobody in but who has this stack's credentials; see `guard`."""
    from ministack import app
    from ministack.core.iam_evaluator import ResolvedCredential, resolve_credential

    server: Any = app

    def find_secret(access_key: str, token: str) -> str | None:
        credential = resolve_credential(access_key, session_token=token)
        return credential.secret_access_key if isinstance(credential, ResolvedCredential) else None

    server.app = Guard(
        app=server.app,
        port=int(os.environ["GATEWAY_PORT"]),
        upload_origin=os.environ["UPLOAD_ORIGIN"],
        find_secret=find_secret,
        now=utc_now,
    )


if __name__ == "__main__":
    name_errors()
    start_one_at_a_time()
    take_turns()
    fail_callbacks()
    save_on_request()
    keep_sessions_secret()
    put_up_guard()

    from ministack.app import main

    main()
