"""Who asks for meetings, and what they are shown as agents come to an end."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from tests.integration.storage import test_search_front
from tests.plugins.waiting import eventually
from tests.support.matching import Someone, Town

from cairn.api.chat_tools import toolbox
from cairn.api.discovery_streams import DraftEvents, drafts
from cairn.api.mcp.opportunity_tools import CREATE
from cairn.api.options import Pace
from cairn.bootstrap.matching import sweep_discovery
from cairn.bootstrap.parts import logger
from cairn.discovery.matching.discovery import DiscoveryRequest

if TYPE_CHECKING:
    from tests.integration.storage.test_search_front import Door
    from tests.plugins.postgres import Database

    from cairn.chat.tools import Result

door = test_search_front.door
SEEKS = "Looking for a shipwright to replace rotten planks of an old pilot boat in Bergen"
OFFERS = "Shipwright: we replace rotten planks of an old boat, pilot boat or not, in Bergen"
STREAM = {"accept": "text/event-stream"}
CANARY = "marzipan"


@pytest.fixture
def town(door: Door, database: Database) -> Town:
    town = Town(door, database)
    for name in ("ingrid", "torvald", "stig"):
        town.join(name, "quay", profile=f"{name.title()} lives at the quay.", location="Bergen")
    town.wish("ingrid", "seeking", SEEKS, "quay")
    town.wish("torvald", "offering", OFFERS, "quay")
    return town


def search_of(ingrid: Someone) -> dict[str, str]:
    return {"intent_id": str(ingrid.intents[SEEKS])}


def here(who: Someone, **given: Any) -> dict[str, Any] | None:
    """The member's own agent asks for a turn."""
    path = f"/v1/agents/agent-of-{who.client}/negotiations/pickup"
    turn: dict[str, Any] | None = who.call("POST", path, given)["turn"]
    return turn


def say(who: Someone, turn: dict[str, Any], action: str, message: str) -> dict[str, Any]:
    talk = turn["negotiation"]["id"]
    path = f"/v1/agents/agent-of-{who.client}/negotiations/{talk}/respond"
    body = {"action": action, "message": message, "claim": turn["claim"]}
    answer: dict[str, Any] = who.call("POST", path, body)
    return answer


def streamed(who: Someone, method: str, path: str, body: Any = None) -> list[tuple[str, Any]]:
    """The events of an answer, with their data."""
    sent = {"json": body} if body is not None else {}
    headers = {"authorization": f"Bearer {who.key}", **STREAM}
    answer = who.town.door.api.answer(method, path, headers=headers, **sent)
    assert answer.is_success, answer.text
    return events_in(answer.text)


def events_in(text: str) -> list[tuple[str, Any]]:
    blocks = [block.split("\n") for block in text.split("\n\n") if block.startswith("event: ")]
    return [
        (lines[0].removeprefix("event: "), json.loads(lines[-1].removeprefix("data: ")))
        for lines in blocks
    ]


def test_who_asks_gets_a_draft_once_agents_have_spoken_for_both(town: Town) -> None:
    ingrid, torvald = town.people["ingrid"], town.people["torvald"]
    created = ingrid.call("POST", "/v1/opportunities", search_of(ingrid))
    (draft,) = created["items"]
    assert (draft["state"], draft["trigger"], created["new"]) == ("draft", "orchestrator", 1)
    changes = "SELECT state FROM opportunity_change WHERE workspace_id = %(w)s ORDER BY seq"
    assert town.sql(changes) == [("latent",), ("negotiating",), ("draft",)]
    assert torvald.mine() == []
    again = ingrid.call("POST", "/v1/opportunities", search_of(ingrid))
    assert (again["new"], again["items"]) == (0, [draft])
    assert town.sql("SELECT count(*) FROM negotiation WHERE workspace_id = %(w)s") == [(1,)]


def test_an_agent_that_is_there_has_a_minute_and_who_asked_polls_until_it_answered(
    town: Town,
) -> None:
    ingrid, torvald = town.people["ingrid"], town.people["torvald"]
    assert here(torvald) is None
    (item,) = ingrid.call("POST", "/v1/opportunities", search_of(ingrid))["items"]
    assert item["state"] == "negotiating"
    window = (
        "SELECT trigger, deadline > now(), deadline <= now() + interval '60 seconds'"
        " FROM negotiation WHERE workspace_id = %(w)s"
    )
    assert town.sql(window) == [("orchestrator", True, True)]
    turn = here(torvald)
    assert turn is not None
    say(torvald, turn, "accept", "She may come in June.")
    (item,) = ingrid.call("POST", "/v1/opportunities", search_of(ingrid))["items"]
    assert item["state"] == "draft"


def test_asking_again_goes_on_where_an_agent_let_its_minute_pass(town: Town) -> None:
    ingrid, torvald = town.people["ingrid"], town.people["torvald"]
    here(torvald)
    (item,) = ingrid.call("POST", "/v1/opportunities", search_of(ingrid))["items"]
    assert item["state"] == "negotiating"
    town.sql("UPDATE negotiation SET deadline = now() WHERE workspace_id = %(w)s")
    (item,) = ingrid.call("POST", "/v1/opportunities", search_of(ingrid))["items"]
    assert item["state"] == "draft"


def test_a_stream_tells_of_the_search_each_turn_and_the_draft_as_soon_as_it_is_ready(
    town: Town,
) -> None:
    ingrid, torvald = town.people["ingrid"], town.people["torvald"]
    secret = {"type": "fact", "text": f"Planks never for less than 380 an hour, says {CANARY}."}
    torvald.call("POST", "/v1/memories", secret)
    assert here(torvald) is None
    with ThreadPoolExecutor(1) as pool:
        stream = pool.submit(streamed, ingrid, "POST", "/v1/opportunities", search_of(ingrid))
        turn = eventually(lambda: here(torvald), what="a turn") or {}
        say(torvald, turn, "accept", "She may come in June.")
        events = stream.result(timeout=60)
    names = [name for name, _ in events if not name.startswith("agent_")]
    assert names == [
        "graph_start",
        "negotiation_session_start",
        "negotiation_turn",
        "negotiation_turn",
        "negotiation_outcome",
        "negotiation_session_end",
        "opportunity_draft_ready",
        "debug_meta",
        "graph_end",
    ]
    data = dict(events)
    assert data["graph_start"]["name"] == "discovery"
    assert data["negotiation_session_start"]["trigger"] == "orchestrator"
    assert data["negotiation_turn"]["message"] == "She may come in June."
    assert data["opportunity_draft_ready"]["opportunity"]["state"] == "draft"
    (item,) = data["graph_end"]["items"]
    assert (item["id"], item["state"]) == (
        data["opportunity_draft_ready"]["opportunity_id"],
        "draft",
    )
    stages = [each["name"] for each in data["debug_meta"]["timings"]]
    assert stages == ["scope", "embed", "search", "evaluate", "rank"]
    assert CANARY not in json.dumps(events)
    followed = streamed(ingrid, "GET", f"/v1/negotiations/{turn['negotiation']['id']}/events")
    assert [name for name, _ in followed] == names[1:6]


def test_a_look_without_keeping_tells_of_its_stages(town: Town) -> None:
    ingrid = town.people["ingrid"]
    events = streamed(ingrid, "POST", "/v1/discover", search_of(ingrid))
    assert [name for name, _ in events] == [
        "graph_start",
        *["agent_start", "agent_end"] * 5,
        "debug_meta",
        "graph_end",
    ]
    whole = ingrid.call("POST", "/v1/discover", search_of(ingrid))
    assert {**events[-1][1], **whole} == events[-1][1]


def test_who_leaves_is_shown_nothing_more_and_what_was_found_goes_on_by_itself(
    town: Town,
) -> None:
    town.wish("stig", "offering", OFFERS.replace("old", "larch"), "quay")
    ingrid, services = town.people["ingrid"], town.door.api.app.state.services
    caller = services.admit(ingrid.key).principal
    request = DiscoveryRequest(intent_id=ingrid.intents[SEEKS])
    search = services.opportunities.search(caller, request)
    assert len(search.latent) == 2

    async def until_the_first_draft() -> list[tuple[str, Any]]:
        parts = drafts(DraftEvents(services, caller, search), lambda: None, Pace())
        shown: list[tuple[str, Any]] = []
        async for part in parts:
            shown += events_in(part.decode())
            if shown[-1][0] == "opportunity_draft_ready":
                break
        await parts.aclose()  # type: ignore[attr-defined]
        return shown

    shown = anyio.run(until_the_first_draft)
    assert [name for name, _ in shown].count("negotiation_session_start") == 1
    states = "SELECT state FROM opportunity WHERE workspace_id = %(w)s ORDER BY state"
    assert town.sql(states) == [("draft",), ("latent",)]

    def report(event: str, fields: object) -> None:
        raise AssertionError((event, fields))

    sweep = sweep_discovery(
        lambda: [town.workspace_id], services.platform, services.embedder, report
    )
    town.sql("UPDATE intent SET discovered_at = now() WHERE workspace_id = %(w)s")
    assert sweep(seconds=60)["opportunities_negotiated"] == 1
    assert town.sql(states) == [("draft",), ("draft",)]


def test_whom_one_met_before_is_named_and_gets_no_second_draft(town: Town) -> None:
    ingrid, torvald = town.people["ingrid"], town.people["torvald"]
    (draft,) = ingrid.call("POST", "/v1/opportunities", search_of(ingrid))["items"]
    ingrid.call("POST", f"/v1/opportunities/{draft['id']}/send", {})
    torvald.call("POST", f"/v1/opportunities/{draft['id']}/accept", {})
    other = OFFERS.replace("pilot boat", "larch boat")
    town.wish("torvald", "offering", other, "quay")
    created = ingrid.call("POST", "/v1/opportunities", search_of(ingrid))
    assert (created["items"], created["new"]) == ([], 0)
    assert [each["id"] for each in created["already_accepted"]] == [draft["id"]]
    assert town.sql("SELECT count(*) FROM opportunity WHERE workspace_id = %(w)s") == [(1,)]
    assert f"Torvald was met before ({draft['id']})" in tool_text(town, ingrid)


def tool_text(town: Town, who: Someone) -> str:
    """What the tool of chats and of MCP says to a model."""
    return called(town, who).text


def called(town: Town, who: Someone) -> Result:
    """What a chat gets of the tool."""
    services = town.door.api.app.state.services
    tools = toolbox(services, services.admit(who.key).principal, logger("api", "CRITICAL"), "s")
    return tools.call(CREATE.name, search_of(who))


def test_a_chat_tells_of_each_negotiation_and_draft_as_other_streams_do(town: Town) -> None:
    result = called(town, town.people["ingrid"])
    assert [name for name, _ in result.events] == [
        "negotiation_session_start",
        "negotiation_turn",
        "negotiation_turn",
        "negotiation_outcome",
        "negotiation_session_end",
        "opportunity_draft_ready",
    ]
    assert result.events[-1][1]["opportunity"]["state"] == "draft"
