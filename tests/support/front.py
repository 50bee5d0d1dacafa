"""The API as it is wired, in this process, over a real database; AWS is what a test looks at."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import httpx
from tests.support.openapi import holds

from cairn.adapters.aws import dispatch, messages
from cairn.api.app import create_app
from cairn.bootstrap.api import ApiServices
from cairn.bootstrap.parts import logger
from cairn.settings import ApiSettings

if TYPE_CHECKING:
    from types import ModuleType

    import pytest

    from cairn.api.options import ApiOptions

ROOT = Path(__file__).parents[2]


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

    def records(self, queue: str = "ticket") -> list[dict[str, Any]]:
        """What a queue hands to its function."""
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
            if one["QueueUrl"].endswith(f"/{queue}")
        ]


def stand_in_for_aws(monkeypatch: pytest.MonkeyPatch, cloud: Cloud) -> None:
    """Let every client of AWS that sends and starts be the cloud's, for one test."""
    for module in (dispatch, messages):
        monkeypatch.setattr(module, "aws_client", cloud.client)


def environment(app_url: str, folder: Path) -> dict[str, str]:
    queues = {f"CAIRN_{name}_QUEUE_URL": f"https://queue/{name.lower()}" for name in QUEUES}
    machines = {f"CAIRN_{name}_MACHINE_ARN": f"arn:{name.lower()}" for name in MACHINES}
    return {
        "CAIRN_STAGE": "local",
        "CAIRN_APP_DATABASE_URL": app_url,
        "CAIRN_KEY_STORE": f"file:{folder / 'keys'}",
        "CAIRN_SIGNING_KEY": f"file:{folder / 'signing'}",
        "CAIRN_UPLOADS_BUCKET": "uploads",
        "CAIRN_ANCHOR_BUCKET": "anchors",
        "CAIRN_MODEL_DIR": str(folder),
        "AWS_EC2_METADATA_DISABLED": "true",  # there are no credentials: nobody is asked for some
        **queues,
        **machines,
    }


QUEUES = ("EMBED", "WEBHOOK", "TICKET", "ESCALATION", "SOURCE", "CHANNEL")
MACHINES = ("INGESTION", "CONSOLIDATION", "REBUILD", "INVESTIGATION", "WORKFLOW")


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
    embedder: Any = field(default_factory=NoModel)
    options: ApiOptions | None = None

    def __post_init__(self) -> None:
        log = logger("api", "CRITICAL")
        services = ApiServices(ApiSettings.read(), log, self.embedder)
        self.app = create_app(services, self.options, log=log)

    def call(self, method: str, path: str, **given: Any) -> Any:
        """Return the JSON of a request that must succeed."""
        answer = self.answer(method, path, **given)
        assert answer.is_success, answer.text
        return answer.json()

    def answer(self, method: str, path: str, **given: Any) -> httpx.Response:
        """Return the answer to a request, whatever it is."""

        async def call() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://cairn") as client:
                return await client.request(method, path, **given)

        headers = {"authorization": f"Bearer {self.key}", **given.pop("headers", {})}
        given["headers"] = headers
        return holds(anyio.run(call))

    def get(self, path: str) -> httpx.Response:
        return self.answer("GET", path)

    def post(self, path: str, body: object = None) -> httpx.Response:
        return self.answer("POST", path, json=body)

    def traced(self, type_: str) -> list[str | None]:
        """The trace ids of all entries of a type or a namespace."""
        entries = self.call("GET", "/v1/ledger", params={"type": type_, "limit": 200})
        return [item["trace_id"] for item in entries["items"]]


def mcp(front: Front, key: str, method: str, **params: Any) -> dict[str, Any]:
    """Send one MCP message and return the answer to it."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {
        "authorization": f"Bearer {key}",
        "accept": "application/json, text/event-stream",
        "host": "127.0.0.1:8080",
    }
    return front.call("POST", "/mcp", json=message, headers=headers)
