"""Tickets and timelines over the real database and through a real server: live, resumed, safe."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import httpx
import pytest
from tests.support.console import Browser, add_person
from tests.support.deciding import agents_of, question

from cairn.investigations.ports import Ruling
from cairn.investigations.run.closing import QueueEscalation
from cairn.investigations.state import Verdict
from cairn.kernel.access import PersonRole
from cairn.kernel.ids import derived_id, new_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.console.test_in_a_browser import Site
    from tests.support.agent import Agents

HOSTILE = "<script>window.hit = 1</script>"
TICKETS, INVESTIGATIONS = "/console/tickets", "/console/investigations"


@pytest.fixture
def agents(site: Site) -> Agents:
    return agents_of(site.front.app.state.services, site.world)


def person(site: Site, role: PersonRole = PersonRole.OPERATOR) -> Browser:
    link = add_person(site.front.app, site.world.workspace_id, f"{role}-{new_id()}", role)
    browser = Browser(site.front.app)
    assert browser.post("/console/link", token=link.token).status_code == 303
    return browser


def events(answer: httpx.Response) -> Iterator[dict[str, str]]:
    """The events of a stream, each with its fields; data has its lines joined."""
    fields: dict[str, str] = {}
    for line in answer.iter_lines():
        name, _, value = line.partition(": ")
        if not line and "event" in fields:
            yield fields
            fields = {}
        elif name == "data":
            fields["data"] = "\n".join(filter(None, [fields.get("data"), value]))
        elif name:
            fields[name] = value


def ticket_of(site: Site, **changes: Any) -> str:
    body = {"title": HOSTILE, "body": HOSTILE, "customer": HOSTILE, **changes}
    return site.front.call("POST", "/v1/tickets", json=body)["id"]


def test_a_ticket_is_listed_shown_and_put_back_by_who_works(site: Site) -> None:
    id_ = ticket_of(site)
    operator, reader = person(site), person(site, PersonRole.READER)
    for browser in (operator, reader):
        for path in (TICKETS, f"{TICKETS}?status=new", f"{TICKETS}/{id_}"):
            answer = browser.get(path)
            assert answer.status_code == 200, answer.text
            assert HOSTILE not in answer.text
            assert "&lt;script&gt;" in answer.text
    assert "Waiting" in reader.get(TICKETS).text
    assert "Investigate it again" not in reader.get(f"{TICKETS}/{id_}").text
    assert reader.submit(f"{TICKETS}/{id_}/requeue").status_code == 403
    assert operator.post(f"{TICKETS}/{id_}/requeue").status_code == 401
    done = operator.submit(f"{TICKETS}/{id_}/requeue")
    assert (done.status_code, done.headers["location"]) == (303, f"{TICKETS}/{id_}?done=queued")


def test_the_ledger_says_who_put_an_ended_ticket_back(site: Site, agents: Agents) -> None:
    approval_id = question(agents)
    ticket_id, id_ = agents.pending().ticket_id, agents.pending().investigation_id
    operator = person(site)
    agents.approvals.reject(agents.admin, approval_id, reason="No.")
    agents.work(id_)
    assert operator.submit(f"{TICKETS}/{ticket_id}/requeue").status_code == 303
    entries = site.front.call("GET", "/v1/ledger", params={"type": "ticket.requeued"})["items"]
    assert entries[-1]["actor_kind"] == "user"
    assert entries[-1]["meta"]["ticket_id"] == str(ticket_id)


def test_an_address_that_leads_nowhere_is_a_page_that_says_so(site: Site) -> None:
    answer = person(site).get("/console/no/such/page")
    assert (answer.status_code, answer.headers["content-type"][:9]) == (404, "text/html")
    assert "There is no such page." in answer.text


def test_an_empty_list_teaches_and_a_wrong_one_says_what_there_is(site: Site) -> None:
    reader = person(site, PersonRole.READER)
    assert "cairn tickets add" in reader.get(f"{TICKETS}?status=failed").text
    assert "One begins with a ticket" in reader.get(f"{INVESTIGATIONS}?state=OBSERVING").text
    for path in (f"{TICKETS}?status=none", f"{INVESTIGATIONS}?state=none"):
        answer = reader.get(path)
        assert answer.status_code == 422
        assert "choose" in answer.text
    for path in (f"{TICKETS}/none", f"{TICKETS}/{new_id()}", f"{INVESTIGATIONS}/{new_id()}",
                 f"{INVESTIGATIONS}/{new_id()}/live", f"{INVESTIGATIONS}/{new_id()}/lines",
                 f"{INVESTIGATIONS}/{new_id()}/hand-off"):  # fmt: skip
        assert reader.get(path).status_code == 404, path


def test_a_timeline_streams_what_is_new_and_goes_on_after_the_last_line(
    site: Site, agents: Agents
) -> None:
    approval_id = question(agents, HOSTILE, title=HOSTILE)
    id_ = agents.pending().investigation_id
    operator = person(site)
    path = f"{INVESTIGATIONS}/{id_}"
    page = operator.get(path)
    assert 'data-stream="' in page.text
    assert f"/console/approvals/{approval_id}" in page.text
    assert "/console/cited?citation=%5B" in page.text
    with httpx.Client(base_url=site.url, cookies=operator.cookies, timeout=30) as client:
        with client.stream("GET", f"{path}/live") as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            stream = events(answer)
            first = next(stream)
            assert 'id="step-1"' in first["data"]
            assert HOSTILE not in first["data"]
            agents.approvals.approve(
                agents.admin, approval_id, binding=agents.pending().binding, reason=HOSTILE
            )
            second = next(stream)
            assert int(second["id"]) > int(first["id"])
            assert "a person said yes" in second["data"]
            assert HOSTILE not in second["data"]
        agents.work(id_)
        with client.stream("GET", f"{path}/live", headers={"last-event-id": first["id"]}) as answer:
            rest = list(events(answer))
        assert f'id="step-{first["id"]}"' not in rest[0]["data"]
        assert f'id="step-{int(first["id"]) + 1}"' in rest[0]["data"]
        assert rest[-1]["event"] == "end"
        assert client.get(f"{path}/live", headers={"last-event-id": "x"}).status_code == 422
    polled = operator.get(f"{path}/lines?after={first['id']}")
    assert f'id="step-{int(first["id"]) + 1}"' in polled.text
    assert "data-poll" not in polled.text  # it is over
    assert "data-stream" not in operator.get(path).text


def test_polling_answers_nothing_while_nothing_is_new(site: Site, agents: Agents) -> None:
    approval_id = question(agents)
    id_ = agents.pending().investigation_id
    reader = person(site, PersonRole.READER)
    steps = site.front.call("GET", f"/v1/investigations/{id_}/steps")
    last = steps["after"]
    assert reader.get(f"{INVESTIGATIONS}/{id_}/lines?after={last}").status_code == 204
    assert reader.get(f"{INVESTIGATIONS}/{id_}/lines?after={last - 1}").status_code == 200
    agents.approvals.reject(agents.admin, approval_id, reason="No.")


def test_who_takes_over_sees_why_and_gets_the_bundle(site: Site, agents: Agents) -> None:
    approval_id = question(agents, HOSTILE)
    id_ = agents.pending().investigation_id
    agents.approvals.reject(agents.admin, approval_id, reason="No.")
    agents.planner.ruling = Ruling(verdict=Verdict.NEEDS_TECH, reason=HOSTILE)
    agents.work(id_)
    operator = person(site)
    assert operator.get(f"{INVESTIGATIONS}/{id_}/hand-off").status_code == 404
    QueueEscalation(journal=agents.journal, desk=cast("Any", agents.desk))(
        agents.workspace_id, id_, verdict=Verdict.NEEDS_TECH, why=HOSTILE
    )
    page = operator.get(f"{INVESTIGATIONS}/{id_}/hand-off")
    assert page.status_code == 200
    assert HOSTILE not in page.text
    assert "/hand-off" in operator.get(f"{INVESTIGATIONS}/{id_}").text
    bundle = operator.get(f"{INVESTIGATIONS}/{id_}/hand-off.json")
    assert json.loads(bundle.text)["escalation"]["id"] == str(derived_id(id_, "escalation"))
    assert bundle.headers["content-disposition"].startswith("attachment")
    again = operator.submit(f"{INVESTIGATIONS}/{id_}/hand-off/retry")
    assert again.status_code == 409
    assert "has not failed" in again.text
