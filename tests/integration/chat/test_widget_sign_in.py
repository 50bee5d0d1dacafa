"""Who shows themselves to the widget: a browser by Turnstile, a customer by a login."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from tests.integration.chat import test_chat_front, test_hand_off_front, test_widget_front
from tests.support import turnstile as cloudflare
from tests.support.chat_wire import Say
from tests.support.issuer import Issuer, free_socket, served
from tests.support.widget import HOST, Host, page, set_widget, signed_with_hmac

from cairn.adapters.http import turnstile as adapter
from cairn.chat.widget_sessions import MOST_CHECKS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.plugins.postgres import Database
    from tests.support.chat_wire import ChatServer
    from tests.support.front import Front
    from tests.support.turnstile import Service
    from tests.support.widget import Page

front, led, model, world = (
    test_widget_front.front,
    test_widget_front.led,
    test_chat_front.model,
    test_widget_front.world,
)
BY_TURNSTILE: dict[str, Any] = {
    "challenge": "turnstile",
    "site_key": cloudflare.SITE,
    "secret": cloudflare.SECRET,
}
SHOP = "shop.example"
CLIENTS = ["shop-web", "shop-app"]


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """Cloudflare's service, here: the widget's own address is that of the product."""
    with cloudflare.service() as running:
        here = partial(
            adapter.Turnstile,
            base_url=running.url,
            allow_private=True,
            pause=lambda _: None,
            seconds=0.5,
        )
        monkeypatch.setattr(adapter, "Turnstile", here)
        yield running


def due(front: Front) -> Page:
    """Return a page whose next message waits for a challenge."""
    ours = page(front, anonymous={"challenge_after": 0}, **BY_TURNSTILE)
    assert ours.ask("GET").json()["site_key"] == cloudflare.SITE
    assert ours.ask("GET", "/challenge").json()["challenge"] is None
    assert ours.say().json()["reason"] == "challenge"
    return ours


def shows(ours: Page, answer: str) -> tuple[int, str]:
    told = ours.ask("POST", "/challenge", json={"answer": answer})
    assert cloudflare.SECRET not in told.text
    return told.status_code, told.json().get("reason", "")


def test_who_solved_turnstile_for_this_page_goes_on_and_another_answer_does_not(
    front: Front, service: Service
) -> None:
    ours, other = due(front), page(front, begun=False, **BY_TURNSTILE)
    for answer in (
        "invented",
        service.solved("evil.example"),
        service.solved(SHOP, "login"),
        service.solved(SHOP, age=301),
    ):
        assert shows(ours, answer) == (403, "challenge")
    answer = service.solved(SHOP)
    assert shows(ours, answer)[0] == 200
    assert service.asked[-1]["remoteip"] == ours.address
    ours.answered()
    set_widget(front, anonymous={"challenge_after": 0}, **BY_TURNSTILE)
    other.open()
    assert shows(other, answer) == (403, "challenge")  # another took it


def test_a_session_has_a_service_asked_about_ten_answers_and_no_more(
    front: Front, service: Service
) -> None:
    ours = due(front)
    service.fails = "down"
    assert shows(ours, "invented") == (503, "challenge-service")  # that counts for nothing
    service.fails = ""
    before = len(service.asked)
    with ThreadPoolExecutor(16) as pool:
        told = list(pool.map(lambda _: shows(ours, "invented"), range(16)))
    assert told.count((403, "challenge")) == MOST_CHECKS
    assert told.count((429, "challenge-checks")) == 6
    assert len(service.asked) - before == MOST_CHECKS
    refused = ours.ask("POST", "/challenge", json={"answer": service.solved(SHOP)})
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "60")
    ours.open()
    assert shows(ours, service.solved(SHOP))[0] == 200


def test_a_service_that_is_away_refuses_in_words_and_what_was_there_is_there_afterwards(
    front: Front, service: Service
) -> None:
    ours, answer = due(front), service.solved(SHOP)
    for fails in ("internal-error", "down"):
        service.fails = fails
        refused = ours.ask("POST", "/challenge", json={"answer": answer})
        assert (refused.status_code, refused.json()["reason"]) == (503, "challenge-service")
        assert refused.json()["detail"].startswith("Your browser cannot be checked now.")
        assert int(refused.headers["retry-after"]) >= 1
        assert (ours.session()["state"], ours.session()["messages_left"]) == ("created", 40)
    service.fails = ""
    assert shows(ours, answer)[0] == 200
    ours.answered()


def test_a_secret_is_never_shown_and_one_that_is_wrong_is_told_to_an_admin(
    front: Front, service: Service
) -> None:
    ours = due(front)
    shown = front.answer("GET", "/v1/widget")
    assert shown.json()["has_secret"] and cloudflare.SECRET not in shown.text
    assert cloudflare.SECRET not in ours.ask("GET").text
    ledger = front.answer("GET", "/v1/ledger", params={"type": "widget", "limit": 50})
    assert cloudflare.SECRET not in ledger.text
    set_widget(front, **{**BY_TURNSTILE, "secret": "0xanother"})
    assert shows(ours, service.solved(SHOP)) == (503, "challenge-secret")
    kept = {name: BY_TURNSTILE[name] for name in ("challenge", "site_key")}
    set_widget(front, **BY_TURNSTILE)
    set_widget(front, **kept)  # it stays when it is not named
    assert shows(ours, service.solved(SHOP))[0] == 200


@pytest.fixture
def login() -> Iterator[Issuer]:
    """The host's own login, an issuer over HTTP."""
    bound, url = free_socket()
    issuer = Issuer(url=f"{url}/shop", person="auth0|ada")
    issuer.rotate("first")
    with served(issuer.app(), bound):
        yield issuer


def by_login(front: Front, login: Issuer, **settings: Any) -> Page:
    said = {"issuer": login.url, "audiences": CLIENTS, "limits": {"per_session": 60}}
    return page(front, begun=False, **{"login": said, "anonymous": None, **settings})


def id_token(login: Issuer, **changes: Any) -> str:
    return login.token(**{"aud": "shop-web", "token_use": "id", "client_id": None, **changes})


def test_whom_the_hosts_login_names_talks_as_themselves_within_limits_of_their_own(
    front: Front, login: Issuer
) -> None:
    ours = by_login(front, login)
    assert ours.ask("POST", "/sessions", json={}).json()["reason"] == "sign-in"
    opened = ours.open(host_token=id_token(login))
    assert (opened["kind"], opened["messages_left"]) == ("login", 60)
    for _ in range(2):  # a conversation is kept from its second message on
        ours.answered("My order number is 99.")
    said = front.call("GET", "/v1/conversations", params={"client_id": "auth0|ada"})["items"]
    assert len(said) == 1
    ours.open(host_token=id_token(login, aud=["shop-app", "else"]))


def test_host_and_login_stand_beside_each_other_each_with_its_limits(
    front: Front, login: Issuer
) -> None:
    host = Host()
    ours = by_login(front, login, host=host.settings, anonymous={"per_session": 5})
    kinds = [
        (each["kind"], each["messages_left"])
        for each in (
            ours.open(),
            ours.open(host_token=host.token(ours.widget_id)),
            ours.open(host_token=id_token(login)),
        )
    ]
    assert kinds == [("anonymous", 5), ("signed", 200), ("login", 60)]
    crossed = host.token(ours.widget_id, iss=login.url)  # the host's key in the login's name
    refused = ours.ask("POST", "/sessions", json={"host_token": crossed})
    assert (refused.status_code, refused.json()["reason"]) == (401, "token-key")


def forged(login: Issuer) -> dict[str, str]:
    key = next(iter(login.keys.values()))
    public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    now = int(time.time())
    claims = {"iss": login.url, "aud": "shop-web", "sub": "ada", "exp": now + 600}
    return {
        "none": jwt.encode(claims, None, algorithm="none", headers={"kid": "first"}),
        "public key as a secret": signed_with_hmac(claims, public, "first"),
        "another key": id_token(login, key=Host().key),
        "an unknown kid": id_token(login, header={"kid": "../../etc"}),
        "keys of its own": id_token(login, header={"kid": "x", "jku": "https://evil.example/k"}),
        "another client": id_token(login, aud="their-web"),
        "no client": id_token(login, aud=None),
        "an access token": id_token(login, token_use="access"),
        "another issuer": id_token(login, iss="https://evil.example"),
        "a year": id_token(login, exp=now + 365 * 86_400),
        "expired": id_token(login, exp=now - 61),
        "too early": id_token(login, nbf=now + 90),
    }


def test_what_the_login_did_not_sign_for_this_host_signs_nobody_in(
    front: Front, login: Issuer
) -> None:
    ours = by_login(front, login)
    for what, token in forged(login).items():
        refused = ours.ask("POST", "/sessions", json={"host_token": token})
        assert refused.status_code == 401, (what, refused.text)
        assert refused.json()["reason"].startswith("token-"), what
        assert refused.json()["detail"].startswith("This token "), what


def test_a_login_that_does_not_answer_lets_nobody_in_and_says_so(
    front: Front, login: Issuer
) -> None:
    bound, url = free_socket()
    bound.close()
    gone = {"issuer": url, "audiences": CLIENTS}
    ours = page(front, begun=False, login=gone)
    refused = ours.ask("POST", "/sessions", json={"host_token": id_token(login, iss=url)})
    assert (refused.status_code, refused.json()["reason"]) == (503, "issuer-unreachable")
    assert ours.open()["kind"] == "anonymous"  # who needs no login is let in as before


@pytest.mark.parametrize(
    "said",
    [
        {"issuer": "login.example.org", "audiences": CLIENTS},
        {"issuer": "https://login.example.org?x=1", "audiences": CLIENTS},
        {"issuer": "file:///etc/passwd", "audiences": CLIENTS},
        {"issuer": "https://ada@login.example.org", "audiences": CLIENTS},
        {"issuer": "https://login.example.org", "audiences": []},
        {"issuer": "https://login.example.org", "audiences": [""]},
    ],
)
def test_what_is_no_login_is_refused_with_the_reason(front: Front, said: dict[str, Any]) -> None:
    refused = front.answer("PUT", "/v1/widget", json={"origins": [HOST], "login": said})
    assert refused.status_code == 422, refused.text
    assert refused.json()["errors"][0]["location"].startswith("body.login")


def test_one_issuer_is_not_both(front: Front) -> None:
    host = Host()
    both = {"issuer": host.settings["issuer"], "audiences": CLIENTS}
    body = {"origins": [HOST], "host": host.settings, "login": both}
    assert front.answer("PUT", "/v1/widget", json=body).status_code == 422


def test_every_limit_is_asked_before_any_model_or_embedder(
    model: ChatServer, led: Front, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model's server and an embedder that count, and each of the limits at its end."""
    limits = {"per_minute": 100, "challenge_after": None}
    ours = page(led, anonymous=limits)
    query = json.dumps({"query": "harbour opens today"})
    test_hand_off_front.plays(model, monkeypatch, Say(calls=(("documents_search", query),)))
    ours.answered("When does the harbour open for us today?")
    asked, embedded = len(model.requests), len(led.embedder.calls)
    assert asked and embedded

    def refused(reason: str, status: int = 429, **settings: Any) -> None:
        set_widget(led, **{"anonymous": limits, **settings})
        answer = ours.say("When does the harbour open for us today?")
        assert (answer.status_code, answer.json()["reason"]) == (status, reason)
        if status == 429:
            assert answer.json()["detail"] == (
                "I'm getting a lot of messages right now, please try again in a moment."
            )
            assert int(answer.headers["retry-after"]) >= 1
        assert (len(model.requests), len(led.embedder.calls)) == (asked, embedded), reason

    refused("chat-address", anonymous={**limits, "per_minute": 1})
    refused("chat-address", anonymous={**limits, "per_day": 1})
    refused("chat-session", anonymous={**limits, "per_session": 1})
    refused("challenge", 403, anonymous={**limits, "challenge_after": 0})
    refused("chat-budget", day_usd=0)
    with database.connect_as_superuser() as root:
        root.execute("UPDATE chat_session SET seen_at = seen_at - interval '16 minutes'")
    refused("session-idle", 401)
    ours.open()
    ours.answered("When does the harbour open for us today?")
    assert len(model.requests) > asked


def test_fifty_at_once_who_want_the_last_cent_spend_what_sixteen_may(
    model: ChatServer, led: Front
) -> None:
    limits = {"per_minute": 1_000, "challenge_after": None}
    pages = [page(led, anonymous=limits) for _ in range(50)]
    set_widget(led, anonymous=limits, day_usd=0.000001)
    before = len(model.requests)
    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(lambda each: each.say("Hi chap!"), pages))
    kinds = {(each.status_code, each.json().get("reason")) for each in answers}
    assert kinds <= {(200, None), (429, "chat-budget"), (503, "unavailable")}
    answered = sum(each.status_code == 200 for each in answers)
    assert 1 <= answered <= 16
    asked = len(model.requests) - before
    spent = led.call("GET", "/v1/widget")["spent_usd"]
    one = spent / answered
    late = [each.say("Hi chap!") for each in pages[:3]]
    assert {each.status_code for each in late} == {429}
    assert len(model.requests) - before == asked
    set_widget(led, anonymous=limits, day_usd=1_000)
    pages[0].answered("Hi chap!")
    now = led.call("GET", "/v1/widget")["spent_usd"]
    assert now - spent == pytest.approx(one)  # none of those at once was lost
