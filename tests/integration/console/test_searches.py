"""Why this answer: over the real database, for those who asked and those who may look."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from tests.integration.console import test_memories
from tests.integration.console.test_memories import HOSTILE, tell

from cairn.kernel.access import PersonRole
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from tests.integration.storage.test_console import Deployed
    from tests.support.console import Browser

deployed = test_memories.deployed
PAGE = "/console/searches"


def ask(browser: Browser, question: str) -> str:
    """Ask on the page of memories and return the search's id."""
    page = browser.get("/console/memories", params={"q": question}).text
    match = re.search(rf'href="{PAGE}/([0-9a-f-]+)">Why this answer', page)
    assert match is not None
    return match[1]


def test_a_search_is_shown_step_by_step_with_the_signals_of_each_result(deployed: Deployed) -> None:
    browser = deployed.person(f"why-{new_id()}", PersonRole.REVIEWER)
    memory = tell(deployed, f"The lamp on the pier burns kerosene. {HOSTILE}")
    search = ask(browser, "What does the lamp on the pier burn?")
    page = browser.get(f"{PAGE}/{search}").text
    assert f'href="/console/memories/{memory}"' in page
    assert re.search(r"<dt>keyword found</dt><dd>[1-9]", page)
    assert re.search(r"<dt>returned</dt><dd>1<", page)
    assert "<dt>keyword</dt>" in page
    assert "the same results, in the same order" in page
    assert "<b onclick" not in page
    assert "&lt;script&gt;" in page
    found = browser.get(PAGE, params={"id": search})
    assert found.headers["location"] == f"{PAGE}/{search}"


def test_what_a_person_says_of_a_result_is_kept_and_a_reader_says_nothing(
    deployed: Deployed,
) -> None:
    reviewer = deployed.person(f"says-{new_id()}", PersonRole.REVIEWER)
    memory = tell(deployed, "The ferry to Iona leaves at noon.")
    search = ask(reviewer, "When does the ferry to Iona leave?")
    path = f"{PAGE}/{search}/feedback"
    for useful in ("yes", "no"):
        answer = reviewer.submit(path, node=memory, useful=useful)
        assert answer.status_code == 303
        assert "Noted" in reviewer.get(answer.headers["location"]).text
    stats = deployed.front.call("GET", "/v1/stats")
    assert stats
    assert reviewer.submit(path, node=memory, useful="maybe").status_code == 422
    assert reviewer.submit(path, node=str(new_id()), useful="yes").status_code == 404
    reader = deployed.person(f"reads-{new_id()}", PersonRole.READER)
    own = ask(reader, "When does the ferry to Iona leave?")
    assert "Of use?" not in reader.get(f"{PAGE}/{own}").text
    assert reader.submit(f"{PAGE}/{own}/feedback", node=memory, useful="yes").status_code == 403


def test_a_search_of_somebody_else_is_for_admins_alone(deployed: Deployed) -> None:
    reader = deployed.person(f"other-{new_id()}", PersonRole.READER)
    search = ask(reader, "Who minds the lamp?")
    assert deployed.person(f"peer-{new_id()}", PersonRole.OPERATOR).get(
        f"{PAGE}/{search}"
    ).status_code == 404  # fmt: skip
    assert deployed.person(f"head-{new_id()}", PersonRole.ADMIN).get(
        f"{PAGE}/{search}"
    ).status_code == 200  # fmt: skip
    for path in (f"{PAGE}/{new_id()}", f"{PAGE}/no-id", f"{PAGE}?id=no-id"):
        answer = reader.get(path)
        assert answer.status_code == 404
        assert "no such search" in answer.text
    assert "meta.search_id" in reader.get(PAGE).text


def test_who_was_given_a_memory_is_on_its_page_and_everybody_sees_their_own(
    deployed: Deployed,
) -> None:
    reader = deployed.person(f"given-{new_id()}", PersonRole.READER)
    memory = tell(deployed, "The bell of the harbour rings at six.")
    key = deployed.front.call("POST", "/v1/keys", json={"name": "bell-ringer", "role": "agent"})
    asked = {"query": "When does the bell of the harbour ring?", "session_id": "tower"}
    bearer = {"authorization": f"Bearer {key['secret']}"}
    deployed.front.call("POST", "/v1/search", json=asked, headers=bearer)
    own = ask(reader, "When does the bell of the harbour ring?")
    head = deployed.person(f"all-{new_id()}", PersonRole.ADMIN)
    page = head.get(f"/console/memories/{memory}").text
    assert "bell-ringer" in page
    assert 'data-copy="tower"' in page
    assert "1. of 1" in page
    page = reader.get(f"/console/memories/{memory}").text
    assert f'href="{PAGE}/{own}"' in page
    assert "bell-ringer" not in page
    assert "bell-ringer" in head.get(PAGE).text
    assert "bell-ringer" not in reader.get(PAGE).text
    listed = deployed.front.call("GET", "/v1/searches", params={"node_id": memory, "limit": 1})
    assert [each["id"] for each in listed["items"]] == [own]
    rest = {"node_id": memory, "cursor": listed["next_cursor"]}
    (first,) = deployed.front.call("GET", "/v1/searches", params=rest)["items"]
    assert (first["asked_by"], first["rank"], first["session_id"]) == ("bell-ringer", 1, "tower")
    explained = deployed.front.call("GET", f"/v1/searches/{own}")
    assert set(explained["stages_ms"]) >= {"understand", "legs", "rank"}
    assert sum(explained["stages_ms"].values()) == pytest.approx(explained["duration_ms"], abs=0.1)
    assert "Where the time went" in reader.get(f"{PAGE}/{own}").text
    assert reader.get(f"{PAGE}?before={own}").status_code == 200
