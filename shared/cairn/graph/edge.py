"""Typed, weighted edges between nodes, keyed by (view, relation). Not traversal."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Any
from uuid import UUID

from cairn.kernel.errors import FieldError, ValidationFailed


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
    # personal: of a person, whose entity is the source unless another is named
    HAS_PROFILE = "HAS_PROFILE"  # person -> what is held of them as a whole
    HAS_PREFERENCE = "HAS_PREFERENCE"
    HAS_SKILL = "HAS_SKILL"
    EXHIBITS_PATTERN = "EXHIBITS_PATTERN"  # person -> what they do again and again
    INTERESTED_IN = "INTERESTED_IN"
    ABOUT = "ABOUT"  # preference, skill or pattern -> what it is about
    ABSTRACTED_FROM = "ABSTRACTED_FROM"  # general pattern or skill -> the particular one
    PARENT_SKILL = "PARENT_SKILL"  # skill -> the wider one
    SAME_AS = "SAME_AS"  # between two nodes for one thing, both ways


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


class Category(StrEnum):
    """What kind of statement a relation makes."""

    CAUSAL = "causal"
    SOLUTION = "solution"
    CONTEXT = "context"
    LEARNING = "learning"
    SIMILARITY = "similarity"
    WORKFLOW = "workflow"
    QUALITY = "quality"
    APPLICABILITY = "applicability"
    PERSONAL = "personal"  # of a person: profile, preferences, skills, patterns
    ENTITY = "entity"  # between entities, with a strength
    RECORD = "record"  # of what happened, and what it was about


_R = Relation

CATEGORIES: Mapping[Category, tuple[Relation, ...]] = MappingProxyType(
    {
        Category.CAUSAL: (_R.CAUSES, _R.TRIGGERS, _R.LEADS_TO, _R.PREVENTS),
        Category.SOLUTION: (_R.SOLVES, _R.ADDRESSES, _R.ALTERNATIVE_TO, _R.IMPROVES),
        Category.CONTEXT: (_R.OCCURS_IN, _R.APPLIES_TO, _R.WORKS_WITH, _R.REQUIRES),
        Category.LEARNING: (_R.BUILDS_ON, _R.CONTRADICTS, _R.CONFIRMS),
        Category.SIMILARITY: (_R.SIMILAR_TO, _R.VARIANT_OF, _R.RELATED_TO),
        Category.WORKFLOW: (_R.FOLLOWS, _R.DEPENDS_ON, _R.ENABLES, _R.BLOCKS),
        Category.QUALITY: (_R.EFFECTIVE_FOR, _R.PREFERRED_OVER, _R.DEPRECATED_BY),
        Category.APPLICABILITY: (_R.HAS_FACT, _R.PREFERS, _R.USES),
        Category.PERSONAL: (
            _R.HAS_PROFILE,
            _R.HAS_PREFERENCE,
            _R.HAS_SKILL,
            _R.EXHIBITS_PATTERN,
            _R.INTERESTED_IN,
            _R.ABOUT,
            _R.ABSTRACTED_FROM,
            _R.PARENT_SKILL,
            _R.SAME_AS,
        ),
        Category.ENTITY: (
            _R.CONTACT_OF,
            _R.SAME_OWNER,
            _R.USES,
            _R.WORKS_ON,
            _R.COMPETITOR_OF,
            _R.CO_OCCURRENCE,
        ),
        Category.RECORD: (
            _R.CAUSED_BY,
            _R.REFERENCES,
            _R.SUMMARIZES,
            _R.PRODUCED,
            _R.RAISED_DURING,
        ),
    }
)
"""Every relation a caller may state, by category; USES is of two."""

STATEABLE = frozenset(relation for relations in CATEGORIES.values() for relation in relations)

BETWEEN_ENTITIES = frozenset(CATEGORIES[Category.ENTITY])
"""Between two entities these have a strength: one more each time they are stated or seen."""

SYMMETRIC = frozenset({_R.CO_OCCURRENCE, _R.SAME_OWNER, _R.COMPETITOR_OF, _R.SAME_AS})
"""These hold both ways and are stored once, from the lower id to the higher."""

_RECORD_VIEWS: Mapping[Relation, View] = MappingProxyType(
    {
        _R.CAUSED_BY: View.CAUSAL,
        _R.REFERENCES: View.ENTITY,
        _R.SUMMARIZES: View.HIERARCHICAL,
        _R.PRODUCED: View.PROVENANCE,
        _R.RAISED_DURING: View.PROVENANCE,
    }
)
_NEAREST = 3


def parse_relation(value: str, *, field: str = "relation") -> Relation:
    """Return the relation a text names, in any case, with spaces or hyphens for underscores.

    Raises ValidationFailed naming `field` and the nearest relations for any other text.
    """
    name = "_".join(value[:100].replace("-", " ").replace("_", " ").upper().split())
    if name in STATEABLE:
        return Relation(name)
    near = difflib.get_close_matches(name, sorted(STATEABLE), n=_NEAREST, cutoff=0.5)
    choices = " or ".join(near) if near else f"one of {', '.join(sorted(STATEABLE))}"
    what = "is kept by Cairn itself" if name in set(Relation) else "is no relation"
    message = f"{what}; did you mean {choices}?" if near else f"{what}; a relation is {choices}"
    raise ValidationFailed(
        f"{field} {message}", reason="unknown-relation", errors=[FieldError(field, message)]
    )


def default_view(relation: Relation, *, between_entities: bool = False) -> View:
    """Return the view a stated relation belongs to.

    What callers state about the world is in the view of knowledge, also when Cairn has a relation
    of the same name in another view (FOLLOWS, SIMILAR_TO). Relations of entities are in the view
    of entities; USES only when both ends are entities.
    """
    if relation in _RECORD_VIEWS:
        return _RECORD_VIEWS[relation]
    if relation in BETWEEN_ENTITIES and (between_entities or relation is not Relation.USES):
        return View.ENTITY
    return View.KNOWLEDGE
