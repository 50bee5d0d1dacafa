"""Typed, weighted edges between nodes, keyed by (view, relation). Not traversal."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID


class View(StrEnum):
    """The orthogonal views of the graph; the same relation in two views is two edges."""

    TEMPORAL = "temporal"  # what came after what
    CAUSAL = "causal"  # what came of what
    SEMANTIC = "semantic"  # what is like what
    ENTITY = "entity"  # who and what is mentioned, and how those relate
    HIERARCHICAL = "hierarchical"  # what stands for what
    DOCUMENT = "document"  # the order and nesting of a document
    PROVENANCE = "provenance"  # what work produced what
    KNOWLEDGE = "knowledge"  # typed relations a caller states


class Relation(StrEnum):
    """Every relation an edge may carry; validated when an edge is written, a string in the table.

    The direction reads source RELATION target.
    """

    # what happened: between events, and from events to entities
    FOLLOWS = "FOLLOWS"  # temporal: event -> the one before it; document: chunk -> the one before
    CAUSED_BY = "CAUSED_BY"  # causal: event -> its cause; properties.mechanism direct or inferred
    SIMILAR_TO = "SIMILAR_TO"  # semantic, both ways, stored once; properties.score is the cosine
    REFERENCES = "REFERENCES"  # entity: node -> entity; properties.role says as what
    SUMMARIZES = "SUMMARIZES"  # hierarchical: summary -> what it stands for
    SUPERSEDES = "SUPERSEDES"  # temporal: memory -> its predecessor
    PART_OF = "PART_OF"  # document: chunk -> section -> document; message -> conversation
    PRODUCED = "PRODUCED"  # provenance: task, conversation or message -> what it made
    RAISED_DURING = "RAISED_DURING"  # provenance: task -> conversation
    DERIVED_FROM = "DERIVED_FROM"  # provenance: what was made of other nodes -> each of them
    # between entities; weight is the strength, one more each time it is observed
    CO_OCCURRENCE = "CO_OCCURRENCE"
    CONTACT_OF = "CONTACT_OF"
    SAME_OWNER = "SAME_OWNER"
    USES = "USES"  # also applicability
    WORKS_ON = "WORKS_ON"
    COMPETITOR_OF = "COMPETITOR_OF"
    # causal
    CAUSES = "CAUSES"
    TRIGGERS = "TRIGGERS"
    LEADS_TO = "LEADS_TO"
    PREVENTS = "PREVENTS"
    # solution
    SOLVES = "SOLVES"
    ADDRESSES = "ADDRESSES"
    ALTERNATIVE_TO = "ALTERNATIVE_TO"
    IMPROVES = "IMPROVES"
    # context
    OCCURS_IN = "OCCURS_IN"
    APPLIES_TO = "APPLIES_TO"
    WORKS_WITH = "WORKS_WITH"
    REQUIRES = "REQUIRES"
    # learning
    BUILDS_ON = "BUILDS_ON"
    CONTRADICTS = "CONTRADICTS"
    CONFIRMS = "CONFIRMS"
    # similarity
    VARIANT_OF = "VARIANT_OF"
    RELATED_TO = "RELATED_TO"
    # workflow
    DEPENDS_ON = "DEPENDS_ON"
    ENABLES = "ENABLES"
    BLOCKS = "BLOCKS"
    # quality
    EFFECTIVE_FOR = "EFFECTIVE_FOR"
    PREFERRED_OVER = "PREFERRED_OVER"
    DEPRECATED_BY = "DEPRECATED_BY"
    # applicability
    HAS_FACT = "HAS_FACT"
    PREFERS = "PREFERS"


class Role(StrEnum):
    """As what a node refers to an entity."""

    ABOUT = "about"  # the client a memory is about
    SOURCE = "source"  # the agent that said it
    MENTIONED = "mentioned"  # found in the text
    SUBJECT = "subject"  # of an event: who acts
    OBJECT = "object"  # of an event: what is acted on
    TOOL = "tool"  # of an event: what is used
    TARGET = "target"  # of an event: what is aimed at


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """One row of `edge`, as it is first written. Field names are the column names."""

    workspace_id: UUID
    id: UUID
    view: View
    relation: str
    source_id: UUID
    target_id: UUID
    valid_from: datetime
    recorded_at: datetime
    position: int
    weight: float = 1.0
    properties: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeClosure:
    """An edge stops holding on our clock; its history stays."""

    workspace_id: UUID
    id: UUID
    superseded_at: datetime
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeStrength:
    """An edge between two nodes grows by `amount`, and is made with it where none holds.

    Applied once a ledger position: at an edge already at or past `position` nothing is added. One
    entry names a pair at most once.
    """

    workspace_id: UUID
    id: UUID
    view: View
    relation: str
    source_id: UUID
    target_id: UUID
    amount: float
    recorded_at: datetime
    position: int
