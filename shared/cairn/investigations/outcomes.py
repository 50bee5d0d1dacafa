"""What came of a call, as the next state, the record and the entries of the ledger. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from cairn.connectors.directory import Manifests
from cairn.connectors.port import (
    ConnectorUnauthorised,
    ConnectorUnavailable,
    ConnectorView,
    OutcomeUnknown,
    ToolCall,
)
from cairn.investigations.ports import ActionState, Change, Fact
from cairn.investigations.run.moving import halted, handed_over
from cairn.investigations.state import State, Step, Verdict, seen_of
from cairn.investigations.tool_calls import MAX_OUTPUT_CHARS, cut, sealed_output
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import BudgetExceeded, CairnError
from cairn.kernel.ids import derived_id
from cairn.safety.pipeline import decided
from cairn.safety.tools import Criticality, Lane

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.connectors.host import Host
    from cairn.connectors.port import ToolResult
    from cairn.investigations.ports import ActionRow, Connectors, Effect, Situation
    from cairn.investigations.state import WorkingMemory
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.safety.action import Action
    from cairn.safety.pipeline import Attempt, Ready
    from cairn.safety.tools import Manifest, ToolSpec
    from cairn.writing.writer import Write


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredConnectors:
    """Implements `Connectors`; one whose tools were never listed offers none."""

    transactions: Transactions[Stores]
    manifests: Manifests = field(default_factory=Manifests)

    def connectors(self, workspace_id: UUID) -> Sequence[ConnectorView]:
        """Return the workspace's connectors with the manifests last seen."""
        with self.transactions.reading(system_principal(workspace_id)) as stores:
            every = stores.connectors.all()
        return [
            ConnectorView(
                name=item.connector.name, state=item.health.state, manifest=self.manifests(item)
            )
            for item in every
        ]


SECONDS = 30.0
SHORTEST = 1.0
CRASHED = "connector-crashed"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallTool:
    """Calls a tool through the host, waiting no longer than the investigation's time.

    What may be repeated (reads, and tools that deduplicate by the key) is, once, when a connector
    crashed or did not answer. Raises as `ToolHost.call`.
    """

    host: Host
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
    manifest = manifest_of(connectors, workspace_id, row.connector)
    tool = manifest.tool(row.tool) if manifest is not None else None
    return tool is not None and repeatable(tool)


def manifest_of(connectors: Connectors, workspace_id: UUID, name: str) -> Manifest | None:
    """Return what a connector of the catalogue declares now, if it was ever listed."""
    every = connectors.connectors(workspace_id)
    return next((item.manifest for item in every if item.name == name), None)


def repeatable(tool: ToolSpec) -> bool:
    """Return whether a call that may have happened can be made again under the same key."""
    return tool.lane is Lane.READ or tool.deduplicates


MAX_RESULT_CHARS = 20_000
"""Of a result in working memory; what models see of it is shorter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """How an action ended, for its record."""

    state: ActionState
    text: str
    is_error: bool = False
    error: str | None = None
    dry_run: bool = False


def came_back(situation: Situation, attempt: Attempt, criticality: Criticality) -> Change:
    """Return OBSERVING with what a call brought back, or where its failure leads."""
    dry_run = decided(attempt).dry_run
    memory = replace(situation.memory, vault=attempt.vault)
    situation = replace(situation, memory=memory)
    if attempt.error is not None:
        return _failed(situation, attempt.action, attempt.error, criticality, dry_run=dry_run)
    result = cast("ToolResult", attempt.result)
    state = ActionState.FAILED if result.is_error else ActionState.APPLIED
    end = End(
        state=state,
        text=attempt.text,
        is_error=result.is_error,
        error="tool-error" if result.is_error else None,
        dry_run=dry_run,
    )
    return _observed(situation, attempt.action, end, ms=result.ms, meta=_result_fields(result))


def lost(memory: WorkingMemory, action: Action, dry_run: bool, *, code: str) -> Change:
    """Return VERDICT: the call may have happened, nobody knows, and a person has to look."""
    why = f"Nobody knows whether {action.key} happened: a person has to look before it is repeated."
    end = End(state=ActionState.UNKNOWN, text="", error=code, dry_run=dry_run)
    memory = observed(memory, end, "The call was sent and no answer came.")
    change = handed_over(memory, why, code="outcome-unknown", action="unknown")
    fact, effect = ended(action, end)
    return replace(change, facts=(fact,), effects=(effect,))


def in_the_air(row: ActionRow) -> bool:
    """Return whether an earlier process may have made this call, and it may have changed things."""
    return row.state is ActionState.STARTED and row.lane != Lane.READ and not row.dry_run


def taken_up(situation: Situation, row: ActionRow, text: str) -> Change:
    """Return OBSERVING for an action that ended when nobody took note of it."""
    action = situation.memory.pending
    if action is None:
        raise RuntimeError("an action is taken up that is not pending")
    end = End(state=row.state, text=text, is_error=row.is_error, dry_run=row.dry_run)
    line = Step(
        system=action.key, action="taken_up", detail=_outcome_sentence(action, end), kind="action"
    )
    return Change(
        target=State.OBSERVING, memory=observed(situation.memory, end, text), lines=(line,)
    )


def _failed(
    situation: Situation,
    action: Action,
    error: CairnError,
    criticality: Criticality,
    *,
    dry_run: bool,
) -> Change:
    """Return what follows a call that did not happen, or was refused by its connector."""
    end = End(
        state=ActionState.FAILED,
        text=error.detail,
        is_error=True,
        error=error.reason,
        dry_run=dry_run,
    )
    change = _observed(situation, action, end, ms=0, meta={})
    if isinstance(error, ConnectorUnauthorised):
        return _signed_out(situation, action, change)
    if isinstance(error, ConnectorUnavailable) and criticality is Criticality.HALT:
        why = f"The connector {action.connector} does not run, and nothing goes on without it."
        stop = halted(change.memory, Verdict.NEEDS_TECH, why, code=error.reason)
        return _instead(change, stop)
    return change


def _signed_out(situation: Situation, action: Action, change: Change) -> Change:
    """Return VERDICT: a person renews the connector's sign-in, and the ticket comes back then."""
    name = action.connector
    why = (
        f"The connector {name} is not signed in any more. "
        f"Renew its secrets with `cairn connectors set {name} --secret NAME`."
    )
    handed = handed_over(change.memory, why, code="connector-unauthorised", action="signed_out")
    ticket_id = situation.investigation.ticket_id

    def park(write: Write) -> None:
        write.stores.tickets.park(ticket_id, f"connector:{name}")

    handed = _instead(change, handed)
    return replace(handed, effects=(*handed.effects, park))


def _instead(change: Change, other: Change) -> Change:
    """Return `other` with what `change` says and writes before it."""
    return replace(
        other, lines=(*change.lines, *other.lines), facts=change.facts, effects=change.effects
    )


def _observed(
    situation: Situation, action: Action, end: End, *, ms: int, meta: dict[str, Any]
) -> Change:
    line = Step(
        system=action.key,
        action=end.state.value,
        detail=_outcome_sentence(action, end),
        kind="action",
        ms=ms,
        citations=(f"[tool:{action.id}]",),
    )
    fact, effect = ended(action, end, meta)
    return Change(
        target=State.OBSERVING,
        memory=observed(situation.memory, end),
        lines=(line,),
        facts=(fact,),
        effects=(effect,),
    )


def ended(action: Action, end: End, meta: Mapping[str, Any] | None = None) -> tuple[Fact, Effect]:
    """Return the entry and the change of the record that say how an action ended."""

    def finish(write: Write) -> None:
        write.stores.actions.end(
            action.id,
            end.state,
            output=sealed_output(write, action.id, end.text),
            is_error=end.is_error,
            error=end.error,
            now=write.now,
        )

    fact = Fact(
        type=f"action.{end.state.value}",
        meta={
            "action_id": str(action.id),
            "dry_run": end.dry_run,
            "is_error": end.is_error,
            "error": end.error,
            **(meta or {}),
        },
        body={"action": action.key, "output": cut(end.text, MAX_OUTPUT_CHARS)},
    )
    return fact, finish


def observed(memory: WorkingMemory, end: End, text: str | None = None) -> WorkingMemory:
    """Return the memory with what came of its pending action, which is pending no more."""
    action = memory.pending
    if action is None:
        return memory
    line = cut(end.text if text is None else text, MAX_RESULT_CHARS)
    seen = seen_of(action, end.state.value, line, reason=end.error or "", dry_run=end.dry_run)
    return replace(memory, pending=None, observations=(*memory.observations, seen))


def _result_fields(result: ToolResult) -> dict[str, Any]:
    return {
        "ms": result.ms,
        "truncated": result.truncated,
        "simulated": result.simulated,
        "cached": result.cached,
        "manifest_hash": result.manifest_hash,
    }


def _outcome_sentence(action: Action, end: End) -> str:
    how = "as a dry run" if end.dry_run else ""
    text = " ".join(f"{action.key} {end.state.value} {how}".split())
    first = cut(" ".join(end.text.split()), 300)
    return f"{text}: {first}" if first else f"{text}."
