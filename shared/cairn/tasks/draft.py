"""From a task as a caller sent it to a checked and scrubbed draft. Pure; not planning."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cairn.kernel.text.checks import clean_text
from cairn.kernel.text.scrub import scrub
from cairn.nodes.draft import clean_kind
from cairn.tasks.inputs import without_secrets
from cairn.writing.audience import GLOBAL_CLIENT, Audience
from cairn.writing.checks import (
    Owner,
    clean_metadata,
    clean_name,
    moment,
    owners,
    refuse,
    source_agent,
    tagged_agents,
)
from cairn.writing.task_ports import TaskStatus

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal, Scope

MAX_TITLE_CHARS = 256
MAX_NOTE_CHARS = 1_000
MAX_OUTCOME_CHARS = 10_000
MAX_STEPS = 100
MAX_PRODUCED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTask:
    """A piece of work about to begin, as its worker sent it.

    `inputs` are what it works on, `input_schema` the JSON Schema that says which of them are
    secrets. `conversation_id` names the conversation that asked for it, `session_id` the newest one
    of a session.
    """

    kind: str
    title: str
    inputs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    input_schema: Mapping[str, Any] | None = None
    conversation_id: UUID | None = None
    session_id: str | None = None
    trace_id: str | None = None
    source_agent: str | None = None
    occurred_at: datetime | None = None
    client_id: str = GLOBAL_CLIENT
    scope: Scope | None = None
    agents: tuple[str, ...] = ()
    data_subjects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStep:
    """What happened in a task: a note, and how it stands now. An end may name what it produced."""

    note: str | None = None
    status: TaskStatus = TaskStatus.RUNNING
    produced: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDraft:
    """A task checked and scrubbed; its audience has no data subjects yet."""

    kind: str
    title: str
    inputs: Mapping[str, Any]
    input_schema: Mapping[str, Any] | None
    conversation_id: UUID | None
    session_id: str | None
    trace_id: str | None
    source_agent: str
    occurred_at: datetime
    client_id: str
    audience: Audience
    wanted: tuple[Owner, ...]


def draft_task(new: NewTask, principal: Principal, now: datetime) -> TaskDraft:
    """Return the draft of a task, its secret inputs redacted.

    Raises ValidationFailed or TooLarge naming the field, Denied for a scope or an agent the
    principal may not write for.
    """
    scope = principal.writing_scope(new.scope)
    schema = clean_metadata(new.input_schema) if new.input_schema is not None else None
    inputs = without_secrets(dict(new.inputs), schema) if schema is not None else new.inputs
    client_id = clean_name(new.client_id, "client_id") or GLOBAL_CLIENT
    agents = tagged_agents(new.agents, principal)
    return TaskDraft(
        kind=clean_kind(new.kind) or "",
        title=_line(new.title),
        inputs=clean_metadata(inputs),
        input_schema=schema,
        conversation_id=new.conversation_id,
        session_id=clean_name(new.session_id, "session_id"),
        trace_id=clean_name(new.trace_id, "trace_id"),
        source_agent=source_agent(new.source_agent, principal),
        occurred_at=moment(new.occurred_at, "occurred_at") or now,
        client_id=client_id,
        audience=Audience(scope=scope, agents=agents, data_subjects=()),
        wanted=owners(client_id, new.data_subjects),
    )


def draft_step(step: TaskStep) -> TaskStep:
    """Return a step checked and scrubbed; ValidationFailed or TooLarge name the field."""
    if len(step.produced) > MAX_PRODUCED:
        refuse("produced", f"has more than {MAX_PRODUCED} items")
    limit = MAX_OUTCOME_CHARS if step.status.is_end else MAX_NOTE_CHARS
    note = step.note
    if note is not None:
        note = scrub(clean_text(note, field="note", max_chars=limit)).text
    elif not step.status.is_end:
        refuse("note", "is needed: what happened")
    produced = tuple(dict.fromkeys(step.produced))
    return TaskStep(note=note, status=step.status, produced=produced)


def _line(title: str) -> str:
    text = scrub(clean_text(title, field="title", max_chars=MAX_TITLE_CHARS)).text
    return " ".join(text.split())
