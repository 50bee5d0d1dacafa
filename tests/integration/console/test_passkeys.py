"""Passkeys over the real database: who gets in by one, and what of a thief's does not."""

# pyright: basic

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.storage.test_console import Deployed, deployed
from tests.support.authenticator import PRESENT, Authenticator, decoded, encoded
from tests.support.console import PASSWORD, Browser, signed_in

from cairn.accounts.addresses import ADDRESS_ATTEMPTS
from cairn.accounts.attempts import ATTEMPT_LASTS
from cairn.accounts.passkeys import MOST, REFUSED
from cairn.accounts.sessions import FREE_ATTEMPTS
from cairn.api.app import create_app
from cairn.api.options import ApiOptions
from cairn.bootstrap.parts import logger
from cairn.kernel.access import PersonRole
from cairn.kernel.access.system import system_principal
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from datetime import datetime

    from fastapi import FastAPI

__all__ = ["deployed"]

OWN = "http://localhost:8080"
MINE = "/console/account/passkeys"


def person(deployed: Deployed, login: str, role: PersonRole = PersonRole.OWNER) -> Browser:
    """Return somebody's browser at the address that passkeys are good at."""
    signed_in(deployed.app, deployed.world.workspace_id, login, role)
    browser = Browser(deployed.app, base=OWN)
    assert browser.sign_in(login).status_code == 303
    return browser


def options(
    browser: Browser, path: str = "/console/passkey/options", **form: str
) -> dict[str, Any]:
    answer = browser.post(path, **form)
    assert answer.status_code == 200, answer.text
    return answer.json()


def add(
    browser: Browser, authenticator: Authenticator, *, name: str = "Laptop", **changes: Any
) -> Any:
    """Add a passkey as the page does; returns the answer to the form."""
    asked = options(browser, f"{MINE}/options", csrf=browser.csrf(), present=PASSWORD)
    proof = authenticator.make(asked, **changes)
    return browser.submit(MINE, name=name, credential=proof)


def enter(browser: Browser, authenticator: Authenticator, login: str = "", **changes: Any) -> Any:
    proof = authenticator.sign(options(browser), **changes)
    return browser.post("/console/passkey", credential=proof, login=login)


@pytest.fixture
def login() -> str:
    return f"ada-{new_id()}"


@pytest.fixture
def passkey(deployed: Deployed, login: str) -> Authenticator:
    """Somebody's passkey, which is added."""
    authenticator = Authenticator(OWN)
    assert add(person(deployed, login), authenticator).status_code == 303
    return authenticator


def test_a_passkey_signs_in_without_a_name_or_with_ones_own(
    deployed: Deployed, login: str, passkey: Authenticator
) -> None:
    for typed in ("", login, login.upper()):
        browser = Browser(deployed.app, base=OWN)
        answer = enter(browser, passkey, typed)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        assert browser.get("/").status_code == 200
    page = browser.get("/console/account").text
    assert "Laptop" in page
    assert "used <time" in page
    assert [entry["meta"]["by"] for entry in deployed.entries("person.signed_in")][-3:] == [
        "passkey"
    ] * 3
    added = deployed.entries("person.passkey_added")
    assert "Laptop" not in str(added)
    (view,) = [
        each for each in deployed.front.call("GET", "/v1/people")["items"] if each["login"] == login
    ]
    assert view["passkeys"] == 1


def test_an_answer_is_good_once(deployed: Deployed, passkey: Authenticator) -> None:
    browser = Browser(deployed.app, base=OWN)
    proof = passkey.sign(options(browser))
    cookie = browser.cookies.get("cairn_sign_in")
    assert browser.post("/console/passkey", credential=proof).status_code == 303
    thief = Browser(deployed.app, base=OWN)
    thief.cookies.set("cairn_sign_in", cookie or "", domain="localhost.local")
    for sender in (thief, browser):
        again = sender.post("/console/passkey", credential=proof)
        assert again.status_code == 401
        assert "signs nobody in" in again.text


def test_of_many_answers_at_once_one_is_good(deployed: Deployed, passkey: Authenticator) -> None:
    browser = Browser(deployed.app, base=OWN)
    proof = passkey.sign(options(browser))
    copies = [Browser(deployed.app, base=OWN, cookies=browser.cookies) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        answers = list(
            pool.map(
                lambda each: each.post("/console/passkey", credential=proof).status_code, copies
            )
        )
    assert sorted(answers) == [303, 401, 401, 401]


def test_an_answer_is_good_in_the_browser_that_was_asked_alone(
    deployed: Deployed, passkey: Authenticator
) -> None:
    proof = passkey.sign(options(Browser(deployed.app, base=OWN)))
    other = Browser(deployed.app, base=OWN)
    assert other.post("/console/passkey", credential=proof).status_code == 401
    options(other)  # one of its own, for another challenge
    assert other.post("/console/passkey", credential=proof).status_code == 401


def test_an_answer_that_comes_late_opens_nothing(
    deployed: Deployed, passkey: Authenticator, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = Browser(deployed.app, base=OWN)
    proof = passkey.sign(options(browser))
    attempts = deployed.app.state.services.attempts

    def later() -> datetime:
        return deployed.app.state.services.platform.clock() + ATTEMPT_LASTS

    object.__setattr__(attempts, "clock", later)
    assert browser.post("/console/passkey", credential=proof).status_code == 401


@pytest.mark.parametrize(
    "changes",
    [
        {"origin": "http://localhost:9999"},
        {"origin": "http://127.0.0.1:8080"},
        {"origin": "https://localhost:8080"},
        {"origin": "http://evil.example"},
        {"challenge": encoded(b"of somebody else's making")},
        {"type": "webauthn.create"},
        {"name": "evil.example"},
    ],
    ids=str,
)
def test_what_another_page_had_signed_opens_nothing(
    deployed: Deployed, passkey: Authenticator, changes: dict[str, Any]
) -> None:
    answer = enter(Browser(deployed.app, base=OWN), passkey, **changes)
    assert answer.status_code == 401


def test_a_host_header_does_not_move_the_place_that_passkeys_are_good_at(
    deployed: Deployed, passkey: Authenticator
) -> None:
    passkey.origin = "http://localhost:9999"
    headers = {"host": "localhost:9999", "origin": "http://localhost:9999"}
    browser = Browser(deployed.app, base=OWN)
    asked = browser.send("POST", "/console/passkey/options", headers=headers).json()
    answer = browser.send(
        "POST", "/console/passkey", headers=headers, data={"credential": passkey.sign(asked)}
    )
    assert answer.status_code == 401
    evil = {"host": "evil.example", "origin": "http://evil.example"}
    assert browser.send("POST", "/console/passkey/options", headers=evil).status_code == 403


def test_who_was_not_verified_does_not_come_in(deployed: Deployed, passkey: Authenticator) -> None:
    passkey.flags = PRESENT
    assert enter(Browser(deployed.app, base=OWN), passkey).status_code == 401


def test_a_copy_that_counts_behind_is_refused(deployed: Deployed, passkey: Authenticator) -> None:
    passkey.count = 10
    assert enter(Browser(deployed.app, base=OWN), passkey).status_code == 303
    for behind in (2, 10):
        passkey.count = behind
        assert enter(Browser(deployed.app, base=OWN), passkey).status_code == 401
    passkey.count = 11
    assert enter(Browser(deployed.app, base=OWN), passkey).status_code == 303


def test_an_authenticator_that_counts_nothing_is_good_again_and_again(
    deployed: Deployed, login: str
) -> None:
    authenticator = Authenticator(OWN, counts=False)
    add(person(deployed, login), authenticator)
    for _ in range(2):
        assert enter(Browser(deployed.app, base=OWN), authenticator).status_code == 303


def test_a_passkey_is_its_owners_alone(
    deployed: Deployed, login: str, passkey: Authenticator
) -> None:
    other = f"bob-{new_id()}"
    bob = person(deployed, other)
    assert enter(Browser(deployed.app, base=OWN), passkey, other).status_code == 401
    asked = options(bob, f"{MINE}/options", csrf=bob.csrf(), present=PASSWORD)
    mine = Authenticator(OWN, user_id=passkey.user_id)
    add(bob, mine)
    mine.user_id = passkey.user_id  # claims to be Ada's
    assert enter(Browser(deployed.app, base=OWN), mine).status_code == 401
    taken = Authenticator(OWN, credential_id=passkey.credential_id)
    assert add(bob, taken).status_code == 409
    stranger = Authenticator(OWN, user_id=asked["user"]["id"])
    assert enter(Browser(deployed.app, base=OWN), stranger).status_code == 401


def test_a_removed_passkey_and_a_disabled_persons_open_nothing(
    deployed: Deployed, login: str, passkey: Authenticator
) -> None:
    browser = Browser(deployed.app, base=OWN)
    enter(browser, passkey)
    page = browser.get("/console/account").text
    path = page.split('action="/console/account/passkeys/')[1].split('"')[0]
    assert person(deployed, f"bob-{new_id()}").submit(f"{MINE}/{path}").status_code == 404
    assert browser.submit(f"{MINE}/{path}").status_code == 303
    assert enter(Browser(deployed.app, base=OWN), passkey).status_code == 401
    assert browser.submit(f"{MINE}/{path}").status_code == 404
    assert len(deployed.entries("person.passkey_removed")) == 1

    another = Authenticator(OWN)
    carol = f"carol-{new_id()}"
    add(person(deployed, carol), another)
    people, system = (
        deployed.app.state.services.people,
        system_principal(deployed.world.workspace_id),
    )
    (view,) = [each for each in people.all(system) if each.login == carol]
    people.change(system, view.id, disabled=True)
    assert enter(Browser(deployed.app, base=OWN), another).status_code == 401
    people.change(system, view.id, disabled=False)
    assert enter(Browser(deployed.app, base=OWN), another).status_code == 303
    people.remove(system, view.id)
    assert enter(Browser(deployed.app, base=OWN), another).status_code == 401


def test_failures_lock_and_a_link_lets_in_meanwhile(
    deployed: Deployed, login: str, passkey: Authenticator
) -> None:
    flags, passkey.flags = passkey.flags, PRESENT
    for _ in range(FREE_ATTEMPTS):
        assert enter(Browser(deployed.app, base=OWN), passkey).status_code == 401
    passkey.flags = flags
    locked = enter(Browser(deployed.app, base=OWN), passkey)
    assert locked.status_code == 401
    assert REFUSED.split(",")[0] in locked.text
    people, system = (
        deployed.app.state.services.people,
        system_principal(deployed.world.workspace_id),
    )
    (view,) = [each for each in people.all(system) if each.login == login]
    link = people.link(system, view.id)
    assert (
        Browser(deployed.app, base=OWN).post("/console/link", token=link.token).status_code == 303
    )


def test_an_address_that_fails_again_and_again_has_to_wait(
    deployed: Deployed, passkey: Authenticator
) -> None:
    deployed.stop_the_clock()
    browser = Browser(deployed.app, base=OWN)
    for _ in range(ADDRESS_ATTEMPTS):
        options(browser)
    answer = browser.post("/console/passkey/options")
    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) >= 1
    assert "address" in answer.json()["detail"]
    again = Browser(deployed.app, base=OWN)
    for _ in range(ADDRESS_ATTEMPTS + 1):  # each good one is given back
        assert enter(again, passkey).status_code == 303


def test_adding_needs_the_password_a_form_of_ours_and_the_session_that_was_asked(
    deployed: Deployed, login: str
) -> None:
    browser = person(deployed, login)
    wrong = browser.post(f"{MINE}/options", csrf=browser.csrf(), present="not it at all")
    assert wrong.status_code == 422
    assert "present" in wrong.json()["detail"]
    assert browser.post(f"{MINE}/options", present=PASSWORD).status_code == 401
    elsewhere = browser.post(
        f"{MINE}/options", origin="https://evil.example", csrf=browser.csrf(), present=PASSWORD
    )
    assert elsewhere.status_code == 403
    asked = options(browser, f"{MINE}/options", csrf=browser.csrf(), present=PASSWORD)
    second = Browser(deployed.app, base=OWN)
    second.sign_in(login)
    cookie = browser.cookies.get("cairn_sign_in")
    second.cookies.set("cairn_sign_in", cookie or "", domain="localhost.local")
    proof = Authenticator(OWN).make(asked)
    assert second.submit(MINE, credential=proof).status_code == 422
    assert browser.submit(MINE, credential=proof).status_code == 422  # and it is spent
    assert "You have none yet" in browser.get("/console/account").text


@pytest.mark.parametrize(
    "proof",
    ["", "{", "[]", "null", "0", '{"id": 1}', '{"id":"a","rawId":"a","type":"public-key"}',
     '{"id":"YQ","rawId":"YQ","type":"public-key","response":{"clientDataJSON":"e30","attestationObject":"oA"}}',
     '{"id":"YQ","rawId":"YQ","type":"public-key","response":{"clientDataJSON":"bnVsbA",'
     '"authenticatorData":"AA","signature":"AA"}}', "[" * 5_000, "a" * 40_000],
    ids=lambda proof: proof[:40],
)  # fmt: skip
def test_what_is_no_proof_is_refused_with_a_sentence(
    deployed: Deployed, login: str, proof: str
) -> None:
    browser = Browser(deployed.app, base=OWN)
    options(browser)
    answer = browser.post("/console/passkey", credential=proof)
    assert (answer.status_code, "signs nobody in" in answer.text) == (401, True)
    owner = person(deployed, login)
    options(owner, f"{MINE}/options", csrf=owner.csrf(), present=PASSWORD)
    added = owner.submit(MINE, credential=proof)
    assert (added.status_code, "none that makes a passkey" in added.text) == (422, True)


def test_a_known_passkeys_broken_proofs_are_refused(
    deployed: Deployed, passkey: Authenticator
) -> None:
    def broken(name: str, content: str) -> str:
        proof = json.loads(passkey.sign(options(browser)))
        proof["response"][name] = content
        return json.dumps(proof)

    for name in ("clientDataJSON", "authenticatorData", "signature"):
        browser = Browser(deployed.app, base=OWN)
        answer = browser.post("/console/passkey", credential=broken(name, "AAAA"))
        assert answer.status_code == 401, name


@pytest.mark.parametrize(
    "changes", [{"origin": "http://evil.example"}, {"challenge": "AAAA"}, {"type": "webauthn.get"}]
)
def test_a_passkey_that_another_page_made_is_not_added(
    deployed: Deployed, login: str, changes: dict[str, Any]
) -> None:
    browser = person(deployed, login)
    assert add(browser, Authenticator(OWN), **changes).status_code == 422
    unverified = add(browser, Authenticator(OWN, flags=PRESENT))
    assert unverified.status_code == 422


def test_there_are_twenty_passkeys_at_most(deployed: Deployed, login: str) -> None:
    browser = person(deployed, login)
    for _ in range(MOST):
        assert add(browser, Authenticator(OWN)).status_code == 303
    refused = browser.post(f"{MINE}/options", csrf=browser.csrf(), present=PASSWORD)
    assert refused.status_code == 409
    assert len(decoded(options(Browser(deployed.app, base=OWN))["challenge"])) == 32


def test_a_page_at_an_address_without_a_name_says_where_passkeys_are_made(
    deployed: Deployed, login: str
) -> None:
    browser = deployed.person(login)  # at 127.0.0.1
    page = browser.get("/console/account").text
    assert 'href="http://localhost:8080/console/account"' in page
    assert "data-passkey" not in page
    assert "data-passkey" not in Browser(deployed.app).get("/console/sign-in").text
    assert "data-passkey" in Browser(deployed.app, base=OWN).get("/console/sign-in").text


def served_at(deployed: Deployed, console_url: str) -> FastAPI:
    services = deployed.app.state.services
    return create_app(services, ApiOptions(console_url=console_url), log=logger("api", "CRITICAL"))


def test_a_deployment_that_was_told_its_address_binds_passkeys_to_it(
    deployed: Deployed, login: str
) -> None:
    own = "https://cairn.example.org"
    app = served_at(deployed, own)
    signed_in(app, deployed.world.workspace_id, login)
    browser = Browser(app, base=own)
    browser.sign_in(login)
    authenticator = Authenticator(own)
    assert add(browser, authenticator).status_code == 303
    fresh = Browser(app, base=own)
    assert options(fresh)["rpId"] == "cairn.example.org"
    answer = enter(fresh, authenticator)
    assert answer.status_code == 303
    cookies = answer.headers.get_list("set-cookie")
    assert any(cookie.startswith("__Host-cairn_session=") for cookie in cookies)
    elsewhere = Browser(app, base="https://other.example.org")
    authenticator.origin = "https://other.example.org"
    assert enter(elsewhere, authenticator).status_code == 401


@pytest.mark.parametrize("console_url", ["", "https://203.0.113.7"])
def test_a_deployment_without_a_name_has_no_passkeys(deployed: Deployed, console_url: str) -> None:
    app = served_at(deployed, console_url)
    browser = Browser(app, base="https://cairn.example.org")
    answer = browser.post("/console/passkey/options")
    assert answer.status_code == 403
    assert "bound to a name" in answer.json()["detail"]


def test_attempts_that_are_over_do_not_pile_up(deployed: Deployed) -> None:
    find = deployed.app.state.services.sessions.find
    now = deployed.app.state.services.platform.clock()
    stale = [new_id() for _ in range(3)]
    for each in stale:
        find.begin_attempt(each, "p", "{}", now, now - timedelta(minutes=1))
    find.begin_attempt(new_id(), "p", "{}", now, now + timedelta(minutes=1))
    assert [find.take_attempt(each, "p", now - timedelta(hours=1)) for each in stale] == [None] * 3
