"""An endpoint that keeps failing is left alone, and one request finds out whether it is well."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.support.thinking import Watch

from cairn.kernel.errors import CairnError, Unavailable, ValidationFailed
from cairn.kernel.resilience import breaker as breakers
from cairn.kernel.resilience.breaker import Breaker, Breakers, Circuit, CircuitOpen

ILL = Unavailable("ill", reason="chat-failed")


def is_ill(problem: CairnError) -> bool:
    return problem.reason == "chat-failed"


def made(watch: Watch) -> Breaker:
    return Breaker(
        "anthropic",
        is_fault=is_ill,
        reason="chat-circuit-open",
        stopwatch=watch,
        failures=3,
        cool_seconds=30,
    )


def fail(breaker: Breaker, problem: BaseException = ILL, times: int = 1) -> None:
    for _ in range(times):
        with pytest.raises(type(problem)), breaker.guard():
            raise problem


def refused(breaker: Breaker) -> Unavailable:
    with pytest.raises(CircuitOpen) as failure, breaker.guard():
        raise AssertionError("let through")
    return failure.value


def test_three_failures_in_a_row_open_it_and_say_when_to_come_back() -> None:
    watch = Watch()
    breaker = made(watch)
    fail(breaker, times=3)
    assert breaker.state is Circuit.OPEN
    watch.now = 10
    failure = refused(breaker)
    assert (failure.reason, failure.retry_after) == ("chat-circuit-open", 20)
    assert failure.fields == {"endpoint": "anthropic", "circuit": "open"}


def test_a_success_in_between_starts_the_count_anew() -> None:
    breaker = made(Watch())
    fail(breaker, times=2)
    with breaker.guard():
        pass
    fail(breaker, times=2)
    assert breaker.state is Circuit.CLOSED


@pytest.mark.parametrize(
    "problem",
    [
        Unavailable("busy", reason="chat-busy"),
        Unavailable("key", reason="chat-credentials"),
        ValidationFailed("refused", reason="chat-refused"),
        KeyboardInterrupt(),
    ],
    ids=["busy", "key", "refused", "interrupted"],
)
def test_what_says_nothing_about_the_endpoints_health_does_not_open_it(
    problem: BaseException,
) -> None:
    breaker = made(Watch())
    fail(breaker, problem, times=10)
    assert breaker.state is Circuit.CLOSED


def test_after_a_while_one_request_passes_and_a_good_answer_closes_it() -> None:
    watch = Watch()
    breaker = made(watch)
    fail(breaker, times=3)
    watch.now = 30
    assert breaker.state is Circuit.HALF_OPEN
    with breaker.guard():
        assert refused(breaker).fields["circuit"] == "half_open"
    assert breaker.state is Circuit.CLOSED


def test_a_probe_that_fails_opens_it_for_as_long_again() -> None:
    watch = Watch()
    breaker = made(watch)
    fail(breaker, times=3)
    watch.now = 31
    fail(breaker)
    assert breaker.state is Circuit.OPEN
    assert refused(breaker).retry_after == 30


def test_a_probe_that_is_interrupted_lets_the_next_one_try() -> None:
    watch = Watch()
    breaker = made(watch)
    fail(breaker, times=3)
    watch.now = 31
    fail(breaker, KeyboardInterrupt())
    assert breaker.state is Circuit.HALF_OPEN
    with breaker.guard():
        pass
    assert breaker.state is Circuit.CLOSED


def test_a_late_failure_of_before_neither_ends_the_probe_nor_makes_the_pause_longer() -> None:
    watch = Watch()
    breaker = made(watch)
    with pytest.raises(Unavailable), breaker.guard():
        fail(breaker, times=3)
        watch.now = 20
        raise ILL
    watch.now = 30
    assert breaker.state is Circuit.HALF_OPEN


def test_of_many_threads_one_alone_is_the_probe() -> None:
    watch = Watch()
    breaker = made(watch)
    fail(breaker, times=3)
    watch.now = 30
    with breaker.guard(), ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(refused, breaker) for _ in range(32)]
        assert {item.result().reason for item in asked} == {"chat-circuit-open"}
    assert breaker.state is Circuit.CLOSED


def test_each_address_has_its_own_and_many_healthy_ones_make_none_forget_who_is_ill(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(breakers, "MOST_ENDPOINTS", 3)
    kept = Breakers(is_fault=is_ill, reason="circuit-open", stopwatch=Watch())
    fail(kept.of("https://ill.example", "Ill"), times=5)
    for number in range(10):
        with kept.of(f"https://well-{number}.example", "Well").guard():
            pass
    assert refused(kept.of("https://ill.example", "Ill")).detail.startswith("Ill failed too often")
    assert kept.of("https://a.example", "A") is kept.of("https://a.example", "A")
