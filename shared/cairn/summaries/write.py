"""Bring a workspace's summaries up to what happened: episodes, then sessions, then agents.

Nothing is remembered between two calls: what a summary was made of stands in it, so that one whose
sources are the same is left alone, and a call that was killed is gone on with by the next. A few
hundred sources are held at a time. Texts are made while nobody waits for the ledger; what they were
made of is looked at again under its lock (`summary_writing`). Not the texts (`summary_texts`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from uuid import UUID

from cairn.graph.node import State
from cairn.kernel.access.system import system_principal
from cairn.summaries.append import SUMMARIES_A_WRITE, Bundle, Pile
from cairn.summaries.descriptions import Descriptions
from cairn.summaries.entries import (
    Draft,
    as_source,
    covering,
    episode_id,
    group_id,
    made_of,
)
from cairn.summaries.ports import GroupState, Scope, TextRequest, episodes
from cairn.summaries.truths import Truths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Stopwatch
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.summaries.append import SummaryWriting
    from cairn.summaries.descriptions import Describe
    from cairn.summaries.ports import Condense, Group, Source, StoredSummary

GROUPS_A_PAGE = 100
SOURCES_A_PAGE = 500
EPISODES_A_WRITE = 10
ORPHANS_A_WRITE = 100

LEAST_SOURCES = 3
"""What has fewer says by itself what a summary would."""

LEAST_CHILDREN = 2
"""Summaries an agent's is made of at the least."""

MOST_CHILDREN = 300
"""Summaries that one is made of at the most: the newest."""


Groups: TypeAlias = "Callable[[Stores, str], Sequence[GroupState]]"
"""A page of groups behind a name: of sessions, traces or agents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummariseWorkspace:
    """Writes what is missing, refreshes what changed, drops what has no source left."""

    transactions: Transactions[Stores]
    writing: SummaryWriting
    condense: Condense
    stopwatch: Stopwatch
    describe: Describe | None = None
    summaries_a_write: int = SUMMARIES_A_WRITE

    def __call__(
        self, workspace_id: UUID, *, seconds: float, run_id: UUID | None = None
    ) -> dict[str, int | bool]:
        """Work for about `seconds` and return counts, and `more` when there is more to do.

        Counts: `episodes`, `sessions`, `agents` and `truths` written, `dropped`, `unchanged`
        groups, `refused` texts of a model, `forgotten` groups whose key is gone, and `changed`
        summaries whose sources changed while they were written: the next call takes those. With
        `describe` also those of `descriptions`. Raises Unavailable when the stores cannot be
        reached.
        """
        principal = system_principal(workspace_id)
        counts: Counter[str] = Counter(dict.fromkeys(COUNTED, 0))
        pile = Pile(
            writing=self.writing,
            principal=principal,
            counts=counts,
            stopwatch=self.stopwatch,
            size=self.summaries_a_write,
        )
        run = _Run(
            use=self,
            workspace_id=workspace_id,
            run_id=run_id,
            principal=principal,
            until=self.stopwatch() + seconds,
            counts=counts,
            pile=pile,
        )
        done = run.all()
        return {**run.counts, "more": not done}


class _Cut(NamedTuple):
    """The episodes of a group: the ids of all, and those that are not written yet."""

    seen: set[UUID]
    made: list[Draft]


class _Page(NamedTuple):
    """Some groups, and those of them that are due."""

    groups: Sequence[GroupState]
    due: Sequence[GroupState]


def _says(top: StoredSummary, state: GroupState) -> bool:
    """Return whether a summary is of what its group is now."""
    return top.state != State.DELETED and top.covers == covering(state.fingerprint)


def _top(workspace_id: UUID, group: Group) -> UUID:
    return group_id(workspace_id, group, Scope.AGENT if group.agent else Scope.SESSION)


DONE = (
    "episodes", "sessions", "agents", "truths", "documents", "sections", "left", "dropped",
    "changed", "forgotten",
)  # fmt: skip
COUNTED = (*DONE, "unchanged", "refused", "unanswered", "over_budget")


@dataclass(slots=True, kw_only=True)
class _Run:
    """One call under way. Its steps return False when time ran out before they were done."""

    use: SummariseWorkspace
    workspace_id: UUID
    run_id: UUID | None
    principal: Principal
    until: float
    counts: Counter[str]
    pile: Pile

    def all(self) -> bool:
        """Do the levels one after the other: each is made of the one below."""
        truths = Truths(
            transactions=self.use.transactions,
            writing=self.use.writing,
            condense=self.use.condense,
        )
        steps: tuple[Callable[[], bool], ...] = (
            lambda: self._pages(_sessions, self._session),
            lambda: self._pages(_traces, self._trace),
            lambda: self._orphans(Scope.EPISODE),
            lambda: self._orphans(Scope.SESSION),
            lambda: self._pages(_agents, self._agent),
            lambda: self._orphans(Scope.AGENT),
            lambda: truths.refresh(self.principal, self.run_id, self.counts, self._in_time),
            self._documents,
        )
        return all(step() for step in steps)

    def _documents(self) -> bool:
        if self.use.describe is None:
            return True
        described = Descriptions(
            transactions=self.use.transactions,
            writing=self.use.writing,
            describe=self.use.describe,
        )
        return described.refresh(self.principal, self.run_id, self.counts, self._in_time)

    def _in_time(self) -> bool:
        """Return whether to go on: until something is done at the least, so that calls get on."""
        done = any(self.counts[name] for name in DONE)
        return not done or self.use.stopwatch() < self.until

    def _pages(self, of: Groups, each: Callable[[GroupState], bool]) -> bool:
        """Go through the groups of all sessions, traces or agents, and write what is made."""
        done = self._each(of, each)
        self.pile.flush()
        return done

    def _each(self, of: Groups, each: Callable[[GroupState], bool]) -> bool:
        after = ""
        while True:
            page = self._due(of, after)
            if not page.groups:
                return True
            for state in page.due:
                if not self._in_time() or not each(state):
                    return False
            last = page.groups[-1].group
            after = last.agent or last.session_id or last.trace_id or ""

    def _due(self, of: Groups, after: str) -> _Page:
        """Return a page of groups, and which of them changed since they were summed up."""
        with self.use.transactions.reading(self.principal) as stores:
            groups = of(stores, after)
            ids = {_top(self.workspace_id, group.group) for group in groups}
            stored = stores.summaries.stored(ids)
            session_ids = {
                group.group.session_id for group in groups if group.group.session_id is not None
            }
            summed = stores.summaries.summed_up(session_ids)
        due: list[GroupState] = []
        for state in groups:
            top = stored.get(_top(self.workspace_id, state.group))
            small = state.sources < LEAST_SOURCES and state.group.session_id is not None
            if small and state.group.session_id not in summed:
                continue
            if top is not None and _says(top, state):
                self.counts["unchanged"] += 1
            else:
                due.append(state)
        return _Page(groups, due)

    def _session(self, state: GroupState) -> bool:
        group, covers = state.group, covering(state.fingerprint)
        top = group_id(self.workspace_id, group, Scope.SESSION)
        stored = self._stored(group)
        if state.sources < LEAST_SOURCES:
            self._write(group, (), [item.id for item in stored])
            return True
        stored_episodes = {item.id: item.made_of for item in stored if item.kind == Scope.EPISODE}
        cut = self._episodes(group, stored_episodes, "", "")
        if cut is None:
            return False
        gone = sorted(stored_episodes.keys() - cut.seen)
        children, drafts = self._below(group, cut, len(gone)), list(cut.made)
        if children:
            drafts.append(self._draft(top, Scope.SESSION, group, children, covers))
        self._write(group, drafts, gone)
        return True

    def _below(self, group: Group, cut: _Cut, gone: int) -> tuple[Source, ...]:
        """Return the newest episodes of a session: those that stand, and those about to be written.

        `gone` are about to be dropped.
        """
        fresh = [as_source(draft) for draft in cut.made]
        unchanged = cut.seen - {item.id for item in fresh}
        stand = self._children(group, MOST_CHILDREN + gone) if unchanged else ()
        sources = [*(item for item in stand if item.id in unchanged), *fresh]
        return tuple(sorted(sources, key=lambda item: (item.occurred_at, item.id))[-MOST_CHILDREN:])

    def _trace(self, state: GroupState) -> bool:
        """Events of a trace outside any session: its episodes keep what the whole trace was."""
        group, covers = state.group, covering(state.fingerprint)
        stored = self._stored(group)
        if state.sources < LEAST_SOURCES:
            self._write(group, (), [item.id for item in stored])
            return True
        if stored and all(item.covers == covers for item in stored):
            self.counts["unchanged"] += 1
            return True
        some = f"{covers}+"
        stored_episodes = {
            item.id: item.made_of for item in stored if item.covers in (covers, some)
        }
        cut = self._episodes(group, stored_episodes, covers, some)
        if cut is None:
            return False
        self._write(group, cut.made, sorted({item.id for item in stored} - cut.seen))
        return True

    def _agent(self, state: GroupState) -> bool:
        group, covers = state.group, covering(state.fingerprint)
        top = group_id(self.workspace_id, group, Scope.AGENT)
        with self.use.transactions.reading(self.principal) as stores:
            summary = stores.summaries.stored([top]).get(top)
        if state.sources < LEAST_CHILDREN:
            self._write(group, (), [top] if summary else ())
        else:
            children = self._children(group)
            if children:
                self._write(group, [self._draft(top, Scope.AGENT, group, children, covers)], ())
        return True

    def _episodes(
        self, group: Group, stored_episodes: dict[UUID, str], covers: str, some: str
    ) -> _Cut | None:
        """Return a group's episodes: those that differ from `stored_episodes`, and the ids of all.

        What is more than one transaction holds is written on the way, and covers `some`. None when
        time ran out: what was made is written, and the next call goes on behind it.
        """
        seen: set[UUID] = set()
        drafts: list[Draft] = []
        cut = episodes(self._sources(group))
        while batch := list(islice(cut, EPISODES_A_WRITE)):
            if len(drafts) >= self.use.summaries_a_write:
                self._write(group, [replace(draft, covers=some) for draft in drafts], ())
                self.pile.flush()
                drafts = []
            if not self._in_time():
                self._write(group, [replace(draft, covers=some) for draft in drafts], ())
                return None
            ids = [episode_id(item) for item in batch]
            seen |= set(ids)
            drafts += [
                self._draft(id_, Scope.EPISODE, group, sources, covers)
                for id_, sources in zip(ids, batch, strict=True)
                if stored_episodes.get(id_) != made_of(sources)
            ]
        return _Cut(seen, drafts)

    def _sources(self, group: Group) -> Iterator[Source]:
        after = None
        while True:
            with self.use.transactions.reading(self.principal) as stores:
                page = stores.summaries.sources(group, after, limit=SOURCES_A_PAGE)
            yield from page
            if len(page) < SOURCES_A_PAGE:
                return
            after = page[-1].place

    def _stored(self, group: Group) -> Sequence[StoredSummary]:
        with self.use.transactions.reading(self.principal) as stores:
            return stores.summaries.of_group(group)

    def _children(self, group: Group, limit: int = MOST_CHILDREN) -> tuple[Source, ...]:
        with self.use.transactions.reading(self.principal) as stores:
            return tuple(stores.summaries.children(group, limit=limit))

    def _draft(
        self, id_: UUID, scope: Scope, group: Group, sources: tuple[Source, ...], covers: str
    ) -> Draft:
        request = TextRequest(
            scope=scope.value,
            texts=tuple(source.text for source in sources),
            workspace_id=self.workspace_id,
            run_id=self.run_id,
        )
        condensed = self.use.condense(request)
        self.counts["refused"] += condensed.refused is not None
        return Draft(
            id=id_, scope=scope, group=group, sources=sources, covers=covers, condensed=condensed
        )

    def _write(self, group: Group, drafts: Sequence[Draft], dropped: Sequence[UUID]) -> None:
        if drafts or dropped:
            self.pile.add(Bundle(group=group, drafts=drafts, dropped=dropped))

    def _orphans(self, scope: Scope) -> bool:
        """Drop the summaries of one level that nothing is left of."""
        after = UUID(int=0)
        while True:
            with self.use.transactions.reading(self.principal) as stores:
                orphans = stores.summaries.orphans(scope.value, after, limit=ORPHANS_A_WRITE)
            if not orphans:
                return True
            self.use.writing.orphans(self.principal, orphans, self.counts)
            after = orphans[-1]


def _sessions(stores: Stores, after: str) -> Sequence[GroupState]:
    return stores.summaries.sessions(after, limit=GROUPS_A_PAGE)


def _traces(stores: Stores, after: str) -> Sequence[GroupState]:
    return stores.summaries.traces(after, limit=GROUPS_A_PAGE)


def _agents(stores: Stores, after: str) -> Sequence[GroupState]:
    return stores.summaries.agents(after, limit=GROUPS_A_PAGE)
