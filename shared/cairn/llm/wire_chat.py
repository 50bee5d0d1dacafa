"""What all chat clients are around their package: settings, one client for all threads, closing.

Not the requests and answers: those are each package's own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from threading import Lock
from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, TypeVar

from cairn.llm.wire import TIMEOUT_SECONDS

if TYPE_CHECKING:
    from cairn.llm.port import ChatAnswer, ChatRequest, Purpose


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
