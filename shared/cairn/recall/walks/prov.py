"""A lineage as PROV-JSON, the W3C PROV data model's JSON form. Export only; nothing is read back.

Nodes: an Event is an activity; an Entity that acts (agent, person, organisation, user, client) is
an agent; everything else is an entity. Where an edge is about what an event says and not about its
happening (SUMMARIZES, SIMILAR_TO), the event's record stands in: an entity that the activity
generated. Besides the lineage itself the document has what its nodes refer to and are like. Edges,
by what stands at their two ends:

CAUSED_BY       wasInformedBy (activity, activity), wasGeneratedBy (entity, activity),
                used (activity, entity), wasDerivedFrom (entity, entity)
PRODUCED        wasGeneratedBy (its target, an activity), wasDerivedFrom (its target, an entity)
REFERENCES      wasAttributedTo (entity, agent), wasAssociatedWith (activity, agent),
                used (activity, entity)
DERIVED_FROM, BUILDS_ON, DEPENDS_ON      wasDerivedFrom
SIMILAR_TO      wasDerivedFrom, the later of the two from the earlier
SUPERSEDES      wasDerivedFrom, typed prov:Revision
SUMMARIZES      alternateOf
PART_OF         hadMember
any other       wasInfluencedBy, the later by the earlier
FOLLOWS         has no counterpart and is left out
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from cairn.graph.edge import Relation
from cairn.graph.node import Label
from cairn.kernel.text.canonical import format_timestamp
from cairn.recall.walks.lineage import TOWARDS_OUTCOME

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

    from cairn.graph.quality import GraphEdge
    from cairn.recall.records import FoundNode
    from cairn.recall.walks.lineage import Lineage

PREFIXES = {
    "node": "urn:cairn:node:",
    "edge": "urn:cairn:edge:",
    "record": "urn:cairn:record:",
    "said": "urn:cairn:agent:",
    "cairn": "urn:cairn:",
}
ACTING = frozenset({"agent", "person", "organisation", "user", "client"})
LABEL_CHARACTERS = 200

Statement = tuple[str, dict[str, Any]]

_ACTIVITY, _AGENT, _ENTITY = "activity", "agent", "entity"
_DERIVED = frozenset({Relation.DERIVED_FROM, Relation.BUILDS_ON, Relation.DEPENDS_ON})
_OF_TEXTS = frozenset({Relation.SIMILAR_TO, Relation.SUMMARIZES})
"""Edges between what nodes say: an event's end of them is its record."""


def prov_json(lineage: Lineage) -> dict[str, Any]:
    """Return the PROV-JSON document of a lineage."""
    document: dict[str, Any] = {"prefix": dict(PREFIXES)}
    nodes = {node.id: node for node in (*(node.node for node in lineage.nodes), *lineage.beside)}
    kinds = {node_id: prov_kind(node) for node_id, node in nodes.items()}
    for node_id, node in nodes.items():
        document.setdefault(kinds[node_id], {})[_id(node_id)] = _attributes(node)
        _add_speaker(document, node, kinds[node_id])
    for edge in (*lineage.edges, *lineage.beside_edges):
        if edge.relation in _OF_TEXTS:
            name, record = _between_texts(document, edge, nodes)
        elif (statement := _statement(edge, kinds)) is not None:
            name, record = statement
        else:
            continue
        document.setdefault(name, {})[f"edge:{edge.id}"] = record
    return document


def _between_texts(
    document: dict[str, Any], edge: GraphEdge, nodes: Mapping[UUID, FoundNode]
) -> Statement:
    """Return what an edge says of two texts; the records of events come into the document."""
    source, target = nodes[edge.source_id], nodes[edge.target_id]
    if edge.relation == Relation.SUMMARIZES:
        first, second = _text_of(document, source), _text_of(document, target)
        return "alternateOf", {"prov:alternate1": first, "prov:alternate2": second}
    earlier, later = sorted((source, target), key=lambda item: (item.occurred_at, item.id))
    name, statement = _derived(_text_of(document, later), _text_of(document, earlier))
    return name, statement | {
        "cairn:similarity": edge.score if edge.score is not None else edge.weight
    }


def _text_of(document: dict[str, Any], node: FoundNode) -> str:
    """Return the entity that a node's text is: the node itself, or the record of an event."""
    if prov_kind(node) != _ACTIVITY:
        return _id(node.id)
    record = f"record:{node.id}"
    label = (node.summary or node.text)[:LABEL_CHARACTERS]
    document.setdefault(_ENTITY, {})[record] = {
        "prov:label": label,
        "prov:type": "cairn:EventRecord",
    }
    name, statement = _of_two(record, _id(node.id), (_ENTITY, _ACTIVITY))
    document.setdefault(name, {})[record] = statement
    return record


def prov_kind(node: FoundNode) -> str:
    """Return activity, agent or entity."""
    if node.label == Label.EVENT:
        return _ACTIVITY
    if node.label == Label.ENTITY and node.kind in ACTING:
        return _AGENT
    return _ENTITY


def _attributes(node: FoundNode) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "prov:label": (node.title or node.canonical_name or node.text)[:LABEL_CHARACTERS],
        "prov:type": f"cairn:{node.label}",
        "cairn:kind": node.kind,
        "cairn:state": node.state,
        "cairn:entry": str(node.entry_id),
        "cairn:position": node.position,
        "cairn:session": node.session_id,
        "cairn:occurred_at": _moment(node.occurred_at),
        "cairn:recorded_at": _moment(node.recorded_at),
    }
    if node.label == Label.EVENT:
        attributes["prov:startTime"] = format_timestamp(node.occurred_at)
    return {name: value for name, value in attributes.items() if value is not None}


def _moment(moment: datetime) -> dict[str, str]:
    return {"$": format_timestamp(moment), "type": "xsd:dateTime"}


def _add_speaker(document: dict[str, Any], node: FoundNode, kind: str) -> None:
    """Say which agent a node comes from, by the name it was written under."""
    if not node.source_agent or kind == _AGENT:
        return
    speaker = f"said:{quote(node.source_agent, safe='')}"
    document.setdefault(_AGENT, {})[speaker] = {"prov:label": node.source_agent}
    if kind == _ACTIVITY:
        name, statement = (
            "wasAssociatedWith",
            {"prov:activity": _id(node.id), "prov:agent": speaker},
        )
    else:
        name, statement = "wasAttributedTo", {"prov:entity": _id(node.id), "prov:agent": speaker}
    document.setdefault(name, {})[f"said:{node.id}"] = statement


def _statement(edge: GraphEdge, kinds: Mapping[UUID, str]) -> Statement | None:
    source, target = _id(edge.source_id), _id(edge.target_id)
    ends = (kinds[edge.source_id], kinds[edge.target_id])
    if edge.relation == Relation.FOLLOWS:
        return None
    if edge.relation in (Relation.CAUSED_BY, Relation.REFERENCES):
        return _of_two(source, target, ends)
    if edge.relation == Relation.PRODUCED:
        return _of_two(target, source, (ends[1], ends[0]))
    if ends == (_ENTITY, _ENTITY):
        if edge.relation == Relation.PART_OF:
            return "hadMember", {"prov:collection": target, "prov:entity": source}
        if edge.relation == Relation.SUPERSEDES:
            name, statement = _derived(source, target)
            return name, statement | {"prov:type": "prov:Revision"}
        if edge.relation in _DERIVED:
            return _derived(source, target)
    if edge.relation in TOWARDS_OUTCOME:
        source, target = target, source
    return _influenced(source, target)


def _of_two(later: str, earlier: str, ends: tuple[str, str]) -> Statement:
    """Return what PROV calls it that something later goes back to something earlier."""
    match ends:
        case ("activity", "activity"):
            return "wasInformedBy", {"prov:informed": later, "prov:informant": earlier}
        case ("entity", "activity"):
            return "wasGeneratedBy", {"prov:entity": later, "prov:activity": earlier}
        case ("activity", "entity"):
            return "used", {"prov:activity": later, "prov:entity": earlier}
        case ("entity", "entity"):
            return _derived(later, earlier)
        case ("entity", "agent"):
            return "wasAttributedTo", {"prov:entity": later, "prov:agent": earlier}
        case ("activity", "agent"):
            return "wasAssociatedWith", {"prov:activity": later, "prov:agent": earlier}
        case _:
            return _influenced(later, earlier)


def _derived(later: str, earlier: str) -> Statement:
    return "wasDerivedFrom", {"prov:generatedEntity": later, "prov:usedEntity": earlier}


def _influenced(later: str, earlier: str) -> Statement:
    return "wasInfluencedBy", {"prov:influencee": later, "prov:influencer": earlier}


def _id(node_id: UUID) -> str:
    return f"node:{node_id}"
