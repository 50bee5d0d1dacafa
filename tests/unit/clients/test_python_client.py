"""What the Python client sends, what it sends again, and what it makes of answers."""

import asyncio
import inspect
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import httpx
import pytest
from tests.support.openapi import document

import cairn_memory._sync
from cairn_memory import AsyncMemory, Memory, errors, models, operations
from cairn_memory._streams import Event, Lines

ID = UUID("019a8f0e-3b5c-7c11-9d2e-6f4a1b2c3d4e")
RESULT = {
    "outcome": "created",
    "id": str(ID),
    "position": 17,
    "superseded": [],
    "observation_count": 1,
    "warnings": [],
}


def problem(status: int, code: str, **more: Any) -> httpx.Response:
    body = {
        "type": f"urn:cairn:error:{code}",
        "title": code,
        "status": status,
        "detail": "No.",
        "reason": code,
    } | more
    return httpx.Response(status, json=body, headers={"content-type": "application/problem+json"})


class Server:
    """Answers one request after the other, and keeps what came."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = iter(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = next(self.answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def body(self, index: int = -1) -> Any:
        return json.loads(self.requests[index].content)


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that were waited, without waiting."""
    waited: list[float] = []
    monkeypatch.setattr(cairn_memory._sync.time, "sleep", waited.append)
    return waited


@pytest.fixture
def memory(waits: list[float]) -> Iterator[Callable[..., tuple[Memory, Server]]]:
    opened: list[Memory] = []

    def over(*answers: httpx.Response | Exception, **more: Any) -> tuple[Memory, Server]:
        server = Server(*answers)
        http = httpx.Client(base_url="http://cairn.test", transport=httpx.MockTransport(server))
        client = Memory(key="cairn_k.s", http=http, **more)
        opened.append(client)
        return client, server

    yield over
    for client in opened:
        client.close()


Over = Callable[..., tuple[Memory, Server]]


def test_a_write_names_its_client_and_leaves_out_what_was_not_given(memory: Over) -> None:
    client, server = memory(httpx.Response(201, json=RESULT), client_id="acme")
    assert client.remember("Acme moved to Render.", key="hosting").id == ID
    assert server.body() == {
        "text": "Acme moved to Render.",
        "type": "fact",
        "client_id": "acme",
        "key": "hosting",
    }
    assert server.requests[0].headers["authorization"] == "Bearer cairn_k.s"


def test_a_write_that_is_lost_is_sent_again_under_the_same_key(
    memory: Over, waits: list[float]
) -> None:
    client, server = memory(httpx.ReadError("lost"), httpx.Response(201, json=RESULT))
    client.remember("Once.")
    first, second = (request.headers["idempotency-key"] for request in server.requests)
    assert first == second
    assert len(waits) == 1


def test_what_was_refused_for_now_waits_as_long_as_it_is_asked_to(
    memory: Over, waits: list[float]
) -> None:
    busy = problem(429, "rate-limited")
    busy.headers["retry-after"] = "7"
    client, _ = memory(busy, httpx.Response(201, json=RESULT))
    client.remember("Later.")
    assert waits == [7.0]


def test_a_call_that_may_not_be_repeated_is_not_sent_again_when_its_answer_is_lost(
    memory: Over,
) -> None:
    client, server = memory(httpx.ReadError("lost"))
    body = models.KeyIn.model_validate({"name": "scout", "role": "agent", "agent": "scout"})
    with pytest.raises(errors.ConnectionFailed, match="did not answer"):
        client.call(operations.create_key(body))
    assert len(server.requests) == 1


def test_a_search_changes_nothing_and_is_sent_again(memory: Over) -> None:
    client, server = memory(httpx.ReadError("lost"), problem(404, "not-found"))
    with pytest.raises(errors.NotFound):
        client.recall("Where?")
    assert len(server.requests) == 2


def test_it_gives_up_after_its_retries_with_the_last_refusal(memory: Over) -> None:
    client, server = memory(*(problem(503, "unavailable") for _ in range(3)), retries=2)
    with pytest.raises(errors.Unavailable) as raised:
        client.call(operations.whoami())
    assert isinstance(raised.value, errors.TemporaryProblem)
    assert len(server.requests) == 3


def test_every_problem_of_the_api_has_an_error_of_its_own() -> None:
    kinds = document()["components"]["schemas"]["ProblemDetails"]["properties"]["type"]["enum"]
    assert {kind.rpartition(":")[2] for kind in kinds} == set(errors.BY_CODE)


def test_a_refusal_says_where_and_with_which_request(memory: Over) -> None:
    places = [{"location": "body.text", "message": "must not be empty"}]
    client, _ = memory(problem(422, "validation-failed", errors=places, instance=str(ID)))
    with pytest.raises(errors.InvalidRequest, match=r"No\. \(validation-failed, 422\)") as raised:
        client.remember("")
    assert raised.value.fields == (errors.FieldError("body.text", "must not be empty"),)
    assert raised.value.request_id == str(ID)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (httpx.Response(502, html="<h1>Bad gateway</h1>"), errors.ServerError),
        (httpx.Response(200, html="<h1>Welcome to nginx</h1>"), errors.BadAnswer),
        (httpx.Response(200, json={"surprise": 1}), errors.BadAnswer),
        (
            httpx.Response(200, text="{", headers={"content-type": "application/json"}),
            errors.BadAnswer,
        ),
    ],
)
def test_an_answer_of_something_else_is_said_to_be_none(
    memory: Over, answer: httpx.Response, kind: type[Exception]
) -> None:
    client, _ = memory(answer, retries=0)
    with pytest.raises(kind):
        client.remember("Hello.")


def test_fields_and_values_of_a_later_server_are_read(memory: Over) -> None:
    later = RESULT | {"outcome": "merged", "weather": "fine"}
    client, _ = memory(httpx.Response(200, json=later))
    result = client.remember("Hello.")
    assert result.outcome == "merged"
    assert result.model_extra == {"weather": "fine"}


def test_many_memories_go_500_at_a_time_and_keep_their_places(memory: Over) -> None:
    def batch(count: int) -> httpx.Response:
        results = [RESULT | {"index": index} for index in range(count)]
        return httpx.Response(200, json={"results": results, "counts": {"created": count}})

    client, server = memory(batch(500), batch(1))
    results = client.remember_all(f"Fact {number}." for number in range(501))
    assert [result.index for result in results] == list(range(501))
    assert [len(server.body(index)["items"]) for index in (0, 1)] == [500, 1]


def test_pages_are_read_as_they_are_needed(memory: Over) -> None:
    page = {"items": [], "next_cursor": "more"}
    client, server = memory(
        httpx.Response(200, json=page), httpx.Response(200, json=page | {"next_cursor": None})
    )
    assert list(client.memories(type="fact")) == []
    assert [dict(request.url.params) for request in server.requests] == [
        {"type": "fact"},
        {"type": "fact", "cursor": "more"},
    ]


def test_a_memory_that_is_not_embedded_in_time_is_a_time_out(memory: Over) -> None:
    client, _ = memory(httpx.Response(201, json=RESULT))
    client.get = lambda _: models.MemoryView.model_construct(embedded=False)  # type: ignore[method-assign]
    with pytest.raises(errors.TimedOut, match="not embedded yet"):
        client.remember("Slow.", wait="embedded", wait_seconds=0.2)


@pytest.mark.parametrize("subject", ["dana", "team:blue", "client:"])
def test_a_subject_that_names_nobody_is_refused_before_anything_is_sent(
    memory: Over, subject: str
) -> None:
    client, server = memory()
    with pytest.raises(ValueError, match="client:<id> or person:<name>"):
        client.forget(subject)
    assert not server.requests


def test_an_id_cannot_name_another_path(memory: Over) -> None:
    client, server = memory(problem(404, "not-found"))
    with pytest.raises(errors.NotFound):
        client.get("../keys?x=1")
    assert server.requests[0].url.raw_path == b"/v1/memories/..%2Fkeys%3Fx%3D1"


def test_events_are_read_by_their_fields() -> None:
    lines = Lines(None)
    text = ': hello\nid: 3\nevent: step_end\ndata: {"ms":\ndata: 41}\n\n\ndata: plain\n'
    events = [event for line in [*text.split("\n"), ""] for event in lines.take(line)]
    assert events == [
        Event(id="3", name="step_end", data={"ms": 41}),
        Event(id="3", name="message", data="plain"),
    ]


def test_both_clients_have_the_same_methods() -> None:
    def methods(kind: type) -> dict[str, list[str]]:
        return {
            name.replace("__a", "__"): list(inspect.signature(member).parameters)
            for name, member in vars(kind).items()
            if inspect.isfunction(member)
        }

    assert methods(Memory) == methods(AsyncMemory)


def test_the_client_with_await_does_the_same() -> None:
    server = Server(httpx.Response(201, json=RESULT))

    async def remember() -> models.MemoryResult:
        http = httpx.AsyncClient(
            base_url="http://cairn.test", transport=httpx.MockTransport(server)
        )
        async with AsyncMemory(http=http) as memory:
            return await memory.remember("Hello.")

    assert asyncio.run(remember()).position == 17


def test_a_host_gets_memory_or_none_and_never_an_error_or_a_longer_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = threading.Event()

    def slow(_: httpx.Request) -> httpx.Response:
        held.wait()
        return httpx.Response(204)

    async def hanging(_: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    async def both() -> list[str | None]:
        transport = httpx.MockTransport(hanging)
        http = httpx.AsyncClient(base_url="http://cairn.test", transport=transport)
        async with AsyncMemory(http=http) as memory:
            return [await memory.bridge("Is it open?", seconds=0.01), await memory.bridge(" ")]

    assert asyncio.run(both()) == [None, None]
    for answer, seconds in ((slow, 0.01), (Server(problem(500, "internal")), 8.0)):
        http = httpx.Client(base_url="http://cairn.test", transport=httpx.MockTransport(answer))
        assert Memory(http=http, retries=0).bridge("Is it open?", seconds=seconds) is None
    held.set()
    found = models.ContextAnswer.model_construct(context="The hut is open.")
    monkeypatch.setattr(Memory, "context", lambda *_, **__: found)
    with Memory() as memory:
        assert memory.bridge("Is it open?") == "The hut is open."


def test_a_delegated_run_remembers_in_the_conversation_it_was_begun_in(
    memory: Callable[..., tuple[Memory, Server]], monkeypatch: pytest.MonkeyPatch
) -> None:
    parent, _ = memory(session_id="support-4711")
    given = parent.environment()
    assert given["CAIRN_API_KEY"] == "cairn_k.s"
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    child, server = memory(httpx.Response(201, json=RESULT), httpx.Response(201, json=RESULT))
    child.remember("The hut is open.")
    assert server.body()["session_id"] == "support-4711"
    child.remember("It is mine.", session_id="another")
    assert server.body()["session_id"] == "another"
