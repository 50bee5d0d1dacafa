"""Cloudflare's Turnstile over HTTP: what counts as a browser that showed itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.turnstile import SECRET, service

from cairn.adapters.http.turnstile import BASE, Turnstile
from cairn.kernel.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.turnstile import Service

HOSTS = {"shop.example"}
ADDRESS = "203.0.113.7"


@pytest.fixture
def served() -> Iterator[Service]:
    with service() as running:
        yield running


def asking(served: Service, seconds: float = 3.0) -> Turnstile:
    return Turnstile(base_url=served.url, allow_private=True, pause=lambda _: None, seconds=seconds)


def test_it_is_cloudflares_own_unless_it_is_built_otherwise() -> None:
    assert Turnstile().base_url == BASE == "https://challenges.cloudflare.com"
    assert not Turnstile().allow_private


def test_an_answer_is_good_once_and_is_asked_about_with_the_address(served: Service) -> None:
    ask, answer = asking(served), served.solved("shop.example")
    assert ask(SECRET, answer, ADDRESS, HOSTS)
    assert not ask(SECRET, answer, ADDRESS, HOSTS)  # timeout-or-duplicate
    first, second = served.asked
    assert first["remoteip"] == ADDRESS
    assert first["idempotency_key"] != second["idempotency_key"]
    assert ask(SECRET, served.solved("shop.example"), None, HOSTS)
    assert "remoteip" not in served.asked[-1]


@pytest.mark.parametrize(
    ("hostname", "action", "age"),
    [
        ("evil.example", "cairn-chat", 0),
        ("shop.example.evil.example", "cairn-chat", 0),
        ("shop.example", "login", 0),
        ("shop.example", "", 0),
        ("shop.example", "cairn-chat", 301),
    ],
)
def test_what_was_solved_elsewhere_for_something_else_or_long_ago_is_no_answer(
    served: Service, hostname: str, action: str, age: int
) -> None:
    assert not asking(served)(SECRET, served.solved(hostname, action, age=age), ADDRESS, HOSTS)


@pytest.mark.parametrize("answer", ["invented", "x" * 2_049, ""])
def test_what_nobody_solved_is_no_answer(served: Service, answer: str) -> None:
    assert not asking(served)(SECRET, answer, ADDRESS, HOSTS)
    assert len(served.asked) == (answer == "invented")


def test_an_answer_that_was_lost_on_its_way_is_asked_for_again_under_the_same_key(
    served: Service,
) -> None:
    served.cut = 1
    assert asking(served)(SECRET, served.solved("shop.example"), ADDRESS, HOSTS)
    assert len({each["idempotency_key"] for each in served.asked}) == 1 < len(served.asked)


@pytest.mark.parametrize("fails", ["down", "nonsense", "internal-error", "429", "hang"])
def test_a_service_that_says_nothing_refuses_nobody_and_lets_nobody_in(
    served: Service, fails: str
) -> None:
    served.fails = fails
    answer = served.solved("shop.example")
    with pytest.raises(Unavailable) as refused:
        asking(served, seconds=0.2)(SECRET, answer, ADDRESS, HOSTS)
    assert refused.value.reason == "challenge-service"
    served.fails = ""
    served.released.set()
    if fails != "hang":  # there it was taken, when the service came back to it
        assert asking(served)(SECRET, answer, ADDRESS, HOSTS)


def test_a_service_that_keeps_failing_is_left_alone_for_a_while(served: Service) -> None:
    served.fails, ask = "down", asking(served)
    for _ in range(4):
        with pytest.raises(Unavailable):
            ask(SECRET, "answer", ADDRESS, HOSTS)
    assert len(served.asked) == 5


def test_a_secret_that_is_not_known_is_the_operators_matter_and_is_in_no_message(
    served: Service,
) -> None:
    with pytest.raises(Unavailable) as refused:
        asking(served)("0xnot-it", served.solved("shop.example"), ADDRESS, HOSTS)
    assert refused.value.reason == "challenge-secret"
    assert "0xnot-it" not in f"{refused.value!r} {refused.value} {refused.value.fields}"
