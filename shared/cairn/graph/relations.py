"""The relations a caller may state: their categories, their views, and reading one from a text.

Pure. Relations that Cairn alone writes (order, nesting, likeness, predecessors) are not among them.
"""

import difflib
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from cairn.graph.edge import Relation, View
from cairn.kernel.errors import FieldError, ValidationFailed


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

SYMMETRIC = frozenset({_R.CO_OCCURRENCE, _R.SAME_OWNER, _R.COMPETITOR_OF})
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
    known = " or ".join(near) if near else f"one of {', '.join(sorted(STATEABLE))}"
    what = "is kept by Cairn itself" if name in set(Relation) else "is no relation"
    message = f"{what}; did you mean {known}?" if near else f"{what}; a relation is {known}"
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
