"""Batches of items that are written together and answered one by one. Not one kind's meaning."""

from __future__ import annotations

from dataclasses import Field, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar
from uuid import UUID

from cairn.kernel.errors import CairnError, ValidationFailed
from cairn.writing.checks import Owner, owners
from cairn.writing.items import ItemOutcome, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from cairn.kernel.access import Principal
    from cairn.writing.audience import Audience
    from cairn.writing.subjects import Resolution

MAX_BATCH = 500


class NewItem(Protocol):
    """An item as the caller wrote it."""

    @property
    def data_subjects(self) -> tuple[str, ...]: ...


class Draft(Protocol):
    """An item checked and scrubbed; a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def client_id(self) -> str: ...
    @property
    def audience(self) -> Audience: ...


NewT = TypeVar("NewT", bound=NewItem)
DraftT = TypeVar("DraftT", bound=Draft)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafted(Generic[DraftT]):
    """A batch whose items are checked: a draft with its owners, or why the item is refused."""

    items: tuple[tuple[DraftT, tuple[Owner, ...]] | CairnError, ...]

    @property
    def wanted(self) -> list[Owner]:
        """Return whose data the drafts are."""
        return [owner for item in self.items if isinstance(item, tuple) for owner in item[1]]

    def owned(self, resolution: Resolution) -> list[DraftT | CairnError]:
        """Return the drafts with their data subjects, and what refuses the others, in order."""
        return [
            item if isinstance(item, CairnError) else _owned(*item, resolution)
            for item in self.items
        ]


def _owned(draft: DraftT, owners: tuple[Owner, ...], resolution: Resolution) -> DraftT:
    subjects = resolution.subjects_of(owners)
    return replace(draft, audience=replace(draft.audience, data_subjects=subjects))


def drafted(
    items: Sequence[NewT],
    draft: Callable[[NewT, Principal, datetime], DraftT],
    principal: Principal,
    now: datetime,
    *,
    what: str,
) -> Drafted[DraftT]:
    """Return the batch with each item checked by `draft`.

    Raises ValidationFailed naming `what` the items are for none or more than MAX_BATCH.
    """
    if not 1 <= len(items) <= MAX_BATCH:
        raise ValidationFailed(f"A batch has 1 to {MAX_BATCH} {what}, not {len(items)}.")

    def checked(new: NewT) -> tuple[DraftT, tuple[Owner, ...]] | CairnError:
        try:
            drafted_item = draft(new, principal, now)
            return drafted_item, owners(drafted_item.client_id, new.data_subjects)
        except CairnError as refused:
            return refused

    return Drafted(items=tuple(checked(item) for item in items))


def kept_outcome(outcome: ItemOutcome) -> dict[str, Any]:
    """Return what every outcome keeps for a repeat: no texts, errors by their sentence."""
    return {
        "outcome": outcome.outcome.value,
        "id": str(outcome.id) if outcome.id else None,
        "position": outcome.position,
        "error": outcome.error.detail if outcome.error else None,
    }


def read_outcome(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of an ItemOutcome that `kept_outcome` kept."""
    return {
        "outcome": Outcome(stored["outcome"]),
        "id": UUID(stored["id"]) if stored["id"] else None,
        "position": stored["position"],
        "error": ValidationFailed(stored["error"]) if stored["error"] else None,
    }
