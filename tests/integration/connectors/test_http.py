"""The connector `http` over real sockets: what it asks, and where it never goes."""

from __future__ import annotations

import gzip
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.connecting import call

from cairn.adapters.http.public_address import is_public
from cairn.bundled.configuration import configured
from cairn.bundled.http import Http, HttpConfig, served
from cairn.bundled.http import server as http
from cairn.kernel.errors import ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Iterator

SECRET = "Bearer tok-5f1c9a7e2b"
KEY = "0193d7a2-7f00-7000-8000-000000000001"


@dataclass
class Site:
    """A server that tells what it got, and answers as its paths say."""

    url: str = ""
    asked: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    elsewhere: str = ""
    released: Event = field(default_factory=Event)

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        head, _, tail = path.strip("/").partition("/")
        if head == "status":
            return int(tail), {}, b'{"said": "no"}'
        if head == "to":
            return 302, {"location": f"/{tail}"}, b""
        if head == "away":
            return 307, {"location": f"{self.elsewhere}/ok"}, b""
        if head == "odd":
            return 302, {"location": "http://[broken"}, b""
        if head == "large":
            return 200, {"content-type": "text/plain"}, b"x" * 500_000
        if head == "zipped":
            return 200, {"content-encoding": "gzip"}, gzip.compress(b"y" * 5_000_000)
        if head == "binary":
            return 200, {"content-type": "image/png"}, b"\x89PNG\x00\x01"
        if head == "late":
            self.released.wait(10)
        return 200, {"content-type": "application/json"}, b'{"ok": true}'


@contextmanager
def site() -> Iterator[Site]:
    state = Site()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answered(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            state.asked.append((self.command, self.path, headers, body))
            status, given, content = state.answer(self.path.partition("?")[0])
            self.send_response(status)
            for name, value in given.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            try:
                self.wfile.write(content)
            except OSError:
                self.close_connection = True

        do_GET = do_POST = do_DELETE = do_PUT = do_PATCH = answered

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        state.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def here() -> Iterator[Site]:
    with site() as made:
        yield made


@pytest.fixture
def away() -> Iterator[Site]:
    with site() as made:
        yield made


def connector(site: Site, **more: Any):
    config = {
        "allow_private": True,
        "seconds": 1,
        "rules": [
            {
                "url": f"{site.url}/*",
                "methods": ["GET", "POST", "DELETE"],
                "secret_headers": {"Authorization": "api_token"},
            }
        ],
        **more,
    }
    return http(config, {"api_token": SECRET})


def test_a_read_goes_out_with_the_secret_and_comes_back_without(here: Site) -> None:
    said = call(connector(here), "get", url=f"{here.url}/users?id=7&q=a%20b")
    assert said.value["body"] == {"ok": True}
    method, path, headers, _ = here.asked[0]
    assert (method, path) == ("GET", "/users?id=7&q=a%20b")
    assert headers["authorization"] == SECRET
    assert "tok-5f1c9a7e2b" not in said.text


def test_a_write_carries_its_key_and_its_body(here: Site) -> None:
    said = call(
        connector(here), "send", url=f"{here.url}/hooks", body='{"a": 1}', idempotency_key=KEY
    )
    assert said.value["status"] == 200
    _, _, headers, body = here.asked[0]
    assert headers["idempotency-key"] == KEY
    assert headers["content-type"] == "application/json"
    assert body == b'{"a": 1}'


def test_a_dry_run_asks_nobody(here: Site) -> None:
    said = call(connector(here), "send", url=f"{here.url}/hooks", body="{}", dry_run=True)
    assert said.value["dry_run"]
    assert here.asked == []


@pytest.mark.parametrize(
    "path",
    [
        "/v1/../admin",
        "/v1/./x",
        "/v1/%2e%2e/admin",
        "/v1/..%2fadmin",
        "/v1/..;/admin",
        "/v1/.;x=1/admin",
        "/v1/%2E%2E/admin",
        "/v1\\..\\admin",
        "/v1/a%5cb",
        "/v1/a%00b",
        "/v1/a b",
        "/v1/x#fragment",
        "/v2/x",
        "/v1",
        "/v10/x",
        "",
    ],
)
def test_paths_outside_the_rule_or_unclear_ones_are_refused(here: Site, path: str) -> None:
    rules = [{"url": f"{here.url}/v1/*"}]
    said = call(connector(here, rules=rules), "get", url=f"{here.url}{path}")
    assert said.code == "validation-failed"
    assert here.asked == []


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "http://user:word@127.0.0.1:{port}/v1/x",
        "http://127.0.0.1:{port}@evil.test/v1/x",
        "http://127.0.0.2:{port}/v1/x",
        "http://localhost:{port}/v1/x",
        "https://127.0.0.1:{port}/v1/x",
        "http://127.0.0.1:1/v1/x",
        "http://127.0.0.1:0/v1/x",
        "http://127.0.0.1:99999/v1/x",
        "//127.0.0.1:{port}/v1/x",
        "127.0.0.1:{port}/v1/x",
        "http://[::1/v1/x",
        "http://127.0.0.1:{port}/v1/x\r\nX-Evil: 1",
        "http://exämple.test/v1/x",
        "",
    ],
)
def test_other_places_are_refused(here: Site, url: str) -> None:
    port = here.url.rpartition(":")[2]
    said = call(connector(here), "get", url=url.replace("{port}", port))
    assert said.code == "validation-failed"
    assert here.asked == []


def test_methods_that_no_rule_has_are_refused(here: Site) -> None:
    said = call(connector(here), "send", url=f"{here.url}/x", method="PUT", idempotency_key=KEY)
    assert said.code == "validation-failed"
    assert here.asked == []


def test_redirects_of_reads_are_followed_inside_the_rules_only(here: Site, away: Site) -> None:
    here.elsewhere = away.url
    assert call(connector(here), "get", url=f"{here.url}/to/ok").value["body"] == {"ok": True}
    said = call(connector(here), "get", url=f"{here.url}/away")
    assert said.code == "validation-failed"
    assert away.asked == []
    assert call(connector(here), "get", url=f"{here.url}/odd").code == "validation-failed"


def test_a_redirect_to_another_rule_gets_the_headers_of_that_rule(here: Site, away: Site) -> None:
    here.elsewhere = away.url
    rules = [
        {"url": f"{here.url}/*", "secret_headers": {"Authorization": "api_token"}},
        {"url": f"{away.url}/*"},
    ]
    assert call(connector(here, rules=rules), "get", url=f"{here.url}/away").value["status"] == 200
    assert "authorization" not in away.asked[0][2]


def test_a_circle_of_redirects_ends(here: Site) -> None:
    said = call(connector(here), "get", url=f"{here.url}/to/to/to/to/to/ok")
    assert said.code == "validation-failed"
    assert len(here.asked) == 4


def test_redirects_of_writes_are_not_followed(here: Site) -> None:
    said = call(connector(here), "send", url=f"{here.url}/to/ok", idempotency_key=KEY)
    assert said.is_error
    assert len(here.asked) == 1


@pytest.mark.parametrize("path", ["large", "zipped"])
def test_large_bodies_are_cut_and_said_to_be(here: Site, path: str) -> None:
    said = call(connector(here), "get", url=f"{here.url}/{path}")
    assert said.value["truncated"]
    assert len(said.text.encode()) <= 100_000


def test_bodies_that_are_no_text_are_not_shown(here: Site) -> None:
    assert call(connector(here), "get", url=f"{here.url}/binary").value["body"].startswith("[")


def test_a_refused_sign_in_asks_for_a_new_one(here: Site) -> None:
    assert call(connector(here), "get", url=f"{here.url}/status/401").code == "unauthorized"
    open_rules = [{"url": f"{here.url}/*"}]
    said = call(connector(here, rules=open_rules), "get", url=f"{here.url}/status/403")
    assert said.code == "failed"


def test_a_write_without_a_clear_answer_is_unknown_and_sent_once(here: Site) -> None:
    for path in ("late", "status/503"):
        said = call(connector(here), "send", url=f"{here.url}/{path}", idempotency_key=KEY)
        assert said.code == "outcome-unknown", path
    assert len(here.asked) == 2
    assert call(connector(here), "get", url=f"{here.url}/late").code == "unavailable"


def test_a_host_that_is_not_there_is_unavailable_even_for_a_write() -> None:
    rules = [{"url": "http://127.0.0.1:9/*", "methods": ["POST"]}]
    server = http({"allow_private": True, "rules": rules}, {})
    said = call(server, "send", url="http://127.0.0.1:9/x", idempotency_key=KEY)
    assert said.code == "unavailable"


@pytest.mark.parametrize("body", ["{", "not json", "{'a': 1}"])
def test_a_body_that_is_not_what_it_says_is_refused(here: Site, body: str) -> None:
    said = call(connector(here), "send", url=f"{here.url}/x", body=body, idempotency_key=KEY)
    assert said.code == "validation-failed"
    assert here.asked == []


PUBLIC = {"rules": [{"url": "https://api.example.test/*", "methods": ["GET", "POST"]}]}


@pytest.mark.parametrize(
    "addresses",
    [
        ["127.0.0.1"],
        ["10.0.0.7"],
        ["169.254.169.254"],
        ["192.168.1.1"],
        ["100.64.0.1"],
        ["0.0.0.0"],
        ["224.0.0.1"],
        ["::1"],
        ["fd00::1"],
        ["fe80::1"],
        ["::ffff:127.0.0.1"],
        ["64:ff9b::7f00:1"],
        ["2002:7f00:1::"],
        ["93.184.216.34", "127.0.0.1"],
        ["nonsense"],
    ],
)
def test_names_that_lead_inside_are_refused(addresses: list[str]) -> None:
    config = configured(HttpConfig, PUBLIC, {})
    server = served(Http(config=config, resolve=lambda host, port: addresses))
    for tool, more in (("get", {}), ("send", {"dry_run": True})):
        said = call(server, tool, url="https://api.example.test/x", **more)
        assert "private network" in said.text
    assert call(server, "healthcheck").is_error


def test_public_addresses_are_public() -> None:
    for address in ("93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "64:ff9b::5db8:d822"):
        assert is_public(address)


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"rules": []},
        {"rules": [{"url": "http://api.example.test/*"}]},
        {"rules": [{"url": "https://*.example.test/"}]},
        {"rules": [{"url": "https://api.example.test/*/x"}]},
        {"rules": [{"url": "https://api.example.test/?a=b"}]},
        {"rules": [{"url": "https://user@api.example.test/"}]},
        {"rules": [{"url": "https://api.example.test/", "methods": ["TRACE"]}]},
        {"rules": [{"url": "https://api.example.test/", "headers": {"Host": "x"}}]},
        {"rules": [{"url": "https://api.example.test/", "headers": {"X": "a\r\nb"}}]},
        {"rules": [{"url": "https://api.example.test/", "secret_headers": {"X-Key": "gone"}}]},
        {"rules": [{"url": "https://api.example.test/"}], "seconds": 0},
        {"rules": [{"url": "https://api.example.test/"}], "token": "hunter2"},
    ],
)
def test_settings_that_cannot_work_are_refused(config: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailed) as refused:
        http(config, {})
    assert refused.value.errors
    assert "hunter2" not in str(refused.value.errors)


def test_whether_writes_are_deduplicated_is_what_the_settings_say(here: Site) -> None:
    from tests.support.connecting import listed

    for honest in (False, True):
        tools = {item.name: item for item in listed(connector(here, receivers_deduplicate=honest))}
        assert (tools["send"].meta or {})["cairn/tool"]["idempotent"] is honest
        assert (tools["send"].meta or {})["cairn/tool"]["dangerous"] is True
