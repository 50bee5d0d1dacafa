"""Keys, agents and settings in the console: who may what, secrets once, errors at their field."""

# pyright: basic

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from tests.integration.storage.test_console import HOSTILE, Deployed
from tests.support.console import Browser

from cairn.kernel.access import PersonRole
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from uuid import UUID

    import httpx

KEYS, AGENTS, SETTINGS = "/console/keys", "/console/agents", "/console/settings"
SECRET = re.compile(r"cairn_[A-Za-z0-9]+\.[A-Za-z0-9_\-]+")


def owner(deployed: Deployed) -> Browser:
    return deployed.person(f"owner-{new_id()}")


def secret(answer: httpx.Response) -> str:
    match = SECRET.search(answer.text)
    assert match is not None
    return match[0]


def key_id(deployed: Deployed, name: str) -> UUID:
    keys = deployed.app.state.services.list_keys(deployed.world.admin)
    return next(each.id for each in keys if each.name == name)


def whoami(deployed: Deployed, key: str) -> httpx.Response:
    headers = {"authorization": f"Bearer {key}"}
    return Browser(deployed.app).get("/v1/whoami", headers=headers)


def test_a_key_is_made_shown_once_used_replaced_and_revoked(deployed: Deployed) -> None:
    browser, name = owner(deployed), f"desk {HOSTILE}"
    made = browser.submit(KEYS, name=name, role="agent", scope_shared="yes", days="30")
    assert made.status_code == 201
    assert HOSTILE not in made.text
    first = secret(made)
    page = browser.get(KEYS).text
    assert SECRET.search(page) is None
    assert "never" in page
    answer = whoami(deployed, first)
    assert answer.json()["scopes"] == ["shared"]
    assert "just now" in browser.get(KEYS).text  # when it was used last
    second = secret(browser.submit(f"{KEYS}/{key_id(deployed, name)}/replace"))
    assert second != first
    assert whoami(deployed, first).status_code == 200  # until somebody revokes it
    old = deployed.app.state.services.list_keys(deployed.world.admin)[1]
    assert old.name == name
    assert browser.submit(f"{KEYS}/{old.id}/revoke").status_code == 422  # not meant
    done = browser.submit(f"{KEYS}/{old.id}/revoke", meant="yes")
    assert "opens nothing any more" in browser.get(done.headers["location"]).text
    assert whoami(deployed, first).status_code == 401
    assert whoami(deployed, second).json()["scopes"] == ["shared"]
    assert len(deployed.entries("key.revoked")) == 1


def test_an_admin_sees_and_revokes_keys_but_makes_none(deployed: Deployed) -> None:
    name = f"old {new_id()}"
    owner(deployed).submit(KEYS, name=name, role="agent")
    admin = deployed.person(f"admin-{new_id()}", PersonRole.ADMIN)
    id_ = key_id(deployed, name)
    assert "Only an owner makes keys" in admin.get(KEYS).text
    assert admin.submit(KEYS, name="mine", role="admin").status_code == 403
    assert admin.submit(f"{KEYS}/{id_}/replace").status_code == 403
    assert admin.submit(f"{KEYS}/{id_}/revoke", meant="yes").status_code == 303


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"name": ""}, "name"),
        ({"role": "king"}, "role"),
        ({"agent": "Not A Slug"}, "agent"),
        ({"agent": "nobody-of-this-name"}, "agent"),
        ({"tools": "memory_recall no_such_tool"}, "tools"),
        ({"days": "0"}, "days"),
        ({"days": "soon"}, "days"),
        ({"days": "99999999"}, "days"),
    ],
)
def test_what_is_wrong_with_a_key_stands_at_its_field(
    deployed: Deployed,
    form: dict[str, str],
    field: str,
) -> None:
    answer = owner(deployed).submit(KEYS, **{"name": "a key", "role": "agent", **form})
    assert answer.status_code == 422
    assert f'id="{field}-wrong"' in answer.text
    assert SECRET.search(answer.text) is None


def test_an_agent_is_shown_with_its_edition_and_tools_disabled_and_enabled(
    deployed: Deployed,
) -> None:
    browser = owner(deployed)
    assert "No agent is registered" in browser.get(AGENTS).text
    body = {"slug": "desk", "name": HOSTILE, "edition": "pro", "tools": ["memory_recall"],
            "description": HOSTILE}  # fmt: skip
    deployed.front.call("POST", "/v1/agents", json=body)
    page = browser.get(AGENTS).text
    assert HOSTILE not in page
    for part in ("desk", "pro", "memory_recall", "works"):
        assert part in page
    assert browser.submit(f"{AGENTS}/desk/disable").status_code == 303
    assert "disabled: by-admin" in browser.get(AGENTS).text
    assert browser.submit(f"{AGENTS}/desk/enable").status_code == 303
    assert "works" in browser.get(AGENTS).text
    assert browser.submit(f"{AGENTS}/nobody/disable").status_code == 404
    assert len(deployed.entries("agent.changed")) == 2


def test_a_setting_is_set_shown_with_its_source_and_reset(deployed: Deployed) -> None:
    browser = owner(deployed)
    assert "the constant of reciprocal rank fusion" in browser.get(SETTINGS).text
    done = browser.submit(SETTINGS, setting="recall.rrf_k", value="41", version="0")
    assert done.status_code == 303
    page = browser.get(done.headers["location"]).text
    assert "holds within a second" in page
    assert "<code>41</code>" in page
    shown = deployed.front.call("GET", "/v1/settings")
    assert shown["workspace"] == {"recall": {"rrf_k": 41}}
    table = browser.submit(
        SETTINGS, setting="recall.stages", value='{"graph": true}', version=str(shown["version"])
    )
    assert table.status_code == 303
    word = browser.submit(SETTINGS, setting="safety.redaction", value="soc2", version="2")
    assert word.status_code == 303
    reset = browser.submit(SETTINGS, setting="recall.rrf_k", reset="yes", version="3")
    assert reset.status_code == 303
    assert "rrf_k" not in str(deployed.front.call("GET", "/v1/settings")["workspace"])


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("recall.rrf_k", "0", "greater than or equal to 1"),
        ("recall.rrf_k", "many", "integer"),
        ("recall.rrf_k", "", "is empty"),
        ("recall.rrf_k", "null", "is empty"),
        ("recall.stages", '{"no_such": true}', "no_such"),
        ("safety.redaction", HOSTILE, "none"),
        ("models.budgets.day_usd", "-1", "greater than or equal to 0"),
        ("recall.stages", "[" * 30_000, ""),
    ],
)
def test_what_is_wrong_with_a_setting_stands_beside_it(
    deployed: Deployed,
    path: str,
    value: str,
    says: str,
) -> None:
    answer = owner(deployed).submit(SETTINGS, setting=path, value=value, version="0")
    assert answer.status_code == 422
    assert f'id="wrong-{path}"' in answer.text
    assert says in answer.text
    assert HOSTILE not in answer.text
    assert deployed.front.call("GET", "/v1/settings")["version"] == 0


def test_of_two_who_change_settings_at_once_the_second_is_told(deployed: Deployed) -> None:
    first, second = owner(deployed), owner(deployed)
    assert (
        first.submit(SETTINGS, setting="recall.rrf_k", value="41", version="0").status_code == 303
    )
    late = second.submit(SETTINGS, setting="recall.rrf_k", value="42", version="0")
    assert late.status_code == 409
    assert "version 1 by now" in late.text
    assert deployed.front.call("GET", "/v1/settings")["workspace"] == {"recall": {"rrf_k": 41}}


def test_bad_requests_change_no_setting(deployed: Deployed) -> None:
    browser = owner(deployed)
    assert browser.submit(SETTINGS, setting="no.such", value="1", version="0").status_code == 404
    assert browser.submit(SETTINGS, setting="recall.rrf_k", value="4").status_code == 422
    foreign = browser.post(
        SETTINGS, origin="https://evil.example", csrf=browser.csrf(), setting="recall.rrf_k",
        value="4", version="0",
    )  # fmt: skip
    assert foreign.status_code == 403
    assert deployed.front.call("GET", "/v1/settings")["version"] == 0


@pytest.mark.parametrize("role", ["operator", "reviewer", "reader"])
def test_who_is_no_admin_reaches_no_page_of_administration(
    deployed: Deployed,
    role: str,
) -> None:
    browser = deployed.person(f"low-{new_id()}", PersonRole(role))
    for path in (KEYS, AGENTS, SETTINGS):
        assert browser.get(path).status_code == 403, path
    name = f"not made {new_id()}"
    assert browser.submit(KEYS, name=name, role="admin").status_code == 403
    assert browser.submit(f"{AGENTS}/desk/disable").status_code == 403
    sent = {"setting": "recall.rrf_k", "value": "4", "version": "0"}
    assert browser.submit(SETTINGS, **sent).status_code == 403
    assert name not in str(deployed.front.call("GET", "/v1/keys"))
