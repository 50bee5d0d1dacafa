"""Calls the tools of a workspace's connectors. Not the rules of safety: they come before.

What a call may do again after a crash, and what nobody knows afterwards, is decided in `_asked`.
Nothing of the SDK is loaded before the first connector starts.
"""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Any

from cairn.connectors import lifecycle
from cairn.connectors.arguments import check_arguments, read_answer
from cairn.connectors.connection import HANDSHAKE_SECONDS, Keeper
from cairn.connectors.connector import arguments_digest
from cairn.connectors.directory import Manifests
from cairn.connectors.manifest import DRY_RUN, HEALTHCHECK, IDEMPOTENCY_KEY, KEY_META
from cairn.connectors.port import (
    ConnectorState,
    ConnectorUnauthorised,
    ConnectorUnavailable,
    ConnectorView,
    OutcomeUnknown,
    ToolCall,
    ToolResult,
    whole_words,
)
from cairn.connectors.reports import (
    Fault,
    Lost,
    NotSent,
    NotStarted,
    Refused,
    Reports,
    TimedOut,
    Unauthorised,
    no_answer,
    unavailable,
)
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.errors import NotFound, ValidationFailed
from cairn.kernel.metrics import Metric, untold
from cairn.kernel.spans import Kind, span
from cairn.kernel.traces import current
from cairn.safety.tools import Lane

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from uuid import UUID

    from cairn.connectors.connection import Connection
    from cairn.connectors.connector import Listing, Registered, Wires
    from cairn.connectors.directory import StoreDirectory
    from cairn.connectors.lifecycle import Health
    from cairn.kernel.clock import Clock, Stopwatch
    from cairn.kernel.metrics import Metrics
    from cairn.kernel.spans import Span
    from cairn.safety.tools import Manifest, ToolSpec


MAX_SHOWN = 4_000


def simulated(call: ToolCall, manifest: Manifest) -> ToolResult:
    """Return what would be sent. Nothing is; what it would do is not known."""
    shown = json.dumps(call.arguments, ensure_ascii=False, indent=1, sort_keys=True)
    if len(shown) > MAX_SHOWN:
        shown = whole_words(shown[:MAX_SHOWN]) + "…"
    return ToolResult(
        text=(
            f"[simulated by cairn: {call.connector}.{call.tool} has no dry run of its own]\n"
            f"It would be called with:\n{shown}\n"
            "The arguments fit its schema. Nothing was sent, and what it would do is not known."
        ),
        simulated=True,
        manifest_version=manifest.version,
        manifest_hash=manifest.hash,
    )


SECONDS = 60.0
MOST = 200

Key = tuple["UUID", str, str, str, str]
"""Workspace, connector, tool, what runs at which manifest, the arguments' digest."""


@dataclass(slots=True)
class ResultCache:
    """At most `MOST` results, the least recently kept leaving first. Safe between threads."""

    stopwatch: Stopwatch
    _kept: OrderedDict[Key, tuple[float, ToolResult]] = field(
        default_factory=OrderedDict[Key, "tuple[float, ToolResult]"]
    )
    _lock: Lock = field(default_factory=Lock)

    def find(self, key: Key) -> ToolResult | None:
        """Return a result of the last 60 s, marked as kept."""
        with self._lock:
            at, result = self._kept.get(key, (None, None))
            if at is None or result is None:
                return None
            if self.stopwatch() - at >= SECONDS:
                del self._kept[key]
                return None
            return replace(result, cached=True, ms=0)

    def keep(self, key: Key, result: ToolResult) -> None:
        """Keep a result from now on."""
        with self._lock:
            self._kept[key] = (self.stopwatch(), result)
            self._kept.move_to_end(key)
            while len(self._kept) > MOST:
                self._kept.popitem(last=False)

    def forget(self, workspace_id: UUID, connector: str) -> None:
        """Drop what a connector said: something was written through it, or it has changed."""
        with self._lock:
            for key in [item for item in self._kept if item[:2] == (workspace_id, connector)]:
                del self._kept[key]


HEALTHCHECK_SECONDS = 8.0

Worded = tuple[dict[str, Any], dict[str, Any]]
"""The arguments and the `_meta` of a call, with what is the host's to give."""


@dataclass(slots=True, kw_only=True)
class Host:
    """Connectors and calls of their tools. One a process; `close` ends what it started."""

    directory: StoreDirectory
    wires: Wires
    clock: Clock = utc_now
    stopwatch: Stopwatch = monotonic
    pause: Callable[[float], None] = time.sleep
    metrics: Metrics = untold
    handshake_seconds: float = HANDSHAKE_SECONDS
    _reports: Reports = field(init=False)
    _keeper: Keeper = field(init=False)
    _cache: ResultCache = field(init=False)
    _manifests: Manifests = field(init=False, default_factory=Manifests)

    def __post_init__(self) -> None:
        self._reports = Reports(directory=self.directory, clock=self.clock)
        self._cache = ResultCache(self.stopwatch)
        self._keeper = Keeper(
            wires=self.wires,
            reports=self._reports,
            stopwatch=self.stopwatch,
            pause=self.pause,
            handshake_seconds=self.handshake_seconds,
        )

    def connectors(self, workspace_id: UUID) -> Sequence[ConnectorView]:
        """Return the workspace's connectors with their manifests; starts those never seen."""
        return [self._view(workspace_id, item) for item in self.directory.all(workspace_id)]

    def call(self, workspace_id: UUID, call: ToolCall) -> ToolResult:
        """Call a tool and return its result.

        Raises NotFound for a connector or tool that is none, ValidationFailed when arguments do
        not satisfy the tool's schema, ConnectorUnavailable, OutcomeUnknown, ConnectorUnauthorised.
        """
        outcome = "refused"
        try:
            with tool_span(workspace_id, call) as measured:
                result = self._called(workspace_id, replace(call, traceparent=measured.traceparent))
                outcome = "failed" if result.is_error else "cached" if result.cached else "done"
                measured.put({"cairn.outcome": outcome})
            return result
        except (ConnectorUnavailable, OutcomeUnknown, ConnectorUnauthorised) as exc:
            outcome = exc.reason
            raise
        finally:
            labels = {"connector": call.connector, "tool": call.tool, "outcome": outcome}
            self.metrics(Metric.CONNECTOR_CALLS, 1, workspace=workspace_id, **labels)

    def check(self, workspace_id: UUID, name: str) -> Health:
        """Look whether a connector is well, keep how it is, and return that. For the schedule.

        It is started when it does not run, lists its tools anew, and its `healthcheck` is called. A
        good one ends a degradation, unless what it lists has changed under an old version.
        """
        registered = self._find_connector(workspace_id, name)
        try:
            self._examine(workspace_id, registered)
        except (ConnectorUnavailable, ConnectorUnauthorised):
            pass  # the reason was kept
        except Fault as fault:
            self._reports.failed(workspace_id, registered, fault)
        else:
            self._reports.mended(workspace_id, registered)
        health = self._find_connector(workspace_id, name).health
        self._tell(workspace_id, name, well=health.is_well)
        return health

    def restart(self, workspace_id: UUID, name: str) -> None:
        """End a connector of this process and start it again; raises what starting raises."""
        registered = self._find_connector(workspace_id, name)
        self._cache.forget(workspace_id, name)
        self._keeper.renewed(workspace_id, registered, anew=True)
        self._reports.mended(workspace_id, registered)

    def drop(self, workspace_id: UUID, connector_id: UUID, name: str) -> None:
        """End a connector that was removed or changed."""
        self._cache.forget(workspace_id, name)
        self._keeper.drop(workspace_id, connector_id)

    def close(self) -> None:
        """End every connector: each has 10 s for what is in flight, and 10 s to go."""
        self._keeper.close()

    def _called(self, workspace_id: UUID, call: ToolCall) -> ToolResult:
        registered = self._find_connector(workspace_id, call.connector)
        if registered.health.is_degraded:
            raise unavailable("connector-degraded", call.connector)
        registered, manifest = self._manifest(workspace_id, registered)
        if call.manifest_hash not in (None, manifest.hash):
            raise unavailable("connector-changed", call.connector)
        spec = _spec(call, manifest)
        check_arguments(spec, call.arguments)
        if spec.lane is Lane.READ:
            return self._read(workspace_id, registered, call, manifest)
        if call.dry_run and not spec.supports_dry_run:
            return simulated(call, manifest)
        if not call.dry_run and call.idempotency_key is None:
            raise ValidationFailed("A call that writes needs an idempotency key.", tool=spec.key)
        try:
            return self._send_with_retry(workspace_id, registered, call, manifest)
        finally:
            self._cache.forget(workspace_id, call.connector)

    def _read(
        self, workspace_id: UUID, registered: Registered, call: ToolCall, manifest: Manifest
    ) -> ToolResult:
        digest = arguments_digest(call.arguments)
        runs = f"{manifest.hash}/{registered.connector.id}/{registered.connector.revision}"
        key = (workspace_id, call.connector, call.tool, runs, digest)
        result = self._cache.find(key)
        if result is None:
            result = self._send_with_retry(workspace_id, registered, call, manifest)
            if not result.is_error:
                self._cache.keep(key, result)
        return result

    def _send_with_retry(
        self, workspace_id: UUID, registered: Registered, call: ToolCall, manifest: Manifest
    ) -> ToolResult:
        """Send the call; once more after a crash, where that cannot make it happen twice."""
        harmless = _is_harmless(call, manifest)
        repeatable = harmless or _spec(call, manifest).deduplicates
        worded = _worded(call, registered.listing)
        sent = False
        for again in (False, True):
            try:
                if again:
                    registered = self._find_connector(workspace_id, call.connector)
                return self._sent(workspace_id, registered, call, manifest, worded)
            except Unauthorised:
                refused = self._reports.unauthorised(workspace_id, registered, runs=True)
                if sent and not harmless:  # only the repeat was refused
                    raise no_answer("connector-crashed", call, harmless=False) from None
                raise refused from None
            except TimedOut:
                self._reports.timed_out(workspace_id, registered)
                raise no_answer("tool-timeout", call, harmless=harmless) from None
            except (ConnectorUnavailable, ConnectorUnauthorised, NotFound):
                if sent and not harmless:  # it was sent, and now it cannot be asked again
                    raise no_answer("connector-crashed", call, harmless=False) from None
                raise
            except (Lost, NotSent) as fault:
                sent = sent or isinstance(fault, Lost)
                self._reports.failed(workspace_id, registered, fault)
                if sent and not repeatable:
                    break
        raise no_answer("connector-crashed", call, harmless=harmless or not sent)

    def _sent(
        self,
        workspace_id: UUID,
        registered: Registered,
        call: ToolCall,
        manifest: Manifest,
        worded: Worded,
    ) -> ToolResult:
        if registered.health.is_degraded:
            raise unavailable("connector-degraded", call.connector)
        only_once = not (_is_harmless(call, manifest) or _spec(call, manifest).deduplicates)
        due = lifecycle.is_due(registered.health, self.clock())
        connection = self._keeper.running(workspace_id, registered, ask=only_once)
        if connection.listed != manifest.hash:
            raise unavailable("connector-changed", call.connector)
        if due and not connection.in_flight:  # one that is at work has no time for it
            registered = self._checked(workspace_id, registered, connection)
        begun = self.stopwatch()
        result = self._call_tool(connection, call, worded)
        answer = read_answer(result)
        if answer.is_unauthorised:
            raise Unauthorised
        self._reports.well(workspace_id, registered)
        if answer.is_unknown and not _is_harmless(call, manifest):
            raise no_answer("tool-timeout", call, harmless=False)
        return ToolResult(
            text=answer.text,
            is_error=answer.is_error,
            truncated=answer.truncated,
            ms=round((self.stopwatch() - begun) * 1000),
            manifest_version=manifest.version,
            manifest_hash=manifest.hash,
        )

    def _call_tool(self, connection: Connection, call: ToolCall, worded: Worded) -> dict[str, Any]:
        arguments, meta = worded
        try:
            return connection.call(call.tool, arguments, meta, call.seconds)
        except Refused as refused:
            return {"content": [{"type": "text", "text": refused.detail}], "isError": True}
        except Fault as fault:
            connection.suspect = True
            connection.broken = isinstance(fault, Lost | NotSent)
            raise
        finally:
            connection.used_at = self.stopwatch()

    def _checked(
        self, workspace_id: UUID, registered: Registered, connection: Connection
    ) -> Registered:
        """Check one before a call; NotSent when it is not well: it is started anew then."""
        name, well = registered.connector.name, False
        try:
            _ping(connection)
            self._ask_health(workspace_id, registered, connection)
            self._reports.checked(workspace_id, registered)
            registered = self._find_connector(workspace_id, name)
            well = registered.health.is_well
        except Unauthorised:
            raise
        except Fault as fault:
            connection.suspect = connection.broken = True
            raise NotSent(fault.detail or "it did not answer its health check") from None
        finally:
            self._tell(workspace_id, name, well=well)
        return registered

    def _examine(self, workspace_id: UUID, registered: Registered) -> None:
        anew = registered.health.is_degraded
        connection = self._keeper.renewed(
            workspace_id, registered, anew=anew
        )  # it listed its tools
        self._ask_health(workspace_id, registered, connection)

    def _ask_health(
        self, workspace_id: UUID, registered: Registered, connection: Connection
    ) -> None:
        """Call the tool `healthcheck` when there is one."""
        if all(tool["name"] != HEALTHCHECK for tool in connection.session.tools):
            return
        answer = read_answer(connection.call(HEALTHCHECK, {}, {}, HEALTHCHECK_SECONDS))
        if answer.is_unauthorised:
            raise self._reports.unauthorised(workspace_id, registered, runs=True)
        if answer.is_error:
            raise NotStarted(f"its health check failed: {answer.text[:300]}")

    def _tell(self, workspace_id: UUID, name: str, *, well: bool) -> None:
        labels = {"workspace": workspace_id, "connector": name}
        self.metrics(Metric.CONNECTOR_HEALTH, float(well), **labels)

    def _view(self, workspace_id: UUID, registered: Registered) -> ConnectorView:
        manifest: Manifest | None = None
        try:
            registered, manifest = self._manifest(workspace_id, registered)
        except (ConnectorUnavailable, ConnectorUnauthorised):
            registered = self._find_connector(workspace_id, registered.connector.name)
        state = registered.health.state
        busy = self._keeper.is_busy(workspace_id, registered.connector.id)
        if busy and state is ConnectorState.READY:
            state = ConnectorState.BUSY
        return ConnectorView(name=registered.connector.name, state=state, manifest=manifest)

    def _manifest(self, workspace_id: UUID, registered: Registered) -> tuple[Registered, Manifest]:
        """Return what a connector listed last, starting one that never did."""
        name = registered.connector.name
        if registered.listing is None:
            if registered.health.is_degraded:
                raise unavailable("connector-degraded", name)
            self._keeper.running(workspace_id, registered)
            registered = self._find_connector(workspace_id, name)
        manifest = self._manifests(registered)
        if manifest is None:
            raise unavailable("connector-not-started", name)
        return registered, manifest

    def _find_connector(self, workspace_id: UUID, name: str) -> Registered:
        registered = self.directory.find(workspace_id, name)
        if registered is None:
            raise NotFound("There is no such connector.", reason="connector", connector=name)
        return registered


def _ping(connection: Connection) -> None:
    try:
        connection.ping()
    except Refused:  # it does not know pings: it is there
        connection.suspect = False


def _spec(call: ToolCall, manifest: Manifest) -> ToolSpec:
    spec = manifest.tool(call.tool)
    if spec is None:
        raise NotFound("The connector has no such tool.", reason="tool", tool=call.tool)
    return spec


def _is_harmless(call: ToolCall, manifest: Manifest) -> bool:
    """Return whether a call changes nothing, however often it is made."""
    return call.dry_run or _spec(call, manifest).lane is Lane.READ


def tool_span(workspace_id: UUID, call: ToolCall) -> AbstractContextManager[Span]:
    """Measure a call of a tool, by OpenTelemetry's conventions for generative AI."""
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.tool,
        "gen_ai.tool.type": "extension",
        "cairn.connector": call.connector,
        "cairn.dry_run": call.dry_run,
        "cairn.workspace_id": str(workspace_id),
    }
    parent = current() or call.traceparent
    return span(f"execute_tool {call.tool}", attributes, kind=Kind.CLIENT, parent=parent)


def _worded(call: ToolCall, listing: Listing | None) -> Worded:
    """Return the arguments and `_meta` of a call, with what is the host's to give."""
    arguments: dict[str, Any] = dict(call.arguments)
    meta: dict[str, Any] = {}
    accepted = listing.accepted(call.tool) if listing is not None else frozenset[str]()
    if call.dry_run and DRY_RUN in accepted:
        arguments[DRY_RUN] = True
    elif call.idempotency_key is not None:
        meta[KEY_META] = str(call.idempotency_key)
        if IDEMPOTENCY_KEY in accepted:
            arguments[IDEMPOTENCY_KEY] = str(call.idempotency_key)
    if call.traceparent is not None:
        meta["traceparent"] = call.traceparent
    return arguments, meta
