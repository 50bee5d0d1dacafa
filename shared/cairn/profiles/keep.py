"""Keep in the graph what is known of each client: by rules and a model, as it consolidates.

A client is due when something of theirs came since, or what their profile rests on is no more. How
far a profile looked stands in it, so that a step that was killed is gone on with by the next. What
is derived is sealed under the keys of those it is about. Not the rules (`derive`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from cairn.enrichment.drawing import infers
from cairn.events.read import EventFilter
from cairn.graph.node import State
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import BudgetExceeded, Unavailable, ValidationFailed
from cairn.ledger.keys import SubjectForgotten, key_subjects
from cairn.llm.gateway import REFUSED
from cairn.llm.structured import WRONG_SHAPE
from cairn.profiles.ask import LEAST_MEMORIES, MEMORIES_AT_ONCE, shown
from cairn.profiles.claims import NONE
from cairn.profiles.derive import derive, kind_of
from cairn.profiles.graph import RELATIONS, change_of, gone, profile_id, wanted_of, without
from cairn.profiles.read import MAX_READ
from cairn.reading.views import MemoryFilter
from cairn.writing.append import SYSTEM
from cairn.writing.writer import open_write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.events.read import EventView
    from cairn.kernel.access import Principal
    from cairn.nodes.draft import StoredNode
    from cairn.profiles.ask import AskOfPeople
    from cairn.profiles.claims import Claims
    from cairn.profiles.graph import PersonGraph
    from cairn.profiles.ports import DueClient, HeldEdge, Holder
    from cairn.reading.views import MemoryView
    from cairn.writing.platform import Platform
    from cairn.writing.writer import Write

DERIVED = "profile.derived"
CLIENTS_A_PAGE = 200
SETTLED_AFTER = timedelta(hours=1)
"""What has no vector by then is derived from without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientHistory:
    """The memories and events of one client, the newest first, and how far that looks."""

    memories: Sequence[MemoryView]
    events: Sequence[EventView]
    holders: Mapping[UUID, Holder]
    former: Mapping[UUID, Holder]
    claims: Mapping[UUID, Claims]
    infers: bool
    up_to: int

    def waits(self, now: datetime) -> bool:
        """Return whether the embed stage has still to say what some of them name."""
        return any(
            not each.embedded and now - each.recorded_at < SETTLED_AFTER
            for each in (*self.memories, *self.events)
        )

    @property
    def truncated(self) -> bool:
        """Return whether there may be older ones."""
        return max(len(self.memories), len(self.events)) >= MAX_READ


@dataclass(frozen=True, slots=True)
class KeepProfiles:
    """Derives the profiles of a workspace's clients anew and writes what changed in the graph.

    With `ask`, a model is shown the memories that none was shown yet; without, or while it does not
    answer, the rules derive alone.
    """

    platform: Platform
    ask: AskOfPeople | None = None

    def __call__(
        self, workspace_id: UUID, *, seconds: float, run_id: UUID | None = None
    ) -> dict[str, int | bool]:
        """Work for about `seconds` and return counts, and `more` when there is more to do.

        Counts: `profiles` that were derived, `patterns` among them, `forgotten_profiles` whose key
        is gone, `held_profiles` that a taint holds, `waiting_profiles` of which something has no
        vector yet, which are the next run's; of a model, `profiles_asked`, the
        `ungrounded` claims that no memory says, and `useless`, `unanswered` or `over_budget`.
        `more` only after something was written: clients that cannot be worked off hold up nobody.
        """
        principal = system_principal(workspace_id)
        until = self.platform.stopwatch() + seconds
        counts: Counter[str] = Counter()
        run = _Run(use=self, principal=principal, run_id=run_id, counts=counts)
        after = ""
        while page := self._due(principal, after):
            for client in page:
                if self.platform.stopwatch() >= until:
                    return {**counts, "more": counts["profiles"] > 0}
                run.derive(client)
            after = page[-1].client_id
        return {**counts, "more": False}

    def _due(self, principal: Principal, after: str) -> Sequence[DueClient]:
        with self.platform.transactions.reading(principal) as stores:
            return stores.profiles.due(after, limit=CLIENTS_A_PAGE)


@dataclass(slots=True, kw_only=True)
class _Run:
    """One call under way; it asks no model any more that did not answer."""

    use: KeepProfiles
    principal: Principal
    run_id: UUID | None
    counts: Counter[str]
    silent: bool = False

    def derive(self, client: DueClient) -> None:
        """Derive what is known of a client, and write it."""
        by_subjects: dict[tuple[UUID, ...], list[PersonGraph]] = defaultdict(list)
        items = self._read_history(client)
        if items.waits(self.use.platform.clock()):
            self.counts["waiting_profiles"] += 1
            return
        for each in self._person_graphs(items):
            by_subjects[each.holder.data_subjects].append(each)
        for subjects, group in by_subjects.items():
            try:
                self._write(client.client_id, subjects, group)
            except SubjectForgotten:  # its rows are about to go
                self.counts["forgotten_profiles"] += 1

    def _read_history(self, client: DueClient) -> ClientHistory:
        name = client.client_id
        with self.use.platform.transactions.reading(self.principal) as stores:
            up_to = stores.ledger.head().position
            where = MemoryFilter(client_id=name, state=State.ACTIVE, namespaced=False)
            memories = stores.views.memories(where, limit=MAX_READ, after=None)
            done = stores.event_views.events(
                EventFilter(client_id=name), limit=MAX_READ, after=None
            )
            events = [each for each in done if each.state == State.ACTIVE]
            holders = stores.profiles.holders([each.id for each in (*memories, *events)])
            own = {profile_id(self.principal.workspace_id, each) for each in holders.values()}
            return ClientHistory(
                memories=memories,
                events=events,
                holders=holders,
                former=stores.profiles.profile_holders(client.profiles),
                claims=stores.profiles.claims(own),
                infers=infers(stores),
                up_to=up_to,
            )

    def _person_graphs(self, client: ClientHistory) -> Sequence[PersonGraph]:
        """Return what is wanted of each person of a client; nothing of whom nothing is left."""
        memories: dict[Holder, list[MemoryView]] = defaultdict(list)
        events: dict[Holder, list[EventView]] = defaultdict(list)
        for memory in client.memories:
            if memory.id in client.holders:
                memories[client.holders[memory.id]].append(memory)
        for event in client.events:
            if event.id in client.holders:
                events[client.holders[event.id]].append(event)
        holders = sorted(
            {*memories, *events}, key=lambda each: (each.entity_id, each.data_subjects)
        )
        goals = [self._of(client, holder, memories[holder], events[holder]) for holder in holders]
        present = {each.profile_id for each in goals}
        return [*goals, *(gone(client.former[id_], id_) for id_ in client.former.keys() - present)]

    def _of(
        self,
        client: ClientHistory,
        holder: Holder,
        memories: Sequence[MemoryView],
        events: Sequence[EventView],
    ) -> PersonGraph:
        workspace_id, now = self.principal.workspace_id, self.use.platform.clock()
        held = client.claims.get(profile_id(workspace_id, holder), NONE)
        held = held.without(held.memories - {memory.id for memory in memories})
        claims = self._claims(held, memories) if client.infers else NONE
        profile = derive(
            holder.name, memories, events, now, truncated=client.truncated, claims=claims
        )
        return wanted_of(workspace_id, holder, profile, client.up_to, claims)

    def _claims(self, held: Claims, memories: Sequence[MemoryView]) -> Claims:
        """Return what models read in the memories, asked now if some are new to them."""
        ask = self.use.ask
        if ask is None or self.silent or not ask.may(self.principal.workspace_id):
            return held
        stated = [memory for memory in shown(memories) if kind_of(memory) is not None]
        stated = stated[:MEMORIES_AT_ONCE]
        newest = max((memory.position for memory in stated), default=0)
        if newest <= held.up_to or len(stated) < LEAST_MEMORIES:
            return held
        self.counts["profiles_asked"] += 1
        try:
            read, dropped = ask(self.principal.workspace_id, stated, self.run_id)
        except BudgetExceeded:
            self.counts["over_budget"] += 1
            self.silent = True
            return held
        except (Unavailable, ValidationFailed) as failure:
            if isinstance(failure, Unavailable) and failure.reason not in (REFUSED, WRONG_SHAPE):
                self.counts["unanswered"] += 1
                self.silent = True
                return held
            self.counts["useless"] += 1
            return replace(held, up_to=newest)
        self.counts["ungrounded"] += dropped
        return held.without(memory.id for memory in stated).and_also(read)

    def _write(
        self, client_id: str, subjects: tuple[UUID, ...], group: Sequence[PersonGraph]
    ) -> None:
        platform, workspace_id = self.use.platform, self.principal.workspace_id
        owners = key_subjects(workspace_id, subjects)
        keys = platform.keys.get_or_create(workspace_id, owners)
        with open_write(
            platform, self.principal, actor=SYSTEM, keys=keys, data_subjects=subjects
        ) as write:
            if subjects and write.stores.subjects.forgotten(subjects):
                self.counts["forgotten_profiles"] += 1
                return
            new = [id_ for each in group for id_ in _note(write, client_id, each, self.counts)]
            write.append()
            write.wake_embed(new)


def _note(write: Write, client_id: str, goal: PersonGraph, counts: Counter[str]) -> Sequence[UUID]:
    """Plan the entry of one profile, over what stands at this moment; return its new nodes."""
    held, nodes = _standing(write, goal)
    new = [part.id for part in goal.parts if part.id not in nodes or not nodes[part.id].is_present]
    goal = without(goal, write.stores.profiles.taken_out(new)) if new else goal
    change = change_of(goal, held, nodes)
    if change is None:
        counts["held_profiles"] += 1
        return ()
    if change.is_empty:
        return ()
    meta = {
        "profile_id": str(goal.profile_id),
        "scope": goal.holder.scope,
        "dropped": [str(id_) for id_ in change.dropped],
    }
    write.note(DERIVED, meta, change.body(goal.holder, goal.profile_id, client_id))
    counts["profiles"] += 1
    counts["patterns"] += max(0, len(change.parts) - 1)
    return [part.id for part in change.parts if part.id not in change.standing]


def _standing(
    write: Write, goal: PersonGraph
) -> tuple[Sequence[HeldEdge], Mapping[UUID, StoredNode]]:
    """Return the edges that are held now, and the nodes of all that is wanted or held."""
    ends = {end for place in goal.edges for end in (place.source_id, place.target_id)}
    sources = {goal.holder.entity_id, goal.profile_id, *ends}
    held = write.stores.profiles.held(sources, RELATIONS)
    ids = {*sources, *(end for each in held for end in (each.source_id, each.target_id))}
    return held, write.stores.graph_nodes.find(ids)
