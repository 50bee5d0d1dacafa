"""Any system as a ticket source: signed deliveries at the outer door, signed answers back.

Signatures are made and checked by the library of Standard Webhooks.
"""

# pyright: basic

from __future__ import annotations

import json
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from standardwebhooks import Webhook
from tests.support.front import Cloud, Front, environment, stand_in_for_aws
from tests.support.world import open_world

from cairn.adapters.http.help_desks import OpenHelpDesk
from cairn.kernel.errors import NotFound, Unavailable, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.tickets.adapter import NeedsAuth

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.plugins.postgres import Database

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
TICKET = {
    "id": "T-1",
    "title": "The tide table is empty",
    "body": "Since Monday.",
    "customer": "Harbour Lane",
    "requester_email": "mara@northwind.example",
    "priority": "high",
    "modified_at": "2026-03-02T09:00:00Z",
    "metadata": {"channel": "phone"},
}


def signed(body: bytes, name: str, at: datetime, secret: str = SECRET) -> dict[str, str]:
    return {
        "webhook-id": name,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(secret).sign(name, at, body.decode()),
        "content-type": "application/json",
    }


@pytest.fixture(scope="module")
def front(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    settings = environment(database.app_url, tmp_path_factory.mktemp("webhook"))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        stand_in_for_aws(patch, Cloud())
        world = open_world(database.owner_url, database.app_url, f"webhook {new_id()}")
        front = Front(world.key)
        yield front
        front.app.state.services.opened.close()
        world.pool.close()


def source(front: Front) -> str:
    body = {
        "name": f"own-{new_id().hex[-12:]}",
        "kind": "webhook",
        "config": {"customer": "Northwind"},
        "secrets": {"webhook_secret": SECRET},
    }
    return front.call("POST", "/v1/ticket-sources", json=body)["events_path"]


def deliver(
    front: Front, path: str, document: Any, name: str = "", headers: dict[str, str] | None = None
) -> Any:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    signing = signed(body, name or str(new_id()), datetime.now(UTC))
    return front.answer("POST", path, content=body, headers=headers or signing)


def test_a_delivery_brings_tickets_and_messages_once(front: Front) -> None:
    path = source(front)
    document = {"tickets": [TICKET], "messages": [{"ticket": "T-1", "id": "m1", "text": "Now?"}]}
    first = deliver(front, path, document, "d-1").json()
    assert (first["new"], first["messages"], first["duplicate"]) == (1, 1, False)
    again = deliver(front, path, document, "d-1").json()
    assert (again["new"], again["known"], again["messages"], again["duplicate"]) == (0, 1, 0, True)
    later = {**TICKET, "body": "Since Sunday.", "modified_at": "2026-03-02T10:00:00Z"}
    assert deliver(front, path, {"tickets": [later]}).json()["changed"] == 1
    assert deliver(front, path, {"tickets": [TICKET]}).json()["changed"] == 0  # it came late
    (row,) = [
        item
        for item in front.call("GET", "/v1/tickets")["items"]
        if item["title"] == TICKET["title"]
    ]
    ticket = front.call("GET", f"/v1/tickets/{row['id']}")
    assert (ticket["body"], ticket["customer"], ticket["priority"]) == (
        "Since Sunday.", "Harbour Lane", "high",
    )  # fmt: skip
    assert [each["text"] for each in ticket["messages"]] == ["Now?"]
    assert ticket["source_metadata"] == {"channel": "phone"}
    assert front.answer("POST", f"{path.removesuffix('/events')}/poll").json()["new"] == 0


def test_what_is_not_signed_now_with_the_secret_is_refused(front: Front) -> None:
    path, body, now = source(front), json.dumps({"tickets": [TICKET]}).encode(), datetime.now(UTC)
    good = signed(body, "d-2", now)
    other = "whsec_" + "A" * 32
    refused = {
        "unsigned": {"content-type": "application/json"},
        "bad-signature": signed(body, "d-2", now, other),
        "stale": signed(body, "d-2", now - timedelta(minutes=6)),
    }
    for reason, headers in refused.items():
        answer = deliver(front, path, body, headers=headers)
        assert (answer.status_code, answer.json()["reason"]) == (401, reason)
    for headers in ({**good, "webhook-id": "d-3"}, {**good, "webhook-timestamp": "12"}):
        assert deliver(front, path, body, headers=headers).status_code == 401
    assert deliver(front, path, body + b" ", headers=good).status_code == 401
    both = {**good, "webhook-signature": f"v1,{'A' * 44} {good['webhook-signature']}"}
    assert deliver(front, path, body, headers=both).status_code == 200
    assert deliver(front, path.replace("0", "1"), body, headers=good).status_code in (404, 422)


def test_what_cannot_be_read_is_refused_by_its_place(front: Front) -> None:
    path = source(front)
    wrong: list[tuple[Any, str]] = [
        (b"{", ""),
        ([], "body"),
        ({"ticket": {}}, "ticket"),
        ({"tickets": {}}, "tickets"),
        ({"tickets": [{"title": "x"}]}, "tickets.0.id"),
        ({"tickets": [{**TICKET, "body": ["x"]}]}, "tickets.0.body"),
        ({"tickets": [{**TICKET, "priority": "soon"}]}, "tickets.0.priority"),
        ({"tickets": [{**TICKET, "modified_at": "now"}]}, "tickets.0.modified_at"),
        ({"tickets": [TICKET] * 101}, "tickets"),
        ({"tickets": [{**TICKET, "more": 1}]}, "tickets.0.more"),
        ({"messages": [{"id": "m", "text": "x"}]}, "messages.0.ticket"),
    ]
    for document, place in wrong:
        answer = deliver(front, path, document)
        assert answer.status_code == 422, document
        assert place in json.dumps(answer.json()), document
    hostile = {"tickets": [{**TICKET, "id": "T-9", "title": "a\x00\ud800b", "body": "x" * 100_000}]}
    assert deliver(front, path, hostile).json()["new"] == 1


@contextmanager
def receiver(statuses: list[int]) -> Iterator[tuple[str, list[Any]]]:
    """Somebody's system that takes answers: what it got, checked by the library."""
    events: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            status = statuses.pop(0) if statuses else 200
            if status == 200:
                events.append((headers["webhook-id"], Webhook(SECRET).verify(body, headers)))
            self.send_response(status)
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/answers?to=us", events
    finally:
        server.shutdown()
        server.server_close()


def test_answers_status_and_time_are_sent_signed_and_say_who_they_are_for() -> None:
    statuses: list[int] = []
    with receiver(statuses) as (url, events):
        open_, secrets = OpenHelpDesk(allow_private=True), {"webhook_secret": SECRET}
        adapter = open_("webhook", {"reply_url": url}, secrets)
        assert adapter.capabilities().time_entries
        assert adapter.reply("T-1", "Here it is.", private=False, key="k-reply") == "k-reply"
        adapter.reply("T-1", "Here it is.", private=False, key="k-reply")
        assert adapter.set_status("T-1", "auto_resolved") == "auto_resolved"
        adapter.log_time("T-1", 4, "Worked on by Cairn", key="k-time")
        assert events == [
            ("k-reply", answer := {"type": "reply", "ticket": "T-1",
                                   "text": "Here it is.", "private": False}),
            ("k-reply", answer),
            (events[2][0], {"type": "status", "ticket": "T-1", "status": "auto_resolved"}),
            ("k-time", {"type": "time", "ticket": "T-1", "minutes": 4,
                        "note": "Worked on by Cairn"}),
        ]  # fmt: skip
        for status, error in ((401, NeedsAuth), (404, NotFound), (400, ValidationFailed)):
            statuses.append(status)
            with pytest.raises(error):
                adapter.reply("T-1", "x", private=True, key="k")


def test_an_address_inside_the_network_and_a_weak_secret_are_refused() -> None:
    for config, secret in (
        ({"reply_url": "http://127.0.0.1/x"}, SECRET),
        ({"reply_url": "https://10.0.0.1/x"}, SECRET),
        ({}, "hush"),
        ({}, "whsec_c2hvcnQ="),
        ({"more": "x"}, SECRET),
    ):
        with pytest.raises(ValidationFailed):
            OpenHelpDesk()("webhook", config, {"webhook_secret": secret})
    alone = OpenHelpDesk()("webhook", {}, {"webhook_secret": SECRET})
    assert not alone.capabilities().replies
    with pytest.raises((ValidationFailed, Unavailable)):
        alone.reply("T-1", "x", private=False, key="k")
