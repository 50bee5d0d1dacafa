"""Pages that say what is known and how much: clients, summaries, statistics, shared talks."""

# pyright: basic

from __future__ import annotations

import re
from time import monotonic
from typing import TYPE_CHECKING

from tests.integration.console import test_memories
from tests.integration.console.test_conversations import PAGE, PEANUTS, draw, say
from tests.integration.console.test_memories import HOSTILE, tell
from tests.support.console import signed_in
from tests.support.world import open_world

from cairn.kernel.access import PersonRole
from cairn.kernel.ids import new_id
from cairn.summaries.append import SummaryWriting
from cairn.summaries.texts import ByRules
from cairn.summaries.write import SummariseWorkspace

if TYPE_CHECKING:
    from tests.integration.storage.test_console import Deployed
    from tests.plugins.postgres import Database
    from tests.support.console import Browser
    from tests.support.front import Front
    from tests.support.world import World

deployed = test_memories.deployed
CLIENTS, SUMMARIES, STATS = "/console/clients", "/console/summaries", "/console/stats"


def sum_up(front: Front, world: World) -> None:
    """Let the consolidation's step write what sessions and agents did, by rules."""
    platform = front.app.state.services.platform
    SummariseWorkspace(
        transactions=platform.transactions,
        writing=SummaryWriting(platform),
        condense=ByRules(),
        stopwatch=monotonic,
    )(world.workspace_id, seconds=60)


def stranger(deployed: Deployed, database: Database) -> Browser:
    """Somebody of another workspace of the same deployment."""
    world = open_world(database.owner_url, database.app_url, f"next door {new_id()}")
    world.pool.close()
    return signed_in(deployed.app, world.workspace_id, f"stranger-{new_id()}")


def public_key(deployed: Deployed) -> tuple[str, str]:
    """Make a key of the role public; return its id and its secret."""
    agent = f"visits-{new_id()}"
    body = {"slug": agent, "name": "Visits", "description": "Talks with visitors."}
    deployed.front.call("POST", "/v1/agents", json=body)
    body = {"name": f"visitor {HOSTILE}", "role": "public", "agent_slug": agent}
    made = deployed.front.call("POST", "/v1/keys", json=body)
    return made["key"]["id"], made["secret"]


def test_a_clients_page_has_what_is_known_of_them_with_its_evidence_and_no_markup(
    deployed: Deployed, database: Database
) -> None:
    reader = deployed.person(f"knows-{new_id()}", PersonRole.READER)
    assert "No memory names a client yet" in reader.get(CLIENTS).text
    client = f"Ada & {HOSTILE}"[:90]
    talk = say(deployed, PEANUTS, sender="Ada", client_id=client, session_id="a & b")
    draw(deployed.front, deployed.world)
    tell(deployed, f"Ada: I speak German. {HOSTILE}", client_id=client)
    page = reader.get(CLIENTS, params={"client": client}).text
    (drawn,) = [each for each in deployed.front.call("GET", "/v1/memories")["items"]
                if "allergic" in each["text"]]  # fmt: skip
    assert f'href="/console/memories/{drawn["id"]}"' in page
    said = re.search(r'href="(/console/cited\?citation=[^"]+)">the message 1', page)
    assert said is not None
    assert "allergic to peanuts" in reader.get(said[1]).text
    assert f'href="{PAGE}/{talk}"' in page
    assert f"{SUMMARIES}?scope=session&amp;of=a%20%26%20b" in page
    assert HOSTILE not in page
    assert "<b onclick" not in page
    assert "Forget them" not in page  # for owners and admins
    assert "cairn profile" in page
    known = deployed.front.call("GET", "/v1/profile", params={"client_id": client})
    skills = reader.get(CLIENTS, params={"client": client, "about": "how_does"}).text
    assert [each["id"] for each in known["skills"]]
    for each in known["skills"]:
        assert f'href="/console/memories/{each["id"]}"' in skills
    assert "What they like" not in skills
    link = re.search(r'href="(/console/clients\?client=[^"]+)">Ada', reader.get(CLIENTS).text)
    assert link is not None
    assert "What is the case" in reader.get(link[1]).text
    for path in (f"{PAGE}/{talk}", "/console/memories"):
        there = reader.get(path, params={"client": client}).text
        assert "/console/clients?client=Ada" in there, path
    owner = deployed.person(f"forgets-{new_id()}")
    assert "Forget them" in owner.get(CLIENTS, params={"client": client}).text
    for name in ("global", "x" * 400):
        assert reader.get(CLIENTS, params={"client": name}).status_code in (200, 422)
    assert reader.get(CLIENTS, params={"about": "everything"}).status_code == 422
    foreign = stranger(deployed, database).get(CLIENTS, params={"client": client}).text
    assert "Nothing is known of them" in foreign
    assert "allergic" not in foreign


def test_a_summary_leads_down_to_what_was_said_and_is_found_by_its_session(
    deployed: Deployed, database: Database
) -> None:
    reader = deployed.person(f"sums-{new_id()}", PersonRole.READER)
    assert "There is none yet" in reader.get(SUMMARIES).text
    for number in range(3):
        for session in ("visit", "other"):
            text = f"The {session} tide came in, {number}. {HOSTILE}"
            tell(deployed, text, type="event", session_id=session, source_agent="desk",
                 client_id="ada")  # fmt: skip
    sum_up(deployed.front, deployed.world)
    page = reader.get(SUMMARIES, params={"scope": "session", "of": "visit"}).text
    (id_,) = re.findall(rf'href="{SUMMARIES}/([0-9a-f-]{{36}})"', page)
    asked = {"scope": "session", "scope_id": "visit"}
    listed = deployed.front.call("GET", "/v1/summaries", params=asked)["items"]
    assert [each["id"] for each in listed] == [id_]
    assert "cairn summaries list --scope session --of visit" in page
    assert "scope=session&amp;scope_id=visit" in page
    one = reader.get(f"{SUMMARIES}/{id_}").text
    for text in ("The visit tide came in, 2.", f"{CLIENTS}?client=ada", "What it is made of"):
        assert text in one, text
    for shown in (page, one, reader.get(SUMMARIES).text):
        assert HOSTILE not in shown
        assert "<b onclick" not in shown
    assert reader.get(SUMMARIES, params={"scope": "year"}).status_code == 422
    assert reader.get(SUMMARIES, params={"at": "soon", "after": id_}).status_code == 422
    for wrong in (str(new_id()), "no-id"):
        assert reader.get(f"{SUMMARIES}/{wrong}").status_code == 404
    assert stranger(deployed, database).get(f"{SUMMARIES}/{id_}").status_code == 404


def test_many_summaries_come_in_pages_each_once(deployed: Deployed) -> None:
    reader = deployed.person(f"many-{new_id()}", PersonRole.READER)
    items = [
        {"text": f"The ferry {did} on day {number}.", "type": "event", "session_id": f"d{number}"}
        for number in range(26)
        for did in ("left at dawn", "came back", "was cleaned")
    ]
    deployed.front.call("POST", "/v1/memories", json={"items": items})
    sum_up(deployed.front, deployed.world)
    seen: list[str] = []
    path: str | None = f"{SUMMARIES}?scope=session"
    while path:
        page = reader.get(path).text
        seen += re.findall(rf'href="{SUMMARIES}/([0-9a-f-]{{36}})"', page)
        older = re.search(rf'href="({SUMMARIES}\?[^"]*)">Older', page)
        path = older[1].replace("&amp;", "&") if older else None
    items = deployed.front.call("GET", "/v1/summaries", params={"scope": "session", "limit": 100})[
        "items"
    ]
    assert seen == [each["id"] for each in items]
    assert len(seen) == len(set(seen)) == 26


def test_statistics_are_those_of_the_api_for_owners_and_admins(deployed: Deployed) -> None:
    for number in range(4):
        tell(deployed, f"The hut has {number} beds {HOSTILE}.", client_id=HOSTILE[:60])
    held = deployed.front.call("GET", "/v1/stats")
    for role in PersonRole:
        browser = deployed.person(f"counts-{new_id()}", role)
        page = browser.get(STATS)
        if role not in (PersonRole.OWNER, PersonRole.ADMIN):
            assert page.status_code == 403
            assert STATS not in browser.get("/").text
            continue
        assert f"{held['active_memories']} active memories" in page.text
        assert re.search(r'data-copy="[0-9a-f]{64}"', page.text)  # of the ledger's end
        assert page.text.count("<svg") >= 3
        assert "Duplicates of older ones" in page.text
        assert "all of them" in page.text
        assert HOSTILE not in page.text
        for path in ("/", "/console/upkeep"):
            assert f'href="{STATS}"' in browser.get(path).text, path


def test_a_conversation_is_shared_with_one_key_for_good(
    deployed: Deployed, database: Database
) -> None:
    owner = deployed.person(f"shares-{new_id()}", PersonRole.ADMIN)
    mine = say(deployed, "The hut opens in May.", scope="public", session_id="mine")
    other = say(deployed, "The hut closes in October.", scope="public", session_id="other")
    (key, secret), (second, _) = public_key(deployed), public_key(deployed)
    path = f"{PAGE}/{mine}"
    page = owner.get(path).text
    assert f'<option value="{key}">' in page
    assert "No key is bound to it" in page
    assert HOSTILE not in page
    refused = owner.submit(f"{path}/keys", key_id=key)  # the box is not ticked
    assert refused.status_code == 422
    assert f'value="{key}"' in refused.text
    for wrong in ("", "soon", str(new_id()), deployed.front.call("GET", "/v1/whoami")["key_id"]):
        refused = owner.submit(f"{path}/keys", key_id=wrong, meant="yes")
        assert refused.status_code == 422, wrong
        assert f'name="key_id" list="public-keys" value="{wrong}"' in refused.text
    assert "No key is bound to it" in owner.get(path).text
    assert owner.submit(f"{path}/keys", key_id=key, meant="yes").status_code == 303
    assert owner.submit(f"{path}/keys", key_id=key, meant="yes").status_code == 303  # the same
    assert len(deployed.entries("key.bound")) == 1
    page = owner.get(f"{path}?done=shared").text
    assert "Keys that see it" in page
    assert f'<option value="{key}">' not in page
    headers = {"authorization": f"Bearer {secret}"}
    seen = deployed.front.answer("GET", "/v1/conversations", headers=headers).json()["items"]
    assert [each["id"] for each in seen] == [mine]
    taken = owner.submit(f"{PAGE}/{other}/keys", key_id=key, meant="yes")
    assert taken.status_code == 409
    assert "belongs to another conversation" in taken.text
    assert owner.submit(f"{PAGE}/{new_id()}/keys", key_id=second, meant="yes").status_code == 404
    for role in (PersonRole.OPERATOR, PersonRole.READER):
        browser = deployed.person(f"only-{new_id()}", role)
        assert "Share it with a key" not in browser.get(path).text
        assert browser.submit(f"{path}/keys", key_id=second, meant="yes").status_code == 403
    foreign = stranger(deployed, database)
    assert foreign.submit(f"{path}/keys", key_id=second, meant="yes").status_code == 404
