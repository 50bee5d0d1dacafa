"""`cairn nodes`, `entities` and `tasks`: what the graph holds, corrected and looked at."""

import json
from itertools import islice
from typing import Annotated, Any, cast

import typer

from cairn.cli.client import Failure
from cairn.cli.options import Client, Json, Scope, deps_of, escape, print_json, table, without_none
from cairn.kernel.errors import ValidationFailed

app = typer.Typer(help="Nodes of the graph, and the edges between them.", no_args_is_help=True)

PAGE = 200
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
    also: Annotated[list[str] | None, typer.Option(help="Another label of it; repeat.")] = None,
    edge: Annotated[
        list[str] | None,
        typer.Option(help="RELATION:ID for an edge to a node, ID:RELATION from it; repeat."),
    ] = None,
    client: Client = None,
    scope: Scope = None,
    session: Annotated[
        str | None,
        typer.Option(
            envvar="CAIRN_SESSION_ID", show_envvar=True, help="The conversation it comes of."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a node with its edges."""
    deps = deps_of(ctx)
    structured = _object(properties) | without_none({"text": text, "name": name, "title": title})
    body = without_none(
        {
            "label": label,
            "labels": also or [],
            "kind": kind,
            "properties": structured,
            "edges": [_edge(each) for each in edge or []],
            "client_id": client,
            "scope": scope,
            "session_id": session,
        }
    )
    done = deps.client.post("/v1/nodes", body)
    if as_json:
        return print_json(done)
    outcome = "[green]created[/]" if done["outcome"] == "created" else "[cyan]there already[/]"
    deps.out.print(f"{outcome} {done['id']}  [dim]ledger {done['position']}[/]")


@app.command()
def show(
    ctx: typer.Context,
    node: Annotated[str, typer.Argument(help="The node's id.")],
    as_json: Json = False,
) -> None:
    """Show a node of any label, with its edges."""
    deps = deps_of(ctx)
    answer = deps.client.get(f"/v1/nodes/{node}")
    if as_json:
        return print_json(answer)
    heading = answer["title"] or answer["name"] or answer["id"]
    kind = f" [dim]{escape(answer['kind'])}[/]" if answer["kind"] else ""
    deps.out.print(f"[bold]{escape(', '.join(answer['labels']))}[/]{kind}  {escape(heading)}")
    deps.out.print(escape(answer["text"]))
    if answer["compiled_truth"]:
        deps.out.print(f"[green]held true:[/] {escape(answer['compiled_truth'])}")
    provenance = answer["provenance"]
    by = escape(provenance["agent_id"] or "nobody")
    deps.out.print(
        f"[dim]{answer['state']}, scope {answer['scope']}, by {by}, "
        f"{provenance['occurred_at'][:16]}, ledger {answer['position']}[/]"
    )
    deps.out.print(_edges(answer["edges"]))
    counts = answer["edges"]["counts"]
    more = "+" if answer["edges"]["truncated"] else ""
    deps.out.print(f"[dim]{sum(each['count'] for each in counts)}{more} edges[/]")


@app.command("label")
def label_node(
    ctx: typer.Context,
    node: Annotated[str, typer.Argument(help="The node's id.")],
    labels: Annotated[list[str] | None, typer.Argument(help="None takes all away.")] = None,
    as_json: Json = False,
) -> None:
    """Set what a node is beside its first label."""
    deps = deps_of(ctx)
    done = deps.client.put(f"/v1/nodes/{node}/labels", {"labels": labels or []})
    if as_json:
        return print_json(done)
    deps.out.print(f"[green]set[/] {done['id']}  [dim]ledger {done['position']}[/]")


@app.command("list")
def list_nodes(
    ctx: typer.Context,
    label: Annotated[str, typer.Argument(help="Such as Runbook, Event or Chunk.")],
    also: Annotated[list[str] | None, typer.Option(help="Another label it has; repeat.")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(help="owner=platform, cost>=5, tags~web, due, !due; repeat for all of them."),
    ] = None,
    kind: Annotated[str | None, typer.Option()] = None,
    client: Client = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 50,
    as_json: Json = False,
) -> None:
    """List the nodes of a label, those with some properties, newest first."""
    deps = deps_of(ctx)
    body = without_none(
        {
            "labels": [label, *(also or [])],
            "where": [_condition(each) for each in where or []],
            "kind": kind,
            "client_id": client,
        }
    )
    results: list[dict[str, Any]] = []
    cursor: str | None = None
    warnings: list[str] = []
    while len(results) < limit:
        page = without_none({"limit": min(limit - len(results), PAGE), "cursor": cursor})
        answer = deps.client.post("/v1/query/nodes", body | page)
        results += answer["items"]
        warnings = warnings or answer["warnings"]
        cursor = answer["next_cursor"]
        if cursor is None:
            break
    for each in warnings:
        deps.err.print(f"[yellow]{escape(each)}[/]")
    if as_json:
        return print_json(results)
    deps.out.print(_listing(results))


def _condition(text: str) -> dict[str, Any]:
    from cairn.nodes.properties import condition_of

    try:
        condition = condition_of(text)
    except ValidationFailed as exc:
        raise Failure(f"--{exc}") from exc
    return {"path": condition.path, "op": condition.op, "value": condition.value}


def _listing(nodes: list[dict[str, Any]]) -> Any:
    shown = table("id", "labels", "kind", "title or text", "links here")
    for each in nodes:
        title = each["title"] or each["name"] or " ".join(each["text"].split())
        texts = ", ".join(each["labels"]), each["kind"] or "", title[:SHOWN_CHARS]
        shown.add_row(each["id"], *map(escape, texts), str(each["backlink_count"]))
    return shown


def _edges(edges: dict[str, Any]) -> Any:
    shown = table("", "relation", "node", "weight", "view")
    for each in edges["strongest"]:
        other = each["node"]
        arrow = "\u2192" if each["direction"] == "out" else "\u2190"
        text = f"{escape(other['label'])} {escape(other['title'][:SHOWN_CHARS])}"
        weight = f"{each['weight']:g}"
        shown.add_row(arrow, each["relation"], text, weight, f"[dim]{each['view']}[/]")
    return shown


def _edge(text: str) -> dict[str, str]:
    """Return the edge that RELATION:ID or ID:RELATION means."""
    relation, parted, other = text.partition(":")
    if not parted:
        raise Failure(f"An edge is RELATION:ID or ID:RELATION, not {text!r}.")
    if relation.count("-") == 4 and len(relation) == 36:
        return {"relation": other, "from": relation}
    return {"relation": relation, "to": other}


def _object(text: str | None) -> dict[str, Any]:
    try:
        value: object = json.loads(text) if text else {}
    except ValueError as exc:
        raise Failure(f"--properties is not JSON: {exc}.") from exc
    if not isinstance(value, dict):
        raise Failure('--properties is a JSON object, such as \'{"owner": "platform"}\'.')
    return cast("dict[str, Any]", value)


entities_app = typer.Typer(
    help="Entities that texts mention, and corrections.", no_args_is_help=True
)

Entity = Annotated[str, typer.Argument(help="The entity's id.")]


@entities_app.command("list")
def list_entities(
    ctx: typer.Context,
    q: Annotated[str | None, typer.Argument(help="Part of a name or an alias.")] = None,
    type: Annotated[str | None, typer.Option(help="Such as person or technology.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 50,
    as_json: Json = False,
) -> None:
    """List entities by name."""
    deps = deps_of(ctx)
    pages = list(islice(deps.client.pages("/v1/entities", q=q, type=type), limit))
    if as_json:
        return print_json(pages)
    shown = table("id", "name", "type", "links here")
    for each in pages:
        name, links = escape(each["name"]), str(each["backlink_count"])
        shown.add_row(each["id"], name, escape(each["type"]), links)
    deps.out.print(shown)


@entities_app.command("show")
def show_entity(ctx: typer.Context, entity: Entity, as_json: Json = False) -> None:
    """Show an entity: its names, mentions and strongest relations."""
    deps = deps_of(ctx)
    answer = deps.client.get(f"/v1/entities/{entity}")
    if as_json:
        return print_json(answer)
    deps.out.print(f"[bold]{escape(answer['name'])}[/]  [dim]{escape(answer['type'])}[/]")
    if answer["superseded_by"]:
        deps.out.print(f"[yellow]merged into[/] {answer['superseded_by']}")
    if answer["aliases"]:
        deps.out.print(f"also {escape(', '.join(answer['aliases']))}")
    roles = ", ".join(f"{count} {role}" for role, count in sorted(answer["roles"].items()))
    seen = " to ".join(
        moment[:10] for moment in (answer["first_seen"], answer["last_seen"]) if moment
    )
    deps.out.print(f"{answer['mention_count']} mentions {roles}  [dim]{seen}[/]")
    if answer["compiled_truth"]:
        deps.out.print(f"[green]held true:[/] {escape(answer['compiled_truth'])}")
    deps.out.print(_relations(answer["relations"]))


def _relations(relations: list[dict[str, Any]]) -> Any:
    shown = table("", "relation", "entity", "strength")
    for each in relations:
        arrow = "\u2192" if each["direction"] == "out" else "\u2190"
        name, strength = escape(each["entity"]["title"]), f"{each['strength']:g}"
        shown.add_row(arrow, each["relation"], name, strength)
    return shown


@entities_app.command()
def alias(
    ctx: typer.Context,
    entity: Entity,
    name: Annotated[str, typer.Argument(help="The other name.")],
    remove: Annotated[bool, typer.Option("--remove", help="Remove the name instead.")] = False,
    as_json: Json = False,
) -> None:
    """Add an alias to an entity, or remove one."""
    client = deps_of(ctx).client
    path = f"/v1/entities/{entity}/aliases"
    done = client.delete(path, alias=name) if remove else client.post(path, {"alias": name})
    _changed(ctx, done, "removed" if remove else "added", as_json=as_json)


@entities_app.command()
def merge(
    ctx: typer.Context,
    entity: Entity,
    into: Annotated[str, typer.Argument(help="The id of the entity that remains.")],
    as_json: Json = False,
) -> None:
    """Merge an entity into another."""
    done = deps_of(ctx).client.post(f"/v1/entities/{entity}/merge", {"into": into})
    _changed(ctx, done, "merged into", as_json=as_json)


@entities_app.command()
def split(
    ctx: typer.Context,
    entity: Entity,
    undo: Annotated[str | None, typer.Option(help="The merged entity's id.")] = None,
    name: Annotated[str | None, typer.Option(help="The name of the other entity.")] = None,
    type: Annotated[str | None, typer.Option(help="Its type; by default the same.")] = None,
    mention: Annotated[list[str] | None, typer.Option(help="A node's id; repeat.")] = None,
    as_json: Json = False,
) -> None:
    """Undo a merge, or move mentions to another entity."""
    if undo is None and not (name and mention):
        raise Failure("Give --undo ID, or --name with at least one --mention ID.")
    body: dict[str, Any] = {"undo": undo} if undo else {"name": name, "mentions": mention}
    if type is not None and undo is None:
        body["type"] = type
    done = deps_of(ctx).client.post(f"/v1/entities/{entity}/split", body)
    _changed(ctx, done, "stands", as_json=as_json)


def _changed(ctx: typer.Context, done: dict[str, Any], what: str, *, as_json: bool) -> None:
    if as_json:
        return print_json(done)
    moved = f", {done['moved_edges']} edges moved" if done["moved_edges"] else ""
    deps_of(ctx).out.print(
        f"[green]{what}[/] {done['id']}  [dim]ledger {done['position']}{moved}[/]"
    )


tasks_app = typer.Typer(help="Longer pieces of work, and what they produced.", no_args_is_help=True)

_COLOURS = {"completed": "green", "failed": "red", "cancelled": "dim"}


@tasks_app.command("list")
def list_tasks(
    ctx: typer.Context,
    kind: Annotated[str | None, typer.Option(help="Such as tunnel-login.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 50,
    as_json: Json = False,
) -> None:
    """List tasks, newest first."""
    deps = deps_of(ctx)
    pages = list(islice(deps.client.pages("/v1/nodes", label="Task", kind=kind), limit))
    if as_json:
        return print_json(pages)
    shown = table("id", "kind", "title", "status", "begun")
    for each in pages:
        begun = str(each["metadata"].get("started_at", ""))[:16].replace("T", " ")
        title = escape(each["title"] or "")
        shown.add_row(each["id"], escape(each["kind"] or ""), title, _status(each), begun)
    deps.out.print(shown)


@tasks_app.command("show")
def show_task(
    ctx: typer.Context,
    task: Annotated[str, typer.Argument(help="The task's id.")],
    as_json: Json = False,
) -> None:
    """Show a task: its inputs, its steps, what raised it and what it produced."""
    deps = deps_of(ctx)
    answer = deps.client.get(f"/v1/nodes/{task}")
    if as_json:
        return print_json(answer)
    from rich.pretty import Pretty
    from rich.tree import Tree

    tree = Tree(f"[bold]{escape(answer['title'] or '')}[/]  {_status(answer)}")
    metadata = answer["metadata"]
    if metadata.get("inputs"):
        tree.add("inputs").add(Pretty(metadata["inputs"]))
    for each in metadata.get("steps", []):
        tree.add(f"[dim]{str(each['at'])[:19]}[/]  {escape(each['note'])}")
    if metadata.get("outcome"):
        tree.add(f"[bold]outcome[/]  {escape(metadata['outcome'])}")
    for each in answer["edges"]["strongest"]:
        other = each["node"]
        text = f"{each['relation']}  {escape(other['label'])} {escape(other['title'][:70])}"
        tree.add(f"{text}  [dim]{other['id']}[/]")
    deps.out.print(tree)


def _status(task: dict[str, Any]) -> str:
    status = str(task["metadata"].get("status", "-"))
    return f"[{_COLOURS.get(status, 'cyan')}]{status}[/]"
