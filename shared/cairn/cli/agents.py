"""`cairn agents`: registering agents, and what each may reach."""

from typing import Annotated, Any, cast

import typer

from cairn.cli.options import (
    Json,
    deps_of,
    escape,
    moment,
    print_done,
    print_json,
    table,
    without_none,
)

app = typer.Typer(help="Registered agents: who calls as what.", no_args_is_help=True)

Slug = Annotated[str, typer.Argument(help="The agent's slug.")]
Names = Annotated[list[str] | None, typer.Option(help="Repeat for several.")]
Owner = Annotated[str | None, typer.Option(help="The person whose it is.")]
Rate = Annotated[int | None, typer.Option("--rate", min=1, help="Requests a minute of a key.")]
_FIELDS = (
    "name",
    "owner",
    "description",
    "persona",
    "edition",
    "specialists",
    "tools",
    "scopes",
    "requests_a_minute",
    "live_memory",
)
LiveMemory = Annotated[
    bool | None,
    typer.Option("--live-memory/--no-live-memory", help="Search, or know its snapshot alone."),
]


@app.command()
def register(
    ctx: typer.Context,
    slug: Slug,
    name: Annotated[str | None, typer.Option(help="What people call it.")] = None,
    owner: Owner = None,
    description: Annotated[str | None, typer.Option(help="What it does.")] = None,
    specialist: Names = None,
    persona: Annotated[str | None, typer.Option(help="How it works.")] = None,
    edition: Annotated[str | None, typer.Option(help="Where it is offered.")] = None,
    tool: Names = None,
    scope: Names = None,
    rate: Rate = None,
    live_memory: LiveMemory = None,
    key: Annotated[bool, typer.Option("--key/--no-key", help="Make its key.")] = True,
    own_memory: Annotated[
        bool, typer.Option("--own-memory", help="Its key finds only what is tagged for it.")
    ] = False,
    role: Annotated[str, typer.Option(help="Of its key: agent or public.")] = "agent",
    as_json: Json = False,
) -> None:
    """Register an agent and print its key, this once."""
    deps = deps_of(ctx)
    fields = _agent_fields(
        name or slug, owner, description, specialist, persona, edition, tool, scope
    )
    new_key = {"role": role, "own_memory": own_memory} if key else None
    fields |= {"slug": slug, "requests_a_minute": rate, "live_memory": live_memory}
    body = without_none({**fields, "key": new_key})
    answer = deps.client.post("/v1/agents", body)
    if as_json:
        return print_json(answer)
    deps.out.print(f"[green]registered[/] {escape(slug)}", highlight=False)
    if answer["secret"]:
        deps.out.print("its key, keep it safe:")
        typer.echo(answer["secret"])


@app.command("list")
def list_agents(ctx: typer.Context, as_json: Json = False) -> None:
    """List agents, disabled ones too."""
    deps = deps_of(ctx)
    answer = deps.client.get("/v1/agents")
    if as_json:
        return print_json(answer)
    shown = table("slug", "name", "owner", "tools", "scopes", "persona", "state")
    for each in answer["items"]:
        state = f"[red]{each['disabled']}[/]" if each["disabled"] else "[green]enabled[/]"
        who = escape(each["slug"]), escape(each["name"]), escape(each["owner"] or "-")
        tools = "all" if each["tools"] is None else str(len(each["tools"]))
        shown.add_row(*who, tools, ", ".join(each["scopes"]), escape(each["persona"]), state)
    deps.out.print(shown)


@app.command()
def show(ctx: typer.Context, slug: Slug, as_json: Json = False) -> None:
    """Show an agent."""
    deps = deps_of(ctx)
    agent = deps.client.get(f"/v1/agents/{slug}")
    if as_json:
        return print_json(agent)
    state = agent["disabled"] or "enabled"
    state += ", registered itself" * agent["joined"]
    head = f"[bold]{escape(agent['slug'])}[/]  version {agent['version']}  {state}"
    deps.out.print(f"{head}  since {moment(agent['registered_at'])}", highlight=False)
    for field in _FIELDS:
        value = agent[field]
        text = ", ".join(cast("list[str]", value)) if isinstance(value, list) else value
        deps.out.print(
            f"  {field}: {escape(str(text or ('all' if field == 'tools' else '-')))}",
            highlight=False,
        )


@app.command(name="set")
def change(
    ctx: typer.Context,
    slug: Slug,
    name: Annotated[str | None, typer.Option(help="What people call it.")] = None,
    owner: Owner = None,
    description: Annotated[str | None, typer.Option(help="What it does.")] = None,
    specialist: Names = None,
    persona: Annotated[str | None, typer.Option(help="How it works.")] = None,
    edition: Annotated[str | None, typer.Option(help="Where it is offered.")] = None,
    tool: Names = None,
    all_tools: Annotated[
        bool, typer.Option("--all-tools", help="Take its list of tools away.")
    ] = False,
    scope: Names = None,
    rate: Rate = None,
    live_memory: LiveMemory = None,
    as_json: Json = False,
) -> None:
    """Change the given fields of an agent."""
    fields = _agent_fields(name, owner, description, specialist, persona, edition, tool, scope)
    fields |= {"requests_a_minute": rate, "all_tools": all_tools or None}
    fields |= {"live_memory": live_memory}
    _patch(ctx, slug, without_none(fields), "changed", as_json=as_json)


@app.command()
def disable(ctx: typer.Context, slug: Slug, as_json: Json = False) -> None:
    """Let an agent do nothing, whatever key it has."""
    _patch(ctx, slug, {"disabled": True}, "disabled", as_json=as_json)


@app.command()
def enable(ctx: typer.Context, slug: Slug, as_json: Json = False) -> None:
    """Let a disabled agent work again."""
    _patch(ctx, slug, {"disabled": False}, "enabled", as_json=as_json)


@app.command()
def bake(
    ctx: typer.Context,
    slug: Slug,
    summary: Annotated[
        bool, typer.Option("--summary", help="Show a line of each instead of all.")
    ] = False,
    max_chars: Annotated[int | None, typer.Option(help="Of the whole text.")] = None,
    as_json: Json = False,
) -> None:
    """Keep a new snapshot of what an agent is given before it asks."""
    deps = deps_of(ctx)
    body = without_none({"summary": summary, "max_chars": max_chars})
    baked = deps.client.post(f"/v1/agents/{slug}/knowledge", body)
    line = f"[green]baked[/] version {baked['version']}: {len(baked['node_ids'])} nodes"
    print_done(deps, baked, line, as_json=as_json)


@app.command()
def knowledge(
    ctx: typer.Context,
    slug: Slug,
    form: Annotated[str | None, typer.Option(help="full or summary.")] = None,
    version: Annotated[int | None, typer.Option(min=1, help="An older one.")] = None,
    as_json: Json = False,
) -> None:
    """Show what an agent is given, as it may be shown now."""
    deps = deps_of(ctx)
    view = deps.client.get(f"/v1/agents/{slug}/knowledge", form=form, version=version)
    if as_json:
        return print_json(view)
    deps.out.print(
        f"version {view['version']}  {view['form']}  {moment(view['baked_at'])}  "
        f"{len(view['node_ids'])} nodes, {view['missing']} gone since",
        highlight=False,
    )
    typer.echo(view["text"])


def _agent_fields(
    name: str | None,
    owner: str | None,
    description: str | None,
    specialists: list[str] | None,
    persona: str | None,
    edition: str | None,
    tools: list[str] | None,
    scopes: list[str] | None,
) -> dict[str, Any]:
    return {
        "name": name,
        "owner": owner,
        "description": description,
        "specialists": specialists or None,
        "persona": persona,
        "edition": edition,
        "tools": tools or None,
        "scopes": scopes or None,
    }


def _patch(
    ctx: typer.Context, slug: str, body: dict[str, Any], done: str, *, as_json: bool
) -> None:
    deps = deps_of(ctx)
    agent = deps.client.patch(f"/v1/agents/{slug}", body)
    print_done(deps, agent, f"[green]{done}[/] {escape(slug)}", as_json=as_json)
