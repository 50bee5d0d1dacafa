"""Discovery and opportunities at the API's door, as members with keys of their own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.storage import test_search_front
from tests.support.embedding import HashingEmbedder
from tests.support.front import function
from tests.support.matching import Town

from cairn.bootstrap import retrieve
from cairn.bootstrap.matching import sweep_discovery
from cairn.discovery.matching.ambient import COUNTED
from cairn.kernel.errors import Conflict
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from tests.integration.storage.test_search_front import Door
    from tests.plugins.postgres import Database

    from cairn.writing.platform import Platform

door = test_search_front.door
SEEKS = "Looking for a shipwright to replace rotten planks of an old pilot boat in Bergen"
OFFERS = "Shipwright: we replace rotten planks of an old boat, pilot boat or not, in Bergen"


@pytest.fixture
def town(door: Door, database: Database) -> Town:
    town = Town(door, database)
    town.join("ingrid", "quay", profile="Ingrid keeps books.", location="Bergen")
    town.join("torvald", "quay", profile="Torvald builds boats.", location="Bergen")
    town.join("oskar", "quay", profile="Oskar was a mate.", location="Bergen")
    town.join("stella", "lamp", profile="Stella mends boats.", location="Bergen")
    town.wish("ingrid", "seeking", SEEKS, "quay")
    town.wish("torvald", "offering", OFFERS, "quay")
    town.wish("oskar", "seeking", SEEKS.replace("old", "larch"), "quay")
    town.wish("stella", "offering", OFFERS, "lamp")
    return town


def test_who_offers_it_in_a_shared_network_is_found_and_nobody_else(town: Town) -> None:
    ingrid, torvald = town.people["ingrid"], town.people["torvald"]
    found = ingrid.discover(intent_id=str(ingrid.intents[SEEKS]), minimum=0)
    assert [match["name"] for match in found if match["intent_id"]] == ["Torvald"]
    match = found[0]
    assert (match["role"], match["score"] >= 70) == ("agent", True)
    assert SEEKS in match["reason"] and OFFERS in match["reason"]
    assert ingrid.mine() == []  # a query writes nothing
    theirs = torvald.discover(intent_id=str(torvald.intents[OFFERS]))
    assert [match["role"] for match in theirs] == ["patient", "patient"]


def test_a_profile_speaks_for_who_wants_something_else_but_not_for_who_wants_the_same(
    town: Town,
) -> None:
    town.join("rolf", "quay", profile=f"Rolf likes to read. {SEEKS}", location="Bergen")
    town.wish("rolf", "seeking", SEEKS, "quay")
    town.join("nils", "quay", profile=f"Nils. {OFFERS}", location="Bergen")
    town.wish("nils", "seeking", "Piano lessons for a beginner on Mondays", "quay")
    ingrid = town.people["ingrid"]
    found = ingrid.discover(intent_id=str(ingrid.intents[SEEKS]), minimum=0)
    scores = {match["name"]: match["score"] for match in found}
    assert scores["Rolf"] <= 29 < scores["Nils"] <= 75 < scores["Torvald"]


def test_the_same_two_people_and_intents_have_one_opportunity_whoever_looks_and_how_often(
    town: Town,
) -> None:
    ingrid, torvald = town.people["ingrid"], town.people["torvald"]
    picked = {"intent_id": str(ingrid.intents[SEEKS]), "members": [str(torvald.id)]}
    first = ingrid.call("POST", "/v1/opportunities", picked)
    assert (first["new"], first["items"][0]["state"]) == (1, "draft")
    again = ingrid.call("POST", "/v1/opportunities", picked)
    assert (again["new"], again["items"]) == (0, first["items"])
    assert torvald.mine() == []
    back = {"intent_id": str(torvald.intents[OFFERS]), "members": [str(ingrid.id)]}
    theirs = torvald.call("POST", "/v1/opportunities", back)
    assert (theirs["new"], theirs["items"][0]["id"]) == (0, first["items"][0]["id"])
    assert [item["yours"] for item in torvald.mine()] == ["target"]
    assert town.sql("SELECT count(*) FROM opportunity WHERE workspace_id = %(w)s") == [(1,)]


def test_each_side_says_yes_for_itself_and_the_past_can_be_asked_for(town: Town) -> None:
    ingrid, torvald = town.people["ingrid"], town.people["torvald"]
    body = {"intent_id": str(ingrid.intents[SEEKS]), "members": [str(torvald.id)]}
    item = ingrid.call("POST", "/v1/opportunities", body)["items"][0]
    path = f"/v1/opportunities/{item['id']}"
    assert torvald.refused("POST", f"{path}/send", {})[0] == 404
    sent = ingrid.call("POST", f"{path}/send", {})
    assert (sent["state"], sent["source"]["yes"], sent["can"]) == ("pending", True, ["reject"])
    assert ingrid.call("POST", f"{path}/accept", {})["state"] == "pending"
    assert torvald.call("GET", path)["can"] == ["accept", "reject"]
    assert torvald.call("POST", f"{path}/accept", {})["state"] == "accepted"
    assert ingrid.refused("POST", f"{path}/reject", {}) == (409, "not-allowed")
    before = {"as_of": sent["changed_at"]}
    assert ingrid.call("GET", path, params=before)["state"] == "pending"
    assert ingrid.mine(as_of=sent["changed_at"], state="accepted") == []
    met = ingrid.call("POST", "/v1/discover", {"intent_id": body["intent_id"]})
    assert (met["matches"], met["already_accepted"]) == ([], [str(torvald.id)])


def test_what_is_not_theirs_is_not_there(town: Town) -> None:
    ingrid, torvald, stella = (town.people[name] for name in ("ingrid", "torvald", "stella"))
    body = {"intent_id": str(ingrid.intents[SEEKS]), "members": [str(torvald.id)]}
    item = ingrid.call("POST", "/v1/opportunities", body)["items"][0]
    path = f"/v1/opportunities/{item['id']}"
    for other in (torvald, stella):
        assert other.refused("GET", path)[0] == 404
        assert other.refused("POST", f"{path}/accept", {})[0] == 404
    assert stella.refused("POST", "/v1/discover", {"intent_id": body["intent_id"]})[0] == 404
    network = str(town.network("quay"))
    query = {"query": "a shipwright for rotten planks", "networks": [network]}
    assert stella.refused("POST", "/v1/discover", query)[0] == 404
    assert stella.discover(query=SEEKS, minimum=0) == []
    assert stella.refused("POST", "/v1/discover", {**query, "client_id": "ingrid"})[0] == 403
    strangers = {"intent_id": body["intent_id"], "members": [str(stella.id)]}
    created = ingrid.call("POST", "/v1/opportunities", strangers)
    assert created["items"] == []
    assert [each["member_id"] for each in created["left_out"]] == [str(stella.id)]


def test_who_leaves_a_network_is_found_by_nobody_there_and_meets_nobody_through_it(
    town: Town,
) -> None:
    ingrid, torvald = town.people["ingrid"], town.people["torvald"]
    body = {"intent_id": str(ingrid.intents[SEEKS]), "members": [str(torvald.id)]}
    item = ingrid.call("POST", "/v1/opportunities", body)["items"][0]
    town.sql(
        "UPDATE network_member SET left_at = now() + interval '1 second'"
        " WHERE workspace_id = %(w)s AND member_id = %(m)s",
        m=torvald.id,
    )
    assert ingrid.discover(intent_id=body["intent_id"], minimum=0) == []
    sent = ingrid.refused("POST", f"/v1/opportunities/{item['id']}/send", {})
    assert sent == (409, "network-left")


def test_a_third_person_proposes_two_and_says_yes_for_neither(town: Town) -> None:
    oskar, ingrid, torvald = (town.people[name] for name in ("oskar", "ingrid", "torvald"))
    pair = {"first": str(ingrid.id), "second": str(torvald.id)}
    made = oskar.call("POST", "/v1/opportunities/introduce", pair)
    assert (made["yours"], made["trigger"], made["can"]) == (
        "introducer",
        "introducer",
        ["send", "reject"],
    )
    path = f"/v1/opportunities/{made['id']}"
    assert torvald.refused("GET", path)[0] == 404
    sent = oskar.call("POST", f"{path}/send", {})
    assert (sent["source"]["yes"], sent["target"]["yes"]) == (False, False)
    assert oskar.refused("POST", f"{path}/accept", {}) == (409, "not-allowed")
    assert torvald.call("POST", f"{path}/accept", {})["state"] == "pending"
    assert ingrid.call("POST", f"{path}/accept", {})["state"] == "accepted"
    self_made = {"first": str(oskar.id), "second": str(torvald.id)}
    assert oskar.refused("POST", "/v1/opportunities/introduce", self_made)[0] == 422
    stella = {"first": str(ingrid.id), "second": str(town.people["stella"].id)}
    assert oskar.refused("POST", "/v1/opportunities/introduce", stella)[0] == 404


def test_intents_are_looked_for_by_themselves_once_and_what_lasted_long_enough_ends(
    town: Town,
) -> None:
    services = town.door.api.app.state.services
    reports: list[str] = []
    sweep = sweep_discovery(
        lambda: [town.workspace_id],
        services.platform,
        services.embedder,
        lambda name, fields: reports.append(name),
    )
    busy = replace(sweep, negotiate=refuse)
    counts = busy(seconds=60)
    assert counts["intents_discovered"] == 4
    assert counts["opportunities_found"] == 2  # Torvald with each of the two who seek
    assert reports == ["negotiations.not_begun"] * 2
    ingrid, torvald = town.people["ingrid"], town.people["torvald"]
    assert [item["state"] for item in ingrid.mine()] == ["latent"]
    assert len(torvald.mine()) == 2  # his own search found them, too
    town.sql(
        "UPDATE network_member SET left_at = now()"
        " WHERE workspace_id = %(w)s AND member_id = %(m)s",
        m=town.people["oskar"].id,
    )
    assert sweep(seconds=60)["opportunities_negotiated"] == 0  # it waits after a failure
    let_be_tried(town)
    counts = sweep(seconds=60)  # what failed is tried again, but not with somebody who has left
    assert (counts["intents_discovered"], counts["opportunities_negotiated"]) == (0, 1)
    assert {item["state"] for item in torvald.mine()} == {"pending", "latent"}
    town.sql("UPDATE opportunity SET expires_at = now() WHERE workspace_id = %(w)s")
    assert sweep(seconds=0)["opportunities_expired"] == 0  # no time is left for them
    assert sweep(seconds=60)["opportunities_expired"] == 2
    assert {item["state"] for item in torvald.mine()} == {"expired"}


def refuse(*_: object) -> object:
    raise Conflict("Not now.", reason="busy")


class Killed(BaseException):
    """What no code of ours catches."""


@dataclass(frozen=True)
class Dying:
    """Is killed when it looks for somebody."""

    platform: Platform

    def __call__(self, *_: object) -> int:
        raise Killed


def let_be_tried(town: Town) -> None:
    """Let what waits after a failure have waited for long enough."""
    for statement in (
        "UPDATE intent SET retry_at = now() WHERE workspace_id = %(w)s AND tries > 0",
        "UPDATE opportunity SET retry_at = now() WHERE workspace_id = %(w)s AND tries > 0",
    ):
        town.sql(statement)


def test_sixty_intents_that_always_fail_hold_up_nobody_and_are_shown_until_they_are_mended(
    town: Town,
) -> None:
    services, ingrid = town.door.api.app.state.services, town.people["ingrid"]
    town.sql("UPDATE intent SET discovered_at = now() WHERE workspace_id = %(w)s")
    town.sql(
        "WITH many AS (INSERT INTO intent (workspace_id, id, member_id, side, state, created_at,"
        " changed_at) SELECT %(w)s, gen_random_uuid(), %(m)s, 'seeking', 'active', now(), now()"
        " - interval '1 day' FROM generate_series(1, 60) RETURNING id), placed AS (INSERT INTO"
        " intent_network (workspace_id, network_id, intent_id, member_id, score, direct,"
        " assigned_at) SELECT %(w)s, %(n)s, id, %(m)s, 1, true, now() FROM many)"
        " INSERT INTO embedding (workspace_id, node_id, model_id, v, position, label, kind, scope,"
        " client_id, state, occurred_at, valid_from) SELECT e.workspace_id, many.id, e.model_id,"
        " e.v, e.position, e.label, e.kind, e.scope, e.client_id, e.state, e.occurred_at,"
        " e.valid_from FROM embedding e, many WHERE e.workspace_id = %(w)s AND e.node_id = %(i)s",
        m=ingrid.id,
        n=town.network("quay"),
        i=ingrid.intents[SEEKS],
    )  # without what they say: looking for one fails
    reports: list[str] = []
    sweep = sweep_discovery(
        lambda: [town.workspace_id],
        services.platform,
        services.embedder,
        lambda name, fields: reports.append(name),
    )
    assert sweep(seconds=60)["intents_discovered"] == 0
    assert reports == ["discovery.not_run"] * 50  # what one run takes
    town.sql("UPDATE intent SET changed_at = now() WHERE id = %(i)s", i=ingrid.intents[SEEKS])
    let_be_tried(town)
    assert sweep(seconds=60)["intents_discovered"] == 1  # first, though sixty are due before it
    for _ in range(4):
        let_be_tried(town)
        sweep(seconds=60)
    waits = town.sql(
        "SELECT min(tries), max(retry_at) > now() + interval '10 minutes', max(retry_at) < now()"
        " + interval '6 hours 1 minute', min(problem) FROM intent"
        " WHERE workspace_id = %(w)s AND tries > 0"
    )
    assert waits[0][0] >= 3 and waits[0][1:] == (True, True, "not-found")
    assert town.door.api.call("GET", "/v1/status")["failing_discovery"] == 60
    assert town.door.api.call("POST", "/v1/feed/maintenance")["redriven"] == 60
    assert town.door.api.call("GET", "/v1/status")["failing_discovery"] == 0


def test_a_run_that_is_killed_in_the_middle_leaves_its_intent_to_a_later_one(town: Town) -> None:
    services = town.door.api.app.state.services

    def report(event: str, fields: object) -> None:
        raise AssertionError((event, fields))

    sweep = sweep_discovery(
        lambda: [town.workspace_id], services.platform, services.embedder, report
    )

    dying: Any = Dying(services.platform)
    with pytest.raises(Killed):
        replace(sweep, discover=dying)(seconds=60)
    query = "SELECT count(*) FROM intent WHERE workspace_id = %(w)s AND problem = 'interrupted'"
    assert town.sql(query) == [(1,)]
    assert sweep(seconds=60)["intents_discovered"] == 3
    assert sweep(seconds=60)["intents_discovered"] == 0
    let_be_tried(town)
    assert sweep(seconds=60)["intents_discovered"] == 1
    assert town.sql(query) == [(0,)]
    found = "SELECT count(*), count(DISTINCT pair) FROM opportunity WHERE workspace_id = %(w)s"
    assert town.sql(found) == [(2, 2)]


def test_an_intent_that_is_said_is_found_negotiated_and_proposed_by_one_scheduled_run(
    door: Door, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def embedder(_settings: object) -> HashingEmbedder:
        return HashingEmbedder()

    monkeypatch.setattr(retrieve, "embedder", embedder)
    handler, run = function("retrieve").handler, {"step": "sweep_discovery"}
    while any(handler(run, None).values()):
        pass  # the function looks through every workspace of this database
    town = Town(door, database)
    for client, side, text in (("ingrid", "seeking", SEEKS), ("torvald", "offering", OFFERS)):
        someone = town.join(client, "quay", profile=f"{client.title()}.", location="Bergen")
        someone.call("POST", "/v1/intents", {"text": text, "side": side, "infer": False})
    nothing = dict.fromkeys(COUNTED, 0)
    assert handler(run, None) == nothing  # none has its vector yet
    door.enrich()
    expected = {"intents_discovered": 2, "opportunities_found": 1, "opportunities_negotiated": 1}
    assert handler(run, None) == nothing | expected
    for someone in town.people.values():
        assert [(each["state"], each["trigger"]) for each in someone.mine()] == [
            ("pending", "ambient")
        ]
        [talk] = someone.call("GET", "/v1/negotiations")["items"]
        assert (talk["state"], talk["outcome"]) == ("ended", "accepted")
    changes = "SELECT state FROM opportunity_change WHERE workspace_id = %(w)s ORDER BY seq"
    assert town.sql(changes) == [("latent",), ("negotiating",), ("pending",)]
    assert handler(run, None) == nothing
    town.sql("UPDATE opportunity SET expires_at = now() WHERE workspace_id = %(w)s")
    assert handler(run, None) == nothing | {"opportunities_expired": 1}
    assert town.sql(changes)[-1] == ("expired",)


def test_wrong_input_is_refused_with_its_reason(town: Town) -> None:
    ingrid = town.people["ingrid"]
    both = {"intent_id": str(ingrid.intents[SEEKS]), "query": "x"}
    assert ingrid.refused("POST", "/v1/discover", both)[0] == 422
    assert ingrid.refused("POST", "/v1/discover", {"query": " "})[0] == 422
    assert ingrid.refused("POST", "/v1/discover", {"query": "x" * 2001})[0] in (413, 422)
    assert ingrid.refused("POST", "/v1/discover", {"query": "a\x00b"})[0] == 422
    unknown = {"intent_id": str(new_id())}
    assert ingrid.refused("POST", "/v1/discover", unknown)[0] == 404
    admin = town.door.api.answer("POST", "/v1/discover", json={"query": "a boat"})
    assert (admin.status_code, "client_id" in admin.text) == (422, True)
    nobody = {"query": "a boat", "client_id": "nobody"}
    assert town.door.api.answer("POST", "/v1/discover", json=nobody).status_code == 422


def test_who_was_picked_is_kept_however_little_speaks_for_them_unless_they_exclude_themselves(
    town: Town,
) -> None:
    town.join("paula", "quay", profile="Paula plays the organ.", location="Bergen")
    town.wish("paula", "offering", "Organ music at weddings and funerals", "quay")
    ingrid = town.people["ingrid"]
    picked = [str(town.people[name].id) for name in ("paula", "oskar")]
    body = {"intent_id": str(ingrid.intents[SEEKS])}
    near = ingrid.discover(**body, members=picked, minimum=0)
    assert {match["name"]: match["score"] <= 29 for match in near} == {"Paula": True, "Oskar": True}
    created = ingrid.call("POST", "/v1/opportunities", {**body, "members": picked})
    assert [item["target"]["name"] for item in created["items"]] == ["Paula"]
    assert [each["member_id"] for each in created["left_out"]] == picked[1:]
