"""Delivers the call of a person: by the persona's channel, or by a note at the ticket.

Posts carry ids, a verdict, one redacted sentence and where to look; the rest is read there. A try
that a crash interrupted is made again: webhooks carry the id of the call, which is the same each
time, notes are looked for first, and Slack, which keeps no ids, shows the id in its text.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn, TypeAlias
from urllib.parse import urlsplit
from uuid import UUID

from cairn.investigations.journal import agent_of, text_in
from cairn.investigations.journal import opened as opened_rows
from cairn.investigations.people.mending import mends_of
from cairn.investigations.ports import Channel, EscalationState
from cairn.investigations.run.moving import find_investigation, opened
from cairn.investigations.snapshot import Snapshots
from cairn.kernel.access import Role
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import Conflict, FieldError, NotFound, Unavailable, ValidationFailed
from cairn.kernel.ids import derived_id
from cairn.kernel.text.canonical import format_timestamp
from cairn.kernel.text.checks import clean_text
from cairn.ledger.keys import BodyUnreadable, SubjectForgotten
from cairn.webhooks.webhooks import GONE, MAX_ATTEMPTS, signed_headers
from cairn.writing.append import principal_actor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cairn.investigations.hiding import Hiding
    from cairn.investigations.journal import Journal
    from cairn.investigations.ports import Escalation
    from cairn.investigations.state import Investigation
    from cairn.investigations.views import MendView
    from cairn.kernel.access import Principal
    from cairn.tickets.write_back import Desk
    from cairn.webhooks.webhooks import WebhookSender
    from cairn.writing.writer import Write


SLACK = "slack"
MAX_CHANNELS = 20
MAX_URL_CHARS = 2_048
NAME = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,40}[a-z0-9])?")


CheckAddress: TypeAlias = "Callable[[str], None]"
"""Says whether an address may ever be posted to; `WebhookSender.check`.

Raise ValidationFailed for one that may not.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Channels:
    """Makes, lists and removes channels: an admin's work. Each change is a ledger entry."""

    journal: Journal
    check: CheckAddress

    def create(self, principal: Principal, *, name: str, url: str) -> Channel:
        """Keep a channel; ValidationFailed for a bad name or address, Conflict for a taken name."""
        principal.require(Role.ADMIN)
        if not NAME.fullmatch(name):
            _refuse("name", "is 1 to 42 small letters, digits, - and _")
        address = self._address(url)
        workspace_id = principal.workspace_id

        def keep(write: Write) -> Channel:
            channels = write.stores.channels
            if len(channels.all()) >= MAX_CHANNELS:
                raise Conflict(
                    f"A workspace has at most {MAX_CHANNELS} channels.", reason="too-many-channels"
                )
            sealed = write.entries.seal(sealed_as(workspace_id, name), (), {"url": address})
            channel = Channel(
                name=name, kind=SLACK, created_at=write.now, created_by=principal.principal_id
            )
            if not channels.add(channel, sealed):
                raise Conflict("There is a channel of this name.", reason="name-taken")
            write.note("escalation.channel_added", {"kind": SLACK}, {"name": name})
            return channel

        return self.journal.write(workspace_id, (), principal_actor(principal), keep)

    def all(self, principal: Principal) -> Sequence[Channel]:
        """Return every channel, by name."""
        principal.require(Role.ADMIN)
        with self.journal.reading(principal.workspace_id) as stores:
            return stores.channels.all()

    def remove(self, principal: Principal, name: str) -> None:
        """Remove one; NotFound when there is none. Who is called by it gets a note instead."""
        principal.require(Role.ADMIN)

        def gone(write: Write) -> None:
            if not write.stores.channels.remove(name):
                raise NotFound("There is no such channel.", name=name)
            write.note("escalation.channel_removed", {"kind": SLACK}, {"name": name})

        self.journal.write(principal.workspace_id, (), principal_actor(principal), gone)

    def _address(self, url: str) -> str:
        address = clean_text(url, field="url", max_chars=MAX_URL_CHARS)
        self.check(address)
        parts = urlsplit(address)
        if parts.username or parts.password:
            _refuse("url", "carries no name and no password")
        return address


def sealed_as(workspace_id: UUID, name: str) -> UUID:
    """Return the id under which a channel's address is sealed."""
    return derived_id(workspace_id, "channel", name)


def _refuse(field: str, message: str) -> NoReturn:
    raise ValidationFailed(f"{field} {message}.", errors=[FieldError(field, message)])


NOTE = "ticket-note"
NEEDS_AUTH = "needs-auth"
EVENT = "escalation_requested"
FORGOTTEN = "subject-forgotten"
MAX_WHY_CHARS = 500
_BUSY = 429


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call under way: what is said of it, and to whom."""

    escalation: Escalation
    investigation: Investigation
    channel: str
    why: str
    mend: tuple[MendView, ...]
    vault: Mapping[str, str]

    @property
    def workspace_id(self) -> UUID:
        """Return the workspace."""
        return self.investigation.workspace_id

    @property
    def path(self) -> str:
        """Return where the API shows the hand-off."""
        return f"/v1/escalations/{self.escalation.id}"

    def text(self) -> str:
        """Return what a person is told, with placeholders."""
        mend = "".join(
            f"\nThe {mend.kind} {mend.name} has to be authorised again: `{mend.command}` "
            f"or in the console at {mend.page}. The ticket goes on by itself then."
            for mend in self.mend
        )
        return (
            f"Cairn calls a person: {self.escalation.verdict.value}. {self.why}{mend}\n"
            f"What it did and what it knows: `cairn escalations show {self.escalation.id}` "
            f"or GET {self.path}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PostOutcome:
    """What became of one post: `error` is a code, and `final` says that no repeat will help."""

    error: str | None = None
    final: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliverEscalation:
    """Delivers one call. Safe at least once: what was delivered is not delivered again."""

    journal: Journal
    desk: Desk
    hiding: Hiding
    sender: WebhookSender

    def __call__(self, workspace_id: UUID, investigation_id: UUID, outbox_id: UUID) -> str:
        """Deliver it and return what became of it: delivered, failed or nothing.

        Raises Unavailable, with the try recorded, when it has to be tried again, and each time
        when nobody at all could be told: the message ends among the dead letters, which alarm.
        """
        with self.journal.reading(workspace_id) as stores:
            row = stores.escalations.of(investigation_id)
        if row is None or row.state is not EscalationState.QUEUED:
            self._done(workspace_id, outbox_id)
            if row is not None and _unheard(row.state, row.error, noted=row.noted):
                raise _nobody_told(row.error)
            return "nothing"
        try:
            call = self._call(workspace_id, row)
        except (BodyUnreadable, SubjectForgotten, NotFound):
            return self._nobody(workspace_id, row, outbox_id)
        return self._delivered(call, outbox_id)

    def _call(self, workspace_id: UUID, row: Escalation) -> Call:
        with self.journal.reading(workspace_id) as stores:
            investigation = find_investigation(stores, row.investigation_id)
            sealed = stores.investigations.snapshot(row.investigation_id)
            ticket = stores.tickets.find(row.ticket_id)
            mend = mends_of(stores, ticket.waits_for if ticket else None)
        snapshots = Snapshots(cipher=self.journal.platform.cipher)
        memory = opened(self.journal.platform.keys, snapshots, investigation, sealed).memory
        (body,) = opened_rows(self.journal, workspace_id, [(row, row.why)])
        persona = self.desk.persona(workspace_id, investigation.persona)
        return Call(
            escalation=row,
            investigation=investigation,
            channel=persona.escalation,
            why=(text_in(body, "why") or "")[:MAX_WHY_CHARS],
            mend=mend,
            vault=memory.vault,
        )

    def _delivered(self, call: Call, outbox_id: UUID) -> str:
        sent, noted = self._sent(call)
        over = sent.final or call.escalation.attempts + 1 >= MAX_ATTEMPTS
        if sent.error is not None and not noted and (over or sent.error == NEEDS_AUTH):
            call, sent = self._elsewhere(call, sent)
        state = EscalationState.QUEUED
        if sent.error is None:
            state = EscalationState.DELIVERED
        elif over:
            state = EscalationState.FAILED
        self._settle(call, outbox_id, state, noted=noted, error=sent.error)
        if state is EscalationState.QUEUED:
            raise Unavailable("Nobody could be called yet.", reason=sent.error or "")
        if _unheard(state, sent.error, noted=noted):
            raise _nobody_told(sent.error)
        return state.value

    def _sent(self, call: Call) -> tuple[PostOutcome, bool]:
        """Call by the persona's channel; return what became of it, and whether a note stands."""
        noted = call.escalation.noted
        if call.channel == NOTE:
            sent = self._note(call)
            return sent, noted or sent.error is None
        sent = self._post(call)
        if sent.error is not None and not noted:
            noted = self._note(call).error is None
        return sent, noted

    def _elsewhere(self, call: Call, sent: PostOutcome) -> tuple[Call, PostOutcome]:
        """Call by the workspace's other channels, by name, until one takes it."""
        with self.journal.reading(call.workspace_id) as stores:
            names = [f"{item.kind}:{item.name}" for item in stores.channels.all()]
        for name in names:
            other = replace(call, channel=name)
            if name != call.channel and self._post(other).error is None:
                return other, PostOutcome()
        return call, sent

    def _note(self, call: Call) -> PostOutcome:
        """Leave a note at the ticket, with the values back: the desk knows them already."""
        text = self.hiding.restored(call.text(), call.vault)
        investigation = call.investigation
        try:
            became = self.desk.note(
                call.workspace_id,
                investigation.ticket_id,
                investigation_id=investigation.id,
                text=text,
                data_subjects=investigation.data_subjects,
            )
        except Unavailable as problem:
            return PostOutcome(error=problem.reason or problem.code)
        if became == "done":
            return PostOutcome()
        return PostOutcome(error=became, final=became != NEEDS_AUTH)  # keys may be renewed

    def _post(self, call: Call) -> PostOutcome:
        kind, _, name = call.channel.partition(":")
        target = self._webhook(call, name) if kind == "webhook" else self._slack(call, name)
        if target is None:
            return PostOutcome(error=f"no-such-{kind}", final=True)
        url, body, headers = target
        try:
            status = self.sender.post(url, body, headers)
        except (Unavailable, ValidationFailed) as problem:
            return PostOutcome(error=problem.reason or problem.code)
        if 200 <= status < 300:
            return PostOutcome()
        refused = kind == "slack" and 400 <= status < 500 and status != _BUSY
        return PostOutcome(error=f"status-{status}", final=refused or status == GONE)

    def _webhook(self, call: Call, name: str) -> tuple[str, bytes, dict[str, str]] | None:
        webhook_id, workspace_id = _id(name), call.workspace_id
        if webhook_id is None:
            return None
        with self.journal.reading(workspace_id) as stores:
            target = stores.webhooks.target(webhook_id)
        if target is None:
            return None
        url, sealed = target
        secret = self._opened(workspace_id, webhook_id, sealed)["secret"]
        body = payload(call)
        sent_at = int(self.journal.platform.clock().timestamp())
        return url, body, signed_headers(str(secret), call.escalation.id, sent_at, body)

    def _slack(self, call: Call, name: str) -> tuple[str, bytes, dict[str, str]] | None:
        workspace_id = call.workspace_id
        with self.journal.reading(workspace_id) as stores:
            channel = stores.channels.find(name)
        if channel is None:
            return None
        url = self._opened(workspace_id, sealed_as(workspace_id, name), channel[1])["url"]
        body = json.dumps({"text": slack_text(call.text())}).encode()
        return str(url), body, {"content-type": "application/json"}

    def _opened(self, workspace_id: UUID, sealed_id: UUID, sealed: bytes) -> Mapping[str, object]:
        owner = (workspace_id,)
        keys = self.journal.platform.keys.get(workspace_id, owner)
        return self.journal.platform.cipher.open(sealed_id, workspace_id, owner, keys, sealed)

    def _settle(
        self,
        call: Call,
        outbox_id: UUID,
        state: EscalationState,
        *,
        noted: bool,
        error: str | None,
    ) -> None:
        row, investigation = call.escalation, call.investigation

        def settle(write: Write) -> None:
            tried = write.stores.escalations.tried(
                row.id, state, channel=call.channel, noted=noted, error=error, now=write.now
            )
            if state is EscalationState.QUEUED:
                return
            write.stores.outbox.done([outbox_id])
            if tried:
                ended = replace(row, state=state, channel=call.channel, noted=noted, error=error)
                _note_ended(write, ended)

        actor = agent_of(investigation)
        self.journal.write(call.workspace_id, investigation.data_subjects, actor, settle)

    def _nobody(self, workspace_id: UUID, row: Escalation, outbox_id: UUID) -> str:
        """End a call about somebody who was forgotten: there is nothing left to say."""
        ended = replace(row, state=EscalationState.FAILED, error=FORGOTTEN)

        def end(write: Write) -> None:
            tried = write.stores.escalations.tried(
                row.id,
                ended.state,
                channel=row.channel,
                noted=row.noted,
                error=FORGOTTEN,
                now=write.now,
            )
            write.stores.outbox.done([outbox_id])
            if tried:
                _note_ended(write, ended)

        self.journal.write(workspace_id, (), principal_actor(system_principal(workspace_id)), end)
        return ended.state.value

    def _done(self, workspace_id: UUID, outbox_id: UUID) -> None:
        with self.journal.platform.transactions.writing(system_principal(workspace_id)) as stores:
            stores.outbox.done([outbox_id])


def _note_ended(write: Write, ended: Escalation) -> None:
    meta = {
        "investigation_id": str(ended.investigation_id),
        "ticket_id": str(ended.ticket_id),
        "escalation_id": str(ended.id),
        "channel": ended.channel.partition(":")[0],
        "noted": ended.noted,
        "attempts": ended.attempts + 1,
        **({"error": ended.error} if ended.error else {}),
    }
    write.note(f"escalation.{ended.state.value}", meta, {"channel": ended.channel})


def _unheard(state: EscalationState, error: str | None, *, noted: bool) -> bool:
    """Return whether a call is over and nobody was told, by whatever way."""
    return state is EscalationState.FAILED and not noted and error != FORGOTTEN


def _nobody_told(error: str | None) -> Unavailable:
    return Unavailable("Nobody could be called.", reason=error or "")


def payload(call: Call) -> bytes:
    """Return the JSON body of a webhook: type, timestamp and data, with ids and no texts."""
    row = call.escalation
    mend = [
        {"kind": mend.kind, "name": mend.name, "path": mend.path, "page": mend.page}
        for mend in call.mend
    ]
    fields = {
        "type": EVENT,
        "timestamp": format_timestamp(row.queued_at),
        "data": {
            "escalation_id": str(row.id),
            "investigation_id": str(row.investigation_id),
            "ticket_id": str(row.ticket_id),
            "verdict": row.verdict.value,
            "path": call.path,
            **({"mend": mend} if mend else {}),
        },
    }
    return json.dumps(fields, separators=(",", ":"), sort_keys=True).encode()


def slack_text(text: str) -> str:
    """Return a text with what Slack reads as markup or as mentions written out."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _id(name: str) -> UUID | None:
    try:
        return UUID(name)
    except ValueError:
        return None
