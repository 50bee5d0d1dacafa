"""Lines of a hand-off: sealed, opened, and recorded in the conversation that they are of.

A line counts from when it is kept; the conversation gets it after that, each once and in order,
also when a process dies in between.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cairn.chat.handoff import Line, LineBy, LineKind, LineRow
from cairn.conversations.messages import Channel, MessageRole, NewMessage
from cairn.kernel.access import Scope
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError
from cairn.kernel.text.hashes import sha256
from cairn.writing.items import IdempotencyKey
from cairn.writing.ports import OutboxRow, Topic
from cairn.writing.sealing import Sealer

if TYPE_CHECKING:
    from datetime import datetime

    from cairn.chat.handoff import HandOffRow
    from cairn.conversations.record import RecordMessage
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.writing.platform import Platform

AT_ONCE = 100
MAX_SESSION_CHARS = 255


def sealer_of(platform: Platform, row: HandOffRow, *, create: bool = False) -> Sealer:
    """Return what seals and opens the texts of a hand-off itself."""
    return Sealer.of(platform, row.workspace_id, row.id, tuple(row.data_subjects), create=create)


def opened(sealer: Sealer, line: LineRow) -> Line:
    """Return a line as its readers see it."""
    return Line(
        seq=line.seq,
        kind=line.kind,
        speaker=line.speaker,
        name=line.name,
        text=replace(sealer, row_id=line.id).open(line.sealed).get("text"),
        at=line.at,
    )


def add_message(stores: Stores, row: HandOffRow, sealer: Sealer, text: str, now: datetime) -> None:
    """Add what a customer said, under the id of its turn, which is the sealer's row."""
    line = LineRow(
        seq=0,
        id=sealer.row_id,
        kind=LineKind.SAID,
        speaker=LineBy.CUSTOMER,
        name=None,
        sealed=sealer.seal({"text": text}),
        recorded=False,
        at=now,
    )
    stores.hand_offs.add_line(row.id, line)


def stir(platform: Platform, stores: Stores, row: HandOffRow, now: datetime) -> list[OutboxRow]:
    """Keep what tells messaging channels of a chat; send it after the commit.

    Where there is no channel, nobody is told.
    """
    if not stores.messaging.any():
        return []
    outbox = OutboxRow(
        workspace_id=row.workspace_id,
        id=platform.new_id(),
        topic=Topic.CHANNEL,
        position=0,
        reference=row.id,
    )
    stores.outbox.add(outbox, now)
    return [outbox]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordLines:
    """Records lines that the conversation does not have; what fails is taken up by the sweep."""

    platform: Platform
    record: RecordMessage

    def __call__(self, row: HandOffRow) -> None:
        """Record what is left of a hand-off."""
        system = system_principal(row.workspace_id)
        try:
            with self.platform.transactions.reading(system) as stores:
                lines = stores.hand_offs.unrecorded(row.id, AT_ONCE)
                session = row.chat_session_id
                slug = stores.chat_sessions.agent_of(session) if session else None
            speaker = in_public(system, slug) if row.chat_session_id else system
            sealer = sealer_of(self.platform, row)
            for line in lines:
                self._record(row, speaker, sealer, line)
        except CairnError as error:
            fields = {"hand_off_id": str(row.id), "reason": error.reason}
            self.platform.warn("chat.line_not_recorded", fields)

    def _record(self, row: HandOffRow, speaker: Principal, sealer: Sealer, line: LineRow) -> None:
        text = opened(sealer, line).text
        if text:  # what was forgotten meanwhile is not recorded any more
            digest = sha256(str(line.id).encode())
            key = IdempotencyKey(key=f"line:{line.id}", body_hash=digest)
            self.record(speaker, self._message(row, speaker, sealer, line, text), idempotency=key)
        with self.platform.transactions.preparing(speaker) as (stores, _):
            stores.hand_offs.record_line(row.id, line.seq)

    def _message(
        self, row: HandOffRow, speaker: Principal, sealer: Sealer, line: LineRow, text: str
    ) -> NewMessage:
        public = row.chat_session_id is not None
        name = str(sealer.open(row.sealed).get("session_id") or row.id)
        about: dict[str, Any] = {"client_id": row.client_id} if row.client_id else {}
        slug = speaker.agent_slug
        customer = line.speaker is LineBy.CUSTOMER
        return NewMessage(
            channel=Channel.of_door(row.door) if public else Channel.API,
            session_id=(f"{row.principal_id}:{name}" if public else name)[:MAX_SESSION_CHARS],
            role=MessageRole.USER if customer else MessageRole.ASSISTANT,
            text=text,
            scope=Scope.PUBLIC if public else None,
            agents=(slug,) if public and slug else (),
            metadata={"chat": {"hand_off_id": str(row.id), "person": not customer}},
            infer=False,
            **about,
        )


def in_public(system: Principal, slug: str | None) -> Principal:
    """Return Cairn in public alone, as what strangers say is recorded."""
    return replace(system, allowed_scopes=frozenset({Scope.PUBLIC}), agent_slug=slug)
