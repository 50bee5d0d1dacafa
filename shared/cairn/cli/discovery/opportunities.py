"""`cairn opportunity`: who fits, and what a member does with the meetings proposed."""

from itertools import islice
from typing import Annotated, Any

import typer

from cairn.cli.options import (
    Client,
    Json,
    deps_of,
    escape,
    print_done,
    print_json,
    table,
    without_none,
)

app = typer.Typer(help="Opportunities: meetings worth having.", no_args_is_help=True)

Opportunity = Annotated[str, typer.Argument(help="The opportunity's id.")]
Intent = Annotated[str | None, typer.Option(help="The id of an intent of the member.")]
Query = Annotated[str | None, typer.Option(help="What is looked for, instead of an intent.")]
Members = Annotated[
    list[str] | None, typer.Option("--member", help="Only this member; repeatable.")
]
_COLOURS = {"pending": "yellow", "accepted": "green", "rejected": "red", "expired": "dim"}


@app.command()
def discover(
    ctx: typer.Context,
    intent: Intent = None,
    query: Query = None,
    member: Members = None,
    minimum: Annotated[int, typer.Option(min=0, max=100, help="The least score.")] = 70,
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Look for who fits, without keeping anything."""
    deps = deps_of(ctx)
    body = {"minimum": minimum, **_body(intent, query, member, client)}
    answer = deps.client.post("/v1/discover", body)
    if as_json:
        return print_json(answer)
    if not answer["matches"]:
        least = f"Nobody scores {minimum} or more; {answer['judged']} were judged."
        return deps.out.print(f"{least} --minimum 0 shows them." if answer["judged"] else least)
    shown = table("score", "who", "role", "why")
    for match in answer["matches"]:
        row = str(match["score"]), match["name"] or match["member_id"], match["role"]
        shown.add_row(*map(escape, (*row, match["reason"])))
    return deps.out.print(shown)


@app.command()
def create(
    ctx: typer.Context,
    intent: Intent = None,
    query: Query = None,
    member: Members = None,
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Keep drafts with the members picked; without any, agents negotiate with who fits best."""
    deps = deps_of(ctx)
    done = deps.client.post("/v1/opportunities", _body(intent, query, member, client))
    print_json(done) if as_json else _show(ctx, done["items"])


@app.command()
def introduce(
    ctx: typer.Context,
    first: Annotated[str, typer.Argument(help="The id of a member.")],
    second: Annotated[str, typer.Argument(help="The id of another one.")],
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Propose two others to each other."""
    deps = deps_of(ctx)
    body = without_none({"first": first, "second": second, "client_id": client})
    done = deps.client.post("/v1/opportunities/introduce", body)
    print_done(deps, done, f"[green]proposed[/] {done['id']}", as_json=as_json)


@app.command("list")
def list_opportunities(
    ctx: typer.Context,
    state: Annotated[str | None, typer.Option(help="Only those in this state.")] = None,
    as_of: Annotated[str | None, typer.Option(help="As they stood at this time.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=5_000)] = 50,
    client: Client = None,
    as_json: Json = False,
) -> None:
    """List a member's opportunities, the newest first."""
    deps = deps_of(ctx)
    pages = deps.client.pages("/v1/opportunities", state=state, as_of=as_of, client_id=client)
    items = list(islice(pages, limit))
    print_json(items) if as_json else _show(ctx, items)


@app.command()
def send(
    ctx: typer.Context, opportunity: Opportunity, client: Client = None, as_json: Json = False
) -> None:
    """Show one to the other member; that is one's own yes."""
    _act(ctx, opportunity, "send", client, as_json=as_json)


@app.command()
def accept(
    ctx: typer.Context, opportunity: Opportunity, client: Client = None, as_json: Json = False
) -> None:
    """Say yes; it is accepted when both did."""
    _act(ctx, opportunity, "accept", client, as_json=as_json)


@app.command()
def reject(
    ctx: typer.Context, opportunity: Opportunity, client: Client = None, as_json: Json = False
) -> None:
    """Say no."""
    _act(ctx, opportunity, "reject", client, as_json=as_json)


def _act(
    ctx: typer.Context, opportunity: str, what: str, client: str | None, *, as_json: bool
) -> None:
    deps = deps_of(ctx)
    path = f"/v1/opportunities/{opportunity}/{what}"
    done = deps.client.post(path, without_none({"client_id": client}))
    print_done(deps, done, f"[green]{done['state']}[/] {done['id']}", as_json=as_json)


def _body(
    intent: str | None, query: str | None, members: list[str] | None, client: str | None
) -> dict[str, Any]:
    body = {"intent_id": intent, "query": query, "members": members or None, "client_id": client}
    return without_none(body)


def _show(ctx: typer.Context, items: list[dict[str, Any]]) -> None:
    if not items:
        deps_of(ctx).out.print("No opportunities. `cairn opportunity discover` shows who is near.")
        return
    shown = table("id", "state", "score", "between", "can")
    for item in items:
        colour = _COLOURS.get(item["state"], "cyan")
        names = (item[side]["name"] or item[side]["member_id"] for side in ("source", "target"))
        row = str(item["score"]), escape(" and ".join(names)), ", ".join(item["can"])
        shown.add_row(item["id"], f"[{colour}]{item['state']}[/]", *row)
    deps_of(ctx).out.print(shown)
