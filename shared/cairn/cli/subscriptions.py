"""`cairn subscriptions`: the keywords by which agents find what is not tagged for them."""

from typing import Annotated

import typer

from cairn.cli.options import Json, deps_of, escape, print_json, table

app = typer.Typer(help="The keywords agents find nodes by.", no_args_is_help=True)

Agent = Annotated[str, typer.Argument(help="The agent that subscribes.")]


@app.command("list")
def list_subscriptions(
    ctx: typer.Context,
    agent: Annotated[str | None, typer.Option(help="One agent only.")] = None,
    as_json: Json = False,
) -> None:
    """Show who subscribes to what."""
    deps = deps_of(ctx)
    found = deps.client.get("/v1/subscriptions", agent=agent)
    if as_json:
        return print_json(found)
    shown = table("agent", "keywords", "ledger")
    for each in found["items"]:
        keywords = escape(", ".join(each["keywords"]))
        shown.add_row(escape(each["agent"]), keywords, str(each["position"]))
    deps.out.print(shown)


@app.command("set")
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


@app.command()
def clear(ctx: typer.Context, agent: Agent, as_json: Json = False) -> None:
    """Let an agent subscribe to nothing."""
    deps = deps_of(ctx)
    done = deps.client.delete("/v1/subscriptions", agent=agent)
    if as_json:
        print_json(done)
    else:
        deps.out.print(f"{done['agent']} subscribes to nothing.")
