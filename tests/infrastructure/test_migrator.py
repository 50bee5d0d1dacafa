"""The migrator: answers CloudFormation whatever happens, and issues one claim at a time."""

import hashlib
import importlib.util
import io
import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import ModuleType, SimpleNamespace
from typing import Any

import jsonata
import psycopg
import pytest
from infra.cdk.issue_claim import issue
from tests.infrastructure.assembly import ROOT
from tests.plugins.postgres import Database

from cairn.adapters.postgres.accounts import RedeemClaim
from cairn.adapters.postgres.database import Database as PostgresDatabase
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import Conflict
from cairn.kernel.ids import new_id

FOLDER = ROOT / "infra" / "cdk" / "migrator"
DEFINITION = FOLDER / "migration.asl.json"
MACHINE_ARN = "arn:aws:states:eu-central-1:111122223333:stateMachine:cairn-prod-migration"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
CONTEXT = SimpleNamespace(log_stream_name="2026/03/01/[$LATEST]abc")


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"migrator_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def handler(monkeypatch: pytest.MonkeyPatch, database: Database) -> ModuleType:
    """The handler as Lambda loads it, with the secret replaced by a test database's owner."""
    monkeypatch.syspath_prepend(str(FOLDER))
    module = load("handler")
    monkeypatch.setattr(module, "_owner_url", lambda: database.owner_url)
    return module


@pytest.fixture
def connection(database: Database) -> Iterator[psycopg.Connection[Any]]:
    """The owner's, in a transaction that is rolled back, claims and all."""
    with psycopg.connect(database.owner_url) as opened:
        opened.execute("SELECT 1")  # so that the transaction of `issue_claim` is a part of ours
        yield opened
        opened.rollback()


class CloudFormation:
    """Stands where CloudFormation's presigned URL points, and keeps what was put there."""

    def __init__(self) -> None:
        answers: list[dict[str, Any]] = []

        class Listener(BaseHTTPRequestHandler):
            def do_PUT(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                answers.append(json.loads(body))
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet."""

        self.answers = answers
        self.server = HTTPServer(("127.0.0.1", 0), Listener)
        self.url = f"http://127.0.0.1:{self.server.server_port}/answer?signature=x"

    def event(self, request: str) -> dict[str, Any]:
        return {
            "RequestType": request,
            "ResponseURL": self.url,
            "StackId": "stack",
            "RequestId": "request",
            "LogicalResourceId": "Run",
        }


@pytest.fixture
def cloudformation() -> Iterator[CloudFormation]:
    listening = CloudFormation()
    thread = threading.Thread(target=listening.server.serve_forever, daemon=True)
    thread.start()
    yield listening
    listening.server.shutdown()
    listening.server.server_close()
    thread.join()


@pytest.fixture
def as_on_aurora(database: Database) -> Iterator[None]:
    """The role `rds_iam`, which Aurora has and the owner may give away."""
    with database.connect_as_superuser() as superuser, superuser.cursor() as cursor:
        cursor.execute("CREATE ROLE rds_iam")
        cursor.execute("GRANT rds_iam TO cairn_owner WITH ADMIN OPTION")
    yield
    with database.connect_as_superuser() as superuser, superuser.cursor() as cursor:
        cursor.execute("DROP ROLE rds_iam")


class Machine:
    """The machine of the definition, run by what the handler asks Step Functions for."""

    def __init__(self, handler: ModuleType) -> None:
        self.handler = handler
        self.states: dict[str, Any] = json.loads(DEFINITION.read_text(encoding="utf-8"))["States"]
        self.steps: list[str] = []
        self.seconds = 900.0
        self.started: set[str] = set()

    def client(self, service: str) -> "Machine":
        assert service == "stepfunctions"
        return self

    def start_execution(self, *, stateMachineArn: str, name: str, input: str) -> None:
        assert stateMachineArn == MACHINE_ARN
        if name not in self.started:
            self.started.add(name)
            self.run(json.loads(input))

    def run(self, given: Any) -> None:
        name, known = "Accept", {}
        while name:
            state, self.steps = self.states[name], [*self.steps, name]
            name, given = getattr(self, state["Type"].lower())(state, given, known)

    def get_remaining_time_in_millis(self) -> float:
        return self.seconds * 1000

    def evaluated(self, value: Any, known: dict[str, Any], **states: Any) -> Any:
        if isinstance(value, dict):
            return {name: self.evaluated(one, known, **states) for name, one in value.items()}
        if isinstance(value, str) and value.startswith("{%"):
            expression = jsonata.Jsonata(value[2:-2].strip())
            for variable, held in {**known, "states": states}.items():
                expression.assign(variable, held)
            return expression.evaluate(None)
        return value

    def passes(self, state: Any, given: Any, known: dict[str, Any]) -> tuple[str, Any]:
        known |= self.evaluated(state.get("Assign", {}), known, input=given)
        return state["Next"], self.evaluated(state.get("Output", given), known, input=given)

    def choice(self, state: Any, given: Any, known: dict[str, Any]) -> tuple[str, Any]:
        for item in state["Choices"]:
            if self.evaluated(item["Condition"], known, input=given):
                return item["Next"], given
        return state["Default"], given

    def task(self, state: Any, given: Any, known: dict[str, Any]) -> tuple[str, Any]:
        payload = self.evaluated(state["Arguments"]["Payload"], known, input=given)
        try:
            result = {"Payload": self.handler.handler(payload, self)}
        except Exception as problem:  # noqa: BLE001 - as Step Functions sees it
            (caught,) = state["Catch"]
            about = {"Error": type(problem).__name__, "Cause": str(problem)}
            return caught["Next"], self.evaluated(caught["Output"], known, errorOutput=about)
        output = self.evaluated(state.get("Output"), known, input=given, result=result)
        return state.get("Next", ""), output


setattr(Machine, "pass", Machine.passes)


@pytest.fixture
def machine(handler: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(handler)
    monkeypatch.setattr(handler, "boto3", made)
    monkeypatch.setenv("CAIRN_MIGRATION_MACHINE_ARN", MACHINE_ARN)
    return made


@pytest.mark.usefixtures("as_on_aurora")
def test_a_deployment_migrates_and_lets_functions_in_by_token(
    machine: Machine, cloudformation: CloudFormation, connection: psycopg.Connection[Any]
) -> None:
    event = cloudformation.event("Create")
    for _ in range(2):  # Lambda may deliver an event twice
        assert machine.handler.handler(event, CONTEXT) == {"status": "STARTED"}
    (answer,) = cloudformation.answers
    assert answer["Status"] == "SUCCESS"
    assert (answer["StackId"], answer["RequestId"]) == ("stack", "request")
    member = connection.execute("SELECT pg_has_role('cairn_app', 'rds_iam', 'member')").fetchone()
    assert member == (True,)


@pytest.mark.usefixtures("as_on_aurora")
def test_a_deployment_registers_its_model_and_an_operator_the_next_one(
    machine: Machine,
    cloudformation: CloudFormation,
    connection: psycopg.Connection[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CAIRN_EMBEDDING_MODEL", "acme/first?dimensions=12")
    machine.handler.handler(cloudformation.event("Update"), CONTEXT)
    assert [answer["Status"] for answer in cloudformation.answers] == ["SUCCESS"]
    asked = {"step": "register_model", "model": "acme/next?dimensions=13"}
    told = [machine.handler.handler(asked, machine) for _ in range(2)]
    assert [item["new"] for item in told] == [True, False]
    rows = connection.execute(
        """SELECT m.name, m.dimensions, count(*) FROM embedding_model m
             JOIN pg_indexes i ON i.indexname ~ ('_hnsw_' || m.id || '$')
            WHERE m.name LIKE 'acme/%' GROUP BY 1, 2 ORDER BY 1"""
    ).fetchall()
    assert rows == [("acme/first", 12, 16), ("acme/next", 13, 16)]


def test_what_takes_longer_than_a_function_lives_is_done_in_several_calls(
    machine: Machine, cloudformation: CloudFormation, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [["0002.b", "0003.c"], ["0003.c"], []]
    seconds: list[float] = []

    def slowly(url: str, *, iam: bool, seconds: float, asked: list[float] = seconds) -> list[str]:
        asked.append(seconds)
        if still := left.pop(0):
            raise machine.handler.MigrationsLeft(["0001.a"], still)
        return ["0003.c"]

    monkeypatch.setattr(machine.handler, "migrate", slowly)
    machine.handler.handler(cloudformation.event("Update"), CONTEXT)
    assert machine.steps == ["Accept", *["Migrate", "Left"] * 3, "Done", "Answer"]
    assert [answer["Status"] for answer in cloudformation.answers] == ["SUCCESS"]
    assert seconds == [800.0] * 3


def test_a_failed_migration_is_told_with_its_reason(
    machine: Machine, cloudformation: CloudFormation
) -> None:
    machine.handler.handler(cloudformation.event("Update"), CONTEXT)  # rds_iam is missing here
    (answer,) = cloudformation.answers
    assert answer["Status"] == "FAILED"
    assert "rds_iam" in answer["Reason"]
    assert "postgresql://" not in answer["Reason"]


def test_a_machine_that_cannot_be_started_is_told(
    handler: ModuleType, cloudformation: CloudFormation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CAIRN_MIGRATION_MACHINE_ARN", raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    assert handler.handler(cloudformation.event("Create"), CONTEXT) == {"status": "FAILED"}
    (answer,) = cloudformation.answers
    assert "CAIRN_MIGRATION_MACHINE_ARN" in answer["Reason"]


def test_deleting_the_resource_leaves_the_database_alone(
    handler: ModuleType, cloudformation: CloudFormation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a deletion must not touch the schema")

    monkeypatch.setattr(handler, "migrate", refuse)
    event = cloudformation.event("Delete") | {"PhysicalResourceId": "cairn-migrations"}
    handler.handler(event, CONTEXT)
    (answer,) = cloudformation.answers
    assert (answer["Status"], answer["PhysicalResourceId"]) == ("SUCCESS", "cairn-migrations")


def test_other_events_are_refused(handler: ModuleType) -> None:
    with pytest.raises(ValueError, match="own steps"):
        handler.handler({"step": "drop_everything"}, CONTEXT)


def test_only_the_hash_of_a_claim_is_stored(connection: psycopg.Connection[Any]) -> None:
    issued = load("claims").issue_claim(connection, now=NOW)
    stored = connection.execute("SELECT token_hash, expires_at, used_at FROM claim").fetchall()
    digest = hashlib.sha256(issued["token"].encode()).digest()
    assert stored == [(digest, NOW + timedelta(minutes=15), None)]
    assert issued["expires_at"] == "2026-03-01T12:15:00+00:00"


def test_a_second_claim_waits_until_the_first_has_expired(
    connection: psycopg.Connection[Any],
) -> None:
    claims = load("claims")
    first = claims.issue_claim(connection, now=NOW)
    with pytest.raises(claims.ClaimRefused, match="still valid"):
        claims.issue_claim(connection, now=NOW + timedelta(minutes=14))
    later = claims.issue_claim(connection, now=NOW + timedelta(minutes=15))
    assert later["token"] != first["token"]


def test_no_claim_is_issued_once_one_was_used(connection: psycopg.Connection[Any]) -> None:
    claims = load("claims")
    claims.issue_claim(connection, now=NOW)
    connection.execute("UPDATE claim SET used_at = %s", [NOW])
    with pytest.raises(claims.ClaimRefused, match="was claimed"):
        claims.issue_claim(connection, now=NOW + timedelta(days=1))


def test_an_issued_claim_becomes_the_first_admin_key_once(
    handler: ModuleType, database: Database
) -> None:
    issued = handler.handler({"step": "issue_claim"}, CONTEXT)
    functions = PostgresDatabase(database.app_url)
    try:
        redeem = RedeemClaim(functions, utc_now, new_id)
        created = redeem(token=issued["token"], workspace_name="main")
        assert created.secret.startswith("cairn_")
        with pytest.raises(Conflict):
            redeem(token=issued["token"], workspace_name="again")
        with pytest.raises(Exception, match="was claimed"):
            handler.handler({"step": "issue_claim"}, CONTEXT)
    finally:
        functions.close()
        with database.connect_as_superuser() as superuser:
            superuser.execute("DELETE FROM claim")


class Aws:
    """Answers the operator's two calls as AWS does."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.answer = answer
        self.invoked: list[tuple[str, Any]] = []

    def client(self, _service: str) -> "Aws":
        return self

    def invoke(self, *, FunctionName: str, Payload: str) -> dict[str, Any]:
        self.invoked.append((FunctionName, json.loads(Payload)))
        body = self.answer | {"Payload": io.BytesIO(json.dumps(self.answer["Payload"]).encode())}
        return body

    def describe_stacks(self, *, StackName: str) -> dict[str, Any]:
        assert StackName == "cairn-prod-api"
        url = {"OutputKey": "HttpApiUrl", "OutputValue": "https://abc.example.org/"}
        return {"Stacks": [{"Outputs": [url]}]}


def test_the_operator_gets_the_token_and_where_to_take_it() -> None:
    aws = Aws({"Payload": {"token": "t", "expires_at": "soon", "path": "/v1/claim"}})
    assert issue(aws, stage="prod")["url"] == "https://abc.example.org"
    assert aws.invoked == [("cairn-prod-migrator", {"step": "issue_claim"})]


def test_the_operator_is_told_why_a_claim_is_refused() -> None:
    refusal = {"errorType": "ClaimRefused", "errorMessage": "this deployment was claimed"}
    with pytest.raises(RuntimeError, match="was claimed"):
        issue(Aws({"FunctionError": "Unhandled", "Payload": refusal}), stage="prod")
