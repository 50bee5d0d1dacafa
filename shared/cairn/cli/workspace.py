"""`cairn workspace`, `settings`, `keys` and `claim`: a tenant, its settings and its API keys.

A secret is printed once, by the command that made it.
"""

import json
from dataclasses import asdict
from typing import Annotated, Any
from uuid import UUID

import typer

from cairn.cli.client import Client, Failure
from cairn.cli.deps import NO_ENVIRONMENT, Deps
from cairn.cli.forget import print_places
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

app = typer.Typer(help="A workspace's settings; see docs/use/settings.md.", no_args_is_help=True)

Path = Annotated[str, typer.Argument(help="Such as recall.rrf_k; docs/use/settings.md lists them.")]
Version = Annotated[
    int | None, typer.Option("--version", help="Refuse when the settings have another version.")
]


@app.command()
def show(
    ctx: typer.Context,
    all_: Annotated[bool, typer.Option("--all", help="Include defaults.")] = False,
    as_json: Json = False,
) -> None:
    """Show the settings of the workspace and the environment."""
    deps = deps_of(ctx)
    _print(deps, deps.client.get("/v1/settings"), everything=all_, as_json=as_json)


@app.command(name="set")
def set_(
    ctx: typer.Context,
    path: Path,
    value: Annotated[str, typer.Argument(help="JSON, or a plain word.")],
    version: Version = None,
    as_json: Json = False,
) -> None:
    """Set one value, or a table: `cairn settings set recall.stages '{"graph": true}'`."""
    try:
        parsed = json.loads(value)
    except ValueError:
        parsed = value
    if parsed is None:
        raise Failure("A setting is not null.", advice=f"cairn settings reset {path}")
    _change(deps_of(ctx), path, parsed, version, as_json=as_json)


@app.command()
def reset(ctx: typer.Context, path: Path, version: Version = None, as_json: Json = False) -> None:
    """Reset a setting to its default."""
    _change(deps_of(ctx), path, None, version, as_json=as_json)


@app.command()
def history(ctx: typer.Context, as_json: Json = False) -> None:
    """List every change, from the ledger."""
    deps = deps_of(ctx)
    entries = list(deps.client.pages("/v1/ledger", type="settings.changed", limit=100))
    if as_json:
        return print_json({"items": [_change_of(entry) for entry in entries]})
    shown = table("version", "when", "who", "setting", "before", "since")
    for entry in entries:
        for each in entry["meta"]["changes"]:
            shown.add_row(
                str(entry["meta"]["version"]),
                entry["recorded_at"][:19],
                entry["actor_id"],
                *(escape(each[name] or "-") for name in ("path", "before", "after")),
            )
    deps.out.print(shown)


def _change(deps: Deps, path: str, value: Any, version: int | None, *, as_json: bool) -> None:
    patch = value
    for name in reversed(_parts(path)):
        patch = {name: patch}
    expected = {} if version is None else {"version": version}
    changed = deps.client.patch("/v1/settings", {**patch, **expected})
    _print(deps, changed, everything=False, as_json=as_json)


def _parts(path: str) -> list[str]:
    """Return the parts of a path; a model's name may have dots in it."""
    parts = path.split(".")
    if parts[:2] == ["models", "rates"] and len(parts) > 3:
        last = parts[-1:] if parts[-1] in {"input", "output", "cache_read", "cache_write"} else []
        middle = parts[2 : len(parts) - len(last)]
        return ["models", "rates", ".".join(middle), *last]
    return parts


def _print(deps: Deps, answer: dict[str, Any], *, everything: bool, as_json: bool) -> None:
    if as_json:
        return print_json(answer)
    shown = table("setting", "value", "from")
    for path, source in answer["sources"].items():
        if everything or source != "default":
            shown.add_row(escape(path), escape(json.dumps(_at(answer["settings"], path))), source)
    if shown.row_count:
        deps.out.print(shown)
    else:
        deps.out.print("nothing is set: every value is its default; `--all` shows them")
    deps.out.print(f"version {answer['version']}")
    for path in answer["ignored"]:
        deps.out.print(f"[yellow]ignored[/] {escape(path)}: nobody can use it any more")


def _at(values: dict[str, Any], path: str) -> Any:
    for name in _parts(path):
        values = values[name]
    return values


def _change_of(entry: dict[str, Any]) -> dict[str, Any]:
    return {
        "version": entry["meta"]["version"],
        "changes": entry["meta"]["changes"],
        **{name: entry[name] for name in ("position", "recorded_at", "actor_kind", "actor_id")},
    }


workspaces_app = typer.Typer(help="Workspaces: one tenant each.", no_args_is_help=True)


@workspaces_app.command()
def create(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="A name for it.")],
    as_json: Json = False,
) -> None:
    """Create a workspace, if it is missing, and print a new admin key for it, this once."""
    deps = deps_of(ctx)
    if not deps.owner_url:
        raise Failure(
            "Making a workspace needs the owner's database URL.", advice="set CAIRN_DATABASE_URL"
        )
    workspace_id, secret = deps.load_operator().create_workspace(deps.owner_url, name)
    if as_json:
        return print_json({"workspace_id": workspace_id, "name": name, "secret": secret})
    deps.out.print(f"{name} is {workspace_id}; its new admin key, keep it safe:")
    typer.echo(secret)


@workspaces_app.command("list")
def list_workspaces(ctx: typer.Context, as_json: Json = False) -> None:
    """List every workspace of the deployment, as the owner."""
    deps = deps_of(ctx)
    if not deps.owner_url:
        raise Failure(
            "Listing workspaces needs the owner's database URL.", advice="set CAIRN_DATABASE_URL"
        )
    workspaces = deps.load_operator().list_workspaces(deps.owner_url)
    if as_json:
        return print_json({"items": workspaces})
    shown = table("id", "name", "made", "entries", "last entry", whole="id")
    for each in workspaces:
        created_at, last = (moment(str(each[name])) for name in ("created_at", "last_entry_at"))
        shown.add_row(str(each["id"]), escape(each["name"]), created_at, str(each["entries"]), last)
    deps.out.print(shown)


@workspaces_app.command()
def delete(
    ctx: typer.Context,
    workspace: Annotated[str, typer.Argument(help="Its name or its id.", metavar="WORKSPACE")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for its name.")] = False,
    as_json: Json = False,
) -> None:
    """Delete a workspace from every store, as the owner, and prove it. It cannot be undone."""
    deps = deps_of(ctx)
    if not deps.owner_url:
        raise Failure(
            "Deleting a workspace needs the owner's database URL.", advice="set CAIRN_DATABASE_URL"
        )
    operator = deps.load_operator()
    id_ = _workspace_id(operator.list_workspaces(deps.owner_url), workspace)
    deletion = operator.delete_workspace(deps.deployment(), deps.owner_url)
    existing = deletion.find(id_)
    if existing.deleted_at is None and not yes:
        size = f"{escape(existing.name)} has {existing.position} entries."
        deps.err.print(f"{size} It cannot be undone.")
        typed = typer.prompt("Type the name of the workspace to delete it", err=True)
        if typed != existing.name:
            raise Failure("This is not its name; nothing was deleted.")
    done = asdict(deletion(id_, existing.name))
    if as_json:
        print_json(done)
    else:
        print_places(deps, done["places"], only_found=False)
        what = "deleted before" if done["already"] else "deleted"
        deps.out.print(f"[red]{what}[/] {id_}; its tombstone is {done['tombstone']}")
    if not done["clean"]:
        raise Failure("Something is left of it.", advice="run the command again")


def _workspace_id(workspaces: list[dict[str, Any]], reference: str) -> UUID:
    """Return the id of the one workspace of this name, or the id given: of a deleted one, too."""
    try:
        return UUID(reference)
    except ValueError:
        matches = [each["id"] for each in workspaces if each["name"] == reference]
    if len(matches) != 1:
        what = "Several workspaces are" if matches else "No workspace is"
        raise Failure(f"{what} called {reference}.", advice="cairn workspace list")
    return matches[0]


@workspaces_app.command()
def redaction(
    ctx: typer.Context,
    profile: Annotated[
        str | None, typer.Argument(help="none, soc2, pii or hipaa; without it nothing changes.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show or choose which personal values no model sees in the key's workspace."""
    client = deps_of(ctx).client
    if profile is None:
        answer = client.get("/v1/redaction")
    else:
        answer = client.put("/v1/redaction", {"profile": profile})
    print_done(deps_of(ctx), answer, str(answer["profile"]), as_json=as_json)


keys_app = typer.Typer(help="API keys: who may do what.", no_args_is_help=True)


@keys_app.command("list")
def list_keys(ctx: typer.Context, as_json: Json = False) -> None:
    """Show the workspace's keys."""
    deps = deps_of(ctx)
    answer = deps.client.get("/v1/keys")
    if as_json:
        return print_json(answer)
    shown = table("id", "name", "role", "scopes", "client", "tools", "last used", "state")
    for each in answer["items"]:
        state = "[red]revoked[/]" if each["revoked_at"] else "[green]valid[/]"
        shown.add_row(
            each["id"],
            escape(each["name"]),
            f"{each['role']}, {escape(each['agent'])}" if each["agent"] else each["role"],
            ", ".join(each["scopes"]),
            escape(each["client_id"] or "all"),
            "all" if each["tools"] is None else ", ".join(each["tools"]),
            (each["last_used_at"] or "never")[:16],
            state,
        )
    deps.out.print(shown)


@keys_app.command("create")
def create_key(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="What it is for.")],
    role: Annotated[str, typer.Option(help="admin, agent or public.")] = "agent",
    scope: Annotated[list[str] | None, typer.Option(help="Repeat for several.")] = None,
    agent: Annotated[str | None, typer.Option(help="The agent it is bound to.")] = None,
    tool: Annotated[
        list[str] | None,
        typer.Option(help="A tool it may call over MCP, and nothing else. Repeat for several."),
    ] = None,
    expires_at: Annotated[str | None, typer.Option(help="RFC 3339, with its zone.")] = None,
    client: Annotated[
        str | None, typer.Option("--client", help="The client that it is confined to.")
    ] = None,
    of: Annotated[str | None, typer.Option(help="The registered agent whose it is.")] = None,
    person: Annotated[
        bool, typer.Option("--person", help="A person holds it: MCP asks it for no agent.")
    ] = False,
    token_subject: Annotated[
        str | None,
        typer.Option(help="Whose access tokens open it: sub:... or client:..., as they say it."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a key and print it, this once."""
    deps = deps_of(ctx)
    body = without_none(
        {
            "name": name,
            "role": role,
            "scopes": scope,
            "agent_slug": agent,
            "tools": tool,
            "expires_at": expires_at,
            "client_id": client,
            "agent": of,
            "person": person or None,
            "token_subject": token_subject,
        }
    )
    created = deps.client.post("/v1/keys", body)
    if (
        not as_json
        and role == "agent"
        and not (created["key"]["agent"] or created["key"]["person"])
    ):
        deps.out.print(f"[dim]{_UNREGISTERED}[/]")
    _show_created(deps, created, as_json=as_json)


_UNREGISTERED = (
    "Over MCP who holds it first registers as an agent (register_agent); a key of --of SLUG or "
    "--person is not asked."
)


@keys_app.command()
def revoke(ctx: typer.Context, key_id: str, as_json: Json = False) -> None:
    """Revoke a key at once."""
    deps = deps_of(ctx)
    revoked = deps.client.delete(f"/v1/keys/{key_id}")
    if as_json:
        print_json(revoked)
    else:
        deps.out.print(f"[red]revoked[/] {escape(revoked['name'])}")


@keys_app.command()
def whoami(ctx: typer.Context, as_json: Json = False) -> None:
    """Show whose key is in use."""
    deps = deps_of(ctx)
    answer = deps.client.get("/v1/whoami")
    if as_json:
        print_json(answer)
    else:
        deps.out.print(
            f"{answer['name']}: {answer['role']} of {answer['workspace_id']}, "
            f"scopes {', '.join(answer['scopes'])}"
            + (f", tools {', '.join(answer['tools'])}" if answer["tools"] is not None else "")
            + (f", agent {answer['agent']}" if answer["agent"] else "")
            + (f", {answer['barred']}" if answer["barred"] else "")
        )


def claim(
    ctx: typer.Context,
    token: Annotated[str, typer.Argument(help="The one-time token of infra.cdk.issue_claim.")],
    url: Annotated[str | None, typer.Option(help="The API's URL; CAIRN_URL by default.")] = None,
    workspace: Annotated[str, typer.Option(help="The name of the first workspace.")] = "main",
    as_json: Json = False,
) -> None:
    """Claim a new deployment: the one-time token becomes the first admin key."""
    deps = deps_of(ctx)
    where = url or deps.settings.url
    if not where:
        raise Failure("There is no API to claim.", advice=NO_ENVIRONMENT)
    client = Client(where, None, sleep=deps.sleep, transport=deps.transport)
    created = client.post("/v1/claim", {"token": token, "workspace_name": workspace})
    _show_created(deps, created, as_json=as_json)


def _show_created(deps: Deps, created: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        return print_json(created)
    deps.out.print(f"{escape(created['key']['name'])} ({created['key']['role']}), keep it safe:")
    typer.echo(created["secret"])
