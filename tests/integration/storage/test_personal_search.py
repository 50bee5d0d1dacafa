"""Searches for somebody, at the API's door: what is known of a person moves what bears on it up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.storage import test_search_front
from tests.plugins.waiting import eventually
from tests.support.forgetting import erase_in_memory
from tests.support.front import mcp

if TYPE_CHECKING:
    from tests.integration.storage.test_search_front import Door

door = test_search_front.door
ADA, BOB = "ada", "bob"
ANSWERS = ("A queue for orders: MySQL is fast.", "A queue for orders: Redis is fast.")


def tell(door: Door, text: str, client: str, **more: Any) -> str:
    """Remember what a client said; return its id."""
    item = {"type": "fact", "text": text, "client_id": client, "scope": "shared", **more}
    (result,) = door.api.call("POST", "/v1/memories", json={"items": [item]})["results"]
    memory_id: str = result["id"]
    return memory_id


@pytest.fixture
def told(door: Door) -> dict[str, str]:
    """What two people like, and what is known to all, by its text."""
    ids = {text: tell(door, text, "global") for text in ANSWERS}
    ids["ada"] = tell(door, "I prefer MySQL to Oracle.", ADA)
    ids["bob"] = tell(door, "I prefer Redis to Oracle.", BOB)
    door.enrich()
    return ids


def search(door: Door, whom: str | None = None, **asked: Any) -> list[dict[str, Any]]:
    found = door.search("A fast queue for orders", personalize_for=whom, **asked)
    return [each for each in found["results"] if each["text"] in ANSWERS]


def personal(door: Door, whom: str | None, **asked: Any) -> dict[str, Any]:
    """Why results stand higher, by their text."""
    return {
        each["text"]: each["personal"] for each in search(door, whom, **asked) if "personal" in each
    }


def test_what_a_person_likes_moves_up_with_its_reason_and_evidence(
    door: Door, told: dict[str, str]
) -> None:
    mysql, redis = ANSWERS
    for whom, first, name in ((ADA, mysql, "MySQL"), (BOB, redis, "Redis")):
        best, other = search(door, whom)
        assert (best["text"], "personal" in other) == (first, False)
        reason = best["personal"]
        assert (reason["relation"], reason["name"]) == ("INTERESTED_IN", name)
        assert reason["evidence"] == [told[whom]]
        # hop decay, INTERESTED_IN of the greatest weight, and REFERENCES of a mention
        assert reason["score"] == pytest.approx(0.8 * 1.0 * 0.8 * 4 / 5 * 0.7, abs=1e-4)
        assert best["scores"]["personal"] == pytest.approx(reason["score"])
    assert personal(door, None) == {}


def test_a_dislike_what_is_only_named_once_and_nobodys_words_move_nothing(door: Door) -> None:
    for text in ANSWERS:
        tell(door, text, "global")
    tell(door, "I hate MySQL.", ADA)
    tell(door, "I live near the Redis office.", ADA)
    tell(door, "I prefer MySQL to Oracle.", "global")
    door.enrich()
    assert personal(door, ADA) == {}
    assert personal(door, "somebody-unknown") == {}


@pytest.mark.parametrize("change", ["delete", "never-recall", "correct", "forget"])
def test_what_is_no_more_moves_nothing_from_that_moment_on(
    door: Door, told: dict[str, str], monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    assert set(personal(door, ADA)) == {ANSWERS[0]}
    memory = f"/v1/memories/{told['ada']}"
    if change == "delete":
        door.api.call("DELETE", memory)
    elif change == "never-recall":
        door.api.call("PUT", f"{memory}/never-recall", json={"reason": "A joke."})
    elif change == "correct":
        edit = {"text": "I prefer Kafka to Oracle.", "reason": "A mistake."}
        door.api.call("PATCH", memory, json=edit)
    else:
        erase_in_memory(monkeypatch, door.folder)
        door.api.call(
            "POST", "/v1/forget", json={"subject": {"kind": "client", "natural_key": ADA}}
        )
    assert personal(door, ADA) == {}
    assert set(personal(door, BOB)) == {ANSWERS[1]}


def test_of_the_past_it_goes_by_what_was_known_then(door: Door, told: dict[str, str]) -> None:
    known = door.api.call("GET", "/v1/ledger")["items"]
    position = max(each["position"] for each in known)
    edit = {"text": "I prefer Redis to Oracle.", "reason": "She changed her mind."}
    door.api.call("PATCH", f"/v1/memories/{told['ada']}", json=edit)
    assert set(personal(door, ADA)) == {ANSWERS[1]}
    assert set(personal(door, ADA, as_of=position)) == {ANSWERS[0]}
    assert personal(door, ADA, as_of=0) == {}


def test_a_key_of_a_client_searches_for_that_client_and_for_no_other(
    door: Door, told: dict[str, str]
) -> None:
    body = {"name": "k", "role": "agent", "scopes": ["shared"], "client_id": ADA}
    key: str = door.api.call("POST", "/v1/keys", json=body)["secret"]
    assert set(personal(door, ADA, key=key)) == {ANSWERS[0]}
    headers = {"authorization": f"Bearer {key}"}
    other = {"query": "queue", "personalize_for": BOB}
    refused = door.api.answer("POST", "/v1/search", json=other, headers=headers)
    assert (refused.status_code, refused.json()["reason"]) == (403, "client")
    assert "Redis" not in refused.text
    public = {"name": "p", "role": "public", "agent_slug": "bot"}
    page: str = door.api.call("POST", "/v1/keys", json=public)["secret"]
    headers = {"authorization": f"Bearer {page}"}
    refused = door.api.answer("POST", "/v1/search", json=other, headers=headers)
    assert (refused.status_code, refused.json()["reason"]) == (403, "role")


@pytest.mark.parametrize("whom", ["", " ", 7, True, ["ada"], "x" * 257, "a\x00b", "global"])
@pytest.mark.parametrize("route", ["/v1/search", "/v1/context"])
def test_whom_it_is_for_is_a_clients_name(door: Door, route: str, whom: Any) -> None:
    refused = door.api.answer("POST", route, json={"query": "queue", "personalize_for": whom})
    assert refused.status_code == 422
    (error,) = refused.json()["errors"]
    assert error["location"].removeprefix("body.") == "personalize_for"


def test_a_search_for_somebody_finds_nothing_that_it_would_not_find_and_is_explained(
    door: Door, told: dict[str, str]
) -> None:
    tell(door, "I prefer stairs to lifts.", ADA)
    door.enrich()
    asked = "A fast queue for orders"
    plain, for_ada = door.search(asked), door.search(asked, personalize_for=ADA)
    ids = [{each["node_id"] for each in found["results"]} for found in (plain, for_ada)]
    assert ids[0] == ids[1]
    assert for_ada["meta"]["legs"]["personal"]["found"] >= 1
    assert "personal" not in plain["meta"]["legs"]
    explained = door.api.call("GET", f"/v1/searches/{for_ada['meta']['search_id']}")
    best = next(each for each in explained["results"] if each["node_id"] == told[ANSWERS[0]])
    assert best["contributions"]["personal"] == pytest.approx(
        0.5 * best["legs"]["personal"]["score"]
    )


def test_weights_that_a_workspace_sets_hold(door: Door, told: dict[str, str]) -> None:
    closed = {"recall": {"intent_weights": {"personalize": {"INTERESTED_IN": 0}}}}
    door.api.call("PATCH", "/v1/settings", json=closed)
    eventually(lambda: personal(door, ADA) == {}, seconds=10)


def test_an_agent_is_told_why_over_mcp_and_a_context_takes_it_too(
    door: Door, told: dict[str, str]
) -> None:
    body = {"name": "k", "role": "agent", "scopes": ["shared"], "client_id": ADA}
    key: str = door.api.call("POST", "/v1/keys", json=body)["secret"]
    asked = {"query": "A fast queue for orders", "personalize_for": ADA}
    answer = mcp(door.api, key, "tools/call", name="memory_recall", arguments=asked)
    hits = {each["text"]: each for each in answer["result"]["structuredContent"]["results"]}
    assert hits[ANSWERS[0]]["personal"] == f"INTERESTED_IN MySQL: {told[ADA]}"
    assert "personal" not in hits[ANSWERS[1]]
    block = door.api.call("POST", "/v1/context", json=asked)
    assert block["meta"]["legs"]["personal"]["found"] >= 1
