"""A walk, drawn from the seeds outward."""

from typing import Any
from xml.etree import ElementTree

from cairn.recall.walks.picture import hops_from, walk_picture


def edge(source: str, target: str) -> dict[str, Any]:
    return {
        "source_id": source,
        "target_id": target,
        "view": "entity",
        "relation": "USES",
        "weight": 1.0,
    }


def test_hops_count_from_the_nearest_seed_and_cycles_end() -> None:
    edges = [edge("a", "b"), edge("c", "b"), edge("c", "a"), edge("c", "d"), edge("x", "y")]
    assert hops_from(["a"], edges) == {"a": 0, "b": 1, "c": 1, "d": 2}


def test_only_what_the_reader_may_see_is_drawn() -> None:
    told = {
        "search_id": "s",
        "seeds": ["a"],
        "results": [{"node_id": "b", "score": 0.5}],
        "nodes": [
            {"node_id": "a", "type": "Entity", "text": "<Acme> & Co"},
            {"node_id": "b", "type": "Memory", "text": "Acme moved."},
        ],
        "edges": [edge("b", "a"), edge("b", "hidden")],
    }
    drawn = walk_picture(told)
    ElementTree.fromstring(drawn)
    assert "Acme moved." in drawn
    assert "hidden" not in drawn


def test_a_search_without_a_walk_says_so() -> None:
    told: dict[str, Any] = {"search_id": "s", "seeds": [], "results": [], "nodes": [], "edges": []}
    assert "no graph was walked" in walk_picture(told)
