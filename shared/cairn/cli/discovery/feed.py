"""`cairn feed`: whom a member should meet, how the feed does, and looking after every feed."""

from typing import Annotated, Any

import typer

from cairn.cli.options import Client, Json, deps_of, escape, moment, print_json

app = typer.Typer(help="The feed: whom a member should meet.", no_args_is_help=True)


@app.command()
def show(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many cards.")] = 50,
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Show the cards of a member in their sections."""
    deps = deps_of(ctx)
    feed = deps.client.get("/v1/feed", client_id=client, limit=limit)
    if as_json:
        return print_json(feed)
    if not feed["cards"]:
        return deps.out.print("The feed is empty: nobody was found yet.")
    for section in feed["sections"]:
        deps.out.print(f"[bold]{escape(section['title'])}[/]", highlight=False)
        for card in section["cards"]:
            print_card(ctx, card)


@app.command()
def health(ctx: typer.Context, client: Client = None, as_json: Json = False) -> None:
    """Show how the feed of a member does, from 0 to 1."""
    deps = deps_of(ctx)
    answer = deps.client.get("/v1/feed/health", client_id=client)
    if as_json:
        return print_json(answer)
    parts = ", ".join(f"{answer[name]} {name}" for name in ("connections", "introductions"))
    looked = moment(answer["discovered_at"]) if answer["discovered_at"] else "never"
    colour = "green" if answer["score"] >= answer["rediscover_below"] else "yellow"
    head = f"[{colour}]{answer['score']:.2f}[/]  {parts}, {answer['expired']} expired"
    deps.out.print(f"{head}; looked for: {looked}", highlight=False)


@app.command()
def maintain(ctx: typer.Context, as_json: Json = False) -> None:
    """Look after every feed of the workspace now; for admins."""
    deps = deps_of(ctx)
    done = deps.client.post("/v1/feed/maintenance", {})
    if as_json:
        return print_json(done)
    counts = ", ".join(f"{done[name]} {name}" for name in ("feeds", "unhealthy", "intents"))
    more = "; enough waits, the rest is for later" if done["held_back"] else ""
    deps.out.print(f"{counts} looked for again, {done['introduced']} introduced{more}")
    if done["redriven"]:
        deps.out.print(f"{done['redriven']} that had failed are tried again")


def print_card(ctx: typer.Context, card: dict[str, Any]) -> None:
    """Print one card."""
    out = deps_of(ctx).out
    out.print(f"  {card['score']}  {escape(card['headline'])}", highlight=False)
    out.print(f"      {escape(card['summary'])}", highlight=False)
    out.print(f"      [dim]{escape(card['why_you'])}[/]", highlight=False)
    out.print(f"      {escape(card['narrator']['remark'])}", highlight=False)
    action, place = escape(card["suggested_action"]), card["opportunity_id"]
    out.print(f"      [cyan]{action}[/]  {place}", highlight=False)
