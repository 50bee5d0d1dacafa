"""`cairn scim`: directories that bring people and groups. Over the API."""

from typing import Annotated

import typer

from cairn.cli.client import Failure
from cairn.cli.options import Json, deps_of, escape, moment, print_done, print_json, table
from cairn.kernel.access import PersonRole

app = typer.Typer(help="Directories that bring people by SCIM 2.0.", no_args_is_help=True)
tokens_app = typer.Typer(help="Their tokens.", no_args_is_help=True)
app.add_typer(tokens_app, name="token")
PATH = "/v1/scim/tokens"


@tokens_app.command("make")
def make_token(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Which directory, such as 'Entra ID'.")],
    days: Annotated[
        int | None, typer.Option(min=1, help="Good for so many days; else until it is revoked.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a token and print it, this once, with the address that the directory asks."""
    deps = deps_of(ctx)
    created = deps.client.post(PATH, {"name": name, "days": days})
    address = deps.client.url.rstrip("/") + "/scim/v2"
    if as_json:
        return print_json({**created, "address": address})
    deps.out.print(f"address  {address}", soft_wrap=True, markup=False, highlight=False)
    deps.out.print(f"token    {created['secret']}", soft_wrap=True, markup=False, highlight=False)


@tokens_app.command("list")
def list_tokens(ctx: typer.Context, as_json: Json = False) -> None:
    """List the tokens, and when each was used last."""
    deps = deps_of(ctx)
    items = deps.client.get(PATH)["items"]
    if as_json:
        return print_json(items)
    shown = table("id", "name", "made", "used", "until")
    for each in items:
        used, until = (moment(each[at]) if each[at] else "" for at in ("used_at", "expires_at"))
        shown.add_row(each["id"], escape(each["name"]), moment(each["created_at"]), used, until)
    deps.out.print(shown)


@tokens_app.command("revoke")
def revoke_token(
    ctx: typer.Context,
    token: Annotated[str, typer.Argument(help="The token's id.")],
    as_json: Json = False,
) -> None:
    """Revoke a token; who came by it stays."""
    deps = deps_of(ctx)
    revoked = deps.client.delete(f"{PATH}/{token}")
    print_done(deps, revoked, f"[green]revoked[/] {escape(revoked['name'])}", as_json=as_json)


@app.command("groups")
def list_groups(ctx: typer.Context, as_json: Json = False) -> None:
    """List the groups that directories brought, and the role that each gives."""
    deps = deps_of(ctx)
    items = deps.client.get("/v1/scim/groups")["items"]
    if as_json:
        return print_json(items)
    shown = table("id", "name", "people", "role")
    for each in items:
        shown.add_row(each["id"], escape(each["name"]), str(each["members"]), each["role"] or "")
    deps.out.print(shown)


@app.command("role")
def set_role(
    ctx: typer.Context,
    group: Annotated[str, typer.Argument(help="The group's name or id.")],
    role: Annotated[str, typer.Argument(help=f"{', '.join(PersonRole)}, or none.")],
    as_json: Json = False,
) -> None:
    """Let a group give a role, or none."""
    deps = deps_of(ctx)
    items = deps.client.get("/v1/scim/groups")["items"]
    group_id = next(
        (each["id"] for each in items if group.lower() in (each["id"], each["name"].lower())), group
    )
    if role not in (*PersonRole, "none"):
        raise Failure("there is no such role", advice=f"{', '.join(PersonRole)}, or none")
    body = {"role": None if role == "none" else role}
    changed = deps.client.put(f"/v1/scim/groups/{group_id}", body)
    line = f"{escape(changed['name'])}: {changed['role'] or 'no role'}"
    print_done(deps, changed, line, as_json=as_json)
