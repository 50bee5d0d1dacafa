"""The planner without a model: merges, contradictions, links, categories, relationships by rules.

It does what rules can be sure of and says what it leaves undone. The same batch gives the same
plan, in whatever order its memories and pairs come.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from cairn.consolidation.contradictions import Clause, clash, clauses
from cairn.consolidation.merge_checks import (
    MIN_COSINE,
    Reading,
    clusters,
    merged,
    names_of,
    same_audience,
)
from cairn.consolidation.plan import Batch, BatchMemory, Flag, Link, Operation, Plan, Recategorise
from cairn.consolidation.relationships import other_names, relationships
from cairn.consolidation.tokens import ORDINARY_WORDS
from cairn.consolidation.wording import canonical, wording
from cairn.graph.node import KnowledgeCategory
from cairn.graph.prose import TIME_WORDS
from cairn.kernel.text.stems import stem
from cairn.kernel.text.words import QUESTION_WORDS, words
from cairn.memories.kinds import MemoryKind

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from uuid import UUID

    from cairn.consolidation.plan import Pair
    from cairn.llm.budget import Budget


MIN_WORDS = 2
"""Different words of a category a text must hold, and more than of any other."""

_BRAND = """
    brand branding logo logos colour color palette font typeface typography tone voice guideline
    guidelines slogan tagline wording identity visual style mascot
"""
_STRATEGY = """
    strategy strategic roadmap plan plans positioning campaign campaigns competitor competitors
    competitive market segment audience goal goals target targets quarter growth pricing budget
    launch expansion forecast kpi okr
"""
_MEETING = """
    meeting meetings call calls agenda minutes agreed discussed attendees attendee follow-up
    action items workshop standup retro retrospective kickoff réunion
"""
_CONTENT = """
    blog post posts article articles newsletter headline caption captions copy draft published
    publish editorial video videos podcast page pages subscribers views impressions clicks webinar
    ebook press
"""
_TECHNICAL = """
    server servers database databases api deploy deploys deployment deployments hosting hosted cms
    dns ssl tls certificate backup backups bug bugs cache cron endpoint latency kubernetes docker
    linux postgres postgresql mysql redis nginx python javascript typescript php wordpress seo
    sitemap code repository branch build builds pipeline ci queue timeout firewall vpn login logs
    log error errors http https query index schema cluster firmware release version token host
"""
_RELATIONSHIP = """
    contact contacts prefers preference preferences likes dislikes email phone manager boss
    colleague assistant spouse wife husband daughter son birthday lives moved allergic vegetarian
    speaks language owner friend partner relationship introduced reachable
"""

_WORDS: Mapping[KnowledgeCategory, frozenset[str]] = {
    category: frozenset(stem(word) for word in listed.split())
    for category, listed in (
        (KnowledgeCategory.BRAND, _BRAND),
        (KnowledgeCategory.STRATEGY, _STRATEGY),
        (KnowledgeCategory.MEETING, _MEETING),
        (KnowledgeCategory.CONTENT, _CONTENT),
        (KnowledgeCategory.TECHNICAL, _TECHNICAL),
        (KnowledgeCategory.RELATIONSHIP, _RELATIONSHIP),
    )
}


def category_of(text: str) -> KnowledgeCategory:
    """Return the category with the most different words in the text; general on a tie or below."""
    stems = {stem(word) for word in words(text)}
    counts = {category: len(stems & listed) for category, listed in _WORDS.items()}
    most = max(counts.values())
    best = [category for category, count in counts.items() if count == most]
    return best[0] if most >= MIN_WORDS and len(best) == 1 else KnowledgeCategory.GENERAL


PROVIDER = "heuristic"
MODEL = "rules-1"

CONTRADICTION_COSINE = 0.72
"""Statements about one thing are at least so near (bge-small); unrelated ones lie about 0.57."""

LINK_COSINE = 0.80
"""From here on memories that are not the same are linked, when they also share words."""

MAX_LINKS = 3
"""Links a memory takes, the nearest first."""

_SHARED_WORDS = 2

RARE_SHARE, RARE_FLOOR = 0.03, 8
"""A word is rare that stands in at most this share of a batch's memories, or in so many of them."""

_NAMED_IN_LINK = 4

_EVERYDAY = frozenset(stem(word) for word in ORDINARY_WORDS | TIME_WORDS | QUESTION_WORDS)

Cosines = dict[frozenset["UUID"], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeuristicPlanner:
    """Implements `Planner` by rules; it costs nothing and needs no budget."""

    def plan(self, batch: Batch, neighbours: Sequence[Pair], budget: Budget | None = None) -> Plan:
        """Return the plan. Never raises for what a memory says."""
        planning = _Planning.of(batch, neighbours)
        planning.contradictions()
        planning.merges()
        planning.links()
        planning.entities()
        planning.categories()
        return Plan(
            operations=tuple(planning.operations),
            provider=PROVIDER,
            model=MODEL,
            cost_usd=Decimal(0),
            undone=planning.undone(),
        )


@dataclass(slots=True, kw_only=True)
class _Planning:
    """One batch on its way to a plan; memories in the order of their ids."""

    batch: Batch
    readings: dict[UUID, Reading]
    clauses: dict[UUID, tuple[Clause, ...]]
    cosines: Cosines
    operations: list[Operation] = field(default_factory=list[Operation])
    flagged: set[frozenset[UUID]] = field(default_factory=set[frozenset["UUID"]])
    replaced: dict[UUID, int] = field(default_factory=dict["UUID", int])

    @classmethod
    def of(cls, batch: Batch, neighbours: Sequence[Pair]) -> _Planning:
        """Read the memories, and keep the pairs of one audience and client within the batch."""
        ordered = sorted(batch.memories, key=lambda memory: memory.id)
        names = {item.id: names_of(batch, [item]) for item in ordered}
        readings = {
            item.id: Reading(memory=item, wording=wording(item.text, names[item.id]))
            for item in ordered
        }
        cosines: Cosines = {}
        for pair in neighbours:
            ends = frozenset((pair.one, pair.other))
            if len(ends) == 2 and ends <= readings.keys() and _together(readings, ends):
                cosines[ends] = max(pair.cosine, cosines.get(ends, -1.0))
        clauses_by_id = {item.id: clauses(item.text, names[item.id]) for item in ordered}
        return cls(batch=batch, readings=readings, clauses=clauses_by_id, cosines=cosines)

    def contradictions(self) -> None:
        """Flag near pairs of which one place excludes its counterpart."""
        for pair in sorted(self.cosines, key=sorted):
            memory, other = (self.readings[id_].memory for id_ in sorted(pair))
            if self.cosines[pair] < CONTRADICTION_COSINE or not _may_clash(memory, other):
                continue
            mine, its = self.clauses[memory.id], self.clauses[other.id]
            clash_found = clash(mine, its) or clash(its, mine)
            if clash_found:
                flag = Flag(one=memory.id, other=other.id, clash=clash_found[0], why=clash_found[1])
                self.operations.append(flag)
                self.flagged.add(pair)

    def merges(self) -> None:
        """Merge what says the same, unless some of it contradicts the rest."""
        for at, ids in enumerate(clusters(self.readings, self.cosines)):
            if any(pair <= set(ids) for pair in self.flagged):
                continue
            add = merged([self.readings[id_] for id_ in ids], f"merge-{at + 1}")
            if add is not None:
                self.operations += add
                self.replaced.update(dict.fromkeys(ids, at))

    def links(self) -> None:
        """Link near memories that share rare words and are neither merged nor flagged."""
        taken: Counter[UUID] = Counter()
        rare = _rare_words(self.readings.values())
        for pair in sorted(self.cosines, key=lambda pair: (-self.cosines[pair], sorted(pair))):
            if self.cosines[pair] < LINK_COSINE or pair in self.flagged or self._merged(pair):
                continue
            reading, other = (self.readings[id_] for id_ in sorted(pair))
            shared = _shared(reading, other, rare)
            full = any(taken[id_] >= MAX_LINKS for id_ in pair)
            if full or len(shared) < _SHARED_WORDS or (reading.memory.known and other.memory.known):
                continue
            taken.update(pair)
            words_text = ", ".join(shared[:_NAMED_IN_LINK])
            self.operations.append(
                Link(memories=tuple(sorted(pair)), description=f"Both speak of {words_text}.")
            )

    def entities(self) -> None:
        """Take other names and relationships from what memories of one audience state."""
        groups: defaultdict[object, list[BatchMemory]] = defaultdict(list)
        for reading in self.readings.values():
            if not reading.memory.known:
                groups[_readers(reading.memory)].append(reading.memory)
        for group in groups.values():
            aliases = self.batch.aliases_of(group[0].audience)
            self.operations += other_names(group, aliases)
            self.operations += relationships(group, aliases)

    def categories(self) -> None:
        """Move what is general to the category its words point to."""
        general = KnowledgeCategory.GENERAL
        for reading in self.readings.values():
            memory = reading.memory
            if memory.known or memory.domain is not general:
                continue
            category = category_of(memory.text)
            if category is not general:
                self.operations.append(Recategorise(memory=memory.id, category=category))

    def undone(self) -> tuple[str, ...]:
        """Return what a model would have looked at."""
        alike = sum(
            cosine >= MIN_COSINE and pair not in self.flagged and not self._merged(pair)
            for pair, cosine in self.cosines.items()
        )
        moved = sum(isinstance(operation, Recategorise) for operation in self.operations)
        general = sum(
            reading.memory.domain is KnowledgeCategory.GENERAL and not reading.memory.known
            for reading in self.readings.values()
        )
        reasons = [
            f"{alike} near pairs were not merged: rules cannot say whether they mean the same."
            if alike
            else "",
            f"{general - moved} memories stay general." if general > moved else "",
            "Contradictions were sought in sentences built alike only.",
            "Relationships and other names were taken from plain sentences only.",
        ]
        return tuple(item for item in reasons if item)

    def _merged(self, pair: frozenset[UUID]) -> bool:
        id_, other = sorted(pair)
        return id_ in self.replaced and self.replaced[id_] == self.replaced.get(other)


def _together(readings: Mapping[UUID, Reading], ends: frozenset[UUID]) -> bool:
    memory, other = (readings[id_].memory for id_ in ends)
    return memory.client_id == other.client_id and same_audience(memory.audience, other.audience)


def _may_clash(memory: BatchMemory, other: BatchMemory) -> bool:
    """Return whether two memories claim to hold at one time: events happened, and stay so."""
    if MemoryKind.EVENT in (memory.kind, other.kind) or (memory.known and other.known):
        return False
    return not any(
        a.valid_to is not None and a.valid_to <= b.valid_from
        for a, b in ((memory, other), (other, memory))
    )


def _rare_words(readings: Collection[Reading]) -> frozenset[str]:
    """Return the words and names that say what a memory is of: those that few others have.

    Who speaks, and what everybody says, connects nothing.
    """
    memories = Counter(
        word
        for reading in readings
        for word in reading.wording.content | reading.wording.tokens.names
        if word not in _EVERYDAY
    )
    most = max(RARE_FLOOR, RARE_SHARE * len(readings))
    return frozenset(word for word, count in memories.items() if count <= most)


def _shared(reading: Reading, other: Reading, rare: frozenset[str]) -> list[str]:
    """Return the rare words of both, as the first has them: names, then longer ones first."""
    names = reading.wording.tokens.names & other.wording.tokens.names & rare
    content = (reading.wording.content & other.wording.content & rare) - names
    shared = [*sorted(names), *sorted(content, key=lambda word: (-len(word), word))]
    written = {
        canonical(word): word for sentence in reading.wording.sentences for word in sentence.words
    }
    return [written.get(canonical(word), word) for word in shared]


def _readers(memory: BatchMemory) -> object:
    audience = memory.audience
    agents = None if audience.agents is None else frozenset(audience.agents)
    return (audience.scope, agents, frozenset(audience.data_subjects))
