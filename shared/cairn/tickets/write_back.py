"""The desk an investigation works at: it reads its ticket there, and what it found goes back.

A write-back has up to three parts: the reply, the status, the time. Each is begun before it is sent
and done once it stands at the source; a repeat does what is left, and looks at the source first for
what it may have sent before a crash.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from cairn.graph.edge import Relation
from cairn.graph.memory_records import (
    EdgeDump,
    NodeDump,
    Provenance,
    Status,
    clean_edge,
    clean_node,
)
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError, NotFound, Unavailable, ValidationFailed
from cairn.kernel.ids import derived_id
from cairn.ledger.keys import key_subjects
from cairn.tickets.adapter import NeedsAuth
from cairn.tickets.personas import DEFAULT
from cairn.tickets.queue import reopen
from cairn.tickets.sealing import customer_key, requester_key
from cairn.tickets.ticket import API_SOURCE, MOST_MESSAGES, ReplyRow, SourceState, TicketStatus
from cairn.writing.writer import open_write

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from uuid import UUID

    from cairn.graph.memory_records import Dump, Ref
    from cairn.tickets.adapter import TicketAdapter
    from cairn.tickets.gateway import GraphWriter
    from cairn.tickets.personas import Persona
    from cairn.tickets.sealing import Sealed
    from cairn.tickets.ticket import Ticket, TicketRow
    from cairn.writing.platform import Platform


MAX_TEXT_CHARS = 2_000
"""Of a ticket's redacted text in its node; the ticket itself has the rest."""


def ticket_ref(ticket: Ticket) -> Ref:
    """Return what names a ticket's node: `ticket:desk:ZD-8891`."""
    return "ticket", f"ticket:{ticket.source}:{ticket.external_id}"


def records_of(ticket: Ticket, redact: Callable[[str], str], now: datetime) -> list[Dump]:
    """Return the nodes of a ticket and of whom it is about, and the edges between them.

    What cannot be a node (a name that holds a secret, an id too long) is left out.
    """
    people = _people(ticket)
    owners = [person.natural_key for person in people]
    properties = {
        "title": redact(ticket.title),
        "text": redact(f"{ticket.title}\n{ticket.body}")[:MAX_TEXT_CHARS],
        "priority": ticket.priority.value,
        "data_subjects": owners,
    }
    own = _node(*ticket_ref(ticket), properties)
    if own is None:
        return [*people]
    edges = [_edge(own, person, _RELATIONS[person.label], now) for person in people]
    if len(people) == len(_RELATIONS):
        customer, user = people
        edges.append(_edge(user, customer, Relation.WORKS_WITH, now))
    return [*people, own, *edges]


def investigation_records(
    ticket: Ticket, investigation_id: UUID, verdict: str, now: datetime
) -> list[Dump]:
    """Return the node of an investigation that ended, and its edge to the ticket."""
    owners = [person.natural_key for person in _people(ticket)]
    own = _node(
        "investigation",
        f"investigation:{investigation_id}",
        {"verdict": verdict, "data_subjects": owners},
    )
    about = _node(*ticket_ref(ticket), {"data_subjects": owners})
    if own is None or about is None:
        return []
    return [own, _edge(own, about, Relation.ADDRESSES, now)]


_RELATIONS = {"customer": Relation.APPLIES_TO, "user": Relation.REFERENCES}
"""How a ticket is tied to whom it is about."""


def _people(ticket: Ticket) -> list[NodeDump]:
    customer, requester = customer_key(ticket.customer), requester_key(ticket.requester_email)
    results = [
        _node("customer", f"customer:{customer}", {}) if customer else None,
        _node("user", f"user:{requester}", {}) if requester else None,
    ]
    return [item for item in results if item is not None]


def _node(label: str, key: str, properties: dict[str, Any]) -> NodeDump | None:
    try:
        return clean_node(label, key, properties, Provenance.PROPOSED, Status.PROVISIONAL)
    except ValidationFailed:
        return None


def _edge(source: NodeDump, target: NodeDump, relation: Relation, at: datetime) -> EdgeDump:
    return clean_edge(source.ref, target.ref, relation.value, 1.0, {}, at)


DONE, SKIPPED, NEEDS_AUTH, REFUSED = "done", "not-supported", "needs-auth", "refused"
TIME_NOTE = "Worked on by Cairn"
LEASE = timedelta(seconds=30)
"""How long whoever sends a part has it alone. A crash is waited for as long: keep it short."""

STATUS_OF: Mapping[str, TicketStatus] = {
    "auto_resolved": TicketStatus.AUTO_RESOLVED,
    "needs_tech": TicketStatus.NEEDS_TECH,
    "needs_l2": TicketStatus.NEEDS_L2,
    "needs_client": TicketStatus.NEEDS_CLIENT,
    "skipped": TicketStatus.NEEDS_TECH,
    "failed": TicketStatus.FAILED,
    "failed_budget": TicketStatus.FAILED,
}
"""What a verdict makes of its ticket."""

NOTE = "note"
_TOLD = {"reply": "ticket.replied", "status": "ticket.status_set", "time": "ticket.time_logged"}
"""The entry of each part, in the order in which they are sent."""

_SAID = {"reply": "ticket-reply", NOTE: "ticket-note"}
"""What the kept answer of a part is called."""


AdapterOf: TypeAlias = "Callable[[UUID, str], TicketAdapter]"
"""Opens the adapter of a ticket's source; see `TicketSources.adapter_of`.

Return it; NotFound when the source was removed.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _WriteBack:
    """One write-back under way: which ticket, for which investigation, and what is to be said."""

    workspace_id: UUID
    ticket: TicketRow
    investigation_id: UUID
    status: TicketStatus
    text: str
    minutes: int
    private: bool
    about: tuple[UUID, ...]

    def key(self, part: str) -> str:
        """Return what a part is recognised by at the source."""
        return f"{self.investigation_id}-{part}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Reads tickets and personas, and writes back. Safe at least once."""

    platform: Platform
    sealed: Sealed
    adapter_of: AdapterOf
    graph: GraphWriter

    def ticket(self, workspace_id: UUID, ticket_id: UUID) -> Ticket:
        """Return a ticket with all that was said; NotFound also when that was forgotten.

        What was said about others than the ticket is about by now is left out.
        """
        with self.platform.transactions.reading(system_principal(workspace_id)) as stores:
            row = stores.tickets.find(ticket_id)
            messages = stores.ticket_messages.newest(ticket_id, MOST_MESSAGES)
            replies = stores.write_backs.replies(ticket_id)
            reopenings = stores.ticket_messages.reopenings(ticket_id)
        if row is None:
            raise _no_ticket(ticket_id)
        about = set(row.data_subjects)
        public = [
            reply
            for reply in replies
            if not reply.private and about.issuperset(reply.data_subjects)
        ]
        answers = {
            item.investigation_id: text
            for item in public
            if (text := self.sealed.said(workspace_id, item)) is not None
        }
        theirs = [message for message in messages if about.issuperset(message.data_subjects)]
        return replace(
            self.sealed.ticket(workspace_id, row),
            messages=self.sealed.messages(workspace_id, theirs),
            answers=answers,
            reopenings=reopenings,
        )

    def persona(self, workspace_id: UUID, name: str, *, began: datetime | None = None) -> Persona:
        """Return a persona, the default one for a name that is none.

        What `began` before its persona was removed goes on with no more autonomy than it had.
        """
        with self.platform.transactions.reading(system_principal(workspace_id)) as stores:
            version = stores.personas.find(name)
            if version is not None:
                return version.persona
            present = stores.personas.find(DEFAULT.name)
            versions = stores.personas.versions(name) if began is not None else ()
        default = present.persona if present else DEFAULT
        if began is None or not versions or versions[0].changed_at <= began:
            return default
        return replace(default, autonomy=default.autonomy.capped(versions[0].persona.autonomy))

    def write_back(
        self,
        workspace_id: UUID,
        ticket_id: UUID,
        *,
        investigation_id: UUID,
        verdict: str,
        summary: str,
        minutes: int,
        private: bool,
        data_subjects: tuple[UUID, ...],
    ) -> Mapping[str, str]:
        """Reply, set the status and log the time; return what became of each part.

        What is kept of it is sealed for `data_subjects`, whom it may speak of, and the ticket's.

        `done`, `not-supported` by the source, `needs-auth` when it refuses its keys (the ticket
        then waits until somebody mends that), or `refused` by the source for good.

        Raises Unavailable when a part did not get through, after the others were tried.
        """
        row = self._row(workspace_id, ticket_id)
        write_back = _WriteBack(
            workspace_id=workspace_id,
            ticket=row,
            investigation_id=investigation_id,
            status=STATUS_OF[verdict],
            text=summary,
            minutes=minutes,
            private=private,
            about=_about(row, data_subjects),
        )
        adapter = self._adapter(write_back)
        if adapter is None:
            return dict.fromkeys(_TOLD, REFUSED)
        became: dict[str, str] = {}
        late: Unavailable | None = None
        for part, send in self._parts(write_back, adapter).items():
            try:
                became[part] = self._once(write_back, part, send)
            except Unavailable as problem:
                late = problem
        if late is not None:
            raise late
        return became

    def note(
        self,
        workspace_id: UUID,
        ticket_id: UUID,
        *,
        investigation_id: UUID,
        text: str,
        data_subjects: tuple[UUID, ...],
    ) -> str:
        """Leave a private note that calls a person; once, however often asked.

        Returns done, not-supported, needs-auth or refused. Raises Unavailable when the source does
        not answer.
        """
        row = self._row(workspace_id, ticket_id)
        write_back = _WriteBack(
            workspace_id=workspace_id,
            ticket=row,
            investigation_id=investigation_id,
            status=row.status,
            text=text,
            minutes=0,
            private=True,
            about=_about(row, data_subjects),
        )
        adapter = self._adapter(write_back)
        if adapter is None:
            return REFUSED
        send = partial(adapter.reply, row.external_id, text, private=True, key=write_back.key(NOTE))
        return self._once(write_back, NOTE, send if adapter.capabilities().private_notes else None)

    def ended(
        self, workspace_id: UUID, ticket_id: UUID, investigation_id: UUID, verdict: str
    ) -> None:
        """Set the ticket's own status; one that another investigation has stays as it is.

        What was answered between our writing back and this moment is taken up again.
        """
        principal = system_principal(workspace_id)
        with open_write(self.platform, principal) as write:
            tickets, status = write.stores.tickets, STATUS_OF[verdict]
            settled = tickets.settle(ticket_id, investigation_id, status, write.now)
            row = tickets.find(ticket_id) if settled else None
            if row is not None:
                reopen(write, row)
        self._remember(workspace_id, ticket_id, investigation_id, verdict)

    def _row(self, workspace_id: UUID, ticket_id: UUID) -> TicketRow:
        with self.platform.transactions.reading(system_principal(workspace_id)) as stores:
            row = stores.tickets.find(ticket_id)
        if row is None:
            raise _no_ticket(ticket_id)
        return row

    def _adapter(self, write_back: _WriteBack) -> TicketAdapter | None:
        """Return the source's adapter; None when it was removed, or cannot be asked from here."""
        try:
            return self.adapter_of(write_back.workspace_id, write_back.ticket.source)
        except Unavailable:
            raise
        except CairnError as refused:
            fields = {"ticket_id": str(write_back.ticket.id), "reason": refused.reason}
            self.platform.warn("ticket.not_written_back", fields)
            return None

    def _parts(
        self, write_back: _WriteBack, adapter: TicketAdapter
    ) -> dict[str, Callable[[], str] | None]:
        """Return what sends each part; None for one that the source cannot take."""
        can, external_id = adapter.capabilities(), write_back.ticket.external_id
        takes_reply = can.private_notes if write_back.private else can.replies
        return {
            "reply": partial(
                adapter.reply,
                external_id,
                write_back.text,
                private=write_back.private,
                key=write_back.key("reply"),
            )
            if takes_reply and write_back.text.strip()
            else None,
            "status": partial(adapter.set_status, external_id, write_back.status.value)
            if can.statuses
            else None,
            "time": partial(
                adapter.log_time,
                external_id,
                write_back.minutes,
                TIME_NOTE,
                key=write_back.key("time"),
            )
            if can.time_entries and write_back.minutes > 0
            else None,
        }

    def _once(self, write_back: _WriteBack, part: str, send: Callable[[], str] | None) -> str:
        """Send a part unless it stands at the source; return what became of it."""
        if send is None:
            return SKIPPED
        until = self._taken(write_back, part)
        if until is None:
            return DONE
        try:
            reference = send()
        except CairnError as failed:
            self._release(write_back, part, until)
            return self._failed(write_back, part, failed)
        self._keep(write_back, part, reference)
        return DONE

    def _taken(self, write_back: _WriteBack, part: str) -> datetime | None:
        """Take the sending of a part and return until when; None for one that stands there.

        Raises Unavailable while another process sends it.
        """
        principal = system_principal(write_back.workspace_id)
        with self.platform.transactions.writing(principal) as stores:
            row = stores.write_backs.parts(write_back.investigation_id).get(part)
            if row is not None and row.done:
                return None
            now = self.platform.clock()
            until, ids = now + LEASE, (write_back.ticket.id, write_back.investigation_id)
            if not stores.write_backs.begin(*ids, part, now=now, until=until):
                raise Unavailable("Another process is writing back.", reason="write-back-under-way")
        return until

    def _release(self, write_back: _WriteBack, part: str, until: datetime) -> None:
        with self.platform.transactions.writing(
            system_principal(write_back.workspace_id)
        ) as stores:
            ids = (write_back.investigation_id, part)
            stores.write_backs.release(*ids, now=self.platform.clock(), until=until)

    def _failed(self, write_back: _WriteBack, part: str, failed: CairnError) -> str:
        """Return what became of a part that was not taken; raise what a repeat may mend."""
        try:
            raise failed
        except NeedsAuth:
            self._signed_out(write_back)
            return NEEDS_AUTH
        except (NotFound, ValidationFailed) as refused:
            fields = {
                "ticket_id": str(write_back.ticket.id),
                "part": part,
                "reason": refused.reason,
            }
            self.platform.warn("ticket.not_written_back", fields)
            return REFUSED

    def _keep(self, write_back: _WriteBack, part: str, reference: str) -> None:
        """Keep that a part stands at the source, with its entry."""
        principal = system_principal(write_back.workspace_id)
        keys = self.sealed.keys.get_or_create(
            write_back.workspace_id, key_subjects(write_back.workspace_id, write_back.about)
        )
        with open_write(
            self.platform, principal, keys=keys, data_subjects=write_back.about
        ) as write:
            write_backs, now = write.stores.write_backs, write.now
            if not write_backs.done(write_back.investigation_id, part, reference, now):
                return
            meta = {
                "ticket_id": str(write_back.ticket.id),
                "investigation_id": str(write_back.investigation_id),
                **self._meta(write_back, part),
            }
            type_ = _TOLD.get(part, "ticket.replied")
            write.note(type_, meta, self._body(write_back, part, reference))
            if part in _SAID:
                write_backs.add_reply(self._reply(write_back, part, keys, now))

    def _meta(self, write_back: _WriteBack, part: str) -> dict[str, Any]:
        if part in _SAID:
            return {"private": write_back.private}
        if part == "status":
            return {"status": write_back.status.value}
        return {"minutes": write_back.minutes}

    def _body(self, write_back: _WriteBack, part: str, reference: str) -> dict[str, Any]:
        text = {"text": write_back.text} if part in _SAID else {}
        return {"reference": reference, **text}

    def _reply(
        self, write_back: _WriteBack, part: str, keys: Mapping[UUID, bytes], now: datetime
    ) -> ReplyRow:
        """Return the reply as it is kept, whatever its source does with its own copy."""
        reply_id = derived_id(write_back.investigation_id, _SAID[part])
        sealed = self.sealed.cipher.seal(
            reply_id, write_back.workspace_id, keys, {"text": write_back.text}
        )
        return ReplyRow(
            id=reply_id,
            ticket_id=write_back.ticket.id,
            investigation_id=write_back.investigation_id,
            private=write_back.private,
            sealed=sealed,
            data_subjects=write_back.about,
            created_at=now,
        )

    def _signed_out(self, write_back: _WriteBack) -> None:
        """Keep that the source refuses its keys; the ticket waits until they are renewed."""
        name = write_back.ticket.source
        with self.platform.transactions.writing(
            system_principal(write_back.workspace_id)
        ) as stores:
            now = self.platform.clock()
            source = stores.ticket_sources.named(name)
            if source is not None and name != API_SOURCE:
                stores.ticket_sources.failed(source.id, NeedsAuth.code, SourceState.NEEDS_AUTH, now)
            stores.tickets.park(write_back.ticket.id, f"source:{name}")

    def _remember(
        self, workspace_id: UUID, ticket_id: UUID, investigation_id: UUID, verdict: str
    ) -> None:
        """Tie the investigation to its ticket in the graph; without the ticket's node, nothing."""
        try:
            ticket = self.sealed.ticket(workspace_id, self._row(workspace_id, ticket_id))
            now = self.platform.clock()
            self.graph(workspace_id, investigation_records(ticket, investigation_id, verdict, now))
        except Unavailable:
            raise
        except CairnError as refused:
            fields = {"investigation_id": str(investigation_id), "reason": refused.reason}
            self.platform.warn("investigation.not_remembered", fields)


def _no_ticket(ticket_id: UUID) -> NotFound:
    return NotFound("There is no such ticket.", ticket_id=str(ticket_id))


def _about(ticket: TicketRow, others: tuple[UUID, ...]) -> tuple[UUID, ...]:
    """Return whom an answer may speak of: whom the ticket is about, and whom was read about."""
    return tuple(sorted({*ticket.data_subjects, *others}))
