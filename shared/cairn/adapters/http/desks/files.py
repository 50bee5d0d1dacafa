"""Fetches files that help desks keep, at the addresses they give. Not which files. Loads httpx.

A desk's address is asked with its sign-in; the hosts it sends us on to are asked without: they
are others', take a signature of their own in the address, and may refuse a second one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import httpx

from cairn.adapters.http.outgoing import PORTS, REDIRECTS, Outgoing, body_of, refuse, unanswered
from cairn.documents import media
from cairn.kernel.errors import CairnError, NotFound, RateLimited, TooLarge, Unavailable
from cairn.tickets.attachments import MOST_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cairn.adapters.http.rest import RestService

SECONDS = 15.0
MOST_REDIRECTS = 5
MAX_URL_CHARS = 8_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskFiles:
    """Implements `FileOf`. `sign_in` returns the headers for addresses of `service` alone.

    An address that begins with / is one at `service`. An answer has at most `most` bytes.
    """

    service: RestService
    sign_in: Callable[[bool], Mapping[str, str]] = field(repr=False)
    most: int = MOST_BYTES

    def __call__(self, url: str, media_type: str) -> bytes:
        """Return what stands there, through redirects that are each held to the same.

        NotFound for what cannot be read, and for a page where no page was to be: a sign-in's.
        """
        breaker = self.service.breakers.of(f"files of {self.service.base_url}", self.service.name)
        if url.startswith("/"):
            url = self.service.base_url.rstrip("/") + url
        with breaker.guard():
            ends = self.service.stopwatch() + SECONDS
            for _ in range(MOST_REDIRECTS + 1):
                answer = self._ask(self._checked(url), ends)
                if answer.status_code not in REDIRECTS:
                    return self._content(answer, media_type)
                url = _joined(url, answer.headers.get("location", ""))
            return refuse(f"redirects more than {MOST_REDIRECTS} times", reason="file-redirects")

    def _checked(self, text: str) -> httpx.URL:
        """Return an address that may be asked; ValidationFailed for any other."""
        if len(text) > MAX_URL_CHARS or not text.isprintable() or "\\" in text or " " in text:
            refuse("is no address", reason="file-address")
        try:
            url = httpx.URL(text)
        except httpx.InvalidURL:
            refuse("is no address", reason="file-address")
        if url.userinfo or not url.host:
            refuse("is no address of a host alone", reason="file-address")
        if self._is_own(url) or (self.service.allow_private and url.scheme in PORTS):
            return url
        if url.scheme != "https" or url.port is not None:
            refuse("must begin with https:// and name no port", reason="file-address")
        return url

    def _is_own(self, url: httpx.URL) -> bool:
        """Return whether an address is the desk's own, to which the sign-in is said."""
        own = httpx.URL(self.service.base_url)
        return (url.scheme, url.host, url.port) == (own.scheme, own.host, own.port)

    def _ask(self, url: httpx.URL, ends: float) -> httpx.Response:
        """Send one request, within the time that is left of all; its body is read already."""
        left = ends - self.service.stopwatch()
        if left <= 0:
            raise Unavailable("The file does not come in time.", reason="timeout")
        headers = {"user-agent": "cairn", "accept": "*/*", "accept-encoding": "identity"}
        if self._is_own(url):
            headers |= self.sign_in(False)
        transport = self.service.transport or Outgoing(allow_private=self.service.allow_private)
        try:
            with (
                httpx.Client(transport=transport, timeout=left, trust_env=False) as client,
                client.stream("GET", url, headers=headers) as answer,
            ):
                return self._read(answer, left)
        except CairnError:
            raise
        except (httpx.HTTPError, httpx.InvalidURL) as problem:
            raise unanswered(problem, "The file's host did not answer.") from None

    def _read(self, answer: httpx.Response, seconds: float) -> httpx.Response:
        length, content = answer.headers.get("content-length", ""), b""
        if answer.status_code == 200:
            if length.isdecimal() and int(length) > self.most:
                raise _too_large()
            stopwatch = self.service.stopwatch
            content = body_of(answer, most=self.most, seconds=seconds, stopwatch=stopwatch)
            if len(content) > self.most:
                raise _too_large()
        headers = {name: answer.headers.get(name, "") for name in ("content-type", "location")}
        return httpx.Response(answer.status_code, headers=headers, content=content)

    def _content(self, answer: httpx.Response, media_type: str) -> bytes:
        if answer.status_code == 429:
            raise RateLimited("The file's host has had too many requests.", retry_after=60.0)
        if answer.status_code >= 500:
            raise Unavailable("The file's host fails.", reason="server-error")
        if answer.status_code != 200:
            raise NotFound("The file cannot be read.", status=answer.status_code)
        if _is_page(answer.headers["content-type"]) and not _is_page(media_type):
            raise NotFound("A page stands where the file should.", reason="sign-in-page")
        return answer.content


def _joined(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError:
        return refuse("redirects to what is no address", reason="file-address")


def _is_page(media_type: str) -> bool:
    return media_type.partition(";")[0].strip().lower() in (media.HTML, "application/xhtml+xml")


def _too_large() -> TooLarge:
    return TooLarge(f"The file has more than {MOST_BYTES} bytes.", limit=MOST_BYTES)
