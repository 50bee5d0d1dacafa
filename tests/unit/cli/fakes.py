"""What the commands work with in tests: the real API over fake use cases, fake AWS, fake stack."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any
from uuid import UUID

import anyio
import httpx
import typer.testing
from pydantic import SecretStr
from tests.unit.api.fakes import ADMIN_KEY, WORKSPACE, Client, World
from typer.main import get_command
from typer.testing import CliRunner, Result

from cairn.cli.deps import Deps
from cairn.cli.main import app
from cairn.kernel.access import Principal
from cairn.llm.costs import CostRow
from cairn.reading.views import DocumentStatus, IngestionView, LedgerVerification
from cairn.settings.cli import CliSettings

# The runner makes all commands anew for each call: a tenth of a second, hundreds of times.
typer.testing._get_command = cache(get_command)  # pyright: ignore[reportPrivateUsage]

START = datetime(2026, 3, 15, 10, 0, tzinfo=UTC)


class AppTransport(httpx.BaseTransport):
    """Lets a synchronous client talk to the API app in process."""

    def __init__(self, world: World) -> None:
        self.inner = httpx.ASGITransport(app=Client(world).app)
        self.seen: list[str] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(f"{request.method} {request.url.path}")

        async def call() -> httpx.Response:
            asked = httpx.Request(
                request.method, request.url, headers=request.headers, content=request.read()
            )
            answer = await self.inner.handle_async_request(asked)
            return httpx.Response(
                answer.status_code, headers=answer.headers, content=await answer.aread()
            )

        return anyio.run(call)


def verification(workspace: UUID = WORKSPACE, bad: int | None = None) -> LedgerVerification:
    return LedgerVerification(
        workspace_id=workspace,
        ok=bad is None,
        checked=9 if bad is None else bad - 1,
        first_bad_position=bad,
        reason=None if bad is None else "hash-mismatch",
        head_position=9,
        head_hash="ab" * 32,
    )


@dataclass
class FakeOperator:
    chains: dict[UUID, LedgerVerification] = field(default_factory=dict)
    made: list[str] = field(default_factory=list)

    def create_workspace(self, owner_url: str, name: str) -> tuple[UUID, str]:
        self.made.append(name)
        return UUID(int=5), "cairn_new.secret"

    def list_workspaces(self, owner_url: str) -> list[dict[str, Any]]:
        return [
            {
                "id": UUID(int=5),
                "name": "main",
                "created_at": START,
                "entries": 3,
                "last_entry_at": START,
            }
        ]

    def verify_ledgers(
        self, owner_url: str, workspace_id: UUID | None = None, settings: object = None
    ) -> Iterable[LedgerVerification]:
        if workspace_id is not None:
            return [self.chains[workspace_id]]
        return list(self.chains.values())

    def check_vectors(self, settings: object, workspace_id: UUID, *, deep: bool) -> dict[str, Any]:
        return {"model": "m", "nodes": 1, "texts": 1, "wrong": 0, "wrong_nodes": []}

    def costs(self, owner_url: str, since: date, until: date) -> Iterable[CostRow]:
        self.made.append(f"{since} {until}")
        return [CostRow(name=str(UUID(int=5)), calls=2, tokens=10, usd=0.5)]

    def export_ledger(self, owner_url: str, workspace_id: UUID) -> Iterable[str]:
        yield '{"format": "cairn-ledger-1"}\n'
        yield '{"position": 1}\n'


@dataclass
class FakeStack:
    running: bool = True
    calls: list[str] = field(default_factory=list)
    failure: str | None = None

    def up(self, *, opensearch: bool = False) -> dict[str, str]:
        if self.failure:
            raise RuntimeError(self.failure)
        self.calls.append("up with opensearch" if opensearch else "up")
        return {"CAIRN_URL": "http://cairn"}

    def down(self) -> list[str]:
        self.calls.append("down")
        return ["api", "aws", "postgres"] if self.running else []

    def status(self) -> dict[str, Any]:
        state = "running" if self.running else "stopped"
        service = {"state": state, "pid": 7 if self.running else None, "where": "http://cairn"}
        names = ("postgres", "aws", "api")
        return {"state": state, "services": {name: dict(service) for name in names}}

    def logs(self, service: str = "", *, follow: bool = False) -> Iterator[str]:
        if service not in ("", "api"):
            raise ValueError(f"{service} is none of postgres, aws, api")
        yield "api | one line"

    def reset(self) -> None:
        self.calls.append("reset")

    def use_embedder(self, values: Mapping[str, str]) -> dict[str, str]:
        if self.failure:
            raise RuntimeError(self.failure)
        self.calls.append(f"use {dict(values)}")
        return {}

    def opensearch_needs(self) -> str:
        return ""


@dataclass
class FakeHistory:
    """A Step Functions client with one execution."""

    events: list[dict[str, Any]] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)

    def get_paginator(self, name: str) -> "FakeHistory":
        assert name == "get_execution_history"
        return self

    def paginate(self, **arguments: Any) -> Iterator[dict[str, Any]]:
        self.asked.append(arguments)
        half = len(self.events) // 2
        yield {"events": self.events[:half]}
        yield {"events": self.events[half:]}

    def describe_state_machine(self, **_: Any) -> dict[str, Any]:
        return {"status": "ACTIVE"}


@dataclass
class FakeQueues:
    """An SQS client with a queue and its dead letter queue."""

    dead: list[dict[str, Any]] = field(default_factory=list)
    sent: list[dict[str, Any]] = field(default_factory=list)
    policy: str | None = '{"deadLetterTargetArn": "arn:aws:sqs:eu-west-1:1:embed-dead"}'

    def get_queue_attributes(self, *, QueueUrl: str, AttributeNames: list[str]) -> dict[str, Any]:
        if AttributeNames == ["ApproximateNumberOfMessages"]:
            waiting = self.dead if QueueUrl.endswith("-dead") else self.sent
            return {"Attributes": {AttributeNames[0]: str(len(waiting))}}
        return {"Attributes": {"RedrivePolicy": self.policy} if self.policy else {}}

    def get_queue_url(self, *, QueueName: str) -> dict[str, str]:
        return {"QueueUrl": f"http://aws/{QueueName}"}

    def receive_message(self, **arguments: Any) -> dict[str, Any]:
        assert arguments["QueueUrl"] == "http://aws/embed-dead"
        return {"Messages": self.dead[: arguments["MaxNumberOfMessages"]]} if self.dead else {}

    def send_message(self, **arguments: Any) -> None:
        self.sent.append(arguments)

    def delete_message(self, *, QueueUrl: str, ReceiptHandle: str) -> None:
        assert len(self.sent) > 0, "deleted before it was sent"
        self.dead = [each for each in self.dead if each["ReceiptHandle"] != ReceiptHandle]


def event(number: int, kind: str, before: int | None = None, **details: Any) -> dict[str, Any]:
    """One history event, `number` seconds after the start; `before` as AWS names it."""
    made: dict[str, Any] = {
        "id": number,
        "type": kind,
        "timestamp": START + timedelta(seconds=number),
    }
    if before is not None:
        made["previousEventId"] = before
    if "name" in details and kind.endswith(("StateEntered", "StateExited")):
        which = "stateEntered" if kind.endswith("Entered") else "stateExited"
        made[f"{which}EventDetails"] = {"name": details.pop("name")}
    made.update(details)
    return made


def settings_of(given: dict[str, Any]) -> CliSettings:
    """Settings with only what is given, whatever the environment of the tests holds."""
    secrets = ("api_key", "database_url", "app_database_url", "aws_secret_access_key")
    values = dict.fromkeys(CliSettings.model_fields)
    for name, value in given.items():
        values[name] = SecretStr(value) if name in secrets and value else value
    return CliSettings.model_construct(**values)


@dataclass
class Shell:
    """Runs commands as a user would, with fakes behind them."""

    world: World = field(default_factory=World)
    settings: dict[str, Any] = field(default_factory=dict)
    operator: FakeOperator = field(default_factory=FakeOperator)
    stack: FakeStack = field(default_factory=FakeStack)
    aws: dict[str, Any] = field(default_factory=dict)
    slept: list[float] = field(default_factory=list)
    transport: httpx.BaseTransport | None = None
    columns: int = 160

    def run(self, *arguments: str, stdin: str | None = None) -> Result:
        given = {"url": "http://cairn", "api_key": ADMIN_KEY, **self.settings}
        deps = Deps(
            read_settings=lambda: settings_of(given),
            load_operator=lambda: self.operator,
            load_stack=lambda: self.stack,
            aws_client=lambda service: self.aws[service],
            transport=self.transport or AppTransport(self.world),
            sleep=self.slept.append,
            stopwatch=lambda: sum(self.slept),
            width=self.columns,
        )
        return CliRunner().invoke(app, list(arguments), obj=deps, input=stdin)


@dataclass
class Ingesting(World):
    """Its ingestions are ready when they were asked about three times."""

    asked: int = 0
    ends: DocumentStatus = DocumentStatus.READY

    def get_ingestion(self, principal: Principal, ingestion_id: UUID) -> IngestionView:
        self.asked += 1
        status = self.ends if self.asked >= 3 else DocumentStatus.PARSED
        error = {"detail": "encrypted"} if status is DocumentStatus.FAILED else None
        found = super().get_ingestion(principal, ingestion_id)
        return replace(found, status=status, error=error, sections=2, chunks=5)
