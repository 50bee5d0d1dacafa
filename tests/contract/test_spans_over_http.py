"""Spans reach a collector as OTLP over HTTP, without texts; a bad one costs nobody anything."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.chat import ScriptedModel
from tests.support.collector import Collector, collecting
from tests.support.hosting import Hosting, said, tool
from tests.support.thinking import CALL, gateway
from tests.unit.api.fakes import WORKSPACE, Client, World

from cairn.adapters.otlp.spans import FLUSH_SECONDS, MOST_WAITING, OtlpTracer
from cairn.bootstrap import telemetry
from cairn.connectors.port import ToolCall
from cairn.kernel import traces
from cairn.kernel.errors import Conflict
from cairn.kernel.spans import Kind, export_to, passed, span
from cairn.llm.port import ChatRequest, Message, Purpose, Role, Usage
from cairn.operations.sweep import Backlog

PARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
UNSAMPLED = f"{PARENT[:-2]}00"
SECRET = "Ines Roth replaced the harbour pump"
FOLDER = Path(__file__).parents[2] / "functions"
Start = Callable[..., OtlpTracer]


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as collector:
        yield collector


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Let the spans of this process go to a collector until the test ends."""

    def begin(url: str, stopwatch: Callable[[], float] = time.monotonic) -> OtlpTracer:
        tracer = OtlpTracer("cairn-test", stage="local", endpoint=url, stopwatch=stopwatch)
        monkeypatch.setattr(telemetry._Process, "tracer", tracer)
        export_to(tracer)
        return tracer

    yield begin
    export_to(None)


def test_parts_of_work_are_spans_of_the_trace_they_came_with(
    collector: Collector, start: Start
) -> None:
    tracer = start(collector.url)
    with span("whole", {"cairn.count": 3}, kind=Kind.CONSUMER, parent=PARENT) as whole:
        assert traces.current() == whole.traceparent
        with span("part"):
            passed("leg", 1.5)
        with pytest.raises(Conflict), span("refused"):
            raise Conflict(SECRET, reason="changed")
    assert traces.current() is None
    assert tracer.flush(10)
    spans = collector.wait_for("whole", "part", "leg", "refused")
    assert {each.trace_id for each in spans.values()} == {PARENT[3:35]}
    assert (spans["whole"].parent_id, spans["whole"].kind) == (PARENT[36:52], 5)
    assert spans["whole"].service == "cairn-test"
    assert spans["whole"].attributes == {"cairn.count": 3}
    assert spans["part"].parent_id == spans["refused"].parent_id == spans["whole"].span_id
    assert spans["leg"].parent_id == spans["part"].span_id
    assert 1.4 < spans["leg"].seconds < 2.5
    assert [name for name, each in spans.items() if each.failed] == ["refused"]
    assert spans["refused"].attributes == {"error.type": "changed"}
    assert SECRET.encode() not in b"".join(collector.bodies)


def test_work_told_of_at_its_end_is_the_span_that_others_were_parts_of(
    collector: Collector, start: Start
) -> None:
    tracer = start(collector.url)
    with span("step", parent=PARENT):
        passed("elsewhere", 2, own=PARENT)
    with span("many", links=[PARENT, "not-a-trace"]), span("unseen", parent=UNSAMPLED):
        passed("unseen too", 1)
    assert tracer.flush(10)
    spans = collector.wait_for("step", "elsewhere", "many")
    assert spans["elsewhere"].traceparent == PARENT
    assert spans["step"].parent_id == spans["elsewhere"].span_id
    assert spans["many"].trace_id != PARENT[3:35]
    assert spans["many"].links == (PARENT[3:35],)
    assert not {"unseen", "unseen too"} & spans.keys()  # the caller's trace is not sampled


def test_a_request_is_a_span_by_its_route_and_its_line_names_the_trace(
    collector: Collector, start: Start
) -> None:
    class Broken(World):
        def check_ready(self) -> Backlog:
            raise RuntimeError(SECRET)

    tracer = start(collector.url)
    client, broken = Client(World()), Client(Broken())
    client.get("/v1/memories/00000000-0000-0000-0000-000000000009?note=private")
    client.post("/v1/memories", {"text": SECRET, "type": "fact"})
    broken.get("/readyz", headers={"traceparent": PARENT})
    client.request("BREW", "/nowhere/private")
    assert tracer.flush(10)
    spans = collector.wait_for("GET /v1/memories/{memory_id}", "POST /v1/memories", "_OTHER")
    assert spans["POST /v1/memories"].attributes["cairn.workspace_id"] == str(WORKSPACE)
    assert spans["POST /v1/memories"].attributes["http.response.status_code"] == 201
    assert spans["POST /v1/memories"].kind == 2
    assert spans["GET /readyz"].traceparent != PARENT
    assert (spans["GET /readyz"].trace_id, spans["GET /readyz"].failed) == (PARENT[3:35], True)
    logged = (*client.logged, *broken.logged)
    lines = [fields for event, fields in logged if event == "request"]
    assert {each["trace_id"] for each in lines} == {each.trace_id for each in spans.values()}
    sent = b"".join(collector.bodies)
    assert all(word not in sent for word in (SECRET.encode(), b"private", b"BREW"))


def test_a_call_of_a_model_is_told_by_the_conventions_and_never_its_texts(
    collector: Collector, start: Start
) -> None:
    tracer = start(collector.url)
    model = ScriptedModel(SECRET)
    model.usage = Usage(input_tokens=10, output_tokens=4, cache_read_tokens=5)
    gateway(model).chat(
        ChatRequest(
            purpose=Purpose.SUMMARY,
            system=f"{SECRET}, briefly",
            messages=(Message(role=Role.USER, text=SECRET),),
            max_tokens=100,
        ),
        CALL,
    )
    assert tracer.flush(10)
    [told] = collector.spans
    assert told.kind == 3
    assert told.name == f"chat {told.attributes['gen_ai.request.model']}"
    assert told.attributes["gen_ai.operation.name"] == "chat"
    assert told.attributes["gen_ai.provider.name"] == model.provider
    assert told.attributes["gen_ai.usage.input_tokens"] == 15
    assert told.attributes["gen_ai.usage.output_tokens"] == 4
    assert told.attributes["gen_ai.response.finish_reasons"] == ["complete"]
    assert SECRET.encode() not in b"".join(collector.bodies)


def test_a_call_of_a_tool_is_a_span_and_its_server_is_told_which(
    collector: Collector, start: Start
) -> None:
    tracer = start(collector.url)
    hosting = Hosting()
    desk = hosting.add("desk", tool("find"))
    desk.answers["find"] = said(SECRET)
    call = ToolCall(connector="desk", tool="find", arguments={"user": "ada"}, traceparent=PARENT)
    hosting.host.call(hosting.workspace_id, call)
    hosting.host.close()
    assert tracer.flush(10)
    told = collector.wait_for("execute_tool find")["execute_tool find"]
    assert (told.trace_id, told.parent_id) == (PARENT[3:35], PARENT[36:52])
    assert told.attributes["gen_ai.tool.name"] == "find"
    assert told.attributes["cairn.connector"] == "desk"
    assert desk.calls[0][2]["traceparent"] == told.traceparent
    sent = b"".join(collector.bodies)
    assert SECRET.encode() not in sent
    assert b"ada" not in sent


def test_a_collector_that_hangs_costs_one_short_wait_and_no_invocation(
    collector: Collector, start: Start
) -> None:
    now = [0.0]
    start(collector.url, lambda: now[0])
    collector.hangs = True
    answered: list[int] = []

    @telemetry.invocation
    def handler(event: dict[str, int], context: object) -> dict[str, int]:
        with span("invocation"):
            answered.append(event["number"])
        return event

    began = time.monotonic()
    results = [handler({"number": number}, None) for number in range(200)]
    took = time.monotonic() - began
    assert [each["number"] for each in results] == answered == list(range(200))
    assert took < FLUSH_SECONDS + 1  # the first waits, the others do not
    for _ in range(MOST_WAITING * 2):  # what has no room is dropped, whatever it costs the traces
        passed("more", 0)
    collector.hangs = False
    collector.released.set()
    now[0] += 3600
    handler({"number": 200}, None)
    collector.wait_for("more")
    assert len(collector.spans) <= MOST_WAITING + 512


@pytest.mark.parametrize("status", [400, 503])
def test_a_collector_that_refuses_is_no_failure(
    collector: Collector, start: Start, status: int
) -> None:
    collector.status = status
    tracer = start(collector.url)
    with span("lost"):
        pass
    tracer.flush(5)
    assert collector.requests


def test_nobody_at_the_address_is_no_failure(start: Start) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{closed.getsockname()[1]}"
    tracer = start(address)

    @telemetry.invocation
    def handler(event: dict[str, str], context: object) -> dict[str, str]:
        with span("lost"):
            return event

    assert handler({"traceparent": PARENT}, None) == {"traceparent": PARENT}
    tracer.flush(5)


IMPORTED = """
import sys
sys.path.insert(0, sys.argv[1])
import handler
print(any(name.startswith(("opentelemetry.sdk", "opentelemetry.exporter")) for name in sys.modules))
"""


@pytest.mark.parametrize(
    ("setting", "imported"),
    [
        ({}, "False"),
        ({"CAIRN_OTLP_ENDPOINT": ""}, "False"),
        ({"CAIRN_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, "True"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, "True"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318/v1/traces"}, "True"),
    ],
)
def test_a_function_imports_the_sdk_only_where_a_collector_is_configured(
    setting: dict[str, str], imported: str
) -> None:
    done = imports_ingest(setting)
    assert (done.returncode, done.stdout.strip()) == (0, imported), done.stderr


@pytest.mark.parametrize(
    "address", ["collector:4318", "ftp://collector", "http://", "http://collector/?token=secret"]
)
def test_an_address_that_is_none_stops_the_function_and_names_the_setting(address: str) -> None:
    done = imports_ingest({"CAIRN_OTLP_ENDPOINT": address})
    assert done.returncode == 1
    assert "CAIRN_OTLP_ENDPOINT" in done.stderr
    assert "secret" not in done.stderr


def imports_ingest(setting: dict[str, str]) -> subprocess.CompletedProcess[str]:
    environment = {
        "AWS_REGION": "eu-central-1",
        "CAIRN_APP_DATABASE_URL": "postgresql://cairn_app@database.example.org/cairn",
        "CAIRN_EMBED_QUEUE_URL": "https://queue.example.org/embed",
        "CAIRN_KEY_STORE": "file:/nowhere/keys",
        "CAIRN_MODEL_DIR": "/nowhere/model",
        "CAIRN_STAGE": "local",
        "CAIRN_UPLOADS_BUCKET": "uploads",
        "PATH": os.environ["PATH"],
    }
    return subprocess.run(
        [sys.executable, "-c", IMPORTED, str(FOLDER / "ingest")],
        env=environment | setting,
        capture_output=True,
        text=True,
        check=False,
    )
