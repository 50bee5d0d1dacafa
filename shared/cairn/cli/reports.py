"""`cairn reports`, `subscriptions` and `summaries`: what agents write, and how they find it."""

import sys
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cairn.cli.options import Client, Json, Scope, deps_of, escape, print_json, table, without_none

if TYPE_CHECKING:
    from rich.tree import Tree


app = typer.Typer(help="Reports that workflows write.", no_args_is_help=True)


@app.command()
def write(
    ctx: typer.Context,
    title: Annotated[str, typer.Argument(help="The same in the same minute is the same report.")],
    file: Annotated[
        Path | None,
        typer.Option(
            exists=True, dir_okay=False, help="A file with the body; standard input by default."
        ),
    ] = None,
    keyword: Annotated[list[str] | None, typer.Option(help="Repeat for several.")] = None,
    workflow: Annotated[str | None, typer.Option(help="The workflow that writes it.")] = None,
    occurred_at: Annotated[str | None, typer.Option(help="RFC 3339, with its zone.")] = None,
    conversation: Annotated[
        str | None, typer.Option(help="The id of the conversation it came from.")
    ] = None,
    session: Annotated[
        str | None, typer.Option(help="Or the newest conversation of this session.")
    ] = None,
    client: Client = None,
    scope: Scope = "admin",
    as_json: Json = False,
) -> None:
    """Write a report."""
    deps = deps_of(ctx)
    body = without_none(
        {
            "title": title,
            "body": file.read_text(encoding="utf-8") if file else sys.stdin.read(),
            "keywords": keyword or [],
            "source_workflow": workflow,
            "occurred_at": occurred_at,
            "conversation_id": conversation,
            "session_id": session,
            "client_id": client,
            "scope": scope,
        }
    )
    done = deps.client.post("/v1/reports", body)
    if as_json:
        return print_json(done)
    text = "[green]written[/]" if done["created"] else "[cyan]there already[/]"
    deps.out.print(f"{text} {done['id']}  [dim]ledger {done['position']}[/]")


@app.command()
def latest(
    ctx: typer.Context,
    keyword: Annotated[str | None, typer.Argument(help="A keyword; by default any.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=20)] = 1,
    as_json: Json = False,
) -> None:
    """Show the newest report, whole."""
    deps = deps_of(ctx)
    answer = deps.client.get("/v1/reports/latest", keyword=keyword, limit=limit)
    if as_json:
        return print_json(answer)
    if not answer["items"]:
        deps.out.print("There is no such report.")
    for each in answer["items"]:
        deps.out.print(f"[bold]{escape(each['title'])}[/]  [dim]{each['occurred_at'][:16]}[/]")
        deps.out.print(escape(each["body"]))


@app.command("list")
def list_reports(
    ctx: typer.Context,
    keyword: Annotated[str | None, typer.Option(help="A keyword, in upper or lower case.")] = None,
    workflow: Annotated[str | None, typer.Option(help="The workflow that wrote them.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 50,
    as_json: Json = False,
) -> None:
    """Show the catalogue, newest first."""
    deps = deps_of(ctx)
    where = {"keyword": keyword, "source_workflow": workflow}
    total = deps.client.get("/v1/reports", **where, limit=1)["total"]
    pages = list(islice(deps.client.pages("/v1/reports", **where), limit))
    if as_json:
        return print_json({"items": pages, "total": total})
    shown = table("id", "about", "title", "keywords", "workflow")
    for each in pages:
        shown.add_row(
            each["id"],
            each["occurred_at"][:16].replace("T", " "),
            escape(each["title"]),
            escape(", ".join(each["keywords"])),
            escape(each["source_workflow"] or ""),
        )
    deps.out.print(shown)
    deps.out.print(f"[dim]{len(pages)} of {total}[/]")


subscriptions_app = typer.Typer(help="The keywords agents find nodes by.", no_args_is_help=True)

Agent = Annotated[str, typer.Argument(help="The agent that subscribes.")]


@subscriptions_app.command("list")
def list_subscriptions(
    ctx: typer.Context,
    agent: Annotated[str | None, typer.Option(help="One agent only.")] = None,
    as_json: Json = False,
) -> None:
    """List subscriptions."""
    deps = deps_of(ctx)
    answer = deps.client.get("/v1/subscriptions", agent=agent)
    if as_json:
        return print_json(answer)
    shown = table("agent", "keywords", "ledger")
    for each in answer["items"]:
        keywords = escape(", ".join(each["keywords"]))
        shown.add_row(escape(each["agent"]), keywords, str(each["position"]))
    deps.out.print(shown)


@subscriptions_app.command("set")
def put(
    ctx: typer.Context,
    agent: Agent,
    keywords: Annotated[list[str], typer.Argument(help="1 to 5 of them.")],
    as_json: Json = False,
) -> None:
    """Replace an agent's keywords."""
    deps = deps_of(ctx)
    done = deps.client.put("/v1/subscriptions", {"agent": agent, "keywords": keywords})
    if as_json:
        return print_json(done)
    deps.out.print(f"{escape(done['agent'])}: {escape(', '.join(done['keywords']))}")


@subscriptions_app.command()
def clear(ctx: typer.Context, agent: Agent, as_json: Json = False) -> None:
    """Remove an agent's subscription."""
    deps = deps_of(ctx)
    done = deps.client.delete("/v1/subscriptions", agent=agent)
    if as_json:
        print_json(done)
    else:
        deps.out.print(f"{done['agent']} subscribes to nothing.")


summaries_app = typer.Typer(help="What happened, in short.", no_args_is_help=True)

TEXT_CHARS = 100
AsOf = Annotated[str | None, typer.Option("--as-of", help="A time, or a ledger position.")]


@summaries_app.command("list")
def list_summaries(
    ctx: typer.Context,
    scope: Annotated[str | None, typer.Option(help="episode, session or agent.")] = None,
    of: Annotated[str | None, typer.Option("--of", help="A trace, a session or an agent.")] = None,
    limit: Annotated[int, typer.Option(help="How many, up to 200.")] = 20,
    as_of: AsOf = None,
    as_json: Json = False,
) -> None:
    """List summaries, newest first."""
    deps = deps_of(ctx)
    answer = deps.client.get("/v1/summaries", scope=scope, scope_id=of, limit=limit, as_of=as_of)
    if as_json:
        return print_json(answer)
    from rich.table import Table

    table = Table("of", "when", "events", "text", "id", box=None, header_style="dim")
    for item in answer["items"]:
        of_what = escape(f"{item['scope']} {item['scope_id'] or ''}")
        events = str(item["event_count"])
        table.add_row(of_what, _day(item), events, escape(_short(item)), item["id"])
    deps.out.print(table)
    if answer["next_cursor"]:
        deps.out.print("[dim]there are more[/]")


@summaries_app.command()
def show(
    ctx: typer.Context,
    summary_id: Annotated[str, typer.Argument(help="Which summary.")],
    depth: Annotated[int, typer.Option(help="Levels below it, 0 to 3.")] = 3,
    as_of: AsOf = None,
    as_json: Json = False,
) -> None:
    """Show a summary, and what it is made of down to the events and messages."""
    deps = deps_of(ctx)
    answer = deps.client.get(f"/v1/summaries/{summary_id}", depth=depth, as_of=as_of)
    if as_json:
        return print_json(answer)
    made_by = "by rules" if answer["is_extract"] else f"by {answer['model']}"
    deps.out.print(escape(answer["content"]))
    deps.out.print(f"[dim]{answer['event_count']} events, {escape(made_by)}[/]")
    deps.out.print(tree(answer))
    if answer["meta"]["truncated"]:
        deps.out.print("[yellow]there is more below than is shown[/]")


def tree(report: Mapping[str, Any]) -> "Tree":
    """Return a summary with its children as a tree."""
    from rich.tree import Tree

    root = Tree(_line(report), guide_style="dim")
    _grow(root, report)
    return root


def _grow(under: "Tree", node: Mapping[str, Any]) -> None:
    for child in node["children"]:
        _grow(under.add(_line(child)), child)


def _line(node: Mapping[str, Any]) -> str:
    if node["label"] == "Summary":
        name = f"[green]{escape(node['scope'])}[/] {escape(node['scope_id'] or '')}"
    else:
        name = f"[cyan]{escape(node['label'])}[/] {escape(node['kind'] or '')}"
    return f"{name} [dim]{_day(node)}[/] {escape(_short(node))}"


def _short(node: Mapping[str, Any]) -> str:
    text = " ".join(str(node.get("content", node.get("text"))).split())
    return text if len(text) <= TEXT_CHARS else text[: TEXT_CHARS - 1] + "\u2026"


def _day(node: Mapping[str, Any]) -> str:
    return str(node["occurred_at"])[:16].replace("T", " ")
