"""`cairn trace`: an execution of a state machine, from its history events, as a tree.

On AWS each event names the one before it, which keeps concurrent branches apart. The laptop's
emulator leaves that out; there events belong to whatever state is open when they come.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cairn.cli.client import Failure
from cairn.cli.deps import Deps
from cairn.cli.options import Json, deps_of, escape, print_json
from cairn.kernel.clock import utc_now

if TYPE_CHECKING:
    from rich.tree import Tree


RUNNING, SUCCEEDED, CAUGHT, FAILED = "running", "succeeded", "caught", "failed"

_STARTS = ("TaskScheduled", "LambdaFunctionScheduled", "ActivityScheduled")
_GOOD_ENDS = ("TaskSucceeded", "LambdaFunctionSucceeded", "ActivitySucceeded")
_BAD_ENDS = (
    "TaskFailed",
    "TaskTimedOut",
    "TaskStartFailed",
    "TaskSubmitFailed",
    "LambdaFunctionFailed",
    "LambdaFunctionTimedOut",
    "LambdaFunctionScheduleFailed",
    "ActivityFailed",
    "ActivityTimedOut",
)
_EXECUTION_ENDS = {
    "ExecutionSucceeded": SUCCEEDED,
    "ExecutionFailed": FAILED,
    "ExecutionTimedOut": FAILED,
    "ExecutionAborted": FAILED,
}
_ITERATION_ENDS = {
    "MapIterationSucceeded": SUCCEEDED,
    "MapIterationFailed": FAILED,
    "MapIterationAborted": FAILED,
}


@dataclass(kw_only=True)
class Span:
    """A state, a map iteration, a call or the execution itself; `ended` is None while it runs.

    `caught` means the state failed and the machine went on. `attempts` counts its calls.
    """

    name: str
    kind: str
    started: datetime
    parent: "Span | None" = field(default=None, repr=False)
    ended: datetime | None = None
    status: str = RUNNING
    attempts: int = 0
    error: str | None = None
    children: list["Span"] = field(default_factory=list["Span"])

    def seconds(self, now: datetime) -> float:
        """Return how long it took, or has taken until `now`."""
        return ((self.ended or now) - self.started).total_seconds()

    def child(self, name: str, kind: str, started: datetime) -> "Span":
        """Add and return a span inside this one."""
        child = Span(name=name, kind=kind, started=started, parent=self)
        self.children.append(child)
        return child

    def close(self, ended: datetime, status: str) -> None:
        """End it; a state that failed on the way and still ended well was caught."""
        self.ended = ended
        self.status = CAUGHT if status == SUCCEEDED and self.status == FAILED else status


class _Builder:
    def __init__(self, name: str, started: datetime) -> None:
        self.root = Span(name=name, kind="Execution", started=started)
        self.owners: dict[int, Span] = {}

    def add(self, event: Mapping[str, Any]) -> None:
        number = int(event["id"])
        before = int(event.get("previousEventId") or number - 1)
        owner = self.owners.get(before, self.root)
        self.owners[number] = self._apply(event, owner)

    def _apply(self, event: Mapping[str, Any], owner: Span) -> Span:
        """Take one event in and return the span that what follows it belongs to."""
        kind, at = str(event["type"]), event["timestamp"]
        if kind.endswith("StateEntered"):
            name = str(event["stateEnteredEventDetails"]["name"])
            return owner.child(name, kind.removesuffix("StateEntered"), at)
        if kind.endswith("StateExited"):
            return self._exit(str(event["stateExitedEventDetails"]["name"]), at, owner)
        if kind == "MapIterationStarted":
            index = event.get("mapIterationStartedEventDetails", {}).get("index", 0)
            return owner.child(f"#{index}", "Iteration", at)
        if kind in _ITERATION_ENDS:
            return self._end_iteration(at, _ITERATION_ENDS[kind], owner)
        if kind in _EXECUTION_ENDS:
            self._end(event, at, _EXECUTION_ENDS[kind])
            return self.root
        _call(kind, event, at, owner)
        return owner

    def _exit(self, name: str, at: datetime, owner: Span) -> Span:
        span: Span | None = owner
        while span and span.name != name:
            span = span.parent
        if span is None:
            return owner
        span.close(at, SUCCEEDED)
        return span.parent or self.root

    def _end_iteration(self, at: datetime, status: str, owner: Span) -> Span:
        span: Span | None = owner
        while span and span.kind != "Iteration":
            span = span.parent
        if span is None:
            return owner
        span.close(at, status)
        return span.parent or self.root

    def _end(self, event: Mapping[str, Any], at: datetime, status: str) -> None:
        for span in _walk(self.root):
            if span.ended is None:
                span.close(at, status)
        self.root.error = _error_of(event)


def build(events: Iterable[Mapping[str, Any]], *, name: str) -> Span:
    """Return the tree of an execution's history, oldest event first; timestamps are datetimes.

    Raises ValueError when there are no events.
    """
    builder: _Builder | None = None
    for event in events:
        builder = builder or _Builder(name, event["timestamp"])
        builder.add(event)
    if builder is None:
        raise ValueError("this execution has no history")
    return builder.root


def _call(kind: str, event: Mapping[str, Any], at: datetime, owner: Span) -> None:
    """Count a task's calls; calls directly below a map become spans of their own."""
    inside_map = owner.kind in ("Map", "Parallel", "Execution")
    if kind in _STARTS:
        call = owner.child(f"call {len(owner.children)}", "Call", at) if inside_map else owner
        call.attempts += 1
    elif kind in _GOOD_ENDS or kind in _BAD_ENDS:
        target = next((each for each in owner.children if each.ended is None), owner)
        target = target if inside_map else owner
        good = kind in _GOOD_ENDS
        target.status = RUNNING if good else FAILED
        target.error = target.error if good else _error_of(event)
        if inside_map and target is not owner:
            target.close(at, SUCCEEDED if good else FAILED)


def _error_of(event: Mapping[str, Any]) -> str | None:
    for name, details in event.items():
        if name.endswith("EventDetails") and "error" in details:
            cause = " ".join(_message(str(details.get("cause") or "")).split())
            return f"{details['error']}: {cause[:200]}" if cause else str(details["error"])
    return None


def _message(cause: str) -> str:
    """Return the message in a Lambda error's cause, which is a JSON object; else the cause."""
    try:
        parsed: Any = json.loads(cause)
    except ValueError:
        return cause
    return str(parsed["errorMessage"]) if "errorMessage" in parsed else cause


def _walk(span: Span) -> Iterable[Span]:
    yield span
    for child in span.children:
        yield from _walk(child)


_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_MARKS = {
    SUCCEEDED: "[green]✔[/]",
    CAUGHT: "[yellow]↯[/]",
    FAILED: "[red]✘[/]",
    RUNNING: "[cyan]…[/]",
}


def trace(
    ctx: typer.Context,
    execution: Annotated[str, typer.Argument(help="An execution's ARN, or an ingestion's id.")],
    as_json: Json = False,
) -> None:
    """Draw an execution's history as a tree with the time each state took."""
    deps = deps_of(ctx)
    root = fetch(deps, execution_arn(deps, execution))
    now = utc_now()
    if as_json:
        print_json(_plain(root, now))
    else:
        deps.out.print(draw(root, now))


def execution_arn(deps: Deps, execution: str) -> str:
    """Return the ARN of an execution given as such or as an ingestion's id, which names it."""
    if execution.startswith("arn:"):
        return execution
    if not _UUID.fullmatch(execution):
        raise typer.BadParameter("Give an execution's ARN or an ingestion's id.")
    machine = deps.settings.ingestion_machine_arn
    if not machine:
        raise Failure(
            "The ingestion machine is not known here.", advice="set CAIRN_INGESTION_MACHINE_ARN"
        )
    return f"{machine.replace(':stateMachine:', ':execution:')}:{execution.lower()}"


def fetch(deps: Deps, arn: str) -> Span:
    """Read an execution's whole history and return its tree."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        pages = deps.aws("stepfunctions").get_paginator("get_execution_history")
        pages_read = pages.paginate(executionArn=arn, includeExecutionData=False)
        events: list[dict[str, Any]] = [event for page in pages_read for event in page["events"]]
        return build(sorted(events, key=lambda each: each["id"]), name=arn.rpartition(":")[2])
    except ClientError as exc:
        message = exc.response.get("Error", {}).get("Message", "unknown error")
        raise Failure(f"The execution cannot be read: {message}.") from exc
    except BotoCoreError as exc:
        raise Failure(
            f"Step Functions cannot be reached: {exc}", advice="start the stack: cairn up"
        ) from exc
    except ValueError as exc:
        raise Failure(f"There is nothing to draw: {exc}.") from exc


def draw(root: Span, now: datetime) -> "Tree":
    """Return the tree to print; times are seconds from the beginning and seconds taken."""
    from rich.tree import Tree

    tree = Tree(_label(root, root, now))
    stack = [(tree, child) for child in reversed(root.children)]
    while stack:
        branch, span = stack.pop()
        grown = branch.add(_label(span, root, now))
        stack.extend((grown, child) for child in reversed(span.children))
    return tree


def _label(span: Span, root: Span, now: datetime) -> str:
    offset = (span.started - root.started).total_seconds()
    tries = f" [yellow]{span.attempts} attempts[/]" if span.attempts > 1 else ""
    error = f"\n[red]{escape(span.error)}[/]" if span.error else ""
    kind = "" if span.kind in ("Task", "Call", "Iteration") else f" [dim]{span.kind}[/]"
    start = "" if span is root else f"  [dim]+{offset:.2f} s[/]"
    taken = f"[bold]{span.seconds(now):.2f} s[/]"
    return f"{_MARKS[span.status]} {escape(span.name)}{kind}  {taken}{start}{tries}{error}"


def _plain(span: Span, now: datetime) -> dict[str, Any]:
    return {
        "name": span.name,
        "kind": span.kind,
        "status": span.status,
        "started": span.started.astimezone(UTC).isoformat(),
        "seconds": round(span.seconds(now), 3),
        "attempts": span.attempts,
        "error": span.error,
        "children": [_plain(child, now) for child in span.children],
    }
