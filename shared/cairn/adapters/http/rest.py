"""One JSON request to a service of somebody else's, and what its answer means. Not which requests.

    401, 403            ConnectorUnauthorised, unless a rate limit is behind it
    404, 410            NotFound
    429                 RateLimited, with the seconds the service asks for
    other 4xx           ValidationFailed, with the service's own words
    3xx                 ValidationFailed: redirects are not followed
    5xx, no answer      Unavailable; OutcomeUnknown after a write that may have happened

Requests that may be repeated (`Request.repeatable`) are sent up to three times on Unavailable and
RateLimited, unless the service asks for a long wait. Others are sent once. A service that keeps
failing is left alone for a while: Unavailable (circuit-open), and nothing was sent.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from cairn.connectors.port import ConnectorUnauthorised, OutcomeUnknown
from cairn.kernel.clock import Stopwatch, monotonic
from cairn.kernel.errors import FieldError, NotFound, RateLimited, Unavailable, ValidationFailed
from cairn.kernel.resilience.breaker import Breakers
from cairn.kernel.resilience.retries import Retries

if TYPE_CHECKING:
    from collections.abc import Callable
    from ssl import SSLContext

    import httpx

    from cairn.kernel.errors import CairnError

ATTEMPTS = 3
LONGEST_WAIT = 5.0
"""A service that asks for more seconds than these is not asked again."""

SECONDS = 10.0
MAX_ANSWER_BYTES = 5_000_000
MAX_WORDS = 300
DEFAULT_RETRY_AFTER, MAX_RETRY_DIGITS = 60.0, 9
LONGEST_RETRY_AFTER = 60.0  # believed of a service that failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked. `path` follows the base address and is already percent-encoded.

    `repeatable` says that sending it twice changes nothing more than sending it once.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    body: Mapping[str, Any] | list[Any] | None = None
    form: Mapping[str, str] | None = field(default=None, repr=False)
    repeatable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A success. `body` is the decoded JSON, None when the service sent nothing."""

    status: int
    headers: Mapping[str, str]
    body: object = None

    def rows(self, name: str | None = None) -> list[dict[str, Any]]:
        """Return the objects of a list, the body or what `name` holds in it; [] when empty."""
        value = self.body if name is None or self.body is None else self.record().get(name)
        rows = cast("list[Any]", value) if isinstance(value, list) else []
        return [row for row in rows if isinstance(row, dict)]

    def record(self) -> dict[str, Any]:
        """Return the object; Unavailable when the service sent something else."""
        body: Any = self.body
        if isinstance(body, dict):
            return cast("dict[str, Any]", body)
        raise Unavailable("The service's answer has an unknown form.", reason="unknown-answer")


def rest_breakers(stopwatch: Stopwatch = monotonic) -> Breakers:
    """Return the circuit breakers of a process's services: one for each scheme and host."""
    return Breakers(is_fault=_is_fault, reason="circuit-open", stopwatch=stopwatch)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestService:
    """A service at `base_url`; `name` is what people call it. Safe between threads.

    An answer has `seconds` to begin, and as many to come whole.
    `words` takes the service's explanation out of an error's body; `limited` says whether a 403 is
    a rate limit in truth. `allow_private` lets it lead into this network, and over plain http.
    """

    name: str
    base_url: str
    words: Callable[[Mapping[str, Any]], str]
    limited: Callable[[int, Mapping[str, str]], bool] = lambda status, headers: status == 429
    wait: Callable[[Mapping[str, str]], float] | None = None
    allow_private: bool = False
    transport: httpx.BaseTransport | None = None
    pause: Callable[[float], None] = time.sleep
    seconds: float = SECONDS
    stopwatch: Stopwatch = monotonic
    breakers: Breakers = field(default_factory=rest_breakers)

    def __post_init__(self) -> None:
        checked_base_url(self.base_url, allow_private=self.allow_private)

    def ask(self, request: Request, headers: Mapping[str, str]) -> Answer:
        """Send a request and return the service's answer; errors are those of the module."""
        retries = Retries(
            attempts=ATTEMPTS if request.repeatable else 1,
            is_passing=_is_passing,
            stopwatch=self.stopwatch,
            pause=self.pause,
        )
        return retries(lambda: self._guarded(request, headers))

    def _guarded(self, request: Request, headers: Mapping[str, str]) -> Answer:
        parts = urlsplit(self.base_url)
        breaker = self.breakers.of(f"{parts.scheme}://{parts.netloc}".casefold(), self.name)
        with breaker.guard():
            return self._once(request, headers)

    def _once(self, request: Request, headers: Mapping[str, str]) -> Answer:
        import httpx

        try:
            with httpx.Client(
                transport=self.transport or self._outgoing(),
                timeout=self.seconds,
                follow_redirects=False,
                trust_env=False,
            ) as client:
                return self._exchange(client, request, headers)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout):
            raise Unavailable(f"{self.name} cannot be reached.", reason="unreachable") from None
        except httpx.HTTPError as problem:
            reason = "timeout" if isinstance(problem, httpx.TimeoutException) else "cut-off"
            raise self._unanswered(request, reason) from None

    def _outgoing(self) -> httpx.BaseTransport:
        from cairn.adapters.http.outgoing import Outgoing

        return Outgoing(allow_private=self.allow_private)

    def _exchange(
        self, client: httpx.Client, request: Request, headers: Mapping[str, str]
    ) -> Answer:
        sent = client.build_request(
            request.method,
            self.base_url.rstrip("/") + request.path,
            params=dict(request.query) or None,
            json=dict(request.body) if isinstance(request.body, Mapping) else request.body,
            data=None if request.form is None else dict(request.form),
            headers={"accept": "application/json", **headers},
        )
        answer = client.send(sent, stream=True)
        try:
            content = self._content(answer)
        finally:
            answer.close()
        body = _decoded(content)
        if answer.is_success:
            if content and body is None:
                raise self._unanswered(request, "not-json")
            return Answer(status=answer.status_code, headers=dict(answer.headers), body=body)
        raise self._refusal(request, answer.status_code, dict(answer.headers), body)

    def _content(self, answer: httpx.Response) -> bytes:
        from cairn.adapters.http.outgoing import body_of

        most, seconds = MAX_ANSWER_BYTES, self.seconds
        content = body_of(answer, most=most, seconds=seconds, stopwatch=self.stopwatch)
        if len(content) > most:
            raise ValidationFailed(
                f"{self.name} answered more than {most} bytes; ask for less.",
                reason="answer-too-large",
            )
        return content

    def _unanswered(self, request: Request, reason: str, seconds: float = 1.0) -> CairnError:
        if request.repeatable:
            return Unavailable(
                f"{self.name} did not answer as it should.", reason=reason, retry_after=seconds
            )
        return OutcomeUnknown(
            f"{self.name} did not answer; nobody knows whether it did what was asked.",
            reason="tool-timeout" if reason == "timeout" else reason,
        )

    def _refusal(
        self, request: Request, status: int, headers: Mapping[str, str], body: Any
    ) -> CairnError:
        words = self.words(cast("dict[str, Any]", body)) if isinstance(body, dict) else ""
        detail = f": {words[:MAX_WORDS]}" if words else ""
        if self.limited(status, headers):
            seconds = (self.wait or retry_after)(headers)
            return RateLimited(f"{self.name} has had too many requests.", retry_after=seconds)
        if status in {401, 403}:
            return ConnectorUnauthorised(
                f"{self.name} refuses the sign-in it was given{detail}. It must be renewed.",
                status=status,
            )
        if status in {404, 410}:
            return NotFound(f"{self.name} has no such thing{detail}.", status=status)
        if status >= 500:
            retry_seconds = retry_after(headers) if "retry-after" in headers else 1.0
            return self._unanswered(
                request, "server-error", min(retry_seconds, LONGEST_RETRY_AFTER)
            )
        return ValidationFailed(
            f"{self.name} refused the request{detail}.", reason="refused", status=status
        )


@cache
def trusted() -> SSLContext:
    """Return the certificate authorities; made once, since reading them takes a while."""
    import httpx

    return httpx.create_ssl_context(trust_env=False)


def checked_base_url(url: str, *, allow_private: bool = False) -> str:
    """Return the address; ValidationFailed unless it is https, or http where that is allowed."""
    fault = _fault_of(url, allow_private=allow_private)
    if fault is None:
        return url
    raise ValidationFailed(
        f"base_url {fault}.", reason="base-url", errors=[FieldError("base_url", fault)]
    )


def _fault_of(url: str, *, allow_private: bool) -> str | None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "is no address"
    if port == 0 or " " in url or not url.isprintable():
        return "is no address"
    if not parts.hostname or parts.query or parts.fragment or "@" in parts.netloc:
        return "must be an address without a user, a query and a fragment"
    if parts.scheme != "https" and not (allow_private and parts.scheme == "http"):
        return "must begin with https://"
    return None


def _is_passing(error: BaseException) -> bool:
    """Return whether the same request may succeed in a moment."""
    return isinstance(error, Unavailable | RateLimited) and error.retry_after <= LONGEST_WAIT


def _is_fault(error: CairnError) -> bool:
    """Return whether the service is ill; one that refuses, or is asked too often, is well."""
    return isinstance(error, Unavailable | OutcomeUnknown)


def retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds of a Retry-After header, one minute when there is none that is a number.

    Its other form, a date, is not used by the services Cairn speaks to.
    """
    value = headers.get("retry-after", "").strip()
    is_number = value.isdecimal() and len(value) <= MAX_RETRY_DIGITS
    return float(value) if is_number else DEFAULT_RETRY_AFTER


def _decoded(content: bytes) -> Any:
    try:
        return json.loads(content) if content.strip() else None
    except (ValueError, RecursionError):  # the latter for what is nested too deep
        return None
