"""Webhooks on the running stack: from a write through the queue and the function to a receiver."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook
from tests.e2e.tenant import Tenant, refused
from tests.plugins.waiting import eventually


class Receiver(ThreadingHTTPServer):
    """A receiver on this machine; `busy` posts are answered 503 before it takes any."""

    def __init__(self, busy: int) -> None:
        super().__init__(("127.0.0.1", 0), Taking)
        self.busy = busy
        self.tries: list[dict[str, str]] = []
        self.taken: list[tuple[dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook"


class Taking(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.tries.append(headers)
        if len(self.server.tries) > self.server.busy:
            self.server.taken.append((headers, body))
            self.send_response(204)
        else:
            self.send_response(503)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@pytest.fixture
def receiver(request: pytest.FixtureRequest) -> Iterator[Receiver]:
    server = Receiver(busy=getattr(request, "param", 0))
    Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("receiver", [0, 1], indirect=True, ids=["ready", "busy at first"])
def test_a_superseded_memory_reaches_a_receiver_signed(
    workspace: Tenant, receiver: Receiver
) -> None:
    made = workspace.post("/v1/webhooks", {"url": receiver.url})
    for text in ("The hut opens at seven.", "The hut opens at eight."):
        told = workspace.tell(text, type="fact", key="opening")
    ((headers, body),) = eventually(lambda: receiver.taken, seconds=60, what="the delivery")
    verified = Webhook(made["secret"]).verify(body, headers)
    assert verified["type"] == "memory_superseded"
    assert verified["data"]["superseded"][0]["superseded_by"] == told["id"]
    assert b"hut" not in body
    assert len({try_["webhook-id"] for try_ in receiver.tries}) == 1

    def settled() -> list[dict[str, Any]]:
        listed = workspace.get(f"/v1/webhooks/{made['id']}/deliveries")["items"]
        return [item for item in listed if item["state"] == "delivered"]

    (delivery,) = eventually(settled, what="the record of the delivery")
    assert delivery["status"] == 204
    assert json.dumps(workspace.get("/v1/webhooks")).find(made["secret"]) == -1
    assert workspace.chain_holds()


def test_a_bad_address_and_another_workspaces_webhook_are_refused(
    workspace: Tenant, receiver: Receiver
) -> None:
    for url in ("ftp://example.org/", "no address", "https://user:secret@example.org/"):
        refused(workspace.call("POST", "/v1/webhooks", json={"url": url}), 422)
    stranger = "019a8f0e-3b5c-7c11-9d2e-6f4a1b2c3d4e"
    refused(workspace.call("DELETE", f"/v1/webhooks/{stranger}"), 404)
    made = workspace.post("/v1/webhooks", {"url": receiver.url, "events": ["consolidation_done"]})
    workspace.call("DELETE", f"/v1/webhooks/{made['id']}")
    assert workspace.get("/v1/webhooks")["items"] == []
