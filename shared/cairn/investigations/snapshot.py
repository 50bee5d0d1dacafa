"""Working memory as JSON and as sealed bytes. Not where it is stored.

The JSON has no floats: money is a decimal as text, and what a planner or a tool gave as arguments
is JSON inside a string. Fields this version does not know are ignored, and missing ones take their
defaults, so that a process of either age takes up what the other left.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar, cast
from uuid import UUID

from cairn.investigations.state import (
    Brief,
    Evidence,
    Investigation,
    NextKind,
    Note,
    Observation,
    Plan,
    Spending,
    State,
    Verdict,
    WorkingMemory,
)
from cairn.ledger.keys import BodyUnreadable, key_subjects
from cairn.safety.action import Action

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cairn.kernel.text.json_value import JsonValue
    from cairn.ledger.keys import BodyCipher

Record = TypeVar("Record")

_LISTS = ("notes", "evidence", "facts", "similar", "recent", "hints", "observations", "queries")


def unread(ticket_id: UUID) -> WorkingMemory:
    """Return the memory of an investigation that has not looked at its ticket."""
    brief = Brief(ticket_id=ticket_id, source="", external_id="", title="", body="")
    return WorkingMemory(brief=brief)


def dump(memory: WorkingMemory) -> dict[str, JsonValue]:
    """Return working memory as JSON, the vault included: for sealing only."""
    return {
        "brief": {**_plain(memory.brief), "ticket_id": str(memory.brief.ticket_id)},
        "notes": [_plain(note) for note in memory.notes],
        "evidence": [_evidence(item) for item in memory.evidence],
        "facts": [_evidence(fact) for fact in memory.facts],
        "similar": [_evidence(item) for item in memory.similar],
        "recent": [_evidence(item) for item in memory.recent],
        "hints": list(memory.hints),
        "observations": [_observation(observation) for observation in memory.observations],
        "plan": _plan(memory.plan) if memory.plan else None,
        "pending": _action(memory.pending) if memory.pending else None,
        "approval_id": str(memory.approval_id) if memory.approval_id else None,
        "denials": memory.denials,
        "queries": list(memory.queries),
        "skip_retrieval": memory.skip_retrieval,
        "verdict": memory.verdict.value if memory.verdict else None,
        "verdict_reason": memory.verdict_reason,
        "summary": memory.summary,
        "spending": {**_plain(memory.spending), "usd": str(memory.spending.usd)},
        "vault": dict(memory.vault),
    }


def load(value: Mapping[str, Any]) -> WorkingMemory:
    """Return working memory as it was dumped by this version or another."""
    lists: dict[str, tuple[Any, ...]] = {name: tuple(value.get(name, ())) for name in _LISTS}
    return _record_of(
        WorkingMemory,
        value,
        brief=_loaded_brief(value["brief"]),
        notes=tuple(_record_of(Note, note) for note in lists["notes"]),
        evidence=tuple(map(_loaded_evidence, lists["evidence"])),
        facts=tuple(map(_loaded_evidence, lists["facts"])),
        similar=tuple(map(_loaded_evidence, lists["similar"])),
        recent=tuple(map(_loaded_evidence, lists["recent"])),
        hints=lists["hints"],
        observations=tuple(map(_loaded_observation, lists["observations"])),
        queries=lists["queries"],
        plan=_maybe(value.get("plan"), _loaded_plan),
        pending=_maybe(value.get("pending"), load_action),
        approval_id=_maybe(value.get("approval_id"), UUID),
        verdict=_maybe(value.get("verdict"), Verdict),
        spending=_loaded_spending(value.get("spending", {})),
        vault=dict(value.get("vault", {})),
    )


def delta(before: WorkingMemory, after: WorkingMemory) -> dict[str, JsonValue]:
    """Return what changed, by field: `added` to a list that only grew, else the new value.

    The vault is left out: the ledger tells of placeholders, never of what stood behind them.
    """
    old, new = dump(before), dump(after)
    return {
        name: _changed(old[name], new[name])
        for name in new
        if name != "vault" and new[name] != old[name]
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshots:
    """Seals and opens working memory under the keys of an investigation's data subjects."""

    cipher: BodyCipher

    def seal(
        self, investigation: Investigation, memory: WorkingMemory, keys: Mapping[UUID, bytes]
    ) -> bytes:
        """Return working memory sealed; only this investigation can open it."""
        used = {subject: keys[subject] for subject in _subjects(investigation)}
        workspace_id = investigation.workspace_id
        return self.cipher.seal(investigation.id, workspace_id, used, dump(memory))

    def open(
        self, investigation: Investigation, sealed: bytes, keys: Mapping[UUID, bytes]
    ) -> WorkingMemory:
        """Return working memory; BodyUnreadable when a data subject was forgotten.

        Without a snapshot, an investigation has not begun, or what it knew was erased.
        """
        if not sealed and investigation.state is State.CREATED:
            return unread(investigation.ticket_id)
        if not sealed:
            raise BodyUnreadable("This working memory was erased.", reason="key-destroyed")
        subjects = _subjects(investigation)
        workspace_id = investigation.workspace_id
        return load(self.cipher.open(investigation.id, workspace_id, subjects, keys, sealed))


def action_json(action: Action) -> dict[str, JsonValue]:
    """Return an action as JSON without floats."""
    return _action(action)


def load_action(value: Mapping[str, Any]) -> Action:
    """Return an action as it was dumped."""
    return Action(
        id=UUID(value["id"]),
        connector=value["connector"],
        tool=value["tool"],
        arguments=json.loads(value["arguments"]),
        evidence=tuple(value.get("evidence", ())),
        reason=value.get("reason", ""),
    )


def _subjects(investigation: Investigation) -> tuple[UUID, ...]:
    return key_subjects(investigation.workspace_id, investigation.data_subjects)


def _plain(record: Any) -> dict[str, Any]:
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _record_of(record: type[Record], value: Mapping[str, Any], /, **read: Any) -> Record:
    """Return a record of the fields it knows, those in `read` as they are given."""
    names = [field.name for field in fields(cast("Any", record))]
    plain = {name: value[name] for name in names if name in value}
    return record(**{**plain, **read})


def _maybe(value: Any, read: Callable[[Any], Any]) -> Any:
    return None if value is None else read(value)


def _evidence(evidence: Evidence) -> dict[str, JsonValue]:
    node_id = str(evidence.node_id) if evidence.node_id else None
    return {"citation": evidence.citation, "text": evidence.text, "node_id": node_id}


def _observation(observation: Observation) -> dict[str, JsonValue]:
    return {
        **_plain(observation),
        "action_id": str(observation.action_id),
        "arguments": _text(observation.arguments),
        "evidence": list(observation.evidence),
    }


def _plan(plan: Plan) -> dict[str, JsonValue]:
    return {
        **_plain(plan),
        "kind": plan.kind.value,
        "arguments": _text(plan.arguments),
        "evidence": list(plan.evidence),
    }


def _action(action: Action) -> dict[str, JsonValue]:
    return {
        **_plain(action),
        "id": str(action.id),
        "arguments": _text(action.arguments),
        "evidence": list(action.evidence),
    }


def _text(arguments: Mapping[str, JsonValue]) -> str:
    return json.dumps(dict(arguments), sort_keys=True, separators=(",", ":"), allow_nan=False)


def _loaded_brief(value: Mapping[str, Any]) -> Brief:
    names = tuple(value.get("own_names", ()))
    return _record_of(Brief, value, ticket_id=UUID(value["ticket_id"]), own_names=names)


def _loaded_evidence(value: Mapping[str, Any]) -> Evidence:
    node_id = _maybe(value.get("node_id"), UUID)
    return Evidence(citation=value["citation"], text=value.get("text", ""), node_id=node_id)


def _loaded_observation(value: Mapping[str, Any]) -> Observation:
    return _record_of(
        Observation,
        value,
        action_id=UUID(value["action_id"]),
        arguments=json.loads(value["arguments"]),
        evidence=tuple(value.get("evidence", ())),
    )


def _loaded_plan(value: Mapping[str, Any]) -> Plan:
    return _record_of(
        Plan,
        value,
        kind=NextKind(value["kind"]),
        arguments=json.loads(value["arguments"]),
        evidence=tuple(value.get("evidence", ())),
    )


def _loaded_spending(value: Mapping[str, Any]) -> Spending:
    return _record_of(Spending, value, usd=Decimal(value.get("usd", "0")))


def _changed(old: JsonValue, new: JsonValue) -> JsonValue:
    if not isinstance(old, list) or not isinstance(new, list):
        return new
    before, after = cast("Sequence[JsonValue]", old), cast("list[JsonValue]", new)
    if after[: len(before)] == before:
        return {"added": after[len(before) :]}
    return after
