"""What a member of networks keeps to themselves, on the pages of the person who is that member."""

# pyright: basic

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.integration.console.test_connectors import person
from tests.integration.console.test_in_a_browser import CHROMIUM, HOSTILE, looks_well
from tests.support.console import Browser, add_person

from cairn.accounts.sessions import principal_of
from cairn.discovery.networks.ties import acting_as
from cairn.kernel.access import PersonRole, Role
from cairn.kernel.errors import CairnError
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.integration.console.test_in_a_browser import Site

OWN, PEOPLE = "/console/own", "/console/people"
PRIVATE = "quiet-heron-premise"
PAGES = ("", "/intents", "/opportunities", "/negotiations")


def login_of(site: Site, role: PersonRole = PersonRole.READER) -> tuple[Browser, str, str]:
    """Sign somebody in; return their browser, id and login."""
    login = f"{role.value}-{new_id()}"
    link = add_person(site.front.app, site.world.workspace_id, login, role)
    browser = Browser(site.front.app)
    assert browser.post("/console/link", token=link.token).status_code == 303
    return browser, str(link.person.id), login


def network(site: Site, policy: str = "anyone") -> str:
    body = {"name": f"Quay {new_id()}", "join_policy": policy}
    return site.front.call("POST", "/v1/networks", json=body)["id"]


def member(site: Site, network_id: str, side: str, text: str) -> tuple[str, str]:
    """Let somebody be in a network and want something; return their client and intent."""
    client, call = f"ada-{new_id()}", site.front.call
    call("POST", f"/v1/networks/{network_id}/join", json={"client_id": client})
    premise = {"text": f"I keep a {PRIVATE}.", "client_id": client}
    call("POST", "/v1/profiles/me/premises", json=premise)
    body = {"text": text, "infer": False, "side": side, "networks": [network_id]}
    actions = call("POST", "/v1/intents", json={**body, "client_id": client})["actions"]
    return client, actions[0]["id"]


def tied(site: Site, client: str, role: PersonRole = PersonRole.READER) -> Browser:
    browser, person_id, _ = login_of(site, role)
    path = f"/v1/people/{person_id}/member"
    assert site.front.call("PUT", path, json={"client_id": client})["client_id"] == client
    return browser


def meeting(site: Site) -> tuple[str, str, str]:
    """Let two members of a network be proposed to each other; return both and the proposal."""
    id_ = network(site)
    ada, intent = member(site, id_, "seeking", f"A shipwright for a wooden mast {HOSTILE}")
    ben, _ = member(site, id_, "offering", f"I mend wooden masts as a shipwright {HOSTILE}")
    members = site.front.call("GET", f"/v1/networks/{id_}/members")["items"]
    mine = site.front.call("GET", "/v1/profiles/me", params={"client_id": ada})
    assert PRIVATE not in str(mine)
    body = {"intent_id": intent, "client_id": ada}
    ids = [each["id"] for each in members]
    for other in ids:
        answer = site.front.answer("POST", "/v1/opportunities", json={**body, "members": [other]})
        if answer.status_code == 201 and answer.json()["items"]:
            return ada, ben, answer.json()["items"][0]["id"]
    raise AssertionError("nothing was proposed")


def test_who_is_no_member_is_told_how_to_become_one_and_sees_nothing(site: Site) -> None:
    browser = person(site)
    assert "You are no member" in browser.get(OWN).text
    for page in PAGES[1:]:
        answer = browser.get(OWN + page)
        assert answer.status_code == 409
        assert "see For you" in answer.text


def test_a_reader_tied_to_a_member_says_changes_pauses_and_archives_what_they_seek(
    site: Site,
) -> None:
    id_ = network(site)
    client, intent = member(site, id_, "seeking", HOSTILE)
    browser = tied(site, client)
    page = browser.get(f"{OWN}/intents").text
    assert intent in page
    assert HOSTILE not in page
    understood = browser.submit(f"{OWN}/intents", text="I can teach welding.", mode="propose")
    assert "Nothing was written" in understood.text
    understood = browser.submit(f"{OWN}/intents", text="I can teach welding.", mode="create")
    assert understood.status_code == 200
    assert "How it was understood" in understood.text
    assert browser.submit(f"{OWN}/intents", text="", mode="create").status_code == 422
    path = f"{OWN}/intents/{intent}"
    for deed, state in (("pause", "paused"), ("resume", "active"), ("refresh", "active"),
                        ("archive", "archived")):  # fmt: skip
        assert browser.submit(f"{path}/{deed}").status_code == 303
        params = {"client_id": client}
        assert site.front.call("GET", f"/v1/intents/{intent}", params=params)["state"] == state
    assert browser.submit(f"{path}/pause").status_code == 409
    assert browser.submit(f"{path}/burn").status_code == 404
    assert browser.submit(f"{OWN}/intents/{new_id()}/pause").status_code == 404


def test_two_say_yes_each_for_themselves_and_no_page_has_what_the_other_keeps(site: Site) -> None:
    ada, ben, id_ = meeting(site)
    looks, other, stranger = tied(site, ada), tied(site, ben), tied(site, f"{meeting(site)[0]}")
    path = f"{OWN}/opportunities/{id_}"
    assert other.get(path).status_code == 404  # it is a draft
    assert stranger.get(path).status_code == 404
    assert looks.submit(f"{path}/accept").status_code == 409
    assert looks.submit(f"{path}/send").status_code == 303
    assert "Waits for you" in other.get(OWN).text
    assert stranger.submit(f"{path}/accept").status_code == 404
    assert other.submit(f"{path}/accept").status_code == 303
    for browser in (looks, other):
        shown = browser.get(path).text
        assert "accepted" in shown
        for page in (*(OWN + each for each in PAGES), path):
            text = browser.get(page).text
            assert PRIVATE not in text, page
            assert HOSTILE not in text, page
    assert "draft" not in other.get(path).text  # when it was not theirs to see


def test_agents_talk_where_both_sides_read_it_and_nobody_else_and_the_turns_hold(
    site: Site,
) -> None:
    ada, ben, id_ = meeting(site)
    looks, other, stranger = tied(site, ada), tied(site, ben), person(site)
    begun = looks.submit(f"{OWN}/opportunities/{id_}/negotiate")
    assert begun.status_code == 303, begun.text
    path = begun.headers["location"]
    for browser in (looks, other):
        shown = browser.get(path).text
        assert "Your side" in shown
        assert PRIVATE not in shown
        assert HOSTILE not in shown
        assert path in browser.get(f"{OWN}/negotiations").text
        verified = browser.submit(f"{path}/verify").text
        assert "Holds:" in verified
    assert stranger.get(path).status_code == 409
    third = tied(site, member(site, network(site), "seeking", "A lathe")[0])
    assert third.get(path).status_code == 404
    assert third.submit(f"{path}/verify").status_code == 404
    assert looks.submit(f"{path}/answer", answer="").status_code in (409, 422)
    assert looks.submit(f"{OWN}/opportunities/{id_}/negotiate").status_code in (303, 409)


def test_the_database_holds_a_person_to_the_member_they_are_tied_to(site: Site) -> None:
    ada, ben, id_ = meeting(site)
    browser = tied(site, ada, PersonRole.OWNER)
    token = browser.cookies.get("cairn_session")
    services = site.front.app.state.services
    owner = principal_of(services.sessions.admit(token))
    own = services.ties.member(owner)
    assert (own.client_id, own.role) == (ada, Role.AGENT)
    assert [str(each.id) for each in services.opportunities.page(own)] == [id_]
    forged = acting_as(owner, ben)  # as a page would that forgot to look
    assert not services.intents.page(forged, before=None, limit=9)
    assert services.opportunities.page(forged) == []
    with pytest.raises(CairnError):
        services.intents.pause(forged, new_id())
    with services.platform.transactions.writing(replace(forged)) as stores:
        assert stores.people.untie(owner.principal_id) is None
    assert services.ties.member(owner) is not None


def test_an_invite_makes_a_member_of_who_is_none_once(site: Site) -> None:
    id_ = network(site, "invite_only")
    browser, person_id, _ = login_of(site)
    link = site.front.call("POST", f"/v1/networks/{id_}/invites", json={"days": 1})["link"]
    for wrong in ("", "no", "x" * 43):
        refused = browser.submit(f"{OWN}/join", link=wrong)
        assert refused.status_code == 422
        assert "lets nobody in" in refused.text
    assert "You are no member" in browser.get(OWN).text  # a wrong link made nobody a member
    assert browser.submit(f"{OWN}/join", link=link).status_code == 303
    assert f"person-{person_id}" in browser.get(OWN).text
    assert id_ in browser.get(OWN).text
    assert login_of(site)[0].submit(f"{OWN}/join", link=link).status_code == 422
    types = [each["type"] for each in site.front.call("GET", "/v1/ledger")["items"]]
    assert "person.tied" in types


def test_one_member_a_person_and_one_person_a_member_until_they_are_untied(site: Site) -> None:
    id_ = network(site)
    client, _ = member(site, id_, "seeking", "A lathe")
    other, _ = member(site, id_, "seeking", "A mast")
    admin = person(site, PersonRole.ADMIN)
    browser, person_id, login = login_of(site)
    _, second, _ = login_of(site)
    _, owner, _ = login_of(site, PersonRole.OWNER)
    path = f"{PEOPLE}/{person_id}"
    assert admin.submit(f"{path}/tie", client_id="nobody").status_code == 404
    assert admin.submit(f"{PEOPLE}/{owner}/tie", client_id=client).status_code == 403
    assert browser.submit(f"{path}/tie", client_id=client).status_code == 403
    assert admin.submit(f"{path}/tie", client_id=client).status_code == 303
    assert client in admin.get(PEOPLE).text
    assert admin.submit(f"{path}/tie", client_id=client).status_code == 303  # the same again
    assert admin.submit(f"{path}/tie", client_id=other).status_code == 409
    assert admin.submit(f"{PEOPLE}/{second}/tie", client_id=client).status_code == 409
    assert admin.submit(f"{path}/untie").status_code == 303
    assert "You are no member" in browser.get(OWN).text
    members = site.front.call("GET", f"/v1/networks/{id_}/members")["items"]
    place = f"/console/networks/{id_}/members/{members[0]['id']}/tie"
    assert admin.submit(place, person=second).status_code == 303
    assert login in admin.get(f"/console/networks/{id_}").text


def test_forgetting_a_member_unties_and_removing_a_person_leaves_the_member(site: Site) -> None:
    id_ = network(site)
    client, intent = member(site, id_, "seeking", "A lathe")
    browser = tied(site, client)
    site.front.call(
        "POST", "/v1/forget", json={"subject": {"kind": "client", "natural_key": client}}
    )
    assert "You are no member" in browser.get(OWN).text
    client, intent = member(site, id_, "seeking", "A lathe")
    _, person_id, _ = login_of(site)
    site.front.call("PUT", f"/v1/people/{person_id}/member", json={"client_id": client})
    site.front.call("DELETE", f"/v1/people/{person_id}")
    params = {"client_id": client}
    assert site.front.call("GET", f"/v1/intents/{intent}", params=params)["state"] == "active"


@pytest.fixture
def walk(site: Site) -> tuple[str, str, str]:
    """A link of somebody tied, one of somebody who is not, and a proposal."""
    ada, _, id_ = meeting(site)
    links: list[str] = []
    for client in (ada, None):
        login = f"reader-{new_id()}"
        link = add_person(site.front.app, site.world.workspace_id, login, PersonRole.READER)
        links.append(f"{site.url}/console/link?token={link.token}")
        if client:
            path = f"/v1/people/{link.person.id}/member"
            site.front.call("PUT", path, json={"client_id": client})
    return links[0], links[1], id_


@pytest.mark.skipif(CHROMIUM is None and "CI" not in os.environ, reason="there is no chromium")
def test_the_pages_of_ones_own_look_well_and_are_used_by_keyboard(
    site: Site, walk: tuple[str, str, str], page: Page
) -> None:
    of_tied, of_nobody, id_ = walk
    page.goto(of_nobody)
    page.get_by_role("button", name="Sign in").click()
    page.goto(site.url + OWN)
    page.get_by_role("heading", name="Join by an invite").wait_for()
    looks_well(page)
    page.context.clear_cookies()
    page.goto(of_tied)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Your account").wait_for()
    for path in (*PAGES, f"/opportunities/{id_}"):
        page.goto(site.url + OWN + path)
        looks_well(page)
    page.goto(f"{site.url}{OWN}/intents")
    page.get_by_label("What do you seek or offer?").fill("I can teach welding on Thursdays.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="How it was understood").wait_for()
    looks_well(page)
    page.goto(f"{site.url}{OWN}/opportunities/{id_}")
    page.get_by_role("button", name="Send it").press("Enter")
    page.get_by_text("They see it now.").wait_for()
    page.get_by_role("button", name="Let the agents talk first").wait_for(state="detached")
    page.reload()
    page.get_by_role("heading", name="Timeline").wait_for()
    assert page.evaluate("window.hit") is None
