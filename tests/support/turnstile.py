"""Cloudflare's Turnstile over HTTP, as it is documented: the script, what it shows, `siteverify`.

https://developers.cloudflare.com/turnstile/get-started/server-side-validation/
https://developers.cloudflare.com/turnstile/get-started/client-side-rendering/
"""

from __future__ import annotations

import json
import secrets
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from collections.abc import Generator

SITE, SECRET = "0x4AAAAAAAtestsite", "0x4AAAAAAAtests-own-secret"
GOOD_FOR = timedelta(seconds=300)
BROKEN = {
    "down": (503, "text/html", "<h1>No"),
    "429": (429, "text/html", "<h1>No"),
    "nonsense": (200, "text/html", "<html>Just a moment...</html>"),
}

SCRIPT = """
window.turnstile = (() => {
  let count = 0;
  const shown = new Map();
  return {
    render(place, options) {
      const wrong = (what) => { throw new Error(`[Cloudflare Turnstile] Invalid ${what}.`); };
      if (!document.contains(place)) wrong("container");
      if (!/^[A-Za-z0-9_-]{0,32}$/.test(options.action || "")) wrong("action");
      const id = `cf-chl-widget-${++count}`, frame = document.createElement("iframe");
      const { sitekey: k, action: a = "" } = options;
      const asked = new URLSearchParams({ id, k, a, h: location.hostname });
      frame.src = `https://challenges.cloudflare.com/turnstile/v0/frame?${asked}`;
      frame.title = "Widget containing a Cloudflare security challenge";
      const hear = (event) => {
        if (event.origin !== "https://challenges.cloudflare.com" || event.data.id !== id) return;
        if (event.data.token) options.callback(event.data.token);
        else if (!options["error-callback"] || !options["error-callback"](event.data.error))
          throw new Error(`[Cloudflare Turnstile] Error: ${event.data.error}`);
      };
      addEventListener("message", hear);
      shown.set(id, () => { removeEventListener("message", hear); frame.remove(); });
      place.append(frame);
      return id;
    },
    remove(id) { shown.get(id)(); shown.delete(id); },
  };
})();
"""
FRAME = """<!doctype html><title>Turnstile</title><script>
parent.postMessage(%s, "*");
</script>"""


@dataclass
class Token:
    """What a browser was given: for a page of a host, and what the page said that it is for."""

    hostname: str
    action: str
    at: datetime
    spent: str | None = None  # under which key, "" without one


@dataclass
class Service:
    """The running service. `fails` is how: `down`, `hang`, `nonsense`, `internal-error`, `429`."""

    url: str
    fails: str = ""
    blind: bool = False  # the browser's challenge fails
    cut: int = 0  # so many answers are lost after the token was taken
    asked: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    tokens: dict[str, Token] = field(default_factory=dict[str, Token])
    released: Event = field(default_factory=Event)
    lock: Lock = field(default_factory=Lock)

    def solved(self, hostname: str, action: str = "cairn-chat", *, age: int = 0) -> str:
        """Return what a browser is given that solved a challenge, so many seconds ago."""
        token = f"0.{secrets.token_urlsafe(64)}"
        at = datetime.now(UTC) - timedelta(seconds=age)
        self.tokens[token] = Token(hostname, action, at)
        return token

    def verify(self, form: dict[str, str]) -> dict[str, Any]:
        """Return what is said of a token; each is good once, or again under its key."""
        for name in ("secret", "response"):
            if not form.get(name):
                return _refused(f"missing-input-{name}")
        if form["secret"] != SECRET:
            return _refused("invalid-input-secret")
        if self.fails == "internal-error":
            return _refused("internal-error")
        token = self.tokens.get(form["response"])
        if token is None:
            return _refused("invalid-input-response")
        key = form.get("idempotency_key", "")
        again = token.spent is not None and (not key or token.spent != key)
        if again or datetime.now(UTC) - token.at > GOOD_FOR:
            return _refused("timeout-or-duplicate")
        token.spent = key
        return {
            "success": True,
            "challenge_ts": token.at.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "hostname": token.hostname,
            "error-codes": [],
            "action": token.action,
            "cdata": "",
        }

    def served(self, path: str) -> tuple[str, str] | None:
        """Return what a browser is given: the type and the body."""
        address = urlsplit(path)
        if address.path == "/turnstile/v0/api.js" and self.fails != "script":
            return "application/javascript", SCRIPT
        if address.path == "/turnstile/v0/frame":
            asked = {name: values[0] for name, values in parse_qs(address.query).items()}
            said: dict[str, Any] = {"id": asked["id"], "error": "600010"}
            if not self.blind and asked["k"] == SITE:
                token = self.solved(asked["h"], asked.get("a", ""))
                said = {"id": asked["id"], "token": token}
            return "text/html", FRAME % json.dumps(said)
        return None


def _refused(code: str) -> dict[str, Any]:
    return {"success": False, "error-codes": [code], "messages": []}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: Service

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"])).decode()
        if self.headers["content-type"].startswith("application/json"):
            form = json.loads(raw)
        else:
            form = {name: values[0] for name, values in parse_qs(raw).items()}
        self.state.asked.append(form)
        if self.state.fails == "hang":
            self.state.released.wait(30)
        broken = BROKEN.get(self.state.fails)
        if self.path != "/turnstile/v0/siteverify" or broken:
            return self.answer(*(broken or (404, "text/plain", "")))
        with self.state.lock:
            said = self.state.verify(form)
        if self.state.cut:
            self.state.cut -= 1
            self.close_connection = True
            return None
        return self.answer(200, "application/json", json.dumps(said))

    def do_GET(self) -> None:
        served = self.state.served(self.path)
        self.answer(200 if served else 404, *(served or ("text/plain", "")))

    def answer(self, status: int, kind: str, text: str) -> None:
        body = text.encode()
        try:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:  # who asked has given up
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def service() -> Generator[Service]:
    """Serve until the block ends."""

    class Handler(_Handler):
        pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        state = Handler.state = Service(url=f"http://127.0.0.1:{server.server_address[1]}")
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield state
        finally:
            state.released.set()
            server.shutdown()
            thread.join()
