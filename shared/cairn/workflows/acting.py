"""The step that calls a tool: the whole line of safety, a person where it asks for one, one call.

That it is begun is committed before the call. What was begun and has no end is called again only
where that changes nothing: reads, and tools that deduplicate by their key.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from cairn.connectors.arguments import check_arguments
from cairn.connectors.port import OutcomeUnknown, ToolCall
from cairn.kernel.errors import Conflict, Denied, Unavailable
from cairn.kernel.ids import derived_id
from cairn.kernel.text.canonical import format_timestamp
from cairn.kernel.text.scrub import scrub
from cairn.safety.action import Action, Outcome, PersonApproval, binding
from cairn.safety.pipeline import Attempt, decided
from cairn.safety.redaction import restore
from cairn.safety.tools import Autonomy, Lane
from cairn.workflows.doing import TEXT_CHARS
from cairn.workflows.moving import Move, NeedsWord, Result
from cairn.workflows.rows import RunState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.connectors.host import Host
    from cairn.kernel.text.json_value import JsonValue
    from cairn.safety.pipeline import CallResult, Pipeline, Ready
    from cairn.safety.tools import ToolSpec
    from cairn.workflows.definition import Step
    from cairn.workflows.moving import Opened, Runner

SECONDS = 60.0
LIFETIME = timedelta(hours=24)
"""Of a question to a person."""

OUTCOME_UNKNOWN = "outcome-unknown"


class ToolRefused(Denied):
    """The safety rules do not let a workflow make this call; `reason` says which."""

    code = "tool-refused"


class ToolFailed(Conflict):
    """The tool was called and said that it could not."""

    code = "tool-failed"


class OutcomeNotKnown(Conflict):
    """The call was begun and nobody knows whether it happened."""

    code = OUTCOME_UNKNOWN


class RunMoved(Conflict):
    """Somebody else has moved the run: nothing is called on behalf of this execution."""

    code = "superseded"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallToolStep:
    """Calls the step's tool, once."""

    runner: Runner
    pipeline: Pipeline
    host: Host

    def __call__(self, opened: Opened, step: Step) -> Result:
        """Return what the tool said.

        Raises NeedsWord, ToolRefused, ToolFailed, OutcomeNotKnown, RunMoved, and Unavailable
        where nothing was sent.
        """
        attempt = self._attempt(opened, step)
        checked = self.pipeline.check(attempt)
        decision, tool = decided(checked), checked.tool
        if decision.outcome is Outcome.DENIED or tool is None:
            raise ToolRefused(decision.detail, reason=decision.reason)
        check_arguments(tool, attempt.restored)
        if opened.run.began and not _repeatable(tool):
            raise OutcomeNotKnown("The call was begun, and nobody knows whether it happened.")
        approval = _approval(opened)
        if decision.outcome is Outcome.NEEDS_APPROVAL and approval is None:
            raise NeedsWord(self._asking(opened, checked))
        done = self.pipeline.perform(
            replace(attempt, approval=approval),
            begin=partial(self._begin, opened),
            call=partial(self._call, opened),
            audit=lambda _: None,
        )
        return _result(done, tool)

    def _attempt(self, opened: Opened, step: Step) -> Attempt:
        connector, _, tool = (step.tool or "").partition(".")
        arguments = cast("Mapping[str, JsonValue]", dict(step.arguments or {}))
        action = Action(
            id=derived_id(opened.run.id, "tool", step.name),
            connector=connector,
            tool=tool,
            arguments=arguments,
            reason=f"workflow {opened.run.workflow}",
        )
        return Attempt(
            workspace_id=opened.workspace_id, action=action, autonomy=Autonomy.ACT, profile="pii"
        )

    def _asking(self, opened: Opened, checked: Attempt) -> Move:
        """Return the move that waits for a person's word on exactly this call."""
        expires_at = self.runner.platform.clock() + LIFETIME
        version = decided(checked).policy_version
        bound = binding(checked.action, policy_version=version, expires_at=expires_at)
        question: dict[str, Any] = {
            "binding": bound,
            "policy_version": version,
            "expires_at": format_timestamp(expires_at),
            "by": None,
        }
        to = replace(opened.run, state=RunState.WAITING, deadline=expires_at, approval=question)
        return Move(to=to, entry="workflow.asked", meta={"tool": True})

    def _begin(self, opened: Opened, attempt: Attempt) -> None:
        """Commit that the call is begun, with the grant that covers it; RunMoved."""
        if opened.run.began:
            return
        grant_id, action_id = decided(attempt).grant_id, attempt.action.id
        to = replace(opened.run, began=True)
        move = Move(to=to, entry="workflow.tool_started", meta={"action_id": str(action_id)})
        if self.runner.move(opened, move) is None:
            raise RunMoved("The run has moved on meanwhile.")
        if grant_id is not None:
            self.runner.use_grant(opened.workspace_id, grant_id, action_id)

    def _call(self, opened: Opened, ready: Ready) -> CallResult:
        key = ready.action.id
        call = ToolCall(
            connector=ready.action.connector,
            tool=ready.action.tool,
            arguments=ready.action.arguments,
            idempotency_key=key if ready.tool.lane is Lane.WRITE else None,
            dry_run=ready.dry_run,
            seconds=SECONDS,
            traceparent=opened.run.traceparent,
            manifest_hash=ready.manifest_hash,
        )
        return self.host.call(ready.workspace_id, call)


def _repeatable(tool: ToolSpec) -> bool:
    return tool.lane is Lane.READ or tool.deduplicates


def _approval(opened: Opened) -> PersonApproval | None:
    """Return the yes that a person gave to this call; None when nobody was asked or answered."""
    approval = opened.run.approval
    if approval is None or approval["by"] is None:
        return None
    return PersonApproval(
        approval_id=opened.run.id,
        binding=approval["binding"],
        policy_version=approval["policy_version"],
        expires_at=datetime.fromisoformat(approval["expires_at"]),
        by=UUID(approval["by"]),
    )


def _result(done: Attempt, tool: ToolSpec) -> Result:
    """Return what came of a call; raises what there is in its place."""
    if isinstance(done.error, OutcomeUnknown) and tool.lane is not Lane.READ:
        raise OutcomeNotKnown("The call was sent, and no answer came.") from done.error
    if isinstance(done.error, Unavailable):
        raise done.error
    if done.error is not None:
        raise ToolFailed(done.error.detail, reason=done.error.reason) from done.error
    decision = decided(done)
    if decision.outcome is not Outcome.ALLOWED or done.result is None:
        raise ToolRefused(decision.detail, reason=decision.reason)
    text = scrub(str(restore(done.text, done.vault))).text[:TEXT_CHARS]
    if done.result.is_error:
        raise ToolFailed(text[:1_000] or "The tool failed.", reason="tool-error")
    return Result(output={"text": text, "dry_run": decision.dry_run})
