"""Workflows in the console: admins define, operators run, answer and end, everybody reads."""

# pyright: basic

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.console.test_connectors import person
from tests.integration.console.test_in_a_browser import CHROMIUM, HOSTILE, looks_well
from tests.support.workflows import Machine, begin, make, shown

from cairn.kernel.access import PersonRole
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.integration.console.test_in_a_browser import Site

WORKFLOWS, RUNS = "/console/workflows", "/console/workflow-runs"
WAIT = {"name": "asked", "kind": "wait", "message": "May {{ input.what }} go on?"}
REPORT = {"name": "written", "kind": "report", "title": "News", "body": "{{ steps.asked.comment }}"}


def new_name() -> str:
    return f"flow-{new_id().hex[-12:]}"


def waiting(site: Site, what: str = HOSTILE) -> tuple[str, str]:
    """Return a workflow and a run of it that waits for a person."""
    name = new_name()
    make(site.front, WAIT, REPORT, name=name)
    run_id = begin(site.front, name, what=what)
    assert Machine(site.cloud).work()[-1] == "waiting"
    return name, run_id


def state(site: Site, run_id: str) -> str:
    return shown(site.front, run_id)["state"]


def test_an_admin_defines_a_workflow_and_the_next_version_and_removes_it(site: Site) -> None:
    browser, name = person(site, PersonRole.ADMIN), new_name()
    document: dict[str, Any] = {"name": name, "description": HOSTILE, "steps": [WAIT]}
    done = browser.submit(WORKFLOWS, definition=json.dumps(document))
    assert done.headers["location"] == f"{WORKFLOWS}/{name}?done=made"
    page = browser.get(f"{WORKFLOWS}/{name}").text
    assert HOSTILE not in page
    assert "May {{ input.what }} go on?" in page
    assert HOSTILE not in browser.get(WORKFLOWS).text
    assert browser.submit(WORKFLOWS, definition=json.dumps(document)).status_code == 409
    document["steps"].append(REPORT)
    path = f"{WORKFLOWS}/{name}"
    assert browser.submit(f"{path}/change", definition=json.dumps(document)).status_code == 303
    assert "Version 2" in browser.get(path).text
    other = json.dumps({**document, "name": "another"})
    assert browser.submit(f"{path}/change", definition=other).status_code == 422
    assert browser.submit(f"{path}/remove").status_code == 422
    assert browser.submit(f"{path}/remove", meant="yes").status_code == 303
    assert browser.get(path).status_code == 404


@pytest.mark.parametrize(
    "definition",
    ["", "[]", "{", '{"name": "x"}', '{"name": "x", "steps": []}', '{"name": "No", "steps": [1]}',
     json.dumps({"name": "x", "steps": [{"name": "a", "kind": "dance"}]}),
     json.dumps({"name": "x", "steps": [{**REPORT, "needs": ["nobody"]}]}),
     json.dumps({"name": "x", "steps": [{**WAIT, "name": f"s{n}"} for n in range(21)]})],
)  # fmt: skip
def test_a_bad_definition_is_refused_with_what_was_typed(site: Site, definition: str) -> None:
    answer = person(site).submit(WORKFLOWS, definition=definition)
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert definition[:10].replace('"', "&#34;") in answer.text


def test_an_operator_runs_answers_and_ends_and_defines_nothing(site: Site) -> None:
    name, run_id = waiting(site)
    browser = person(site, PersonRole.OPERATOR)
    page = browser.get(f"{WORKFLOWS}/{name}").text
    assert "Run it now" in page
    assert "Change it" not in page
    for path, form in (
        (WORKFLOWS, {"definition": json.dumps({"name": new_name(), "steps": [WAIT]})}),
        (f"{WORKFLOWS}/{name}/change", {"definition": json.dumps({"steps": [WAIT]})}),
        (f"{WORKFLOWS}/{name}/remove", {"meant": "yes"}),
    ):
        assert browser.submit(path, **form).status_code == 403
    begun = browser.submit(f"{WORKFLOWS}/{name}/run", **{"input.what": "the harbour"})
    other = begun.headers["location"].rpartition("/")[2]
    assert state(site, other) == "running"
    assert browser.submit(f"{RUNS}/{other}/cancel").status_code == 303
    assert browser.submit(f"{RUNS}/{other}/cancel").status_code == 409
    assert browser.submit(f"{RUNS}/{run_id}/approve", comment="Fine.").status_code == 303
    assert "done" in Machine(site.cloud).work()
    assert state(site, run_id) == "done"
    assert "Fine." in browser.get(f"{RUNS}/{run_id}").text
    late = browser.submit(f"{RUNS}/{run_id}/reject", comment="No!")
    assert late.status_code == 409
    assert "waits for nobody" in late.text
    entries = site.front.call("GET", "/v1/ledger", params={"type": "workflow.decided"})["items"]
    assert entries[-1]["actor_kind"] == "user" or entries[-1]["actor_id"]


def test_reviewers_and_readers_see_workflows_and_runs_and_change_nothing(site: Site) -> None:
    name, run_id = waiting(site)
    for role in (PersonRole.REVIEWER, PersonRole.READER):
        browser = person(site, role)
        page = browser.get(f"{RUNS}/{run_id}").text
        assert HOSTILE not in page
        assert "It waits for a person" in page
        assert "Approve" not in page
        assert browser.get(f"{WORKFLOWS}/{name}").status_code == 200
        for path in (f"{RUNS}/{run_id}/approve", f"{RUNS}/{run_id}/cancel"):
            assert browser.submit(path).status_code == 403
        begun = browser.submit(f"{WORKFLOWS}/{name}/run", **{"input.what": "x"})
        assert begun.status_code == 403
    assert state(site, run_id) == "waiting"


def test_a_run_that_lacks_what_its_workflow_names_or_does_not_exist_is_refused(site: Site) -> None:
    name, run_id = waiting(site)
    browser = person(site)
    assert browser.submit(f"{WORKFLOWS}/{name}/run").status_code == 422
    odd = browser.submit(f"{WORKFLOWS}/{name}/run", **{"input.what": "x", "input.more": "y"})
    assert odd.status_code == 422
    assert browser.submit(f"{RUNS}/{run_id}/explode").status_code == 404
    assert browser.submit(f"{RUNS}/{run_id}/resume").status_code == 409  # it waits for a person
    assert browser.get(f"{RUNS}/{new_id()}").status_code == 404
    assert browser.get(f"{RUNS}/no-id").status_code == 404
    assert browser.get(f"{WORKFLOWS}?state=odd").status_code == 422
    assert run_id in browser.get(f"{WORKFLOWS}?state=waiting").text


def test_a_key_of_an_agent_still_sees_no_workflow(site: Site) -> None:
    key = site.front.call("POST", "/v1/keys", json={"name": "agent", "role": "agent"})["secret"]
    headers = {"authorization": f"Bearer {key}"}
    for path in ("/v1/workflows", "/v1/workflow-runs"):
        assert site.front.answer("GET", path, headers=headers).status_code == 403


@pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ, reason="there is no chromium on this machine"
)
def test_somebody_defines_runs_and_answers_in_a_browser(site: Site, page: Page) -> None:
    site.person(page, PersonRole.OWNER)
    page.get_by_role("link", name="Workflows").click()
    page.get_by_role("heading", name="Workflows", exact=True).wait_for()
    looks_well(page)
    name = new_name()
    document = {"name": name, "description": HOSTILE, "steps": [WAIT, REPORT]}
    page.get_by_label("Definition").fill(json.dumps(document))
    page.get_by_role("button", name="Make the workflow").press("Enter")
    page.get_by_text("It can be run.").wait_for()
    looks_well(page)
    page.get_by_label("What", exact=True).fill(HOSTILE)
    page.get_by_role("button", name="Run it", exact=True).press("Enter")
    page.get_by_role("heading", name="Run of").wait_for()
    Machine(site.cloud).work()
    page.get_by_role("heading", name="It waits for a person").wait_for()  # without a reload
    looks_well(page)
    assert page.evaluate("window.hit") is None
    page.get_by_label("What you say to it").fill("Fine.")
    page.get_by_role("button", name="Approve").press("Enter")
    page.get_by_text("running").wait_for()
    Machine(site.cloud).work()
    page.get_by_text("done", exact=True).wait_for()
    page.get_by_text("Fine.").first.wait_for()
    looks_well(page)
    page.reload()
    page.go_back()
    page.go_forward()
    assert page.evaluate("window.hit") is None
