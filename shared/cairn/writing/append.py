"""The last steps of every write: seal the entries, append them, apply what they project to."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from cairn.graph.projection import Projection
from cairn.kernel.access import Principal, Role
from cairn.kernel.stores import Stores
from cairn.kernel.traces import current_trace_id
from cairn.ledger.chain import seal
from cairn.ledger.entry import SYSTEM, Actor, ActorKind, Entry, NewEntry
from cairn.writing.entries import Planned
from cairn.writing.projectors import project, registered_subject
from cairn.writing.taint_arrivals import held_back


def principal_actor(principal: Principal) -> Actor:
    """Return the principal as the ledger names it: an opaque id, an agent, a user or Cairn."""
    if principal.principal_id == principal.workspace_id:  # see `system_principal`
        return SYSTEM
    kind = ActorKind.USER if principal.role is Role.ADMIN else ActorKind.AGENT
    return Actor(kind=kind, id=str(principal.principal_id))


def append_and_project(stores: Stores, planned: Sequence[Planned], now: datetime) -> list[Entry]:
    """Append the planned entries, apply their projections in order and return them sealed.

    Raises SubjectForgotten when one is about somebody whose forgetting was begun. Every write comes
    through here with the ledger's head locked, so none slips past a forgetting.
    """
    entries, _ = append_and_hold_back(stores, planned, now)
    return entries


def append_unprojected(stores: Stores, planned: Sequence[Planned], now: datetime) -> None:
    """Append entries that no row follows from; the caller holds the ledger's head."""
    stores.ledger.append(seal(stores.ledger.head(), [item.entry for item in planned], now))


def append_and_hold_back(
    stores: Stores, planned: Sequence[Planned], now: datetime
) -> tuple[list[Entry], frozenset[UUID]]:
    """Do the same, and return with the entries which nodes went into quarantine as they arrived.

    The entries that say so follow the planned ones in the ledger and are not returned.
    """
    _refuse_forgotten(stores, planned)
    entries, projections = _append(stores, planned, now)
    for entry, one in zip(entries, planned, strict=True):
        if entry.type == "data_subject.registered":
            stores.subjects.add(registered_subject(entry, one.body), entry.position)
    if not entries:
        return [], frozenset()
    holds, held = held_back(stores, projections, entries[-1])
    _append(stores, holds, now)
    return entries, held


def _append(
    stores: Stores, planned: Sequence[Planned], now: datetime
) -> tuple[list[Entry], list[Projection]]:
    if not planned:
        return [], []
    entries = seal(stores.ledger.head(), [_traced(item.entry) for item in planned], now)
    stores.ledger.append(entries)
    projections = [
        project(entry, one.body, one.texts) for entry, one in zip(entries, planned, strict=True)
    ]
    stores.nodes.apply(projections)
    return entries, projections


def _traced(entry: NewEntry) -> NewEntry:
    """Return an entry in the trace of the present work, unless it is in one already."""
    trace_id = current_trace_id()
    return entry if entry.trace_id or not trace_id else replace(entry, trace_id=trace_id)


def _refuse_forgotten(stores: Stores, planned: Sequence[Planned]) -> None:
    about = {subject for item in planned for subject in item.entry.data_subjects}
    forgotten = stores.subjects.forgotten(about) if about else ()
    if forgotten:
        from cairn.ledger.keys import SubjectForgotten  # its ciphers are not for every function

        raise SubjectForgotten(min(forgotten))
