"""A session as the rest of the program sees it: synchronous, from any thread."""

from __future__ import annotations

from concurrent.futures import TimeoutError as NotDone
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, TypeVar

from cairn.connectors import lifecycle
from cairn.connectors.connector import Listing
from cairn.connectors.launching import said_secrets
from cairn.connectors.manifest import ManifestRefused, read_manifest
from cairn.connectors.port import ConnectorUnavailable, without
from cairn.connectors.reports import Fault, NotStarted, Refused, TimedOut, Unauthorised, unavailable
from cairn.kernel.errors import ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from concurrent.futures import Future
    from uuid import UUID

    from anyio.from_thread import BlockingPortal

    from cairn.connectors.connector import Registered, Wires
    from cairn.connectors.reports import Reports
    from cairn.connectors.session import Session
    from cairn.connectors.wires import Wire
    from cairn.kernel.clock import Stopwatch


T = TypeVar("T")


@dataclass(slots=True)
class Portal:
    """Starts its thread when it is first asked for something. Safe between threads."""

    _lock: Lock = field(default_factory=Lock)
    _portal: BlockingPortal | None = None
    _thread: Thread | None = None

    def run(self, seconds: float, ask: Callable[..., Awaitable[T]], *arguments: object) -> T:
        """Await `ask(*arguments)` over there and return what it returns.

        `ask` keeps its own time; after `seconds` nobody over there does anything any more, and
        TimedOut is raised.
        """
        future: Future[T] = self._entered().start_task_soon(ask, *arguments)
        try:
            return future.result(seconds)
        except NotDone:
            if future.done():
                raise
            future.cancel()
            raise TimedOut from None

    def start(self, task: Callable[..., Awaitable[Any]], *arguments: object) -> Future[Any]:
        """Let `task(*arguments)` run over there."""
        return self._entered().start_task_soon(task, *arguments)

    def close(self) -> None:
        """Stop the thread, once what runs there has ended."""
        with self._lock:
            portal, thread = self._portal, self._thread
            self._portal = self._thread = None
        if portal is not None and thread is not None:
            portal.start_task_soon(portal.stop, False)
            thread.join()

    def _entered(self) -> BlockingPortal:
        with self._lock:
            if self._portal is None:
                ready = Event()
                self._thread = Thread(target=self._serve, args=(ready,), name="mcp", daemon=True)
                self._thread.start()
                ready.wait()
            assert self._portal is not None
            return self._portal

    def _serve(self, ready: Event) -> None:
        import anyio
        from anyio.from_thread import BlockingPortal

        async def serve() -> None:
            async with BlockingPortal() as portal:
                self._portal = portal
                ready.set()
                await portal.sleep_until_stopped()

        anyio.run(serve)


IDLE_SECONDS = 5.0
"""A connection unused for so long is asked whether it lives before it is used: Lambda freezes."""
REST_SECONDS = 600.0
"""A connection unused for so long is ended."""
LONGEST_PAUSE = 2.0
"""Seconds a call waits for a restart; when it would be more, it is refused."""

Place = tuple["UUID", "UUID"]
"""Workspace and connector."""


@dataclass(slots=True)
class _Slot:
    """The place of one connector: what happens to it happens one thing after the other."""

    lock: Lock = field(default_factory=Lock)
    connection: Connection | None = None
    revision: int = 0


@dataclass(slots=True, kw_only=True)
class Keeper:
    """Keeps one connection for each (workspace, connector). Safe between threads."""

    wires: Wires
    reports: Reports
    stopwatch: Stopwatch
    pause: Callable[[float], None]
    handshake_seconds: float
    _portal: Portal = field(default_factory=Portal)
    _slots: dict[Place, _Slot] = field(default_factory=dict[Place, _Slot])
    _lock: Lock = field(default_factory=Lock)

    def running(
        self, workspace_id: UUID, registered: Registered, *, ask: bool = False
    ) -> Connection:
        """Return a connection that lives, starting the connector when there is none.

        With `ask` one that does nothing is asked whether it lives just before, however long ago it
        was used. Raises ConnectorUnavailable and ConnectorUnauthorised, with the reason kept.
        """
        slot = self._slot(workspace_id, registered.connector.id)
        with slot.lock:
            connection = slot.connection
            if connection is not None:
                revision = registered.connector.revision
                if not _lists(registered, connection) or slot.revision != revision:
                    registered = self._anew(workspace_id, registered)
                if ask and not connection.in_flight:  # one that is at work would be ended for it
                    connection.suspect = True
                if not self._is_good(connection, slot, registered):
                    self._end(slot)
                    connection = None
            if connection is None:
                registered = self._anew(workspace_id, registered)
                self._await_backoff(registered)
                connection = self._start(workspace_id, registered, slot)
            connection.used_at = self.stopwatch()
            return connection

    def renewed(self, workspace_id: UUID, registered: Registered, *, anew: bool) -> Connection:
        """Return a connection whose listing was looked at just now; always a new one if `anew`.

        There is no backoff: a person or the schedule asks. Raises what `running` raises.
        """
        slot = self._slot(workspace_id, registered.connector.id)
        with slot.lock:
            connection = slot.connection
            if (
                connection is not None
                and not anew
                and self._lists_the_same(connection, slot, registered)
            ):
                return connection
            self._end(slot)
            return self._start(workspace_id, registered, slot)

    def drop(self, workspace_id: UUID, connector_id: UUID) -> None:
        """End a connector that was removed or changed."""
        slot = self._slot(workspace_id, connector_id)  # it stays: another thread may wait for it
        with slot.lock:
            self._end(slot)

    def is_busy(self, workspace_id: UUID, connector_id: UUID) -> bool:
        """Return whether calls of this process wait for it."""
        slot = self._slots.get((workspace_id, connector_id))
        return bool(slot and slot.connection and slot.connection.in_flight)

    def close(self) -> None:
        """End every connector, each with 10 s for what is in flight and 10 s to go."""
        with self._lock:
            slots = list(self._slots.values())
        for slot in slots:
            with slot.lock:
                self._end(slot)
        self._portal.close()

    def _start(self, workspace_id: UUID, registered: Registered, slot: _Slot) -> Connection:
        connector, reports = registered.connector, self.reports
        launch = reports.directory.launch(workspace_id, connector)
        try:
            now = self.stopwatch()
            connection = connect(self._portal, self.wires(launch), now, self.handshake_seconds)
        except (ValidationFailed, NotStarted) as exc:
            failure = NotStarted(exc.detail and without(exc.detail, said_secrets(launch)))
            raise reports.not_started(workspace_id, registered, failure) from None
        except Unauthorised:
            raise reports.unauthorised(workspace_id, registered, runs=False) from None
        try:
            self._trust(workspace_id, registered, connection)
        except ConnectorUnavailable:
            connection.close()
            raise
        slot.connection, slot.revision = connection, connector.revision
        reports.well(workspace_id, registered)
        self._end_unused(slot)
        return connection

    def _trust(self, workspace_id: UUID, connector: Registered, connection: Connection) -> None:
        """Look at what it listed; ConnectorUnavailable when that may not be relied on."""
        trusted = connector.listing
        version, tools = connection.session.version, connection.session.tools
        try:
            manifest = read_manifest(connector.connector.name, version, tools)
        except ManifestRefused as exc:
            raise self.reports.held(workspace_id, connector, exc.reason, exc.detail) from None
        connection.listed = manifest.hash
        if trusted is None or trusted.version != version:
            listing = Listing(version=version, hash=manifest.hash, tools=tools)
            self.reports.directory.seen(workspace_id, connector.connector, listing)
        elif trusted.hash != manifest.hash:
            why = f"version {version} lists other tools than before"
            raise self.reports.held(workspace_id, connector, "manifest-changed", why)

    def _is_good(self, connection: Connection, slot: _Slot, connector: Registered) -> bool:
        stale = not _lists(connector, connection)
        if stale or slot.revision != connector.connector.revision or not connection.is_alive:
            return False
        if not connection.suspect and self.stopwatch() - connection.used_at <= IDLE_SECONDS:
            return True
        try:
            connection.ping()
        except Refused:  # it does not know pings: it is there
            connection.suspect = False
        except Fault:
            return False
        return True

    def _lists_the_same(self, connection: Connection, slot: _Slot, connector: Registered) -> bool:
        if not self._is_good(connection, slot, connector):
            return False
        name, version = connector.connector.name, connection.session.version
        try:
            return read_manifest(name, version, connection.listing()).hash == connection.listed
        except (Fault, ManifestRefused):
            return False

    def _anew(self, workspace_id: UUID, connector: Registered) -> Registered:
        """Return it as it stands now: others may have started it since, or failed to."""
        return self.reports.directory.find(workspace_id, connector.connector.name) or connector

    def _await_backoff(self, connector: Registered) -> None:
        if connector.health.is_degraded:
            raise unavailable("connector-degraded", connector.connector.name)
        seconds = lifecycle.wait(connector.health, self.reports.clock())
        if seconds > LONGEST_PAUSE:
            raise unavailable("connector-crashed", connector.connector.name, retry_after=seconds)
        if seconds > 0:
            self.pause(seconds)

    def _end_unused(self, slot: _Slot) -> None:
        with self._lock:
            others = [item for item in self._slots.values() if item is not slot]
        for other in others:
            if other.lock.acquire(blocking=False):
                try:
                    connection = other.connection
                    if connection and self.stopwatch() - connection.used_at > REST_SECONDS:
                        self._end(other)
                finally:
                    other.lock.release()

    def _slot(self, workspace_id: UUID, connector_id: UUID) -> _Slot:
        with self._lock:
            return self._slots.setdefault((workspace_id, connector_id), _Slot())

    @staticmethod
    def _end(slot: _Slot) -> None:
        if slot.connection is not None:
            slot.connection.close()
        slot.connection = None


def _lists(connector: Registered, connection: Connection) -> bool:
    return connector.listing is not None and connector.listing.hash == connection.listed


HANDSHAKE_SECONDS = 20.0
"""From the start of a process to its tools: a cold Lambda imports for several seconds."""
PING_SECONDS = 2.0
LIST_SECONDS = 10.0
SPARE = 15.0
"""Seconds beyond its own after which an event loop that does nothing any more is given up on."""


@dataclass(slots=True)
class Connection:
    """A running connector. `suspect` ones are asked whether they live before they are used,
    `broken` ones are not used again.
    """

    portal: Portal
    session: Session
    serving: Future[Any]
    used_at: float
    suspect: bool = False
    broken: bool = False
    listed: str = field(default="")
    """The hash of what it listed when it shook hands."""

    @property
    def is_alive(self) -> bool:
        """Return whether it may still answer, as far as can be seen without asking."""
        return self.session.is_alive and not self.broken and not self.session.relisted

    @property
    def in_flight(self) -> int:
        """Return how many calls wait for an answer."""
        return self.session.in_flight

    def call(
        self, name: str, arguments: dict[str, Any], meta: dict[str, Any], seconds: float
    ) -> dict[str, Any]:
        """Call a tool; raises the faults of `Session.call`."""
        limit = seconds + SPARE
        return self.portal.run(limit, self.session.call, name, arguments, meta, seconds)

    def ping(self) -> None:
        """Ask whether it is there; raises the faults of `Session.ping`."""
        self.portal.run(PING_SECONDS + SPARE, self.session.ping, PING_SECONDS)
        self.suspect = False

    def listing(self) -> list[dict[str, Any]]:
        """Return what it lists now; raises the faults of `Session.listing`."""
        return self.portal.run(LIST_SECONDS + SPARE, self.session.listing, LIST_SECONDS)

    def close(self) -> None:
        """Let it end: it has 10 s for what is in flight, and 10 s to go."""
        if not self.serving.done():
            self.portal.start(self.session.stop)


def connect(portal: Portal, wire: Wire, now: float, seconds: float) -> Connection:
    """Start a connector and shake hands; raises NotStarted or Unauthorised."""
    from cairn.connectors.session import Session  # loads the SDK

    begun, outcome = Event(), list[Fault | None]()

    def tell(fault: Fault | None) -> None:
        if not outcome:
            outcome.append(fault)
            begun.set()

    session = Session(wire)
    serving = portal.start(session.serve, seconds, tell)
    if not begun.wait(seconds + SPARE):
        portal.start(session.stop)
        raise NotStarted("its event loop stands still")
    if (fault := outcome[0]) is not None:
        raise fault
    return Connection(portal, session, serving, now)
