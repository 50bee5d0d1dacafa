"""Forget a data subject or a source: the use case of `POST /v1/forget`. Not deletion, which hides.

In this order, so that a kill between any two steps is made up for by doing it again:
begin (from here on no write for the subject is taken), tombstone, key, entry and purge in one
transaction, the rest. docs/operate/forgetting.md says what becomes of each store.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from cairn.documents.accept import SOURCE, source_owner
from cairn.forgetting.ports import Doomed, Forgetting, Step
from cairn.kernel.access import Role
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError, NotFound, ValidationFailed
from cairn.ledger.entry import Actor, ActorKind
from cairn.ledger.keys import forgotten_name, subject_mark
from cairn.ledger.tombstones import Tombstone, new_tombstone, tombstone_key
from cairn.writing.ports import Topic
from cairn.writing.writer import Write, open_write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from uuid import UUID

    from cairn.ageing.cleanup import SweepEntities
    from cairn.forgetting.ports import KnownSubject, ObjectEraser, Reason, TombstoneStore
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.ledger.signing import Signer
    from cairn.writing.checks import Owner
    from cairn.writing.platform import Platform

NODES_AN_ENTRY = 1_000
PERSON = "person"
"""A kind of data subject: somebody whom a member knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Who is to be forgotten: a name (client or person), an id, or the URI of a source."""

    owner: Owner | None = None
    subject_id: UUID | None = None
    source: str | None = None

    @property
    def name(self) -> Owner | None:
        """Return the name the subject is registered under, None when only its id is known."""
        return source_owner(self.source) if self.source is not None else self.owner


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetPlan:
    """What would go. `keyed` as in `Forgetting`; `counts` are rows by what they are."""

    subject_id: UUID | None
    kind: str
    keyed: bool
    counts: Mapping[str, int]
    node_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What was done. `already`: it had been done before, and this is what was done then."""

    forgetting: Forgetting
    already: bool


Recompute: TypeAlias = "Callable[[UUID, float], bool]"
"""Makes the projections equal to what the readable ledger projects to, for some seconds.

False: not done yet. What somebody forgotten had added to what stays (counts, strengths, links
closed) goes by it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forget:
    """Forgets, and goes on with what was interrupted. `seconds` bounds parts of the last step.

    Without `orphans` those that go with the subject are left to the caller.
    """

    platform: Platform
    signer: Signer
    tombstones: TombstoneStore
    objects: ObjectEraser
    sweep: SweepEntities
    recompute: Recompute
    seconds: float = 8.0
    orphans: bool = True

    def plan(self, principal: Principal, target: Target) -> ForgetPlan:
        """Return what would go; nothing is changed. NotFound when nobody is known by that."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(_system(principal)) as stores:
            subject, documents = _look_up(stores, target)
            if subject is None and not documents:
                raise _unknown(target)
            subject_id = subject.id if subject else self.platform.new_id()
            doomed = stores.forgetting.doomed(subject_id, documents)
            counts = stores.forgetting.count(subject_id, documents, doomed)
            further = {
                "archived": len(stores.forgetting.tied(subject_id, doomed)),
                "source": len(stores.forgetting.sources(subject_id, doomed)),
                "person": len(stores.forgetting.acquaintances(subject_id)),
            }
            return ForgetPlan(
                subject_id=subject.id if subject else None,
                kind=subject.kind if subject else SOURCE,
                keyed=_is_keyed(stores, subject, documents),
                counts={**counts, **{what: number for what, number in further.items() if number}},
                node_ids=doomed.node_ids,
            )

    def __call__(self, principal: Principal, target: Target, reason: Reason) -> Forgotten:
        """Forget and return what was done; again, and it returns what was done then.

        Raises NotFound when nobody is known by that (another workspace's neither), Unavailable when
        a store cannot be reached: repeated, it goes on where it stopped. A status of `purged` says
        that everything is erased and what remains is still being made anew.
        """
        principal.require(Role.ADMIN)
        begun = self._begin(principal, target, reason)
        already = begun.status == Step.DONE
        return Forgotten(forgetting=self.resume(begun), already=already)

    def begin(self, principal: Principal, target: Target, reason: Reason) -> Forgetting:
        """Forget up to the key, which cannot be had back; `go_on` does what is left, or the sweep.

        For who watches the steps. Again, and it returns how far it is. Raises as a call does.
        """
        principal.require(Role.ADMIN)
        forgetting = self._begin(principal, target, reason)
        while forgetting.status in (Step.BEGUN, Step.MARKED):
            forgetting = self._step(forgetting)
        return forgetting

    def go_on(self, principal: Principal, forgetting_id: UUID) -> Forgetting:
        """Do one step more and return the row as it is then; NotFound for another workspace's."""
        return self._step(self.get(principal, forgetting_id))

    def resume(self, forgetting: Forgetting) -> Forgetting:
        """Do the steps that are left and return the row as it is then."""
        while forgetting.status != Step.DONE:
            before, forgetting = forgetting, self._step(forgetting)
            if forgetting.status == before.status:
                break  # the rest takes longer than this call may: the next one goes on
        return forgetting

    def _step(self, forgetting: Forgetting) -> Forgetting:
        steps: Mapping[str, Callable[[Forgetting], Forgetting]] = {
            Step.BEGUN: self._mark,
            Step.MARKED: self._bar,
            Step.BARRED: self._purge,
            Step.PURGED: self._rest,
        }
        step = steps.get(forgetting.status)
        return forgetting if step is None else step(forgetting)

    def get(self, principal: Principal, forgetting_id: UUID) -> Forgetting:
        """Return a forgetting; NotFound for another workspace's."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(_system(principal)) as stores:
            row = stores.forgetting.find(forgetting_id=forgetting_id)
        if row is None:
            raise NotFound("There is no such forgetting.", forgetting_id=str(forgetting_id))
        return row

    def newest(self, principal: Principal, *, limit: int, offset: int) -> Sequence[Forgetting]:
        """Return a page of all forgettings, the newest first."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(_system(principal)) as stores:
            return stores.forgetting.newest(limit=limit, offset=offset)

    def unfinished(self, workspace_id: UUID) -> int:
        """Finish what was interrupted in a workspace and return how many there were."""
        with self.platform.transactions.reading(system_principal(workspace_id)) as stores:
            forgettings = stores.forgetting.unfinished()
        for item in forgettings:
            self.resume(item)
        return len(forgettings)

    def nodes_of(self, workspace_id: UUID, subject_id: UUID) -> int:
        """Return how many nodes there are of a subject, or derived of them."""
        with self.platform.transactions.reading(system_principal(workspace_id)) as stores:
            return len(stores.forgetting.doomed(subject_id, ()).node_ids)

    def again(self, tombstone: Tombstone) -> Forgetting:
        """Forget what a tombstone says is forgotten, after a backup brought it back.

        What remains is not made anew here: whoever follows many tombstones does it once.
        """
        with self.platform.transactions.writing(system_principal(tombstone.workspace_id)) as stores:
            forgetting = stores.forgetting.find(subject_id=tombstone.subject_id)
            if forgetting is None:
                subject = stores.forgetting.subject(subject_id=tombstone.subject_id)
                documents = self._documents_of(stores, subject)
                forgetting = Forgetting(
                    id=self.platform.new_id(),
                    workspace_id=tombstone.workspace_id,
                    subject_id=tombstone.subject_id,
                    kind=tombstone.kind,
                    mark=self._mark_of(tombstone.workspace_id, subject, tombstone.subject_id),
                    keyed=_is_keyed(stores, subject, documents),
                    reason="other",
                    principal_id=tombstone.workspace_id,
                    status=Step.MARKED,
                    position=tombstone.position,
                    begun_at=tombstone.forgotten_at,
                    document_ids=tuple(documents),
                )
                stores.forgetting.begin(forgetting)
            elif stores.forgetting.doomed(forgetting.subject_id, forgetting.document_ids).node_ids:
                # rows of a backup under a forgetting that was done: purge again
                stores.forgetting.advance(forgetting.id, Step.MARKED, now=self.platform.clock())
                forgetting = replace(forgetting, status=Step.MARKED)
        return replace(self, recompute=_left_to_the_caller).resume(forgetting)

    def _begin(self, principal: Principal, target: Target, reason: Reason) -> Forgetting:
        workspace_id = principal.workspace_id
        key = self._workspace_key(workspace_id)
        mark = subject_mark(key, *target.name) if target.name else None
        with self.platform.transactions.writing(_system(principal)) as stores:
            subject, documents = _look_up(stores, target)
            if subject is None and not documents:
                done = stores.forgetting.find(subject_id=target.subject_id, mark=mark)
                if done is None:
                    raise _unknown(target)
                return done
            begun = self._row(principal, stores, subject, documents, reason, key, target)
            earlier = stores.forgetting.find(subject_id=begun.subject_id)
            if earlier is not None:
                return earlier
            stores.forgetting.begin(begun)
            return begun

    def _row(
        self,
        principal: Principal,
        stores: Stores,
        subject: KnownSubject | None,
        documents: tuple[UUID, ...],
        reason: Reason,
        key: bytes,
        target: Target,
    ) -> Forgetting:
        name = (subject.kind, subject.natural_key) if subject else target.name
        if name is None:
            raise _unknown(target)
        return Forgetting(
            id=self.platform.new_id(),
            workspace_id=principal.workspace_id,
            subject_id=subject.id if subject else self.platform.new_id(),
            kind=name[0],
            mark=subject_mark(key, *name),
            keyed=_is_keyed(stores, subject, documents),
            reason=reason,
            principal_id=principal.principal_id,
            status=Step.BEGUN,
            position=stores.ledger.head().position,
            begun_at=self.platform.clock(),
            document_ids=documents,
        )

    def _mark(self, row: Forgetting) -> Forgetting:
        tombstone = Tombstone(
            workspace_id=row.workspace_id,
            subject_id=row.subject_id,
            kind=row.kind,
            position=row.position,
            forgotten_at=row.begun_at,
        )
        key = tombstone_key(row.workspace_id, row.subject_id)
        self.tombstones.put(key, new_tombstone(self.signer, tombstone))
        return self._advance(row, Step.MARKED)

    def _bar(self, row: Forgetting) -> Forgetting:
        self.platform.keys.destroy(row.workspace_id, row.subject_id)
        return self._advance(row, Step.BARRED)

    def _purge(self, row: Forgetting) -> Forgetting:
        """Append what goes and erase it, in one transaction; of two at once one does it."""
        key = self._workspace_key(row.workspace_id)
        actor = Actor(kind=ActorKind.USER, id=str(row.principal_id))
        with open_write(self.platform, system_principal(row.workspace_id), actor=actor) as write:
            row, store = _find_forgetting(write.stores, row), write.stores.forgetting
            if row.status != Step.BARRED:
                return row
            doomed = store.doomed(row.subject_id, row.document_ids)
            keys = tuple(store.object_keys(row.subject_id, row.document_ids, doomed))
            tied, sources = (
                store.tied(row.subject_id, doomed),
                store.sources(row.subject_id, doomed),
            )
            people = store.acquaintances(row.subject_id)
            for orphan in (*sources, *people):
                store.begin(self._of_orphan(row, write, orphan, key))
            store.rename(
                {
                    name.row_id: forgotten_name(key, name.place, name.name)
                    for name in store.outside_names(row.subject_id)
                }
            )
            erased = store.erase(row.subject_id, row.document_ids, doomed)
            _note_archived(write, tied)
            _note_forgotten(write, row, doomed)
            write.append()
            write.wake(Topic.EMBED)  # names no node: it brings the search index along
            counts = {
                **erased,
                "node": len(doomed.node_ids),
                "archived": len(tied),
                "source": len(sources),
                "person": len(people),
            }
            store.advance(
                row.id,
                Step.PURGED,
                now=write.now,
                purged_position=write.entries.position,
                object_keys=keys,
                counts=counts,
            )
            return _find_forgetting(write.stores, row)

    def _rest(self, row: Forgetting) -> Forgetting:
        """Delete bytes, sweep entities, and make what remains what the ledger says now.

        Sources of which nothing is left are forgotten before, and people whom only the subject
        knew; what remains is made anew once.
        """
        if self.orphans and not self._orphans_forgotten(row):
            return row
        objects = sum(self.objects.erase(prefix) for prefix in row.object_keys)
        swept = self.sweep(row.workspace_id, seconds=self.seconds)
        if swept["more"] or not self.recompute(row.workspace_id, self.seconds):
            return row
        counts = {"objects": objects, "entities": int(swept["entities"])}
        return self._advance(row, Step.DONE, counts)

    def _orphans_forgotten(self, row: Forgetting) -> bool:
        """Forget those that went with the subject, for some time; return whether none is left."""
        until = self.platform.stopwatch() + self.seconds
        alone = replace(self, recompute=_left_to_the_caller, orphans=False)
        with self.platform.transactions.reading(system_principal(row.workspace_id)) as stores:
            begun = stores.forgetting.unfinished()
        for item in begun:
            if item.kind in (SOURCE, PERSON) and item.id != row.id:
                if self.platform.stopwatch() >= until:
                    return False
                alone.resume(item)
        return True

    def _of_orphan(
        self, row: Forgetting, write: Write, orphan: KnownSubject, key: bytes
    ) -> Forgetting:
        """Return the forgetting of a source or person of whom nothing else is held any more."""
        return Forgetting(
            id=self.platform.new_id(),
            workspace_id=row.workspace_id,
            subject_id=orphan.id,
            kind=orphan.kind,
            mark=subject_mark(key, orphan.kind, orphan.natural_key),
            keyed=True,
            reason=row.reason,
            principal_id=row.principal_id,
            status=Step.BEGUN,
            position=write.entries.position,
            begun_at=write.now,
        )

    def _advance(
        self, row: Forgetting, step: Step, counts: Mapping[str, int] | None = None
    ) -> Forgetting:
        with self.platform.transactions.writing(system_principal(row.workspace_id)) as stores:
            forgetting = _find_forgetting(stores, row)
            if forgetting.status == row.status:
                stores.forgetting.advance(row.id, step, now=self.platform.clock(), counts=counts)
            return _find_forgetting(stores, row)

    def _documents_of(self, stores: Stores, subject: KnownSubject | None) -> tuple[UUID, ...]:
        if subject is None or subject.kind != SOURCE:
            return ()
        return tuple(stores.forgetting.documents(subject.natural_key))

    def _mark_of(self, workspace_id: UUID, subject: KnownSubject | None, subject_id: UUID) -> bytes:
        key = self._workspace_key(workspace_id)
        name = (subject.kind, subject.natural_key) if subject else ("id", str(subject_id))
        return subject_mark(key, *name)

    def _workspace_key(self, workspace_id: UUID) -> bytes:
        return self.platform.keys.get_or_create(workspace_id, [workspace_id])[workspace_id]


def _note_archived(write: Write, tied: Sequence[UUID]) -> None:
    """Plan the entries that hide what speaks of the subject and is not its own."""
    for at in range(0, len(tied), NODES_AN_ENTRY):
        ids = [str(id_) for id_ in tied[at : at + NODES_AN_ENTRY]]
        write.note("node.archived", {"node_ids": ids, "rule": "forgotten"})


def _note_forgotten(write: Write, row: Forgetting, doomed: Doomed) -> None:
    """Plan the entries, a thousand nodes each; one at least, so that it is told."""
    ids = [str(id_) for id_ in doomed.node_ids]
    pages = [ids[at : at + NODES_AN_ENTRY] for at in range(0, len(ids), NODES_AN_ENTRY)] or [[]]
    for place, page in enumerate(pages):
        write.note(
            "source.forgotten" if row.kind == SOURCE else "subject.forgotten",
            {
                "forgetting_id": str(row.id),
                "subject_id": str(row.subject_id),
                "kind": row.kind,
                "reason": row.reason,
                "node_ids": page,
                "revived": [] if place else [str(item) for item in doomed.revived],
                "cleared": [] if place else [str(item) for item in doomed.cleared],
            },
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishForgettings:
    """Takes up every forgetting that was interrupted, of every workspace."""

    workspaces: Callable[[], Iterable[UUID]]
    forget: Forget
    report: Callable[[str, dict[str, object]], None]

    def __call__(self) -> int:
        """Return how many there were; one that fails again is told, and the next sweep's."""
        value = 0
        for workspace_id in self.workspaces():
            try:
                value += self.forget.unfinished(workspace_id)
            except CairnError as error:
                fields: dict[str, object] = {
                    "workspace_id": str(workspace_id),
                    "reason": error.reason,
                }
                self.report("forgetting.unfinished", fields)
        return value


def _left_to_the_caller(workspace_id: UUID, seconds: float) -> bool:
    return True


def _system(principal: Principal) -> Principal:
    """Forgetting looks everywhere, whatever scopes the admin's key has."""
    return system_principal(principal.workspace_id)


def _look_up(stores: Stores, target: Target) -> tuple[KnownSubject | None, tuple[UUID, ...]]:
    """Return the subject as it is registered, and the documents of a source."""
    if target.name is None and target.subject_id is None:
        raise ValidationFailed("Name a subject, a subject_id or a source.")
    subject = stores.forgetting.subject(owner=target.name, subject_id=target.subject_id)
    source = target.source
    if source is None and subject is not None and subject.kind == SOURCE:
        source = subject.natural_key
    return subject, tuple(stores.forgetting.documents(source)) if source is not None else ()


def _is_keyed(stores: Stores, subject: KnownSubject | None, documents: tuple[UUID, ...]) -> bool:
    if subject is None:
        return False
    return not (documents and stores.forgetting.without(subject.id, documents))


def _find_forgetting(stores: Stores, row: Forgetting) -> Forgetting:
    forgetting = stores.forgetting.find(forgetting_id=row.id)
    if forgetting is None:
        raise RuntimeError("a forgetting's row is gone")
    return forgetting


def _unknown(target: Target) -> NotFound:
    fields = {"subject_id": str(target.subject_id)} if target.subject_id else {}
    return NotFound("Nobody is known by that.", reason="unknown-subject", **fields)


__all__ = ["FinishForgettings", "Forget", "ForgetPlan", "Forgotten", "Target"]
