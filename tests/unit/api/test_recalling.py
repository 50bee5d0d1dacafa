"""Search with every choice, context and explanations, at the HTTP edge."""

from typing import Any
from uuid import UUID

import pytest
from tests.unit.api.fakes import ADMIN_KEY, Client, World

from cairn.llm.port import Role as Speaker
from cairn.recall.questions.gate import Turn

CHOICES: dict[str, Any] = {
    "query": "Why did it fail?",
    "stages": {"graph": True, "speaker": False},
    "intent": "why",
    "history": [{"role": "user", "text": "The deploy failed."}],
    "session_id": "s1",
    "gate": True,
    "expand_hops": 1,
    "fields": ["text", "no_such_field"],
    "max_chars": 5000,
}


@pytest.fixture
def world() -> World:
    return World()


def post(world: World, path: str, **body: Any) -> Any:
    return Client(world, key=ADMIN_KEY).post(path, body)


def test_every_choice_reaches_the_use_case(world: World) -> None:
    assert post(world, "/v1/search", **CHOICES).status_code == 200
    [asked] = world.searches
    assert (asked.limit, asked.intent, asked.gate, asked.expand_hops) == (None, "why", True, 1)
    assert asked.stages == {"graph": True, "speaker": False}
    assert asked.history == (Turn(role=Speaker.USER, text="The deploy failed."),)
    assert asked.fields == ("text", "no_such_field")
    assert (asked.session_id, asked.max_chars) == ("s1", 5000)


@pytest.mark.parametrize(
    ("wrong", "location"),
    [
        ({"stages": {"magic": True}}, "body.stages"),
        ({"stages": {"graph": 1}}, "body.stages.graph"),
        ({"intent": "because"}, "body.intent"),
        ({"history": [{"role": "system", "text": "x"}]}, "body.history.0.role"),
        ({"history": [{"role": "user", "text": " "}]}, "body.history.0.text"),
        ({"expand_hops": 2}, "body.expand_hops"),
        ({"max_chars": 0}, "body.max_chars"),
        ({"fields": [""]}, "body.fields.0"),
        ({"limit": 0}, "body.limit"),
    ],
)
def test_a_choice_nobody_has_is_refused_by_name(
    world: World, wrong: dict[str, Any], location: str
) -> None:
    answer = post(world, "/v1/search", query="note", **wrong)
    assert answer.status_code == 422
    assert location in [error["location"] for error in answer.json()["errors"]]
    assert world.searches == []


def test_a_context_takes_a_search_and_a_budget(world: World) -> None:
    answer = post(world, "/v1/context", **CHOICES, max_tokens=500)
    assert (answer.json()["context"], answer.json()["max_tokens"]) == ("<context></context>", 500)
    assert world.searches[0].query == CHOICES["query"]


@pytest.mark.parametrize("budget", [0, 63, 100_001, "many"])
def test_a_context_without_room_is_refused(world: World, budget: object) -> None:
    answer = post(world, "/v1/context", query="note", max_tokens=budget)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["location"] == "body.max_tokens"


def test_a_search_is_explained_by_its_id(world: World) -> None:
    client = Client(world, key=ADMIN_KEY)
    assert client.get(f"/v1/searches/{UUID(int=77)}").json()["results"] == []
    assert client.get(f"/v1/searches/{UUID(int=78)}").status_code == 404
    assert client.get("/v1/searches/not-an-id").status_code == 422


def test_a_search_can_be_drawn(world: World) -> None:
    client = Client(world, key=ADMIN_KEY)
    drawn = client.get(f"/v1/searches/{UUID(int=77)}?format=svg")
    assert drawn.headers["content-type"] == "image/svg+xml"
    assert drawn.text.startswith("<svg")
    assert client.get(f"/v1/searches/{UUID(int=77)}?format=png").status_code == 422
