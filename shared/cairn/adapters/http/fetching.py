"""Fetches public pages: the one port of `scrape_url` and of every crawler. Loads httpx.

Each hop of a redirect is held to the same: scheme, port, robots.txt, an address outside this
network, which is the one that is connected to (`outgoing.py`).
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import urljoin
from urllib.robotparser import RobotFileParser

import httpx

from cairn.adapters.http.outgoing import (
    PORTS,
    REDIRECTS,
    Outgoing,
    Resolve,
    body_of,
    refuse,
    resolved,
    unanswered,
)
from cairn.documents.pages import HTML, PLAIN, Fetched
from cairn.kernel.clock import monotonic
from cairn.kernel.errors import CairnError, Denied, RateLimited, TooLarge, Unavailable

if TYPE_CHECKING:
    from uuid import UUID

    from cairn.kernel.clock import Stopwatch

USER_AGENT = "cairn"
SECONDS = 15.0
MAX_BYTES = 2_000_000
MAX_ROBOTS_BYTES = 500_000
MAX_URL_CHARS = 2_000
MAX_REDIRECTS = 5
PER_HOST, PER_WORKSPACE = 30, 120
"""Pages a minute, of one host and for one workspace, in this process."""
ROBOTS_KEPT, ROBOTS_SECONDS = 500, 3_600.0

_UNWRITABLE = re.compile(r"[\x00-\x20\x7f\\]")


class Limits:
    """Counts fetches in windows of a minute, by host and by workspace."""

    def __init__(self, stopwatch: Stopwatch = monotonic) -> None:
        self._stopwatch, self._window, self._lock = stopwatch, -1, Lock()
        self._counts: Counter[object] = Counter()

    def __call__(self, workspace_id: UUID, host: str) -> None:
        """Count one; RateLimited above a limit."""
        window, into = divmod(self._stopwatch(), 60)
        with self._lock:
            if window != self._window:
                self._window = int(window)
                self._counts.clear()
            for name, most in ((host, PER_HOST), (workspace_id, PER_WORKSPACE)):
                if self._counts[name] >= most:
                    raise RateLimited(
                        f"{most} pages a minute are fetched of one host or for one workspace.",
                        retry_after=60 - into,
                        reason="fetches",
                    )
                self._counts[name] += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One hop's answer: its status, its headers, and of its body what was asked for."""

    status: int
    headers: httpx.Headers
    body: bytes


@dataclass(frozen=True, kw_only=True)
class HttpFetch:
    """Implements `Fetch`. `private_hosts` may be inside this network and on any port: for a laptop.

    `media_types` are those of what is fetched: pages, unless it says otherwise.

    Raises ValidationFailed for an address or a page that is not fetched, Denied where robots.txt
    says so, TooLarge, RateLimited, and Unavailable when nobody answers.
    """

    private_hosts: frozenset[str] = frozenset()
    media_types: frozenset[str] = HTML | PLAIN
    resolve: Resolve = resolved
    stopwatch: Stopwatch = monotonic
    limits: Limits = field(default_factory=Limits)
    _robots: OrderedDict[str, tuple[float, RobotFileParser]] = field(
        default_factory=OrderedDict[str, tuple[float, RobotFileParser]]
    )
    _lock: Lock = field(default_factory=Lock)

    def __call__(self, workspace_id: UUID, url: str) -> Fetched:
        """Return what an address leads to."""
        ends = self.stopwatch() + SECONDS
        for _ in range(MAX_REDIRECTS + 1):
            host = self._checked(url)
            self.limits(workspace_id, host)
            self._require_allowed(url, ends)
            answer = self._ask(url, MAX_BYTES, ends)
            if answer.status not in REDIRECTS:
                return _fetched(url, answer, self.media_types)
            url = urljoin(url, answer.headers.get("location", ""))
        return refuse(f"redirects more than {MAX_REDIRECTS} times", reason="fetch-redirects")

    def _checked(self, url: str) -> str:
        """Return the host of an address that may be asked."""
        if len(url) > MAX_URL_CHARS:
            refuse(f"is longer than {MAX_URL_CHARS} characters", reason="fetch-address")
        if _UNWRITABLE.search(url):
            refuse("has spaces, backslashes or control characters", reason="fetch-address")
        try:
            parts = httpx.URL(url)  # what connects reads it, too
        except httpx.InvalidURL:
            refuse("is no address", reason="fetch-address")
        if parts.scheme not in PORTS or not parts.host or not parts.host.isascii():
            refuse("is an address that begins with https:// or http://", reason="fetch-address")
        if parts.userinfo:
            refuse("names a user", reason="fetch-address")
        if parts.port is not None and parts.host not in self.private_hosts:
            refuse("names another port than the usual one", reason="fetch-address")
        return parts.host

    def _require_allowed(self, url: str, ends: float) -> None:
        """Raise Denied where the host's robots.txt keeps us out."""
        origin = urljoin(url, "/")
        with self._lock:
            robots = self._robots.get(origin)
        if robots is None or robots[0] < self.stopwatch():
            rules = self._rules(urljoin(url, "/robots.txt"), ends)
            robots = (self.stopwatch() + ROBOTS_SECONDS, rules)
            with self._lock:
                self._robots[origin] = robots
                self._robots.move_to_end(origin)
                if len(self._robots) > ROBOTS_KEPT:
                    self._robots.popitem(last=False)
        if not robots[1].can_fetch(USER_AGENT, url):
            raise Denied("The host's robots.txt keeps this page from programs.", reason="robots")

    def _rules(self, url: str, ends: float) -> RobotFileParser:
        """Return what a robots.txt says, as RFC 9309: none allows all, a failing host nothing."""
        rules = RobotFileParser()
        answer = self._ask(url, MAX_ROBOTS_BYTES, ends)
        for _ in range(MAX_REDIRECTS):
            if answer.status not in REDIRECTS:
                break
            url = urljoin(url, answer.headers.get("location", ""))
            self._checked(url)
            answer = self._ask(url, MAX_ROBOTS_BYTES, ends)
        if answer.status >= 500:
            raise Unavailable("The host's robots.txt cannot be had now.", reason="robots")
        text = answer.body[:MAX_ROBOTS_BYTES].decode("utf-8", errors="replace")
        rules.parse(text.splitlines() if answer.status == 200 else [])
        return rules

    def _ask(self, url: str, most: int, ends: float) -> Answer:
        """Send one request, within the time that is left of all."""
        left = ends - self.stopwatch()
        if left <= 0:
            raise Unavailable("The page does not come in time.", reason="timeout")
        transport = Outgoing(
            allow_private=httpx.URL(url).host in self.private_hosts, resolve=self.resolve
        )
        headers = {"user-agent": USER_AGENT, "accept-encoding": "identity"}
        try:
            with (
                httpx.Client(transport=transport, timeout=min(left, 5.0)) as client,
                client.stream("GET", url, headers=headers) as answer,
            ):
                if answer.headers.get("content-encoding", "identity") != "identity":
                    refuse("answers in another encoding than was asked", reason="fetch-media-type")
                body = (
                    b""
                    if answer.status_code in REDIRECTS
                    else body_of(answer, most=most, seconds=left, stopwatch=self.stopwatch)
                )
                return Answer(status=answer.status_code, headers=answer.headers, body=body)
        except CairnError:
            raise
        except (httpx.HTTPError, httpx.InvalidURL) as problem:
            raise unanswered(problem, "The page's host did not answer.") from None


def _fetched(url: str, answer: Answer, media_types: frozenset[str]) -> Fetched:
    if answer.status >= 500:
        raise Unavailable(f"The page's host answered {answer.status}.", reason="unreachable")
    if answer.status != 200:
        refuse(f"is answered with status {answer.status}", reason="fetch-status")
    kind, _, parameters = answer.headers.get("content-type", "").partition(";")
    media_type = kind.strip().lower()
    if media_type not in media_types:
        what = ", ".join(sorted(media_types))
        refuse(f"leads to what is none of {what}", reason="fetch-media-type")
    if len(answer.body) > MAX_BYTES:
        raise TooLarge(f"The page has more than {MAX_BYTES} bytes.", limit=MAX_BYTES)
    charset = re.search(r"charset=\"?([A-Za-z0-9_.:-]{1,40})", parameters)
    return Fetched(
        url=url, media_type=media_type, charset=charset[1] if charset else "utf-8", body=answer.body
    )
