"""A task as a caller sent it, checked and scrubbed, and the projectors of its entries. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from cairn.graph.edge import Edge, Relation, View
from cairn.graph.node import Label, Node, NodeChange
from cairn.graph.projection import Projection
from cairn.kernel.ids import derived_id
from cairn.kernel.text.checks import clean_text
from cairn.kernel.text.scrub import scrub
from cairn.nodes.draft import clean_kind
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
from cairn.writing.row_fields import edge_fields, node_fields, origin_fields
from cairn.writing.task_ports import TaskStatus

if TYPE_CHECKING:
    from datetime import datetime

    from cairn.kernel.access import Principal, Scope
    from cairn.ledger.entry import Entry


REDACTED = "[redacted]"
MAX_DEPTH = 32
_ALTERNATIVES = ("allOf", "anyOf", "oneOf", "prefixItems")
_DEFINITIONS = ("$defs", "definitions")


def without_secrets(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return `value` with everything that `schema` marks as a secret replaced by `[redacted]`.

    Properties, items, alternatives and references to the schema's own definitions are followed.
    A part of the schema that is not a schema marks nothing; one nested deeper than MAX_DEPTH or
    referring to itself is cut there, and what lies below it is redacted whole.
    """
    return _cleaned(value, [schema], schema, 0)


def _cleaned(value: Any, schemas: Sequence[Any], root: Mapping[str, Any], depth: int) -> Any:
    if depth > MAX_DEPTH:
        return REDACTED
    types = _resolved(schemas, root)
    if types is None or any(_is_secret(item) for item in types):
        return REDACTED
    if isinstance(value, Mapping):
        properties = cast("Mapping[str, Any]", value)
        return {
            name: _cleaned(item, _of_property(types, name), root, depth + 1)
            for name, item in properties.items()
        }
    if isinstance(value, list):
        items = [item["items"] for item in types if "items" in item]
        items += [each for item in types for each in _list(item.get("prefixItems"))]
        return [_cleaned(item, items, root, depth + 1) for item in cast("list[Any]", value)]
    return value


def _resolved(schemas: Sequence[Any], root: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """Return the schemas with their alternatives and references; None when there is no end."""
    results: list[Mapping[str, Any]] = []
    waiting = list(schemas)
    while waiting:
        if len(results) > MAX_DEPTH:
            return None
        item = waiting.pop()
        if not isinstance(item, Mapping):
            continue
        schema = cast("Mapping[str, Any]", item)
        results.append(schema)
        waiting += [_definition(schema.get("$ref"), root)]
        waiting += [each for name in _ALTERNATIVES[:-1] for each in _list(schema.get(name))]
    return results


def _definition(reference: Any, root: Mapping[str, Any]) -> Any:
    if not isinstance(reference, str):
        return None
    for place in _DEFINITIONS:
        start = f"#/{place}/"
        definitions = root.get(place)
        if reference.startswith(start) and isinstance(definitions, Mapping):
            return cast("Mapping[str, Any]", definitions).get(reference.removeprefix(start))
    return None


def _of_property(schemas: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    results: list[Any] = []
    for schema in schemas:
        properties = schema.get("properties")
        if isinstance(properties, Mapping) and name in properties:
            results.append(cast("Mapping[str, Any]", properties)[name])
        elif "additionalProperties" in schema:
            results.append(schema["additionalProperties"])
    return results


def _is_secret(schema: Mapping[str, Any]) -> bool:
    marked = schema.get("writeOnly") is True or schema.get("x-secret") is True
    return marked or schema.get("format") == "password"


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


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


def started(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """A task, and the conversation it was raised during where there is one."""
    task_id, raised = UUID(meta["node_id"]), meta["raised_during"]
    node = Node(
        **node_fields(entry, meta, body),
        id=task_id,
        label=Label.TASK,
        kind=body["kind"],
        title=body["title"],
        text=body["title"],
        content_hash=body["content_hash"],
        **origin_fields(entry, body),
        metadata=body["metadata"],
    )
    edges = [_edge(entry, Relation.RAISED_DURING, task_id, UUID(raised))] if raised else []
    return Projection(nodes=(node,), edges=tuple(edges))


def changed(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """How a task stands after a step or at its end, and what it produced."""
    task_id = UUID(meta["node_id"])
    change = NodeChange(
        workspace_id=entry.workspace_id,
        id=task_id,
        position=entry.position,
        text=body["text"],
        content_hash=body["content_hash"],
        metadata=body["metadata"],
    )
    edges = [produced(entry, task_id, UUID(item)) for item in meta["produced"]]
    return Projection(nodes=(change,), edges=tuple(edges))


def produced(entry: Entry, maker_id: UUID, node_id: UUID) -> Edge:
    """Return the edge from a task, conversation or message to what it made."""
    return _edge(entry, Relation.PRODUCED, maker_id, node_id)


def _edge(entry: Entry, relation: Relation, source_id: UUID, target_id: UUID) -> Edge:
    return Edge(
        **edge_fields(entry),
        id=derived_id(source_id, relation, target_id),
        view=View.PROVENANCE,
        relation=relation,
        source_id=source_id,
        target_id=target_id,
    )
