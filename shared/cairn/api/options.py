"""What a deployment may choose of the API, and how its streams are paced."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

from cairn.kernel.errors import RateLimited, Unavailable
from cairn.kernel.metrics import Metrics, untold

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from cairn.api.fairness import Limits


ALL, WAIT = "all", 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often a stream looks, tells that it lives, asks whether its key is still good; seconds.

    After `longest` it ends, and its reader comes back with the last id.
    """

    look: float = 0.5
    heartbeat: float = 15.0
    admission: float = 60.0
    longest: float = 3_600.0
    patience: float = 60.0


@dataclass(slots=True)
class OpenStreams:
    """How many streams this process has open."""

    most: int = 100
    now: int = 0

    def check(self) -> None:
        """Raise Unavailable when there is no room for another."""
        if self.now >= self.most:
            raise Unavailable("Too many streams are open; poll the steps.", retry_after=WAIT)

    def hold(self) -> Callable[[], None]:
        """Take a place, and return what gives it back; of the event loop alone."""
        self.now += 1
        return self._leave

    def _leave(self) -> None:
        self.now -= 1


@dataclass(slots=True)
class CustomerStreams:
    """Streams of customers that this process has open; of a session and an address a part."""

    most: int = 300
    of_address: int = 40
    of_session: int = 4
    now: Counter[object] = field(default_factory=Counter[object])
    lock: Lock = field(default_factory=Lock)

    def take(self, session_id: UUID, network: str) -> Callable[[], None]:
        """Take a place, and return what gives it back.

        RateLimited where the session or the network it is asked from has its part already,
        Unavailable when there is none for anybody.
        """
        with self.lock:
            if self.now[session_id] >= self.of_session or self.now[network] >= self.of_address:
                raise RateLimited(
                    "Too many of your streams are open; close one, or poll.",
                    retry_after=WAIT,
                    reason="chat-streams",
                )
            if self.now[ALL] >= self.most:
                raise Unavailable("Too many streams are open; poll.", retry_after=WAIT)
            self.now.update((ALL, session_id, network))
        return partial(self._leave, session_id, network)

    def _leave(self, session_id: UUID, network: str) -> None:
        with self.lock:
            self.now -= Counter((ALL, session_id, network))


@dataclass(slots=True)
class ChatThreads:
    """How many turns of chats this process works on; of a workspace a part, for its neighbours."""

    most: int = 64
    of_workspace: int = 16
    now: Counter[UUID] = field(default_factory=Counter["UUID"])
    lock: Lock = field(default_factory=Lock)

    def take(self, workspace_id: UUID) -> None:
        """Take a place; raise Unavailable when there is none. Nothing was begun then."""
        with self.lock:
            if self.now.total() >= self.most or self.now[workspace_id] >= self.of_workspace:
                raise Unavailable("Too many chats are being answered; try again.", retry_after=5.0)
            self.now[workspace_id] += 1

    def leave(self, workspace_id: UUID) -> None:
        """Give a place back."""
        with self.lock:
            self.now -= Counter({workspace_id: 1})


BUILT_IN = "built-in"
"""The issuer of a laptop: this process itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiOptions:
    """What a deployment may choose. Sizes are in bytes.

    `cors_origins` empty means CORS is off. `mcp_hosts` are the Host headers that /mcp answers, such
    as `127.0.0.1:*`, against DNS rebinding on a laptop; empty means any. `sites_url` is where sites
    are served: its host serves nothing else, no other host serves them. `issuer` signs clients of
    MCP in: with tokens for `audiences`, the first of which is this server's name, when somebody
    else does; `token_scopes` are what clients are told to ask for. Bodies are at most 4 MiB
    and answers 5 MiB so that both fit a Lambda invocation (6 MB, less base64). `request_threads`
    is how many requests a server works on at once; None leaves it to the framework. `fairness` is
    what a server works on at once of each workspace; None for a function, which serves one.
    `console_url` is the origin that people open the pages at; empty: only a laptop knows its own.
    `sign_in_issuer` signs people in to them, and so does the provider whose metadata are at
    `sign_in_saml`.
    `edge_secrets` are what the deployment's front proves itself with, `edge_only` refuses what does
    not come through it: see `api.edge`.
    `metrics_token` opens `/metrics`; None: there is no such path.
    """

    cors_origins: tuple[str, ...] = ()
    mcp_hosts: tuple[str, ...] = ()
    console_url: str = ""
    sites_url: str = ""
    sign_in_issuer: str = ""
    sign_in_saml: str = ""
    issuer: str | None = None
    audiences: tuple[str, ...] = ()
    token_scopes: tuple[str, ...] = ()
    max_body_bytes: int = 4 * 1024 * 1024
    max_answer_bytes: int = 5 * 1024 * 1024
    request_threads: int | None = None
    fairness: Limits | None = None
    pace: Pace = field(default_factory=Pace)
    open_streams: OpenStreams = field(default_factory=OpenStreams)
    chat_threads: ChatThreads = field(default_factory=ChatThreads)
    edge_secrets: tuple[str, ...] = field(default=(), repr=False)
    edge_only: bool = False
    metrics: Metrics = untold
    metrics_token: str | None = field(default=None, repr=False)
