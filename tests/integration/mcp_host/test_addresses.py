"""Connectors at an address: streamable HTTP, what statuses mean, where it may not lead."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from tests.support.hosting import READING, WRITING, Hosting

from cairn.adapters.http.connectors import connector_client
from cairn.adapters.http.webhooks import HttpWebhookSender
from cairn.connectors.connector import Launch, Transport
from cairn.connectors.launching import headers_of
from cairn.connectors.manifest import META_KEY
from cairn.connectors.port import (
    MAX_RESULT_BYTES,
    ConnectorState,
    ConnectorUnauthorised,
    ConnectorUnavailable,
    OutcomeUnknown,
)
from cairn.connectors.wires import HttpWire

TOOLS = [
    {"name": "find", "inputSchema": READING, "_meta": {META_KEY: {"scope": "read"}}},
    {"name": "reset", "inputSchema": WRITING, "_meta": {META_KEY: {"scope": "write"}}},
    {
        "name": "once",
        "inputSchema": WRITING,
        "_meta": {META_KEY: {"scope": "write", "idempotent": True}},
    },
]
Reply = Callable[["Handler", Any], None]


@dataclass
class Site:
    """A server of MCP that answers calls as the test says; `calls` are the tools called."""

    replies: list[Reply] = field(default_factory=list[Reply])
    calls: list[str] = field(default_factory=list[str])
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    sessions: int = 0
    url: str = ""


class Handler(BaseHTTPRequestHandler):
    """One request. A reply of the site's list answers the next call, else it is done well."""

    site: Site
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.answer(405, b"")

    def do_DELETE(self) -> None:
        self.answer(204, b"")

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.site.headers.append({key.lower(): value for key, value in self.headers.items()})
        method = asked.get("method")
        if method == "initialize":
            self.site.sessions += 1
            version = asked["params"]["protocolVersion"]
            info = {"name": "site", "version": "2.0.0"}
            said = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
            self.result(asked, said)
        elif method == "tools/list":
            self.result(asked, {"tools": TOOLS})
        elif method == "tools/call":
            self.site.calls.append(asked["params"]["name"])
            reply = self.site.replies.pop(0) if self.site.replies else well
            reply(self, asked)
        elif "id" in asked:
            self.result(asked, {})
        else:
            self.answer(202, b"")

    def result(self, asked: Any, said: Any) -> None:
        body = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": said})
        self.answer(200, body.encode(), session=f"s{self.site.sessions}")

    def answer(self, status: int, body: bytes, kind: str = "application/json", **more: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        if "session" in more:
            self.send_header("mcp-session-id", more.pop("session"))
        for name, value in more.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def text_of(text: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}]}


def well(handler: Handler, asked: Any) -> None:
    handler.result(asked, text_of("done"))


def status(code: int, kind: str = "text/plain") -> Reply:
    return lambda handler, asked: handler.answer(code, b"sorry", kind)


def breaks_off(handler: Handler, asked: Any) -> None:
    handler.close_connection = True
    handler.connection.close()


def huge(handler: Handler, asked: Any) -> None:
    handler.result(asked, text_of("x" * 10_000_000))


def huge_event(handler: Handler, asked: Any) -> None:
    said = {"jsonrpc": "2.0", "id": asked["id"], "result": text_of("y" * 10_000_000)}
    body = b"event: message\r\ndata: " + json.dumps(said).encode() + b"\r\n\r\n"
    handler.answer(200, body, "text/event-stream")


def event(handler: Handler, asked: Any) -> None:
    said = {"jsonrpc": "2.0", "id": asked["id"], "result": text_of("streamed")}
    body = b": hello\n\nevent: message\ndata: " + json.dumps(said).encode() + b"\n\n"
    handler.answer(200, body, "text/event-stream")


def compressed(handler: Handler, asked: Any) -> None:
    handler.answer(200, b"\x1f\x8b", **{"content-encoding": "gzip"})


def redirects(handler: Handler, asked: Any) -> None:
    handler.answer(307, b"", location="http://169.254.169.254/latest/meta-data")


def garbage(handler: Handler, asked: Any) -> None:
    handler.answer(200, b"<html>not MCP</html>")


def page(handler: Handler, asked: Any) -> None:
    handler.answer(200, b"<html>Please sign in</html>", "text/html")


def half(handler: Handler, asked: Any) -> None:
    handler.send_response(200)
    handler.send_header("content-type", "application/json")
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"jsonrpc":"2.0","id":')
    handler.wfile.flush()
    breaks_off(handler, asked)


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"site": site}))
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    site.url = f"http://127.0.0.1:{server.server_address[1]}/mcp"
    yield site
    server.shutdown()
    server.server_close()
    thread.join()


@dataclass
class Far:
    """A host whose connector `far` is at the site."""

    guard: HttpWebhookSender = field(default_factory=lambda: HttpWebhookSender(allow_private=True))

    def __post_init__(self) -> None:
        self.hosting = Hosting(wires=self._wire)

    def add(self, url: str, **changes: Any) -> None:
        changes = {"transport": Transport.HTTP, "builtin": None, "url": url} | changes
        self.hosting.register("far", **changes)

    def _wire(self, launch: Launch) -> HttpWire:
        url = launch.url or ""
        return HttpWire(url, lambda: connector_client(self.guard, url, headers_of(launch)))


@pytest.fixture
def far(site: Site) -> Iterator[Far]:
    far = Far()
    far.add(site.url, secrets={"authorization": "Bearer s3cret"})
    yield far
    far.hosting.host.close()


@pytest.mark.parametrize(("reply", "said"), [(well, "done"), (event, "streamed")])
def test_a_server_at_an_address_answers(far: Far, site: Site, reply: Reply, said: str) -> None:
    site.replies = [reply]

    result = far.hosting.call("far.find", user="ada")

    assert (result.text, result.manifest_version) == (said, "2.0.0")
    assert {header["authorization"] for header in site.headers} == {"Bearer s3cret"}
    assert {header["accept-encoding"] for header in site.headers} == {"identity"}


@pytest.mark.parametrize("code", [401, 403])
def test_a_refused_sign_in_is_one(far: Far, site: Site, code: int) -> None:
    site.replies = [status(code)]

    with pytest.raises(ConnectorUnauthorised):
        far.hosting.call("far.reset", user="ada")

    assert site.calls == ["reset"]
    assert far.hosting.health("far").error == "connector-unauthorised"


def test_a_sign_in_refused_at_the_handshake_is_one(site: Site) -> None:
    far = Far()
    far.add(site.url)
    original = Handler.do_POST
    try:
        Handler.do_POST = lambda self: self.answer(401, b"")  # type: ignore[method-assign]
        with pytest.raises(ConnectorUnauthorised):
            far.hosting.call("far.find", user="ada")
    finally:
        Handler.do_POST = original  # type: ignore[method-assign]
        far.hosting.host.close()
    assert far.hosting.health("far").state is ConnectorState.CRASHED


@pytest.mark.parametrize("reply", [breaks_off, status(502), status(500), compressed])
def test_a_write_without_an_answer_is_unknown(far: Far, site: Site, reply: Reply) -> None:
    site.replies = [reply]

    with pytest.raises(OutcomeUnknown):
        far.hosting.call("far.reset", user="ada")

    assert site.calls == ["reset"]


@pytest.mark.parametrize("reply", [breaks_off, status(502), compressed])
@pytest.mark.parametrize("tool", ["find", "once"])
def test_what_may_be_repeated_is(far: Far, site: Site, reply: Reply, tool: str) -> None:
    site.replies = [reply]

    assert far.hosting.call(f"far.{tool}", user="ada").text == "done"
    assert site.calls == [tool, tool]


@pytest.mark.parametrize("code", [404, 429])
def test_a_write_that_was_turned_away_is_sent_again(far: Far, site: Site, code: int) -> None:
    """404 within a session: the session is over, the server did not look at the call."""
    far.hosting.call("far.find", user="ada")
    site.replies = [status(code)]

    assert far.hosting.call("far.reset", user="ada").text == "done"
    assert site.calls == ["find", "reset", "reset"]
    assert site.sessions == 2


@pytest.mark.parametrize("reply", [huge, huge_event])
def test_ten_megabytes_are_cut(far: Far, site: Site, reply: Reply) -> None:
    site.replies = [reply]

    result = far.hosting.call("far.find", user="ada")

    assert result.truncated
    assert len(result.text.encode()) <= MAX_RESULT_BYTES
    assert "[truncated by cairn: the result was 100" in result.text


def test_a_redirect_is_not_followed(far: Far, site: Site) -> None:
    site.replies = [redirects]

    result = far.hosting.call("far.find", user="ada")

    assert result.is_error
    assert site.calls == ["find"]


@pytest.mark.parametrize("reply", [garbage, page, half])
def test_an_answer_that_is_no_message_leaves_a_write_unknown(
    far: Far, site: Site, reply: Reply
) -> None:
    site.replies = [reply]

    with pytest.raises(OutcomeUnknown):
        far.hosting.call("far.reset", user="ada")

    assert site.calls == ["reset"]


def test_nobody_there_is_not_started() -> None:
    far = Far()
    far.add("http://127.0.0.1:9/mcp")

    with pytest.raises(ConnectorUnavailable) as refused:
        far.hosting.call("far.find", user="ada")

    assert refused.value.reason == "connector-not-started"
    far.hosting.host.close()


@pytest.mark.parametrize(
    ("url", "addresses"),
    [
        ("https://mcp.example.org/mcp", ["10.0.0.7"]),
        ("https://mcp.example.org/mcp", ["169.254.169.254"]),
        ("https://mcp.example.org/mcp", ["::1"]),
        ("https://mcp.example.org/mcp", ["::ffff:127.0.0.1"]),
        ("https://127.0.0.1/mcp", ["127.0.0.1"]),
        ("https://mcp.example.org/mcp", ["64:ff9b::a9fe:a9fe"]),
        ("https://mcp.example.org/mcp", ["224.0.0.1"]),
        ("http://mcp.example.org/mcp", ["93.184.216.34"]),
    ],
)
def test_an_address_inside_a_network_is_never_connected_to(
    url: str, addresses: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import httpx2

    connected: list[str] = []

    async def connect(self: Any, request: httpx2.Request) -> httpx2.Response:
        connected.append(request.url.host)
        raise httpx2.ConnectError("nobody")

    monkeypatch.setattr(httpx2.AsyncHTTPTransport, "handle_async_request", connect)
    far = Far(guard=HttpWebhookSender(resolve=lambda host, port: addresses))
    far.add(url)

    with pytest.raises(ConnectorUnavailable) as refused:
        far.hosting.call("far.find", user="ada")

    assert refused.value.reason == "connector-not-started"
    assert connected == []
    far.hosting.host.close()


def test_the_address_that_was_looked_at_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx2

    connected: list[tuple[str, str, Any]] = []

    async def connect(self: Any, request: httpx2.Request) -> httpx2.Response:
        host, sni = request.headers["host"], request.extensions.get("sni_hostname")
        connected.append((request.url.host, host, sni))
        raise httpx2.ConnectError("nobody")

    monkeypatch.setattr(httpx2.AsyncHTTPTransport, "handle_async_request", connect)
    far = Far(guard=HttpWebhookSender(resolve=lambda host, port: ["93.184.216.34"]))
    far.add("https://mcp.example.org/mcp")

    with pytest.raises(ConnectorUnavailable):
        far.hosting.call("far.find", user="ada")

    assert set(connected) == {("93.184.216.34", "mcp.example.org", "mcp.example.org")}
    far.hosting.host.close()
