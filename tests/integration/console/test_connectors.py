"""Connectors, ticket sources and webhooks in the console: who may what, secrets never shown."""

# pyright: basic

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

import httpx
import pytest
from tests.integration.console.test_in_a_browser import CHROMIUM, HOSTILE, looks_well
from tests.integration.console.test_people_in_a_browser import enter
from tests.support.console import Browser, add_person
from tests.support.desks import KINDS, desk_of

from cairn.api.console.forms import as_typed
from cairn.kernel.access import PersonRole
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.integration.console.test_in_a_browser import Site

CONNECTORS, SOURCES, WEBHOOKS = (
    f"/console/{name}" for name in ("connectors", "ticket-sources", "webhooks")
)
TOKEN = "a-token-that-nobody-reads"
RULES = json.dumps({"rules": [{"url": "https://stock.example.com/*", "methods": ["GET"]}]})


def person(site: Site, role: PersonRole = PersonRole.OWNER) -> Browser:
    login = f"{role.value}-{new_id()}"
    token = add_person(site.front.app, site.world.workspace_id, login, role).token
    browser = Browser(site.front.app)
    assert browser.post("/console/link", token=token).status_code == 303
    return browser


def new(prefix: str) -> str:
    """Return a name that looks like no other one."""
    return f"{prefix}-{new_id().hex[-12:]}"


def added(browser: Browser, **form: str) -> str:
    name = new("stock")
    values = {"name": name, "builtin": "accounts", "in_process": "yes", "autonomy": "investigate"}
    answer = browser.submit(CONNECTORS, **{**values, "criticality": "skip", **form})
    assert answer.status_code == 303, answer.text
    return name


def test_a_connector_is_added_shown_changed_and_removed_and_its_secrets_are_in_no_page(
    site: Site,
) -> None:
    browser = person(site)
    name = added(browser, secrets=f"token={TOKEN}")
    page = browser.get(f"{CONNECTORS}/{name}").text
    assert TOKEN not in page
    assert "<dd>token</dd>" in page  # its name is shown
    assert name in browser.get(CONNECTORS).text
    path = f"{CONNECTORS}/{name}"
    done = browser.submit(
        f"{path}/change", config="{}", scopes='read: {allow: ["*"]}',
        autonomy="propose", criticality="halt",
    )  # fmt: skip
    assert done.status_code == 303
    shown = site.front.call("GET", f"/v1/connectors/{name}")
    assert (shown["autonomy"], shown["criticality"]) == ("propose", "halt")
    assert shown["secret_names"] == ["token"]  # what is not written stays
    assert browser.submit(f"{path}/check").status_code == 303
    assert browser.submit(f"{path}/restart").status_code == 303
    assert browser.submit(f"{path}/remove").status_code == 422  # not meant
    assert browser.submit(f"{path}/remove", meant="yes").status_code == 303
    assert browser.get(path).status_code == 404


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"name": "Not A Name"}, "name"),
        ({"builtin": ""}, "builtin"),
        ({"builtin": "", "url": "no address"}, "url"),
        ({"config": "[1]"}, "config"),
        ({"config": "{"}, "config"),
        ({"secrets": f"{TOKEN}"}, "secrets"),
        ({"scopes": "read: ["}, "scopes"),
        ({"autonomy": "king"}, "autonomy"),
        ({"criticality": ""}, "criticality"),
    ],
)
def test_what_is_wrong_with_a_connector_stands_in_the_page_and_secrets_are_not_sent_back(
    site: Site, form: dict[str, str], field: str
) -> None:
    values = {"name": new("stock"), "builtin": "accounts", "autonomy": "act",
              "criticality": "skip", "secrets": f"token={TOKEN}"}  # fmt: skip
    answer = person(site).submit(CONNECTORS, **{**values, **form})
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert f'id="{field}-wrong"' in answer.text or field in answer.text
    assert TOKEN not in answer.text


def test_a_tool_that_is_not_listed_is_not_called_and_the_page_says_so(site: Site) -> None:
    browser = person(site)
    path = f"{CONNECTORS}/{added(browser)}/try"
    assert browser.submit(path, tool="nothing", arguments="{}").status_code == 409
    assert browser.submit(path, tool="nothing", arguments="no").status_code == 422


def test_only_owners_and_admins_see_what_agents_act_through(site: Site) -> None:
    name = added(person(site))
    admin = person(site, PersonRole.ADMIN)
    assert admin.get(f"{CONNECTORS}/{name}").status_code == 200
    for role in (PersonRole.OPERATOR, PersonRole.REVIEWER, PersonRole.READER):
        browser = person(site, role)
        for page in (CONNECTORS, f"{CONNECTORS}/{name}", SOURCES, WEBHOOKS):
            assert browser.get(page).status_code == 403
        assert browser.submit(f"{CONNECTORS}/{name}/remove", meant="yes").status_code == 403
        assert browser.submit(WEBHOOKS, url="https://a.example").status_code in (403, 422)
    for odd in ("no-such-name", "%3Cscript%3E", "a" * 200):
        assert admin.get(f"{CONNECTORS}/{odd}").status_code == 404


def test_a_help_desk_is_added_paused_changed_and_removed_and_its_secrets_are_in_no_page(
    site: Site,
) -> None:
    browser, name = person(site), new("issues")
    config = {"config.owner": "harbour-lane", "config.repository": "portal"}
    form = {"name": name, "kind": "github-issues", **config, "config.labels": "urgent, billing",
            "config.backfill_hours": "24", "persona": "default", "secrets.token": TOKEN,
            "secrets.webhook_secret": TOKEN, "poll_seconds": "300"}  # fmt: skip
    for field, value in (
        ("kind", "pigeon"), ("persona", "nobody"), ("poll_seconds", "5"), ("poll_seconds", "soon"),
        ("config.owner", ""), ("config.backfill_hours", "many"), ("secrets.token", ""),
    ):  # fmt: skip
        answer = browser.submit(SOURCES, **{**form, field: value})
        assert answer.status_code == 422, field
        assert f'id="{field}-wrong"' in answer.text or field == "kind"
        assert TOKEN not in answer.text
    assert browser.submit(SOURCES, **form).status_code == 303
    assert browser.submit(SOURCES, **form).status_code == 409
    source = next(
        each for each in site.front.call("GET", "/v1/ticket-sources")["items"]
        if each["name"] == name
    )  # fmt: skip
    assert source["config"]["labels"] == ["urgent", "billing"]
    assert source["config"]["backfill_hours"] == 24
    page = browser.get(SOURCES).text
    assert TOKEN not in page
    assert 'value="urgent, billing"' in page
    assert f"/v1/ticket-sources/{source['id']}/events" in page
    path = f"{SOURCES}/{source['id']}"
    assert browser.submit(f"{path}/pause").status_code == 303
    assert "Poll it again" in browser.get(SOURCES).text
    assert browser.submit(f"{path}/resume").status_code == 303
    change = {**config, "persona": "default", "poll_seconds": "600", "remove.webhook_secret": "1"}
    refused = browser.submit(f"{path}/change", **{**change, "poll_seconds": "1"})
    assert refused.status_code == 422
    assert browser.submit(f"{path}/change", **change).status_code == 303
    changed = site.front.call("GET", f"/v1/ticket-sources/{source['id']}")
    assert (changed["poll_seconds"], changed["config"]) == (
        600, {"owner": "harbour-lane", "repository": "portal"}
    )  # fmt: skip
    assert browser.submit(f"{path}/explode").status_code == 404
    assert browser.submit(f"{path}/remove").status_code == 422
    assert browser.submit(f"{path}/remove", meant="yes").status_code == 303
    assert name not in browser.get(SOURCES).text


@pytest.mark.parametrize("kind", KINDS)
def test_each_help_desk_is_added_on_the_page(site: Site, kind: str) -> None:
    browser, name = person(site), new(kind)
    with desk_of(kind) as desk:
        config = {
            key: "https://desk.example" if key.endswith("_url") else value
            for key, value in desk.config.items()
        }
        secrets = {f"secrets.{key}": secret for key, secret in desk.secrets.items()}
    typed = {f"config.{key}": as_typed(value) for key, value in config.items()}
    form = {"name": name, "kind": kind, "persona": "default", "poll_seconds": "300", **typed}
    assert f'name="{min(secrets)}"' in browser.get(f"{SOURCES}?kind={kind}").text
    assert browser.submit(SOURCES, **form).status_code == 422
    form |= secrets
    assert browser.submit(SOURCES, **form).status_code == 303
    source = next(
        each for each in site.front.call("GET", "/v1/ticket-sources")["items"]
        if each["name"] == name
    )  # fmt: skip
    assert (source["kind"], source["config"]) == (kind, config)
    removed = browser.submit(f"{SOURCES}/{source['id']}/remove", meant="yes")
    assert removed.status_code == 303


def test_every_kind_of_help_desk_has_a_form_of_its_own_that_says_what_is_needed(site: Site) -> None:
    browser = person(site)
    kinds = re.findall(r"\?kind=([a-z-]+)", browser.get(SOURCES).text)
    assert {"github-issues", "zoho-desk", "mail", "slack"} <= set(kinds)
    for kind in kinds:
        assert 'name="secrets.' in browser.get(f"{SOURCES}?kind={kind}").text
        form = {"name": new("desk"), "kind": kind, "persona": "default", "poll_seconds": "300"}
        refused = browser.submit(SOURCES, **form)
        assert (refused.status_code, "is needed" in refused.text) == (422, True), kind
    assert "config." not in browser.get(f"{SOURCES}?kind=pigeon").text


def test_webhooks_show_their_secret_once_and_tell_how_deliveries_went(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = person(site)
    webhooks = site.front.app.state.services.webhooks
    monkeypatch.setattr(type(webhooks.sender), "check", lambda *_: None)  # no names are looked up
    url = f"https://{new('told')}.example.com/"
    for form in ({"url": ""}, {"url": url}):
        assert browser.submit(WEBHOOKS, **form).status_code == 422
    made = browser.submit(WEBHOOKS, url=url, event_memory_superseded="yes")
    assert made.status_code == 201
    secret = re.search(r"whsec_[A-Za-z0-9+/=]+", made.text)
    assert secret is not None
    assert secret[0] not in browser.get(WEBHOOKS).text
    webhook = next(
        each for each in site.front.call("GET", "/v1/webhooks")["items"] if each["url"] == url
    )
    assert webhook["events"] == ["memory_superseded"]
    assert "Nothing was to be told yet" in browser.get(f"{WEBHOOKS}/{webhook['id']}").text
    assert browser.submit(f"{WEBHOOKS}/{webhook['id']}/remove", meant="yes").status_code == 303
    assert browser.get(f"{WEBHOOKS}/{webhook['id']}").status_code == 404


def test_a_service_that_writes_memories_is_made_given_a_new_secret_and_removed(site: Site) -> None:
    browser, name = person(site), f"desk {new_id()}"
    incoming = f"{WEBHOOKS}/incoming"
    assert browser.submit(incoming, name="", scope="admin").status_code == 422
    assert browser.submit(incoming, name=name, scope="everybody").status_code == 422
    made = browser.submit(incoming, name=name, scope="shared", client_id="ada")
    assert made.status_code == 201
    item = next(
        each
        for each in site.front.call("GET", "/v1/incoming-webhooks")["items"]
        if each["name"] == name
    )
    assert (item["scope"], item["client_id"]) == ("shared", "ada")
    again = browser.submit(f"{incoming}/{item['id']}/rotate")
    secrets = [re.search(r"whsec_[A-Za-z0-9+/=]+", each.text)[0] for each in (made, again)]
    assert secrets[0] != secrets[1]
    page = browser.get(WEBHOOKS).text
    assert not any(secret in page for secret in secrets)
    assert browser.submit(f"{incoming}/{item['id']}/remove", meant="yes").status_code == 303
    assert name not in browser.get(WEBHOOKS).text


@pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ, reason="there is no chromium on this machine"
)
def test_an_owner_adds_a_connector_tries_it_and_lets_it_go(site: Site, page: Page) -> None:
    enter(site, page)
    page.get_by_role("link", name="Administration").click()
    page.get_by_role("link", name="Connectors").click()
    looks_well(page)
    name = new("lamp")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("A bundled one").select_option("accounts")
    page.get_by_label("Inside Cairn's process").check()
    page.get_by_label("Secrets").fill(f"token={TOKEN}")
    page.get_by_role("button", name="Add the connector").press("Enter")
    page.get_by_role("heading", name=f"Connector {name}").wait_for()
    page.get_by_text("It is kept.").wait_for()
    looks_well(page)
    assert TOKEN not in page.content()
    page.get_by_role("button", name="Test the connection").click()
    page.get_by_text("It was looked at just now.").wait_for()
    page.get_by_label("How far agents may go").select_option("off")
    page.get_by_role("button", name="Change it").click()
    page.get_by_text("The change holds from now on.").wait_for()
    page.reload()
    assert page.get_by_label("How far agents may go").input_value() == "off"
    page.go_back()
    page.go_forward()
    page.get_by_text("Agents reach it no more").click()
    page.get_by_role("button", name="Remove").click()
    page.get_by_text("It is gone, with its secrets.").wait_for()
    assert page.get_by_role("link", name=name).count() == 0


@pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ, reason="there is no chromium on this machine"
)
def test_stored_scripts_of_sources_and_webhooks_are_shown_as_text(site: Site, page: Page) -> None:
    enter(site, page)
    headers = {"authorization": f"Bearer {site.front.key}"}
    config = {"owner": "harbour-lane", "repository": "portal", "customer": HOSTILE}
    body = {"name": HOSTILE[:60], "kind": "github-issues", "config": config,
            "secrets": {"token": TOKEN}}  # fmt: skip
    source = httpx.post(f"{site.url}/v1/ticket-sources", json=body, headers=headers)
    assert source.status_code in (201, 422), source.text
    for path, other in (
        ("ticket-sources", {**body, "name": new("issues")}),
        ("incoming-webhooks", {"name": HOSTILE}),
    ):
        answer = httpx.post(f"{site.url}/v1/{path}", json=other, headers=headers)
        assert answer.status_code == 201, answer.text
    page.goto(f"{site.url}{SOURCES}")
    page.locator("summary", has_text="Change").first.click()
    looks_well(page)
    page.get_by_role("navigation", name="Kind").get_by_role("link", name="zoho-desk").click()
    page.get_by_label("Organisation id").wait_for()
    looks_well(page)
    page.goto(f"{site.url}{WEBHOOKS}")
    page.get_by_text(HOSTILE).first.wait_for()
    looks_well(page)
    assert page.evaluate("window.hit") is None
