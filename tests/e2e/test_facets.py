"""Questions that need more than one memory get them, through the HTTP API of a running stack."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from tests.e2e.cli import cairn
from tests.e2e.tenant import Tenant, open_workspace

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop

OAK, WALNUT = "Marta chose oak for her kitchen floor.", "Piet chose walnut for his study."
BEES = "Piet moved the bee hives to the orchard."
FLOOD = "The flood of the cellar ruined the old boiler."
PUMP = "We bought a second pump for the cellar."
VISITS = [("2026-01-12", "January"), ("2026-03-02", "March"), ("2026-05-19", "May")]


def floors() -> list[str]:
    rooms = ("hall", "bath", "attic", "garage", "pantry", "porch", "office", "den")
    return [f"Marta asked what the {room} floor would cost in oak or tiles." for room in rooms]


@pytest.fixture(scope="module")
def tenant(laptop: "Laptop") -> Tenant:
    tenant = open_workspace(laptop, "facets")
    visits = [
        {"text": f"Marta went to the dentist for her {month} appointment.", "day": day}
        for day, month in VISITS
    ]
    told = [
        *({"text": text, "day": "2026-02-01"} for text in (OAK, *floors(), BEES)),
        {"text": WALNUT, "day": "2026-02-03"},
        {"text": PUMP, "day": "2026-03-10"},
        {"text": FLOOD, "day": "2026-04-01"},
        {"text": "A mason sealed the cellar walls.", "day": "2026-04-20"},
        *visits,
        {"text": "Piet says the dentist has a new practice.", "day": "2026-06-01"},
    ]
    tenant.remember(
        *(
            {"text": one["text"], "type": "event", "occurred_at": f"{one['day']}T09:00:00Z"}
            for one in told
        )
    )
    tenant.all_embedded()
    return tenant


def asked(tenant: Tenant, question: str, **more: Any) -> tuple[list[str], dict[str, Any]]:
    found = tenant.search(question, **more)
    return [each["text"] for each in found["results"]], found["meta"]


def test_each_side_of_a_comparison_has_a_result(tenant: Tenant) -> None:
    question = "Which wood for the floor did Marta and Piet choose?"
    texts, meta = asked(tenant, question, limit=3)
    assert OAK in texts
    assert WALNUT in texts
    assert [each["node_id"] is not None for each in meta["facets"]["facets"]] == [True, True]
    assert meta["facets"]["rule"] == "items"
    alone, other = asked(tenant, question, limit=3, stages={"facets": False})
    assert other["facets"] is None
    assert alone[0] == texts[0]


def test_what_was_moved_for_a_facet_is_explained_and_replayed(tenant: Tenant) -> None:
    _, meta = asked(tenant, "What did Marta ask of floors and where are the hives?", limit=2)
    told = tenant.get(f"/v1/searches/{meta['search_id']}")
    assert told["replayed"] is True
    moved = [each["node_id"] for each in meta["facets"]["facets"] if each["moved"]]
    points = {each["node_id"]: each["contributions"].get("facet", 0) for each in told["results"]}
    assert all(points[node_id] > 0 for node_id in moved)


def test_two_questions_in_one_are_both_answered(tenant: Tenant) -> None:
    texts, meta = asked(tenant, "Where are the bee hives? What ruined the boiler?", limit=2)
    assert set(texts) == {BEES, FLOOD}
    assert meta["facets"]["rule"] == "questions"


def test_after_an_event_is_what_came_after_it(tenant: Tenant) -> None:
    _, meta = asked(tenant, "What happened with the cellar after the flood?", limit=3)
    event, rest = meta["facets"]["facets"]
    found = {each["node_id"]: each["text"] for each in tenant.found("cellar", limit=20)}
    assert (found[event["node_id"]], rest["order"]) == (FLOOD, "after")
    assert found[rest["node_id"]] == "A mason sealed the cellar walls."
    _, meta = asked(tenant, "What happened with the cellar before the flood?", limit=3)
    assert found[meta["facets"]["facets"][1]["node_id"]] == PUMP


@pytest.mark.parametrize(
    "question",
    ["How often did Marta go to the dentist?", "How many times was Marta at the dentist"],
)
def test_how_often_returns_the_set_in_order_of_time(tenant: Tenant, question: str) -> None:
    _, meta = asked(tenant, question, limit=2)
    told = meta["set"]
    assert (told["rule"], told["found"], told["complete"]) == ("count", len(VISITS), True)
    days = [each["occurred_at"][:10] for each in told["members"]]
    assert days == [day for day, _ in VISITS]
    assert all(one < other for one, other in pairwise(days))


@pytest.mark.parametrize(
    ("question", "month"),
    [
        ("When did Marta last go to the dentist?", "May"),
        ("When was the first time Marta went to the dentist?", "January"),
    ],
)
def test_when_last_is_answered_by_the_last(tenant: Tenant, question: str, month: str) -> None:
    texts, _ = asked(tenant, question, limit=3)
    assert month in texts[0]


def test_a_question_of_one_part_says_so_and_hostile_ones_are_answered(tenant: Tenant) -> None:
    _, meta = asked(tenant, "Who has oak?")
    assert (meta["facets"], meta["set"]) == (None, None)
    assert "facets" not in meta["stages_ms"]
    for question in ("and " * 900, "a and b, " * 400, "and", "how often", "if (a and b) {x;}"):
        assert asked(tenant, question, min_relevance=0)[1]["facets"] is None


def test_what_nobody_stored_is_no_answer_in_parts_either(tenant: Tenant) -> None:
    question = "What is the capital of Mongolia and who won the world cup in 1998?"
    texts, meta = asked(tenant, question)
    assert (texts, meta["answerable"]) == ([], False)
    assert [each["node_id"] for each in meta["facets"]["facets"]] == [None, None]
    texts, meta = asked(tenant, "What is the capital of Mongolia and what ruined the boiler?")
    assert texts[0] == FLOOD
    assert meta["answerable"] is True


def test_the_command_says_how_many_were_found(tenant: Tenant) -> None:
    ran = cairn(tenant, "recall", "How often did Marta go to the dentist?")
    assert "3 memories were found of what is asked about (how often)" in ran.out
    told = tenant.search("How often did Marta go to the dentist?", format="text")
    assert "from 2026-01-12 to 2026-05-19" in told["text"]


def test_a_set_of_an_entity_has_what_calls_it_by_another_name(tenant: Tenant) -> None:
    tenant.remember(
        {"text": "Northwind Bakery Ltd delivered the rye bread.", "type": "event"},
        {"text": "The driver of Kowalski Foods GmbH delivered bread, too.", "type": "event"},
    )
    tenant.all_embedded()
    question = "How often did Northwind Bakery Ltd deliver bread?"
    assert asked(tenant, question)[1]["set"]["found"] == 1
    entities = tenant.get("/v1/entities", q="Kowalski Foods")["items"]
    tenant.post(f"/v1/entities/{entities[0]['id']}/aliases", {"alias": "Northwind Bakery Ltd"})
    assert asked(tenant, question)[1]["set"]["found"] == 2
