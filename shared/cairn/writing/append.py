"""The last steps of every write: seal the entries, append them, project them, announce them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from cairn.graph.projection import Projection
from cairn.kernel.access import Principal, Role
from cairn.kernel.ids import IdSource
from cairn.kernel.stores import Stores
from cairn.kernel.traces import current_trace_id
from cairn.ledger.chain import seal
from cairn.ledger.entry import SYSTEM, Actor, ActorKind, Entry, NewEntry
from cairn.writing.entries import Planned
from cairn.writing.ports import OutboxRow
from cairn.writing.projectors import project, registered_subject
from cairn.writing.taint_arrivals import held_back
from cairn.writing.webhook_events import announce


def principal_actor(principal: Principal) -> Actor:
    """Return the principal as the ledger names it: an opaque id, an agent, a user or Cairn."""
    if principal.principal_id == principal.workspace_id:  # see `system_principal`
        return SYSTEM
    is_user = principal.role is Role.ADMIN or principal.person is not None
    kind = ActorKind.USER if is_user else ActorKind.AGENT
    return Actor(kind=kind, id=str(principal.principal_id))


@dataclass(frozen=True, slots=True, kw_only=True)
class Appended:
    """What became of planned entries: sealed, in order, and what follows from them.

    `held_back` are the nodes that went into quarantine as they arrived; the `holds` entries that
    say so follow in the ledger and are not among `entries`. `rows` are webhooks' and are to be sent
    after the commit.
    """

    entries: list[Entry] = field(default_factory=list["Entry"])
    held_back: frozenset[UUID] = frozenset()
    holds: int = 0
    rows: Sequence[OutboxRow] = ()


def append(stores: Stores, planned: Sequence[Planned], now: datetime, new_id: IdSource) -> Appended:
    """Append the planned entries, apply their projections in order, and announce them.

    Raises SubjectForgotten when one is about somebody whose forgetting was begun. Every write comes
    through here with the ledger's head locked, so none slips past a forgetting.
    """
    if not planned:
        return Appended()
    _refuse_forgotten(stores, planned)
    entries, projections = _append(stores, planned, now)
    for entry, draft in zip(entries, planned, strict=True):
        if entry.type == "data_subject.registered":
            stores.subjects.add(registered_subject(entry, draft.body), entry.position)
    holds, held = held_back(stores, projections, entries[-1])
    _append(stores, holds, now)
    return Appended(
        entries=entries,
        held_back=held,
        holds=len(holds),
        rows=announce(stores, entries, now, new_id),
    )


def append_unprojected(stores: Stores, planned: Sequence[Planned], now: datetime) -> None:
    """Append entries that no row follows from; the caller holds the ledger's head."""
    stores.ledger.append(seal(stores.ledger.head(), [item.entry for item in planned], now))


def _append(
    stores: Stores, planned: Sequence[Planned], now: datetime
) -> tuple[list[Entry], list[Projection]]:
    if not planned:
        return [], []
    entries = seal(stores.ledger.head(), [_traced(item.entry) for item in planned], now)
    stores.ledger.append(entries)
    projections = [
        project(entry, draft.body, draft.texts)
        for entry, draft in zip(entries, planned, strict=True)
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
