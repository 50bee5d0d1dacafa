"""A drawing of a walked subgraph: columns by hops from the seeds, as SVG. Pure; no script in it.

Not a layout engine: with many edges only those a node was reached by carry their relation's name,
the others are thin lines of the relation's colour. Every line and box has its full text as a title.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import category, east_asian_width
from xml.sax.saxutils import escape, quoteattr

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


WIDTH, HEIGHT = 196, 42  # of a box
GAP_X, GAP_Y = 96, 18
ROWS = 20  # of a column; more nodes of one depth stand in further columns
MARGIN, TOP = 24, 72
MOST_NODES = 500
LABELLED = 60  # edges; with more, only the ways nodes were reached by are named
CHARACTERS = 27  # of a line in a box

_FILL = {
    "Entity": "#e8f0fe", "Event": "#fef3e2", "Memory": "#eaf6ec", "Chunk": "#f3eefb",
    "Section": "#f3eefb", "Document": "#f3eefb", "Summary": "#fdeef0", "Report": "#fdeef0",
    "Conversation": "#eef3f4", "Message": "#eef3f4",
}  # fmt: skip
_COLOURS = {
    "CAUSED_BY": "#c0392b", "FOLLOWS": "#7f8c8d", "SIMILAR_TO": "#8e44ad",
    "REFERENCES": "#1f618d", "CO_OCCURRENCE": "#85929e", "SUMMARIZES": "#b9770e",
    "SUPERSEDES": "#117864", "PART_OF": "#616a6b", "PRODUCED": "#a04000",
}  # fmt: skip
_OTHER = "#34495e"
_STYLE = (
    "text{font-family:'DejaVu Sans',Verdana,Arial,sans-serif;fill:#1b2631}"
    ".kind{font-size:9px;fill:#566573}.text{font-size:11px}.by{font-size:9px}"
    ".title{font-size:15px;font-weight:600}.legend{font-size:11px}"
)


class PictureNode(NamedTuple):
    """A node to draw. `depth` None stands apart, in the last column."""

    id: str
    label: str
    text: str
    depth: int | None
    kind: str | None = None
    score: float | None = None
    via: str | None = None
    proactive: bool = False


class PictureEdge(NamedTuple):
    """An edge to draw; `note` is said in its title."""

    id: str
    source: str
    target: str
    relation: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class _Place:
    x: float
    y: float

    @property
    def middle(self) -> float:
        return self.y + HEIGHT / 2


def picture(nodes: Sequence[PictureNode], edges: Sequence[PictureEdge], *, title: str) -> str:
    """Return an SVG document, dark on white, of at most 500 nodes and the edges between them."""
    shown = list({node.id: node for node in nodes[:MOST_NODES]}.values())
    places = _placed(shown, edges)
    between = [edge for edge in edges if edge.source in places and edge.target in places]
    width = max((place.x for place in places.values()), default=0) + WIDTH + MARGIN
    lowest = max((place.y for place in places.values()), default=TOP) + HEIGHT
    legend = _legend(between, lowest + 2 * GAP_Y)
    width = max(width, 520)
    height = lowest + 2 * GAP_Y + 22 * (1 + len(Counter(item.relation for item in between)) // 4)
    reached_by = {node.via for node in shown if node.via}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label={quoteattr(_clean(title))}>',
        f"<style>{_STYLE}</style>",
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="#ffffff"/>',
        f'<text class="title" x="{MARGIN}" y="28">{_xml(_cut(title, 90))}</text>',
        *_headings(shown, places),
        *(_line(item, places, strong=item.id in reached_by) for item in between),
        *(_box(node, places[node.id]) for node in shown),
        *_names(shown, between, places),
        *legend,
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def answer_picture(answer: Mapping[str, Any], *, title: str) -> str:
    """Return the drawing of a subgraph's or a lineage's JSON answer."""
    nodes = [
        PictureNode(
            id=node["node_id"],
            label=node["type"],
            kind=node.get("kind"),
            text=_node_name(node),
            depth=node.get("depth"),
            score=node.get("scores", {}).get("relevance_score"),
            via=node.get("via"),
            proactive=node.get("retrieval_reason") == "proactive",
        )
        for node in answer["nodes"]
    ]
    edges = [
        PictureEdge(
            id=edge["edge_id"],
            source=edge["source_id"],
            target=edge["target_id"],
            relation=edge["relation"],
            note=", ".join(
                f"{name} {edge[name]}" for name in ("role", "mechanism", "score") if name in edge
            ),
        )
        for edge in answer["edges"]
    ]
    return picture(nodes, edges, title=title)


def _node_name(node: Mapping[str, Any]) -> str:
    attributes: Mapping[str, Any] = node.get("attributes", {})
    return str(attributes.get("canonical_name") or attributes.get("title") or node["text"])


def _placed(nodes: Sequence[PictureNode], edges: Iterable[PictureEdge]) -> dict[str, _Place]:
    """Return where each node stands; beside its neighbours of the column before, best first."""
    deepest = max((node.depth for node in nodes if node.depth is not None), default=0)
    columns: dict[int, list[PictureNode]] = {}
    for node in nodes:
        columns.setdefault(deepest + 1 if node.depth is None else node.depth, []).append(node)
    beside: dict[str, list[str]] = {}
    for edge in edges:
        beside.setdefault(edge.source, []).append(edge.target)
        beside.setdefault(edge.target, []).append(edge.source)
    places: dict[str, _Place] = {}
    x = float(MARGIN)
    for depth in sorted(columns):
        ordered = _ordered(columns[depth], beside, places)
        for start in range(0, len(ordered), ROWS):
            for row, node in enumerate(ordered[start : start + ROWS]):
                places[node.id] = _Place(x, TOP + row * (HEIGHT + GAP_Y))
            x += WIDTH + (GAP_X if start + ROWS >= len(ordered) else GAP_X / 3)
    return places


def _ordered(
    column: Sequence[PictureNode], beside: Mapping[str, list[str]], places: Mapping[str, _Place]
) -> list[PictureNode]:
    def key(node: PictureNode) -> tuple[float, float, str]:
        rows = [places[name].y for name in beside.get(node.id, ()) if name in places]
        height = sum(rows) / len(rows) if rows else 0.0
        return height, -(node.score or 0.0), node.id

    return sorted(column, key=key)


def _headings(nodes: Sequence[PictureNode], places: Mapping[str, _Place]) -> Iterable[str]:
    seen: set[int | None] = set()
    for node in sorted(nodes, key=lambda node: places[node.id].x):
        if node.depth not in seen:
            seen.add(node.depth)
            hops = (
                "seeds"
                if node.depth == 0
                else f"{node.depth} hop{'s' * (node.depth != 1)}"
                if (node.depth is not None)
                else "not asked for"
            )
            yield f'<text class="kind" x="{places[node.id].x:.0f}" y="{TOP - 18}">{hops}</text>'


def _box(node: PictureNode, place: _Place) -> str:
    kind = f"{node.label} \u00b7 {node.kind}" if node.kind else node.label
    score = "" if node.score is None else f" \u00b7 {node.score:.2f}"
    dashes = ' stroke-dasharray="5 3"' if node.proactive else ""
    round_ = HEIGHT / 2 if node.label == "Entity" else 4
    weight = 2 if node.depth == 0 else 1
    fill = _FILL.get(node.label, "#f4f6f7")
    inset = 15 if node.label == "Entity" else 9
    return (
        f"<g><title>{_xml(kind + score)}\n{_xml(_cut(node.text, 600))}</title>"
        f'<rect x="{place.x:.0f}" y="{place.y:.0f}" width="{WIDTH}" height="{HEIGHT}" '
        f'rx="{round_:.0f}" fill="{fill}" stroke="#2c3e50" stroke-width="{weight}"{dashes}/>'
        f'<text class="kind" x="{place.x + inset:.0f}" y="{place.y + 15:.0f}">'
        f"{_xml(_cut(kind, CHARACTERS) + score)}</text>"
        f'<text class="text" x="{place.x + inset:.0f}" y="{place.y + 31:.0f}">'
        f"{_xml(_cut(node.text, CHARACTERS))}</text></g>"
    )


def _ends(edge: PictureEdge, places: Mapping[str, _Place]) -> tuple[float, float, float, float]:
    """Return the line's two ends: right side to left side, or both on the right of one column."""
    start, other = places[edge.source], places[edge.target]
    if start.x < other.x:
        return start.x + WIDTH, start.middle, other.x, other.middle
    if start.x > other.x:
        return start.x, start.middle, other.x + WIDTH, other.middle
    return start.x + WIDTH, start.middle, other.x + WIDTH, other.middle


def _line(edge: PictureEdge, places: Mapping[str, _Place], *, strong: bool) -> str:
    x1, y1, x2, y2 = _ends(edge, places)
    colour = _COLOURS.get(edge.relation, _OTHER)
    bend = GAP_X * 0.45
    left, right = (x1 + bend, x2 - bend) if x1 < x2 else (x1 - bend, x2 + bend)
    if x1 == x2:
        left = right = x1 + bend
        y2 += 8 * (edge.source == edge.target)
    note = f" ({edge.note})" if edge.note else ""
    return (
        f'<path d="M{x1:.0f} {y1:.0f} C{left:.0f} {y1:.0f} {right:.0f} {y2:.0f} {x2:.0f} {y2:.0f}" '
        f'fill="none" stroke="{colour}" stroke-width="{1.6 if strong else 0.8}" '
        f'stroke-opacity="{0.9 if strong else 0.35}">'
        f"<title>{_xml(edge.relation + note)}</title></path>"
        f'<circle cx="{x2:.0f}" cy="{y2:.0f}" r="2.5" fill="{colour}"/>'
    )


def _names(
    nodes: Sequence[PictureNode], edges: Sequence[PictureEdge], places: Mapping[str, _Place]
) -> Iterable[str]:
    """Yield the relations' names: above each box the way to it, elsewhere at a line's middle."""
    by_id = {edge.id: edge for edge in edges}
    for node in nodes:
        way = by_id.get(node.via or "")
        if way is not None:
            place = places[node.id]
            yield _name(way.relation, place.x + 6, place.y - 4, "start")
    if len(edges) > LABELLED:
        return
    reached_by = {node.via for node in nodes}
    taken: Counter[tuple[int, int]] = Counter()
    for edge in (edge for edge in edges if edge.id not in reached_by):
        x1, y1, x2, y2 = _ends(edge, places)
        x = (x1 + x2) / 2 + (GAP_X * 0.34 if x1 == x2 else 0)
        y = (y1 + y2) / 2 - 3
        place = (round(x / 60), round(y / 20))
        taken[place] += 1
        yield _name(edge.relation, x, y + 11 * (taken[place] - 1), "middle")


def _name(relation: str, x: float, y: float, anchor: str) -> str:
    colour = _COLOURS.get(relation, _OTHER)
    return (
        f'<text class="by" x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" '
        f'style="fill:{colour};paint-order:stroke;stroke:#ffffff;stroke-width:3px">'
        f"{_xml(_cut(relation, 18))}</text>"
    )


def _legend(edges: Sequence[PictureEdge], y: float) -> list[str]:
    counted = Counter(edge.relation for edge in edges)
    parts: list[str] = []
    for number, (relation, count) in enumerate(counted.most_common()):
        x, row = MARGIN + 170 * (number % 4), y + 22 * (number // 4)
        colour = _COLOURS.get(relation, _OTHER)
        parts.append(
            f'<line x1="{x}" y1="{row:.0f}" x2="{x + 18}" y2="{row:.0f}" stroke="{colour}" '
            f'stroke-width="3"/><text class="legend" x="{x + 24}" y="{row + 4:.0f}">'
            f"{_xml(_cut(relation, 18))} {count}</text>"
        )
    return parts


def _cut(text: str, characters: int) -> str:
    """Return the beginning of `text` that is so many narrow characters wide, on one line."""
    line: list[str] = []
    width = 0
    for character in " ".join(_clean(text).split()):
        width += 2 if east_asian_width(character) in "WF" else 1
        if width > characters:
            return "".join(line).rstrip() + "\u2026"
        line.append(character)
    return "".join(line)


def _clean(text: str) -> str:
    """Return the text without what XML cannot hold: controls, surrogates, noncharacters."""
    return "".join(
        item
        for item in text
        if item in "\n\t" or (category(item) not in ("Cc", "Cs") and ord(item) & 0xFFFE != 0xFFFE)
    )


def _xml(text: str) -> str:
    return escape(_clean(text))


def walk_picture(explained: Mapping[str, Any]) -> str:
    """Return the SVG of an explained search; it says so when no graph was walked.

    Nodes are those the reader may see (`nodes` of the explanation), by hops from the seeds.
    """
    depths = hops_from(explained["seeds"], explained["edges"])
    scores = {row["node_id"]: row["score"] for row in explained["results"]}
    nodes = [
        PictureNode(
            id=node["node_id"],
            label=node["type"],
            text=node["text"],
            depth=depths.get(node["node_id"]),
            score=scores.get(node["node_id"]),
        )
        for node in explained["nodes"]
    ]
    edges = [
        PictureEdge(
            id=str(number),
            source=edge["source_id"],
            target=edge["target_id"],
            relation=edge["relation"],
            note=f"weight {edge['weight']:g}",
        )
        for number, edge in enumerate(explained["edges"])
    ]
    walked = "the walk of" if edges else "no graph was walked by"
    return picture(nodes, edges, title=f"{walked} search {explained['search_id']}")


def hops_from(seeds: Iterable[str], edges: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return how many edges each reached node is away from the nearest seed, in any direction."""
    beside: dict[str, list[str]] = {}
    for edge in edges:
        beside.setdefault(edge["source_id"], []).append(edge["target_id"])
        beside.setdefault(edge["target_id"], []).append(edge["source_id"])
    depths = dict.fromkeys(seeds, 0)
    frontier: list[str] = list(depths)
    while frontier:
        reached = [(other, depths[node] + 1) for node in frontier for other in beside.get(node, ())]
        frontier = []
        for other, depth in reached:
            if other not in depths:
                depths[other] = depth
                frontier.append(other)
    return depths
