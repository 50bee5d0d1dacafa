"""Intents over HTTP as wired, over PostgreSQL."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.workflows.test_rebuilt_and_deleted import rebuild
from tests.support.embedding import HashingEmbedder
from tests.support.forgetting import erase_in_memory
from tests.support.front import Cloud, Front, environment, function, stand_in_for_aws
from tests.support.world import open_world

from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.discovery.intents import writing
from cairn.kernel.access.system import system_principal
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.plugins.postgres import Database
    from tests.support.world import World

SEEK = "I'm looking for a shipwright who can replace the planking of our pilot boat."
OFFER = "I can teach basic welding on Thursday evenings."


@pytest.fixture
def world(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    for name, value in environment(database.app_url, tmp_path).items():
        monkeypatch.setenv(name, value)
    stand_in_for_aws(monkeypatch, Cloud())
    world = open_world(database.owner_url, database.app_url, f"intents {new_id()}")
    yield world
    world.pool.close()


@pytest.fixture
def front(world: World) -> Front:
    return Front(world.key, embedder=HashingEmbedder())


def say(front: Front, text: str, client: str = "ines", **more: Any) -> dict[str, Any]:
    body = {"text": text, "client_id": client, **more}
    done: dict[str, Any] = front.call("POST", "/v1/intents", json=body)
    return done


def listed(front: Front, client: str = "ines", **where: Any) -> list[dict[str, Any]]:
    params = {"client_id": client, **where}
    items: list[dict[str, Any]] = front.call("GET", "/v1/intents", params=params)["items"]
    return items


def test_several_intents_are_made_of_a_text_and_what_is_none_leaves_nothing(front: Front) -> None:
    text = f"{SEEK} The weather was awful. {OFFER}"
    proposed = say(front, text, mode="propose")
    assert [each["kept"] for each in proposed["statements"]] == [True, False, True]
    assert [each["id"] for each in proposed["actions"]] == [None, None]
    assert listed(front) == []
    done = say(front, text)
    assert [(each["side"], each["act"]) for each in done["intents"]] == [
        ("seeking", "DIRECTIVE"),
        ("offering", "COMMISSIVE"),
    ]
    assert done["by"] == "rules"
    assert say(front, text)["actions"] == []
    assert len(listed(front)) == 2
    assert listed(front, "somebody-else") == []
    node = front.call("GET", f"/v1/nodes/{done['intents'][0]['id']}")
    assert (node["label"], node["kind"], node["text"]) == ("Intent", "seeking", SEEK)


def test_a_vague_intent_is_made_specific_by_the_profile_and_says_so(front: Front) -> None:
    profile = {"skills": ["bookkeeping"], "location": "Aachen", "client_id": "ines"}
    front.call("PUT", "/v1/profiles/me", json=profile)
    [intent] = say(front, "Find me a job.")["intents"]
    assert intent["description"] == "Find me a job (bookkeeping; Aachen)"
    assert (intent["original"], intent["vague"]) == ("Find me a job.", False)
    [vague] = say(front, "Find me a job.", "nobody-knows")["intents"]
    assert (vague["description"], vague["vague"]) == ("Find me a job.", True)


def test_what_is_over_expires_and_what_changes_is_written_in_place(front: Front) -> None:
    [lathe] = say(front, "I look for a used lathe in Ghent.")["intents"]
    done = say(front, "Make the lathe a new lathe in Bruges, not in Ghent.")
    assert [(each["type"], each["id"]) for each in done["actions"]] == [("update", lathe["id"])]
    now = front.call("GET", f"/v1/intents/{lathe['id']}", params={"client_id": "ines"})
    assert (now["version"], now["state"]) == (2, "active")
    assert "Bruges" in now["description"]
    done = say(front, "I no longer need the lathe.")
    assert [(each["type"], each["id"]) for each in done["actions"]] == [("expire", lathe["id"])]
    assert [each["state"] for each in listed(front)] == ["expired"]
    refreshed = front.call("POST", f"/v1/intents/{lathe['id']}/refresh", json={"client_id": "ines"})
    assert refreshed["state"] == "active"


def test_what_is_unsure_is_kept_and_asked_and_either_answer_settles_it(front: Front) -> None:
    def unsure() -> tuple[dict[str, Any], dict[str, Any]]:
        [first] = say(front, "I seek a kiln for my pottery.")["intents"]
        done = say(front, "I seek a wheel for pottery.")
        [new] = done["intents"]
        assert len(done["questions"]) == 1
        assert new["question_about"] == first["id"]
        return first, new

    first, new = unsure()
    answer = {"decision": "update", "client_id": "ines"}
    stays = front.call("POST", f"/v1/intents/{new['id']}/answer", json=answer)
    assert stays["id"] == first["id"]
    assert stays["description"] == new["description"]
    assert {each["id"]: each["state"] for each in listed(front)}[new["id"]] == "archived"
    again = front.post(f"/v1/intents/{new['id']}/answer", answer)
    assert (again.status_code, again.json()["reason"]) == (409, "no-question")
    for each in listed(front):
        front.answer("DELETE", f"/v1/intents/{each['id']}?client_id=ines")
    first, new = unsure()
    answer = {"decision": "create", "client_id": "ines"}
    stays = front.call("POST", f"/v1/intents/{new['id']}/answer", json=answer)
    assert (stays["id"], stays["question_about"]) == (new["id"], None)
    states = {each["id"]: each["state"] for each in listed(front)}
    assert (states[new["id"]], states[first["id"]]) == ("active", "active")


def test_an_intent_pauses_resumes_is_changed_and_deleted_each_once(front: Front) -> None:
    [intent] = say(front, OFFER)["intents"]
    path, whose = f"/v1/intents/{intent['id']}", {"client_id": "ines"}
    for _ in range(2):
        assert front.call("POST", f"{path}/pause", json=whose)["state"] == "paused"
    assert front.call("POST", f"{path}/resume", json=whose)["state"] == "active"
    other = {"side": "seeking", "description": "A teacher of basic welding", **whose}
    new = front.call("PATCH", path, json=other)
    assert (new["side"], new["state"]) == ("seeking", "active")
    assert new["id"] != intent["id"]
    assert front.call("GET", path, params=whose)["state"] == "expired"
    gone = front.call("DELETE", f"/v1/intents/{new['id']}", params=whose)
    assert gone["state"] == "archived"
    assert (
        front.call("DELETE", f"/v1/intents/{new['id']}", params=whose)["version"] == gone["version"]
    )
    refused = front.post(f"/v1/intents/{new['id']}/refresh", whose)
    assert (refused.status_code, refused.json()["reason"]) == (409, "intent-archived")


def test_another_member_neither_sees_nor_changes_an_intent(front: Front) -> None:
    [intent] = say(front, OFFER)["intents"]
    key = front.call(
        "POST",
        "/v1/keys",
        json={"name": "mara", "role": "agent", "scopes": ["shared"], "client_id": "mara"},
    )["secret"]
    mara = Front(key, embedder=HashingEmbedder())
    assert mara.get("/v1/intents").json()["items"] == []
    assert mara.get(f"/v1/intents/{intent['id']}").status_code == 404
    assert mara.post(f"/v1/intents/{intent['id']}/pause", {}).status_code == 404
    assert mara.get("/v1/intents?client_id=ines").status_code == 403
    own = mara.call("POST", "/v1/intents", json={"text": SEEK})
    assert own["intents"][0]["client_id"] == "mara"


def test_an_intent_is_shown_as_it_was(front: Front) -> None:
    [intent] = say(front, OFFER)["intents"]
    moment = datetime.now(UTC).isoformat()
    front.call("DELETE", f"/v1/intents/{intent['id']}", params={"client_id": "ines"})
    [past] = listed(front, as_of=moment)
    assert (past["id"], past["state"], past["description"]) == (intent["id"], "active", OFFER)
    early = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    assert listed(front, as_of=early) == []


def test_a_request_that_is_repeated_makes_no_second_intent(front: Front) -> None:
    headers = {"Idempotency-Key": "once"}
    body = {"text": OFFER, "client_id": "ines"}
    first = front.call("POST", "/v1/intents", json=body, headers=headers)
    second = front.call("POST", "/v1/intents", json=body, headers=headers)
    assert [each["id"] for each in second["intents"]] == [each["id"] for each in first["intents"]]
    assert len(listed(front)) == 1


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"text": "   "}, 422),
        ({"text": "a\x00b"}, 422),
        ({"text": "\ud800"}, 422),
        ({"text": "x" * 32_001}, 413),
        ({"text": 5}, 422),
        ({"text": OFFER, "document_id": str(new_id())}, 422),
        ({"document_id": str(new_id())}, 404),
        ({"conversation_id": str(new_id())}, 404),
        ({"text": OFFER, "networks": [str(new_id())]}, 404),
        ({"text": OFFER, "infer": False}, 422),
        ({"text": OFFER, "side": "sideways"}, 422),
        ({"text": OFFER, "mode": "delete"}, 422),
        ({"text": OFFER, "expires_at": "tomorrow"}, 422),
    ],
)
def test_bad_words_are_refused_and_change_nothing(
    front: Front, body: dict[str, Any], status: int
) -> None:
    content = json.dumps({**body, "client_id": "ines"})
    answer = front.answer(
        "POST", "/v1/intents", content=content, headers={"content-type": "application/json"}
    )
    assert answer.status_code == status, answer.text
    assert listed(front) == []


def test_a_member_has_so_many_open_intents_and_one_more_is_refused_whole(
    front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "MOST_OPEN", 2)
    say(front, OFFER)
    two = {"text": "I seek a kiln. I seek a barn.", "client_id": "ines"}
    refused = front.post("/v1/intents", two)
    assert (refused.status_code, refused.json()["reason"]) == (409, "too-many-intents")
    assert len(listed(front)) == 1
    say(front, "I no longer teach welding.")
    assert len(say(front, two["text"])["intents"]) == 2


def test_an_intent_whose_time_is_over_expires_by_the_hourly_sweep(front: Front) -> None:
    soon = (datetime.now(UTC) + timedelta(milliseconds=50)).isoformat()
    [ends] = say(front, OFFER, expires_at=soon)["intents"]
    [stays] = say(front, SEEK)["intents"]
    audit = function("audit")
    swept = 0
    while not swept:
        swept = audit.handler({"step": "sweep_outbox"}, None)["expired_intents"]
    states = {each["id"]: each["state"] for each in listed(front)}
    assert (states[ends["id"]], states[stays["id"]]) == ("expired", "active")


def test_what_a_member_said_goes_with_them_and_a_rebuild_brings_the_rest_back(
    front: Front,
    world: World,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for client in ("ines", "mara"):
        say(front, OFFER, client)
        words = {"text": "I mend boats. I live in Porto.", "client_id": client}
        front.call("PATCH", "/v1/profiles/me", json=words)
    before = listed(front, "mara")
    assert rebuild(world, tmp_path)
    assert listed(front, "mara") == before
    erase_in_memory(monkeypatch, tmp_path)
    gone = {"subject": {"kind": "client", "natural_key": "ines"}}
    front.call("POST", "/v1/forget", json=gone)
    assert listed(front, "ines") == []
    profile = front.call("GET", "/v1/profiles/me", params={"client_id": "ines"})
    assert (profile["written"], profile["text"]) == (False, "")
    assert rebuild(world, tmp_path)
    assert listed(front, "ines") == []
    assert listed(front, "mara") == before
    later = datetime.now(UTC) + timedelta(days=365)
    everything = StoreTransactions(world.pool).reading(system_principal(world.workspace_id))
    with everything as stores:
        assert [str(row.id) for row in stores.intents.due(later, 10)] == [before[0]["id"]]
