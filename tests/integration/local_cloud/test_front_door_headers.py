"""Headers that never end are cut; a body or an answer that takes its time is not."""

import socket
from collections.abc import Iterator
from threading import Thread
from typing import Any

import pytest
import uvicorn
from infra.local.server import HEADER_SECONDS, HeadersEnd
from tests.plugins.waiting import eventually

PART = b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\n"
WHOLE = PART + b"\r\n"


class Hurried(HeadersEnd):
    header_seconds = 0.3


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Answer when the body is there."""
    message = await receive()
    while message.get("more_body"):
        message = await receive()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"read"})


@pytest.fixture
def address() -> Iterator[tuple[str, int]]:
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, http=Hurried, log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    eventually(lambda: server.started, what="the server")
    yield listening.getsockname()
    server.should_exit = True
    thread.join(10)
    listening.close()


def opened(address: tuple[str, int], *sent: bytes) -> socket.socket:
    made = socket.create_connection(address, timeout=10)
    for each in sent:
        made.sendall(each)
    return made


@pytest.mark.parametrize("sent", [b"", PART], ids=["nothing", "a part"])
def test_a_request_that_never_begins_is_cut(address: tuple[str, int], sent: bytes) -> None:
    with opened(address, sent) as waiting:
        assert waiting.recv(1) == b""


def test_the_second_request_of_a_connection_is_cut_like_the_first(
    address: tuple[str, int],
) -> None:
    with opened(address, WHOLE, b"ok") as connection:
        assert b"200" in connection.recv(4096)
        connection.sendall(PART)
        while connection.recv(4096):  # the rest of the first answer
            pass


def test_a_body_that_takes_longer_is_waited_for(address: tuple[str, int]) -> None:
    with opened(address, WHOLE) as slow, opened(address, PART) as cut:
        assert cut.recv(1) == b""  # so long the other one has waited, too
        slow.sendall(b"ok")
        assert b"200" in slow.recv(4096)


def test_the_laptops_server_waits_ten_seconds() -> None:
    assert HeadersEnd.header_seconds == HEADER_SECONDS == 10.0
