"""One trace id from a request to what an agent does for it: through every place that carries it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from tests.support.collector import collecting
from tests.support.embedding import HashingEmbedder
from tests.support.front import Cloud, Front, environment, function, stand_in_for_aws
from tests.support.hosting import Hosting, said, tool
from tests.support.world import open_world

from cairn.bootstrap.telemetry import tell_spans
from cairn.connectors.port import ToolCall
from cairn.kernel import traces
from cairn.kernel.ids import new_id
from cairn.kernel.spans import export_to
from cairn.settings import ApiSettings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from types import ModuleType

    from tests.plugins.postgres import Database

TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
TRACE = TRACEPARENT[3:35]


@pytest.fixture
def cloud(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    for name, value in environment(database.app_url, tmp_path).items():
        monkeypatch.setenv(name, value)
    cloud = Cloud()
    stand_in_for_aws(monkeypatch, cloud)
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
    [execution] = [
        execution
        for execution in cloud.executions
        if execution["stateMachineArn"] == "arn:investigation"
    ]
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


def test_one_trace_goes_from_the_request_through_the_queues_to_what_they_wake(
    cloud: Cloud, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collecting() as collector:
        monkeypatch.setenv("CAIRN_OTLP_ENDPOINT", collector.url)
        tell_spans("api", ApiSettings.read())
        try:
            front, _, _ = began(cloud, database, {})
            memory = {"text": "Ines Roth runs the harbour.", "type": "fact"}
            front.call("POST", "/v1/memories", json=memory)
            searching = Front(front.key, HashingEmbedder())
            searching.call("POST", "/v1/search", json={"query": "Who runs the harbour?"})
            function("embed").handler({"Records": cloud.records("embed")}, Context())
            spans = collector.wait_for(
                *("POST /v1/tickets", "send ticket", "process ticket", "POST /v1/memories"),
                *("send embed", "process embed", "recall", "recall fuse", "recall leg keyword"),
            )
        finally:
            export_to(None)
    ticket = spans["POST /v1/tickets"]
    assert spans["send ticket"].parent_id == ticket.span_id
    assert spans["process ticket"].parent_id == spans["send ticket"].span_id
    assert spans["process embed"].parent_id == spans["send embed"].span_id
    assert spans["send embed"].parent_id == spans["POST /v1/memories"].span_id
    assert spans["recall leg keyword"].parent_id == spans["recall"].span_id
    assert set(front.traced("memory")) == {spans["POST /v1/memories"].trace_id}
    assert set(front.traced("investigation")) == {ticket.trace_id}
    sent = b"".join(collector.bodies)
    assert not [word for word in (b"Ines", b"harbour", b"handbook") if word in sent]


class Context:
    """What Lambda gives a function beside its event."""

    def get_remaining_time_in_millis(self) -> int:
        return 60_000
