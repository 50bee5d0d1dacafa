"""Connectors and mailboxes that are signed in to by a device code, at the outer door."""

# pyright: basic

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.plugins.waiting import eventually
from tests.support.console import Browser, add_person
from tests.support.device_server import (
    CLIENT,
    CLIENT_SECRET,
    SCOPE,
    DeviceServer,
    client_of,
    device_server,
)
from tests.support.front import Cloud, Front, environment, stand_in_for_aws
from tests.support.mail import KEVIN, mail_server, written
from tests.support.serving import serving
from tests.support.world import World, open_world

from cairn.bootstrap.sign_ins import sign_in_tokens
from cairn.connectors.connector import holder_of
from cairn.kernel.access import PersonRole
from cairn.kernel.errors import Unavailable
from cairn.kernel.ids import new_id
from cairn.oauth_client.ports import SignInNeeded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.plugins.postgres import Database

    from cairn.oauth_client.tokens import Tokens

COMMAND = str(Path(sys.executable).with_name("cairn"))


@dataclass
class Office:
    """A workspace whose connector `mail` is signed in to at the server, and its API."""

    front: Front
    world: World
    server: DeviceServer
    database: Database

    def sign_in(self, verb: str = "POST", path: str = "") -> dict[str, Any]:
        return self.front.call(verb, f"/v1/connectors/mail/sign-in{path}")

    def poll(self) -> dict[str, Any]:
        """Ask once it is time to."""
        shown = self.sign_in("GET")
        if shown["state"] == "pending":
            self.hurry()
        return self.sign_in("POST", "/poll")

    def hurry(self) -> None:
        """Let the time to ask be now."""
        with self.database.connect_as_superuser() as root:
            root.execute("UPDATE oauth_sign_in SET ask_after = now() - interval '1 s'")
            root.commit()

    def signed_in(self) -> dict[str, Any]:
        self.server.say(self.sign_in()["user_code"])
        shown = self.poll()
        assert shown["state"] == "signed-in", shown
        return shown

    def call(self) -> Any:
        body = {"arguments": {"user": str(new_id())}, "dry_run": False}
        return self.front.post("/v1/connectors/mail/tools/find", body)

    def health(self) -> dict[str, Any]:
        return self.front.call("GET", "/v1/connectors/mail")


@pytest.fixture
def server() -> Iterator[DeviceServer]:
    with device_server(secret=CLIENT_SECRET) as made:
        yield made


@pytest.fixture
def world(database: Database) -> Iterator[World]:
    made = open_world(database.owner_url, database.app_url, f"device {new_id()}")
    yield made
    made.pool.close()


@pytest.fixture(scope="module")
def app(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    """The API of every test here; each has a workspace of its own."""
    folder = tmp_path_factory.mktemp("device")
    settings = environment(database.app_url, folder) | {"CAIRN_WEBHOOKS": "private"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        stand_in_for_aws(patch, Cloud())
        front = Front("")
        yield front
        front.app.state.services.opened.close()


@pytest.fixture
def office(database: Database, app: Front, world: World, server: DeviceServer) -> Iterator[Office]:
    front = copy(app)
    front.key = world.key
    made = front.answer(
        "POST",
        "/v1/connectors",
        json={
            "name": "mail",
            "transport": "http",
            "url": f"{server.url}/mcp",
            "config": {"oauth": client_of(server)},
            "secrets": {"oauth_client_secret": CLIENT_SECRET},
        },
    )
    assert made.status_code == 201, made.text
    assert made.json()["error"] == "connector-unauthorised"
    yield Office(front, world, server, database)
    front.answer("DELETE", "/v1/connectors/mail")  # ends its connection: the server waits for that


def test_a_code_is_shown_the_person_says_yes_and_the_token_opens_the_connector(
    office: Office,
) -> None:
    assert office.sign_in("GET")["state"] == "none"
    shown = office.sign_in()
    assert shown["state"] == "pending"
    assert shown["verification_uri"] == f"{office.server.url}/activate"
    assert office.sign_in()["user_code"] == shown["user_code"]  # the same one while it is good
    assert office.poll()["state"] == "pending"
    office.server.say(shown["user_code"])
    asked = len(office.server.posts)
    office.sign_in("POST", "/poll")  # too early: nobody is asked
    assert len(office.server.posts) == asked
    done = office.poll()
    assert (done["state"], done["signed_in"], done["user_code"]) == ("signed-in", True, None)
    assert office.health()["state"] == "ready"
    assert office.call().json()["text"] == "done"
    types = {item["type"] for item in office.front.call("GET", "/v1/ledger")["items"]}
    assert {"connector.sign_in_begun", "connector.signed_in"} <= types
    every = office.front.call("GET", "/v1/ledger", params={"limit": 200})
    secrets = [CLIENT_SECRET, *(each.access for each in office.server.tokens)]
    assert not [each for each in secrets if each in json.dumps([every, office.health(), done])]
    assert office.server.posts[-1]["client_id"] == CLIENT


ENDS = [
    ((400, {"error": "access_denied"}), "denied", "access_denied"),
    ((400, {"error": "expired_token"}), "expired", "expired_token"),
    ((401, {"error": "invalid_client"}), "failed", "invalid_client"),
    ((200, {"access_token": "x", "token_type": "mac"}), "failed", "no-token"),
    ((404, {"error": "<b>"}), "failed", "status-404"),
]


def test_what_ends_a_sign_in_is_told_and_another_can_be_begun(office: Office) -> None:
    codes = [office.sign_in()["user_code"]]
    for answer, state, reason in ENDS:
        office.server.answers.append(answer)
        shown = office.poll()
        assert (shown["state"], shown["reason"], shown["signed_in"]) == (state, reason, False)
        codes.append(office.sign_in()["user_code"])
    assert len(set(codes)) == len(codes)


def test_a_server_that_wants_a_slower_pace_or_does_not_answer_gets_it(office: Office) -> None:
    office.sign_in()
    office.server.slow_downs = 1
    assert 5 <= office.poll()["ask_again_in"] <= 6  # one second, and five more
    office.server.answers.append((503, {}))
    assert 11 <= office.poll()["ask_again_in"] <= 12
    shown = office.sign_in("GET")
    asked = len(office.server.posts)
    with ThreadPoolExecutor(8) as many:  # of eight that ask at once one may
        office.hurry()
        states = [
            each["state"] for each in many.map(lambda _: office.sign_in("POST", "/poll"), range(8))
        ]
    assert states == ["pending"] * 8
    assert len(office.server.posts) == asked + 1
    office.server.say(shown["user_code"], yes=False)
    assert office.poll()["state"] == "denied"


def tokens_of(
    office: Office, later: timedelta = timedelta(0), tokens: Tokens | None = None
) -> tuple[Tokens, Any]:
    """Another process's tokens, by its clock, and what gives the connector's."""
    services = office.front.app.state.services
    platform = services.platform
    shifted = replace(platform, clock=lambda: platform.clock() + later)
    tokens = tokens or sign_in_tokens("private", services.opened, shifted)
    tokens.pause = lambda seconds: None
    with platform.transactions.reading(office.world.admin) as stores:
        connector = stores.connectors.find("mail").connector
    holder = holder_of(connector, {"oauth_client_secret": CLIENT_SECRET})
    assert holder is not None
    return tokens, tokens.of(office.world.workspace_id, holder)


def test_a_token_is_renewed_before_it_ends_once_by_many_processes_at_once(office: Office) -> None:
    office.signed_in()
    before = office.server.tokens[-1].access
    _, early = tokens_of(office, timedelta(minutes=50))
    assert early(None) == before
    asked = len(office.server.posts)
    late = [tokens_of(office, timedelta(minutes=57))[1] for _ in range(16)]
    with ThreadPoolExecutor(16) as many:
        answers = set(many.map(lambda token: token(None), late))
    assert len(office.server.posts) == asked + 1
    assert answers <= {before, office.server.tokens[-1].access}
    assert not [each for each in answers if not office.server.is_good(each) and each != before]
    assert tokens_of(office)[1](None) == office.server.tokens[-1].access


def test_what_is_lost_between_a_renewal_and_its_keeping_is_kept_by_who_has_it(
    office: Office,
) -> None:
    office.signed_in()
    tokens, token = tokens_of(office, timedelta(minutes=57))
    states, down = tokens.states, [True]

    class Down:
        def writing(self, principal: Any, **more: Any) -> Any:
            if down[0] and office.server.posts[-1]["grant_type"] == "refresh_token":
                raise Unavailable("The database is away.", reason="database")
            return states.writing(principal, **more)

    tokens.states = Down()  # pyright: ignore[reportAttributeAccessIssue]
    new = token(None)
    assert office.server.is_good(new)
    down[0] = False
    assert token(None) == new  # and now it is kept
    assert tokens_of(office)[1](None) == new


def test_a_refused_token_is_renewed_and_a_refused_grant_calls_for_a_person(office: Office) -> None:
    office.signed_in()
    office.server.revoke_access()
    assert office.call().json()["text"] == "done"  # renewed, and sent once more
    office.server.revoke_access()
    office.server.answers.append((400, {"error": "invalid_grant"}))
    refused = office.call()
    assert (refused.status_code, refused.json()["reason"]) == (
        409, "connector-unauthorised",
    )  # fmt: skip
    shown = office.sign_in("GET")
    assert (shown["state"], shown["reason"], shown["signed_in"]) == (
        "refused", "invalid_grant", False,
    )  # fmt: skip
    with pytest.raises(SignInNeeded):
        tokens_of(office)[1](None)
    office.signed_in()
    assert office.call().json()["text"] == "done"
    assert office.health()["error"] is None


def test_an_authorization_server_that_is_away_ends_nothing(office: Office) -> None:
    office.signed_in()
    good = office.server.tokens[-1].access
    office.server.answers.append((500, {}))
    _, token = tokens_of(office, timedelta(minutes=57))
    assert token(None) == good  # it lasts three minutes more
    assert tokens_of(office, timedelta(minutes=58))[1](None) != good
    office.server.answers.append((500, {}))
    with pytest.raises(Unavailable):
        tokens_of(office, timedelta(hours=3))[1](None)
    assert office.sign_in("GET")["state"] == "signed-in"


def test_a_token_follows_to_no_other_address_and_goes_with_its_connector(office: Office) -> None:
    office.signed_in()
    path, secrets = "/v1/connectors/mail", {"oauth_client_secret": CLIENT_SECRET}
    moved = {"url": "http://127.0.0.1:9/mcp", "secrets": secrets}
    tokens, token = tokens_of(office)
    assert token(None) == office.server.tokens[-1].access
    assert office.front.answer("PATCH", path, json=moved).is_success
    with pytest.raises(SignInNeeded):  # in a process that has just used it, too
        tokens_of(office, tokens=tokens)[1](None)
    shown = office.sign_in("GET")
    assert (shown["state"], shown["signed_in"]) == ("none", False)
    with pytest.raises(SignInNeeded):
        tokens_of(office)[1](None)
    evil = {"config": {"oauth": client_of(office.server, issuer="http://127.0.0.1:9")}}
    assert office.front.answer("PATCH", path, json=evil).json()["reason"] == "secrets-needed"
    assert office.front.answer("DELETE", f"{path}/sign-in").is_success
    assert office.front.answer("POST", f"{path}/sign-in/poll").status_code == 404
    assert office.front.answer("DELETE", path).is_success
    assert office.front.post(f"{path}/sign-in").status_code == 404


def good_tokens(office: Office) -> list[str]:
    return [each.access for each in office.server.tokens if office.server.is_good(each.access)]


def test_a_sign_in_that_is_removed_is_revoked_at_its_server(office: Office) -> None:
    office.signed_in()
    office.server.revoke_access()
    renewed = tokens_of(office)[1](
        office.server.tokens[-1].access
    )  # what is revoked is what was renewed last
    assert good_tokens(office) == [renewed]
    assert office.front.answer("DELETE", "/v1/connectors/mail/sign-in").is_success
    assert good_tokens(office) == []
    assert [each["token_type_hint"] for each in office.server.revoked] == [
        "refresh_token", "access_token",
    ]  # fmt: skip
    assert office.server.revoked[1]["token"] == renewed
    assert {each["client_secret"] for each in office.server.revoked} == {CLIENT_SECRET}
    assert office.front.answer("DELETE", "/v1/connectors/mail/sign-in").status_code == 404
    office.signed_in()
    assert office.front.answer("DELETE", "/v1/connectors/mail").is_success
    assert (good_tokens(office), len(office.server.revoked)) == ([], 4)


@pytest.mark.parametrize(
    "answers",
    [
        [(503, "token rt-0"), (200, "")],
        [(400, '{"error": "unsupported_token_type"}')] * 2,
        [(200, "<html>done</html>")] * 2,
        [(302, ""), (401, '{"error": "rt_secret"}')],
        [(200, "x" * 6_000_000), (200, "")],
    ],
    ids=["away", "refused", "not json", "elsewhere", "endless"],
)
def test_a_server_that_does_not_revoke_holds_nothing_up_and_no_token_is_logged(
    office: Office, answers: list[tuple[int, str]], caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    office.signed_in()
    office.server.revoking.extend(answers)
    assert office.front.answer("DELETE", "/v1/connectors/mail").is_success
    assert office.front.answer("GET", "/v1/connectors/mail").status_code == 404
    assert office.server.revoked
    logged = caplog.text + "".join(capfd.readouterr())
    for each in office.server.tokens:
        assert each.access not in logged and str(each.refresh) not in logged
    assert "rt_secret" not in logged and CLIENT_SECRET not in logged


def test_only_the_server_that_gave_a_token_is_told_of_its_end(office: Office) -> None:
    office.server.revokes = False
    office.signed_in()
    assert office.front.answer("DELETE", "/v1/connectors/mail/sign-in").is_success
    assert office.server.revoked == []  # it says of no address that takes that
    office.server.revokes = True
    office.signed_in()
    secrets = {"oauth_client_secret": CLIENT_SECRET}
    with device_server(secret=CLIENT_SECRET) as evil:
        moved = {"config": {"oauth": client_of(evil)}, "secrets": secrets}
        assert office.front.answer("PATCH", "/v1/connectors/mail", json=moved).is_success
        assert office.front.answer("DELETE", "/v1/connectors/mail").is_success
        assert (evil.revoked, office.server.revoked) == ([], [])


WRONG: list[dict[str, Any]] = [
    {"issuer": "http://169.254.169.254"},
    {"issuer": None, "token_endpoint": "https://10.0.0.1/t"},
    {"issuer": None},
    {"revocation_endpoint": "http://169.254.169.254/"},
    {"issuer": "https://[x"},
    {"client_id": "a\x00b"},
    {"scopes": ["a b"]},
    {"scopes": ["\ud800"]},
    {"token_endpoint_auth_method": "none"},
    {"more": 1},
]


def test_a_client_that_cannot_be_is_refused(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    guarded = replace(office.front.app.state.services.connectors, address=_public)
    monkeypatch.setattr(office.front.app.state.services, "connectors", guarded)
    for changes in WRONG:
        client = {**client_of(office.server, issuer="https://issuer.example.com"), **changes}
        settings = {name: value for name, value in client.items() if value is not None}
        body = {
            "name": "other",
            "transport": "http",
            "url": "https://mcp.example.com/mcp",
            "config": {"oauth": settings},
            "secrets": {"oauth_client_secret": "s"},
        }
        raw, headers = json.dumps(body).encode("ascii"), {"content-type": "application/json"}
        answer = office.front.answer("POST", "/v1/connectors", content=raw, headers=headers)
        assert answer.status_code in (400, 422), answer.text


def _public(url: str) -> None:
    from cairn.adapters.http.webhooks import HttpWebhookSender

    HttpWebhookSender(allow_private=False).check(url)


def test_the_command_shows_the_code_and_waits(office: Office, tmp_path: Path) -> None:
    with serving(office.front.app) as url:
        base = {name: os.environ[name] for name in ("HOME", "LANG", "PATH") if name in os.environ}
        process = subprocess.Popen(
            [COMMAND, "connectors", "sign-in", "mail"],
            env={**base, "CAIRN_URL": url, "CAIRN_API_KEY": office.world.key},
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        eventually(lambda: bool(office.server.codes))
        (code,) = [each.get_user_code() for each in office.server.codes.values()]
        office.server.say(code)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert code in out
    assert f"{office.server.url}/activate" in out
    assert "signed in mail" in out


def owner_of(office: Office) -> Browser:
    """The browser of an owner of the workspace."""
    app, login = office.front.app, f"ada-{new_id()}"
    token = add_person(app, office.world.workspace_id, login, PersonRole.OWNER).token
    browser = Browser(app)
    assert browser.post("/console/link", token=token).status_code == 303
    return browser


def test_the_page_shows_the_code_and_how_it_went(office: Office) -> None:
    browser = owner_of(office)
    path = "/console/connectors/mail/sign-in"
    assert "It is not signed in." in browser.get(path).text
    assert browser.submit(f"{path}/begin").status_code == 303
    page = browser.get(path).text
    code = office.sign_in("GET")["user_code"]
    assert code in page
    assert "s are left" in page
    office.server.say(code)
    office.hurry()
    assert browser.submit(f"{path}/poll").status_code == 303
    assert "It is signed in." in browser.get(path).text
    assert SCOPE not in page
    assert not browser.post(f"{path}/end").has_redirect_location  # without the form's token
    assert office.sign_in("GET")["signed_in"]


@pytest.mark.parametrize("mechanism", ["XOAUTH2", "OAUTHBEARER"])
def test_a_mailbox_is_signed_in_to_and_answered_from_by_tokens(
    office: Office, mechanism: str
) -> None:
    with mail_server(office.server, mechanism) as mail:
        mail.mail(written("My password does not work.", Message_ID="<first@hartwell.example>"))
        body = {
            "name": "mail",
            "kind": "mail",
            "config": mail.config(oauth=client_of(office.server)),
            "secrets": {"oauth_client_secret": CLIENT_SECRET},
        }
        source = office.front.call("POST", "/v1/ticket-sources", json=body)
        path = f"/v1/ticket-sources/{source['id']}"
        refused = office.front.answer("POST", f"{path}/poll")
        assert (refused.status_code, refused.json()["reason"]) == (409, "needs-auth")
        assert office.front.call("GET", path)["state"] == "needs-auth"
        shown = office.front.call("POST", f"{path}/sign-in")
        office.server.say(shown["user_code"])
        office.hurry()
        assert office.front.call("POST", f"{path}/sign-in/poll")["state"] == "signed-in"
        assert office.front.call("GET", path)["state"] == "active"
        assert office.front.call("POST", f"{path}/poll")["new"] == 1
        office.server.revoke_access()  # one answer renews it, over IMAP, and SMTP takes the new one
        services = office.front.app.state.services
        adapter = services.investigation_parts.helpdesk.sources.adapter_of(
            office.world.workspace_id, "mail"
        )
        adapter.reply("<first@hartwell.example>", "Which one?", private=False, key="k1")
        assert [recipient for recipient, _ in mail.sent] == [KEVIN]
        office.server.revoke_access()
        office.server.answers.append((400, {"error": "invalid_grant"}))
        refused = office.front.answer("POST", f"{path}/poll")
        assert refused.json()["reason"] == "needs-auth"
        page = "/console/ticket-sources/mail/sign-in"
        browser = owner_of(office)
        assert "sign in again" in browser.get(page).text
        both = {"secrets": {"password": "p"}}
        assert office.front.answer("PATCH", path, json=both).status_code == 422
        office.server.say(office.front.call("POST", f"{path}/sign-in")["user_code"])
        office.hurry()
        assert office.front.call("POST", f"{path}/sign-in/poll")["state"] == "signed-in"
        assert good_tokens(office)
        assert office.front.answer("DELETE", path).is_success
        assert good_tokens(office) == []
