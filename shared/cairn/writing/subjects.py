"""Whose data a write is: natural keys resolved to random ids, with their keys, before the lock."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from cairn.kernel.access import Principal
from cairn.kernel.errors import Conflict
from cairn.kernel.stores import Stores
from cairn.ledger.keys import KeyMissing, KeyStore, SubjectForgotten, subject_mark
from cairn.writing.checks import Owner
from cairn.writing.platform import Platform
from cairn.writing.ports import Subject

_ATTEMPTS = 3

T = TypeVar("T")


class SubjectRegisteredMeanwhile(Conflict):
    """Another write registered the same natural key first; resolving again finds its id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """The ids and keys a write needs. `new` are those it has to register."""

    workspace_id: UUID
    ids: Mapping[Owner, UUID]
    new: tuple[Subject, ...]
    keys: Mapping[UUID, bytes]

    def subjects_of(self, owners: Collection[Owner]) -> tuple[UUID, ...]:
        """Return the sorted ids of the owners."""
        return tuple(sorted(self.ids[owner] for owner in owners))

    def keys_of(self, data_subjects: Collection[UUID]) -> Mapping[UUID, bytes]:
        """Return the keys a body of these subjects is sealed under (the workspace's if none)."""
        return {subject: self.keys[subject] for subject in data_subjects or (self.workspace_id,)}

    def check(self, stores: Stores) -> None:
        """Raise SubjectRegisteredMeanwhile when a subject to register exists by now.

        SubjectForgotten when one of that name is being forgotten: it may come back after that.
        """
        if not self.new:
            return
        if stores.subjects.find([(item.kind, item.natural_key) for item in self.new]):
            raise SubjectRegisteredMeanwhile("A data subject was registered meanwhile.")
        key = self.keys[self.workspace_id]
        marks = [subject_mark(key, item.kind, item.natural_key) for item in self.new]
        barred = stores.subjects.barred(marks)
        if barred:
            raise SubjectForgotten(min(barred))


def resolve(
    platform: Platform,
    principal: Principal,
    owners: Collection[Owner],
    others: Collection[UUID] = (),
) -> Resolution:
    """Return ids and keys for `owners`, and keys for the subject ids in `others`.

    Ids are allocated for those not seen before.
    """
    ids = dict(_find_subjects(platform, principal, owners)) if owners else {}
    new = tuple(
        Subject(id=platform.new_id(), kind=kind, natural_key=name)
        for kind, name in dict.fromkeys(owners)
        if (kind, name) not in ids
    )
    ids |= {(item.kind, item.natural_key): item.id for item in new}
    workspace_id = principal.workspace_id
    needed = {workspace_id, *ids.values(), *others}
    existing = needed - {workspace_id, *(item.id for item in new)}
    _require_kept(platform.keys, workspace_id, existing)
    keys = platform.keys.get_or_create(workspace_id, needed)
    return Resolution(workspace_id=workspace_id, ids=ids, new=new, keys=keys)


def _require_kept(keys: KeyStore, workspace_id: UUID, subjects: Collection[UUID]) -> None:
    """Raise KeyMissing when somebody known had a key, and it is gone without a forgetting."""
    gone = set(subjects) - keys.get(workspace_id, subjects).keys() if subjects else None
    if gone:
        absent = keys.absent(workspace_id, gone)
        lost = [subject for subject, destroyed in absent.items() if not destroyed]
        if lost:
            raise KeyMissing(lost)


def _find_subjects(
    platform: Platform, principal: Principal, owners: Collection[Owner]
) -> Mapping[Owner, UUID]:
    with platform.transactions.reading(principal) as stores:
        return stores.subjects.find(owners)


def retried(attempt: Callable[[], T]) -> T:
    """Return `attempt()`, made again when another write registered the same subject first."""
    for _ in range(_ATTEMPTS - 1):
        try:
            return attempt()
        except SubjectRegisteredMeanwhile:
            continue
    return attempt()
