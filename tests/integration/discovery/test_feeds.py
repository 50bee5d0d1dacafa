"""Feeds at the API's door: whose cards they are, how they do, and a network of ten thousand."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.storage import test_search_front
from tests.support.chat_wire import ChatServer, closing_models
from tests.support.matching import Town

from cairn.bootstrap.matching import sweep_discovery
from cairn.discovery.feed.maintenance import MaintainFeeds, pairs_of_day
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.storage.test_search_front import Door
    from tests.plugins.postgres import Database

door = test_search_front.door
PLANT = """
WITH numbers AS (SELECT n, gen_random_uuid() AS member FROM generate_series(1, %(members)s) n),
members AS (
  INSERT INTO member (workspace_id, id, client_id, since)
  SELECT %(w)s, member, 'member-' || n, now() FROM numbers),
network AS (
  INSERT INTO network (workspace_id, id, name, created_at, changed_at)
  VALUES (%(w)s, %(network)s, 'many', now(), now())),
intents AS (
  INSERT INTO intent (workspace_id, id, member_id, side, state, created_at, changed_at,
    discovered_at)
  SELECT %(w)s, gen_random_uuid(), member, 'seeking', 'active', now() - interval '9 days',
    now() - interval '9 days', now() - interval '8 days'
    FROM numbers, generate_series(1, %(intents)s)
  RETURNING id, member_id)
INSERT INTO intent_network (workspace_id, network_id, intent_id, member_id, score, direct,
  assigned_at)
SELECT %(w)s, %(network)s, id, member_id, 1, true, now() FROM intents
"""


def plant(door: Door, database: Database, *, members: int, intents: int) -> None:
    with database.connect_as_superuser() as root:
        parameters = {"w": door.world.workspace_id, "members": members, "intents": intents}
        root.execute(PLANT, {**parameters, "network": door.world.workspace_id})


def waiting(door: Door, database: Database) -> dict[str, int]:
    """How many intents of each member wait to be looked for."""
    with database.connect_as_superuser() as root:
        rows = root.execute(
            """SELECT m.client_id, count(*) FROM intent i JOIN member m ON m.id = i.member_id
                WHERE i.workspace_id = %s AND i.discovered_at IS NULL GROUP BY 1""",
            [door.world.workspace_id],
        ).fetchall()
    return {str(name): int(number) for name, number in rows}


def looked_for(door: Door, database: Database) -> None:
    """What waited was looked for."""
    with database.connect_as_superuser() as root:
        root.execute(
            "UPDATE intent SET discovered_at = now()"
            " WHERE workspace_id = %s AND discovered_at IS NULL",
            [door.world.workspace_id],
        )


def maintained(door: Door) -> dict[str, Any]:
    done: dict[str, Any] = door.api.call("POST", "/v1/feed/maintenance")
    return done


def test_a_network_of_ten_thousand_is_gone_through_in_parts_and_nobody_is_passed_over(
    door: Door, database: Database
) -> None:
    plant(door, database, members=10_000, intents=7)
    first = maintained(door)
    assert (first["intents"], first["feeds"], first["held_back"]) == (200, 40, True)
    before = waiting(door, database)
    assert set(before.values()) == {5}
    again = maintained(door)
    assert (again["intents"], again["held_back"]) == (0, True)
    looked_for(door, database)
    assert maintained(door)["intents"] == 200
    after = waiting(door, database)
    assert not before.keys() & after.keys()


def test_the_intents_of_a_poor_feed_are_looked_for_again_once_in_a_while(
    door: Door, database: Database
) -> None:
    plant(door, database, members=2, intents=3)
    assert maintained(door) == {
        "feeds": 2,
        "unhealthy": 2,
        "intents": 6,
        "introduced": 0,
        "held_back": False,
        "redriven": 0,
    }
    looked_for(door, database)
    assert maintained(door)["intents"] == 0
    shown = door.api.call("GET", "/v1/feed/health", params={"client_id": "member-1"})
    assert (shown["score"], shown["connections"], shown["rediscover_below"]) == (0, 0, 0.5)
    assert shown["rediscovered_at"] is not None
    refused = door.api.answer("GET", "/v1/feed/health")
    assert refused.status_code == 422


@pytest.mark.parametrize("role", ["agent", "public"])
def test_only_an_admin_looks_after_every_feed(door: Door, role: str) -> None:
    body = {"name": "k", "role": role, "agent_slug": "bot"}
    key = door.api.call("POST", "/v1/keys", json=body)["secret"]
    headers = {"authorization": f"Bearer {key}"}
    assert door.api.answer("POST", "/v1/feed/maintenance", headers=headers).status_code == 403


SEEKS = "Looking for a shipwright to replace rotten planks of an old pilot boat in Bergen"
OFFERS = "Shipwright: we replace rotten planks of an old boat, pilot boat or not, in Bergen"
CANARY = "marzipan"


@pytest.fixture
def town(door: Door, database: Database) -> Town:
    town = Town(door, database)
    for name in ("ingrid", "torvald", "oskar"):
        town.join(name, "quay", profile=f"{name.title()} lives at the quay.", location="Bergen")
    town.wish("ingrid", "seeking", SEEKS, "quay")
    town.wish("torvald", "offering", OFFERS, "quay")
    return town


def cards(town: Town, who: str) -> dict[str, list[dict[str, Any]]]:
    """A member's cards by section."""
    feed = town.people[who].call("GET", "/v1/feed")
    assert feed["cards"] == sum(len(section["cards"]) for section in feed["sections"])
    return {section["name"]: section["cards"] for section in feed["sections"]}


def proposed(town: Town) -> str:
    """Ingrid's draft of a meeting with Torvald."""
    ingrid, torvald = town.people["ingrid"], town.people["torvald"]
    body = {"intent_id": str(ingrid.intents[SEEKS]), "members": [str(torvald.id)]}
    place: str = ingrid.call("POST", "/v1/opportunities", body)["items"][0]["id"]
    return f"/v1/opportunities/{place}"


def test_a_draft_is_its_makers_card_alone_and_what_was_sent_waits_for_the_other(
    town: Town,
) -> None:
    memory = {"type": "fact", "text": f"The {CANARY} is under the third plank."}
    for who in ("torvald", "ingrid"):
        town.people[who].call("POST", "/v1/memories", {**memory, "text": f"{who} {CANARY}"})
    place = proposed(town)
    ((draft,),) = cards(town, "ingrid").values()
    assert (draft["name"], draft["can"]) == ("Torvald", ["send", "reject"])
    assert draft["suggested_action"] == "Send it to Torvald"
    assert draft["summary"] == OFFERS
    assert cards(town, "torvald") == cards(town, "oskar") == {}
    town.people["ingrid"].call("POST", f"{place}/send", {})
    (card,) = cards(town, "torvald")["waiting"]
    assert (card["headline"], card["summary"]) == ("Ingrid seeks what you offer", SEEKS)
    assert cards(town, "oskar") == {}
    town.people["torvald"].call("POST", f"{place}/accept", {})
    for who, other in (("ingrid", "Torvald"), ("torvald", "Ingrid")):
        (card,) = cards(town, who)["accepted"]
        assert card["suggested_action"] == f"Write to {other}"
        assert CANARY not in str(card)
    other = town.people["oskar"].ask("GET", "/v1/feed?client_id=ingrid")
    assert (other.status_code, other.json()["reason"]) == (403, "client")
    shown = town.door.api.call("GET", "/v1/feed", params={"user_id": "ingrid"})
    assert shown["by"] == "rules"
    assert shown["sections"][0]["cards"][0]["name"] == "Torvald"


def test_a_poor_feed_of_somebody_who_knows_two_that_fit_gets_their_introduction(
    town: Town,
) -> None:
    oskar = town.people["oskar"]
    town.wish("oskar", "seeking", "A quiet berth for the winter", "quay")
    town.sql(
        "UPDATE intent SET discovered_at = now() - interval '8 days', changed_at = now()"
        " - interval '9 days' WHERE workspace_id = %(w)s"
    )
    for name in ("ingrid", "torvald"):
        oskar.call("POST", "/v1/contacts", {"name": name, "member_id": str(town.people[name].id)})
    assert maintained(town.door)["introduced"] == 1
    (card,) = cards(town, "oskar")["introductions"]
    assert card["headline"] in ("Ingrid and Torvald should meet", "Torvald and Ingrid should meet")
    assert card["can"][0] == "send"
    assert cards(town, "ingrid") == cards(town, "torvald") == {}


def test_the_scheduled_run_introduces_contacts_of_a_poor_feed_once_a_day(town: Town) -> None:
    oskar, services = town.people["oskar"], town.door.api.app.state.services
    town.wish("oskar", "seeking", "A quiet berth for the winter", "quay")
    for name in ("ingrid", "torvald"):
        oskar.call("POST", "/v1/contacts", {"name": name, "member_id": str(town.people[name].id)})
    hourly = MaintainFeeds(platform=services.platform)
    assert hourly(town.workspace_id).introduced == 0  # its function has no embedder

    def report(event: str, fields: object) -> None:
        raise AssertionError((event, fields))

    sweep = sweep_discovery(
        lambda: [town.workspace_id], services.platform, services.embedder, report
    )
    town.sql("UPDATE intent SET discovered_at = now() WHERE workspace_id = %(w)s")
    assert sweep(seconds=60)["introductions_proposed"] == 1
    (card,) = cards(town, "oskar")["introductions"]
    assert card["can"][0] == "send"
    assert sweep(seconds=60)["introductions_proposed"] == 0
    town.sql("UPDATE feed_health SET contacts_at = now() - interval '25 hours'")
    assert sweep(seconds=60)["introductions_proposed"] == 0  # the two were proposed before


def test_the_pairs_of_contacts_that_are_tried_are_others_each_day() -> None:
    contacts = [new_id() for _ in range(6)]
    day = datetime(2026, 9, 1, tzinfo=UTC)
    tried = [pair for days in range(5) for pair in pairs_of_day(contacts, day + timedelta(days))]
    assert len(set(tried)) == len(tried) == 15
    assert pairs_of_day(contacts[:1], day) == []


WORDS = {"headline": "Meet", "summary": "They fit.", "why_you": "You said so."}


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    with closing_models(monkeypatch) as server:
        monkeypatch.setenv("CAIRN_CHAT_MODEL", "feed=anthropic:claude-haiku-4-5")
        yield server


def answering(asked: dict[str, Any]) -> str:
    if "sections" in str(asked["system"]):
        return json.dumps({"sections": [{"title": "Boats", "cards": [1]}]})
    return json.dumps({"cards": [{"number": 1, **WORDS}]})


def test_a_models_words_are_used_for_a_day_and_dropped_when_what_they_show_changes(
    model: ChatServer, town: Town
) -> None:
    model.answers = answering
    place, ingrid = proposed(town), town.people["ingrid"]
    model.requests.clear()  # whoever judges and speaks was asked, too
    feed = ingrid.call("GET", "/v1/feed")
    (section,) = feed["sections"]
    assert (feed["by"], section["title"], len(model.requests)) == ("model", "Boats", 2)
    assert {name: section["cards"][0][name] for name in WORDS} == WORDS
    assert "&lt;" not in str(section)
    ingrid.call("GET", "/v1/feed")
    assert len(model.requests) == 2
    ingrid.call("POST", f"{place}/send", {})
    assert ingrid.call("GET", "/v1/feed")["sections"][0]["cards"][0]["state"] == "pending"
    assert len(model.requests) == 4
    town.sql("UPDATE feed_wording SET made_at = now() - interval '25 hours'")
    ingrid.call("GET", "/v1/feed")
    assert len(model.requests) == 6


def test_a_model_that_answers_prose_or_other_numbers_leaves_the_cards_of_the_rules(
    model: ChatServer, town: Town
) -> None:
    model.answers = lambda _: json.dumps({"cards": [{"number": 900, **WORDS}]})
    proposed(town)
    feed = town.people["ingrid"].call("GET", "/v1/feed")
    assert (feed["by"], len(model.requests) > 1) == ("rules", True)
    assert feed["sections"][0]["cards"][0]["headline"] == "Torvald may have what you seek"
    assert town.sql("SELECT count(*) FROM feed_wording WHERE workspace_id = %(w)s") == [(0,)]
