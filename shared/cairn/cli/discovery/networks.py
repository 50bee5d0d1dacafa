"""`cairn network`: networks, who is in them, and invites."""

from itertools import islice
from typing import Annotated, Any

import typer

from cairn.cli.options import (
    Client,
    Json,
    deps_of,
    escape,
    moment,
    print_done,
    print_json,
    table,
    without_none,
)

app = typer.Typer(help="Networks: communities whose members find each other.", no_args_is_help=True)

Network = Annotated[str, typer.Argument(help="The network's id.")]
Prompt = Annotated[str | None, typer.Option(help="What belongs there; empty: everything.")]
Policy = Annotated[str | None, typer.Option(help="anyone or invite_only.")]
AsOf = Annotated[str | None, typer.Option(help="As it was at this time.")]


@app.command()
def make(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="What it is called.")],
    prompt: Prompt = None,
    join_policy: Policy = None,
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Make a network; without a client it is the workspace's."""
    deps = deps_of(ctx)
    values = {"name": name, "prompt": prompt, "join_policy": join_policy, "client_id": client}
    done = deps.client.post("/v1/networks", without_none(values))
    print_done(deps, done, f"[green]made[/] {escape(name)}  {done['id']}", as_json=as_json)


@app.command("list")
def list_networks(
    ctx: typer.Context,
    joined: Annotated[bool, typer.Option("--joined", help="Only those the client is in.")] = False,
    as_of: AsOf = None,
    client: Client = None,
    limit: Annotated[int, typer.Option(min=1, max=500)] = 50,
    as_json: Json = False,
) -> None:
    """List networks, the newest first."""
    deps = deps_of(ctx)
    only = {"joined": "true" if joined else None, "as_of": as_of, "client_id": client}
    items = list(islice(deps.client.pages("/v1/networks", **without_none(only)), limit))
    if as_json:
        return print_json(items)
    shown = table("id", "name", "joins", "role", "members", "prompt")
    for each in items:
        role, count = each["role"] or "", str(each["members"])
        row = each["id"], each["name"], each["join_policy"], role, count, each["prompt"]
        shown.add_row(*map(escape, row))
    deps.out.print(shown)


@app.command()
def change(
    ctx: typer.Context,
    network: Network,
    name: Annotated[str | None, typer.Option(help="What it is called.")] = None,
    prompt: Prompt = None,
    join_policy: Policy = None,
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Change a network; with another prompt its intents are judged anew."""
    deps = deps_of(ctx)
    values = {"name": name, "prompt": prompt, "join_policy": join_policy, "client_id": client}
    done = deps.client.patch(f"/v1/networks/{network}", without_none(values))
    print_done(deps, done, f"[green]changed[/] {escape(done['name'])}", as_json=as_json)


@app.command()
def remove(
    ctx: typer.Context, network: Network, client: Client = None, as_json: Json = False
) -> None:
    """Remove a network that nobody else is in."""
    deps = deps_of(ctx)
    gone = deps.client.delete(_path(f"/v1/networks/{network}", client))
    print_done(deps, gone, f"[green]removed[/] {network}", as_json=as_json)


@app.command()
def join(
    ctx: typer.Context,
    network: Annotated[str | None, typer.Argument(help="One that anyone may join.")] = None,
    invite: Annotated[str | None, typer.Option(help="An invite's token or link.")] = None,
    prompt: Annotated[str | None, typer.Option(help="What of the client's belongs there.")] = None,
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Join a network by its id or by an invite."""
    if (network is None) == (invite is None):
        raise typer.BadParameter("name a network, or an invite")
    deps = deps_of(ctx)
    body: dict[str, Any] = without_none({"prompt": prompt, "client_id": client})
    if invite is not None:
        token = invite.rpartition("#")[2]
        done = deps.client.post("/v1/networks/join", {**body, "token": token})
    else:
        done = deps.client.post(f"/v1/networks/{network}/join", body)
    print_done(deps, done, f"[green]joined[/] {escape(done['name'])}", as_json=as_json)


@app.command()
def leave(
    ctx: typer.Context, network: Network, client: Client = None, as_json: Json = False
) -> None:
    """Leave a network."""
    deps = deps_of(ctx)
    done = deps.client.post(f"/v1/networks/{network}/leave", without_none({"client_id": client}))
    print_done(deps, done, f"[green]left[/] {network}", as_json=as_json)


@app.command()
def prompt(
    ctx: typer.Context,
    network: Network,
    text: Annotated[str, typer.Argument(help="What of the client's belongs there.")],
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Say what of a member's belongs to a network."""
    deps = deps_of(ctx)
    body = without_none({"prompt": text, "client_id": client})
    done = deps.client.put(f"/v1/networks/{network}/prompt", body)
    print_done(deps, done, f"[green]set[/] {escape(done['name'])}", as_json=as_json)


@app.command()
def members(
    ctx: typer.Context,
    network: Network,
    as_of: AsOf = None,
    client: Client = None,
    limit: Annotated[int, typer.Option(min=1, max=500)] = 50,
    as_json: Json = False,
) -> None:
    """List who is in a network, as they describe themselves."""
    deps = deps_of(ctx)
    only = without_none({"as_of": as_of, "client_id": client})
    pages = deps.client.pages(f"/v1/networks/{network}/members", **only)
    items = list(islice(pages, limit))
    if as_json:
        return print_json(items)
    shown = table("id", "name", "role", "since", "about")
    for each in items:
        profile = each["profile"]
        name, text = profile["name"] or "", profile["text"] or ""
        row = each["id"], name, each["role"], moment(each["joined_at"]), text
        shown.add_row(*map(escape, row))
    deps.out.print(shown)


@app.command("let-go")
def let_go(
    ctx: typer.Context,
    network: Network,
    member: Annotated[str, typer.Argument(help="The member's id.")],
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Let somebody be in a network no longer."""
    deps = deps_of(ctx)
    gone = deps.client.delete(_path(f"/v1/networks/{network}/members/{member}", client))
    print_done(deps, gone, f"[green]let go[/] {member}", as_json=as_json)


@app.command()
def invite(
    ctx: typer.Context,
    network: Network,
    days: Annotated[int, typer.Option(min=1, max=30, help="How long it lets somebody in.")] = 7,
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Make a link that lets one person in, once."""
    deps = deps_of(ctx)
    body = without_none({"days": days, "client_id": client})
    done = deps.client.post(f"/v1/networks/{network}/invites", body)
    lines = f"{escape(done['text'])}\n{done['link']}"
    print_done(deps, done, lines, as_json=as_json)


@app.command()
def invites(
    ctx: typer.Context, network: Network, client: Client = None, as_json: Json = False
) -> None:
    """List invites to a network."""
    deps = deps_of(ctx)
    only = without_none({"client_id": client})
    items = list(islice(deps.client.pages(f"/v1/networks/{network}/invites", **only), 500))
    if as_json:
        return print_json(items)
    shown = table("id", "made", "until", "used", "withdrawn")
    for each in items:
        times = [each[name] for name in ("created_at", "expires_at", "used_at", "revoked_at")]
        shown.add_row(each["id"], *[moment(when) if when else "" for when in times])
    deps.out.print(shown)


@app.command()
def withdraw(
    ctx: typer.Context,
    network: Network,
    invite: Annotated[str, typer.Argument(help="The invite's id.")],
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Withdraw an invite that was not used."""
    deps = deps_of(ctx)
    gone = deps.client.delete(_path(f"/v1/networks/{network}/invites/{invite}", client))
    print_done(deps, gone, f"[green]withdrawn[/] {invite}", as_json=as_json)


@app.command()
def assign(
    ctx: typer.Context,
    intent: Annotated[str, typer.Argument(help="The intent's id.")],
    network: Annotated[list[str] | None, typer.Option(help="Repeat for several.")] = None,
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Assign an intent to networks; without any it is judged where it belongs."""
    deps = deps_of(ctx)
    body = without_none({"networks": network or [], "client_id": client})
    done = deps.client.post(f"/v1/intents/{intent}/networks", body)
    lines = [f"{each['network_id']}  {each['score']:.2f}" for each in done["items"]]
    print_done(deps, done, "\n".join(lines) or "in no network", as_json=as_json)


def _path(path: str, client: str | None) -> str:
    from urllib.parse import urlencode

    return f"{path}?{urlencode({'client_id': client})}" if client else path
