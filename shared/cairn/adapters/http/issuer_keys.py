"""The keys that an OpenID Connect issuer publishes, found by its own discovery document.

They are read again every hour, and once a minute for a key that is not among them: that is how a
rotation shows. While the issuer does not answer, keys read within a day stay good. One thread asks
at a time: a token with a fresh key waits for none, and those that waited for an attempt that failed
share its outcome.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from cairn.adapters.http.rest import Request, RestService
from cairn.kernel.clock import Stopwatch, monotonic
from cairn.kernel.errors import CairnError, Unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx

DISCOVERY = "/.well-known/openid-configuration"
GOOD_FOR, AT_LEAST, AT_MOST = 3_600.0, 60.0, 86_400.0
SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class _Read:
    keys: Mapping[str, Mapping[str, Any]]
    at: float
    document: Mapping[str, Any]


@dataclass(slots=True)
class PublishedIssuerKeys:
    """Looks up a key by its id. `allow_private` lets an issuer be in this network: on a laptop.

    `metadata_url` is where an issuer has its discovery document that has it not below its name.
    """

    issuer: str
    allow_private: bool = False
    metadata_url: str = ""
    transport: httpx.BaseTransport | None = None
    stopwatch: Stopwatch = monotonic
    _last: _Read | None = None
    _tried_at: float | None = None
    _failures: int = 0
    _lock: Lock = field(default_factory=Lock)

    def __call__(self, key_id: str) -> Mapping[str, Any] | None:
        """Return the key; None when there is none, Unavailable when that cannot be known."""
        last, failures, now = self._last, self._failures, self.stopwatch()
        held = last.keys.get(key_id) if last and now - last.at < AT_MOST else None
        if last and held is not None and now - last.at < GOOD_FOR:
            return held
        if not self._lock.acquire(blocking=held is None):
            return held  # another thread reads them again
        try:
            keys = self._keys_within(GOOD_FOR, failures)
            return keys.get(key_id) or self._keys_within(AT_LEAST, failures).get(key_id)
        finally:
            self._lock.release()

    def document(self) -> Mapping[str, Any]:
        """Return the discovery document, as old as the keys; Unavailable when there is none."""
        failures = self._failures
        with self._lock:
            self._keys_within(GOOD_FOR, failures)
            if self._last is None:
                raise _unreadable()
            return self._last.document

    def _keys_within(self, seconds: float, failures: int) -> Mapping[str, Mapping[str, Any]]:
        """Return the keys, read or tried to be read within the last `seconds`.

        Nobody asks again who came before the last failure, of which there were `failures` then.
        """
        now, last = self.stopwatch(), self._last
        if last is not None and now - last.at < seconds:
            return last.keys
        if self._failures != failures:
            raise _unreadable()
        if self._tried_at is None or now - self._tried_at >= min(seconds, AT_LEAST):
            self._tried_at = now
            try:
                self._last = last = self._published(now)
            except CairnError as error:
                if last is None or now - last.at >= AT_MOST:
                    self._tried_at = None  # nobody can sign in: the next request asks again
                    self._failures += 1
                    raise _unreadable() from error
        if last is None:
            raise _unreadable()
        return last.keys

    def _published(self, now: float) -> _Read:
        document = self._at(self.metadata_url or self.issuer.rstrip("/") + DISCOVERY)
        if document.get("issuer") != self.issuer:
            raise Unavailable("The issuer calls itself otherwise.", reason="issuer-name")
        listed = self._at(str(document.get("jwks_uri", ""))).get("keys")
        keys = cast("list[Any]", listed) if isinstance(listed, list) else []
        objects = [cast("dict[str, Any]", key) for key in keys if isinstance(key, dict)]
        by_id = {str(key["kid"]): key for key in objects if "kid" in key}
        return _Read(by_id, now, document)

    def _at(self, url: str) -> Mapping[str, Any]:
        where = urlsplit(url)
        service = RestService(
            name="The issuer of tokens",
            base_url=f"{where.scheme}://{where.netloc}",
            words=lambda _: "",
            allow_private=self.allow_private,
            transport=self.transport,
            seconds=SECONDS,
        )
        path = where.path + (f"?{where.query}" if where.query else "")
        return service.ask(Request(method="GET", path=path), {}).record()


def _unreadable() -> Unavailable:
    return Unavailable(
        "The keys of the issuer of tokens cannot be read now.",
        reason="issuer-unreachable",
        retry_after=AT_LEAST,
    )
