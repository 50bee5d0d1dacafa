"""The PROV-JSON of a lineage: the mapping row by row, and a reader written by others."""

import json
from typing import Any

import pytest
from prov.model import ProvDocument
from tests.unit.retrieval.lineages import found, joined, lineage

from cairn.retrieval.prov import prov_json
from cairn.retrieval.records import FoundNode

EVENT = found("event", "Event")
CAUSE = found("cause", "Event")
MEMORY = found("memory")
SOURCE = found("source")
AGENT = found("agent", "Entity", kind="agent", canonical_name="bot")
TOOL = found("tool", "Entity", kind="tool", canonical_name="hammer")
SUMMARY = found("summary", "Summary")

ROWS = [
    (EVENT, "CAUSED_BY", CAUSE, "wasInformedBy", "informed", "informant"),
    (MEMORY, "CAUSED_BY", EVENT, "wasGeneratedBy", "entity", "activity"),
    (EVENT, "CAUSED_BY", MEMORY, "used", "activity", "entity"),
    (MEMORY, "CAUSED_BY", SOURCE, "wasDerivedFrom", "generatedEntity", "usedEntity"),
    (MEMORY, "REFERENCES", AGENT, "wasAttributedTo", "entity", "agent"),
    (EVENT, "REFERENCES", AGENT, "wasAssociatedWith", "activity", "agent"),
    (EVENT, "REFERENCES", TOOL, "used", "activity", "entity"),
    (MEMORY, "SIMILAR_TO", SOURCE, "wasDerivedFrom", "generatedEntity", "usedEntity"),
    (SUMMARY, "SUMMARIZES", MEMORY, "alternateOf", "alternate1", "alternate2"),
    (MEMORY, "SUPERSEDES", SOURCE, "wasDerivedFrom", "generatedEntity", "usedEntity"),
    (SUMMARY, "SUMMARIZES", EVENT, "wasInfluencedBy", "influencee", "influencer"),
    (MEMORY, "SOLVES", SOURCE, "wasInfluencedBy", "influencee", "influencer"),
]
TURNED = [
    (EVENT, "PRODUCED", MEMORY, "wasGeneratedBy", "entity", "activity"),
    (SOURCE, "PRODUCED", MEMORY, "wasDerivedFrom", "generatedEntity", "usedEntity"),
    (MEMORY, "PART_OF", SOURCE, "hadMember", "collection", "entity"),
    (SOURCE, "CAUSES", MEMORY, "wasInfluencedBy", "influencee", "influencer"),
]


def said(source: FoundNode, relation: str, target: FoundNode, name: str) -> dict[str, Any]:
    document = prov_json(lineage([source, target], [joined(source, relation, target)]))
    (statement,) = document[name].values()
    return statement


@pytest.mark.parametrize(("source", "relation", "target", "name", "first", "second"), ROWS)
def test_an_edge_becomes_what_its_ends_are_to_each_other(
    source: FoundNode, relation: str, target: FoundNode, name: str, first: str, second: str
) -> None:
    statement = said(source, relation, target, name)
    assert statement[f"prov:{first}"] == f"node:{source.id}"
    assert statement[f"prov:{second}"] == f"node:{target.id}"


@pytest.mark.parametrize(("source", "relation", "target", "name", "first", "second"), TURNED)
def test_an_edge_that_points_forward_is_turned(
    source: FoundNode, relation: str, target: FoundNode, name: str, first: str, second: str
) -> None:
    statement = said(source, relation, target, name)
    assert statement[f"prov:{first}"] == f"node:{target.id}"
    assert statement[f"prov:{second}"] == f"node:{source.id}"


def test_a_new_version_is_a_revision() -> None:
    assert said(MEMORY, "SUPERSEDES", SOURCE, "wasDerivedFrom")["prov:type"] == "prov:Revision"


def test_order_alone_is_no_provenance() -> None:
    document = prov_json(lineage([EVENT, CAUSE], [joined(EVENT, "FOLLOWS", CAUSE)]))
    assert set(document) == {"prefix", "activity"}


def test_a_node_is_attributed_to_whoever_wrote_it() -> None:
    mine = found("mine", source_agent="bot: 7/ä")
    document = prov_json(lineage([mine], []))
    assert document["agent"] == {"said:bot%3A%207%2F%C3%A4": {"prov:label": "bot: 7/ä"}}
    (statement,) = document["wasAttributedTo"].values()
    assert statement["prov:agent"] == "said:bot%3A%207%2F%C3%A4"


def test_a_node_says_its_entry_and_its_times() -> None:
    document = prov_json(lineage([EVENT], []))
    (event,) = document["activity"].values()
    assert event["cairn:entry"] == str(EVENT.entry_id)
    assert event["cairn:position"] == 7
    assert event["prov:startTime"] == "2026-05-01T12:00:00.000000Z"
    assert event["cairn:recorded_at"]["type"] == "xsd:dateTime"


def test_another_library_reads_it_whole() -> None:
    rows = [*ROWS, *TURNED]
    nodes = [EVENT, CAUSE, MEMORY, SOURCE, AGENT, TOOL, SUMMARY, found("w", source_agent="a b")]
    edges = [
        joined(source, relation, target, id=found(f"edge{number}").id)
        for number, (source, relation, target, *_) in enumerate(rows)
    ]
    document = ProvDocument.deserialize(
        content=json.dumps(prov_json(lineage(nodes, edges))), format="json"
    )
    records = list(document.get_records())
    assert len([one for one in records if one.is_element()]) == len(nodes) + 1
    assert len([one for one in records if one.is_relation()]) == len(rows) + 1
