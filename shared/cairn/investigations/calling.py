"""The call itself: one way to the host for rehearsals and for what was allowed. Not the rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.connectors.port import ConnectorUnavailable, OutcomeUnknown, ToolCall
from cairn.kernel.errors import BudgetExceeded, CairnError
from cairn.kernel.ids import derived_id
from cairn.safety.tools import Lane

if TYPE_CHECKING:
    from uuid import UUID

    from cairn.connectors.port import ToolHost, ToolResult
    from cairn.investigations.ports import ActionRow, Connectors
    from cairn.investigations.situation import Situation
    from cairn.safety.pipeline import Ready
    from cairn.safety.tools import Manifest, ToolSpec

SECONDS = 30.0
SHORTEST = 1.0
CRASHED = "connector-crashed"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTool:
    """Calls a tool through the host, waiting no longer than the investigation's time.

    What may be repeated (reads, and tools that deduplicate by the key) is, once, when a connector
    crashed or did not answer. Raises as `ToolHost.call`.
    """

    host: ToolHost
    seconds: float = SECONDS

    def __call__(self, situation: Situation, ready: Ready) -> ToolResult:
        """Return what the tool said."""
        call = self._call(situation, ready)
        try:
            return self.host.call(ready.workspace_id, call)
        except (OutcomeUnknown, ConnectorUnavailable) as problem:
            if not _once_more(problem, ready) or _is_spent(situation):
                raise
            return self._again(ready, call, problem)

    def _again(
        self, ready: Ready, call: ToolCall, first: OutcomeUnknown | ConnectorUnavailable
    ) -> ToolResult:
        """Call once more; what was not known before stays unknown when there is no answer now."""
        try:
            return self.host.call(ready.workspace_id, call)
        except CairnError as second:
            if isinstance(first, OutcomeUnknown):
                raise first from second
            raise

    def _call(self, situation: Situation, ready: Ready) -> ToolCall:
        key = ready.action.id
        if ready.dry_run:  # a rehearsal must not be taken for the call it rehearses
            key = derived_id(key, "rehearsal")
        left = situation.persona.max_seconds - situation.budget.spent.seconds
        return ToolCall(
            connector=ready.action.connector,
            tool=ready.action.tool,
            arguments=ready.action.arguments,
            idempotency_key=key if ready.tool.lane is Lane.WRITE else None,
            dry_run=ready.dry_run,
            seconds=max(SHORTEST, min(self.seconds, left)),
            traceparent=situation.investigation.traceparent,
            manifest_hash=ready.manifest_hash,
        )


def _once_more(problem: OutcomeUnknown | ConnectorUnavailable, ready: Ready) -> bool:
    if isinstance(problem, OutcomeUnknown):
        return ready.dry_run or repeatable(ready.tool)
    return problem.reason == CRASHED


def _is_spent(situation: Situation) -> bool:
    try:
        situation.budget.check()
    except BudgetExceeded:
        return True
    return False


def may_repeat(connectors: Connectors, workspace_id: UUID, row: ActionRow) -> bool:
    """Return whether a call on record can be made again, its tool being declared as it is now."""
    if row.lane == Lane.READ or row.dry_run:
        return True
    found = manifest_of(connectors, workspace_id, row.connector)
    tool = found.tool(row.tool) if found is not None else None
    return tool is not None and repeatable(tool)


def manifest_of(connectors: Connectors, workspace_id: UUID, name: str) -> Manifest | None:
    """Return what a connector of the catalogue declares now, if it was ever listed."""
    every = connectors.connectors(workspace_id)
    return next((one.manifest for one in every if one.name == name), None)


def repeatable(tool: ToolSpec) -> bool:
    """Return whether a call that may have happened can be made again under the same key."""
    return tool.lane is Lane.READ or tool.deduplicates
