"""The pages of approvals over the real database: who decides what, once, and who is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.agent import Agents, act
from tests.support.console import Browser, add_person
from tests.support.deciding import TOOL, agents_of, question
from tests.support.front import Cloud, Front, environment, stand_in_for_aws
from tests.support.world import World, open_world

from cairn.investigations.ports import ApprovalState
from cairn.investigations.state import State
from cairn.kernel.access import PersonRole
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from tests.plugins.postgres import Database

HOSTILE = "<script>window.hit = 1</script>"
INBOX = "/console/approvals"


class Office:
    """A workspace where agents ask, and the people who answer."""

    def __init__(self, front: Front, world: World) -> None:
        self.app, self.front, self.world = front.app, front, world
        self.agents: Agents = agents_of(front.app.state.services, world)
        self.agents.planner.script[1] = act(
            TOOL, evidence=self.agents.planner.script[1].evidence, reason=HOSTILE
        )

    def person(self, role: PersonRole = PersonRole.OPERATOR, name: str = "") -> Browser:
        login = name or f"{role.value}-{new_id()}"
        browser = Browser(self.app)
        link = add_person(self.app, self.world.workspace_id, login, role)
        assert browser.post("/console/link", token=link.token).status_code == 303
        return browser

    def binding(self, id_: UUID) -> str:
        return next(each.binding for each in self.agents.questions() if each.id == id_)

    def state(self, id_: UUID) -> ApprovalState:
        return next(each.state for each in self.agents.questions() if each.id == id_)


@pytest.fixture(scope="module")
def office(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("office")
        for name, value in environment(database.app_url, folder).items():
            patch.setenv(name, value)
        stand_in_for_aws(patch, Cloud())
        world = open_world(database.owner_url, database.app_url, f"office {new_id()}")
        yield Office(Front(world.key), world)
        world.pool.close()


def test_a_question_is_shown_with_all_that_is_needed_and_no_text_is_markup(office: Office) -> None:
    id_ = question(office.agents, title=HOSTILE)
    operator = office.person()
    inbox = operator.get(INBOX)
    page = operator.get(f"{INBOX}/{id_}")
    for answer in (inbox, page):
        assert answer.status_code == 200
        assert HOSTILE not in answer.text
        assert "&lt;script&gt;" in answer.text
    for part in (TOOL, "How to unlock.", "[doc:kb://lockout.md", "there is no tool that undoes",
                 "Approve with changes", office.binding(id_), "cairn approvals show"):  # fmt: skip
        assert part in page.text, part
    assert "And do not ask again" not in page.text  # standing grants are an admin's
    assert operator.submit(f"{INBOX}/{id_}/reject", reason="Enough.").status_code == 303


def test_an_operator_says_yes_and_the_second_is_told_who_was_first(office: Office) -> None:
    id_ = question(office.agents)
    first, second = office.person(name=f"grace-{new_id()}"), office.person(PersonRole.OWNER)
    form = {"binding": office.binding(id_), "reason": "She called."}
    done = first.submit(f"{INBOX}/{id_}/approve", **form)
    assert (done.status_code, done.headers["location"]) == (303, f"{INBOX}/{id_}")
    assert "You decided" in first.get(f"{INBOX}/{id_}").text
    late = second.submit(f"{INBOX}/{id_}/reject", reason="I would not.")
    assert late.status_code == 409
    assert "Grace-" in late.text
    assert "decided before you: granted. Nothing of yours was done." in late.text
    assert office.state(id_) is ApprovalState.GRANTED
    assert office.agents.work(office.agents.pending().investigation_id).state is State.DONE
    entries = office.front.call("GET", "/v1/ledger", params={"type": "approval.granted"})["items"]
    assert entries[-1]["actor_kind"] == "user"


def test_nobody_approves_what_they_did_not_see(office: Office) -> None:
    id_ = question(office.agents)
    operator = office.person()
    for binding in ("", "a" * 64):
        answer = operator.submit(f"{INBOX}/{id_}/approve", binding=binding)
        assert answer.status_code == 409
        assert "look at it again" in answer.text
    assert office.state(id_) is ApprovalState.PENDING
    without = operator.post(f"{INBOX}/{id_}/approve", binding=office.binding(id_))
    assert without.status_code == 401
    foreign = operator.post(f"{INBOX}/{id_}/approve", origin="https://evil.example", csrf="x")
    assert foreign.status_code == 403
    assert office.state(id_) is ApprovalState.PENDING


def test_changed_arguments_are_checked_again_and_what_was_typed_stays(office: Office) -> None:
    id_ = question(office.agents)
    operator = office.person()
    path, form = f"{INBOX}/{id_}/edit", {"binding": office.binding(id_)}
    for more, expected in (
        ({"argument.user": "grace", "reason": ""}, "say why you changed it"),
        ({"argument.user": "ada", "reason": "So."}, "nothing was changed"),
        ({"argument.user": "grace", "more": "{", "reason": "So."}, "is no JSON"),
        ({"argument.user": "grace", "more": "[1]", "reason": "So."}, "is no JSON object"),
        ({"argument.user": "grace", "more": '{"x": 1}', "reason": "So."}, "arguments."),
    ):
        answer = operator.submit(path, **form, **more)
        assert answer.status_code == 422, answer.text
        assert expected in answer.text
        assert f'value="{more["argument.user"]}"' in answer.text
    assert office.state(id_) is ApprovalState.PENDING
    done = operator.submit(path, **form, **{"argument.user": "grace", "reason": "The other one."})
    assert done.status_code == 303
    assert office.state(id_) is ApprovalState.EDITED
    office.agents.work(office.agents.pending().investigation_id)
    assert office.agents.host.effects[-1][2] == {"user": "grace"}


def test_an_owner_need_not_be_asked_again_and_may_take_that_back(office: Office) -> None:
    id_ = question(office.agents)
    owner = office.person(PersonRole.OWNER)
    form = {"binding": office.binding(id_), "uses": "3", "days": "7"}
    refused = owner.submit(f"{INBOX}/{id_}/approve", **form)
    assert refused.status_code == 422
    assert office.state(id_) is ApprovalState.PENDING
    for wrong in ({"uses": "many"}, {"uses": "-1"}, {"uses": "1001"}, {"days": "91"}):
        answer = owner.submit(f"{INBOX}/{id_}/approve", **{**form, "reason": "Fine.", **wrong})
        assert answer.status_code == 422
    assert office.state(id_) is ApprovalState.PENDING
    assert owner.submit(f"{INBOX}/{id_}/approve", **form, reason="Fine.").status_code == 303
    [grant] = office.front.call("GET", "/v1/grants")["items"]
    assert (grant["arguments"], grant["max_uses"]) == ({"user": "ada"}, 3)
    page = owner.get("/console/grants")
    assert "0 of 3" in page.text
    operator = office.person()
    assert operator.get("/console/grants").status_code == 403
    assert owner.submit(f"/console/grants/{grant['id']}/revoke").status_code == 303
    assert "revoked" in owner.get("/console/grants").text


@pytest.mark.parametrize("role", [PersonRole.READER, PersonRole.REVIEWER])
def test_who_only_reads_sees_that_something_waits_and_decides_nothing(
    office: Office, role: PersonRole
) -> None:
    id_ = question(office.agents)
    browser = office.person(role)
    inbox = browser.get(INBOX)
    assert inbox.status_code == 200
    assert TOOL in inbox.text
    assert "Locked out" not in inbox.text
    assert browser.get(f"{INBOX}/{id_}").status_code == 403
    for decision in ("approve", "reject", "edit"):
        form = {"binding": office.binding(id_), "reason": "So."}
        answer = browser.submit(f"{INBOX}/{id_}/{decision}", **form)
        assert answer.status_code == 403
        assert f"yours is {role.value}" in answer.text
    assert office.state(id_) is ApprovalState.PENDING
    office.person().submit(f"{INBOX}/{id_}/reject", reason="Enough.")


def test_what_is_not_there_is_said_on_a_page(office: Office) -> None:
    operator = office.person()
    for path in (f"{INBOX}/{new_id()}", f"{INBOX}/none", "/console/cited?citation=none",
                 f"/console/cited?citation=[tool:{new_id()}]",
                 "/console/cited?citation=[doc:kb://none.md]"):  # fmt: skip
        answer = operator.get(path)
        assert answer.status_code == 404, path
        assert "text/html" in answer.headers["content-type"]
    assert operator.get(f"{INBOX}?state=none").status_code == 422
    assert operator.submit(f"{INBOX}/{new_id()}/burn").status_code == 404


def test_a_citation_leads_to_what_it_names(office: Office) -> None:
    operator, agents = office.person(), office.agents
    id_ = question(agents)
    agents.approvals.approve(agents.admin, id_, binding=office.binding(id_))
    agents.work(agents.pending().investigation_id)
    done = agents.actions()[-1]
    ticket = office.front.call("POST", "/v1/tickets", json={"title": "Locked", "body": HOSTILE})
    memory = office.front.call("POST", "/v1/memories", json={"text": HOSTILE, "type": "event"})
    for citation in (f"ticket:{ticket['id']}", f"memory:{memory['id']}", f"tool:{done.id}"):
        answer = operator.get(f"/console/cited?citation=[{citation}]")
        assert answer.status_code == 200, answer.text
        assert HOSTILE not in answer.text
        assert f"[{citation}]" in answer.text
