"""Reads the pages of a site, link by link: politely, within budgets, to an end that it always has.

A page goes when its host says that it is gone; a host that does not answer takes nothing away. No
script of a page is run.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import urlsplit

from cairn.adapters.http.outgoing import REDIRECTS
from cairn.adapters.sources.listed import Chooser
from cairn.adapters.sources.site_pages import (
    MAX_SITEMAP_BYTES,
    read_page,
    read_sitemap,
)
from cairn.adapters.sources.site_way import NESTED_SITEMAP, SITEMAP, Way, address_of
from cairn.adapters.sources.site_wire import SiteWire
from cairn.documents import media
from cairn.documents.accept import MAX_DOCUMENT_BYTES
from cairn.kernel.errors import NotFound, TooLarge, Unavailable, ValidationFailed
from cairn.sources.reader import Item, Page
from cairn.sources.source import Content

if TYPE_CHECKING:
    from collections.abc import Callable

    from cairn.adapters.sources.site_wire import Answer
    from cairn.kernel.clock import Stopwatch
    from cairn.sources.configs import SiteConfig
    from cairn.sources.reader import Limits, Marks

A_PAGE, A_PAGE_SECONDS, A_PAGE_BYTES = 20, 30.0, 20_000_000
MAX_HTML_BYTES = 5_000_000
MAX_SITEMAPS = 50
FAILURES_IN_A_ROW = 5
SPARE_REQUESTS, SPARE_BYTES = 200, 100_000_000
MOST_SECONDS = 24 * 3_600
_GONE = frozenset({404, 410})
_FORM = "1"
"""Of what a page is made into: another one reads every page anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Mark:
    """What is known of a page: its depth, what it says, its host's own marks."""

    depth: int
    digest: str = ""
    of: str = ""
    etag: str = ""
    modified: str = ""

    @classmethod
    def read(cls, mark: str) -> _Mark | None:
        parts = mark.split("\n")
        if len(parts) != 6 or parts[0] != _FORM:
            return None
        depth, digest, of, etag, modified = parts[1:]
        return cls(depth=int(depth), digest=digest, of=of, etag=etag, modified=modified)

    def written(self) -> str:
        values = (str(self.depth), self.digest, self.of, self.etag, self.modified)
        return "\n".join((_FORM, *(value.replace("\n", " ")[:300] for value in values)))

    def conditions(self) -> dict[str, str]:
        """Return the headers that ask for what has changed only."""
        asks = {"if-none-match": self.etag, "if-modified-since": self.modified}
        return {name: value for name, value in asks.items() if value}


@dataclass
class SiteReader:
    """Implements `Reader`. `private_hosts` may be inside this network; `pause` waits seconds."""

    config: SiteConfig
    limits: Limits
    private_hosts: frozenset[str]
    pause: Callable[[float], None]
    stopwatch: Stopwatch
    _way: Way = field(default_factory=Way, init=False)
    _failures: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        start = address_of(self.config.url)
        if start is None:
            raise ValidationFailed("The start is no page's address.", reason="http-address")
        self._start = start
        parts = urlsplit(start)
        self._below = parts.path.rpartition("/")[0] + "/"
        self._hosts = frozenset({parts.netloc, *self.config.hosts})
        for host in map(urlsplit, (start, *(f"//{each}" for each in self.config.hosts))):
            if host.port is not None and host.hostname not in self.private_hosts:
                _refuse_start("names another port than the usual one", "http-address")
        self._chooses = Chooser(self.config)
        shape = (start, sorted(self._hosts), self.config.include, self.config.exclude)
        settings = repr((*shape, self.config.depth))
        self._of = hashlib.sha256(settings.encode()).hexdigest()[:12]
        self._wire = SiteWire(
            private_hosts=self.private_hosts,
            delay=self.config.delay_seconds,
            pause=self.pause,
            stopwatch=self.stopwatch,
        )

    def version(self) -> str | None:
        """Nothing tells at once."""
        return None

    def page(self, cursor: str | None, marks: Marks) -> Page:
        """Visit some addresses: no more than a page of them, for no longer than a lease lasts."""
        began = self.stopwatch()
        if cursor is None:
            self._way = self._begun(marks)
        else:
            self._way = Way.read(cursor)
        items: dict[str, Item] = {}
        size = 0
        while not self._way.is_at_end and len(items) < A_PAGE and size < A_PAGE_BYTES:
            before, url, depth = self._spent(), *self._way.next()
            for item in self._visited(url, depth, marks):
                items[item.key] = item
                size += item.size
            self._check_budget(before)
            if self.stopwatch() - began > A_PAGE_SECONDS:
                break
        self._way.spend("seconds", self.stopwatch() - began)
        done = self._way.is_at_end
        return Page(items=tuple(items.values()), cursor=None if done else self._way.written())

    def close(self) -> None:
        """End every connection."""
        self._wire.close()

    # Where to

    def _begun(self, marks: Marks) -> Way:
        """Return the start, what the host's lists name, and every page of the last run."""
        way = Way()
        rules = self._wire.rules(self._start)
        if not rules.allows(self._start):
            raise ValidationFailed(
                "The host's robots.txt keeps the start from programs.", reason="robots"
            )
        way.add(self._start, 0)
        lists = [*rules.robots.sitemaps, "/sitemap.xml"]
        for link in lists[:MAX_SITEMAPS]:
            address = address_of(link, self._start)
            if address is not None and urlsplit(address).netloc in self._hosts:
                way.add(address, SITEMAP)
        read = {key: mark for key, text in marks(None).items() if (mark := _Mark.read(text))}
        for key in sorted(read, key=lambda each: (read[each].depth, each)):
            if self._is_wanted(key):
                way.add(key, read[key].depth)
        return way

    def _is_wanted(self, url: str) -> bool:
        parts = urlsplit(url)
        if parts.netloc not in self._hosts:
            return False
        if url == self._start:
            return True
        if not self.config.include and parts.netloc == urlsplit(self._start).netloc:
            return parts.path.startswith(self._below) and self._chooses(parts.path[1:] or "index")
        return self._chooses(parts.path[1:] or "index")

    def _follow(self, url: str, depth: int) -> list[Item]:
        """Put an address on the way; returns it when it is left out for a reason to be shown."""
        if not self._is_wanted(url):
            return []
        if depth > self.config.depth and not self._way.has(url):
            fault = self._way.leave_out("too-deep", "too-deep")
        else:
            fault = self._way.add(url, depth)
        return [Item(key=url, mark=fault, refused=fault)] if fault else []

    # What is there

    def _visited(self, url: str, depth: int, marks: Marks) -> list[Item]:
        if depth < 0:
            return self._listed(url, depth)
        mark = _Mark.read(marks([url]).get(url, ""))
        try:
            if not self._wire.rules(url).allows(url):
                return [self._refused(url, depth, "robots")]
            answer = self._answer(url, mark)
        except ValidationFailed as problem:
            if url == self._start:
                raise
            return [self._refused(url, depth, problem.reason)]
        except Unavailable:
            return self._silent(url, depth, mark)
        return self._answered(url, depth, answer, mark)

    def _answer(self, url: str, mark: _Mark | None) -> Answer:
        is_same_way = self.limits.whole and mark is not None and mark.of == self._of
        conditions = mark.conditions() if mark is not None and is_same_way else {}
        answer = self._wire.ask(url, MAX_DOCUMENT_BYTES, conditions=conditions)
        if answer.status >= 500 or answer.status == 429:
            raise Unavailable("The site's host cannot answer now.", reason="unreachable")
        self._failures = 0
        return answer

    def _answered(self, url: str, depth: int, answer: Answer, mark: _Mark | None) -> list[Item]:
        if answer.status in REDIRECTS:
            return self._moved(url, depth, address_of(answer.headers.get("location", ""), url))
        if answer.status == 304 and mark is not None:
            self._way.says(mark.digest)
            return [Item(key=url)]
        if answer.status in _GONE:
            if url == self._start:
                raise NotFound("There is no page at the start.", reason="not-there")
            self._way.by_own_name(url, depth)
            return []
        if answer.status != 200:
            if url == self._start:
                _refuse_start(f"is answered with status {answer.status}", "not-permitted")
            return [Item(key=url)] if mark else [self._refused(url, depth, "not-permitted")]
        try:
            return self._read(url, depth, answer, mark)
        except ValidationFailed as problem:
            return [self._refused(url, depth, problem.reason)]

    def _read(self, url: str, depth: int, answer: Answer, mark: _Mark | None) -> list[Item]:
        label = answer.headers.get("content-type", "") or (media.media_type_of(url) or "")
        try:
            kind = media.normalise_media_type(label)
        except ValidationFailed:
            return [Item(key=url, skipped=True)]
        if len(answer.body) > (MAX_HTML_BYTES if kind == media.HTML else MAX_DOCUMENT_BYTES):
            return [self._refused(url, depth, "too-large")]
        if kind != media.HTML:
            content = Content(body=answer.body, media_type=label[:200], metadata={"url": url})
            return [self._item(url, depth, answer, content, mark)]
        page = read_page(url, label, answer.body, robots_tag=answer.headers.get("x-robots-tag", ""))
        also = [item for link in page.links for item in self._follow(link, depth + 1)]
        if self._has_other_name(url, page.canonical, depth):
            return also
        if not page.is_indexed:
            return [*also, self._refused(url, depth, "noindex")]
        content = Content(
            body=page.body, media_type="text/html", title=page.title, metadata={"url": url}
        )
        return [*also, self._item(url, depth, answer, content, mark)]

    def _has_other_name(self, url: str, name: str | None, depth: int) -> bool:
        """Say whether a page is read by the name it wants; not where that leads back."""
        way = self._way
        if name is None or _bare(name) == _bare(url) or url in way.own:
            return False
        if name in way.moved or name in way.names.values() or not self._is_wanted(name):
            return False
        way.names.setdefault(name, url)
        self._follow(name, depth)
        return way.has(name)

    def _item(
        self, url: str, depth: int, answer: Answer, content: Content, mark: _Mark | None
    ) -> Item:
        digest = hashlib.sha256(content.body + (content.title or "").encode()).hexdigest()[:16]
        if self._way.says(digest):
            return self._refused(url, depth, "duplicate")
        new = _Mark(
            depth=depth,
            digest=digest,
            of=self._of,
            etag=answer.headers.get("etag", ""),
            modified=answer.headers.get("last-modified", ""),
        )
        if mark is not None and mark.digest == digest:
            return Item(key=url, mark=new.written())
        return Item(key=url, mark=new.written(), size=len(content.body), load=lambda: content)

    def _moved(self, url: str, depth: int, target: str | None) -> list[Item]:
        """Go on to where a page has moved to, unless that leads out or round."""
        self._way.moved.append(url)
        self._way.by_own_name(url, depth)
        reason = None
        if target is None or not self._is_wanted(target):
            reason = "moved"
        elif target == url or target in self._way.moved:
            reason = "fetch-redirects"
        if reason is None and target is not None:
            return self._follow(target, depth + 1)
        if url == self._start:
            where = "round" if reason == "fetch-redirects" else f"to {target}, out of this site"
            _refuse_start(f"leads {where}", reason or "moved")
        return [self._refused(url, depth, reason or "moved")]

    def _silent(self, url: str, depth: int, mark: _Mark | None) -> list[Item]:
        """Leave a page as it was when its host does not answer; after some in a row, stop."""
        self._failures += 1
        if url == self._start or self._failures >= FAILURES_IN_A_ROW:
            raise Unavailable("The site's host does not answer.", reason="unreachable")
        return [Item(key=url) if mark else self._refused(url, depth, "unreachable")]

    def _listed(self, url: str, depth: int) -> list[Item]:
        """Follow what a sitemap names; one that cannot be had names nothing."""
        try:
            if not self._wire.rules(url).allows(url):
                return []
            answer = self._wire.ask(url, MAX_SITEMAP_BYTES)
        except (ValidationFailed, Unavailable):
            return []
        if answer.status != 200 or len(answer.body) > MAX_SITEMAP_BYTES:
            return []
        pages, lists = read_sitemap(url, answer.body)
        others = [each for each in lists if urlsplit(each).netloc in self._hosts]
        for each in others[:MAX_SITEMAPS] if depth == SITEMAP else []:
            self._way.add(each, NESTED_SITEMAP)
        return [item for page in pages for item in self._follow(page, 1)]

    def _refused(self, url: str, depth: int, reason: str) -> Item:
        mark = _Mark(depth=depth, digest=reason, of=self._of)
        return Item(key=url, mark=mark.written(), refused=reason)

    # Budgets

    def _spent(self) -> tuple[int, int]:
        return self._wire.requests, self._wire.received

    def _check_budget(self, before: tuple[int, int]) -> None:
        requests, received = (now - then for now, then in zip(self._spent(), before, strict=True))
        most = {
            "requests": (requests, 2 * self.limits.items + SPARE_REQUESTS),
            "bytes": (received, 2 * self.limits.bytes + SPARE_BYTES),
            "seconds": (0.0, MOST_SECONDS),
        }
        for what, (amount, limit) in most.items():
            if self._way.spend(what, amount) > limit:
                raise TooLarge(
                    f"The site has no end in sight after {limit:,} {what}. Name what is wanted of "
                    "it with include and exclude, or allow it more items.",
                    reason=f"budget-{what}",
                )


def _refuse_start(fault: str, reason: str) -> NoReturn:
    raise ValidationFailed(f"The start {fault}.", reason=reason)


def _bare(url: str) -> str:
    return url.partition("://")[2]
