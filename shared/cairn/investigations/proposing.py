"""What is written of an action before it is taken: refused, proposed, or put to a person. Pure.

In clear stand ids, codes and hashes of rules; names, arguments and reasons are sealed.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cairn.investigations.ports import ActionRow, ActionState, Approval, ApprovalState, Change, Fact
from cairn.investigations.run.moving import halted
from cairn.investigations.snapshot import action_json
from cairn.investigations.state import MAX_DENIALS, State, Step, Verdict, seen_of
from cairn.investigations.tool_calls import MAX_OUTPUT_CHARS, cut, sealed_input
from cairn.kernel.errors import ValidationFailed
from cairn.kernel.text.canonical import format_timestamp
from cairn.safety.action import Outcome, binding, digest
from cairn.safety.pipeline import decided

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime, timedelta
    from uuid import UUID

    from cairn.investigations.ports import Effect, Situation
    from cairn.investigations.state import WorkingMemory
    from cairn.safety.action import Action, Decision
    from cairn.safety.pipeline import Attempt
    from cairn.safety.tools import ToolSpec
    from cairn.writing.writer import Write

SYSTEM = "safety"
MAX_SAID_CHARS = 300
"""Of a dry run's answer in the timeline."""
UNREADABLE = "0" * 64
"""The digest of arguments that have no canonical form; nothing is the same as they."""


def refused(situation: Situation, memory: WorkingMemory, attempt: Attempt, target: State) -> Change:
    """Return the target with what was refused and why, or HALTED for the third time."""
    action, decision = attempt.action, decided(attempt)
    seen = seen_of(action, "denied", decision.detail, reason=decision.reason)
    memory = replace(
        memory,
        pending=None,
        denials=memory.denials + 1,
        observations=(*memory.observations, seen),
    )
    text = f"{action.key}: {decision.detail}"
    line = Step(system=SYSTEM, action="denied", detail=text, kind="action")
    fact = _fact("action.denied", action, decision, attempt.tool)
    effect = _denying(situation, action, decision, attempt.tool)
    if memory.denials < MAX_DENIALS:
        return Change(target=target, memory=memory, lines=(line,), facts=(fact,), effects=(effect,))
    why = f"{MAX_DENIALS} actions were refused, the last one {text}"
    end = halted(memory, Verdict.NEEDS_TECH, why, code="denied-too-often")
    return replace(end, lines=(line, *end.lines), facts=(fact,), effects=(effect,))


def _denying(
    situation: Situation, action: Action, decision: Decision, tool: ToolSpec | None
) -> Effect:
    """Return what keeps the record of a refusal, of what was proposed before too."""
    record = _recording(situation, action, decision, tool, ActionState.DENIED)

    def deny(write: Write) -> None:
        record(write)
        write.stores.actions.deny(action.id, error=decision.reason, now=write.now)

    return deny


def proposing(
    situation: Situation, memory: WorkingMemory, attempt: Attempt, decision: Decision
) -> Change:
    """Return ACTING: the rules, a standing grant or a person said yes."""
    action, tool = attempt.action, attempt.tool
    rehearsed = decision.outcome is Outcome.ALLOWED and decision.dry_run
    decision = replace(decision, dry_run=rehearsed)
    text = "as a dry run" if rehearsed else decision.detail
    line = Step(
        system=SYSTEM,
        action="allowed",
        detail=f"{action.key}: {text}",
        kind="action",
        citations=action.evidence,
    )
    return Change(
        target=State.ACTING,
        memory=memory,
        lines=(line,),
        facts=(_fact("action.proposed", action, decision, tool),),
        effects=(_recording(situation, action, decision, tool, ActionState.PROPOSED),),
    )


def asking(
    situation: Situation,
    memory: WorkingMemory,
    attempt: Attempt,
    decision: Decision,
    *,
    approval_id: UUID,
    asked_at: datetime,
    lifetime: timedelta,
) -> Change:
    """Return WAITING_APPROVAL with the question; the slot is given back.

    An attempt that was rehearsed comes with what the dry run said, or why it said nothing.
    """
    action, version = attempt.action, decision.policy_version
    expires_at = asked_at + lifetime
    question = Approval(
        id=approval_id,
        investigation_id=situation.investigation.id,
        ticket_id=situation.investigation.ticket_id,
        action_id=action.id,
        tool=action.key,
        binding=binding(action, policy_version=version, expires_at=expires_at),
        policy_version=version,
        content=b"",
        state=ApprovalState.PENDING,
        data_subjects=situation.investigation.data_subjects,
        asked_at=asked_at,
        expires_at=expires_at,
    )

    line = Step(
        system=SYSTEM,
        action="asked",
        detail=f"{action.key}: {decision.detail}",
        kind="approval",
        citations=action.evidence,
    )
    real = replace(decision, dry_run=False)
    lines, facts = _rehearsal(attempt)
    return Change(
        target=State.WAITING_APPROVAL,
        memory=replace(memory, approval_id=approval_id),
        lines=(*lines, line),
        facts=(
            _fact("action.proposed", action, real, attempt.tool),
            *facts,
            _approval_requested(question, decision),
        ),
        effects=(
            _recording(situation, action, real, attempt.tool, ActionState.PROPOSED),
            _keeping(question, _content(memory, attempt, decision)),
        ),
    )


def _rehearsal(attempt: Attempt) -> tuple[tuple[Step, ...], tuple[Fact, ...]]:
    """Return the line and the entry of a dry run that was made for the question; none without."""
    if attempt.result is None and attempt.error is None:
        return (), ()
    action, text = attempt.action, _rehearsed(attempt)
    line = Step(
        system=action.key,
        action="rehearsed",
        detail=cut(f"{action.key} as a dry run: {' '.join(text.split())}", MAX_SAID_CHARS),
        kind="action",
    )
    meta = {"action_id": str(action.id), "error": _failure(attempt)}
    body = {"action": action.key, "output": cut(text, MAX_OUTPUT_CHARS)}
    return (line,), (Fact(type="action.rehearsed", meta=meta, body=body),)


def _rehearsed(attempt: Attempt) -> str:
    """Return what a dry run said; where it failed, that and the code of why."""
    code = _failure(attempt)
    return " ".join(f"It failed ({code}). {attempt.text}".split()) if code else attempt.text


def _failure(attempt: Attempt) -> str | None:
    if attempt.error is not None:
        return attempt.error.reason
    return "tool-error" if attempt.result is not None and attempt.result.is_error else None


def _approval_requested(question: Approval, decision: Decision) -> Fact:
    return Fact(
        type="approval.requested",
        meta={
            "approval_id": str(question.id),
            "action_id": str(question.action_id),
            "policy_version": question.policy_version,
            "reason": decision.reason,
            "expires_at": format_timestamp(question.expires_at),
        },
        body={"binding": question.binding, "tool": question.tool},
    )


def _keeping(question: Approval, content: Mapping[str, Any]) -> Effect:
    """Return what keeps the question with its content sealed; who waits needs no slot."""

    def keep(write: Write) -> None:
        sealed = write.entries.seal(question.id, write.data_subjects, content)
        approval = replace(question, content=sealed, data_subjects=write.data_subjects)
        write.stores.approvals.add(approval)
        write.tell_channels(question.id)
        write.stores.slots.free(question.investigation_id)

    return keep


def _content(memory: WorkingMemory, attempt: Attempt, decision: Decision) -> dict[str, Any]:
    """Return what a person is shown: values restored, evidence with its texts, the way back."""
    action, tool = attempt.action, attempt.tool
    cited = set(action.evidence)
    sources = (*memory.evidence, *memory.facts, *memory.similar)
    evidence = [
        {"citation": source.citation, "text": source.text}
        for source in sources
        if source.citation in cited
    ]
    evidence += [
        {"citation": f"[tool:{observation.action_id}]", "text": observation.text}
        for observation in memory.observations
        if f"[tool:{observation.action_id}]" in cited
    ]
    return {
        "action": action_json(action),
        "arguments": json.dumps(dict(attempt.restored), sort_keys=True),
        "title": memory.brief.title,
        "why": action.reason,
        "rule": decision.reason,
        "detail": decision.detail,
        "dangerous": bool(tool and tool.dangerous),
        "lane": tool.lane.value if tool and tool.lane else "",
        "rollback": f"{tool.connector}.{tool.rollback}" if tool and tool.rollback else None,
        "evidence": evidence,
        "rehearsal": _rehearsed(attempt),
    }


def _recording(
    situation: Situation,
    action: Action,
    decision: Decision,
    tool: ToolSpec | None,
    state: ActionState,
) -> Effect:
    investigation = situation.investigation

    def record(write: Write) -> None:
        write.stores.actions.add(
            ActionRow(
                id=action.id,
                investigation_id=investigation.id,
                connector=action.connector,
                tool=action.tool,
                lane=tool.lane.value if tool and tool.lane else "",
                digest=_digest(action),
                state=state,
                dry_run=decision.dry_run and state is not ActionState.DENIED,
                is_error=False,
                input=sealed_input(write, action),
                output=b"",
                data_subjects=write.data_subjects,
                proposed_at=write.now,
                error=decision.reason if state is ActionState.DENIED else None,
                session_id=str(investigation.ticket_id),
            )
        )

    return record


def _fact(
    type_: str,
    action: Action,
    decision: Decision,
    tool: ToolSpec | None,
) -> Fact:
    return Fact(
        type=type_,
        meta={
            "action_id": str(action.id),
            "outcome": decision.outcome.value,
            "reason": decision.reason,
            "policy_version": decision.policy_version,
            "lane": tool.lane.value if tool and tool.lane else None,
            "dry_run": decision.dry_run,
            "grant_id": str(decision.grant_id) if decision.grant_id else None,
        },
        body={**action_json(action), "detail": decision.detail},
    )


def _digest(action: Action) -> str:
    try:
        return digest(action)
    except ValidationFailed:
        return UNREADABLE
