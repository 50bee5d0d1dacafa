"""The keys of an issuer: when they are read, and what holds while they cannot be."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Barrier, Event, get_ident
from typing import Any

import httpx
import pytest

from cairn.adapters.http.issuer_keys import PublishedIssuerKeys
from cairn.kernel.errors import Unavailable

URL = "https://issuer.example/tenant"


@dataclass
class Site:
    """An issuer's addresses and the clock beside it."""

    keys: list[Any] = field(default_factory=lambda: [{"kid": "one", "kty": "RSA"}])
    document: dict[str, Any] = field(
        default_factory=lambda: {"issuer": URL, "jwks_uri": "https://keys.example/all?v=1"}
    )
    up: bool = True
    now: float = 1_000.0
    reads: list[str] = field(default_factory=list[str])
    held: Event | None = None
    """What an answer waits for."""

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.reads.append(str(request.url))
        if self.held is not None:
            assert self.held.wait(30)
        if not self.up:
            return httpx.Response(503)
        if request.url.host == "keys.example":
            return httpx.Response(200, json={"keys": self.keys})
        return httpx.Response(200, json=self.document)

    def published(self) -> PublishedIssuerKeys:
        transport = httpx.MockTransport(self)
        return PublishedIssuerKeys(URL, transport=transport, stopwatch=lambda: self.now)


def test_keys_are_read_by_the_discovery_document_and_again_after_an_hour() -> None:
    site = Site()
    find = site.published()
    assert find("one") == {"kid": "one", "kty": "RSA"}
    assert site.reads == [f"{URL}/.well-known/openid-configuration", "https://keys.example/all?v=1"]
    site.keys = [{"kid": "two"}]
    site.now += 3_599
    assert find("one") is not None
    site.now += 1
    assert (find("one"), find("two")) == (None, {"kid": "two"})


def test_a_key_that_is_not_known_is_asked_for_once_a_minute() -> None:
    site = Site()
    find = site.published()
    find("one")
    site.keys.append({"kid": "two"})
    assert [find("two") for _ in range(5)] == [None] * 5
    assert len(site.reads) == 2
    site.now += 60
    assert find("two") == {"kid": "two"}
    assert [find("three") for _ in range(5)] == [None] * 5
    assert len(site.reads) == 4


def test_an_issuer_that_is_away_leaves_the_keys_of_a_day_and_is_asked_once_a_minute() -> None:
    site = Site()
    find = site.published()
    find("one")
    site.up = False
    site.now += 3_600
    assert [find("one") is not None for _ in range(5)] == [True] * 5
    assert len(site.reads) == 3
    site.now += 86_400
    with pytest.raises(Unavailable, match="cannot be read"):
        find("one")
    site.up = True
    assert find("one") is not None


def test_an_issuer_that_was_never_reached_is_asked_by_each_token() -> None:
    site = Site(up=False)
    find = site.published()
    for _ in range(2):
        with pytest.raises(Unavailable, match="cannot be read"):
            find("one")
    site.up = True
    assert find("one") is not None


def test_sixteen_tokens_at_once_ask_an_issuer_that_is_away_once() -> None:
    site = Site(up=False)
    find = site.published()
    arrived, here = Barrier(16), set[int]()

    def clock() -> float:
        if get_ident() not in here:
            here.add(get_ident())
            arrived.wait(30)  # all have come before the first one asks
        return site.now

    def refused(_: int) -> bool:
        with pytest.raises(Unavailable, match="cannot be read"):
            find("one")
        return True

    find.stopwatch = clock
    with ThreadPoolExecutor(16) as threads:
        assert all(threads.map(refused, range(16)))
    assert len(site.reads) == 1


def test_a_token_with_a_key_of_the_day_waits_for_nobody_who_reads_the_keys_again() -> None:
    site = Site()
    find = site.published()
    find("one")
    site.held = Event()
    site.now += 3_600
    with ThreadPoolExecutor(1) as threads:
        reading = threads.submit(find, "one")
        while len(site.reads) < 3:
            assert not reading.done()
        assert find("one") is not None
        site.held.set()
        assert reading.result(30) is not None


@pytest.mark.parametrize(
    "document",
    [
        {"issuer": "https://another.example", "jwks_uri": "https://keys.example/all"},
        {"jwks_uri": "https://keys.example/all"},
        {"issuer": URL},
        {"issuer": URL, "jwks_uri": "http://keys.example/all"},
        {"issuer": URL, "jwks_uri": "file:///etc/passwd"},
        {"issuer": URL, "jwks_uri": ["https://keys.example/all"]},
    ],
)
def test_a_discovery_document_of_another_or_without_keys_is_no_key(
    document: dict[str, Any],
) -> None:
    with pytest.raises(Unavailable, match="cannot be read"):
        Site(document=document).published()("one")


@pytest.mark.parametrize("keys", [None, {}, ["one"], [{"kty": "RSA"}]])
def test_what_is_published_and_is_no_list_of_keys_holds_none(keys: Any) -> None:
    assert Site(keys=keys).published()("one") is None
