"""The page of people over the real database: who may what, two at once, and bad input."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.storage.test_console import HOSTILE, Deployed
from tests.support.console import Browser
from tests.support.front import Front as Door
from tests.support.world import open_world

from cairn.kernel.access import PersonRole
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from pathlib import Path
    from uuid import UUID

    import httpx
    from tests.plugins.postgres import Database

    from cairn.accounts.people import PersonView

PAGE = "/console/people"
SENT = re.compile(r"http://127\.0\.0\.1:8080(/console/link)\?token=([A-Za-z0-9_\-]+)")


def person(deployed: Deployed, login: str) -> PersonView:
    everybody = deployed.app.state.services.people.all(deployed.world.admin)
    return next(each for each in everybody if each.login == login)


def seen(deployed: Deployed, login: str) -> str:
    return person(deployed, login).changed_at.isoformat()


def act(browser: Browser, id_: UUID, deed: str, **form: str) -> httpx.Response:
    return browser.submit(f"{PAGE}/{id_}/{deed}", **form)


def test_who_is_invited_by_the_page_comes_in_by_the_link_that_is_shown_once(
    deployed: Deployed,
) -> None:
    owner, login = deployed.person(f"owner-{new_id()}"), f"ada-{new_id()}"
    made = owner.submit(PAGE, login=login.upper(), name=HOSTILE, role="operator")
    assert made.status_code == 201
    assert HOSTILE not in made.text
    assert made.headers["cache-control"] == "no-store"
    link = SENT.search(made.text)
    assert link is not None
    later = owner.get(PAGE)
    assert link[2] not in later.text
    assert login in later.text
    assert HOSTILE not in later.text
    ada = Browser(deployed.app)
    assert ada.post(link[1], token=link[2]).status_code == 303
    assert ada.get("/").status_code == 200
    assert ">operator<" in ada.get("/console/account").text
    added = deployed.entries("person.added")[-1]
    assert added["meta"]["role"] == "operator"
    assert login not in str(added)


def test_a_role_is_changed_somebody_is_disabled_enabled_signed_out_and_removed(
    deployed: Deployed,
) -> None:
    owner, login = deployed.person(f"owner-{new_id()}"), f"bob-{new_id()}"
    bob = deployed.person(login, PersonRole.READER)
    id_ = person(deployed, login).id
    now = seen(deployed, login)
    assert act(owner, id_, "change", role="reviewer", seen=now).status_code == 303
    assert person(deployed, login).role is PersonRole.REVIEWER
    now = seen(deployed, login)
    assert act(owner, id_, "change", disabled="yes", seen=now).status_code == 303
    assert bob.get("/").status_code == 303
    assert "disabled" in owner.get(PAGE).text
    now = seen(deployed, login)
    assert act(owner, id_, "change", disabled="no", seen=now).status_code == 303
    assert bob.sign_in(login).status_code == 303
    other = Browser(deployed.app)
    other.sign_in(login)
    assert act(owner, id_, "sign-out").status_code == 303
    assert (bob.get("/").status_code, other.get("/").status_code) == (303, 303)
    assert act(owner, id_, "remove", seen=seen(deployed, login)).status_code == 422  # not meant
    done = act(owner, id_, "remove", seen=seen(deployed, login), meant="yes")
    assert "They are gone" in owner.get(done.headers["location"]).text
    assert login not in owner.get(PAGE).text
    assert act(owner, id_, "change", role="admin").status_code == 404
    changes = [entry["meta"] for entry in deployed.entries("person.changed")]
    assert [each["disabled"] for each in changes] == [False, True, False]
    assert len(deployed.entries("person.removed")) == 1
    ended = deployed.entries("person.signed_out")
    assert {entry["meta"]["person_id"] for entry in ended} >= {str(id_)}


@pytest.mark.parametrize("role", ["operator", "reviewer", "reader"])
def test_who_is_no_admin_sees_and_changes_nobody(deployed: Deployed, role: str) -> None:
    login = f"low-{new_id()}"
    browser = deployed.person(login, PersonRole(role))
    id_ = person(deployed, login).id
    refused = browser.get(PAGE)
    assert refused.status_code == 403
    assert login not in refused.text
    assert "Administration" not in browser.get("/").text
    assert browser.submit(PAGE, login=f"x-{new_id()}", role="owner").status_code == 403
    for deed, form in (("change", {"role": "owner"}), ("link", {}), ("sign-out", {}),
                       ("remove", {"meant": "yes"})):  # fmt: skip
        assert act(browser, id_, deed, **form).status_code == 403
    assert person(deployed, login).role == role


def test_an_admin_neither_makes_nor_touches_an_owner(deployed: Deployed) -> None:
    login = f"owner-{new_id()}"
    deployed.person(login)
    admin = deployed.person(f"admin-{new_id()}", PersonRole.ADMIN)
    id_ = person(deployed, login).id
    text = admin.get(PAGE).text
    assert "An owner decides about owners" in text
    assert '<option value="owner"' not in text
    assert admin.submit(PAGE, login=f"x-{new_id()}", role="owner").status_code == 403
    assert act(admin, person(deployed, login).id, "link").status_code == 403
    for deed in ("change", "sign-out", "remove"):
        form = {"meant": "yes", "role": "reader"}
        assert act(admin, id_, deed, **form).status_code == 403
    own = next(iter(re.findall(r"/console/people/([0-9a-f\-]{36})/change", text)))
    assert act(admin, own, "change", role="owner").status_code == 403  # type: ignore[arg-type]
    assert person(deployed, login).role is PersonRole.OWNER


def test_the_last_owner_stays_whatever_is_pressed(deployed: Deployed) -> None:
    login = f"last-{new_id()}"
    owner = deployed.person(login)
    id_ = person(deployed, login).id
    assert "the last owner stays" in owner.get(PAGE).text
    for deed, form in (("change", {"role": "reader"}), ("change", {"disabled": "yes"}),
                       ("remove", {"meant": "yes"})):  # fmt: skip
        answer = act(owner, id_, deed, **form)
        assert answer.status_code == 409
        assert "The last owner stays an owner." in answer.text
    assert person(deployed, login).role is PersonRole.OWNER


def test_of_two_owners_who_demote_each_other_at_once_one_stays(deployed: Deployed) -> None:
    logins = [f"first-{new_id()}", f"second-{new_id()}"]
    browsers = [deployed.person(login) for login in logins]
    tokens = [browser.csrf() for browser in browsers]
    ids = [person(deployed, login).id for login in logins]

    def demote(me: int) -> int:
        path = f"{PAGE}/{ids[1 - me]}/change"
        return browsers[me].post(path, csrf=tokens[me], role="reader").status_code

    with ThreadPoolExecutor(2) as pool:
        answers = sorted(pool.map(demote, range(2)))
    assert answers[0] == 303
    assert answers[1] in (303, 401, 403, 409)
    owners = [
        each
        for each in deployed.app.state.services.people.all(deployed.world.admin)
        if each.role is PersonRole.OWNER
    ]
    assert len(owners) == 1


def test_who_looked_before_somebody_else_changed_it_changes_nothing(deployed: Deployed) -> None:
    login = f"twice-{new_id()}"
    deployed.person(login, PersonRole.READER)
    first, second = deployed.person(f"a-{new_id()}"), deployed.person(f"b-{new_id()}")
    id_, looked = person(deployed, login).id, seen(deployed, login)
    assert act(first, id_, "change", role="operator", seen=looked).status_code == 303
    late = act(second, id_, "change", role="admin", seen=looked)
    assert late.status_code == 409
    assert "Somebody else has changed this person meanwhile" in late.text
    assert act(second, id_, "remove", meant="yes", seen=looked).status_code == 409
    assert person(deployed, login).role is PersonRole.OPERATOR


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"login": "not a login", "role": "reader"}, "login"),
        ({"login": "", "role": "reader"}, "login"),
        ({"login": "fine", "role": "king"}, "role"),
        ({"login": "fine", "name": "x" * 300, "role": "reader"}, "name"),
    ],
)
def test_what_is_wrong_with_an_invitation_stands_at_its_field(
    deployed: Deployed, form: dict[str, str], field: str
) -> None:
    owner = deployed.person(f"owner-{new_id()}")
    answer = owner.submit(PAGE, **form)
    assert answer.status_code == 422
    assert f'id="{field}-wrong"' in answer.text
    assert f'value="{form["login"]}"' in answer.text  # nothing has to be typed again


def test_a_login_that_is_taken_is_said_at_its_field(deployed: Deployed) -> None:
    login = f"owner-{new_id()}"
    owner = deployed.person(login)
    answer = owner.submit(PAGE, login=login, role="reader")
    assert answer.status_code == 409
    assert "Somebody signs in under this name already" in answer.text


def test_bad_requests_change_nobody(deployed: Deployed) -> None:
    owner, login = deployed.person(f"owner-{new_id()}"), f"calm-{new_id()}"
    deployed.person(login, PersonRole.READER)
    id_ = person(deployed, login).id
    for path, form, status in (
        (f"{PAGE}/{id_}/change", {"role": "king"}, 422),
        (f"{PAGE}/{id_}/change", {"role": "admin", "seen": "yesterday"}, 422),
        (f"{PAGE}/{id_}/change", {"role": "admin", "seen": "2020-01-01T00:00:00+00:00"}, 409),
        (f"{PAGE}/not-an-id/change", {"role": "admin"}, 422),
        (f"{PAGE}/{new_id()}/sign-out", {}, 404),
    ):
        assert owner.submit(path, **form).status_code == status, (path, form)
    foreign = owner.post(f"{PAGE}/{id_}/change", origin="https://evil.example",
                         csrf=owner.csrf(), role="admin")  # fmt: skip
    assert foreign.status_code == 403
    assert owner.post(f"{PAGE}/{id_}/change", role="admin").status_code == 401
    assert person(deployed, login).role is PersonRole.READER


def test_somebody_of_another_workspace_is_nobody_here(
    deployed: Deployed, database: Database, tmp_path: Path
) -> None:
    login = f"ours-{new_id()}"
    deployed.person(login, PersonRole.READER)
    id_ = person(deployed, login).id
    world = open_world(database.owner_url, database.app_url, f"theirs {new_id()}")
    theirs: Any = Deployed(Door(world.key), world)
    stranger = theirs.person(f"theirs-{new_id()}")
    assert login not in stranger.get(PAGE).text
    for deed in ("change", "link", "sign-out", "remove"):
        assert act(stranger, id_, deed, meant="yes", role="owner").status_code == 404
    world.pool.close()
    assert person(deployed, login).role is PersonRole.READER
