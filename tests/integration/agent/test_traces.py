"""One trace id from a request to what an agent does for it: through every place that carries it."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import anyio
import httpx
import pytest
from tests.support.hosting import Hosting, said, tool
from tests.support.world import open_world

from cairn import traces
from cairn.api.app import create_app
from cairn.bootstrap.api import api_services
from cairn.bootstrap.logs import logger
from cairn.ids import new_id
from cairn.mcp_host.port import ToolCall
from cairn.settings import ApiSettings
from cairn.storage.aws import dispatch

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from tests.plugins.postgres import Database

ROOT = Path(__file__).parents[3]
TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
TRACE = TRACEPARENT[3:35]


class AlreadyExistsError(Exception):
    pass


@dataclass
class Cloud:
    """The ticket queue and the machine."""

    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    executions: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @property
    def exceptions(self) -> Any:
        return type("Exceptions", (), {"ExecutionAlreadyExists": AlreadyExistsError})

    def client(self, _service: str) -> Cloud:
        return self

    def send_message(self, **message: Any) -> None:
        self.messages.append(message)

    def start_execution(self, **execution: Any) -> None:
        self.executions.append(execution)

    def records(self) -> list[dict[str, Any]]:
        """What the ticket queue hands to its function."""
        return [
            {
                "messageId": str(place),
                "body": one["MessageBody"],
                "messageAttributes": {
                    name: {"stringValue": value["StringValue"], "dataType": "String"}
                    for name, value in one.get("MessageAttributes", {}).items()
                },
            }
            for place, one in enumerate(self.messages)
            if one["QueueUrl"].endswith("/ticket")
        ]


def environment(database: Database, folder: Path) -> dict[str, str]:
    queues = {f"CAIRN_{name}_QUEUE_URL": f"https://queue/{name.lower()}" for name in QUEUES}
    machines = {f"CAIRN_{name}_MACHINE_ARN": f"arn:{name.lower()}" for name in MACHINES}
    return {
        "CAIRN_STAGE": "local",
        "CAIRN_APP_DATABASE_URL": database.app_url,
        "CAIRN_KEY_STORE": f"file:{folder / 'keys'}",
        "CAIRN_SIGNING_KEY": f"file:{folder / 'signing'}",
        "CAIRN_UPLOADS_BUCKET": "uploads",
        "CAIRN_ANCHOR_BUCKET": "anchors",
        "CAIRN_MODEL_DIR": str(folder),
        **queues,
        **machines,
    }


QUEUES = ("EMBED", "WEBHOOK", "TICKET", "ESCALATION")
MACHINES = ("INGESTION", "CONSOLIDATION", "REBUILD", "INVESTIGATION")


class NoModel:
    """No text is embedded here."""

    model = None


def function(name: str) -> ModuleType:
    """A function's handler, built from the environment."""
    spec = importlib.util.spec_from_file_location(
        f"{name}_handler", ROOT / "functions" / name / "handler.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass
class Front:
    """The API, in this process."""

    key: str

    def __post_init__(self) -> None:
        log = logger("api", "CRITICAL")
        self.app = create_app(api_services(ApiSettings.read(), log, NoModel()), log=log)  # type: ignore[arg-type]

    def call(self, method: str, path: str, **given: Any) -> Any:
        async def call() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://cairn") as client:
                return await client.request(method, path, **given)

        headers = {"authorization": f"Bearer {self.key}", **given.pop("headers", {})}
        given["headers"] = headers
        answer = anyio.run(call)
        assert answer.is_success, answer.text
        return answer.json()

    def traced(self, type_: str) -> list[str | None]:
        """The trace ids of all entries of a type or a namespace."""
        entries = self.call("GET", "/v1/ledger", params={"type": type_, "limit": 200})
        return [one["trace_id"] for one in entries["items"]]


@pytest.fixture
def cloud(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    for name, value in environment(database, tmp_path).items():
        monkeypatch.setenv(name, value)
    cloud = Cloud()
    monkeypatch.setattr(dispatch, "aws_client", cloud.client)
    return cloud


def began(
    cloud: Cloud, database: Database, headers: Mapping[str, str]
) -> tuple[Front, ModuleType, dict[str, Any]]:
    """A ticket comes in and is taken; returns the input of its execution, too."""
    world = open_world(database.owner_url, database.app_url, f"traced {new_id()}")
    world.pool.close()
    front = Front(world.key)
    ticket = {"title": "Where is the handbook?", "body": "I cannot find the handbook."}
    front.call("POST", "/v1/tickets", json=ticket, headers=headers)
    plan = function("plan")
    assert plan.handler({"Records": cloud.records()}, None) == {"batchItemFailures": []}
    [execution] = [one for one in cloud.executions if one["stateMachineArn"] == "arn:investigation"]
    return front, plan, json.loads(execution["input"])


def test_a_trace_goes_from_the_request_to_the_call_of_a_tool(
    cloud: Cloud, database: Database
) -> None:
    front, plan, given = began(cloud, database, {"traceparent": TRACEPARENT})
    [record] = cloud.records()
    assert traces.trace_id_of(traces.carried(record)) == TRACE
    assert traces.trace_id_of(given["traceparent"]) == TRACE
    ids = {name: given[name] for name in ("workspace_id", "investigation_id", "run")}
    plan.handler({"step": "enter", **ids}, None)
    plan.handler({"step": "CREATED", **ids}, None)
    plan.handler({"step": "PLANNING", **ids}, None)
    assert set(front.traced("ticket")) == {TRACE}
    moved = front.traced("investigation")
    assert len(moved) >= 3
    assert set(moved) == {TRACE}
    path = f"/v1/investigations/{given['investigation_id']}"
    shown = front.call("GET", path)["investigation"]
    assert shown["trace_id"] == TRACE
    with plan.services.investigation.parts.journal.reading(UUID(given["workspace_id"])) as stores:
        kept = stores.investigations.find(UUID(given["investigation_id"]))
    assert kept is not None
    hosting = Hosting()
    desk = hosting.add("desk", tool("find"))
    desk.answers["find"] = said("Ada")
    call = ToolCall(
        connector="desk", tool="find", arguments={"user": "ada"}, traceparent=kept.traceparent
    )
    hosting.host.call(hosting.workspace_id, call)
    assert traces.trace_id_of(desk.calls[0][2]["traceparent"]) == TRACE
    hosting.host.close()


def test_without_a_trace_an_investigation_begins_one(cloud: Cloud, database: Database) -> None:
    front, _, given = began(cloud, database, {"traceparent": "not-a-trace"})
    assert set(front.traced("ticket.received")) == {None}
    own = traces.trace_id_of(given["traceparent"])
    assert own is not None
    assert set(front.traced("investigation")) == {own}
