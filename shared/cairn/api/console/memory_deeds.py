"""What forms of the console do to memories, and what takes it back. Not the pages.

Ids that a notice takes along are packed, 22 characters each, so that they fit into an address.
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import urlencode
from uuid import UUID

from cairn.kernel.errors import CairnError, Conflict, FieldError, NotFound, ValidationFailed
from cairn.memories.edit import Mark

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cairn.api.console.guard import Visitor

MOST = 50
ID_BYTES = 16


class Deed(StrEnum):
    """What was done to memories; a notice says it."""

    CORRECTED = "corrected"
    RETURNED = "returned"  # the undo of a correction
    MERGED = "merged"
    MOVED = "moved"
    DELETED = "deleted"
    RESTORED = "restored"
    PINNED = Mark.PINNED
    UNPINNED = Mark.UNPINNED
    NEVER_RECALL = Mark.NEVER_RECALL
    RECALL = Mark.RECALL


OPPOSITES = {
    Deed.CORRECTED: Deed.RETURNED,
    Deed.DELETED: Deed.RESTORED,
    Deed.PINNED: Deed.UNPINNED,
    Deed.UNPINNED: Deed.PINNED,
    Deed.NEVER_RECALL: Deed.RECALL,
    Deed.RECALL: Deed.NEVER_RECALL,
}
"""What takes each back; the others have nothing."""

WHY = "Decided in the console"
BACK = "Undone in the console"


def packed(ids: Sequence[UUID]) -> str:
    """Return ids as a text for an address."""
    return urlsafe_b64encode(b"".join(each.bytes for each in ids)).decode().rstrip("=")


def unpacked(text: str) -> list[UUID]:
    """Return the ids of such a text; ValidationFailed for any other."""
    try:
        raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (ValueError, binascii.Error) as error:
        raise _wrong("ids", "are not of a notice of this page") from error
    if not raw or len(raw) % ID_BYTES or len(raw) > MOST * ID_BYTES:
        raise _wrong("ids", "are not of a notice of this page")
    return [UUID(bytes=raw[at : at + ID_BYTES]) for at in range(0, len(raw), ID_BYTES)]


def done_query(deed: Deed, ids: Sequence[UUID], refused: int = 0) -> str:
    """Return what tells the next page what was done, and to which memories."""
    return urlencode({"done": deed, "n": len(ids), "refused": refused, "ids": packed(ids)})


def deed_of(form: Mapping[str, str], name: str = "deed") -> Deed:
    """Return what a form does; ValidationFailed for what no form does."""
    if form.get(name) not in frozenset(Deed):
        raise _wrong(name, "is nothing that can be done to a memory")
    return Deed(form[name])


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """Which memories a deed was done to, and why the others refused."""

    ids: tuple[UUID, ...]
    refused: int = 0


def do_each(visitor: Visitor, ids: Sequence[UUID], deed: Deed, reason: str = WHY) -> Done:
    """Do something to every memory; raises what the first said when none took it."""
    done: list[UUID] = []
    first: CairnError | None = None
    for memory_id in ids:
        try:
            done.append(do(visitor, memory_id, deed, reason))
        except (Conflict, NotFound) as error:
            first = first or error
    if first is not None and not done:
        raise first
    return Done(ids=tuple(done), refused=len(ids) - len(done))


def do(visitor: Visitor, memory_id: UUID, deed: Deed, reason: str) -> UUID:
    """Do something to a memory and return the one that stands then."""
    services, principal = visitor.services, visitor.principal
    if deed is Deed.DELETED:
        return services.delete_memory(principal, memory_id).id
    if deed is Deed.RESTORED:
        return services.restore_memory(principal, memory_id).id
    if deed is Deed.RETURNED:
        return _return(visitor, memory_id)
    if deed.value not in frozenset(Mark):
        raise _wrong("deed", "needs a form of its own: open the memory")
    mark = Mark(deed.value)
    why = (reason.strip() or WHY) if mark is Mark.NEVER_RECALL else None
    return services.edit_memories.mark(principal, memory_id, mark, reason=why).id


def undo(visitor: Visitor, ids: Sequence[UUID], deed: Deed) -> tuple[Deed, Done]:
    """Take back what was done, as far as nobody has changed it since."""
    if deed not in OPPOSITES:
        raise _wrong("deed", "is nothing that can be taken back")
    opposite = OPPOSITES[deed]
    return opposite, do_each(visitor, ids, opposite, BACK)


def _return(visitor: Visitor, memory_id: UUID) -> UUID:
    """Let a corrected memory say again what it said before."""
    services, principal = visitor.services, visitor.principal
    versions = services.browse.get_memory_history(principal, memory_id)
    before = next((each.memory for each in reversed(versions) if each.memory.id != memory_id), None)
    if before is None:
        raise NotFound("This memory was never corrected.")
    changes = {"text": before.text, "importance": before.importance}
    return services.edit_memories.correct(principal, memory_id, changes, reason=BACK).id


def _wrong(field: str, message: str) -> ValidationFailed:
    return ValidationFailed(f"{field} {message}.", errors=[FieldError(field, message)])
