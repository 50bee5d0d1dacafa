"""One site over HTTP: a request at a time, with the pauses and the rules that its hosts ask for.

Requests go where `Outgoing` lets them; redirects are not followed here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import httpx
from protego import Protego

from cairn.adapters.http.outgoing import REDIRECTS, Outgoing, body_of, unanswered
from cairn.adapters.sources.site_way import address_of
from cairn.kernel.errors import CairnError, Unavailable, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cairn.kernel.clock import Stopwatch

USER_AGENT = "cairn"
SECONDS = 15.0
MAX_ROBOTS_BYTES = 500_000
MAX_REDIRECTS = 5
MAX_DELAY_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What an address answers: of its body no more than was asked for, and somewhat."""

    status: int
    headers: httpx.Headers
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a host's robots.txt asks for."""

    robots: Protego
    delay: float

    def allows(self, url: str) -> bool:
        """Say whether a page may be read."""
        return self.robots.can_fetch(url, USER_AGENT)


@dataclass
class SiteWire:
    """Asks the hosts of a site. `delay` is the least pause between two requests of a host."""

    private_hosts: frozenset[str]
    delay: float
    pause: Callable[[float], None]
    stopwatch: Stopwatch
    requests: int = 0
    received: int = 0
    _clients: dict[str, httpx.Client] = field(default_factory=dict[str, httpx.Client])
    _rules: dict[str, Rules] = field(default_factory=dict[str, Rules])
    _asked_at: dict[str, float] = field(default_factory=dict[str, float])

    def ask(self, url: str, most: int, *, conditions: Mapping[str, str] | None = None) -> Answer:
        """Return what an address answers. ValidationFailed for one that is not asked.

        Raises Unavailable when nobody answers in time.
        """
        host = urlsplit(url).netloc
        self._wait(host)
        self.requests += 1
        headers = {"user-agent": USER_AGENT, "accept-encoding": "identity", **(conditions or {})}
        try:
            with self._client(url).stream("GET", url, headers=headers) as answer:
                body = b""
                if answer.status_code == 200:
                    if answer.headers.get("content-encoding", "identity") != "identity":
                        raise ValidationFailed(
                            "The page is packed, and was not asked to be.",
                            reason="content-encoding",
                        )
                    body = body_of(answer, most=most, seconds=SECONDS, stopwatch=self.stopwatch)
                self.received += len(body)
                return Answer(status=answer.status_code, headers=answer.headers, body=body)
        except CairnError:
            raise
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as problem:
            raise unanswered(problem, "The site's host did not answer.") from None
        finally:
            self._asked_at[host] = self.stopwatch()

    def rules(self, url: str) -> Rules:
        """Return what an address's host asks for, as RFC 9309 reads it: no robots.txt asks nothing.

        Raises Unavailable when that cannot be had, ValidationFailed when the pauses are too long.
        """
        origin = urljoin(url, "/")
        if origin not in self._rules:
            robots = Protego.parse(self._robots(urljoin(url, "/robots.txt")))
            rate = robots.request_rate(USER_AGENT)
            each = rate.seconds / rate.requests if rate is not None and rate.requests else 0.0
            delay = max(self.delay, robots.crawl_delay(USER_AGENT) or 0.0, each)
            if delay > MAX_DELAY_SECONDS:
                raise ValidationFailed(
                    f"The host asks for {delay:.0f} seconds between two pages; no more than "
                    f"{MAX_DELAY_SECONDS:.0f} are waited.",
                    reason="crawl-delay",
                )
            self._rules[origin] = Rules(robots=robots, delay=delay)
        return self._rules[origin]

    def close(self) -> None:
        """End every connection."""
        for client in self._clients.values():
            client.close()

    def _robots(self, url: str) -> str:
        answer = self.ask(url, MAX_ROBOTS_BYTES)
        for _ in range(MAX_REDIRECTS):
            if answer.status not in REDIRECTS:
                break
            url = address_of(answer.headers.get("location", ""), url) or url
            answer = self.ask(url, MAX_ROBOTS_BYTES)
        if answer.status >= 500 or answer.status == 429:
            raise Unavailable("The host's robots.txt cannot be had now.", reason="robots")
        body = answer.body[:MAX_ROBOTS_BYTES] if answer.status == 200 else b""
        return body.decode("utf-8-sig", errors="replace")

    def _wait(self, host: str) -> None:
        asked_at = self._asked_at.get(host)
        if asked_at is None:
            return
        of_host = [each.delay for url, each in self._rules.items() if urlsplit(url).netloc == host]
        left = max([self.delay, *of_host]) - (self.stopwatch() - asked_at)
        if left > 0:
            self.pause(left)

    def _client(self, url: str) -> httpx.Client:
        host = urlsplit(url).hostname or ""
        if host not in self._clients:
            transport = Outgoing(allow_private=host in self.private_hosts)
            self._clients[host] = httpx.Client(transport=transport, timeout=SECONDS / 2)
        return self._clients[host]
