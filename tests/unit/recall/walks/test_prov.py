"""The PROV-JSON of a lineage: the mapping row by row, and a reader written by others."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from prov.model import ProvDocument
from tests.unit.recall.walks.lineages import NOON, found, joined, lineage

from cairn.kernel.ids import new_id
from cairn.recall.records import FoundNode
from cairn.recall.walks.prov import prov_json

EVENT = found("event", "Event")
CAUSE = found("cause", "Event")
MEMORY = found("memory")
SOURCE = found("source")
AGENT = found("agent", "Entity", kind="agent", canonical_name="bot")
TOOL = found("tool", "Entity", kind="tool", canonical_name="hammer")
SUMMARY = found("summary", "Summary")
EARLIER = found("earlier", occurred_at=NOON - timedelta(days=1))

ROWS = [
    (EVENT, "CAUSED_BY", CAUSE, "wasInformedBy", "informed", "informant"),
    (MEMORY, "CAUSED_BY", EVENT, "wasGeneratedBy", "entity", "activity"),
    (EVENT, "CAUSED_BY", MEMORY, "used", "activity", "entity"),
    (MEMORY, "CAUSED_BY", SOURCE, "wasDerivedFrom", "generatedEntity", "usedEntity"),
    (MEMORY, "REFERENCES", AGENT, "wasAttributedTo", "entity", "agent"),
    (EVENT, "REFERENCES", AGENT, "wasAssociatedWith", "activity", "agent"),
    (EVENT, "REFERENCES", TOOL, "used", "activity", "entity"),
    (MEMORY, "SIMILAR_TO", EARLIER, "wasDerivedFrom", "generatedEntity", "usedEntity"),
    (SUMMARY, "SUMMARIZES", MEMORY, "alternateOf", "alternate1", "alternate2"),
    (MEMORY, "SUPERSEDES", SOURCE, "wasDerivedFrom", "generatedEntity", "usedEntity"),
    (MEMORY, "SOLVES", SOURCE, "wasInfluencedBy", "influencee", "influencer"),
]
TURNED = [
    (EVENT, "PRODUCED", MEMORY, "wasGeneratedBy", "entity", "activity"),
    (SOURCE, "PRODUCED", MEMORY, "wasDerivedFrom", "generatedEntity", "usedEntity"),
    (MEMORY, "PART_OF", SOURCE, "hadMember", "collection", "entity"),
    (SOURCE, "CAUSES", MEMORY, "wasInfluencedBy", "influencee", "influencer"),
    (EARLIER, "SIMILAR_TO", MEMORY, "wasDerivedFrom", "generatedEntity", "usedEntity"),
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


def test_what_sums_up_or_resembles_an_event_stands_to_its_record() -> None:
    document = prov_json(
        lineage([SUMMARY, EVENT], [joined(SUMMARY, "SUMMARIZES", EVENT, id=new_id())])
    )
    [alternate] = document["alternateOf"].values()
    record = f"record:{EVENT.id}"
    assert alternate == {"prov:alternate1": f"node:{SUMMARY.id}", "prov:alternate2": record}
    assert document["entity"][record]["prov:type"] == "cairn:EventRecord"
    [made] = document["wasGeneratedBy"].values()
    assert made == {"prov:entity": record, "prov:activity": f"node:{EVENT.id}"}


def test_what_a_node_refers_to_and_is_like_is_exported_beside_its_lineage() -> None:
    traced = replace(
        lineage([MEMORY], []),
        beside=(AGENT, EARLIER),
        beside_edges=(
            joined(MEMORY, "REFERENCES", AGENT),
            joined(MEMORY, "SIMILAR_TO", EARLIER, score=0.9),
        ),
    )
    document = prov_json(traced)
    assert f"node:{AGENT.id}" in document["agent"]
    assert [item["prov:agent"] for item in document["wasAttributedTo"].values()] == [
        f"node:{AGENT.id}"
    ]
    assert [item["cairn:similarity"] for item in document["wasDerivedFrom"].values()] == [0.9]


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
    rows.append((SUMMARY, "SUMMARIZES", EVENT, "alternateOf", "alternate1", "alternate2"))
    written = found("w", source_agent="a b")
    nodes = [EVENT, CAUSE, MEMORY, SOURCE, EARLIER, AGENT, TOOL, SUMMARY, written]
    edges = [
        joined(source, relation, target, id=found(f"edge{number}").id)
        for number, (source, relation, target, *_) in enumerate(rows)
    ]
    document = ProvDocument.deserialize(
        content=json.dumps(prov_json(lineage(nodes, edges))), format="json"
    )
    records = list(document.get_records())
    # besides: who wrote one node, and the record of the event that was summed up
    assert len([record for record in records if record.is_element()]) == len(nodes) + 2
    assert len([record for record in records if record.is_relation()]) == len(rows) + 2
