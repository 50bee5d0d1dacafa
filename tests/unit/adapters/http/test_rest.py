"""Requests to services of somebody else's: how long an answer is waited for."""

from collections.abc import Iterator

import httpx
import pytest

from cairn.adapters.http.rest import Request, RestService
from cairn.connectors.port import OutcomeUnknown
from cairn.kernel.errors import Unavailable


class Drips(httpx.SyncByteStream):
    """A body that never ends, a byte at a time; each takes a second of `clock`."""

    def __init__(self) -> None:
        self.sent = 0

    def __iter__(self) -> Iterator[bytes]:
        while self.sent < 1_000:
            self.sent += 1
            yield b" "


def dripping(body: Drips) -> RestService:
    return RestService(
        name="The desk",
        base_url="https://desk.example.org",
        words=lambda said: "",
        transport=httpx.MockTransport(lambda request: httpx.Response(200, stream=body)),
        pause=lambda seconds: None,
        stopwatch=lambda: float(body.sent),
        seconds=10.0,
    )


def test_an_answer_that_drips_without_an_end_is_given_up() -> None:
    body = Drips()
    with pytest.raises(Unavailable) as given_up:
        dripping(body).ask(Request(method="GET", path="/tickets", repeatable=True), {})

    assert given_up.value.reason == "timeout"
    assert body.sent < 50


def test_a_write_whose_answer_drips_is_unknown() -> None:
    body = Drips()
    with pytest.raises(OutcomeUnknown) as unknown:
        dripping(body).ask(Request(method="POST", path="/tickets", body={}), {})

    assert unknown.value.reason == "tool-timeout"
    assert body.sent < 20
