import io
import json
from collections.abc import AsyncIterator

import pytest
from aws_lambda_powertools import Logger
from tests.unit.api.fakes import WORKSPACE, Client, World

from cairn.api.app import create_app
from cairn.api.options import ApiOptions
from cairn.kernel import traces
from cairn.kernel.ids import new_id
from cairn.operations.sweep import Backlog

MEMORY = {"text": "a private sentence", "type": "fact"}


@pytest.mark.parametrize("given", ["req-12345678", "A.b_c-1234", "0" * 128])
def test_a_well_formed_request_id_is_kept(given: str) -> None:
    client = Client(World())
    assert client.get("/healthz", headers={"x-request-id": given}).headers["x-request-id"] == given
    assert client.logged[0][1]["request_id"] == given


@pytest.mark.parametrize("given", ["", "short", "has spaces in it", "x" * 129, "newline\\n12345"])
def test_another_request_id_is_replaced(given: str) -> None:
    response = Client(World()).get("/healthz", headers={"x-request-id": given})
    assert response.headers["x-request-id"] == "00000000-0000-0000-0000-00000000004d"


def test_one_log_line_a_request_names_the_route_and_never_the_content() -> None:
    client = Client(World())
    client.post("/v1/memories", MEMORY)
    client.get("/v1/memories/00000000-0000-0000-0000-000000000009?note=private")
    lines = [fields for event, fields in client.logged if event == "request"]
    assert [(each["method"], each["route"], each["status"]) for each in lines] == [
        ("POST", "/v1/memories", 201),
        ("GET", "/v1/memories/{memory_id}", 422),
    ]
    assert [each["workspace_id"] for each in lines] == [str(WORKSPACE), None]
    assert all(isinstance(each["ms"], float) for each in lines)
    assert "private" not in str(client.logged)


def test_the_trace_of_a_request_reaches_its_use_case_and_its_line() -> None:
    seen: list[str | None] = []

    class Traced(World):
        def check_ready(self) -> Backlog:
            seen.append(traces.current())
            return self.backlog

    client = Client(Traced())
    good = traces.begun(new_id())
    for given in (good, "not-a-trace", None):
        client.get("/readyz", headers={"traceparent": given} if given else {})
    assert seen == [good, None, None]
    told = [fields.get("trace_id") for _, fields in client.logged]
    assert told == [traces.trace_id_of(good), None, None]


def test_security_headers_are_on_answers_and_on_problems() -> None:
    client = Client(World())
    for response in (client.get("/healthz"), client.get("/nowhere")):
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["cache-control"] == "no-store"
        assert "default-src 'none'" in response.headers["content-security-policy"]


def test_a_declared_length_above_the_limit_is_refused_before_reading() -> None:
    async def never() -> AsyncIterator[bytes]:
        raise AssertionError("the body was read")
        yield b""

    client = Client(World(), options=ApiOptions(max_body_bytes=1000))
    headers = {"content-type": "application/json", "content-length": "1001"}
    response = client.request("POST", "/v1/memories", content=never(), headers=headers)
    assert (response.status_code, response.json()["reason"]) == (413, "body")
    assert response.headers["x-request-id"]


def test_a_streamed_body_above_the_limit_is_refused_while_it_comes() -> None:
    sent: list[int] = []

    async def chunks() -> AsyncIterator[bytes]:
        for number in range(100):
            sent.append(number)
            yield b'"' + b"a" * 400

    client = Client(World(), options=ApiOptions(max_body_bytes=1000))
    headers = {"content-type": "application/json"}
    response = client.request("POST", "/v1/memories", content=chunks(), headers=headers)
    assert (response.status_code, response.json()["type"]) == (413, "urn:cairn:error:too-large")
    assert len(sent) < 10


def test_a_body_of_exactly_the_limit_passes() -> None:
    body = b'{"text": "x", "type": "fact"}'
    client = Client(World(), options=ApiOptions(max_body_bytes=len(body)))
    assert client.post("/v1/memories", content=body).status_code == 201


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({"content-type": "text/plain"}, "content-type"),
        ({"content-type": "application/x-www-form-urlencoded"}, "content-type"),
        ({"content-type": ""}, "no-content-type"),
        ({"content-type": "application/json", "content-encoding": "gzip"}, "content-encoding"),
    ],
)
def test_bodies_that_are_not_declared_as_plain_json_are_refused(
    headers: dict[str, str], reason: str
) -> None:
    world = World()
    response = Client(world).post("/v1/memories", MEMORY, headers=headers)
    assert (response.status_code, response.json()["reason"]) == (415, reason)
    assert world.written == []


def test_cors_is_off_unless_origins_are_named() -> None:
    asked = {
        "origin": "https://app.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization",
    }
    off = Client(World()).request("OPTIONS", "/v1/search", headers=asked)
    assert "access-control-allow-origin" not in off.headers
    options = ApiOptions(cors_origins=("https://app.example",))
    on = Client(World(), options=options).request("OPTIONS", "/v1/search", headers=asked)
    assert on.headers["access-control-allow-origin"] == "https://app.example"
    other = {**asked, "origin": "https://evil.example"}
    refused = Client(World(), options=options).request("OPTIONS", "/v1/search", headers=other)
    assert "access-control-allow-origin" not in refused.headers


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_a_page_of_a_named_origin_may_use_every_method_there_is(method: str) -> None:
    asked = {"origin": "https://app.example", "access-control-request-method": method}
    options = ApiOptions(cors_origins=("https://app.example",))
    answered = Client(World(), options=options).request("OPTIONS", "/v1/tasks", headers=asked)
    assert answered.status_code == 200


def test_the_powertools_logger_writes_each_event_as_one_json_line() -> None:
    stream = io.StringIO()
    log = Logger(service="cairn-api-test", level="INFO", stream=stream)
    app = create_app(World(bug=KeyError("x")).services(), log=log)
    client = Client(World())
    client.app = app
    client.get("/healthz")
    client.post("/v1/memories", MEMORY)
    good, bug, failed = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert (good["message"], good["level"], good["route"]) == ("request", "INFO", "/healthz")
    assert (bug["message"], bug["level"], bug["error"]) == ("unexpected", "ERROR", "KeyError")
    assert (failed["status"], failed["service"]) == (500, "cairn-api-test")
