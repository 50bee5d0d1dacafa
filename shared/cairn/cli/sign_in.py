"""`cairn sign-in` and `cairn people`: who signs in to the console. Over the API."""

from typing import Annotated, Any

import typer

from cairn.cli.client import Failure
from cairn.cli.options import Json, deps_of, escape, print_done, print_json, table
from cairn.kernel.access import PersonRole

app = typer.Typer(help="Who signs in to the console.", no_args_is_help=True)
FIRST = {"login": "owner", "name": "Owner", "role": PersonRole.OWNER.value}
Login = Annotated[str, typer.Argument(help="The name they sign in under.")]


def sign_in(
    ctx: typer.Context,
    login: Annotated[str | None, typer.Argument(help="Who; the only owner when left out.")] = None,
    as_json: Json = False,
) -> None:
    """Print a link that signs somebody in once, within 15 minutes; makes the first owner."""
    client = deps_of(ctx).client
    people = client.get("/v1/people")["items"]
    if not people and login in (None, FIRST["login"]):
        _print_link(ctx, client.post("/v1/people", FIRST), as_json=as_json)
        return
    person = _of_login(people, login)
    _print_link(ctx, client.post(f"/v1/people/{person['id']}/link", {}), as_json=as_json)


@app.command("list")
def list_people(ctx: typer.Context, as_json: Json = False) -> None:
    """List who may sign in."""
    deps = deps_of(ctx)
    items = deps.client.get("/v1/people")["items"]
    if as_json:
        return print_json(items)
    shown = table("login", "name", "role", "member", "")
    for each in items:
        state = "disabled" if each["disabled_at"] else ""
        shown.add_row(
            escape(each["login"]),
            escape(each["name"]),
            each["role"],
            escape(each["client_id"] or ""),
            state,
        )
    deps.out.print(shown)


@app.command()
def add(
    ctx: typer.Context,
    login: Login,
    role: Annotated[PersonRole, typer.Option(help="What they may do.")] = PersonRole.READER,
    name: Annotated[str | None, typer.Option(help="What they are called.")] = None,
    as_json: Json = False,
) -> None:
    """Let somebody sign in, and print their first link."""
    body = {"login": login, "name": name or login, "role": role.value}
    _print_link(ctx, deps_of(ctx).client.post("/v1/people", body), as_json=as_json)


@app.command()
def tie(
    ctx: typer.Context,
    login: Login,
    member: Annotated[str, typer.Option("--client", help="The client of the member they are.")],
    as_json: Json = False,
) -> None:
    """Say which member of networks somebody is: in the console they see and do what it may."""
    deps = deps_of(ctx)
    person = _of_login(deps.client.get("/v1/people")["items"], login)
    tied = deps.client.put(f"/v1/people/{person['id']}/member", {"client_id": member})
    line = f"[green]tied[/] {escape(person['login'])} is {escape(member)}"
    print_done(deps, tied, line, as_json=as_json)


@app.command()
def untie(ctx: typer.Context, login: Login, as_json: Json = False) -> None:
    """Let somebody be no member of networks; the member stays as it is."""
    deps = deps_of(ctx)
    person = _of_login(deps.client.get("/v1/people")["items"], login)
    untied = deps.client.delete(f"/v1/people/{person['id']}/member")
    print_done(deps, untied, f"[green]untied[/] {escape(person['login'])}", as_json=as_json)


@app.command()
def change(
    ctx: typer.Context,
    login: Login,
    role: Annotated[PersonRole | None, typer.Option(help="What they may do.")] = None,
    disabled: Annotated[
        bool | None, typer.Option("--disable/--enable", help="Whether they may sign in.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Change what somebody may do, or whether they may sign in."""
    deps = deps_of(ctx)
    person = _of_login(deps.client.get("/v1/people")["items"], login)
    body = {
        name: value
        for name, value in (("role", role.value if role else None), ("disabled", disabled))
        if value is not None
    }
    changed = deps.client.patch(f"/v1/people/{person['id']}", body)
    state = "disabled" if changed["disabled_at"] else "enabled"
    line = f"{escape(changed['login'])}: {changed['role']}, {state}"
    print_done(deps, changed, line, as_json=as_json)


@app.command("sign-out")
def sign_out(ctx: typer.Context, login: Login, as_json: Json = False) -> None:
    """End every session of somebody; they may sign in again."""
    deps = deps_of(ctx)
    person = _of_login(deps.client.get("/v1/people")["items"], login)
    ended = deps.client.post(f"/v1/people/{person['id']}/sign-out", {})
    print_done(deps, ended, f"{escape(login)}: {ended['sessions']} ended", as_json=as_json)


@app.command()
def remove(ctx: typer.Context, login: Login, as_json: Json = False) -> None:
    """Remove somebody with their password and sessions."""
    deps = deps_of(ctx)
    person = _of_login(deps.client.get("/v1/people")["items"], login)
    deps.client.delete(f"/v1/people/{person['id']}")
    print_done(deps, person, f"removed {escape(login)}", as_json=as_json)


def _of_login(people: list[dict[str, Any]], login: str | None) -> dict[str, Any]:
    owners = [each for each in people if each["role"] == PersonRole.OWNER]
    of_login = [each for each in people if login and each["login"] == login.strip().lower()]
    chosen = of_login if login else owners
    if len(chosen) != 1:
        logins = ", ".join(each["login"] for each in people) or "nobody yet"
        message = "nobody signs in under this name" if login else "say who"
        raise Failure(message, advice=f"there are: {logins}")
    return chosen[0]


def _print_link(ctx: typer.Context, link: dict[str, Any], *, as_json: bool) -> None:
    deps = deps_of(ctx)
    url = deps.client.url.rstrip("/") + link["path"]
    if as_json:
        return print_json({**link, "url": url})
    deps.out.print(f"{escape(link['person']['login'])} signs in once, within 15 minutes:")
    deps.out.print(url, soft_wrap=True, markup=False, highlight=False)
