"""The way through a site: which addresses come next, and which lead round for ever. Pure."""

from __future__ import annotations

import base64
import json
import zlib
from collections import Counter
from dataclasses import asdict, dataclass, field
from urllib.parse import urljoin, urlsplit, urlunsplit

from w3lib.url import canonicalize_url, url_query_cleaner

from cairn.sources.reader import MAX_KEY_CHARS

SITEMAP, NESTED_SITEMAP = -1, -2
"""Depths of what is no page: a list of addresses, and one that another list names."""

QUERIES_A_PATH = 50
"""So many query strings of one path are followed."""

SAME_PARTS = 3
"""A part of a path that comes more often leads round: /a/b/a/b/a/b."""

_PORTS = {"http": ":80", "https": ":443"}
_TRACKING = [
    *(f"utm_{name}" for name in ("source", "medium", "campaign", "term", "content", "id")),
    *("gclid", "fbclid", "msclkid", "mc_cid", "mc_eid", "sid", "sessionid", "session_id"),
    *("phpsessid", "PHPSESSID", "jsessionid", "JSESSIONID"),
]


def address_of(link: str, base: str = "") -> str | None:
    """Return the one way to write an address; None for what is no page's."""
    try:
        joined = urljoin(base, link.strip())
        parts = urlsplit(joined)
        if parts.scheme not in _PORTS or not parts.hostname or "@" in parts.netloc:
            return None
        if any(letter in joined for letter in "\\\x00"):
            return None
        cleaned = url_query_cleaner(joined, _TRACKING, remove=True) if parts.query else joined
        parts = urlsplit(canonicalize_url(cleaned))
    except ValueError:  # an address that cannot be read
        return None
    host = parts.netloc.removesuffix(_PORTS[parts.scheme])
    address = urlunsplit((parts.scheme, host, parts.path or "/", parts.query, ""))
    return address if len(address) <= MAX_KEY_CHARS and address.isascii() else None


@dataclass
class Way:
    """Addresses in the order they were met, and how far the reader is.

    `moved` are those that redirect, `names` the other names that pages want by the first page that
    wants one, `own` those read by their own name whatever they want, `digests` what pages have
    said, `spent` the requests, bytes and seconds of the whole run.
    """

    urls: list[str] = field(default_factory=list[str])
    depths: list[int] = field(default_factory=list[int])
    at: int = 0
    moved: list[str] = field(default_factory=list[str])
    names: dict[str, str] = field(default_factory=dict[str, str])
    own: list[str] = field(default_factory=list[str])
    digests: list[str] = field(default_factory=list[str])
    spent: dict[str, float] = field(default_factory=dict[str, float])
    left_out: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self._met = set(self.urls)
        self._said = set(self.digests)
        self._queries = Counter(url.partition("?")[0] for url in self._met if "?" in url)

    @classmethod
    def read(cls, cursor: str) -> Way:
        """Return the way as `written` kept it."""
        return cls(**json.loads(zlib.decompress(base64.b64decode(cursor))))

    def written(self) -> str:
        """Return where to go on."""
        return base64.b64encode(zlib.compress(json.dumps(asdict(self)).encode())).decode()

    @property
    def is_at_end(self) -> bool:
        """Whether every address was visited."""
        return self.at >= len(self.urls)

    def next(self) -> tuple[str, int]:
        """Return the next address and how many links lead to it."""
        self.at += 1
        return self.urls[self.at - 1], self.depths[self.at - 1]

    def spend(self, what: str, amount: float) -> float:
        """Count what the run has spent; returns all of it."""
        self.spent[what] = self.spent.get(what, 0) + amount
        return self.spent[what]

    def add(self, url: str, depth: int) -> str | None:
        """Put an address at the end, unless it is there. Says once a path why one is left out."""
        if url in self._met:
            return None
        path, _, query = url.partition("?")
        parts = Counter(part for part in path.split("/")[3:] if part)
        if parts and max(parts.values()) > SAME_PARTS:
            return self.leave_out("repeating-path", "repeating-path")
        if query and self._queries[path] >= QUERIES_A_PATH:
            return self.leave_out("too-many-queries", path)
        self._queries[path] += bool(query)
        self._met.add(url)
        self._put(url, depth)
        return None

    def leave_out(self, fault: str, about: str) -> str | None:
        """Return a fault the first time that it is about this."""
        if about in self.left_out:
            return None
        self.left_out.append(about)
        return fault

    def has(self, url: str) -> bool:
        """Say whether an address is on the way."""
        return url in self._met

    def says(self, digest: str) -> bool:
        """Keep what a page says; returns whether another page of this run says it, too."""
        if digest in self._said:
            return True
        self._said.add(digest)
        self.digests.append(digest)
        return False

    def by_own_name(self, name: str, depth: int) -> None:
        """Have the page that wanted this name read by its own: nothing is there under the name."""
        url = self.names.get(name)
        if url is not None and url not in self.own:
            self.own.append(url)
            self._put(url, depth)

    def _put(self, url: str, depth: int) -> None:
        self.urls.append(url)
        self.depths.append(depth)
