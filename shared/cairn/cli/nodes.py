"""`cairn nodes`: write, show and list nodes of the graph."""

import json
from itertools import islice
from typing import Annotated, Any, cast

import typer

from cairn.cli.failure import Failure
from cairn.cli.options import Client, Json, Scope, deps_of, escape, print_json, table, without_none

app = typer.Typer(help="Nodes of the graph, and the edges between them.", no_args_is_help=True)

SHOWN_CHARS = 70


@app.command()
def add(
    ctx: typer.Context,
    label: Annotated[str, typer.Argument(help="A capitalised word, such as Runbook.")],
    text: Annotated[str | None, typer.Argument(help="What it says.")] = None,
    kind: Annotated[str | None, typer.Option(help="Such as resolution; an entity's type.")] = None,
    name: Annotated[str | None, typer.Option(help="An entity's name.")] = None,
    title: Annotated[str | None, typer.Option()] = None,
    properties: Annotated[str | None, typer.Option(help="A JSON object of more.")] = None,
    edge: Annotated[
        list[str] | None,
        typer.Option(help="RELATION:ID for an edge to a node, ID:RELATION from it; repeat."),
    ] = None,
    client: Client = None,
    scope: Scope = None,
    as_json: Json = False,
) -> None:
    """Write a node with its edges."""
    deps = deps_of(ctx)
    given = _object(properties) | without_none({"text": text, "name": name, "title": title})
    body = without_none(
        {
            "label": label,
            "kind": kind,
            "properties": given,
            "edges": [_edge(each) for each in edge or []],
            "client_id": client,
            "scope": scope,
        }
    )
    done = deps.client.post("/v1/nodes", body)
    if as_json:
        return print_json(done)
    said = "[green]created[/]" if done["outcome"] == "created" else "[cyan]there already[/]"
    deps.out.print(f"{said} {done['id']}  [dim]ledger {done['position']}[/]")


@app.command()
def show(
    ctx: typer.Context,
    node: Annotated[str, typer.Argument(help="The node's id.")],
    as_json: Json = False,
) -> None:
    """Show a node of any label, with its edges."""
    deps = deps_of(ctx)
    found = deps.client.get(f"/v1/nodes/{node}")
    if as_json:
        return print_json(found)
    heading = found["title"] or found["name"] or found["id"]
    kind = f" [dim]{escape(found['kind'])}[/]" if found["kind"] else ""
    deps.out.print(f"[bold]{escape(found['label'])}[/]{kind}  {escape(heading)}")
    deps.out.print(escape(found["text"]))
    if found["compiled_truth"]:
        deps.out.print(f"[green]held true:[/] {escape(found['compiled_truth'])}")
    told = found["provenance"]
    by = escape(told["agent_id"] or "nobody")
    deps.out.print(
        f"[dim]{found['state']}, scope {found['scope']}, by {by}, "
        f"{told['occurred_at'][:16]}, ledger {found['position']}[/]"
    )
    deps.out.print(_edges(found["edges"]))
    counts = found["edges"]["counts"]
    more = "+" if found["edges"]["truncated"] else ""
    deps.out.print(f"[dim]{sum(each['count'] for each in counts)}{more} edges[/]")


@app.command("list")
def list_nodes(
    ctx: typer.Context,
    label: Annotated[str, typer.Argument(help="Such as Runbook, Event or Chunk.")],
    kind: Annotated[str | None, typer.Option()] = None,
    client: Client = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 50,
    as_json: Json = False,
) -> None:
    """List the nodes of a label, newest first."""
    deps = deps_of(ctx)
    pages = deps.client.pages("/v1/nodes", label=label, kind=kind, client_id=client)
    found = list(islice(pages, limit))
    if as_json:
        return print_json(found)
    shown = table("id", "kind", "title or text", "links here")
    for each in found:
        said = each["title"] or each["name"] or " ".join(each["text"].split())
        shown.add_row(
            each["id"],
            escape(each["kind"] or ""),
            escape(said[:SHOWN_CHARS]),
            str(each["backlink_count"]),
        )
    deps.out.print(shown)


def _edges(edges: dict[str, Any]) -> Any:
    shown = table("", "relation", "node", "weight", "view")
    for each in edges["strongest"]:
        other = each["node"]
        arrow = "\u2192" if each["direction"] == "out" else "\u2190"
        said = f"{escape(other['label'])} {escape(other['title'][:SHOWN_CHARS])}"
        weight = f"{each['weight']:g}"
        shown.add_row(arrow, each["relation"], said, weight, f"[dim]{each['view']}[/]")
    return shown


def _edge(text: str) -> dict[str, str]:
    """Return the edge that RELATION:ID or ID:RELATION means."""
    one, parted, other = text.partition(":")
    if not parted:
        raise Failure(f"An edge is RELATION:ID or ID:RELATION, not {text!r}.")
    if one.count("-") == 4 and len(one) == 36:
        return {"relation": other, "from": one}
    return {"relation": one, "to": other}


def _object(text: str | None) -> dict[str, Any]:
    try:
        value: object = json.loads(text) if text else {}
    except ValueError as exc:
        raise Failure(f"--properties is not JSON: {exc}.") from exc
    if not isinstance(value, dict):
        raise Failure('--properties is a JSON object, such as \'{"owner": "platform"}\'.')
    return cast("dict[str, Any]", value)
