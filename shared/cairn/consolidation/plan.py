"""What a consolidation may do, as data: the batch that is looked at, and the plan made of it.

Pure types. Not the planning (a `Planner` does that), not the checking (`checks.checked`), and not
the applying: a plan changes nothing until its operations become ledger entries.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from cairn.graph.node import KnowledgeCategory, MemoryFields
from cairn.memories.kinds import MemoryKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from decimal import Decimal
    from uuid import UUID

    from cairn.graph.edge import Relation
    from cairn.llm.budget import Budget
    from cairn.writing.audience import Audience

BATCH_SIZE = 50
"""Memories that are looked at together."""

MAX_OPERATIONS = 200
"""Operations one plan may hold after checking; the rest is refused and counted."""

SOURCE_AGENT = "consolidation-engine"
"""Who a merged fact and a contradiction event are said to come from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityName:
    """An entity by what it is called: the id follows from name, type and audience."""

    name: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchMemory(MemoryFields):
    """One memory as a planner sees it. `position` is rechecked when the plan is applied.

    `known` marks one that was consolidated before and is here because it is near to a new one: it
    may be merged, flagged and linked with a new one, and needs nothing by itself.
    """

    id: UUID
    position: int
    kind: MemoryKind
    text: str
    content_hash: str
    audience: Audience
    client_id: str
    occurred_at: datetime
    valid_from: datetime
    valid_to: datetime | None = None
    importance: int = 5
    source_agent: str | None = None
    screening: str = "clean"
    confidence: float = 1.0
    entities: tuple[EntityName, ...] = ()
    known: bool = False

    @property
    def domain(self) -> KnowledgeCategory:
        """Return its knowledge category; general without one."""
        return KnowledgeCategory(self.knowledge_category or KnowledgeCategory.GENERAL)


def domain_of(memories: Iterable[BatchMemory]) -> dict[str, Any]:
    """Return the field of what is made of memories: their one specific category, or general."""
    specific = {memory.domain for memory in memories} - {KnowledgeCategory.GENERAL}
    domain = specific.pop() if len(specific) == 1 else KnowledgeCategory.GENERAL
    return {"knowledge_category": domain.value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Memories of one workspace and client; audiences may differ, and are never mixed.

    `aliases` holds, by (scope, agents), what other names mean there.
    """

    client_id: str
    memories: tuple[BatchMemory, ...]
    aliases: Mapping[tuple[str, tuple[str, ...] | None], Mapping[str, tuple[str, str]]] = field(
        default_factory=lambda: MappingProxyType({})
    )

    def aliases_of(self, audience: Audience) -> Mapping[str, tuple[str, str]]:
        """Return what other names mean to an audience: `name_key` -> (name, type)."""
        return self.aliases.get((audience.scope, audience.agents), MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two memories of a batch whose vectors are near: `cosine` is the greatest of any windows."""

    one: UUID
    other: UUID
    cosine: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Add:
    """A new memory made of at least two of the batch: a fact of facts, a status of statuses.

    `ref` names it within the plan; its id is given when the plan is applied. Its audience, client
    and data subjects are those of its sources; it is valid from when the youngest of them is.
    """

    ref: str
    text: str
    sources: tuple[UUID, ...]
    kind: MemoryKind = MemoryKind.FACT
    key: str | None = None
    subject: str | None = None
    status_value: str | None = None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Supersede:
    """The added memory `by` replaces `sources`, which are exactly the sources it was made of."""

    by: str
    sources: tuple[UUID, ...]


class Clash(StrEnum):
    """In what two memories about the same thing differ."""

    NUMBER = "number"  # numbers, amounts, versions; units too
    DATE = "date"  # days, months, years, times of day
    NEGATION = "negation"  # one says not
    OPPOSITE = "opposite"  # words that exclude each other: enabled, disabled
    VALUE = "value"  # the same place of the same sentence holds another word or name
    MEANING = "meaning"  # a model read it so


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """Two memories contradict each other: an event of high importance says so; both stay."""

    one: UUID
    other: UUID
    clash: Clash
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Memories that belong together and are not the same: each gets the others as connections."""

    memories: tuple[UUID, ...]
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Relate:
    """A typed relationship between two entities, seen `strength` times in `memories`.

    `relation` is one of contact_of, same_owner, uses, works_on, competitor_of.
    """

    source: EntityName
    target: EntityName
    relation: Relation
    memories: tuple[UUID, ...]
    strength: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Recategorise:
    """A memory of the category general belongs to a more specific one."""

    memory: UUID
    category: KnowledgeCategory


@dataclass(frozen=True, slots=True, kw_only=True)
class AddEntity:
    """An entity that `memories` name, with its other names."""

    entity: EntityName
    memories: tuple[UUID, ...]
    aliases: tuple[str, ...] = ()


Operation = Add | Supersede | Flag | Link | Relate | Recategorise | AddEntity


class Refusal(StrEnum):
    """Why an operation of a plan was dropped. The values are counted in run reports."""

    UNKNOWN_ID = "unknown-id"  # not in the batch: another batch's, another workspace's, invented
    UNKNOWN_REF = "unknown-ref"  # names no added memory of this plan
    DUPLICATE_REF = "duplicate-ref"  # two added memories of one name
    USED_TWICE = "used-twice"  # a memory in two merges
    CYCLE = "cycle"  # what replaces is replaced by it in the end
    TOO_FEW = "too-few"  # fewer than two different memories
    AUDIENCE = "audience"  # memories of different scopes, agents or data subjects
    CLIENT = "client"  # memories of different clients
    KIND = "kind"  # not a fact or a status, or not one kind
    IDENTITY = "identity"  # different keys, subjects or status values
    VALIDITY = "validity"  # they stop being true at different times
    SOURCES = "sources"  # the merge and what it supersedes are not the same memories
    LOST = "lost"  # the merged text drops a number, unit, date, name or negation
    INVENTED = "invented"  # the merged text holds such a token that no source has
    CONTRADICTS = "contradicts"  # the sources differ in such a token; flagged instead
    CATEGORY = "category"  # not from general, or to it
    RELATION = "relation"  # not one of the five
    TEXT = "text"  # empty, too long, NUL, lone surrogates
    REPEATED = "repeated"  # the plan says this already
    TOO_MANY = "too-many"  # beyond MAX_OPERATIONS
    EXISTS = "exists"  # an active memory says this already


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What one planner proposes for one batch, and who it was.

    `cost_usd` is None when the model has no known price, 0 for rules. `undone` says in words what
    this planner leaves to another. `refused` counts what checking dropped, by reason.
    """

    operations: tuple[Operation, ...]
    provider: str
    model: str
    cost_usd: Decimal | None = None
    undone: tuple[str, ...] = ()
    refused: Mapping[Refusal, int] = field(default_factory=lambda: MappingProxyType({}))


class Planner(Protocol):
    """Proposes a plan for a batch. Its answer is a proposal: whoever applies it checks it first."""

    def plan(self, batch: Batch, neighbours: Sequence[Pair], budget: Budget | None = None) -> Plan:
        """Return the plan; `neighbours` are the near pairs of the batch, in any order.

        Raises BudgetExceeded before a call that would pass the budget, Unavailable when a model
        does not answer in a form that can be read.
        """
        ...
