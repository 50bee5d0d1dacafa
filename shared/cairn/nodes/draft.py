"""From a node as a caller wrote it to a checked and scrubbed draft. Pure; not planning."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, cast

from cairn.graph.edge import Relation, Role, parse_relation
from cairn.graph.entity_names import tidy_name
from cairn.graph.node import BOOKKEEPING, Label, State
from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.kernel.text.checks import clean_text
from cairn.kernel.text.hashes import content_hash
from cairn.kernel.text.scrub import scrub
from cairn.safety.screening import screen
from cairn.writing.audience import GLOBAL_CLIENT, Audience
from cairn.writing.checks import (
    MAX_TEXT_CHARS,
    clean_metadata,
    clean_name,
    moment,
    source_agent,
    tagged_agents,
)
from cairn.writing.items import ItemOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal, Scope


MAX_EDGES = 100
MAX_LABELS = 8
"""Labels a node may have beside its first."""

MAX_KEYWORDS = 50
MAX_TRUTH_CHARS = 10_000
MAX_CONTEXT_CHARS = 8_000
MAX_WEIGHT = 1_000_000.0

RESERVED = frozenset(Label) - {Label.ENTITY}
"""Labels that other routes write, each with what belongs to it."""

_WRITTEN_BY_CAIRN = frozenset({*Label, *BOOKKEEPING})
_LABEL = re.compile(r"[A-Z][A-Za-z0-9]{0,63}")
_KIND = re.compile(r"[a-z][a-z0-9_-]{0,63}(?:\.[a-z0-9_-]{1,64}){0,8}")
_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_TEXTS = {"title": 512, "summary": 4_000, "compiled_truth": MAX_TRUTH_CHARS, "text": MAX_TEXT_CHARS}


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEdge:
    """An edge as the caller wrote it: exactly one of the ends is named, the other is the node."""

    relation: str
    to_id: UUID | None = None
    from_id: UUID | None = None
    weight: float = 1.0
    properties: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class NewNode:
    """A node as the caller wrote it; texts are not yet scrubbed.

    Of `properties`, name, title, summary, text, slug, keywords and compiled_truth become columns;
    the others are kept as they are, and the texts among them are found by their words.
    """

    label: str
    properties: Mapping[str, Any]
    scope: Scope | None
    labels: tuple[str, ...] = ()  # more than the one
    kind: str | None = None
    edges: tuple[NewEdge, ...] = ()
    client_id: str = GLOBAL_CLIENT
    source_agent: str | None = None
    agents: tuple[str, ...] = ()
    data_subjects: tuple[str, ...] = ()
    occurred_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    session_id: str | None = None
    trace_id: str | None = None
    importance: int | None = None
    confidence: float = 1.0
    produced_by_task_id: UUID | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeDraft:
    """A checked edge; the end that is None is the node it comes with."""

    relation: Relation
    source_id: UUID | None
    target_id: UUID | None
    weight: float
    properties: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDraft:
    """Everything about a node that its writer decides."""

    label: str
    extra_labels: tuple[str, ...]
    kind: str | None
    text: str
    title: str | None
    name: str | None
    summary: str | None
    slug: str | None
    keywords: tuple[str, ...]
    compiled_truth: str | None
    context_text: str | None
    metadata: Mapping[str, Any]
    audience: Audience
    client_id: str
    source_agent: str
    occurred_at: datetime
    valid_from: datetime
    valid_to: datetime | None
    session_id: str | None
    trace_id: str | None
    importance: int
    confidence: float
    screening: str
    edges: tuple[EdgeDraft, ...]
    task_id: UUID | None = None  # the task that produced it; among the edges too

    @property
    def is_entity(self) -> bool:
        """Return whether this is an entity, whose id follows from its name."""
        return self.label == Label.ENTITY


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeOutcome(ItemOutcome):
    """What became of one node of a batch, and with how many edges."""

    edges: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NodesWritten:
    """The outcomes of a write, in the order of its nodes."""

    outcomes: tuple[NodeOutcome, ...]
    replayed: bool = False


def draft_node(new: NewNode, principal: Principal, now: datetime) -> NodeDraft:
    """Return the draft of a node; its audience has no data subjects yet.

    Raises ValidationFailed or TooLarge naming the field, Denied for a scope or an agent the
    principal may not write for.
    """
    scope = principal.writing_scope(new.scope)
    label, kind = _label(new.label), clean_kind(new.kind)
    properties = _Properties(dict(new.properties))
    texts = {name: properties.text(name, limit) for name, limit in _TEXTS.items()}
    name = _name(properties.take("name"), label, kind, texts["text"])
    text = texts["text"] or texts["summary"] or texts["title"] or name
    if text is None:
        _refuse("properties", "need a text, a summary, a title or a name")
    keywords, slug = properties.keywords(), properties.slug()
    metadata = clean_metadata(properties.rest)
    occurred_at = moment(new.occurred_at, "occurred_at") or now
    valid_from = moment(new.valid_from, "valid_from") or occurred_at
    valid_to = moment(new.valid_to, "valid_to")
    if valid_to is not None and valid_to < valid_from:
        _refuse("valid_to", f"is before valid_from ({valid_from.isoformat()})")
    return NodeDraft(
        label=label,
        extra_labels=clean_labels(new.labels, label),
        kind=kind,
        text=name if name is not None and label == Label.ENTITY else text or "",
        title=texts["title"],
        name=name,
        summary=texts["summary"],
        slug=slug,
        keywords=keywords,
        compiled_truth=texts["compiled_truth"],
        context_text=_context(metadata),
        metadata=metadata,
        audience=Audience(
            scope=scope, agents=tagged_agents(new.agents, principal), data_subjects=()
        ),
        client_id=clean_name(new.client_id, "client_id") or GLOBAL_CLIENT,
        source_agent=source_agent(new.source_agent, principal),
        occurred_at=occurred_at,
        valid_from=valid_from,
        valid_to=valid_to,
        session_id=clean_name(new.session_id, "session_id"),
        trace_id=clean_name(new.trace_id, "trace_id"),
        importance=new.importance or 5,
        confidence=new.confidence,
        screening=_screened(text or "", texts["compiled_truth"], metadata),
        edges=_edges(new),
        task_id=new.produced_by_task_id,
    )


def draft_edge(new: NewEdge, field: str) -> EdgeDraft:
    """Return a checked edge; ValidationFailed names the field below `field`."""
    if (new.to_id is None) == (new.from_id is None):
        _refuse(field, "names exactly one other node, as to or as from")
    relation = parse_relation(new.relation, field=f"{field}.relation")
    properties = dict(clean_metadata(new.properties))
    if relation is Relation.REFERENCES:
        properties["role"] = _role(properties.get("role", Role.MENTIONED), field)
    return EdgeDraft(
        relation=relation,
        source_id=new.from_id,
        target_id=new.to_id,
        weight=clean_weight(new.weight, field),
        properties=properties,
    )


def clean_weight(weight: float, field: str) -> float:
    """Return a weight above 0; ValidationFailed names the field for any other."""
    if not 0 < weight <= MAX_WEIGHT:
        _refuse(f"{field}.weight", f"must be above 0 and at most {MAX_WEIGHT:.0f}")
    return float(weight)


def node_identity(draft: NodeDraft) -> str:
    """Return the identity for exact dedup: 32 hex characters over audience, client and content."""
    audience = draft.audience
    parts = [
        "node.written",
        draft.label,
        draft.kind,
        draft.client_id,
        audience.scope,
        sorted(audience.agents) if audience.agents is not None else None,
        sorted(str(subject) for subject in audience.data_subjects),
        [draft.text, draft.title, draft.name, draft.summary, draft.slug, draft.compiled_truth],
        draft.metadata,
    ]
    packed = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(packed.encode()).hexdigest()[:32]


def node_body(draft: NodeDraft) -> dict[str, Any]:
    """Return what of a node is encrypted into its entry: all that a reader could recognise."""
    agents = draft.audience.agents
    return {
        "label": draft.label,
        "labels": list(draft.extra_labels),
        "kind": draft.kind,
        "text": draft.text,
        "content_hash": content_hash(draft.text),
        "dedup_key": None if draft.is_entity else node_identity(draft),
        "title": draft.title,
        "name": draft.name,
        "summary": draft.summary,
        "slug": draft.slug,
        "keywords": list(draft.keywords),
        "compiled_truth": draft.compiled_truth,
        "context_text": draft.context_text,
        "metadata": dict(draft.metadata),
        "agents": list(agents) if agents is not None else None,
        "client_id": draft.client_id,
        "source_agent": draft.source_agent,
        "importance": draft.importance,
        "confidence": draft.confidence,
        "screening": draft.screening,
    }


@dataclass(slots=True)
class _Properties:
    """The caller's properties, from which those that are columns are taken out."""

    rest: dict[str, Any]

    def take(self, name: str) -> Any:
        return self.rest.pop(name, None)

    def text(self, name: str, limit: int) -> str | None:
        value = self.take(name)
        if value is None:
            return None
        return scrub(clean_text(value, field=f"properties.{name}", max_chars=limit)).text

    def slug(self) -> str | None:
        slug = self.text("slug", 200)
        if slug is not None and not _SLUG.fullmatch(slug):
            _refuse("properties.slug", "is small letters and digits, parted by single hyphens")
        return slug

    def keywords(self) -> tuple[str, ...]:
        value = self.take("keywords")
        if value is None:
            return ()
        words = cast("list[Any]", value) if isinstance(value, list) else []
        if not 1 <= len(words) <= MAX_KEYWORDS:
            _refuse("properties.keywords", f"is a list of 1 to {MAX_KEYWORDS} words")
        cleaned = [
            clean_text(word, field="properties.keywords", max_chars=100).casefold()
            for word in words
        ]
        return tuple(dict.fromkeys(cleaned))


def _label(label: str) -> str:
    _require_label_form(label, "label")
    if label in RESERVED:
        _refuse_reserved(label, "label")
    return label


def clean_labels(labels: Sequence[str], first: str) -> tuple[str, ...]:
    """Return a node's labels beside its first, each once, sorted.

    ValidationFailed names the one that is none, or that Cairn writes itself.
    """
    extra = sorted(set(labels) - {first})
    if len(extra) > MAX_LABELS:
        _refuse("labels", f"are at most {MAX_LABELS} beside the first")
    for number, label in enumerate(labels):
        _require_label_form(label, f"labels.{number}")
        if label != first and label in _WRITTEN_BY_CAIRN:
            _refuse_reserved(label, f"labels.{number}")
    return tuple(extra)


def _require_label_form(label: str, field: str) -> None:
    if not _LABEL.fullmatch(label):
        _refuse(field, "is a capital letter and up to 63 letters and digits, such as Runbook")


def _refuse_reserved(label: str, field: str) -> NoReturn:
    message = f"{label} is written by its own route; choose another label"
    raise ValidationFailed(
        f"{field} {message}.", reason="reserved-label", errors=[FieldError(field, message)]
    )


def clean_kind(kind: str | None) -> str | None:
    """Return a kind as it may be; ValidationFailed names the field for any other."""
    if kind is not None and not _KIND.fullmatch(kind):
        _refuse("kind", "is small letters, digits, hyphens and underscores, parted by dots")
    return kind


def _name(value: Any, label: str, kind: str | None, text: str | None) -> str | None:
    if label != Label.ENTITY:
        return clean_name(value, "properties.name")
    if kind is None or "." in kind:
        _refuse("kind", "of an entity is its type, such as person or system")
    if text is not None:
        _refuse("properties.text", "of an entity is its name; use summary or compiled_truth")
    return entity_name(value, "properties.name")


def entity_name(value: object, field: str) -> str:
    """Return a name an entity may have, without secrets; ValidationFailed names the field."""
    name = tidy_name(clean_name(value, field) or "") if isinstance(value, str) else None
    if name is None:
        _refuse(field, "of an entity is 1 to 200 characters that can be read")
    return name


def _role(value: Any, field: str) -> str:
    if not isinstance(value, str) or value.casefold() not in set(Role):
        _refuse(f"{field}.properties.role", f"is one of {', '.join(Role)}")
    return str(value).casefold()


def _edges(new: NewNode) -> tuple[EdgeDraft, ...]:
    if len(new.edges) > MAX_EDGES:
        _refuse("edges", f"has more than {MAX_EDGES} items")
    edges = [draft_edge(edge, f"edges.{index}") for index, edge in enumerate(new.edges)]
    if new.produced_by_task_id is not None:
        task = NewEdge(relation=Relation.PRODUCED, from_id=new.produced_by_task_id)
        edges.append(draft_edge(task, "produced_by_task_id"))
    return tuple(edges)


def _context(properties: Mapping[str, Any]) -> str | None:
    """Return the texts among the other properties, so that they are found by their words."""
    lines = [f"{name}: {value}" for name, value in properties.items() if isinstance(value, str)]
    return "\n".join(lines)[:MAX_CONTEXT_CHARS] or None


def _screened(text: str, truth: str | None, properties: Mapping[str, Any]) -> str:
    context = _context(properties)
    whole = "\n".join(part for part in (text, truth, context) if part)
    return screen(whole).verdict.value.lower()


def _refuse(field: str, message: str) -> NoReturn:
    raise ValidationFailed(f"{field} {message}.", errors=[FieldError(field, message)])


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredNode:
    """A node that is about to be linked, changed or merged: what the change has to know of it.

    `created_position` is the entry that made it, `position` the last one that changed it.
    """

    id: UUID
    label: str
    kind: str | None
    name: str | None
    state: State
    scope: str
    agents: tuple[str, ...] | None
    data_subjects: tuple[UUID, ...]
    client_id: str
    created_position: int
    position: int
    superseded_by: UUID | None = None
    superseded_at: datetime | None = None
    extra_labels: tuple[str, ...] = ()

    @property
    def is_entity(self) -> bool:
        """Return whether this is an entity."""
        return self.label == Label.ENTITY

    @property
    def is_present(self) -> bool:
        """Return whether edges may be tied to it."""
        return self.state in (State.ACTIVE, State.PROVISIONAL, State.SUPERSEDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEdge:
    """An edge as it stands, or stood before it was closed."""

    id: UUID
    view: str
    relation: str
    source_id: UUID
    target_id: UUID
    weight: float
    properties: Mapping[str, Any] = field(default_factory=dict[str, Any])
