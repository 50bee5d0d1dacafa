"""The relations a caller may state: their categories, their views, and reading one from a text."""

import pytest

from cairn.graph.edge import (
    CATEGORIES,
    STATEABLE,
    Category,
    Relation,
    View,
    default_view,
    parse_relation,
)
from cairn.kernel.errors import ValidationFailed


@pytest.mark.parametrize(
    ("category", "relations"),
    [
        ("causal", "CAUSES TRIGGERS LEADS_TO PREVENTS"),
        ("solution", "SOLVES ADDRESSES ALTERNATIVE_TO IMPROVES"),
        ("context", "OCCURS_IN APPLIES_TO WORKS_WITH REQUIRES"),
        ("learning", "BUILDS_ON CONTRADICTS CONFIRMS"),
        ("similarity", "SIMILAR_TO VARIANT_OF RELATED_TO"),
        ("workflow", "FOLLOWS DEPENDS_ON ENABLES BLOCKS"),
        ("quality", "EFFECTIVE_FOR PREFERRED_OVER DEPRECATED_BY"),
        ("applicability", "HAS_FACT PREFERS USES"),
        (
            "personal",
            "HAS_PROFILE HAS_PREFERENCE HAS_SKILL EXHIBITS_PATTERN INTERESTED_IN ABOUT"
            " ABSTRACTED_FROM PARENT_SKILL SAME_AS",
        ),
        ("entity", "CONTACT_OF SAME_OWNER USES WORKS_ON COMPETITOR_OF CO_OCCURRENCE"),
    ],
)
def test_each_category_has_its_relations(category: str, relations: str) -> None:
    assert list(CATEGORIES[Category(category)]) == relations.split()


def test_order_nesting_and_predecessors_are_not_for_callers() -> None:
    assert set(Relation) - STATEABLE == {
        Relation.SUPERSEDES,
        Relation.PART_OF,
        Relation.DERIVED_FROM,
    }


@pytest.mark.parametrize("text", ["depends_on", "DEPENDS_ON", "Depends On", "depends-on"])
def test_a_relation_is_read_in_any_case(text: str) -> None:
    assert parse_relation(text) is Relation.DEPENDS_ON


def test_an_unknown_relation_names_the_nearest() -> None:
    with pytest.raises(ValidationFailed, match="DEPENDS_ON") as refused:
        parse_relation("depend_on", field="edges.0.relation")
    assert refused.value.reason == "unknown-relation"
    assert refused.value.errors[0].location == "edges.0.relation"


@pytest.mark.parametrize(
    "text", ["", "x" * 100_000, "'; DROP TABLE edge; --", "\U0001f680", "supersedes"]
)
def test_what_is_no_relation_is_refused(text: str) -> None:
    with pytest.raises(ValidationFailed):
        parse_relation(text)


@pytest.mark.parametrize(
    ("relation", "between_entities", "view"),
    [
        ("SOLVES", False, View.KNOWLEDGE),
        ("FOLLOWS", False, View.KNOWLEDGE),
        ("SIMILAR_TO", True, View.KNOWLEDGE),
        ("USES", False, View.KNOWLEDGE),
        ("USES", True, View.ENTITY),
        ("WORKS_ON", False, View.ENTITY),
        ("CO_OCCURRENCE", True, View.ENTITY),
        ("CAUSED_BY", False, View.CAUSAL),
        ("REFERENCES", False, View.ENTITY),
        ("SUMMARIZES", False, View.HIERARCHICAL),
        ("PRODUCED", False, View.PROVENANCE),
    ],
)
def test_a_stated_relation_has_its_view(relation: str, between_entities: bool, view: View) -> None:
    assert default_view(Relation(relation), between_entities=between_entities) is view
