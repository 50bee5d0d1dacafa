"""Taking questions apart by rules: facets, and the sets that questions ask about."""

from time import perf_counter

import pytest

from cairn.recall.query import MAX_QUERY_CHARS
from cairn.recall.questions.facets import (
    MAX_FACETS,
    WHOLE,
    Order,
    Rule,
    SetRule,
    decompose,
    wanted_set,
)


@pytest.mark.parametrize(
    ("question", "rule", "terms"),
    [
        ("Who has the larger terrace, Anna or Ben?", Rule.ITEMS, ["anna", "ben"]),
        ("What did both Anna and Ben Carter plant?", Rule.ITEMS, ["anna", "ben carter"]),
        ("Did Anna, Ben and Carla like Porto?", Rule.ITEMS, ["anna", "ben", "carla"]),
        ("What is known of the boiler and the roof?", Rule.ITEMS, ["boiler", "roof"]),
        ("Compare the boiler with the heat pump", Rule.ITEMS, ["boiler", "heat pump"]),
        ("What is the difference between Render and Heroku?", Rule.ITEMS, ["render", "heroku"]),
        ("Postgres vs SQLite for the archive", Rule.ITEMS, ["postgres", "sqlite"]),
        ("Where is the key of the cellar? Who repaired the roof?", Rule.QUESTIONS, None),
        ("Who repaired the roof and what did the boiler cost?", Rule.CLAUSES, None),
        ("Where did Anna go and what did she buy?", Rule.CLAUSES, ["buy"]),
        ("What did Anna paint after the fair?", Rule.SEQUENCE, ["fair", "anna paint"]),
        ("After the fair, what did Anna paint?", Rule.SEQUENCE, ["fair", "anna paint"]),
    ],
)
def test_a_question_of_several_parts_is_taken_apart(
    question: str, rule: Rule, terms: list[str] | None
) -> None:
    parts = decompose(question)
    assert parts.rule is rule
    if terms is not None:
        assert [" ".join(facet.terms) for facet in parts.facets] == terms


def test_a_facet_is_a_question_of_its_own() -> None:
    parts = decompose("Who has the larger terrace, Anna or Ben?")
    assert [facet.question for facet in parts.facets] == [
        "Who has the larger terrace, Anna?",
        "Who has the larger terrace, Ben?",
    ]
    assert all(facet.matter == ("larger", "terrace") for facet in parts.facets)
    pronoun = decompose("Where did Anna go and what did she buy?")
    assert pronoun.facets[0].question == "what did she buy (Anna)"


def test_before_and_after_an_event_are_two_facets_around_it() -> None:
    facets = decompose("How was the terrace before and after the repair?").facets
    assert [facet.order for facet in facets] == [None, Order.BEFORE, Order.AFTER]
    assert (facets[0].terms, facets[1].terms) == (("repair",), ("terrace",))


@pytest.mark.parametrize(
    "question",
    [
        "",
        "and",
        "key",
        "Where is the key?",
        "Where is the key? And who has it?",
        "What happened before May?",
        "What happened after that?",
        "When and where did Anna buy the boat?",
        "Was haben Anna und Ben gekauft, und wo sind sie?",
        "if (a and b) { return c || d; }",
        "and or " * 80,
        "this and that, and these or those",
        "\u0000 and \ud800 and",
    ],
)
def test_what_no_rule_knows_is_one_question(question: str) -> None:
    assert decompose(question) == WHOLE


@pytest.mark.parametrize(
    "text",
    [
        "a and b " * 500,
        "A, " * 1300 + "and B",
        "when before " * 300,
        "what and what, " * 250,
        "? a" * 1300,
        "first and last time " * 200,
        "Anna and " + "x" * 3900,
    ],
)
def test_long_and_hostile_texts_cost_milliseconds_and_have_few_facets(text: str) -> None:
    for sample in (text[:MAX_QUERY_CHARS], text[:599]):
        start = perf_counter()
        parts, _ = decompose(sample), wanted_set(sample)
        assert perf_counter() - start < 0.25
        assert len(parts.facets) <= MAX_FACETS


@pytest.mark.parametrize(
    ("question", "rule", "matter", "names"),
    [
        ("How often did we roll back the deploy?", SetRule.COUNT, "roll back deploy", ""),
        ("How many times was Marta at the dentist in 2026?", SetRule.COUNT, "dentist", "marta"),
        ("Which of Ben's trees died?", SetRule.WHICH, "trees died", "ben"),
        ("What all did Ben plant?", SetRule.WHICH, "plant", "ben"),
        ("When did I last change the tires?", SetRule.LAST, "change tires", ""),
        ("When was the last time Marta swam?", SetRule.LAST, "swam", "marta"),
        ("When did Marta first meet Ben?", SetRule.FIRST, "meet", "marta ben"),
    ],
)
def test_a_question_may_ask_about_a_set(
    question: str, rule: SetRule, matter: str, names: str
) -> None:
    wanted = wanted_set(question)
    assert wanted is not None
    assert (wanted.rule, " ".join(wanted.matter), " ".join(wanted.names)) == (rule, matter, names)
    assert all(word in question.casefold() for word in wanted.said.split() if word != "...")


@pytest.mark.parametrize(
    "question",
    [
        "When did we go last week?",
        "When did last year's fair end?",
        "What is the last name of Anna?",
        "how often?",
        "How many trees are there?",
        "Wie oft waren wir dort?",
    ],
)
def test_other_questions_ask_about_none(question: str) -> None:
    assert wanted_set(question) is None
