"""What the API believes of the front of a deployment, and what of everybody else."""

import asyncio
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from cairn.api.edge import Edge

SECRET, NEXT = "s" * 64, "n" * 64
VIEWER, HOST = "203.0.113.7", "cairn.example.org"


class App:
    """Remembers how it was asked."""

    def __init__(self) -> None:
        self.scope: Scope | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope


def ask(
    headers: dict[str, str],
    *,
    secrets: tuple[str, ...] = (SECRET, NEXT),
    only: bool = False,
    path: str = "/v1/memories",
) -> tuple[Scope | None, list[Any]]:
    """Ask through an edge; return how the app was asked, and what was answered before it."""
    app, sent = App(), []
    scope: Scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "client": ("192.0.2.1", 4711),
        "headers": [(b"host", b"gateway.example"), *_encoded(headers)],
        "state": {"request_id": "01a2"},
    }

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(Edge(app, secrets=secrets, only=only)(scope, receive, send))
    return app.scope, sent


def _encoded(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]


def front(secret: str = SECRET, **headers: str) -> dict[str, str]:
    says = {"x-cairn-edge": secret, "x-cairn-viewer": VIEWER, "x-cairn-host": HOST}
    return says | {name.replace("_", "-"): value for name, value in headers.items()}


def seen(scope: Scope | None) -> tuple[str, list[bytes], set[bytes]]:
    """Return the address, the hosts and the front's own headers that the app was asked with."""
    assert scope is not None
    hosts = [value for name, value in scope["headers"] if name == b"host"]
    return scope["client"][0], hosts, {name for name, _ in scope["headers"]} - {b"host"}


@pytest.mark.parametrize("secret", [SECRET, NEXT])
def test_with_a_secret_that_counts_the_visitor_takes_the_place_of_the_front(secret: str) -> None:
    scope, _ = ask(front(secret))
    assert seen(scope) == (VIEWER, [HOST.encode()], set())


@pytest.mark.parametrize("secret", ["", "s" * 63, "S" * 64, f"{SECRET},{NEXT}", "é" * 64])
def test_without_the_secret_what_anybody_may_write_is_dropped(secret: str) -> None:
    scope, sent = ask(front(secret))
    assert seen(scope) == ("192.0.2.1", [b"gateway.example"], set())
    assert not sent


def test_where_there_is_no_front_nothing_is_believed_and_nothing_refused() -> None:
    for secret in ("", SECRET):
        scope, _ = ask(front(secret), secrets=())
        assert seen(scope) == ("192.0.2.1", [b"gateway.example"], set())


@pytest.mark.parametrize("address", ["", "nobody", "203.0.113.7, 10.0.0.1", "203.0.113.7:443"])
def test_an_address_that_is_none_leaves_the_connections_own(address: str) -> None:
    scope, _ = ask(front(x_cairn_viewer=address))
    assert seen(scope)[0] == "192.0.2.1"


def test_an_address_of_ipv6_is_taken_as_it_is_written_shortest() -> None:
    scope, _ = ask(front(x_cairn_viewer="2001:0DB8:0::0001"))
    assert seen(scope)[0] == "2001:db8::1"


@pytest.mark.parametrize("host", ["", "a b", "a/b", "a@b", "-a", "a\u0000b", "x" * 300])
def test_a_host_that_is_none_leaves_the_gateways(host: str) -> None:
    scope, _ = ask(front(x_cairn_host=host))
    assert seen(scope)[1] == [b"gateway.example"]


def test_where_only_the_front_may_ask_others_are_told_where_to_ask_but_for_health() -> None:
    scope, sent = ask({}, only=True)
    assert scope is None
    assert sent[0]["status"] == 403
    assert b"front" in sent[1]["body"]
    for path in ("/healthz", "/readyz"):
        assert ask({}, only=True, path=path)[0] is not None
    assert ask(front(), only=True)[0] is not None
