"""Two memories made one, and one given to other readers: what each role does, what is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.integration.console import test_memories
from tests.integration.console.test_memories import HOSTILE, PAGE, follow, tell
from tests.support.console import signed_in
from tests.support.world import open_world

from cairn.kernel.access import PersonRole
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from tests.integration.storage.test_console import Deployed
    from tests.plugins.postgres import Database

deployed = test_memories.deployed


def test_two_that_are_ticked_become_one_that_stands_for_both(deployed: Deployed) -> None:
    browser = deployed.person(f"merges-{new_id()}", PersonRole.OPERATOR)
    one = tell(deployed, f"Ada lives in Rome. {HOSTILE}", client_id="ada")
    other = tell(deployed, "Ada has lived in Rome since May.", client_id="ada")
    third = tell(deployed, "Ada rows.", client_id="ada")
    ticked = {f"id.{each}": "yes" for each in (one, other)}
    chosen = browser.submit(f"{PAGE}/several", deed="merged", **ticked)
    both = follow(browser, chosen)
    assert "&lt;script&gt;" in both
    assert "<b onclick" not in both
    assert f"cairn memory merge {one} {other}" in both
    for wrong in ({f"id.{one}": "yes"}, {**ticked, f"id.{third}": "yes"}):
        answer = browser.submit(f"{PAGE}/several", deed="merged", **wrong)
        assert (answer.status_code, "tick two" in answer.text) == (422, True)
    path = f"{PAGE}/{one}/merge"
    empty = browser.submit(path, other=other, text="Ada lives in Rome since May.", reason="")
    assert empty.status_code == 422
    assert "Ada lives in Rome since May.</textarea>" in empty.text
    done = browser.submit(path, other=other, text="Ada lives in Rome since May.", reason="One.")
    page = follow(browser, done)
    assert "it stands for both" in page
    assert 'class="text saying">Ada lives in Rome since May.<' in page
    made = done.headers["location"].partition("?")[0].rpartition("/")[2]
    for old in (one, other):
        assert deployed.front.call("GET", f"/v1/memories/{old}")["superseded_by"] == made
        assert "has said its last" in browser.get(f"{PAGE}/{old}/merge?other={third}").text
    again = browser.submit(path, other=other, text="Ada lives in Rome since May.", reason="One.")
    assert again.headers["location"] == done.headers["location"]  # as a second press of the button


def test_what_somebody_changed_while_two_were_merged_is_told_and_the_text_stays(
    deployed: Deployed,
) -> None:
    browser = deployed.person(f"late-{new_id()}")
    one = tell(deployed, "The gate is red.", client_id="yard")
    other = tell(deployed, "The gate is heavy.", client_id="yard")
    event = tell(deployed, "The gate fell.", client_id="yard", type="event")
    stranger = tell(deployed, "The gate squeaks.", client_id="barn")
    reason = {"reason": "A new coat."}
    corrected = deployed.front.call(
        "PATCH", f"/v1/memories/{other}", json={"text": "The gate is very heavy.", **reason}
    )["id"]
    late = browser.submit(f"{PAGE}/{one}/merge", other=other, text="Red and heavy.", reason="So.")
    assert late.status_code == 409
    assert "Somebody changed this memory while you wrote" in late.text
    assert "The gate is very heavy." in late.text
    assert "Red and heavy.</textarea>" in late.text
    assert f'name="other" value="{corrected}"' in late.text
    for unlike, told in ((event, "cannot become one memory"), (stranger, "move one of them first")):
        answer = browser.submit(f"{PAGE}/{one}/merge", other=unlike, text="Both.", reason="So.")
        assert (answer.status_code, told in answer.text) == (409, True)
        assert "Both.</textarea>" in answer.text
    offered = browser.get(f"{PAGE}/{one}/merge").text
    assert f"{PAGE}/{one}/merge?other={corrected}" in offered
    assert str(event) not in offered
    for nobody in (str(new_id()), "no-id"):
        answer = browser.get(f"{PAGE}/{one}/merge?other={nobody}")
        assert (answer.status_code, f'value="{nobody}"' in answer.text) == (404, True)
    assert browser.get(f"{PAGE}/{one}/merge?other={one}").status_code == 422


def test_a_memory_is_moved_to_other_readers_and_back(deployed: Deployed) -> None:
    browser = deployed.person(f"moves-{new_id()}", PersonRole.OPERATOR)
    memory = tell(deployed, f"Bolt pays late. {HOSTILE}", client_id="acme")
    form = {"client_id": "bolt", "scope": "shared", "agents": "scout, porter", "reason": ""}
    refused = browser.submit(f"{PAGE}/{memory}/move", **form)
    assert refused.status_code == 422
    assert 'value="scout, porter"' in refused.text
    done = browser.submit(f"{PAGE}/{memory}/move", **form | {"reason": "It is Bolt's."})
    page = follow(browser, done)
    assert "1 memory: moved" in page
    moved = done.headers["location"].partition("?")[0].rpartition("/")[2]
    there = deployed.front.call("GET", f"/v1/memories/{moved}")
    assert (there["client_id"], there["scope"], there["agents"]) == (
        "bolt", "shared", ["porter", "scout"],
    )  # fmt: skip
    assert "pays late" not in browser.get(f"{PAGE}?client=acme").text
    late = browser.submit(f"{PAGE}/{memory}/move", **form | {"client_id": "x", "reason": "Mine."})
    assert late.status_code == 409
    assert "Somebody changed this memory while you wrote" in late.text
    assert ('value="x"' in late.text, 'value="Mine."' in late.text) == (True, True)
    assert browser.submit(f"{PAGE}/{moved}/move", **form | {"scope": "all"}).status_code == 422
    back = {"client_id": "acme", "scope": "admin", "agents": "", "reason": "It was Acme's."}
    assert browser.submit(f"{PAGE}/{moved}/move", **back).status_code == 303
    assert "pays late" in browser.get(f"{PAGE}?client=acme").text


def test_who_may_not_merge_or_move_is_shown_no_form_and_refused(
    deployed: Deployed, database: Database
) -> None:
    one = tell(deployed, "Iris sings.", client_id="iris")
    other = tell(deployed, "Iris sings well.", client_id="iris")
    merge = {"other": other, "text": "Iris sings.", "reason": "So."}
    move = {"client_id": "nobody", "reason": "So."}
    for role in (PersonRole.READER, PersonRole.REVIEWER):
        browser = deployed.person(f"no-{new_id()}", role)
        assert "Merge them" not in browser.get(f"{PAGE}/{one}/merge?other={other}").text
        assert f"{one}/move" not in browser.get(f"{PAGE}/{one}").text.partition("<details class")[0]
        assert browser.submit(f"{PAGE}/{one}/merge", **merge).status_code == 403
        assert browser.submit(f"{PAGE}/{one}/move", **move).status_code == 403
    apart = open_world(database.owner_url, database.app_url, f"other {new_id()}")
    try:
        stranger = signed_in(deployed.app, apart.workspace_id, f"stranger-{new_id()}")
        assert stranger.get(f"{PAGE}/{one}/merge?other={other}").status_code == 404
        assert stranger.submit(f"{PAGE}/{one}/merge", **merge).status_code == 404
        assert stranger.submit(f"{PAGE}/{one}/move", **move).status_code == 404
    finally:
        apart.pool.close()
    assert deployed.front.call("GET", f"/v1/memories/{one}")["state"] == "active"
