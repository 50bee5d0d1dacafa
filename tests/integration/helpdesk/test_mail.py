"""Tickets from a mailbox and answers to them, over a real IMAP and a real SMTP server."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from typing import Any
from uuid import UUID

import pytest
from tests.fakes.stores import InMemoryTransactions
from tests.support.helpdesk import Clock, Helpdesk
from tests.support.mail import KEVIN, PASSWORD, SUPPORT, MailServer, mail_server, written
from tests.support.platform import platform_of
from tests.support.remembering import admin_of

from benchmarks.objects import InMemoryObjects
from cairn.adapters.http.help_desks import OpenHelpDesk
from cairn.adapters.mail import box
from cairn.documents.accept import AcceptDocument
from cairn.kernel.errors import CairnError, Unavailable, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.tickets.adapter import Attachment, NeedsAuth, TicketAdapter
from cairn.tickets.attachments import MOST, AttachDocuments, labels_of
from cairn.tickets.mail_text import read_mail
from cairn.tickets.sources import NewSource, SourceChange
from cairn.tickets.ticket import SourceKind, SourceState, TicketSource, TicketStatus


@pytest.fixture(scope="module")
def running() -> Iterator[MailServer]:
    with mail_server() as server:
        yield server


@pytest.fixture
def server(running: MailServer) -> MailServer:
    """The server with an empty mailbox, and nothing sent."""
    imap = running.imap()
    for folder in ("INBOX", "Sent"):
        if imap.select(folder)[0] == "OK":
            imap.uid("STORE", "1:*", "+FLAGS.SILENT", r"(\Deleted)")
            imap.expunge()
    imap.logout()
    running.sent.clear()
    running.refuses.clear()
    return running


def adapter_of(server: MailServer, **more: Any) -> TicketAdapter:
    return OpenHelpDesk(allow_private=True)("mail", server.config(**more), {"password": PASSWORD})


@dataclass
class Office:
    """A workspace whose help desk is the mailbox."""

    server: MailServer
    desk: Helpdesk
    source_id: UUID

    def poll(self) -> Any:
        return self.desk.poll(self.desk.principal, self.source_id)

    def source(self) -> TicketSource:
        return self.desk.sources.get(self.desk.principal, self.source_id)

    def answer(self, ticket_id: UUID, text: str, verdict: str = "needs_client") -> UUID:
        """Investigate the ticket that waits and write back."""
        self.desk.sweep()
        investigation_id = new_id()
        with self.desk.transactions.writing(self.desk.principal) as stores:
            assert stores.tickets.claim(investigation_id, self.desk.clock()).id == ticket_id
        self.write_back(ticket_id, investigation_id, text, verdict)
        self.desk.desk.ended(self.desk.workspace_id, ticket_id, investigation_id, verdict)
        return investigation_id

    def write_back(self, ticket_id: UUID, investigation_id: UUID, text: str, verdict: str) -> Any:
        return self.desk.desk.write_back(
            self.desk.workspace_id,
            ticket_id,
            investigation_id=investigation_id,
            verdict=verdict,
            summary=text,
            minutes=1,
            private=False,
            data_subjects=(),
        )

    def ticket(self) -> UUID:
        """The one ticket there is."""
        (entry,) = self.desk.entries("ticket.received")
        return UUID(str(entry.meta["ticket_id"]))

    def words(self, ticket_id: UUID) -> str:
        return self.desk.desk.ticket(self.desk.workspace_id, ticket_id).words


@pytest.fixture
def office(server: MailServer) -> Office:
    transactions, principal = InMemoryTransactions(), admin_of(new_id())
    transactions.create_workspace(principal.workspace_id)
    clock = Clock(now=datetime.now(UTC) - timedelta(minutes=5))
    desk = Helpdesk(transactions, principal, clock=clock)
    opens = OpenHelpDesk(allow_private=True, clock=clock)
    desk.sources = replace(desk.sources, open_adapter=opens)
    desk.poll = replace(desk.poll, adapter=desk.sources.adapter)
    desk.desk = replace(desk.desk, adapter_of=desk.sources.adapter_of)
    new = NewSource(
        name="desk", kind=SourceKind.MAIL, config=server.config(), secrets={"password": PASSWORD}
    )
    return Office(server=server, desk=desk, source_id=desk.sources.create(principal, new).id)


def sent_to(server: MailServer) -> list[Any]:
    return [message_from_bytes(raw) for _, raw in server.sent]


def test_a_mail_is_a_ticket_is_answered_and_taken_up_again_with_what_is_new(
    office: Office, server: MailServer
) -> None:
    server.mail(written("My password does not work.\n", Message_ID="<first@hartwell.example>"))
    assert office.poll().new == 1
    ticket_id = office.ticket()
    office.answer(ticket_id, "Which one?")
    (answer,) = sent_to(server)
    assert [recipient for recipient, _ in server.sent] == [KEVIN]
    assert (answer["Subject"], answer["In-Reply-To"]) == (
        "Re: Cannot sign in",
        "<first@hartwell.example>",
    )
    assert answer["Auto-Submitted"] == "auto-replied"
    assert answer.get_payload(decode=True).strip() == b"Which one?"
    office.desk.clock.move(minutes=10)
    server.mail(
        written(
            "The left one.\n\nOn Mon, 2 Mar 2026 at 09:12, Support <s@h.example> wrote:\n"
            "> Which one?\n",
            "Re: Cannot sign in",
            Message_ID="<second@hartwell.example>",
            In_Reply_To=answer["Message-ID"],
            References=f"<first@hartwell.example> {answer['Message-ID']}",
        )
    )
    done = office.poll()
    assert (done.new, done.known, done.messages) == (0, 1, 1)
    assert office.desk.row(ticket_id).status is TicketStatus.NEW
    assert office.words(ticket_id).startswith("The left one.\n\n-----\n\nMy password")
    again = office.poll()
    assert (again.new, again.known, again.messages) == (0, 0, 0)


def test_an_answer_that_names_our_mail_alone_finds_its_thread(
    office: Office, server: MailServer
) -> None:
    server.mail(written("Help", Message_ID="<one@x.example>"))
    office.poll()
    office.answer(office.ticket(), "Which?")
    (answer,) = sent_to(server)
    office.desk.clock.move(minutes=10)
    server.mail(written("The left", Message_ID="<two@x.example>", In_Reply_To=answer["Message-ID"]))
    assert (office.poll().messages, len(office.desk.entries("ticket.received"))) == (1, 1)


def test_a_thread_that_began_elsewhere_is_one_ticket_whose_first_mail_counts_once(
    office: Office, server: MailServer
) -> None:
    server.mail(written("As I said", Message_ID="<m@x.example>", References="<root@x.example>"))
    done = office.poll()
    assert (done.new, done.messages) == (1, 0)
    assert office.words(office.ticket()) == "As I said"
    office.answer(office.ticket(), "Indeed.")
    assert [recipient for recipient, _ in server.sent] == [KEVIN]


def test_a_mail_without_an_id_is_found_again_by_its_place(
    office: Office, server: MailServer
) -> None:
    server.put(b"From: kevin@hartwell.example\r\nSubject: Bare\r\n\r\nNo id.\r\n")
    assert office.poll().new == 1
    office.answer(office.ticket(), "Noted.")
    assert sent_to(server)[0]["Subject"] == "Re: Bare"


def test_a_poll_that_died_before_its_cursor_was_kept_repeats_and_adds_nothing(
    office: Office, server: MailServer
) -> None:
    server.mail(written("Help", Message_ID="<one@x.example>"))
    server.mail(written("More", Message_ID="<two@x.example>", References="<one@x.example>"))
    first = office.poll()
    assert (first.new, first.messages) == (1, 1)
    with office.desk.transactions.writing(office.desk.principal) as stores:
        stores.ticket_sources.polled(office.source_id, None, office.desk.clock())
    again = office.poll()
    assert (again.new, again.known, again.messages) == (0, 1, 0)


def test_a_write_back_that_died_after_the_mail_went_out_sends_no_second(server: MailServer) -> None:
    server.mail(written("Help", Message_ID="<one@x.example>"))
    adapter, key = adapter_of(server), f"{new_id()}-reply"
    adapter.poll(None, 50)
    references = {adapter.reply("<one@x.example>", "Done.", private=False, key=key)
                  for _ in range(3)}  # fmt: skip
    assert (len(server.sent), len(references), len(server.raw("Sent"))) == (1, 1, 1)


def test_an_answer_whose_sending_failed_is_sent_by_the_next_try(server: MailServer) -> None:
    server.mail(written("Help", Message_ID="<one@x.example>"))
    adapter, key = adapter_of(server), f"{new_id()}-reply"
    server.refuses.append("451 come back later")
    with pytest.raises(Unavailable):
        adapter.reply("<one@x.example>", "Done.", private=False, key=key)
    assert rb"\Draft" in server.raw("Sent")[0]
    adapter.reply("<one@x.example>", "Done.", private=False, key=key)
    assert (len(server.sent), len(server.raw("Sent"))) == (1, 1)
    assert rb"\Draft" not in server.raw("Sent")[0]


def test_an_answer_that_the_server_will_never_take_is_refused(
    office: Office, server: MailServer
) -> None:
    server.mail(written("Help", Message_ID="<one@x.example>"))
    office.poll()
    server.refuses.append("550 no such person")
    office.desk.sweep()
    with office.desk.transactions.writing(office.desk.principal) as stores:
        stores.tickets.claim(new_id(), office.desk.clock())
    became = office.write_back(office.ticket(), new_id(), "Done.", "auto_resolved")
    assert became == {"reply": "refused", "status": "not-supported", "time": "not-supported"}


AUTOMATIC = {
    "automatic": [
        {"Auto_Submitted": "auto-replied (vacation)"},
        {"Auto_Submitted": "auto-generated"},
        {"Precedence": "bulk"},
        {"X_Auto_Response_Suppress": "All"},
        {"X_Autoreply": "yes"},
        {"Return_Path": "<>"},
    ],
    "mailing-list": [{"List_Id": "<all.hartwell.example>"}],
    "own": [{"From": SUPPORT}],
    "no-sender": [{"From": "undisclosed"}],
    "thread-too-long": [{"References": " ".join(f"<{n}@x.example>" for n in range(120))}],
}


def test_what_a_machine_wrote_is_set_aside_by_its_reason_and_answered_to_nobody(
    office: Office, server: MailServer
) -> None:
    for headers in (each for group in AUTOMATIC.values() for each in group):
        server.mail(written("I am on holiday.", **headers))
    to = ", ".join(f"person{number}@x.example" for number in range(10_000))
    server.put(f"From: {KEVIN}\r\nTo: {to}\r\nSubject: All\r\n\r\nHello\r\n".encode())
    server.mail(written("A person", Auto_Submitted="no", Message_ID="<p@x.example>"))
    done = office.poll()
    assert done.set_aside == {
        "too-many-recipients": 1,
        **{reason: len(each) for reason, each in AUTOMATIC.items()},
    }
    assert (done.new, done.nameless, server.sent) == (1, 0, [])


def test_a_vacation_note_to_our_answer_ends_the_loop(office: Office, server: MailServer) -> None:
    server.mail(written("Help", Message_ID="<one@x.example>"))
    office.poll()
    office.answer(office.ticket(), "Which?")
    (answer,) = sent_to(server)
    office.desk.clock.move(minutes=10)
    note = written("On holiday", In_Reply_To=answer["Message-ID"], Auto_Submitted="auto-replied")
    server.mail(note)
    assert office.poll().set_aside == {"automatic": 1}
    assert office.desk.row(office.ticket()).status is TicketStatus.NEEDS_CLIENT
    assert len(server.sent) == 1


def test_somebody_else_who_knows_the_thread_is_not_its_requester(
    office: Office, server: MailServer
) -> None:
    server.mail(written("Help", Message_ID="<one@x.example>"))
    office.poll()
    office.answer(office.ticket(), "Which?")
    office.desk.clock.move(minutes=10)
    server.mail(written("Close it", From="eve@x.example", References="<one@x.example>"))
    done = office.poll()
    assert (done.new, done.messages) == (0, 0)
    assert office.desk.row(office.ticket()).status is TicketStatus.NEEDS_CLIENT


@pytest.mark.parametrize(
    "raw",
    [
        b"\r\n",
        b"\x00\xff\xfe",
        b"From: a@b.example\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n--x\r\n",
        b"From: a@b.example\r\nContent-Type: text/plain; charset=klingon\r\n\r\nqapla\r\n",
        b"From: a@b.example\r\nSubject: =?utf-8?b?!!!?= \xff\r\n\r\nx\r\n",
        b"From: a@b.example\r\nSubject: \x00nul\r\n\r\n\x00\r\n",
        b"From: a@b.example\r\nMessage-ID: <a\"b@c> \r\n\r\nx\r\n",
        b"From: a@b.example\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!!\r\n",
        b"From: a@b.example\r\n" + b"Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n" * 9,
        b"From: " + b"a@b.example, " * 5_000 + b"\r\n\r\nx\r\n",
        b"From: a@b.example\r\nSubject: " + b"x" * 200_000 + b"\r\n\r\n" + b"On " * 200_000,
    ],
)  # fmt: skip
def test_a_broken_mail_is_a_ticket_or_set_aside_and_holds_no_other_up(
    office: Office, server: MailServer, raw: bytes
) -> None:
    server.put(raw)
    server.mail(written("Whole", Message_ID="<whole@x.example>"))
    done = office.poll()
    assert done.new + sum(done.set_aside.values()) == 2
    bodies = [office.desk.body(entry)["body"] for entry in office.desk.entries("ticket.received")]
    assert "Whole" in [body.strip() for body in bodies]


def test_html_alone_becomes_text_and_attachments_are_named(
    office: Office, server: MailServer
) -> None:
    message = written("", Message_ID="<h@x.example>")
    message.set_content("<p>It <b>rattles</b>.</p><script>x()</script>", subtype="html")
    message.add_attachment(
        b"%PDF-1.4", maintype="application", subtype="pdf", filename="a\u00e9.pdf"
    )
    server.mail(message)
    office.poll()
    body = office.desk.body(office.desk.entries("ticket.received")[0])
    assert (body["body"], body["source_metadata"]["attachments"]) == (
        "It rattles.",
        [{"name": "a\u00e9.pdf", "bytes": 8}],
    )


def test_a_mailbox_that_was_made_anew_is_read_from_the_beginning(server: MailServer) -> None:
    adapter = adapter_of(server)
    server.mail(written("Help", Message_ID="<one@x.example>"))
    cursor = adapter.poll(None, 50).cursor
    assert cursor is not None
    assert adapter.poll(cursor, 50).tickets == ()
    _, uid, since = json.loads(cursor)
    again = adapter.poll(json.dumps([1, uid, since]), 50)
    assert [each.external_id for each in again.tickets] == ["<one@x.example>"]


def test_many_mails_come_page_by_page_and_each_once(
    server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(box, "WINDOW", 100)
    monkeypatch.setattr(box, "MAX_WINDOWS", 2)
    for number in range(9):
        server.put(written("x", Message_ID=f"<{number}@x.example>").as_bytes())
    adapter, cursor, seen = adapter_of(server), None, list[str]()
    for _ in range(100):
        page = adapter.poll(cursor, 4)
        seen += [each.external_id for each in page.tickets]
        cursor = page.cursor
        if not page.more:
            break
    assert seen == [f"<{number}@x.example>" for number in range(9)]


def test_a_forged_sender_is_set_aside_where_the_server_authenticates(server: MailServer) -> None:
    verdicts = ("dmarc=pass", "dmarc=fail", "spf=pass; dkim=none")
    for number, verdict in enumerate(verdicts):
        server.mail(
            written(verdict, Message_ID=f"<{number}@x.example>",
                    Authentication_Results=f"mx.harbourlane.example; {verdict}")
        )  # fmt: skip
    server.mail(written("x", Authentication_Results="mx.evil.example; dmarc=pass"))
    page = adapter_of(server, authserv_id="mx.harbourlane.example").poll(None, 50)
    assert [each.external_id for each in page.tickets] == ["<0@x.example>"]
    assert page.set_aside == {"not-authenticated": 3}


def test_a_wrong_password_needs_somebody_and_never_shows(
    office: Office, server: MailServer
) -> None:
    wrong = SourceChange(secrets={"password": "hunter2-wrong"})
    office.desk.sources.change(office.desk.principal, office.source_id, wrong)
    with pytest.raises(NeedsAuth) as refused:
        office.poll()
    assert "hunter2" not in repr((refused.value, refused.value.__cause__, office.desk.told))
    source = office.desk.sources.get(office.desk.principal, office.source_id)
    assert source.state is SourceState.NEEDS_AUTH
    right = SourceChange(secrets={"password": PASSWORD})
    office.desk.sources.change(office.desk.principal, office.source_id, right)
    assert office.poll().complete


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"imap_url": "https://mail.example"}, "config.imap_url"),
        ({"imap_url": "imaps://user:pass@mail.example"}, "config.imap_url"),
        ({"smtp_url": "smtps://mail.example/x"}, "config.smtp_url"),
        ({"smtp_url": "imaps://mail.example"}, "config.smtp_url"),
        ({"folder": 'IN"BOX'}, "config.folder"),
        ({"address": "support"}, "config.address"),
        ({"address": "a@b.example\r\nBcc: c@d.example"}, "config.address"),
        ({"port": "25"}, "config.port"),
    ],
)
def test_settings_that_cannot_be_are_named(
    server: MailServer, change: dict[str, Any], field: str
) -> None:
    with pytest.raises(ValidationFailed) as refused:
        adapter_of(server, **change)
    assert [error.location for error in refused.value.errors] == [field]


def test_a_password_that_smtp_cannot_say_is_refused_at_once(server: MailServer) -> None:
    with pytest.raises(ValidationFailed) as refused:
        OpenHelpDesk()("mail", server.config(), {"password": "caf\u00e9-secret"})
    assert "caf\u00e9" not in str(refused.value)


def test_another_mail_server_needs_the_password_anew(office: Office, server: MailServer) -> None:
    elsewhere = SourceChange(config=server.config(smtp_url="smtps://evil.example"))
    with pytest.raises(ValidationFailed) as refused:
        office.desk.sources.change(office.desk.principal, office.source_id, elsewhere)
    assert refused.value.reason == "secrets-needed"


def test_a_mail_server_inside_the_network_is_not_asked(server: MailServer) -> None:
    adapter = OpenHelpDesk()("mail", server.config(), {"password": PASSWORD})
    with pytest.raises(ValidationFailed, match="private network"):
        adapter.poll(None, 50)


def test_no_password_is_said_to_a_server_without_tls(
    server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(box, "address_to_ask", lambda *_, **__: "127.0.0.1")
    adapter = OpenHelpDesk()("mail", server.config(), {"password": PASSWORD})
    with pytest.raises(Unavailable) as refused:
        adapter.poll(None, 50)
    assert refused.value.reason == "mail-without-tls"


def test_a_server_that_is_not_there_is_unavailable(server: MailServer) -> None:
    with pytest.raises(CairnError) as refused:
        adapter_of(server, imap_url="imap://127.0.0.1:1").poll(None, 50)
    assert refused.value.reason == "mail-unreachable"


def test_what_is_attached_becomes_documents_of_the_ticket_once_or_says_why_not(
    office: Office, server: MailServer
) -> None:
    platform = platform_of(office.desk.transactions, clock=office.desk.clock, keys=office.desk.keys)
    attach = AttachDocuments(
        platform=platform,
        sealed=office.desk.sealed,
        accept=AcceptDocument(platform, objects=InMemoryObjects()),
    )
    office.desk.poll = replace(office.desk.poll, attach=attach)
    files = [
        ("manual.md", "text/markdown", b"# Reset\n\nHold the red key for nine seconds.\n"),
        ("log.txt", "application/octet-stream", b"E-41 at 09:00\n"),
        ("again.txt", "text/plain", b"E-41 at 09:00\n"),  # the same bytes
        ("logs.zip", "application/zip", b"PK\x03\x04\x00\x00"),
        ("photo.png", "image/png", b"\x89PNG\r\n\x1a\n\x00"),
        ("page.png", "image/png", b"<!DOCTYPE html><script>x()</script>"),
        ("fake.txt", "text/plain", b"PK\x03\x04\x00\x00"),
        ("empty.txt", "text/plain", b" \n"),
    ]
    message = written("See the manual.", Message_ID="<first@hartwell.example>")
    for name, media_type, content in files:
        kind, _, subtype = media_type.partition("/")
        message.add_attachment(content, maintype=kind, subtype=subtype, filename=name)
    server.mail(message)
    assert office.poll().new == 1
    received = office.desk.entries("document.received")
    assert len(received) == 2
    row = office.desk.row(office.ticket())
    assert row.data_subjects  # forgetting the requester takes the documents along
    assert all(set(row.data_subjects) <= set(each.data_subjects) for each in received)
    bodies = [office.desk.body(each) for each in received]
    assert {each["client_id"] for each in bodies} == {KEVIN}  # of nobody else's investigation
    assert {each["metadata"]["ticket_id"] for each in bodies} == {str(row.id)}
    (ticket,) = office.desk.entries("ticket.received")
    labels = office.desk.body(ticket)["source_metadata"]["attachments"]
    assert [(each["name"], each.get("reason")) for each in labels] == [
        ("manual.md", None),
        ("log.txt", None),
        ("again.txt", None),
        ("logs.zip", "archive"),
        ("photo.png", "unsupported-media-type"),
        ("page.png", "media-type-mismatch"),
        ("fake.txt", "media-type-mismatch"),
        ("empty.txt", "empty-document"),
    ]
    office.desk.clock.move(minutes=1)
    later = written(
        "And this.", "Re: Cannot sign in", In_Reply_To="<first@hartwell.example>",
        References="<first@hartwell.example>", Message_ID="<second@hartwell.example>",
    )  # fmt: skip
    later.add_attachment(b"a,b\n", maintype="text", subtype="csv", filename="t.csv")
    later.add_attachment(b"The key is red.\n", maintype="text", subtype="plain", filename="k.txt")
    server.mail(later)
    assert office.poll().messages == 1
    assert len(office.desk.entries("document.received")) == 3
    words = office.words(row.id)
    assert "[attached: t.csv, unsupported-media-type]" in words
    assert "[attached: k.txt, kept as a document]" in words
    adapter = office.desk.sources.adapter(office.desk.principal, office.source())
    page = adapter.poll(None, 50)  # read again after a crash
    attach(office.desk.principal, "desk", page.tickets, page.messages)
    assert len(office.desk.entries("document.received")) == 3


def test_of_too_many_attachments_the_first_are_kept_and_a_cut_one_is_not() -> None:
    many = [Attachment(name=f"{n}.txt", media_type="text/plain", content=b"x") for n in range(25)]
    reasons = [each.get("reason") for each in labels_of(many)]
    assert reasons == [None] * MOST + ["too-many"] * 5
    cut = Attachment(name="a.txt", media_type="text/plain", content=b"x", whole=False)
    large = replace(cut, whole=True, content=b"x" * 5_000_001)
    assert [each["reason"] for each in labels_of([cut, large])] == ["mail-too-large", "too-large"]
    raw = written("Help").as_bytes()
    assert read_mail(raw, own=SUPPORT).attachments == ()
