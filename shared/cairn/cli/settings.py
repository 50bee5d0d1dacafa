"""`cairn settings`: what the key's workspace sets for its searches, models and agents."""

import json
from typing import Annotated, Any

import typer

from cairn.cli.deps import Deps
from cairn.cli.failure import Failure
from cairn.cli.options import Json, deps_of, escape, print_json, table

app = typer.Typer(help="What a workspace sets; see docs/use/settings.md.", no_args_is_help=True)

Path = Annotated[str, typer.Argument(help="Such as recall.rrf_k; docs/use/settings.md lists them.")]
Version = Annotated[
    int | None, typer.Option("--version", help="Refuse when it is not this version any more.")
]


@app.command()
def show(
    ctx: typer.Context,
    all_: Annotated[bool, typer.Option("--all", help="Defaults too.")] = False,
    as_json: Json = False,
) -> None:
    """Show what is set, by the workspace or the environment."""
    deps = deps_of(ctx)
    _print(deps, deps.client.get("/v1/settings"), everything=all_, as_json=as_json)


@app.command(name="set")
def set_(
    ctx: typer.Context,
    path: Path,
    value: Annotated[str, typer.Argument(help="As JSON; a word that is none is a string.")],
    version: Version = None,
    as_json: Json = False,
) -> None:
    """Set one value, or a table: `cairn settings set recall.stages '{"graph": true}'`."""
    try:
        given = json.loads(value)
    except ValueError:
        given = value
    if given is None:
        raise Failure("A setting is not null.", advice=f"cairn settings reset {path}")
    _change(deps_of(ctx), path, given, version, as_json=as_json)


@app.command()
def reset(ctx: typer.Context, path: Path, version: Version = None, as_json: Json = False) -> None:
    """Give up what the workspace set: the default holds again."""
    _change(deps_of(ctx), path, None, version, as_json=as_json)


@app.command()
def history(ctx: typer.Context, as_json: Json = False) -> None:
    """Show every change, as the ledger has it."""
    deps = deps_of(ctx)
    entries = list(deps.client.pages("/v1/ledger", type="settings.changed", limit=100))
    if as_json:
        return print_json({"items": [_change_of(one) for one in entries]})
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


def _print(deps: Deps, found: dict[str, Any], *, everything: bool, as_json: bool) -> None:
    if as_json:
        return print_json(found)
    shown = table("setting", "value", "from")
    for path, source in found["sources"].items():
        if everything or source != "default":
            shown.add_row(escape(path), escape(json.dumps(_at(found["settings"], path))), source)
    if shown.row_count:
        deps.out.print(shown)
    else:
        deps.out.print("nothing is set: every value is its default; `--all` shows them")
    deps.out.print(f"version {found['version']}")
    for path in found["ignored"]:
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
