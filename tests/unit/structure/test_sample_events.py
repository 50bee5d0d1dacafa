"""Every function takes its sample events, and says which queue messages are to come again."""

import importlib.util
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import UUID

import pytest
from infra.cdk.functions import discover

from cairn.bootstrap.retrieve import search_request
from cairn.enrichment.queue import EmbedMessage
from cairn.recall.answer import Answer
from cairn.recall.query import Format, SearchRequest

ROOT = Path(__file__).parents[3]
SAMPLES = sorted(
    path for path in (ROOT / "events").glob("*/*.json") if path.parent.name != "api"
)  # those of the api are served in tests/unit/api/test_lambda.py
ENVIRONMENT = {
    "AWS_REGION": "eu-central-1",
    "CAIRN_ANCHOR_BUCKET": "anchors",
    "CAIRN_APP_DATABASE_URL": "postgresql://cairn_app@database.example.org/cairn",
    "CAIRN_REBUILD_MACHINE_ARN": "arn:aws:states:eu-central-1:111122223333:stateMachine:r",
    "CAIRN_WORKFLOW_MACHINE_ARN": "arn:aws:states:eu-central-1:111122223333:stateMachine:w",
    "CAIRN_CONSOLIDATION_MACHINE_ARN": "arn:aws:states:eu-central-1:111122223333:stateMachine:c",
    "CAIRN_EMBED_QUEUE_URL": "https://queue.example.org/embed",
    "CAIRN_WEBHOOK_QUEUE_URL": "https://queue.example.org/webhook",
    "CAIRN_INGESTION_MACHINE_ARN": "arn:aws:states:eu-central-1:111122223333:stateMachine:i",
    "CAIRN_ESCALATION_QUEUE_URL": "https://queue.example.org/escalation",
    "CAIRN_CHANNEL_QUEUE_URL": "https://queue.example.org/channel",
    "CAIRN_TICKET_QUEUE_URL": "https://queue.example.org/ticket",
    "CAIRN_SOURCE_QUEUE_URL": "https://queue.example.org/source",
    "CAIRN_INVESTIGATION_MACHINE_ARN": "arn:aws:states:eu-central-1:111122223333:stateMachine:v",
    "CAIRN_KEY_STORE": "file:/nowhere/keys",
    "CAIRN_MODEL_DIR": "/nowhere/model",
    "CAIRN_SIGNING_KEY": "file:/nowhere/signing.pem",
    "CAIRN_STAGE": "local",
    "CAIRN_UPLOADS_BUCKET": "uploads",
}


@dataclass
class Called:
    """Stands for every service: what is called on it is written down, and answers with a count."""

    name: str = ""
    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = field(
        default_factory=list[tuple[str, tuple[Any, ...], dict[str, Any]]]
    )

    def request(self, document: object) -> SearchRequest:
        """Check a search as the function does."""
        return search_request()(document)

    def __getattr__(self, name: str) -> "Called":
        return Called(f"{self.name}.{name}".lstrip("."), self.calls)

    def __call__(self, *given: Any, **named: Any) -> Any:
        self.calls.append((self.name, given, named))
        if self.name == "search":
            return Answer(results=(), meta={}, text="[Memory]" if named_text(given) else None)
        if self.name == "work_off":
            return []
        counting = ("count", "ingest", "finish", "sweep", "verify", "search_index")
        counting += ("begin", "cleanup", "consolidate", "end", "rebuild", "summarise")
        counting += ("investigation", "poll_tickets", "check_connectors", "tell_gauges")
        counting += ("start_workflows", "maintain_feeds")
        return {} if self.name.startswith(counting) else 1


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Import a handler as Lambda does, in the environment it gets; nothing connects."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)

    def loaded(function: str) -> ModuleType:
        path = ROOT / "functions" / function / "handler.py"
        spec = importlib.util.spec_from_file_location(f"handler_of_{function}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return loaded


def test_every_function_has_a_sample() -> None:
    assert {path.parent.name for path in SAMPLES} == set(discover()) - {"api"}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_sample_runs_one_use_case_of_its_function(
    load: Callable[[str], ModuleType], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, services = load(path.parent.name), Called()
    event = json.loads(path.read_text(encoding="utf-8"))
    monkeypatch.setattr(module, "services", services)
    module.handler(event, None)
    asked = [call for call in services.calls if not call[0].startswith("log")]
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("sample", "lost_before"),
    [
        ("sweep_investigations", None),
        ("sweep_after_restart", datetime(2026, 11, 22, 10, tzinfo=UTC)),
    ],
)
def test_a_sweep_is_told_since_when_no_execution_lives(
    load: Callable[[str], ModuleType], sample: str, lost_before: datetime | None
) -> None:
    module, services = load("audit"), Called()
    vars(module)["services"] = services
    module.handler(
        json.loads((ROOT / "events" / "audit" / f"{sample}.json").read_text("utf-8")), None
    )
    assert services.calls[0] == ("sweep_investigations", (lost_before,), {})


def named_text(given: tuple[Any, ...]) -> bool:
    """Whether a search asked for plain text."""
    return any(isinstance(item, SearchRequest) and item.format == Format.TEXT for item in given)


@pytest.mark.parametrize(
    ("sample", "answered"),
    [
        ("search", {"results": [], "meta": {}}),
        ("text", {"results": [], "meta": {}, "text": "[Memory]"}),
    ],
)
def test_a_search_gives_its_text_when_it_is_asked_for(
    load: Callable[[str], ModuleType], sample: str, answered: dict[str, Any]
) -> None:
    module, services = load("retrieve"), Called()
    vars(module)["services"] = services
    event = json.loads((ROOT / "events" / "retrieve" / f"{sample}.json").read_text("utf-8"))
    assert module.handler(event, None) == answered
    [(_, (principal, _), _)] = services.calls
    assert str(principal.workspace_id) == event["workspace_id"]


class Lasting:
    """A function's context with time for everything."""

    def get_remaining_time_in_millis(self) -> int:
        return 60_000


@dataclass
class Embedding:
    """The embed services, where nothing fails."""

    asked: list[EmbedMessage] = field(default_factory=list[EmbedMessage])
    log: Called = field(default_factory=Called)

    def work_off(
        self, messages: list[EmbedMessage], seconds_left: Callable[[], float]
    ) -> list[str]:
        assert seconds_left() == 60
        self.asked += messages
        return []


def record(message_id: str, row: int) -> dict[str, str]:
    body = {"workspace_id": str(UUID(int=9)), "outbox_ids": [str(UUID(int=row))]}
    return {"messageId": message_id, "body": json.dumps(body)}


def embed(
    load: Callable[[str], ModuleType], services: Embedding, *records: dict[str, str]
) -> list[str]:
    module = load("embed")
    vars(module)["services"] = services
    answer = module.handler({"Records": list(records)}, Lasting())
    return [batchitemfailure["itemIdentifier"] for batchitemfailure in answer["batchItemFailures"]]


@pytest.mark.parametrize("body", ["", "{", "[]", '{"workspace_id": "x", "outbox_ids": []}'])
def test_a_message_that_cannot_be_read_comes_again_until_it_is_dead(
    load: Callable[[str], ModuleType], body: str
) -> None:
    services = Embedding()
    poison = {"messageId": "poison", "body": body}
    assert embed(load, services, poison, record("a", 1)) == ["poison"]
    assert [item.outbox_ids for item in services.asked] == [(UUID(int=1),)]


@pytest.mark.parametrize("event", [{"step": "drop"}, {"step": "finish_ingestion"}, {}], ids=str)
def test_the_audit_function_refuses_what_it_does_not_know(
    load: Callable[[str], ModuleType], event: dict[str, str]
) -> None:
    with pytest.raises(ValueError, match=r"step|workspace_id"):
        load("audit").handler(event, None)
