"""The memories page over the real database: what each role does, and what is told of others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.storage.test_console import Deployed
from tests.support.console import register_hashing
from tests.support.embedding import HashingEmbedder
from tests.support.forgetting import erase_in_memory
from tests.support.front import Cloud, Front, environment, stand_in_for_aws
from tests.support.world import open_world

from cairn.kernel.access import PersonRole
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx
    from tests.plugins.postgres import Database
    from tests.support.console import Browser

PAGE = "/console/memories"
HOSTILE = "<script>window.hit = 1</script><b onclick='window.hit = 1'>bold</b>"


@pytest.fixture
def deployed(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Deployed]:
    for name, value in environment(database.app_url, tmp_path).items():
        monkeypatch.setenv(name, value)
    stand_in_for_aws(monkeypatch, Cloud())
    erase_in_memory(monkeypatch, tmp_path)
    register_hashing(database)
    world = open_world(database.owner_url, database.app_url, f"memories {new_id()}")
    yield Deployed(Front(world.key, embedder=HashingEmbedder()), world)
    world.pool.close()


def tell(deployed: Deployed, text: str, **more: Any) -> str:
    body = {"text": text, "type": "fact", **more}
    return deployed.front.call("POST", "/v1/memories", json=body)["id"]


def position(deployed: Deployed) -> int:
    return deployed.front.call("GET", "/v1/status")["ledger_position"]


def hidden(page: str, name: str) -> str:
    match = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert match is not None, name
    return match[1]


def do(browser: Browser, memory: str, deed: str, seen: str | None = None) -> httpx.Response:
    path = f"{PAGE}/{memory}"
    seen = hidden(browser.get(path).text, "seen") if seen is None else seen
    return browser.submit(f"{path}/deed", deed=deed, seen=seen)


def follow(browser: Browser, answer: httpx.Response) -> str:
    assert answer.status_code == 303, answer.text
    return browser.get(answer.headers["location"]).text


def undo(browser: Browser, page: str) -> httpx.Response:
    notice = page[page.index('action="/console/memories/undo"') :]
    return browser.submit(f"{PAGE}/undo", deed=hidden(notice, "deed"), ids=hidden(notice, "ids"))


def test_a_question_is_answered_with_the_reason_of_each_score(deployed: Deployed) -> None:
    browser = deployed.person(f"finds-{new_id()}", PersonRole.READER)
    first = tell(deployed, "The Acme website runs on Next.js.", client_id="acme")
    tell(deployed, "Bolt drinks tea.", client_id="bolt")
    page = browser.get(f"{PAGE}?q=What+runs+the+Acme+website").text
    assert f'href="{PAGE}/{first}"' in page
    assert "keyword: place 1" in page
    assert "<dt>keyword</dt>" in page
    assert 'width="100.0"' in page
    assert "Bolt drinks tea" not in page
    assert (
        "Acme"
        not in browser.get(f"{PAGE}?q=Acme+website&client=bolt")
        .text.split("</form>")[2]
        .split("<details")[0]
    )


def test_the_list_is_filtered_by_client_kind_state_and_time(deployed: Deployed) -> None:
    browser = deployed.person(f"lists-{new_id()}", PersonRole.READER)
    tell(deployed, "Ada moved to Rome.", client_id="ada", occurred_at="2026-03-01T00:00:00Z")
    tell(deployed, "Bob moved to Bonn.", client_id="bob", type="event",
         occurred_at="2026-05-01T00:00:00Z")  # fmt: skip
    shown = {
        query: {name for name in ("Rome", "Bonn") if name in browser.get(f"{PAGE}?{query}").text}
        for query in ("", "client=ada", "kind=event", "since=2026-04-01", "until=2026-04-01",
                      "state=archived", "state=any")
    }  # fmt: skip
    assert shown == {
        "": {"Rome", "Bonn"}, "client=ada": {"Rome"}, "kind=event": {"Bonn"},
        "since=2026-04-01": {"Bonn"}, "until=2026-04-01": {"Rome"}, "state=archived": set(),
        "state=any": {"Rome", "Bonn"},
    }  # fmt: skip
    wrong = ("kind=song", "state=deleted", "since=soon", "as_of=yesterday", f"as_of={'9' * 5_000}")
    for query in wrong:
        assert browser.get(f"{PAGE}?{query}").status_code == 422, query
    assert browser.get(f"{PAGE}/no-id").status_code == 404


def test_the_slider_shows_the_whole_page_as_it_was_and_nothing_to_change(
    deployed: Deployed,
) -> None:
    browser = deployed.person(f"slides-{new_id()}")
    old = tell(deployed, "Carol lives in Paris.", key="home", client_id="carol")
    then = position(deployed)
    new = tell(deployed, "Carol lives in Oslo.", key="home", client_id="carol")
    past = browser.get(f"{PAGE}?as_of={then}").text
    assert ("Paris" in past, "Oslo" in past) == (True, False)
    assert "Nothing can be changed there" in past
    assert "Do it</button>" not in past
    found = browser.get(f"{PAGE}?q=Where+does+Carol+live&as_of={then}").text
    assert ("Paris" in found, "Oslo" in found) == (True, False)
    present = browser.get(PAGE).text
    assert ("Paris" in present, "Oslo" in present) == (False, True)
    head = hidden(present, "head")
    tell(deployed, "Dora came.")
    assert "Dora" in browser.get(f"{PAGE}?as_of={head}&head={head}").text  # its end is now
    one = browser.get(f"{PAGE}/{old}?as_of={then}").text
    assert ">active<" in one
    assert "/correct" not in one
    assert "It was not there yet" in browser.get(f"{PAGE}/{new}?as_of={then}").text
    assert "Another stands in its place" in browser.get(f"{PAGE}/{old}").text


def test_a_correction_says_why_keeps_what_was_and_is_taken_back(deployed: Deployed) -> None:
    browser = deployed.person(f"corrects-{new_id()}", PersonRole.REVIEWER)
    memory = tell(deployed, "Eve works at Globx.", client_id="eve")
    answer = browser.submit(
        f"{PAGE}/{memory}/correct", text="Eve works at Globex.", reason="a typo", importance="8"
    )
    page = follow(browser, answer)
    assert "1 memory: corrected" in page
    assert "Eve works at Globex." in page
    assert "a typo" in page
    assert "8 of 10" in page
    back = follow(browser, undo(browser, page))
    assert "as before again" in back
    assert 'class="text saying">Eve works at Globx.<' in back
    again = undo(browser, page)  # a second time does what the first did
    assert 'class="text saying">Eve works at Globx.<' in follow(browser, again)


def test_of_two_people_the_second_is_told_and_overwrites_nothing(deployed: Deployed) -> None:
    ada, bob = (deployed.person(f"{name}-{new_id()}") for name in ("ada", "bob"))
    memory = tell(deployed, "The door code is 1.", client_id="office")
    path = f"{PAGE}/{memory}"
    seen = hidden(bob.get(path).text, "seen")
    follow(ada, ada.submit(f"{path}/correct", text="The door code is 2.", reason="changed"))
    refused = bob.submit(f"{path}/correct", text="The door code is 3.", reason="I think so")
    assert refused.status_code == 409
    assert "Somebody changed this memory while you wrote" in refused.text
    assert 'class="text saying">The door code is 2.<' in refused.text
    assert ">The door code is 3.</textarea>" in refused.text
    for deed in ("deleted", "pinned", "never-recall"):
        stale = do(bob, memory, deed, seen)
        assert stale.status_code == 409
        assert "while you read it" in stale.text
    texts = {item["text"] for item in deployed.front.call("GET", "/v1/memories")["items"]}
    assert "The door code is 2." in texts


def test_several_are_pinned_at_once_and_taken_back_at_once(deployed: Deployed) -> None:
    browser = deployed.person(f"several-{new_id()}")
    memories = [tell(deployed, f"Box {number} is blue.") for number in range(3)]
    gone = str(new_id())
    form = {f"id.{memory}": "yes" for memory in [*memories, gone]}
    page = follow(browser, browser.submit(f"{PAGE}/several", deed="pinned", **form))
    assert "3 memories: pinned. 1 refused" in page
    states = [deployed.front.call("GET", f"/v1/memories/{each}")["pinned"] for each in memories]
    assert states == [True] * 3
    assert "3 memories: no longer pinned" in follow(browser, undo(browser, page))
    states = [deployed.front.call("GET", f"/v1/memories/{each}")["pinned"] for each in memories]
    assert states == [False] * 3
    for bad in ({"deed": "pinned"}, {"deed": "sold", f"id.{memories[0]}": "yes"}):
        assert browser.submit(f"{PAGE}/several", **bad).status_code == 422
    for ids in ("", "%%%", "AAAA", "A" * 5000):
        assert browser.submit(f"{PAGE}/undo", deed="pinned", ids=ids).status_code == 422


def test_a_deletion_is_taken_back_for_all_of_them_unless_somebody_said_it_again(
    deployed: Deployed,
) -> None:
    browser = deployed.person(f"restores-{new_id()}", PersonRole.OPERATOR)
    memories = [tell(deployed, f"Crate {number} is green.") for number in range(2)]
    form = {f"id.{memory}": "yes" for memory in memories}
    page = follow(browser, browser.submit(f"{PAGE}/several", deed="deleted", **form))
    assert "2 memories: deleted" in page
    assert "is green" not in page
    back = follow(browser, undo(browser, page))
    assert "2 memories: back again" in back
    assert "Crate 0 is green." in back
    assert browser.get(f"{PAGE}?q=Which+crate+is+green").text.count("is green.</a>") == 2
    gone = follow(browser, do(browser, memories[0], "deleted"))
    tell(deployed, "Crate 0 is green.")
    refused = undo(browser, gone)
    assert refused.status_code == 409
    assert "stands in the place of this one now" in refused.text


MAY: dict[PersonRole, set[str]] = {
    PersonRole.READER: set(),
    PersonRole.REVIEWER: {"correct", "pinned", "never-recall"},
    PersonRole.OPERATOR: {"correct", "pinned", "never-recall", "deleted"},
    PersonRole.ADMIN: {"correct", "pinned", "never-recall", "deleted"},
    PersonRole.OWNER: {"correct", "pinned", "never-recall", "deleted"},
}


@pytest.mark.parametrize("role", list(PersonRole))
def test_each_role_does_what_it_may_whatever_a_form_says(
    deployed: Deployed, role: PersonRole
) -> None:
    browser = deployed.person(f"role-{new_id()}", role)
    memory = tell(deployed, f"A fact for {role}.")
    page = browser.get(f"{PAGE}/{memory}").text
    shown = {
        "correct": "/correct" in page, "pinned": 'value="pinned"' in page,
        "never-recall": 'value="never-recall"' in page, "deleted": 'value="deleted"' in page,
    }  # fmt: skip
    assert {deed for deed, there in shown.items() if there} == MAY[role]
    done: set[str] = set()
    for deed, seen in (("pinned", "active.0.0"), ("deleted", "active.1.0")):
        if role in (PersonRole.READER, PersonRole.REVIEWER) and deed == "deleted":
            seen = "active.1.0" if role is PersonRole.REVIEWER else "active.0.0"
        answer = do(browser, memory, deed, seen)
        assert answer.status_code in (303, 403), answer.text
        done |= {deed} if answer.status_code == 303 else set()
    assert done == MAY[role] & {"pinned", "deleted"}


def test_what_is_stored_is_shown_as_text_everywhere(deployed: Deployed) -> None:
    browser = deployed.person(f"hostile-{new_id()}")
    memory = tell(
        deployed, f"Mallory wrote {HOSTILE}", client_id=HOSTILE, source_agent=HOSTILE,
        key=HOSTILE, session_id=HOSTILE, metadata={"note": HOSTILE},
    )  # fmt: skip
    edited = follow(
        browser,
        browser.submit(f"{PAGE}/{memory}/correct", text=f"Then {HOSTILE}", reason=HOSTILE),
    )
    for page in (edited, browser.get(PAGE).text, browser.get(f"{PAGE}?q=Mallory+wrote+bold").text,
                 browser.get(f"{PAGE}?q={HOSTILE}&client={HOSTILE}").text):  # fmt: skip
        assert "<b onclick" not in page
        assert "window.hit = 1</script>" not in page
        assert "&lt;script&gt;" in page
