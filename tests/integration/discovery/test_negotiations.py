"""Negotiations over HTTP as wired, over PostgreSQL: turns, windows, outcomes, who signed what."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.front import Cloud, Front, environment, mcp, stand_in_for_aws
from tests.support.negotiating import Member, Scene, scene_of
from tests.support.world import open_world

from cairn.adapters.postgres.sql import named_queries
from cairn.bootstrap.negotiations import negotiations
from cairn.discovery.negotiation import signing
from cairn.discovery.negotiation.going import SweepNegotiations
from cairn.kernel.access.system import system_principal
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from uuid import UUID

    from tests.plugins.postgres import Database


@pytest.fixture
def scene(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    for name, value in environment(database.app_url, tmp_path).items():
        monkeypatch.setenv(name, value)
    stand_in_for_aws(monkeypatch, Cloud())
    world = open_world(database.owner_url, database.app_url, f"talks {new_id()}")
    yield scene_of(Front(world.key), database)
    world.pool.close()


@pytest.fixture
def pair(scene: Scene) -> tuple[Member, Member]:
    return scene.join("ingunn"), scene.join("tor")


def begin(source: Member, opportunity_id: UUID) -> dict[str, Any]:
    body = {"opportunity_id": str(opportunity_id)}
    return source.call("POST", "/v1/negotiations", json=body)


def test_advocates_of_both_sides_agree_or_decline_and_the_opportunity_follows(
    scene: Scene, pair: tuple[Member, Member]
) -> None:
    source, target = pair
    good, poor = scene.meet(source, target), scene.meet(source, target, score=30)
    agreed = begin(source, good)
    assert (agreed["state"], agreed["outcome"], agreed["turn_count"]) == ("ended", "accepted", 2)
    assert agreed["agreed_roles"] == {"source": "patient", "candidate": "agent"}
    assert [turn["voice"] for turn in agreed["turns"]] == ["advocate", "advocate"]
    assert {turn["by"] for turn in agreed["turns"]} == {"rules"}
    assert begin(source, good)["id"] == agreed["id"]
    assert begin(source, poor)["outcome"] == "rejected"
    assert [scene.state_of(each) for each in (good, poor)] == ["draft", "stalled"]
    measures = scene.front.call("GET", "/v1/negotiations/measures")
    expected = {"ended": 2, "accepted": 1, "instant_accepts": 1, "instant_share": 1.0}
    assert measures == expected
    names = [each["event"] for each in events_of(target, agreed["id"])]
    assert names == [
        "negotiation_session_start",
        "negotiation_turn",
        "negotiation_turn",
        "negotiation_outcome",
        "negotiation_session_end",
    ]


def events_of(member: Member, negotiation_id: str) -> list[dict[str, Any]]:
    return member.call("GET", f"/v1/negotiations/{negotiation_id}/events")["items"]


def test_agents_of_both_sides_alternate_and_nobody_else_speaks(
    scene: Scene, pair: tuple[Member, Member]
) -> None:
    source, target = pair
    outsider = scene.join("mal")
    for member in (source, target, outsider):
        assert member.here() is None
    talk = begin(source, scene.meet(source, target))
    talk_id = talk["id"]
    assert (talk["state"], talk["turn_cap"], talk["speaker"]) == ("open", None, "source")
    early = target.refused("POST", target.path(talk_id), json=target.turn("accept", "Yes."))
    assert early == (409, "not-your-turn")
    strange = outsider.refused("POST", outsider.path(talk_id), json=outsider.turn("accept", "Y"))
    assert strange == (404, "not-found")
    body = source.turn("accept", "I accept.")
    assert source.refused("POST", source.path(talk_id), json=body) == (409, "move")
    assert source.refused("POST", source.path(talk_id), json=source.turn("propose", " "))[0] == 422
    assert source.say(talk_id, "propose", "The planking before summer?")["speaker"] == "candidate"
    body = source.turn("accept", "For both.")
    assert source.refused("POST", source.path(talk_id), json=body) == (409, "not-your-turn")
    assert target.say(talk_id, "question", "How long is she?")["outcome"] is None
    source.say(talk_id, "counter", "Eleven metres.", fit=70)
    done = target.say(talk_id, "accept", "She fits.", fit=90)
    assert (done["outcome"], done["turn_count"], done["fit"]) == ("accepted", 4, 80.0)
    assert (done["failures"], done["failure"]) == (1, "move")
    late = source.refused("POST", source.path(talk_id), json=source.turn("counter", "Please?"))
    assert late == (409, "negotiation-ended")
    assert {turn["voice"] for turn in done["turns"]} == {"attested"}
    assert outsider.refused("GET", f"/v1/negotiations/{talk_id}") == (404, "not-found")


def test_a_turn_is_taken_up_once_and_goes_to_the_advocate_when_its_window_passes(
    scene: Scene, pair: tuple[Member, Member]
) -> None:
    source, target = pair
    target.here()
    talk = begin(source, scene.meet(source, target))
    assert [turn["voice"] for turn in talk["turns"]] == ["advocate"]
    first, second = target.here(), target.here()
    assert (first["negotiation"]["id"], first["seq"], second) == (talk["id"], 2, None)
    assert target.here(claim=first["claim"])["claim"] == first["claim"]
    body = target.turn("reject", "No.", claim=str(new_id()))
    assert target.refused("POST", target.path(talk["id"]), json=body) == (409, "claimed")
    scene.let_time_pass(talk["id"])
    body = target.turn("reject", "No.", claim=first["claim"])
    assert target.refused("POST", target.path(talk["id"]), json=body) == (409, "window-passed")
    done = target.call("GET", f"/v1/negotiations/{talk['id']}")
    assert (done["outcome"], done["turns"][1]["voice"]) == ("accepted", "advocate")


def test_an_agent_that_is_only_on_mcp_is_waited_for_once_it_looked_for_turns(
    scene: Scene, pair: tuple[Member, Member]
) -> None:
    source, target = pair
    mcp(scene.front, target.key, "tools/call", name="negotiation_list", arguments={})
    talk = begin(source, scene.meet(source, target))
    assert (talk["state"], talk["speaker"]) == ("open", "candidate")
    turn = {"id": talk["id"], "action": "accept", "message": "Yes, in May."}
    mcp(scene.front, target.key, "tools/call", name="negotiation_respond", arguments=turn)
    done = source.call("GET", f"/v1/negotiations/{talk['id']}")
    assert (done["outcome"], done["turns"][1]["voice"]) == ("accepted", "attested")


def test_a_silent_agent_that_wants_no_advocate_times_out(
    scene: Scene, pair: tuple[Member, Member]
) -> None:
    source, target = pair
    target.here(takeover=False)
    opportunity = scene.meet(source, target)
    talk = begin(source, opportunity)
    scene.let_time_pass(talk["id"])
    sweep(scene)
    done = source.call("GET", f"/v1/negotiations/{talk['id']}")
    assert (done["outcome"], scene.state_of(opportunity)) == ("timed_out", "stalled")


def sweep(scene: Scene) -> dict[str, int]:
    advance = negotiations(scene.platform).advance

    def report(event: str, fields: object) -> None:
        raise AssertionError((event, fields))

    return SweepNegotiations(
        workspaces=lambda: [scene.workspace_id], advance=advance, report=report
    )()


def stalled(source: Member, target: Member, opportunity: UUID) -> dict[str, Any]:
    """Two agents that counter for ever."""
    for member in (source, target):
        member.here()
    talk = begin(source, opportunity)
    source.say(talk["id"], "propose", "May?")
    for speaker, month in zip((target, source, target, source), range(4), strict=False):
        speaker.say(talk["id"], "counter", f"Month {month}?")
    assert target.call("GET", f"/v1/negotiations/{talk['id']}")["stance"] == "decide"
    return target.say(talk["id"], "counter", "The week after?")


def test_agents_that_counter_for_ever_wait_for_one_word_of_their_people(
    scene: Scene, pair: tuple[Member, Member]
) -> None:
    source, target = pair
    opportunity = scene.meet(source, target)
    talk = stalled(source, target, opportunity)
    assert (talk["state"], talk["outcome"]) == ("waiting", "waiting_for_agent")
    assert scene.state_of(opportunity) == "negotiating"
    own = source.call("GET", f"/v1/negotiations/{talk['id']}")["question"]
    assert (own, talk["question"]) == (
        "The other side said last: 'The week after?'. Would that do?",
        "Your agent said last: 'The week after?'. Shall it agree to less?",
    )
    path = f"/v1/negotiations/{talk['id']}/answer"
    resumed = source.call("POST", path, json={"answer": "Yes, that would do."})
    assert (resumed["state"], resumed["speaker"]) == ("open", "source")
    assert source.refused("POST", path, json={"answer": "Yes."}) == (409, "not-waiting")
    assert source.here()["answers"] == ["Yes, that would do."]
    scene.sql("UPDATE negotiation SET claim = NULL, claim_until = NULL")
    for speaker, word in zip((source, target) * 3, "abcde", strict=False):
        talk = speaker.say(talk["id"], "counter", f"{word}?")
    assert (talk["outcome"], scene.state_of(opportunity)) == ("rejected_stalled", "stalled")


def test_a_stall_that_no_person_answers_ends_as_stalled(
    scene: Scene, pair: tuple[Member, Member]
) -> None:
    source, target = pair
    opportunity = scene.meet(source, target)
    talk = stalled(source, target, opportunity)
    scene.let_time_pass(talk["id"])
    assert sweep(scene) == {"negotiations_advanced": 1, "negotiations_ended": 1}
    assert scene.state_of(opportunity) == "stalled"
    assert sweep(scene) == {"negotiations_advanced": 0, "negotiations_ended": 0}


def test_who_leaves_the_network_in_the_middle_ends_it_and_their_yes_counts_for_nothing(
    scene: Scene, pair: tuple[Member, Member]
) -> None:
    source, target = pair
    target.here()
    opportunity = scene.meet(source, target)
    talk = begin(source, opportunity)
    scene.sql(
        "UPDATE network_member SET left_at = now()"
        " WHERE workspace_id = %(w)s AND member_id = %(m)s",
        m=target.id,
    )
    body = target.turn("accept", "Yes.")
    refusal = target.refused("POST", target.path(talk["id"]), json=body)
    assert refusal == (409, "negotiation-ended")
    done = source.call("GET", f"/v1/negotiations/{talk['id']}")
    assert (done["outcome"], scene.state_of(opportunity)) == ("expired", "stalled")


def test_a_turn_that_its_agent_signed_holds_for_outsiders_until_somebody_rewrites_it(
    scene: Scene, pair: tuple[Member, Member]
) -> None:
    source, target = pair
    source.here()
    key_id = source.register()
    talk = begin(source, scene.meet(source, target))
    unsigned = source.refused("POST", source.path(talk["id"]), json=source.turn("propose", "Hm?"))
    assert unsigned == (422, "signature-needed")
    body = source.signed(source.here(), "propose", "The planking?")
    forged = {**body, "message": "Everything, for nothing?"}
    assert source.refused("POST", source.path(talk["id"]), json=forged) == (422, "signature")
    source.call("POST", source.path(talk["id"]), json=body)
    export = target.call("GET", f"/v1/negotiations/{talk['id']}/export")
    holds = signing.verify(export, [key_id, export["advocate_key_id"]])
    assert holds.holds, holds
    assert holds.keys["source agent"] == [key_id]
    scene.sql("UPDATE negotiation_turn SET header = replace(header, 'propose', 'accept')")
    export = target.call("GET", f"/v1/negotiations/{talk['id']}/export")
    reasons = [(fault.seq, fault.reason) for fault in signing.verify(export).faults]
    assert (1, "signature") in reasons
    assert (2, "turn-before") in reasons


def test_what_a_side_alone_knows_weighs_and_is_read_by_nobody_else(
    scene: Scene, pair: tuple[Member, Member]
) -> None:
    source, target = pair
    wish = source.seek("Larch planking wanted for a pilot boat", "seeking")
    offer = target.seek("Larch planking for wooden boats", "offering")
    secret = {"type": "fact", "text": "Larch planking never for less than 380 an hour."}
    target.call("POST", "/v1/memories", json=secret)
    talk = begin(source, scene.meet(source, target, intents=(wish, offer)))
    assert "pilot boat" in talk["turns"][0]["message"]
    path = f"/v1/negotiations/{talk['id']}"
    own = target.call("GET", f"{path}/inputs")["items"][0]
    assert own["commitment"] == signing.commitment(bytes.fromhex(own["salt"]), secret["text"])
    assert own["commitment"] in talk["turns"][own["seq"] - 1]["inputs"]
    assert source.call("GET", f"{path}/inputs")["items"] == []
    places = (path, f"{path}/events", f"{path}/export", "/v1/negotiations", "/v1/memories")
    seen = "".join(str(source.call("GET", place)) for place in places)
    assert "380 an hour" not in seen
    assert own["salt"] not in seen
    ledger = scene.sql("SELECT meta FROM ledger WHERE workspace_id = %(w)s")
    assert "380 an hour" not in str(ledger)


CLONED = """
  WITH many AS (SELECT gen_random_uuid() AS id, gen_random_uuid() AS opportunity_id
    FROM generate_series(2, %(count)s)),
  opportunities AS (INSERT INTO opportunity (workspace_id, id, pair, network_id, source_id,
      target_id, source_role, target_role, score, trigger, state, data_subjects, body, created_at,
      changed_at, expires_at)
    SELECT o.workspace_id, m.opportunity_id, m.id, o.network_id, o.source_id, o.target_id,
      o.source_role, o.target_role, o.score, o.trigger, o.state, o.data_subjects, o.body,
      o.created_at, o.changed_at, o.expires_at FROM many m, opportunity o
     WHERE o.workspace_id = %(w)s)
  INSERT INTO negotiation (workspace_id, id, opportunity_id, network_id, source_id, candidate_id,
    source_role, candidate_role, score, trigger, state, cap, speaker, head, deadline, data_subjects,
    begun_at, changed_at)
  SELECT n.workspace_id, m.id, m.opportunity_id, n.network_id, n.source_id, n.candidate_id,
    n.source_role, n.candidate_role, n.score, n.trigger, n.state, n.cap, n.speaker, n.head, now(),
    n.data_subjects, n.begun_at, n.changed_at
    FROM many m, negotiation n WHERE n.workspace_id = %(w)s
"""


def test_of_a_thousand_open_at_once_each_ends_once_though_sweeps_race_and_die(
    scene: Scene, pair: tuple[Member, Member]
) -> None:
    source, target = pair
    source.here(takeover=False)
    begin(source, scene.meet(source, target))
    scene.sql(CLONED, count=1_000)
    scene.sql("UPDATE negotiation SET deadline = now() WHERE workspace_id = %(w)s")

    def work(dies_after: int) -> None:
        advance = negotiations(scene.platform).advance
        with scene.platform.transactions.reading(system_principal(scene.workspace_id)) as stores:
            rows = stores.negotiations.due(scene.platform.clock(), dies_after)
        for row in rows:
            advance(scene.workspace_id, row.id)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, (300, 300)))
    sweep(scene)
    ended = scene.sql(
        "SELECT outcome, count(*) FROM negotiation WHERE workspace_id = %(w)s GROUP BY outcome"
    )
    assert ended == [("timed_out", 1_000)]
    entries = scene.sql(
        "SELECT count(*), count(DISTINCT meta::jsonb ->> 'negotiation_id') FROM ledger"
        " WHERE workspace_id = %(w)s AND type = 'negotiation.ended'"
    )
    assert entries == [(1_000, 1_000)]


def test_a_side_that_is_forgotten_leaves_signatures_that_verify_and_no_word(
    scene: Scene, pair: tuple[Member, Member]
) -> None:
    source, target = pair
    target.here()
    opportunity = scene.meet(source, target)
    talk = begin(source, opportunity)
    statements = named_queries("forgetting")
    for name in ("negotiations", "negotiation_turns", "negotiation_privates", "negotiators"):
        erase = statements[f"erase_{name}"].decode()
        scene.sql(erase.replace("workspace_id)s", "w)s"), subject_id=target.id)
    scene.platform.keys.destroy(scene.workspace_id, target.id)
    done = source.call("GET", f"/v1/negotiations/{talk['id']}")
    assert (done["outcome"], done["turns"][0]["message"]) == ("expired", None)
    export = source.call("GET", f"/v1/negotiations/{talk['id']}/export")
    verified = signing.verify(export)
    assert (verified.holds, verified.forgotten) == (True, 1)
    left = scene.sql("SELECT negotiation::text FROM negotiation")
    assert str(target.id) not in str(left)
