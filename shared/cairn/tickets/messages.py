"""What requesters write to their tickets later: each message once, and the ticket taken up again.

Not the first text of a ticket: `intake`. A message stays with its ticket wherever that stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.kernel.errors import Conflict, NotFound
from cairn.kernel.text.canonical import format_timestamp
from cairn.ledger.keys import BodyUnreadable, forgotten_name
from cairn.recall.questions.small_talk import small_talk
from cairn.safety.recognisers import SIGN_OFFS
from cairn.tickets.queue import reopen
from cairn.tickets.sealing import (
    checked_message,
    mended_message,
    opened_text,
    requester_key,
    sealed_message,
)
from cairn.tickets.ticket import API_SOURCE, MessageRow
from cairn.writing.subjects import SubjectRegisteredMeanwhile, resolve
from cairn.writing.writer import Work, Write, Writer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from cairn.kernel.access import Principal
    from cairn.tickets.adapter import Message
    from cairn.tickets.ticket import TicketRow
    from cairn.writing.items import IdempotencyKey


ENOUGH = 500
"""Characters after which nobody has to know where the words end."""

_SIGNED = re.compile(rf"(?:{SIGN_OFFS}|best|mfg|bien à vous)\s?[,.!]?$", re.IGNORECASE)
_QUOTED = re.compile(
    r">|--$|_{10,}$"
    r"|-{2,}\s?(?:original message|ursprüngliche nachricht|message d'origine|mensaje original)"
    r"|(?:on|am|le|el)\b.{1,200}\b(?:wrote|schrieb.{0,80}|a écrit|escribió)\s?:$",
    re.IGNORECASE,
)


def own_words(text: str) -> str:
    """Return the lines before the first that begins a quoted mail or a signature.

    Stripped, without empty lines, and no more than the first `ENOUGH` characters or so. English,
    German, French and Spanish.
    """
    own: list[str] = []
    size = 0
    for line in filter(None, map(str.strip, text.splitlines())):
        if size > ENOUGH or _QUOTED.match(line) or (own and _SIGNED.match(line)):
            break
        own.append(line)
        size += len(line)
    return "\n".join(own)


BATCH = 50
"""Messages that one transaction takes in."""


class MessageOutcome(StrEnum):
    """What became of a message that came in."""

    NEW = "new"
    KNOWN = "known"  # it came before
    IGNORED = "ignored"  # of nobody's ticket here, of somebody else, or without an id


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageTaken:
    """A message that came in; `id` is None and `position` 0 for one that was ignored."""

    outcome: MessageOutcome
    id: UUID | None = None
    position: int = 0


_IGNORED = MessageTaken(outcome=MessageOutcome.IGNORED)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiveMessages(Writer):
    """Takes messages in: the row and the entry, and what puts the ticket back, in one transaction.

    Again, late and out of order are all the same: a message is known by its id at the source.
    """

    def __call__(
        self, principal: Principal, source: str, messages: Sequence[Message]
    ) -> tuple[MessageTaken, ...]:
        """Take in what a help desk sent, any number; what became of each, by the time they say."""
        ordered = sorted(messages, key=_age)
        return tuple(
            taken
            for start in range(0, len(ordered), BATCH)
            for taken in self._batch(principal, source, ordered[start : start + BATCH], None)
        )

    def add(
        self,
        principal: Principal,
        ticket_id: UUID,
        message: Message,
        *,
        idempotency: IdempotencyKey | None = None,
    ) -> MessageTaken:
        """Take in what the requester of a ticket of the plain source wrote; a caller says so.

        ValidationFailed or TooLarge names the field that cannot be kept. NotFound without the
        ticket; Conflict for another source's, and for one that was forgotten.
        """
        checked_message(message)
        with self.platform.transactions.reading(principal) as stores:
            row = stores.tickets.find(ticket_id)
        if row is None:
            raise NotFound("There is no such ticket.", ticket_id=str(ticket_id))
        if row.source != API_SOURCE:
            raise Conflict(
                "Messages to this ticket come from its help desk.", reason="other-source"
            )
        if not row.sealed:
            raise Conflict("What this ticket said was forgotten.", reason="ticket-forgotten")
        return self._batch(principal, API_SOURCE, [message], idempotency, row.external_id)[0]

    def _batch(
        self,
        principal: Principal,
        source: str,
        messages: Sequence[Message],
        idempotency: IdempotencyKey | None,
        external_id: str | None = None,
    ) -> tuple[MessageTaken, ...]:
        items = [(external_id or message.ticket, mended_message(message)) for message in messages]
        names = {name for name, _ in items}

        def prepared() -> Work[tuple[MessageTaken, ...]]:
            with self.platform.transactions.reading(principal) as stores:
                rows = stores.tickets.known(source, names)
            about = {each for row in rows.values() if row.sealed for each in row.data_subjects}
            return Work(
                resolution=resolve(self.platform, principal, (), about),
                do=partial(self._take, source, items),
                keep=_stored_answer,
                read=_read,
            )

        return self.write_once(principal, prepared, idempotency)

    def _take(
        self,
        source: str,
        items: Sequence[tuple[str, Message | None]],
        write: Write,
    ) -> tuple[MessageTaken, ...]:
        rows = write.stores.tickets.known(source, {name for name, _ in items})
        done = [self._receive_message(write, rows.get(name), message) for name, message in items]
        write.append()
        touched = {
            name
            for (name, _), result in zip(items, done, strict=True)
            if result.outcome is MessageOutcome.NEW
        }
        for name in sorted(touched):
            reopen(write, rows[name])
        return tuple(done)

    def _receive_message(
        self, write: Write, row: TicketRow | None, message: Message | None
    ) -> MessageTaken:
        if row is None or message is None or not row.sealed:
            return _IGNORED
        key = write.resolution.keys[write.entries.workspace_id]
        names = (message.id, forgotten_name(key, str(row.id), message.id))
        stored = next(iter(write.stores.ticket_messages.known(row.id, names).values()), None)
        if stored is not None:
            return MessageTaken(
                outcome=MessageOutcome.KNOWN, id=stored.id, position=stored.position
            )
        if not write.resolution.keys.keys() >= set(row.data_subjects):
            raise SubjectRegisteredMeanwhile("The ticket is about somebody else by now.")
        return (
            self._write_message(write, row, message)
            if self._is_theirs(write, row, message)
            else _IGNORED
        )

    def _is_theirs(self, write: Write, row: TicketRow, message: Message) -> bool:
        """Return whether the requester wrote it, as far as both addresses are known.

        The message that its ticket began with is not written again.
        """
        if message.author is None:
            return True
        keys = write.resolution.keys_of(row.data_subjects)
        try:
            text = opened_text(self.platform.cipher, write.entries.workspace_id, row, keys)
        except BodyUnreadable:
            return False
        if text.source_metadata.get("message_id") == message.id:
            return False
        theirs = requester_key(text.requester_email)
        return theirs is None or requester_key(message.author) == theirs

    def _write_message(self, write: Write, row: TicketRow, message: Message) -> MessageTaken:
        message_id, workspace_id = self.platform.new_id(), write.entries.workspace_id
        written_at = min(message.written_at or write.now, write.now)
        position = write.entries.add(
            "ticket.message_received",
            {"ticket_id": str(row.id), "message_id": str(message_id)},
            {
                "external_id": message.id,
                "text": message.text,
                "written_at": format_timestamp(written_at),
            },
            data_subjects=row.data_subjects,
            occurred_at=written_at,
        )
        keys = write.resolution.keys_of(row.data_subjects)
        row_kept = MessageRow(
            id=message_id,
            ticket_id=row.id,
            external_id=message.id,
            sealed=self.platform.cipher.seal(
                message_id, workspace_id, keys, sealed_message(message.text)
            ),
            data_subjects=row.data_subjects,
            position=position,
            written_at=written_at,
            received_at=write.now,
            small_talk=_asks_nothing(message.text),
        )
        write.stores.ticket_messages.add(row_kept)
        return MessageTaken(outcome=MessageOutcome.NEW, id=message_id, position=position)


def _asks_nothing(text: str) -> bool:
    own = own_words(text)
    return "?" not in own and small_talk(own) is not None


def new_ones(taken: Sequence[MessageTaken]) -> int:
    """Return how many of them were new."""
    return sum(item.outcome is MessageOutcome.NEW for item in taken)


def _age(message: Message) -> tuple[bool, datetime | None]:
    return message.written_at is not None, message.written_at


def _stored_answer(done: tuple[MessageTaken, ...]) -> dict[str, Any]:
    items = [
        {
            "id": str(taken.id) if taken.id else None,
            "outcome": taken.outcome.value,
            "at": taken.position,
        }
        for taken in done
    ]
    return {"items": items}


def _read(answer: Mapping[str, Any]) -> tuple[MessageTaken, ...]:
    return tuple(
        MessageTaken(
            outcome=MessageOutcome(item["outcome"]),
            id=UUID(item["id"]) if item["id"] else None,
            position=item["at"],
        )
        for item in answer["items"]
    )
