"""Hold back what cannot be trusted and all that was made of it; let it out again. Not deletion.

A taint names an agent, a session, a source or one node. Applying it walks provenance, in pages of
one transaction each; repeated, it goes on where it was. What is followed: docs/operate/taint.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.graph.node import State
from cairn.graph.projection import Taint, TaintKind
from cairn.kernel.access import Role
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import NotFound, ValidationFailed
from cairn.kernel.text.canonical import format_timestamp
from cairn.reading.views import Page
from cairn.writing.append import principal_actor
from cairn.writing.taint_arrivals import hold_meta
from cairn.writing.writer import Write, open_write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.writing.platform import Platform
    from cairn.writing.taint_ports import HeldNode, Walked
    from cairn.writing.taint_views import SeenIn, TaintView, UsedIn


@dataclass(frozen=True, slots=True, kw_only=True)
class TaintReport:
    """A taint with what has already come of it: actions and searches that used tainted nodes."""

    taint: TaintView
    actions: tuple[UsedIn, ...]
    searches: tuple[SeenIn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tainted:
    """What applying did. `held` nodes went out of recall by this call.

    `complete` False: time or the bound was met; the same request again goes on. For a dry run
    there is no `taint_id`, and `held` is what would be held. `node_ids` are some of them.
    """

    taint_id: UUID | None
    held: int
    complete: bool
    dry_run: bool
    node_ids: tuple[UUID, ...]
    actions: tuple[UsedIn, ...]
    searches: tuple[SeenIn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaintLifted:
    """What lifting did: `restored` nodes are back. `complete` False: ask again."""

    taint_id: UUID
    restored: int
    complete: bool


PAGE = 1_000
"""Nodes an entry, and a transaction, holds back or lets out."""

MOST = 100_000
"""Nodes one taint reaches at the most; a walk that meets more says so."""

LISTED = 100
"""Actions and searches a report lists, the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTaint:
    """What is asked: one of the kinds, with its value (a slug, a session, a URI) or a node's id."""

    kind: TaintKind
    reason: str
    value: str | None = None
    node_id: UUID | None = None
    causes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """A target as the ledger will know it."""

    kind: TaintKind
    value: str | None
    roots: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Taints:
    """The use cases. `seconds` bounds one call; what is left is done by the next."""

    platform: Platform
    seconds: float = 15.0

    def apply(self, principal: Principal, new: NewTaint, *, dry_run: bool = False) -> Tainted:
        """Hold back what `new` names and all that was made of it.

        The taint stands from the first entry on, so what is written meanwhile is held back as it
        comes. Of a taint that stands already the rest is done. NotFound when there is no such node
        or source here.
        """
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(system_principal(principal.workspace_id)) as stores:
            selection = _find_target(stores, principal, new)
        if dry_run:
            return self._dry_run(principal, selection, new)
        started = self.platform.stopwatch()
        taint = self._begin(principal, selection, new)
        held, complete = 0, False
        while not complete and self.platform.stopwatch() - started < self.seconds:
            page, complete = self._hold_page(principal, taint)
            held += page
        return self._applied(principal, taint, held, complete=complete)

    def lift(self, principal: Principal, taint_id: UUID) -> TaintLifted:
        """Give nodes the state they had, unless another taint holds them or their place is taken.

        Lifting again goes on where it stopped. NotFound for an unknown taint.
        """
        principal.require(Role.ADMIN)
        started = self.platform.stopwatch()
        restored, complete, first = 0, False, True
        while first or (not complete and self.platform.stopwatch() - started < self.seconds):
            page, complete = self._lift_page(principal, taint_id)
            restored, first = restored + page, False
        return TaintLifted(taint_id=taint_id, restored=restored, complete=complete)

    def get(self, principal: Principal, taint_id: UUID) -> TaintReport:
        """Return a taint and what has come of it; NotFound for an unknown one."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(system_principal(principal.workspace_id)) as stores:
            view = stores.taints.view(taint_id)
            if view is None:
                raise _unknown(taint_id)
            held = stores.taints.held(taint_id)
            return TaintReport(
                taint=view,
                actions=tuple(stores.taints.actions(held, LISTED)),
                searches=tuple(stores.taints.searches(held, LISTED)),
            )

    def page(self, principal: Principal, *, limit: int, after: int | None) -> Page[TaintView]:
        """Return a page of taints by falling position."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(system_principal(principal.workspace_id)) as stores:
            taints = stores.taints.views(after=after, limit=limit + 1)
        more = len(taints) > limit
        items = tuple(taints[:limit])
        return Page(items=items, next_after=items[-1].position if more else None)

    def _begin(self, principal: Principal, selection: _Target, new: NewTaint) -> Taint:
        """Return the standing taint of exactly this, written if there is none."""
        keys = self.platform.keys.get_or_create(principal.workspace_id, [principal.workspace_id])
        taint_id = self.platform.new_id()
        meta = {
            "taint_id": str(taint_id),
            "kind": selection.kind.value,
            "roots": [str(root) for root in selection.roots],
            "causes": new.causes,
        }
        with self._open(principal, keys) as write:
            standing = _standing(write.stores, selection, new)
            if standing is not None:
                return standing
            write.note("taint.applied", meta, {"value": selection.value, "reason": new.reason})
            write.append()
            taint = write.stores.taints.find(taint_id)
        if taint is None:
            raise RuntimeError("a taint that was just written is gone")
        return taint

    def _hold_page(self, principal: Principal, taint: Taint) -> tuple[int, bool]:
        """Hold back a page; return how many nodes, and whether nothing is left."""
        with open_write(self.platform, system_principal(principal.workspace_id)) as write:
            stores = write.stores
            if stores.taints.is_lifted(taint.id):
                return 0, True
            walked = _walk(stores, taint)
            left = stores.taints.to_hold(taint.id, walked.node_ids)
            page = dict(sorted(left.items())[:PAGE])
            cleared = stores.taints.truths(walked.entities)
            if not page and not cleared:
                return 0, walked.complete
            reached = walked.node_ids
            meta = hold_meta(stores, taint.id, page, reached=reached, cleared=cleared)
            write.note("taint.extended", meta)
            write.wake_embed(dict.fromkeys([*page, *cleared]))
        return len(page), len(page) == len(left) and walked.complete

    def _lift_page(self, principal: Principal, taint_id: UUID) -> tuple[int, bool]:
        with self._open(principal) as write:
            taints = write.stores.taints
            if taints.find(taint_id) is None:
                raise _unknown(taint_id)
            held = taints.to_restore(taint_id, PAGE)
            if not held and taints.is_lifted(taint_id):
                return 0, True
            restored, superseded = _restored(held)
            back = [id_ for ids in restored.values() for id_ in ids]
            for item in taints.revived_by(taint_id, back):
                superseded.append((item.id, item.by, item.valid_from))
            write.note("taint.lifted", _lifted(taint_id, restored, superseded))
            touched = [item.id for item in held] + [node_id for node_id, _, _ in superseded]
            write.wake_embed(dict.fromkeys(touched))
        return len(held), len(held) < PAGE

    def _open(
        self, principal: Principal, keys: Mapping[UUID, bytes] | None = None
    ) -> AbstractContextManager[Write]:
        """Open a write of the principal's over whatever the workspace has."""
        everything = system_principal(principal.workspace_id)
        return open_write(self.platform, everything, actor=principal_actor(principal), keys=keys)

    def _dry_run(self, principal: Principal, selection: _Target, new: NewTaint) -> Tainted:
        with self.platform.transactions.reading(system_principal(principal.workspace_id)) as stores:
            walked = stores.taints.walk(
                selection.kind, selection.value, selection.roots, causes=new.causes, limit=MOST
            )
            return Tainted(
                taint_id=None,
                held=len(walked.node_ids),
                complete=walked.complete,
                dry_run=True,
                node_ids=walked.node_ids[:LISTED],
                actions=tuple(stores.taints.actions(walked.node_ids, LISTED)),
                searches=tuple(stores.taints.searches(walked.node_ids, LISTED)),
            )

    def _applied(self, principal: Principal, taint: Taint, held: int, *, complete: bool) -> Tainted:
        report = self.get(principal, taint.id)
        with self.platform.transactions.reading(system_principal(principal.workspace_id)) as stores:
            node_ids = tuple(stores.taints.held(taint.id)[:LISTED])
        return Tainted(
            taint_id=taint.id,
            held=held,
            complete=complete,
            dry_run=False,
            node_ids=node_ids,
            actions=report.actions,
            searches=report.searches,
        )


def _find_target(stores: Stores, principal: Principal, new: NewTaint) -> _Target:
    if new.kind is TaintKind.NODE:
        if new.node_id is None or not stores.taints.exists(new.node_id):
            raise NotFound("There is no such node.", node_id=str(new.node_id))
        return _Target(kind=new.kind, value=None, roots=(new.node_id,))
    if not new.value:
        raise ValidationFailed("A taint names an agent, a session, a source or a node.")
    if new.kind is TaintKind.SOURCE:
        documents = tuple(stores.taints.documents(new.value))
        if not documents:
            raise NotFound("There is no document of such a source.", reason="unknown-source")
        return _Target(kind=new.kind, value=None, roots=documents)
    return _Target(kind=new.kind, value=new.value, roots=())


def _standing(stores: Stores, selection: _Target, new: NewTaint) -> Taint | None:
    return stores.taints.standing(
        selection.kind, selection.value, selection.roots, causes=new.causes
    )


def _walk(stores: Stores, taint: Taint) -> Walked:
    return stores.taints.walk(taint.kind, taint.value, taint.roots, causes=taint.causes, limit=MOST)


def _restored(
    held: Sequence[HeldNode],
) -> tuple[dict[State, list[UUID]], list[tuple[UUID, UUID, datetime | None]]]:
    """Return what is restored, by state, and what is superseded instead: (node, by, until).

    Of several that would take one place (an identity, the end of a chain) the newest does.
    """
    restored: dict[State, list[UUID]] = {}
    superseded: list[tuple[UUID, UUID, datetime | None]] = []
    places: dict[str, UUID] = {}
    for item in sorted(held, key=lambda each: (each.valid_from, each.id), reverse=True):
        if item.state not in (State.ACTIVE, State.PROVISIONAL):
            restored.setdefault(item.state, []).append(item.id)
            continue
        keys = [key for key in (item.dedup_key, item.chain_key) if key]
        by = item.stands or next((places[key] for key in keys if key in places), None)
        if by is not None:
            superseded.append((item.id, by, None))
            continue
        restored.setdefault(item.state, []).append(item.id)
        places.update(dict.fromkeys(keys, item.id))
    return restored, superseded


def _lifted(
    taint_id: UUID,
    restored: Mapping[State, Sequence[UUID]],
    superseded: Sequence[tuple[UUID, UUID, datetime | None]],
) -> Mapping[str, Any]:
    return {
        "taint_id": str(taint_id),
        "restored": {state.value: [str(id_) for id_ in ids] for state, ids in restored.items()},
        "superseded": [
            [str(node_id), str(by), format_timestamp(until) if until else None]
            for node_id, by, until in superseded
        ],
    }


def _unknown(taint_id: UUID) -> NotFound:
    return NotFound("There is no such taint.", taint_id=str(taint_id))
