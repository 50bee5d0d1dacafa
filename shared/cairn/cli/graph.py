"""`cairn graph`: a subgraph or a lineage as a tree in the terminal, a drawing, or JSON."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cairn.cli.deps import Deps
from cairn.cli.options import Json, deps_of, escape, print_json, without_none

if TYPE_CHECKING:
    from rich.tree import Tree

app = typer.Typer(help="The graph around a question, and lineages.", no_args_is_help=True)

TEXT_CHARS = 70

Nodes = Sequence[Mapping[str, Any]]
Node = Annotated[
    list[str] | None, typer.Option("--node", help="A node to start from; may be repeated.")
]
Svg = Annotated[Path | None, typer.Option("--svg", help="Write a drawing to this file.")]
Depth = Annotated[int | None, typer.Option("--depth", help="Hops, 1 to 10; 3 unless given.")]
AsOf = Annotated[str | None, typer.Option("--as-of", help="A time, or a ledger position.")]


@app.command()
def query(
    ctx: typer.Context,
    question: Annotated[
        str | None, typer.Argument(help="A question; not needed with --node.")
    ] = None,
    node: Node = None,
    intent: Annotated[str | None, typer.Option(help="why, when, what, related, ...")] = None,
    method: Annotated[str | None, typer.Option(help="intent_weighted, ppr, activation.")] = None,
    depth: Depth = None,
    nodes: Annotated[int | None, typer.Option("--nodes", help="At most so many, to 500.")] = None,
    label: Annotated[list[str] | None, typer.Option(help="Show only these labels.")] = None,
    relation: Annotated[list[str] | None, typer.Option(help="Walk only these.")] = None,
    as_of: AsOf = None,
    svg: Svg = None,
    as_json: Json = False,
) -> None:
    """Show the graph around what a question names, or around nodes."""
    deps = deps_of(ctx)
    body = {
        "query": question,
        "node_ids": node or [],
        "intent": intent,
        "retrieval_method": method,
        "max_depth": depth,
        "max_nodes": nodes,
        "labels": label or [],
        "relations": relation or [],
        "as_of": _moment(as_of),
    }
    answer = deps.client.post("/v1/query/subgraph", without_none(body))
    title = question or "the graph around " + ", ".join(node or [])
    _drawn(deps, answer, svg, title)
    if as_json:
        return print_json(answer)
    deps.out.print(tree(answer, title))
    _say(deps, answer["meta"])


@app.command()
def lineage(
    ctx: typer.Context,
    node_id: Annotated[str, typer.Argument(help="Whose lineage.")],
    direction: Annotated[str, typer.Option(help="ancestors, descendants or both.")] = "ancestors",
    depth: Depth = None,
    intent: Annotated[str | None, typer.Option(help="Whose weights order the edges.")] = None,
    as_of: AsOf = None,
    prov: Annotated[bool, typer.Option("--prov", help="Print a PROV-JSON document.")] = False,
    svg: Svg = None,
    as_json: Json = False,
) -> None:
    """Show where a node comes from, or what came of it."""
    deps = deps_of(ctx)
    path = f"/v1/nodes/{node_id}/lineage"
    query = {"direction": direction, "max_depth": depth, "intent": intent, "as_of": as_of}
    if prov:
        print_json(deps.client.get(path, format="prov", **query))
        return
    answer = deps.client.get(path, **query)
    title = f"{direction} of {node_id}"
    _drawn(deps, answer, svg, title)
    if as_json:
        return print_json(answer)
    deps.out.print(tree(answer, title))
    if answer["meta"]["truncated"]:
        deps.out.print("  [yellow]there is more beyond the bounds[/]")


def tree(graph: Mapping[str, Any], title: str) -> "Tree":
    """Return the nodes as a tree: each under the node it was reached from, seeds at the top."""
    from rich.tree import Tree

    root = Tree(f"[bold]{escape(title)}[/]", guide_style="dim")
    branches: dict[str, Tree] = {}
    for node, relation, parent in placed(graph["nodes"], graph["edges"]):
        under = branches.get(parent or "", root)
        branches[node["node_id"]] = under.add(_line(node, relation))
    if not branches:
        root.add("[dim]nothing was found[/]")
    return root


def placed(
    nodes: Nodes, edges: Nodes
) -> Iterable[tuple[Mapping[str, Any], str | None, str | None]]:
    """Yield each node after its parent, with the relation to it; both None at the top.

    A parent is one hop nearer to a seed: by the edge the node was reached by, else by any.
    """
    depth = {node["node_id"]: node.get("depth") for node in nodes}
    at: dict[str, list[Mapping[str, Any]]] = {}
    for edge in edges:
        at.setdefault(edge["source_id"], []).append(edge)
        at.setdefault(edge["target_id"], []).append(edge)
    for node in sorted(nodes, key=lambda node: (node.get("depth") is None, node.get("depth") or 0)):
        here = node["node_id"]
        ways = sorted(at.get(here, ()), key=lambda edge: edge["edge_id"] != node.get("via"))
        for edge in ways:
            parent = edge["source_id"] if edge["target_id"] == here else edge["target_id"]
            nearer = depth.get(parent)
            if nearer is not None and node.get("depth") and nearer < node["depth"]:
                arrow = "\u2190" if edge["target_id"] == parent else "\u2192"
                yield node, f"{arrow} {edge['relation']}", parent
                break
        else:
            yield node, None, None


def _line(node: Mapping[str, Any], relation: str | None) -> str:
    attributes: Mapping[str, Any] = node.get("attributes", {})
    label = attributes.get("canonical_name") or attributes.get("title")
    text = " ".join(str(label or node["text"]).split())
    if len(text) > TEXT_CHARS:
        text = text[: TEXT_CHARS - 1] + "\u2026"
    kind = f" [dim]{escape(str(node['kind']))}[/]" if node.get("kind") else ""
    score = node.get("scores", {}).get("relevance_score")
    shown = "" if score is None else f" [dim]{score:.3f}[/]"
    why = f"[cyan]{escape(relation)}[/] " if relation else ""
    if node.get("retrieval_reason") == "proactive":
        why = f"[magenta]{escape(str(node.get('proactive_signal')))}[/] "
    return f"{why}[green]{escape(node['type'])}[/]{kind} {escape(text)}{shown}"


def _say(deps: Deps, meta: Mapping[str, Any]) -> None:
    intents = meta["intent_override"] or ", ".join(
        f"{name} {sure:.2f}" for name, sure in meta["inferred_intents"].items()
    )
    used, most = meta["capacity"]["used_nodes"], meta["capacity"]["max_nodes"]
    text = f"{meta['retrieval_method']}; {intents}; {used} of at most {most} nodes"
    more = "; there is more beyond the bounds" if meta["truncated"] else ""
    deps.out.print(f"[dim]{escape(text + more)}; {meta['query_ms']:.0f} ms[/]")
    for warning in meta["warnings"]:
        deps.out.print(f"[yellow]{escape(warning)}[/]")


def _drawn(deps: Deps, answer: Mapping[str, Any], svg: Path | None, title: str) -> None:
    if svg is None:
        return
    from cairn.recall.walks.picture import answer_picture

    svg.write_text(answer_picture(answer, title=title), encoding="utf-8")
    typer.echo(f"drawn to {svg}", err=True)


def _moment(as_of: str | None) -> str | int | None:
    return int(as_of) if as_of and as_of.isdecimal() else as_of
