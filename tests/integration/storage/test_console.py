"""The console over the real database: who gets in, who does not, and what a thief may not do."""

# pyright: basic

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from tests.support.console import BASE, PASSWORD, Browser, add_person, signed_in
from tests.support.front import Cloud, Front, environment, stand_in_for_aws
from tests.support.world import World, open_world

from cairn.accounts.addresses import ADDRESS_ATTEMPTS, ADDRESS_WINDOW, address_id
from cairn.accounts.keys import record
from cairn.accounts.sessions import FREE_ATTEMPTS, REFUSED, pause_after
from cairn.api.app import create_app
from cairn.api.options import BUILT_IN, ApiOptions
from cairn.bootstrap.parts import logger
from cairn.kernel.access import ALL_SCOPES, PersonRole, Principal, Role
from cairn.kernel.errors import Conflict, Denied
from cairn.kernel.ids import new_id
from cairn.ledger.entry import Actor, ActorKind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fastapi import FastAPI
    from tests.plugins.postgres import Database

HOSTILE = "<script>alert('of the memory')</script><img src=x onerror=alert(1)>"


class Deployed:
    """A laptop's API with a workspace, and what its ledger says."""

    def __init__(self, front: Front, world: World) -> None:
        options = ApiOptions(mcp_hosts=("127.0.0.1:*",), issuer=BUILT_IN)
        self.app: FastAPI = create_app(
            front.app.state.services, options, log=logger("api", "CRITICAL")
        )
        self.front, self.world = front, world
        front.app = self.app

    def person(self, login: str, role: PersonRole = PersonRole.OWNER) -> Browser:
        return signed_in(self.app, self.world.workspace_id, login, role)

    def link(self, login: str, role: PersonRole = PersonRole.OWNER) -> str:
        return add_person(self.app, self.world.workspace_id, login, role).token

    def stop_the_clock(self) -> None:
        """Let no time pass for who signs in: on a busy machine an address waits long enough."""
        platform = self.app.state.services.sessions.platform
        moment = platform.clock()
        object.__setattr__(platform, "clock", lambda: moment)

    def entries(self, type_: str) -> list[dict[str, Any]]:
        path = "/v1/ledger"
        return self.front.call("GET", path, params={"type": type_, "limit": 200})["items"]


@pytest.fixture
def deployed(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Deployed]:
    for name, value in environment(database.app_url, tmp_path).items():
        monkeypatch.setenv(name, value)
    stand_in_for_aws(monkeypatch, Cloud())
    world = open_world(database.owner_url, database.app_url, f"console {new_id()}")
    yield Deployed(Front(world.key), world)
    world.pool.close()


def test_a_link_lets_the_first_owner_in_once_and_a_password_ever_after(deployed: Deployed) -> None:
    login = f"ada-{new_id()}"
    token = deployed.link(login)
    browser = Browser(deployed.app)
    assert browser.get("/").headers["location"] == "/console/sign-in"
    assert token in browser.get(f"/console/link?token={token}").text  # and spends nothing
    assert browser.post("/console/link", token=token).headers["location"] == "/console/account"
    assert browser.submit("/console/account", password=PASSWORD).status_code == 303
    home = browser.get("/")
    assert home.status_code == 200
    assert "Waits for a person" in home.text
    again = Browser(deployed.app).post("/console/link", token=token)
    assert (again.status_code, again.headers["x-cairn-reason"]) == (401, "link")
    other = Browser(deployed.app)
    assert other.sign_in(login.upper()).status_code == 303
    assert other.get("/").status_code == 200
    by = [entry["meta"]["by"] for entry in deployed.entries("person.signed_in")]
    assert by == ["link", "password"]
    assert login not in str(deployed.entries("person.added"))


def test_every_page_without_a_session_leads_to_the_sign_in(deployed: Deployed) -> None:
    browser = Browser(deployed.app)
    answer = browser.get("/console/account")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/console/sign-in?next=%2Fconsole%2Faccount"
    browser.cookies.set("cairn_session", "made-up", domain="127.0.0.1")
    assert browser.get("/console/account").status_code == 303


@pytest.mark.parametrize(
    "goal",
    ["https://evil.example", "//evil.example/", "/\\evil.example", "/console/..//evil.example",
     "javascript:alert(1)", "/v1/memories", "/console//evil", "/%2f%2fevil.example",
     "/console/../oauth/authorize?client_id=1", "/console/a/..", "/console/./..?x=1"],
)  # fmt: skip
def test_nobody_is_sent_elsewhere_after_signing_in(deployed: Deployed, goal: str) -> None:
    login = f"goal-{new_id()}"
    deployed.person(login)
    answer = Browser(deployed.app).sign_in(login, next=goal)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


@pytest.mark.parametrize("page", ["/console/memories?q=", "/console/conversations?q=x&session="])
def test_a_character_that_no_store_can_keep_is_refused_and_breaks_no_page(
    deployed: Deployed, page: str
) -> None:
    person = deployed.person(f"nul-{new_id()}")
    assert person.get(f"{page}%00").status_code == 422
    assert person.submit("/console/account", name="a\x00b").status_code == 422
    assert Browser(deployed.app).sign_in("a\x00b").status_code == 422


def test_a_cookie_that_was_there_before_is_no_session_afterwards(deployed: Deployed) -> None:
    login = f"fixed-{new_id()}"
    deployed.person(login)
    browser = Browser(deployed.app)
    planted = "planted-by-somebody"
    browser.cookies.set("cairn_session", planted, domain="127.0.0.1", path="/")
    answer = browser.sign_in(login)
    cookie = answer.headers["set-cookie"]
    assert planted not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    thief = Browser(deployed.app)
    thief.cookies.set("cairn_session", planted, domain="127.0.0.1", path="/")
    assert thief.get("/").status_code == 303


def test_over_tls_the_cookie_is_secure_and_no_other_hosts(deployed: Deployed) -> None:
    login = f"tls-{new_id()}"
    deployed.person(login)
    browser = Browser(deployed.app, base="https://127.0.0.1:8443")
    cookie = browser.sign_in(login).headers["set-cookie"]
    assert cookie.startswith("__Host-cairn_session=")
    assert "Secure" in cookie


def test_forms_of_other_pages_change_nothing(deployed: Deployed) -> None:
    login = f"csrf-{new_id()}"
    browser = deployed.person(login)
    token = browser.csrf()
    new = "another heap of other stones"
    path = "/console/account"
    foreign = browser.post(path, origin="https://evil.example", csrf=token, password=new)
    opaque = browser.post(path, origin="null", csrf=token, password=new)
    without = browser.send("POST", path, data={"csrf": token, "password": new})
    site = {"origin": BASE, "sec-fetch-site": "same-site"}
    sibling = browser.send("POST", path, data={"csrf": token, "password": new}, headers=site)
    for answer in (foreign, opaque, without, sibling):
        assert (answer.status_code, answer.headers["x-cairn-reason"]) == (403, "origin")
    for wrong in ("", "guessed", token[:-1]):
        answer = browser.post(path, csrf=wrong, present=PASSWORD, password=new)
        assert (answer.status_code, answer.headers["x-cairn-reason"]) == (401, "session-rotated")
    json = browser.send(
        "POST", path, json={"csrf": token, "password": new}, headers={"origin": BASE}
    )
    assert json.status_code == 422
    stranger = Browser(deployed.app)
    foreign = stranger.post(
        "/console/sign-in", origin="https://evil.example", login=login, password=PASSWORD
    )
    assert foreign.status_code == 403
    assert stranger.sign_in(login).status_code == 303  # the password is what it was


def test_after_five_failures_nobody_is_tried_for_a_while_and_nobody_learns_whether_they_exist(
    deployed: Deployed, database: Database
) -> None:
    login = f"locked-{new_id()}"
    deployed.person(login)
    browser = Browser(deployed.app)
    for _ in range(FREE_ATTEMPTS):
        assert browser.sign_in(login, "wrong wrong wrong").status_code == 401
    locked = browser.sign_in(login)  # with the right one
    nobody = browser.sign_in(f"nobody-{new_id()}")
    assert (locked.status_code, nobody.status_code) == (401, 401)
    assert REFUSED in locked.text
    assert REFUSED in nobody.text
    attempts = deployed.entries("person.attempted")
    assert attempts[-1]["meta"]["locked_seconds"] == 30
    assert len(attempts) == FREE_ATTEMPTS  # what comes meanwhile is not looked at
    with database.connect_as_superuser() as root:
        root.execute("UPDATE person SET locked_until = now() - interval '1 s'")
        root.commit()
    assert browser.sign_in(login).status_code == 303


def test_an_address_that_failed_too_often_is_told_to_wait_before_any_password_is_looked_at(
    deployed: Deployed, monkeypatch: pytest.MonkeyPatch
) -> None:
    login = f"address-{new_id()}"
    deployed.person(login)
    deployed.stop_the_clock()
    attacker = Browser(deployed.app, address="2001:db8:0:bad::1")
    for number in range(ADDRESS_ATTEMPTS):  # others' names: nobody is locked by it
        attacker.address = f"2001:db8:0:bad::{number:x}"  # one customer's network
        answer = attacker.sign_in(f"guess-{number}-{new_id()}", "a guess, one of many")
        assert answer.status_code == 401
    hashed: list[str] = []
    passwords = deployed.app.state.services.sessions.passwords
    monkeypatch.setattr(type(passwords), "check", lambda *args: hashed.append("hashed"))
    refused = attacker.sign_in(login)
    assert refused.status_code == 429
    assert 1 <= int(refused.headers["retry-after"]) <= ADDRESS_WINDOW.total_seconds()
    assert "Too many attempts to sign in come from this address" in refused.text
    link = attacker.post("/console/link", token="guessed")
    assert (link.status_code, link.headers["x-cairn-reason"]) == (429, "sign-in-address")
    assert int(link.headers["retry-after"]) >= 1
    assert hashed == []
    monkeypatch.undo()
    assert Browser(deployed.app).sign_in(login).status_code == 303  # from anywhere else


def test_who_signs_in_well_is_not_counted_and_an_address_may_try_again_later(
    deployed: Deployed, database: Database
) -> None:
    login = f"office-{new_id()}"
    deployed.person(login)
    office = Browser(deployed.app)
    find, place = deployed.app.state.services.sessions.find, address_id(office.address)
    moment = deployed.app.state.services.sessions.platform.clock()
    with database.connect_as_superuser() as root:  # what other tests left is not looked at
        root.execute("DELETE FROM rate_limit WHERE workspace_id = %s", [UUID(int=0)])

    def attempt(later: float = 0, taken: int = 1) -> float:
        at = moment + timedelta(seconds=later)
        return find.count_address(place, at, most=4, window=timedelta(seconds=40), taken=taken)

    for _ in range(10):
        assert attempt() == 0
        attempt(taken=-1)
    assert [attempt() for _ in range(4)] == [0, 0, 0, 0]
    assert 0 < attempt() <= 10
    assert 0 < attempt() <= 10  # a refused one costs nothing
    assert attempt(later=11) == 0
    assert attempt(later=11) > 0
    assert find.count_address(new_id(), moment + timedelta(days=1), most=4,
                              window=timedelta(seconds=40), taken=1) == 0  # fmt: skip
    with database.connect_as_superuser() as root:  # who was quiet for long leaves nothing behind
        query = "SELECT count(*) FROM rate_limit WHERE key_id = %s"
        row = root.execute(query, [place]).fetchone()
    assert row == (0,)


def test_one_address_is_the_same_however_it_is_written() -> None:
    assert address_id("::ffff:192.0.2.7") == address_id("192.0.2.7")
    assert address_id("2001:db8::1") == address_id("2001:0db8:0:0:ffff::9")
    assert (
        len({address_id(each) for each in ("192.0.2.7", "192.0.2.8", "2001:db8:1::1", None)}) == 4
    )


def test_pauses_grow_and_end_with_an_hour() -> None:
    seconds = [int(pause_after(count).total_seconds()) for count in (1, 4, 5, 6, 8, 12, 10_000)]
    assert seconds == [0, 0, 30, 60, 240, 3600, 3600]
    assert pause_after(FREE_ATTEMPTS) == timedelta(seconds=30)


@pytest.mark.parametrize("password", ["short", "a" * 300, "abababababababab", "xx LOGIN is me xx"])
def test_passwords_that_are_easily_guessed_are_refused(deployed: Deployed, password: str) -> None:
    login = f"weak-{new_id()}"
    browser = deployed.person(login)
    answer = browser.submit(
        "/console/account", present=PASSWORD, password=password.replace("LOGIN", login)
    )
    assert answer.status_code == 422
    assert "password" in answer.text
    assert Browser(deployed.app).sign_in(login).status_code == 303


def test_a_new_password_ends_every_other_session_and_renews_this_one(deployed: Deployed) -> None:
    login = f"renew-{new_id()}"
    browser = deployed.person(login)
    other = Browser(deployed.app)
    other.sign_in(login)
    before = dict(browser.cookies)
    new = "quite another heap of stones"
    refused = browser.submit("/console/account", present="not the one I have", password=new)
    assert refused.status_code == 422
    assert browser.submit("/console/account", present=PASSWORD, password=new).status_code == 303
    assert browser.get("/").status_code == 200
    assert other.get("/").status_code == 303
    orphan = Browser(deployed.app)
    for name, value in before.items():
        orphan.cookies.set(name, value, domain="127.0.0.1", path="/")
    late = orphan.get("/")
    assert (late.status_code, late.headers["x-cairn-reason"]) == (401, "session-rotated")
    assert "renewed in another tab" in late.text
    assert Browser(deployed.app).sign_in(login).status_code == 401
    assert Browser(deployed.app).sign_in(login, new).status_code == 303


def test_signing_out_everywhere_ends_every_session(deployed: Deployed) -> None:
    login = f"out-{new_id()}"
    browser = deployed.person(login)
    other = Browser(deployed.app)
    other.sign_in(login)
    third = Browser(deployed.app)
    third.sign_in(login)
    third.submit("/console/sign-out")
    assert (browser.get("/").status_code, third.get("/").status_code) == (200, 303)
    assert browser.submit("/console/sign-out", everywhere="yes").status_code == 303
    assert (browser.get("/").status_code, other.get("/").status_code) == (303, 303)
    assert len(deployed.entries("person.signed_out")) == 3


def test_a_changed_role_renews_the_token_and_a_disabled_person_is_out_at_once(
    deployed: Deployed,
) -> None:
    services = deployed.app.state.services
    login = f"role-{new_id()}"
    browser = deployed.person(login, PersonRole.READER)
    owner = deployed.world.admin
    person = next(each for each in services.people.all(owner) if each.login == login)
    before = dict(browser.cookies)
    services.people.change(owner, person.id, role=PersonRole.ADMIN)
    assert browser.get("/").status_code == 200
    assert dict(browser.cookies) != before
    assert ">admin<" in browser.get("/console/account").text
    services.people.change(owner, person.id, disabled=True)
    assert browser.get("/").status_code == 303
    assert browser.sign_in(login).status_code == 401


def test_no_page_can_be_framed_and_none_runs_a_script_of_its_own(deployed: Deployed) -> None:
    browser = deployed.person(f"frames-{new_id()}")
    deployed.front.call("POST", "/v1/memories", json={"text": HOSTILE, "type": "event"})
    home = browser.get("/")
    assert HOSTILE not in home.text
    assert "&lt;script&gt;" in home.text
    for answer in (home, Browser(deployed.app).get("/console/sign-in"), browser.get("/console/x")):
        policy = answer.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
    evil = Browser(deployed.app, base="http://evil.example").get("/console/sign-in")
    assert (evil.status_code, evil.headers["x-cairn-reason"]) == (403, "host")


def test_static_files_are_found_by_the_name_with_their_hash_alone(deployed: Deployed) -> None:
    browser = Browser(deployed.app)
    names = re.findall(r'"(/console/static/[^"]+)"', browser.get("/console/sign-in").text)
    assert len(names) == 4
    for name in names:
        answer = browser.get(name)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    for name in ("console.css", "..%2fpages.py", "htmx.LICENSE.txt", "%2e%2e/pages.py"):
        assert browser.get(f"/console/static/{name}").status_code == 404


def test_a_session_opens_the_console_and_nothing_of_the_api(deployed: Deployed) -> None:
    browser = deployed.person(f"api-{new_id()}")
    assert browser.get("/v1/whoami").status_code == 401


MAY = {
    PersonRole.READER: set(),
    PersonRole.REVIEWER: {"memory.corrected"},
    PersonRole.OPERATOR: {"memory.corrected", "memory.deleted", "ticket.requeued"},
    PersonRole.ADMIN: {"memory.corrected", "memory.deleted", "ticket.requeued", "settings.changed",
                       "person.added", "subject.forgotten"},
    PersonRole.OWNER: {"memory.corrected", "memory.deleted", "ticket.requeued", "settings.changed",
                       "person.added", "subject.forgotten", "key.created"},
}  # fmt: skip


@pytest.mark.parametrize("role", list(PersonRole))
def test_the_database_holds_a_person_to_their_role_whatever_the_code_forgets(
    deployed: Deployed, role: PersonRole
) -> None:
    principal = Principal(
        workspace_id=deployed.world.workspace_id,
        principal_id=new_id(),
        role=Role.ADMIN,
        allowed_scopes=ALL_SCOPES,
        person=role,
    )
    services = deployed.app.state.services
    platform = services.people.platform

    def may(type_: str) -> bool:
        try:
            with platform.transactions.writing(principal) as stores:
                record(
                    stores, workspace_id=principal.workspace_id, type_=type_, meta={},
                    actor=Actor(kind=ActorKind.USER, id="x"), now=platform.clock(), new_id=new_id,
                )  # fmt: skip
        except Denied:
            return False
        return True

    assert {type_ for type_ in MAY[PersonRole.OWNER] if may(type_)} == MAY[role]
    for other in PersonRole:
        try:
            services.people.add(principal, login=f"{other}-{new_id()}", name="x", role=other)
            allowed = True
        except Denied:
            allowed = False
        over = role is PersonRole.OWNER or (
            role is PersonRole.ADMIN and other is not PersonRole.OWNER
        )
        assert allowed is over


def test_an_admin_takes_over_no_owner_and_the_last_owner_stays(deployed: Deployed) -> None:
    services, key = deployed.app.state.services, deployed.world.admin
    owner = services.people.add(
        key, login=f"last-{new_id()}", name="Last", role=PersonRole.OWNER
    ).person
    admin = replace(key, principal_id=new_id(), person=PersonRole.ADMIN)
    for act in (
        lambda: services.people.link(admin, owner.id),
        lambda: services.people.change(admin, owner.id, role=PersonRole.READER),
        lambda: services.people.change(admin, owner.id, disabled=True),
        lambda: services.people.remove(admin, owner.id),
    ):
        with pytest.raises(Denied):
            act()
    with pytest.raises(Conflict):
        services.people.change(key, owner.id, role=PersonRole.READER)
    with pytest.raises(Conflict):
        services.people.remove(key, owner.id)


def test_one_link_used_by_two_at_once_lets_one_in(deployed: Deployed) -> None:
    token = deployed.link(f"race-{new_id()}")
    with ThreadPoolExecutor(4) as pool:
        answers = list(
            pool.map(
                lambda _: Browser(deployed.app).post("/console/link", token=token).status_code,
                range(4),
            )
        )
    assert sorted(answers) == [303, 401, 401, 401]


def test_a_link_is_over_after_a_quarter_of_an_hour(deployed: Deployed, database: Database) -> None:
    token = deployed.link(f"old-{new_id()}")
    with database.connect_as_superuser() as root:
        root.execute("UPDATE person_link SET expires_at = expires_at - interval '15 min'")
        root.commit()
    assert Browser(deployed.app).post("/console/link", token=token).status_code == 401
