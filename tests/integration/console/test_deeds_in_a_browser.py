"""What people do by hand: tickets, opinions, personas; in a browser, on a phone, as each role."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import httpx
import pytest
from tests.integration.console.test_in_a_browser import CHROMIUM, NARROW, go_to, looks_well
from tests.integration.console.test_investigations import person
from tests.support.deciding import agents_of, question

from cairn.kernel.access import PersonRole
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.integration.console.test_in_a_browser import Site

HOSTILE = "<script>window.hit = 1</script><img src=x onerror='window.hit = 1'>"
WORKERS = (PersonRole.OPERATOR, PersonRole.ADMIN, PersonRole.OWNER)

pytestmark = pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ, reason="there is no chromium on this machine"
)


def test_a_ticket_and_what_its_requester_said_since_are_written_down_on_a_phone(
    site: Site, page: Page
) -> None:
    site.person(page, PersonRole.OPERATOR)
    page.set_viewport_size(NARROW)
    go_to(page, "Tickets")
    page.get_by_text("Add a ticket").click()
    looks_well(page)
    page.set_viewport_size(NARROW)
    page.get_by_label("What is wrong").fill(HOSTILE)
    page.get_by_label("All that is known of it").fill("Line 3 has no tone.")
    page.get_by_label("Address of who asks").evaluate("each => each.value = 'a'.repeat(500)")
    page.get_by_role("button", name="Add the ticket").press("Enter")
    page.get_by_role("alert").first.wait_for()
    assert page.get_by_label("All that is known of it").input_value() == "Line 3 has no tone."
    page.get_by_label("Address of who asks").fill("ada@example.org")
    page.get_by_label("Priority").select_option("high")
    page.get_by_role("button", name="Add the ticket").press("Enter")
    page.get_by_text("It is kept, and looked at").wait_for()
    assert HOSTILE in page.get_by_role("heading", level=1).inner_text()
    page.get_by_label("What the requester said since").fill(HOSTILE)
    page.get_by_role("button", name="Add the message").press("Enter")
    page.get_by_text("It is kept with the ticket").wait_for()
    assert page.get_by_text(HOSTILE).count() == 2
    looks_well(page)
    assert page.evaluate("window.hit") is None
    page.reload()
    page.go_back()
    page.go_back()
    page.get_by_role("heading", name="Tickets").wait_for()


def test_a_form_of_a_ticket_that_is_sent_twice_adds_one(site: Site) -> None:
    operator, id_ = person(site), str(new_id())
    form = {"id": id_, "title": "The door is shut", "csrf": operator.csrf()}
    first, again = (operator.post("/console/tickets", **form) for _ in range(2))
    assert first.headers["location"] == again.headers["location"]
    said = {"id": id_, "text": "It is open.", "csrf": form["csrf"]}
    path = first.headers["location"].partition("?")[0]
    for _ in range(2):
        assert operator.post(f"{path}/messages", **said).status_code == 303
    assert operator.get(path).text.count("It is open.") == 1
    gone = operator.submit("/console/tickets", id=id_, title="Shut", persona="nobody")
    assert gone.status_code == 422
    assert "is not there any more" in gone.text


def test_what_an_agent_did_is_rated_disputed_and_found_among_the_calls_of_tools(
    site: Site, page: Page
) -> None:
    agents = agents_of(site.front.app.state.services, site.world)
    approval_id = question(agents)
    id_, path = agents.pending().investigation_id, "/console/investigations"
    site.person(page, PersonRole.OPERATOR)
    page.goto(f"{site.url}{path}/{id_}")
    page.get_by_role("button", name="Let it go on now").press("Enter")
    page.get_by_text("It goes on; lines come").wait_for()
    agents.approvals.approve(
        agents.admin, approval_id, binding=agents.pending().binding, reason="Yes."
    )
    agents.work(id_)
    page.goto(f"{site.url}{path}/{id_}")
    page.get_by_text("Rate or dispute it").click()
    looks_well(page)
    page.get_by_label("How well it was done").select_option("5")
    page.get_by_label("Why (optional)").fill(HOSTILE)
    page.get_by_role("button", name="Rate it").press("Enter")
    page.get_by_text("5 of 5").wait_for()
    page.get_by_text("Rate or dispute it").click()
    page.get_by_role("button", name="Dispute it").press("Enter")  # without a reason
    page.locator("#reason-wrong").wait_for()
    page.get_by_label("What was wrong").fill("It was another account.")
    page.get_by_role("button", name="Dispute it").press("Enter")
    page.get_by_text("nothing is learned from it.").wait_for()
    assert page.get_by_text("5 of 5").count() == 0  # the last word counts

    go_to(page, "Tool calls")
    page.get_by_label("Investigation, its id").fill(str(id_))
    page.get_by_role("button", name="Narrow").press("Enter")
    page.get_by_role("link", name="[tool:").first.wait_for()
    page.get_by_text("Input and output").first.click()
    looks_well(page)
    page.get_by_role("link", name="[tool:").first.press("Enter")
    page.get_by_text("What a tool said").wait_for()
    page.go_back()
    page.get_by_label("Connector").fill("none-of-these")
    page.get_by_role("button", name="Narrow").press("Enter")
    page.get_by_text("There is none like this").wait_for()
    looks_well(page)
    assert page.evaluate("window.hit") is None


def test_a_persona_is_made_changed_and_removed_and_called_by_a_channel(
    site: Site, page: Page
) -> None:
    site.person(page, PersonRole.ADMIN)
    page.goto(f"{site.url}/console/personas")
    looks_well(page)
    page.get_by_label("Name of the channel").fill("Not a name")
    page.get_by_label("Address of its Slack").fill("https://hooks.slack.example/services/1")
    page.get_by_role("button", name="Add the channel").press("Enter")
    page.locator("#channel-wrong").wait_for()
    assert page.get_by_label("Name of the channel").input_value() == "Not a name"
    assert page.get_by_label("Address of its Slack").input_value() == ""
    page.get_by_label("Name of the channel").fill("night")
    page.get_by_label("Address of its Slack").fill("https://hooks.slack.com/services/1")
    page.get_by_role("button", name="Add the channel").press("Enter")
    page.get_by_text("People can be called there").wait_for()
    page.get_by_label("Name", exact=True).fill("night")
    page.get_by_label("What it is told").fill(HOSTILE)
    page.get_by_label("Tokens").fill("many")
    page.get_by_role("button", name="Make the persona").press("Enter")
    page.locator("#max_tokens-wrong").wait_for()
    assert page.get_by_label("What it is told").input_value() == HOSTILE
    page.get_by_label("Tokens").fill("9000")
    page.get_by_label("Who is called where").select_option("slack:night")
    page.get_by_role("button", name="Make the persona").press("Enter")
    page.get_by_text("Tickets can be given to it").wait_for()
    page.get_by_label("How far it goes").select_option("investigate")
    page.get_by_role("button", name="Change it").press("Enter")
    page.get_by_text("It holds from now on").wait_for()
    page.get_by_text("Version 1,").click()
    assert page.get_by_text(HOSTILE).last.is_visible()
    looks_well(page)
    page.get_by_text("The default persona works on its tickets").click()
    page.get_by_role("button", name="Remove night").click()
    page.get_by_text("It is gone; the default").wait_for()
    page.get_by_text("Remove night").first.click()
    page.get_by_text("Nobody is called there any more").click()
    page.get_by_role("button", name="Remove night").click()
    page.get_by_text("Who named it leaves notes").wait_for()
    assert page.evaluate("window.hit") is None


def test_upkeep_is_planned_begun_and_followed(site: Site, page: Page) -> None:
    said = {"text": "The hut opens in June.", "type": "fact", "client_id": "hut"}
    key = {"authorization": f"Bearer {site.front.key}"}
    assert httpx.post(f"{site.url}/v1/memories", json=said, headers=key).status_code == 201
    site.person(page, PersonRole.ADMIN)
    page.goto(f"{site.url}/console/upkeep")
    page.get_by_label("Of which client").fill("nobody at all")
    page.get_by_role("button", name="What would it do?").press("Enter")
    page.locator("#client_id-wrong").wait_for()
    page.get_by_label("Of which client").fill("hut")
    page.get_by_role("button", name="What would it do?").press("Enter")
    page.get_by_text("Nothing was changed.").wait_for()
    looks_well(page)
    page.get_by_role("button", name="Do it now").press("Enter")
    page.get_by_text("It waits for its machine").wait_for()
    page.locator("#runs[hx-get]").wait_for(state="attached")
    page.get_by_role("button", name="Queue what has none").press("Enter")
    page.get_by_text("They are queued").wait_for()
    page.get_by_role("button", name="Compare them").press("Enter")
    page.locator("#rebuild[hx-get]").wait_for(state="attached")
    page.reload()
    looks_well(page)


def test_the_widget_is_made_changed_and_removed(site: Site, page: Page) -> None:
    site.person(page, PersonRole.ADMIN)
    page.goto(f"{site.url}/console/widget")
    page.get_by_text("There is none yet.").wait_for()
    page.get_by_label("On which pages it may stand").fill("not an origin")
    page.get_by_label("Title").fill(HOSTILE)
    page.get_by_label("Colour").fill("red")
    page.get_by_label("Secret of Turnstile").fill("do-not-show")
    page.get_by_role("button", name="Make the widget").press("Enter")
    page.locator("#origins-wrong").wait_for()
    page.locator("#primary-wrong").wait_for()
    assert page.get_by_label("Title").input_value() == HOSTILE
    assert "do-not-show" not in page.content()
    looks_well(page)
    page.get_by_label("On which pages it may stand").fill("https://www.example.org")
    page.get_by_label("Colour").fill("#aa0000")
    page.get_by_label("Nobody for so many minutes").fill("7")
    page.get_by_role("button", name="Make the widget").press("Enter")
    page.get_by_text("It holds from now on").wait_for()
    page.get_by_text("Limits, and who the host signs in").click()
    page.get_by_label("As JSON").fill('{"anonymous": {"per_minute": 3}}')
    page.get_by_label("Customers may ask for a person").uncheck()
    page.get_by_role("button", name="Change it").press("Enter")
    page.get_by_text("It holds from now on").wait_for()
    key = {"authorization": f"Bearer {site.front.key}"}
    widget = httpx.get(f"{site.url}/v1/widget", headers=key).json()
    assert widget["texts"]["title"] == HOSTILE
    assert widget["theme"]["primary"] == "#aa0000"
    assert (widget["anonymous"]["per_minute"], widget["hand_off"]) == (3, None)
    looks_well(page)
    page.get_by_label("Nobody is answered any more").check()
    page.get_by_role("button", name="Remove the widget").click()
    page.get_by_text("What was said stays").wait_for()
    assert page.evaluate("window.hit") is None


def test_an_agent_is_registered_changed_and_given_words(site: Site, page: Page) -> None:
    site.person(page, PersonRole.ADMIN)
    page.goto(f"{site.url}/console/agents")
    register = page.get_by_role("region", name="Register an agent")
    register.get_by_label("Slug").fill("Not A Slug")
    register.get_by_label("Name").fill(HOSTILE)
    register.get_by_role("button", name="Register it").press("Enter")
    page.locator("#slug-wrong").wait_for()
    assert register.get_by_label("Name").input_value() == HOSTILE
    slug = f"porter-{new_id().hex[:8]}"
    register.get_by_label("Slug").fill(slug)
    register.get_by_role("button", name="Register it").press("Enter")
    page.get_by_text("It is registered.").wait_for()
    row = page.get_by_role("row").filter(has_text=slug)
    row.get_by_text("Change").first.click()
    row.get_by_label("Its tools").fill("no_such_tool")
    row.get_by_role("button", name="Change it").press("Enter")
    row.get_by_role("alert").first.wait_for()
    row.get_by_label("Its tools").fill("memory_recall")
    row.get_by_role("button", name="Change it").press("Enter")
    page.get_by_text("It holds from its next request on.").wait_for()
    row.get_by_text("Change").first.click()
    row.get_by_label("Finds what has these words").fill("solar panels, heat pump")
    row.get_by_role("button", name="Set the words").press("Enter")
    page.get_by_text("Its searches find what has these words").wait_for()
    row.get_by_text("Change").first.click()
    assert row.get_by_label("Finds what has").input_value() == "solar panels, heat pump"
    looks_well(page)
    assert page.evaluate("window.hit") is None


def test_a_member_says_who_they_are_and_takes_it_back(site: Site, page: Page) -> None:
    key, client = {"authorization": f"Bearer {site.front.key}"}, f"ines-{new_id()}"
    made = httpx.post(f"{site.url}/v1/networks", headers=key,
                      json={"name": "Quay", "join_policy": "anyone"}).json()  # fmt: skip
    httpx.post(f"{site.url}/v1/networks/{made['id']}/join", headers=key, json={"client_id": client})
    site.person(page, PersonRole.READER)
    people = httpx.get(f"{site.url}/v1/people", headers=key).json()["items"]
    newest = max(people, key=lambda each: each["id"])["id"]
    httpx.put(f"{site.url}/v1/people/{newest}/member", headers=key, json={"client_id": client})
    page.set_viewport_size(NARROW)
    go_to(page, "For you")
    page.get_by_role("link", name="Profile").click()
    page.get_by_label("Name").fill(HOSTILE)
    page.get_by_label("What you can do").fill("x" * 1_900)
    page.get_by_role("button", name="Write it").press("Enter")
    page.get_by_role("alert").first.wait_for()
    assert page.get_by_label("Name").input_value() == HOSTILE
    page.get_by_label("What you can do").fill("bread baking, bookkeeping")
    page.get_by_role("button", name="Write it").press("Enter")
    page.get_by_text("This is how your networks show you").wait_for()
    page.get_by_label("Say something of yourself").fill("I build wooden boats.")
    page.get_by_role("button", name="Keep it").press("Enter")
    page.get_by_text("It is kept, each sentence by itself.").wait_for()
    looks_well(page)
    page.get_by_role("button", name="Take it back").press("Enter")
    page.get_by_text("It no longer holds").wait_for()
    assert page.evaluate("window.hit") is None


def test_each_form_is_for_its_roles_alone(site: Site) -> None:
    agents = agents_of(site.front.app.state.services, site.world)
    question(agents)
    id_ = agents.pending().investigation_id
    ticket = f"/console/tickets/{agents.pending().ticket_id}"
    investigation = f"/console/investigations/{id_}"
    own = {"id": str(new_id())}
    of_workers: list[tuple[str, dict[str, str]]] = [
        ("/console/tickets", {**own, "title": "Shut"}),
        (f"{ticket}/messages", {**own, "text": "Open"}),
        (f"{investigation}/rating", {"rating": "3"}),  # 409: it has not ended
        (f"{investigation}/dispute", {"reason": "No."}),
        (f"{investigation}/resume", {}),
        ("/console/investigations/resume", {}),
    ]
    of_admins: list[tuple[str, dict[str, str]]] = [
        ("/console/personas", {"name": "x", "max_usd": "-1"}),
        ("/console/personas/of/default", {"max_usd": "-1"}),
        ("/console/personas/of/nobody/remove", {"meant": "yes"}),
        ("/console/personas/channels", {"channel": "-", "url": "-"}),
        ("/console/personas/channels/nothing/remove", {"meant": "yes"}),
        ("/console/upkeep/consolidate", {"client_id": "nobody"}),
        ("/console/upkeep/reindex", {}),
        ("/console/widget", {"origins": "-"}),
        ("/console/widget/remove", {"meant": "yes"}),
        ("/console/agents", {"slug": "-"}),
        ("/console/agents/nobody/change", {}),
        ("/console/agents/nobody/keywords", {"keywords": "-"}),
        ("/console/upkeep/rebuild", {"mode": "rebuild"}),  # 422: it is not meant
    ]
    wrong: list[str] = []
    for role in PersonRole:
        browser = person(site, role)
        token = browser.csrf()
        for forms, roles in ((of_workers, WORKERS), (of_admins, WORKERS[1:])):
            for path, form in forms:
                status = browser.post(path, csrf=token, **form).status_code
                if (status == 403) is (role in roles):
                    wrong.append(f"{role} {path}: {status}")
        for path in (
            "/console/tickets",
            "/console/tool-calls",
            "/console/escalations",
            investigation,
        ):
            assert browser.get(path).status_code == 200, (role, path)
        for path in ("/console/personas", "/console/upkeep", "/console/widget"):
            assert (browser.get(path).status_code == 200) is (role in WORKERS[1:]), (role, path)
    assert wrong == []
