"""The drawing of a subgraph: well-formed, escaped, bounded, and everything in its place."""

import re
from typing import Any
from xml.etree import ElementTree

import pytest

from cairn.recall.walks.picture import (
    PictureEdge,
    PictureNode,
    answer_picture,
    hops_from,
    picture,
    walk_picture,
)


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


SVG = "{http://www.w3.org/2000/svg}"


def seed(**changes: Any) -> PictureNode:
    given: dict[str, Any] = {"id": "s", "label": "Entity", "text": "Stripe", "depth": 0}
    return PictureNode(**(given | changes))


def drawn(*nodes: PictureNode, edges: tuple[PictureEdge, ...] = ()) -> ElementTree.Element:
    return ElementTree.fromstring(picture(nodes, edges, title="A title"))


def texts(root: ElementTree.Element) -> list[str]:
    return [item.text or "" for item in root.iter(f"{SVG}text")]


def test_every_node_has_a_box_with_its_label_and_text() -> None:
    root = drawn(seed(kind="technology", score=0.5), seed(id="m", label="Memory", depth=1))
    assert "Stripe" in texts(root)
    assert "Entity · technology · 0.50" in texts(root)
    assert len(list(root.iter(f"{SVG}g"))) == 2


def test_entities_are_round_and_texts_have_corners() -> None:
    root = drawn(seed(), seed(id="m", label="Memory", depth=1))
    boxes = [item for item in root.iter(f"{SVG}rect") if item.get("rx")]
    (entity, text) = ((float(box.get("height", 0)), float(box.get("rx", 0))) for box in boxes)
    assert entity[1] == entity[0] / 2
    assert text[1] < text[0] / 8


def test_columns_stand_by_depth_and_a_node_without_one_is_last() -> None:
    root = drawn(
        seed(id="far", depth=2), seed(), seed(id="near", depth=1), seed(id="apart", depth=None)
    )
    headings = [
        text for text in texts(root) if text in ("seeds", "1 hop", "2 hops", "not asked for")
    ]
    assert headings == ["seeds", "1 hop", "2 hops", "not asked for"]


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script> & \"quotes\" 'all'",
        "]]> <!-- --> <svg onload=x>",
        "control \x00\x0b\x1b and \ufffe\uffff and \ud800",
        "🪨" * 400,
        "支払い" * 50,
        "",
        "line\nbreaks\r\nand\ttabs",
        "العربية עברית",
    ],
)
def test_any_text_is_drawn_as_text(text: str) -> None:
    node = PictureNode(id="a", label="Memory", text=text, depth=0, kind=text)
    svg = picture([node], [PictureEdge("e", "a", "a", text, text)], title=text)
    root = ElementTree.fromstring(svg.encode())
    names = {item.tag.removeprefix(SVG) for item in root.iter()}
    assert names <= {"svg", "style", "rect", "text", "path", "circle", "g", "title", "line"}
    attributes = {name for item in root.iter() for name in item.attrib}
    assert not any(name.startswith("on") or name.endswith("href") for name in attributes)


def test_an_edge_is_drawn_and_named_where_its_node_was_reached() -> None:
    edge = PictureEdge("e", "m", "s", "REFERENCES", "role about")
    root = drawn(seed(), seed(id="m", label="Memory", depth=1, via="e"), edges=(edge,))
    (line,) = list(root.iter(f"{SVG}path"))
    assert line.find(f"{SVG}title").text == "REFERENCES (role about)"  # type: ignore[union-attr]
    assert texts(root).count("REFERENCES") == 1
    assert "REFERENCES 1" in texts(root)


def test_with_many_edges_only_the_ways_are_named() -> None:
    nodes = [seed(), *(seed(id=f"n{n}", depth=1, via=f"e{n}") for n in range(9))]
    ways = [PictureEdge(f"e{n}", f"n{n}", "s", "REFERENCES") for n in range(9)]
    others = [
        PictureEdge(f"{a}-{b}", f"n{a}", f"n{b}", "SIMILAR_TO") for a in range(9) for b in range(9)
    ]
    root = drawn(*nodes, edges=(*ways, *others))
    assert texts(root).count("REFERENCES") == 9
    assert texts(root).count("SIMILAR_TO") == 0
    assert len(list(root.iter(f"{SVG}path"))) == 90


def test_boxes_of_a_hundred_nodes_do_not_overlap() -> None:
    root = drawn(seed(), *(seed(id=f"n{n}", depth=1 + n % 3) for n in range(99)))
    corners = [
        (float(box.attrib["x"]), float(box.attrib["y"]))
        for group in root.iter(f"{SVG}g")
        for box in group.iter(f"{SVG}rect")
    ]
    assert len(set(corners)) == 100
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    assert all(x + 196 <= width and y + 42 <= height for x, y in corners)
    for number, (x, y) in enumerate(corners):
        others = corners[number + 1 :]
        assert all(abs(x - x2) >= 196 or abs(y - y2) >= 42 for x2, y2 in others)


def test_no_more_than_five_hundred_nodes_and_no_edge_to_what_is_not_drawn() -> None:
    nodes = [seed(id=f"n{n}") for n in range(600)]
    root = drawn(*nodes, edges=(PictureEdge("e", "n1", "n599", "FOLLOWS"),))
    assert len(list(root.iter(f"{SVG}g"))) == 500
    assert not list(root.iter(f"{SVG}path"))


def test_nothing_is_an_empty_picture() -> None:
    root = drawn()
    assert texts(root) == ["A title"]


def test_a_subgraphs_answer_is_drawn_as_it_is() -> None:
    node: dict[str, Any] = {
        "node_id": "a",
        "type": "Entity",
        "kind": "technology",
        "text": "about it",
        "attributes": {"canonical_name": "Stripe"},
        "scores": {"relevance_score": 1.0},
        "retrieval_reason": "direct",
        "depth": 0,
    }
    other = node | {"node_id": "b", "type": "Memory", "attributes": {}, "depth": 1, "via": "e"}
    extra = node | {"node_id": "c", "retrieval_reason": "proactive", "depth": None}
    edge = {"edge_id": "e", "source_id": "b", "target_id": "a", "relation": "REFERENCES"}
    svg = answer_picture({"nodes": [node, other, extra], "edges": [edge]}, title="Q")
    assert "Stripe" in svg
    assert "about it" in svg
    assert len(re.findall("stroke-dasharray", svg)) == 1
