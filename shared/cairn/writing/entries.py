"""The entries of one write, collected before they are appended. Pure; not their meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.kernel.ids import looks_random
from cairn.kernel.traces import current_trace_id
from cairn.ledger.entry import NewEntry

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from cairn.kernel.ids import IdSource
    from cairn.kernel.text.json_value import JsonValue
    from cairn.ledger.entry import Actor
    from cairn.ledger.keys import BodyCipher
    from cairn.writing.ports import Subject

Seal = Callable[[UUID, tuple[UUID, ...], Mapping[str, Any]], bytes]
"""(entry id, data subjects, body) -> ciphertext."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """An entry to append, its body in clear, and the texts its projection refers to."""

    entry: NewEntry
    body: Mapping[str, Any]
    texts: Mapping[UUID, str] = field(default_factory=dict[UUID, str])


def plan_entry(
    *,
    id: UUID,
    workspace_id: UUID,
    type: str,
    actor: Actor,
    occurred_at: datetime,
    meta: Mapping[str, JsonValue],
    data_subjects: tuple[UUID, ...] = (),
    body: Mapping[str, Any] | None = None,
    cipher: BodyCipher | None = None,
    keys: Mapping[UUID, bytes] | None = None,
    parent_id: UUID | None = None,
) -> Planned:
    """Return one entry to append; its body, where it has one, sealed by `cipher` under `keys`."""
    sealed = b""
    if body is not None:
        if cipher is None or keys is None:
            raise ValueError("a body needs a cipher and keys")
        sealed = cipher.seal(id, workspace_id, keys, body)
    entry = NewEntry(
        id=id,
        workspace_id=workspace_id,
        type=type,
        actor=actor,
        occurred_at=occurred_at,
        data_subjects=data_subjects,
        meta=meta,
        body=sealed,
        parent_id=parent_id,
    )
    return Planned(entry=entry, body=body or {})


@dataclass(slots=True, kw_only=True)
class Entries:
    """Collects the entries of one write. `next_position` is the one its first entry will get.

    `held_back` are nodes that went into quarantine as they arrived; known once it is appended, as
    are the `holds`, the entries that say so.
    """

    workspace_id: UUID
    actor: Actor
    now: datetime
    next_position: int
    new_id: IdSource
    seal: Seal
    planned: list[Planned] = field(default_factory=list["Planned"])
    held_back: set[UUID] = field(default_factory=set[UUID])
    holds: int = 0

    @property
    def position(self) -> int:
        """Return the position of the last entry; without any, the ledger's head."""
        return self.next_position + len(self.planned) - 1

    def taken(self) -> list[Planned]:
        """Return what was planned, which is to be appended now."""
        planned = list(self.planned)
        self.next_position += len(planned)
        self.planned.clear()
        return planned

    def register(self, subjects: Sequence[Subject]) -> None:
        """Give each new data subject its entry, sealed under its own key alone."""
        for subject in subjects:
            self.add(
                "data_subject.registered",
                {"subject_id": str(subject.id)},
                {"kind": subject.kind, "natural_key": subject.natural_key},
                data_subjects=(subject.id,),
                occurred_at=self.now,
            )

    def add(
        self,
        type_: str,
        meta: Mapping[str, Any],
        body: Mapping[str, Any] | None,
        *,
        data_subjects: tuple[UUID, ...],
        occurred_at: datetime,
        session_id: str | None = None,
        trace_id: str | None = None,
        parent_id: UUID | None = None,
        texts: Mapping[UUID, str] | None = None,
    ) -> int:
        """Add an entry, its body, if any, sealed for its data subjects; return its position.

        Without a `trace_id` of its own it has that of the present work. The header is for ever: of
        what callers named sessions and traces it holds random ids alone, the body anything else.
        """
        if not self.planned:
            self.next_position, self.holds = self.next_position + self.holds, 0
        entry_id = self.new_id()
        identifiers = {"session_id": session_id, "trace_id": trace_id}
        secret_ids = {
            name: text for name, text in identifiers.items() if text and not looks_random(text)
        }
        sealed, clear = body is not None or bool(secret_ids), {**(body or {}), **secret_ids}
        entry = NewEntry(
            id=entry_id,
            workspace_id=self.workspace_id,
            type=type_,
            actor=self.actor,
            occurred_at=occurred_at,
            data_subjects=data_subjects,
            meta=dict(meta),
            body=self.seal(entry_id, data_subjects, clear) if sealed else b"",
            session_id=None if "session_id" in secret_ids else session_id,
            trace_id=(None if "trace_id" in secret_ids else trace_id) or current_trace_id(),
            parent_id=parent_id,
        )
        self.planned.append(Planned(entry=entry, body=clear, texts=texts or {}))
        return self.position
