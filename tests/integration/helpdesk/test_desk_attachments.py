"""What is attached at help desks becomes documents, over servers as their makers describe them."""

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import httpx
import pytest
from tests.fakes.stores import InMemoryTransactions
from tests.support.desks import MARA, Desk, desk_of
from tests.support.file_replay import FileStore, file_store
from tests.support.helpdesk import Clock, Helpdesk
from tests.support.platform import platform_of
from tests.support.remembering import admin_of
from tests.support.replaying import Fault

from benchmarks.objects import InMemoryObjects
from cairn.adapters.http.desks.files import DeskFiles
from cairn.adapters.http.help_desks import OpenHelpDesk
from cairn.adapters.http.outgoing import Outgoing
from cairn.adapters.http.rest import RestService
from cairn.documents.accept import AcceptDocument
from cairn.kernel.errors import NotFound, TooLarge, Unavailable, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.tickets import fetching
from cairn.tickets.attachments import MOST_BYTES, AttachDocuments
from cairn.tickets.desks.linear import UPLOADS_URL, attachments_of
from cairn.tickets.fetching import FetchAttachments
from cairn.tickets.sources import NewSource
from cairn.tickets.ticket import SourceKind

KINDS = ("zendesk", "freshdesk", "jira", "intercom", "linear", "halopsa", "autotask", "connectwise")
OF_THE_TICKET = ("jira", "halopsa", "autotask", "connectwise")
"""Where files are the ticket's, whichever comment brought them."""

TYPELESS = ("linear", "halopsa", "connectwise")
"""Which say no media types: there the name says it."""

MANUAL = b"# Reset\n\nHold the red key for nine seconds.\n"


@dataclass
class Office:
    """A workspace whose help desk keeps what is attached in a store of its own."""

    remote: Desk
    store: FileStore
    desk: Helpdesk
    source_id: UUID

    def poll(self) -> Any:
        self.desk.clock.now = self.remote.replay.now
        return self.desk.poll(self.desk.principal, self.source_id)

    def again(self) -> Any:
        """Poll as after a crash before the cursor was kept."""
        with self.desk.transactions.writing(self.desk.principal) as stores:
            stores.ticket_sources.polled(self.source_id, None, self.desk.clock())
        return self.poll()

    def documents(self) -> list[Any]:
        return [self.desk.body(each) for each in self.desk.entries("document.received")]

    def labels(self, type_: str = "ticket.received") -> list[tuple[str, str | None]]:
        """The attachments that the last such entry names, each with why it is none."""
        body = self.desk.body(self.desk.entries(type_)[-1])
        named = body["source_metadata"].get("attachments", [])
        return [(each["name"], each.get("reason")) for each in named]


@pytest.fixture(params=KINDS)
def office(request: pytest.FixtureRequest) -> Iterator[Office]:
    with desk_of(request.param) as remote, file_store() as store:
        transactions, principal = InMemoryTransactions(), admin_of(new_id())
        transactions.create_workspace(principal.workspace_id)
        clock = Clock(now=remote.replay.now)
        desk = Helpdesk(transactions, principal, clock=clock)
        opens = OpenHelpDesk(allow_private=True, clock=clock)
        desk.sources = replace(desk.sources, open_adapter=opens)
        platform = platform_of(
            transactions, clock=clock, keys=desk.keys, log=desk.tell, warn=desk.tell
        )
        accept = AcceptDocument(platform, objects=InMemoryObjects())
        desk.poll = replace(
            desk.poll,
            adapter=desk.sources.adapter,
            fetch=FetchAttachments(platform=platform),
            attach=AttachDocuments(platform=platform, sealed=desk.sealed, accept=accept),
        )
        new = NewSource(
            name="desk",
            kind=SourceKind(remote.kind),
            config=remote.config,
            secrets=remote.secrets,
        )
        source_id = desk.sources.create(principal, new).id
        yield Office(remote=remote, store=store, desk=desk, source_id=source_id)


def test_what_a_customer_attaches_becomes_documents_once_and_the_store_gets_no_sign_in(
    office: Office,
) -> None:
    remote, store = office.remote, office.store
    ticket = remote.ask("The tide table is empty", "See the manual.")
    remote.write_with(ticket, "", store.put("manual.md", "text/markdown", MANUAL))
    assert office.poll().new == 1
    (document,) = office.documents()
    (received,) = office.desk.entries("document.received")
    row = office.desk.row(UUID(document["metadata"]["ticket_id"]))
    assert row.data_subjects  # forgetting the requester takes the document along
    assert set(row.data_subjects) <= set(received.data_subjects)
    expected = MARA if remote.kind in ("jira", "intercom", "linear") else "northwind"
    assert (document["title"], document["client_id"]) == ("manual.md", expected)
    assert office.labels() == [("manual.md", None)]
    remote.move(minutes=5)
    remote.write_with(ticket, "And this.", store.put("log.txt", "text/plain", b"E-41 at 09:00\n"))
    remote.colleague(ticket, "Ours.", store.put("ours.txt", "text/plain", b"Between us.\n"))
    assert office.poll().messages == 1
    assert [each["title"] for each in office.documents()] == ["manual.md", "log.txt"]
    office.desk.sweep()
    words = office.desk.desk.ticket(office.desk.workspace_id, row.id).words
    if remote.kind in OF_THE_TICKET:
        assert office.labels("ticket.changed") == [("manual.md", None), ("log.txt", None)]
    else:
        assert "And this.\n\n" in words
        assert "\n\n[attached: log.txt, kept as a document]" in words
    asked = store.count("GET")
    office.again()
    assert (len(office.documents()), store.count("GET"), asked) == (2, 2, 2)
    assert all("authorization" not in each.headers for each in store.asked)
    assert "X-Amz" not in repr((office.desk.told, office.documents(), words))


def test_what_cannot_be_kept_is_named_with_its_reason_and_only_fetched_when_it_may_fit(
    office: Office,
) -> None:
    remote, store = office.remote, office.store
    ticket = remote.ask("Help", "Files.")
    remote.write_with(
        ticket,
        "",
        store.put("logs.zip", "application/zip", b"PK\x03\x04\x00\x00"),
        store.put("photo.png", "image/png", b"\x89PNG\r\n\x1a\n\x00"),
        store.put("fake.txt", "text/plain", b"PK\x03\x04\x00\x00"),
        store.put("empty.txt", "text/plain", b" \n"),
        store.put("sign-in.txt", "text/plain", b"<html>Sign in</html>"),
        store.put("gone.txt", "text/plain", b"x"),
        store.put("large.txt", "text/plain", b"x" * (MOST_BYTES + 1)),
        store.put("a\x00b\n.md", "text/markdown", b"# Kept\n"),
    )
    remote.write_with(ticket, "", store.put("lies.txt", "text/plain", b"x" * 9_000_000), size=7)
    for path, kept in list(store.kept.items()):
        if kept.name == "gone.txt":
            del store.kept[path]
        if kept.name == "sign-in.txt":
            store.kept[path] = replace(kept, media_type="text/html; charset=utf-8")
    assert office.poll().new == 1
    assert office.labels() == [
        ("logs.zip", "unsupported-media-type" if remote.kind in TYPELESS else "archive"),
        ("photo.png", "unsupported-media-type"),
        ("fake.txt", "media-type-mismatch"),
        ("empty.txt", "empty-document"),
        ("sign-in.txt", "not-readable"),
        ("gone.txt", "not-readable"),
        ("large.txt", "too-large"),
        ("a b .md", None),
        ("lies.txt", "too-large"),
    ]
    assert [each["title"] for each in office.documents()] == ["a b .md"]
    fetched = {each.path.rpartition("/")[2] for each in store.asked}
    assert fetched.isdisjoint({"logs.zip", "photo.png"})
    assert "large.txt" not in fetched or remote.kind == "linear"  # which says no sizes


def test_a_store_that_fails_holds_up_no_ticket_and_is_asked_again_with_the_next_change(
    office: Office,
) -> None:
    remote, store = office.remote, office.store
    ticket = remote.ask("Help", "Files.")
    remote.write_with(ticket, "", store.put("manual.md", "text/markdown", MANUAL))
    store.faults.append(Fault(status=503))
    assert (office.poll().new, office.documents()) == (1, [])
    assert office.labels() == [("manual.md", "not-fetched")]
    assert ("attachment_not_fetched", "server-error") in [
        (event, fields.get("reason")) for event, fields in office.desk.told
    ]
    remote.move(minutes=5)
    remote.touch(ticket)
    office.poll()
    assert [each["title"] for each in office.documents()] == ["manual.md"]
    assert office.labels("ticket.changed") == [("manual.md", None)]


@pytest.mark.parametrize("office", ["halopsa", "autotask", "connectwise"], indirect=True)
def test_a_desk_that_lists_no_files_holds_up_no_ticket_and_the_ticket_says_so(
    office: Office,
) -> None:
    remote, store = office.remote, office.store
    ticket = remote.ask("Help", "Files.")
    remote.write_with(ticket, "", store.put("manual.md", "text/markdown", MANUAL))
    lists = re.compile("/Attachment|/TicketAttachments/query|/system/documents")
    remote.replay.faults.append(Fault(status=403, where=lambda it: bool(lists.search(it.path))))
    assert office.poll().new == 1
    assert (office.labels(), office.documents()) == ([("attachments", "not-listed")], [])
    remote.move(minutes=5)
    remote.touch(ticket)
    office.poll()
    assert [each["title"] for each in office.documents()] == ["manual.md"]
    assert office.labels("ticket.changed") == [("manual.md", None)]
    asked = len(remote.replay.asked)
    assert office.poll().known == 0  # and of a ticket that did not change no files are listed
    assert not any(lists.search(each.path) for each in remote.replay.asked[asked:])


def test_of_what_a_text_links_to_only_what_linear_keeps_itself_is_a_file() -> None:
    part = "6db02bb9-fba2-473b-8f9d-f38188e84813"
    path = f"/{part}/{part}/d20adbea-186d-4643-ad07-004bda7d099d"
    others = [
        f"http://uploads.linear.app{path}",
        f"https://uploads.linear.app.example{path}",
        f"https://uploads.linear.app@store.example{path}",
        f"https://uploads.linear.app:444{path}",
        f"https://store.example/?{UPLOADS_URL}{path}",
        f"{UPLOADS_URL}/{part}/../{part}",
    ]
    text = " ".join(f"[{number}.md]({url})" for number, url in enumerate(others))
    text += f" ![p.png]({UPLOADS_URL}{path}) [a b.md]({UPLOADS_URL}{path}?signature=x) "
    found = [(each.name, each.file, each.url) for each in attachments_of(text + "[" * 90_000)]
    assert found == [("a b.md", path[-36:], UPLOADS_URL + path)]


def test_more_than_is_held_at_once_comes_in_further_passes_and_all_of_it(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "MOST_HELD", 10)
    remote, store = office.remote, office.store
    ticket = remote.ask("Help", "Files.")
    files = [store.put(f"{n}.txt", "text/plain", b"Line %d\n" % n) for n in range(5)]
    remote.write_with(ticket, "", *files)
    done = office.poll()
    assert (done.new, done.complete) == (1, True)
    assert sorted(each["title"] for each in office.documents()) == [f"{n}.txt" for n in range(5)]
    assert store.count("GET") == 5


def files_of(inner: httpx.MockTransport, **places: str) -> DeskFiles:
    """Fetches with a resolver that knows these hosts, and answers of `inner`."""

    def resolve(host: str, port: int) -> list[str]:
        return [places[host.removesuffix(".example")]]

    transport = Outgoing(allow_private=False, resolve=resolve, inner=inner)
    service = RestService(
        name="Desk", base_url="https://desk.example", words=str, transport=transport
    )
    return DeskFiles(service=service, sign_in=lambda again: {"authorization": "Basic aaa"})


def test_neither_an_address_nor_a_redirect_leads_into_this_network_or_takes_the_sign_in() -> None:
    asked: list[tuple[str, bool]] = []
    to = {"/in": "https://metadata.example/", "/loop": "/loop", "/out": "https://store.example/f",
          "/back": "https://store.example/back", "/plain": "http://desk.example/f",
          "/none": "https://[x"}  # fmt: skip

    def answer(request: httpx.Request) -> httpx.Response:
        host = request.headers["host"]
        asked.append((host, "authorization" in request.headers))
        if (host, request.url.path) == ("store.example", "/back"):
            return httpx.Response(302, headers={"location": "https://desk.example:444/f"})
        if request.url.path in to:
            return httpx.Response(302, headers={"location": to[request.url.path]})
        return httpx.Response(200, headers={"content-type": "text/plain"}, content=b"hello")

    places = {"desk": "93.184.216.34", "store": "93.184.216.35", "metadata": "169.254.169.254"}

    def file() -> DeskFiles:  # each with a breaker of its own
        return files_of(httpx.MockTransport(answer), **places)

    assert file()("https://desk.example/out", "text/plain") == b"hello"
    assert asked == [("desk.example", True), ("store.example", False)]
    assert file()("//store.example/f", "text/plain") == b"hello"  # a path at the desk
    assert asked[-1] == ("desk.example", True)
    for path in ("/in", "/loop", "/back", "/plain", "/none"):
        with pytest.raises(ValidationFailed):
            file()(f"https://desk.example{path}", "text/plain")
    for url in ("https://metadata.example/", "file:///etc/passwd", "https://a:b@store.example/f",
                "https://store.example:22/f", "http://store.example/f", "https://", "\ud800",
                "https://store.example/\nx"):  # fmt: skip
        with pytest.raises(ValidationFailed):
            file()(url, "text/plain")
    assert {signed for host, signed in asked if host != "desk.example"} == {False}


def test_a_file_that_drips_or_never_ends_is_given_up() -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield b"x" * 65_536

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/busy":
            return httpx.Response(429)
        return httpx.Response(200 if request.url.path == "/endless" else 401, content=endless())

    file = files_of(httpx.MockTransport(answer), desk="93.184.216.34")
    with pytest.raises(TooLarge):
        file("https://desk.example/endless", "text/plain")
    with pytest.raises(NotFound):
        file("https://desk.example/denied", "text/plain")
    with pytest.raises(Unavailable):
        service = replace(file.service, stopwatch=itertools.count(0.0, 7.0).__next__)
        slow = replace(file, service=service)
        slow("https://desk.example/endless", "text/plain")
