"""What both wire clients share: statuses turned into Cairn's errors, and answers not believed.

Not a client. No error made here carries the prompt, the key or the server's own words, which may
repeat either.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, TypeVar

from cairn.kernel.errors import CairnError, TooLarge, Unavailable, ValidationFailed
from cairn.kernel.resilience.retries import has_passing_status

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from cairn.llm.port import ChatAnswer, ChatRequest, Purpose


TIMEOUT_SECONDS = 30.0
LONGEST_NAME = 120  # characters of a model's name; a server may say anything
_SECONDS = re.compile(r"\d{1,9}(\.\d+)?")
_PASSING = frozenset({408, 409, 425})
_SILENT = frozenset({"chat-unreachable", "chat-timeout"})
_FAULTS = _SILENT | {"chat-failed", "chat-malformed"}


def failure_of_status(status: int, headers: Mapping[str, str]) -> CairnError:
    """Return the error for a status of 300 and above; 429, 5xx and their like may be retried."""
    if status in (401, 402, 403):
        return Unavailable(
            "The chat server does not accept the configured key.",
            reason="chat-credentials",
            status=status,
        )
    if status == 429:
        return Unavailable(
            "The chat server is busy.",
            reason="chat-busy",
            retry_after=retry_after(headers),
            status=status,
        )
    if status == 413:
        return TooLarge("The chat server says the prompt is too long.", reason="chat-too-large")
    if 400 <= status < 500 and status not in _PASSING:
        return ValidationFailed(
            "The chat server refused the request.",
            reason="chat-no-such-model" if status == 404 else "chat-refused",
            status=status,
        )
    return Unavailable(
        "The chat server could not answer.",
        reason="chat-failed",
        retry_after=retry_after(headers),
        status=status,
    )


def is_fault(problem: CairnError) -> bool:
    """Return whether the server is ill; one that is busy or refuses the key is well enough."""
    return isinstance(problem, Unavailable) and problem.reason in _FAULTS


def is_passing(problem: BaseException) -> bool:
    """Return whether the same request may succeed soon: busy, ill, cut off, or too slow."""
    silent = isinstance(problem, Unavailable) and problem.reason in _SILENT
    return silent or has_passing_status(problem)


def unreachable() -> Unavailable:
    """Return the error for a server that did not answer, or stopped in the middle."""
    return Unavailable("The chat server did not answer.", reason="chat-unreachable")


def too_slow() -> Unavailable:
    """Return the error for a server that did not answer in time."""
    return Unavailable("The chat server did not answer in time.", reason="chat-timeout")


@contextmanager
def uncut() -> Generator[None]:
    """Turn what a connection raises that breaks in the middle of a stream into `unreachable`.

    The packages translate what fails before a stream begins and let the rest through as it is.
    """
    try:
        yield
    except (CairnError, ValueError):
        raise
    except Exception as problem:
        if type(problem).__module__.startswith("httpx") or isinstance(problem, AssertionError):
            raise unreachable() from None
        raise


def malformed() -> Unavailable:
    """Return the error for an answer that is not of the documented shape."""
    return Unavailable("The chat server's answer could not be read.", reason="chat-malformed")


def retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds the server asks for, between 1 and 60; a date counts as 1."""
    header = headers.get("retry-after", "")
    return min(60.0, max(1.0, float(header))) if _SECONDS.fullmatch(header) else 1.0


def sendable(text: str) -> str:
    """Return `text` as UTF-8 can carry it: lone surrogates become question marks."""
    return text.encode("utf-8", errors="replace").decode("utf-8")


def count(tokens: object) -> int:
    """Return a count of tokens as the server says it; 0 for anything but a positive integer."""
    return tokens if isinstance(tokens, int) and tokens > 0 else 0


def model_name(value: object, fallback: str) -> str:
    """Return the model the server says it used, the one asked for when it says nothing."""
    return value[:LONGEST_NAME] if isinstance(value, str) and value else fallback


class Closable(Protocol):
    """A package's client, with its connections."""

    def close(self) -> None: ...


ClientT = TypeVar("ClientT", bound=Closable)


class WireChat(ABC, Generic[ClientT]):
    """Holds the client of a package, which is opened with the first request.

    `own_url` is the maker's own server, asked when no other is named.
    """

    provider: str
    own_url: ClassVar[str]

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str | None = None,
        timeout_s: float = TIMEOUT_SECONDS,
        retries: int = 0,
    ) -> None:
        self._api_key = api_key
        self._base_url = base_url or self.own_url
        self._timeout_s = timeout_s
        self._retries = retries
        self._lock = Lock()
        self._client: ClientT | None = None

    def supports(self, purpose: Purpose) -> bool:
        """Return True: a chat model answers anything."""
        return True

    @abstractmethod
    def chat(self, request: ChatRequest, *, model: str) -> ChatAnswer:
        """As `ChatModel`."""

    def load(self) -> None:
        """Import the package now, which takes seconds, so that the first request does not wait."""
        self._ready()

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _ready(self) -> ClientT:
        with self._lock:
            if self._client is None:
                self._client = self._opened()
            return self._client

    @abstractmethod
    def _opened(self) -> ClientT:
        """Import the package and return its client."""
