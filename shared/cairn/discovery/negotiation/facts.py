"""What each side may use: read in a transaction that is confined to that side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.kernel.access import Principal, Role, Scope
from cairn.kernel.access.system import NOBODY
from cairn.kernel.ids import derived_id
from cairn.ledger.keys import BodyUnreadable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any
    from uuid import UUID

    from cairn.discovery.negotiation.rows import NegotiationRow, PrivateRow, SideRow, Speaker
    from cairn.writing.platform import Platform

MOST_MEMORIES = 50
"""Of a member that inform the advocate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Public:
    """What both sides may know of one: its intent and what its profile shows."""

    name: str = ""
    intent: str = ""
    kind: str | None = None  # seeking, offering or both
    profile: str = ""

    @property
    def text(self) -> str:
        """Everything of it as one text."""
        return f"{self.intent} {self.profile}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Private:
    """What one side alone may know: its memories, and what its person answered."""

    inputs: tuple[tuple[UUID, str], ...] = ()
    answers: tuple[str, ...] = ()


def confined(workspace_id: UUID, client_id: str) -> Principal:
    """Return who reads as a member and sees nothing else."""
    return Principal(
        workspace_id=workspace_id,
        principal_id=NOBODY,
        role=Role.AGENT,
        allowed_scopes=frozenset({Scope.PUBLIC, Scope.SHARED}),
        name="advocate",
        client_id=client_id,
    )


def public_facts(
    platform: Platform, workspace_id: UUID, row: NegotiationRow, speaker: Speaker, side: SideRow
) -> Public:
    """Return what both sides may know of one."""
    with platform.transactions.reading(confined(workspace_id, side.client_id)) as stores:
        return _public(stores.negotiations.shown(_ids(row, speaker, side)))


def private_facts(
    platform: Platform, workspace_id: UUID, row: NegotiationRow, side: SideRow
) -> Private:
    """Return what one side alone may know; its memories unless its profile says not to use them."""
    profile = derived_id(side.id, "profile")
    with platform.transactions.reading(confined(workspace_id, side.client_id)) as stores:
        shown = stores.negotiations.shown([profile])
        allowed = all(each["metadata"].get("use_memories", True) for each in shown)
        inputs = stores.negotiations.memories(MOST_MEMORIES) if allowed else ()
        rows = stores.negotiations.private(row.id, side.id)
    answers = (opened_private(platform, workspace_id, each) for each in rows)
    return Private(
        inputs=tuple(inputs),
        answers=tuple(str(each["answer"]) for each in answers if each.get("answer")),
    )


def opened_private(platform: Platform, workspace_id: UUID, row: PrivateRow) -> Mapping[str, Any]:
    """Return what a side keeps to itself; nothing where it was forgotten."""
    held = platform.keys.get(workspace_id, row.data_subjects)
    try:
        return platform.cipher.open(row.id, workspace_id, row.data_subjects, held, row.body)
    except BodyUnreadable as error:
        if error.reason != "key-destroyed":
            raise
        return {}


def _ids(row: NegotiationRow, speaker: Speaker, side: SideRow) -> list[UUID]:
    ids = [derived_id(side.id, "profile")]
    intent = row.intent(speaker)
    return ids if intent is None else [intent, *ids]


def _public(rows: Sequence[Mapping[str, Any]]) -> Public:
    by_label = {row["label"]: row for row in rows}
    intent, profile = by_label.get("Intent"), by_label.get("Member")
    return Public(
        name=(profile["title"] or "") if profile else "",
        intent=intent["text"] if intent else "",
        kind=intent["kind"] if intent else None,
        profile=profile["text"] if profile else "",
    )
