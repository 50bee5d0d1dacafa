"""The records of the memory graph: nodes with natural keys, and the typed edges between them. Pure.

What `memory_graph.ports.MemoryGraph` takes and gives, with the rules every backend keeps. Not a
node of the store: `graph.node` holds the rows, ids are no part of a dump.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from cairn.graph.edge import parse_relation
from cairn.graph.node import Label
from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.kernel.text.canonical import (
    MAX_INTEGER,
    canonical_bytes,
    format_timestamp,
    parse_timestamp,
)
from cairn.kernel.text.checks import clean_json, clean_text
from cairn.kernel.text.scrub import scrub, scrub_value

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import datetime
    from uuid import UUID

MAX_KEY_CHARS = 256
MAX_PROPERTIES_BYTES = 16_384
MAX_PROPERTIES_DEPTH = 5
MAX_WEIGHT = 1_000_000.0

LABELS = (
    "customer",
    "user",
    "system",
    "connector",
    "ticket",
    "investigation",
    "fact",
    "observation",
    "resolution",
)
"""The labels a help desk needs; any other name may be one too, Cairn's own labels may not."""

_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9]{0,63}")
_OWN = frozenset(label.value.casefold() for label in Label)
_SUBJECT_KINDS = {"customer": "client", "user": "person"}

T = TypeVar("T", bound=StrEnum)

Ref = tuple[str, str]
"""(label, natural key): what names a node in every backend."""

EdgeKey = tuple[str, str, str, str, str]
"""(label and key of the source, of the target, relation): an edge holds once."""


class Provenance(StrEnum):
    """How a node came into the graph; the first stays."""

    OPERATOR = "operator"
    PROPOSED = "proposed"
    IMPORTED = "imported"


class Status(StrEnum):
    """The life of a node in the graph; walks and questions leave archived ones out."""

    PROVISIONAL = "provisional"
    ACTIVE = "active"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDump:
    """A node without any backend's id."""

    label: str
    natural_key: str
    properties: Mapping[str, Any] = field(default_factory=dict[str, Any])
    provenance: Provenance
    status: Status

    @property
    def ref(self) -> Ref:
        """Return what names the node."""
        return self.label, self.natural_key


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeDump:
    """An edge by the natural keys of its ends. `observed_at` is in UTC."""

    source: Ref
    target: Ref
    relation: str
    weight: float = 1.0
    properties: Mapping[str, Any] = field(default_factory=dict[str, Any])
    observed_at: datetime

    @property
    def key(self) -> EdgeKey:
        """Return what names the edge."""
        return (*self.source, *self.target, self.relation)


Dump = NodeDump | EdgeDump


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryNode:
    """A node as a backend returns it; its id holds in that backend and workspace only."""

    id: UUID
    dump: NodeDump

    @property
    def visible(self) -> bool:
        """Return whether walks and questions find it."""
        return self.dump.status is not Status.ARCHIVED


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEdge:
    """An edge as a backend returns it."""

    id: UUID
    source_id: UUID
    target_id: UUID
    dump: EdgeDump


def clean_label(label: object, field: str = "label") -> str:
    """Return a label as the graph says it: the first letter small; ValidationFailed for others.

    `customer` and `Customer` are one label. The labels Cairn writes itself are refused.
    """
    if not isinstance(label, str) or not _LABEL.fullmatch(label):
        _refuse(field, "is a letter and up to 63 letters and digits, such as customer")
    if label.casefold() in _OWN:
        _refuse(field, f"{label} is written by its own route; choose another", "reserved-label")
    return label[0].lower() + label[1:]


def clean_key(key: object, field: str = "natural_key") -> str:
    """Return a natural key of 1 to 256 characters; one that holds a secret is refused."""
    text = clean_text(key, field=field, max_chars=MAX_KEY_CHARS)
    if scrub(text).text != text:
        _refuse(field, "holds what looks like a secret; name the node otherwise", "secret")
    return text


def clean_node(
    label: object, natural_key: object, properties: object, provenance: object, status: object
) -> NodeDump:
    """Return a checked node whose properties are free of secrets; ValidationFailed says where."""
    return NodeDump(
        label=clean_label(label),
        natural_key=clean_key(natural_key),
        properties=_clean_properties(properties),
        provenance=_choice(Provenance, provenance, "provenance"),
        status=_choice(Status, status, "status"),
    )


def clean_edge(
    source: Ref,
    target: Ref,
    relation: object,
    weight: object,
    properties: object,
    observed_at: datetime,
) -> EdgeDump:
    """Return a checked edge; ValidationFailed says which field is wrong."""
    if not isinstance(relation, str):
        _refuse("relation", "must be a string", "type")
    if source == target:
        _refuse("target", "is the source itself", "self-loop")
    return EdgeDump(
        source=source,
        target=target,
        relation=parse_relation(relation).value,
        weight=_clean_weight(weight),
        properties=_clean_properties(properties),
        observed_at=parse_timestamp(format_timestamp(observed_at), field="observed_at"),
    )


def written_over(present: NodeDump | None, new: NodeDump, *, importing: bool) -> NodeDump | None:
    """Return the node as an upsert leaves it, None when nothing changes.

    Nothing becomes active by being proposed: that is refused with ValidationFailed, and a proposal
    leaves a node alone that somebody has accepted or archived. The first provenance stays. What is
    imported passed those gates where it was exported.
    """
    proposed = new.provenance is Provenance.PROPOSED
    if not importing and proposed and new.status is Status.ACTIVE:
        _refuse("status", "of a proposal is provisional until an operator accepts it", "proposed")
    if present is None:
        return new
    if not importing and proposed and present.status is not Status.PROVISIONAL:
        return None
    if owners_of(present) != owners_of(new):
        _refuse("properties.data_subjects", "cannot change: whose data a node is stays")
    updated = replace(new, provenance=present.provenance)
    return None if updated == present else updated


def dangling(edge: EdgeDump, refs: Collection[Ref]) -> ValidationFailed:
    """Return the refusal of an edge one of whose ends is not known."""
    field_name, ref = next(
        (name, ref)
        for name, ref in (("source", edge.source), ("target", edge.target))
        if ref not in refs
    )
    message = f"{ref[0]} {ref[1]!r} is no node here"
    return ValidationFailed(
        f"{field_name} {message}.", reason="dangling-edge", errors=[FieldError(field_name, message)]
    )


def subject_of(ref: Ref) -> tuple[str, str] | None:
    """Return whose data a node is by its label: (kind, natural key) of a customer or a user.

    The key is the one under which memories name the same client or person: the label that a
    natural key may begin with (`customer:acme`) is no part of it.
    """
    label, key = ref
    kind = _SUBJECT_KINDS.get(label)
    return (kind, key.removeprefix(f"{label}:") or key) if kind else None


def owners_of(node: NodeDump) -> tuple[tuple[str, str], ...]:
    """Return whose data a node is: what its label says, and `properties.data_subjects`.

    That is a list of natural keys such as `customer:acme` or `user:ada@example.org`; without either
    beginning a person is meant. Raises ValidationFailed for anything else under that name.
    """
    subjects = node.properties.get("data_subjects", [])
    if not isinstance(subjects, list) or not all(
        isinstance(item, str) for item in cast("list[Any]", subjects)
    ):
        _refuse("properties.data_subjects", "is a list of natural keys", "type")
    own = subject_of(node.ref)
    others = [named_subjects(key)[0] for key in cast("list[str]", subjects)]
    return tuple(dict.fromkeys([*([own] if own else []), *others]))


def named_subjects(natural_key: str) -> tuple[tuple[str, str], ...]:
    """Return the data subjects a natural key may mean: of a bare one a person, then a client."""
    for label, kind in _SUBJECT_KINDS.items():
        if natural_key.startswith(f"{label}:"):
            return ((kind, natural_key.removeprefix(f"{label}:")),)
    return ("person", natural_key), ("client", natural_key)


def without_fractions(value: Any) -> Any:
    """Return a JSON value with numbers that have no canonical form as their texts.

    The graph takes none in, but other routes state edges that may have some.
    """
    if isinstance(value, dict):
        items = cast("dict[str, Any]", value).items()
        return {name: without_fractions(item) for name, item in items}
    if isinstance(value, list):
        return [without_fractions(item) for item in cast("list[Any]", value)]
    if isinstance(value, float) or (type(value) is int and abs(value) > MAX_INTEGER):
        return repr(value)
    return value


def _clean_properties(properties: object) -> Mapping[str, Any]:
    """Return properties without secrets; numbers with a fraction have no canonical form."""
    if not isinstance(properties, dict):
        _refuse("properties", "is an object", "type")
    checked = clean_json(
        cast("dict[str, Any]", properties),
        field="properties",
        max_bytes=MAX_PROPERTIES_BYTES,
        max_depth=MAX_PROPERTIES_DEPTH,
    )
    try:
        canonical_bytes(checked)
    except ValidationFailed as refused:
        where = "properties" + refused.errors[0].location.removeprefix("$")
        _refuse(where, f"{refused.errors[0].message}; write it as a string", refused.reason)
    return cast("Mapping[str, Any]", scrub_value(checked)[0])


def _clean_weight(weight: object) -> float:
    if isinstance(weight, bool) or not isinstance(weight, (int, float)):
        _refuse("weight", "must be a number", "type")
    if not 0 < weight <= MAX_WEIGHT:
        _refuse("weight", f"must be above 0 and at most {MAX_WEIGHT:.0f}")
    return float(weight)


def _choice(kind: type[T], value: object, field: str) -> T:
    if not isinstance(value, str) or value not in set(kind):
        _refuse(field, f"is one of {', '.join(kind)}")
    return kind(value)


def _refuse(field: str, message: str, reason: str | None = None) -> NoReturn:
    raise ValidationFailed(
        f"{field} {message}.", reason=reason, errors=[FieldError(field, message)]
    )
