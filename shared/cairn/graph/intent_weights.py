"""How much each relation is worth to each intent of a question: the published matrix, as data.

Not the classification of a question, nor the walk along the edges. The five relations of
`PUBLISHED` carry weights of their own; every other relation takes the weight of the published one
it is most like, times a factor (`LIKE`), unless an intent states it (`STATED`).
"""

import math
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from cairn.graph.edge import Relation
from cairn.kernel.errors import FieldError, ValidationFailed

MAX_WEIGHT = 10.0
UNKNOWN_WEIGHT = 1.0
"""Of a relation this deployment does not know; an old row may carry one."""


class Intent(StrEnum):
    """What a question is after; a question may be after several."""

    WHY = "why"  # causes
    WHEN = "when"  # order in time
    WHAT = "what"  # which things, and what is known of them
    RELATED = "related"  # what is like it
    GENERAL = "general"  # nothing in particular: every published relation counts the same
    WHO_IS = "who_is"  # a person, an organisation, and how they hang together
    HOW_DOES = "how_does"  # how something works or is done
    PERSONALIZE = "personalize"  # what is known of the one who asks


Row = Mapping[str, float]
"""Weights by relation."""
IntentWeights = Mapping[Intent, Row]

_COLUMNS = (
    Relation.CAUSED_BY,
    Relation.FOLLOWS,
    Relation.SIMILAR_TO,
    Relation.REFERENCES,
    Relation.SUMMARIZES,
)
PUBLISHED: IntentWeights = MappingProxyType(
    {
        intent: MappingProxyType(dict(zip(_COLUMNS, weights, strict=True)))
        for intent, weights in {
            #            CAUSED_BY FOLLOWS SIMILAR_TO REFERENCES SUMMARIZES
            Intent.WHY: (5.0, 1.0, 1.5, 2.0, 1.0),
            Intent.WHEN: (1.0, 5.0, 0.5, 1.0, 0.5),
            Intent.WHAT: (2.0, 1.0, 2.0, 5.0, 2.0),
            Intent.RELATED: (1.5, 0.5, 5.0, 2.0, 1.5),
            Intent.GENERAL: (2.0, 2.0, 2.0, 2.0, 2.0),
            Intent.WHO_IS: (1.0, 0.5, 1.0, 5.0, 2.0),
            Intent.HOW_DOES: (3.0, 2.0, 1.5, 3.0, 2.0),
            Intent.PERSONALIZE: (0.5, 0.5, 2.0, 4.0, 1.0),
        }.items()
    }
)
"""The first five rows are the published ones; the other three follow them in kind."""

LIKE: Mapping[Relation, tuple[Relation, float]] = MappingProxyType(
    {
        # versions, parts and makers
        Relation.SUPERSEDES: (Relation.FOLLOWS, 0.6),
        Relation.PART_OF: (Relation.SUMMARIZES, 1.0),
        Relation.PRODUCED: (Relation.CAUSED_BY, 0.6),
        Relation.RAISED_DURING: (Relation.CAUSED_BY, 0.6),
        Relation.DERIVED_FROM: (Relation.SUMMARIZES, 1.0),
        # between entities: observed side by side says half of what somebody stated
        Relation.CO_OCCURRENCE: (Relation.REFERENCES, 0.5),
        Relation.CONTACT_OF: (Relation.REFERENCES, 1.0),
        Relation.SAME_OWNER: (Relation.REFERENCES, 0.8),
        Relation.USES: (Relation.REFERENCES, 1.0),
        Relation.WORKS_ON: (Relation.REFERENCES, 1.0),
        Relation.COMPETITOR_OF: (Relation.REFERENCES, 0.8),
        # causal
        Relation.CAUSES: (Relation.CAUSED_BY, 1.0),
        Relation.TRIGGERS: (Relation.CAUSED_BY, 1.0),
        Relation.LEADS_TO: (Relation.CAUSED_BY, 1.0),
        Relation.PREVENTS: (Relation.CAUSED_BY, 0.8),
        # solution
        Relation.SOLVES: (Relation.CAUSED_BY, 0.8),
        Relation.ADDRESSES: (Relation.CAUSED_BY, 0.8),
        Relation.ALTERNATIVE_TO: (Relation.SIMILAR_TO, 0.8),
        Relation.IMPROVES: (Relation.CAUSED_BY, 0.6),
        # context
        Relation.OCCURS_IN: (Relation.REFERENCES, 0.8),
        Relation.APPLIES_TO: (Relation.REFERENCES, 0.8),
        Relation.WORKS_WITH: (Relation.REFERENCES, 0.8),
        Relation.REQUIRES: (Relation.REFERENCES, 0.8),
        # learning
        Relation.BUILDS_ON: (Relation.CAUSED_BY, 0.6),
        Relation.CONTRADICTS: (Relation.SIMILAR_TO, 0.8),
        Relation.CONFIRMS: (Relation.SIMILAR_TO, 0.8),
        # similarity
        Relation.VARIANT_OF: (Relation.SIMILAR_TO, 1.0),
        Relation.RELATED_TO: (Relation.SIMILAR_TO, 0.8),
        # workflow
        Relation.DEPENDS_ON: (Relation.CAUSED_BY, 0.8),
        Relation.ENABLES: (Relation.CAUSED_BY, 0.8),
        Relation.BLOCKS: (Relation.CAUSED_BY, 0.8),
        # quality
        Relation.EFFECTIVE_FOR: (Relation.REFERENCES, 0.8),
        Relation.PREFERRED_OVER: (Relation.SIMILAR_TO, 0.8),
        Relation.DEPRECATED_BY: (Relation.FOLLOWS, 0.8),
        # applicability
        Relation.HAS_FACT: (Relation.REFERENCES, 1.0),
        Relation.PREFERS: (Relation.REFERENCES, 0.8),
        # personal
        Relation.HAS_PROFILE: (Relation.REFERENCES, 1.0),
        Relation.HAS_PREFERENCE: (Relation.REFERENCES, 0.8),
        Relation.HAS_SKILL: (Relation.REFERENCES, 0.8),
        Relation.EXHIBITS_PATTERN: (Relation.REFERENCES, 0.8),
        Relation.INTERESTED_IN: (Relation.REFERENCES, 0.8),
        Relation.ABOUT: (Relation.REFERENCES, 1.0),
        Relation.ABSTRACTED_FROM: (Relation.SUMMARIZES, 1.0),
        Relation.PARENT_SKILL: (Relation.SUMMARIZES, 0.8),
        Relation.SAME_AS: (Relation.SIMILAR_TO, 1.0),
    }
)
STATED: IntentWeights = MappingProxyType(
    {
        Intent.WHEN: MappingProxyType({Relation.SUPERSEDES: 4.0}),
        Intent.WHO_IS: MappingProxyType(
            {
                Relation.HAS_PROFILE: 5.0,
                Relation.HAS_SKILL: 5.0,
                Relation.SAME_AS: 5.0,
                Relation.EXHIBITS_PATTERN: 3.0,
                Relation.HAS_PREFERENCE: 3.0,
            }
        ),
        Intent.HOW_DOES: MappingProxyType(
            {
                Relation.EXHIBITS_PATTERN: 5.0,
                Relation.ABSTRACTED_FROM: 4.0,
                Relation.HAS_SKILL: 4.0,
                Relation.USES: 4.0,
                Relation.DEPENDS_ON: 5.0,
                Relation.REQUIRES: 5.0,
                Relation.WORKS_WITH: 4.0,
                Relation.PART_OF: 3.0,
                Relation.ENABLES: 4.0,
                Relation.SOLVES: 4.0,
            }
        ),
        Intent.PERSONALIZE: MappingProxyType(
            {
                Relation.PREFERS: 5.0,
                Relation.HAS_FACT: 5.0,
                Relation.PREFERRED_OVER: 4.0,
                Relation.HAS_PROFILE: 5.0,
                Relation.HAS_PREFERENCE: 5.0,
                Relation.INTERESTED_IN: 5.0,
                Relation.EXHIBITS_PATTERN: 4.0,
                Relation.HAS_SKILL: 4.0,
            }
        ),
    }
)


def _row(intent: Intent) -> Row:
    published = PUBLISHED[intent]
    row = {relation: published[like] * factor for relation, (like, factor) in LIKE.items()}
    return MappingProxyType({**row, **published, **STATED.get(intent, {})})


INTENT_WEIGHTS: IntentWeights = MappingProxyType({intent: _row(intent) for intent in Intent})
"""Every intent's weight of every relation; what a workspace overlays."""


def weight_of(row: Row, relation: str) -> float:
    """Return an intent's weight of a relation; `UNKNOWN_WEIGHT` for one nobody knows."""
    return row.get(relation, UNKNOWN_WEIGHT)


def greatest_weight(row: Row) -> float:
    """Return the largest weight of an intent's row, at least the unknown relation's."""
    return max(UNKNOWN_WEIGHT, *row.values())


def intent_weights(
    overrides: Mapping[str, Mapping[str, float]], base: IntentWeights = INTENT_WEIGHTS
) -> IntentWeights:
    """Return `base` with a workspace's own weights laid over it.

    `overrides` maps an intent's name to weights from 0 to 10 by relation name; zero closes a
    relation to that intent. Raises ValidationFailed naming every fault: an unknown intent or
    relation, a weight that is no such number, a row that would be all zero.
    """
    errors = [
        FieldError(f"{intent}.{relation}", message)
        for intent, row in overrides.items()
        for relation, value in row.items()
        if (message := _fault(intent, relation, value))
    ]
    errors += [FieldError(name, "is not an intent") for name in overrides if name not in _INTENTS]
    if not errors:
        weights = {**base, **{Intent(i): _laid(base[Intent(i)], o) for i, o in overrides.items()}}
        errors = [
            FieldError(intent, "leaves every relation at zero")
            for intent, row in weights.items()
            if not any(row.values())
        ]
        if not errors:
            return MappingProxyType(weights)
    raise ValidationFailed(
        f"The intent weights are not valid: {errors[0].location} {errors[0].message}.",
        reason="intent-weights",
        errors=errors,
    )


def _laid(row: Row, overrides: Mapping[str, float]) -> Row:
    own = {relation: float(value) for relation, value in overrides.items()}
    return MappingProxyType({**row, **own})


def _fault(intent: str, relation: str, value: object) -> str | None:
    if intent in _INTENTS and relation not in _KNOWN:
        return "is not a relation"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "is not a number"
    if not math.isfinite(value) or not 0 <= value <= MAX_WEIGHT:
        return f"must be from 0 to {MAX_WEIGHT:g}"
    return None


_KNOWN = frozenset(Relation)
_INTENTS = frozenset(Intent)
