"""`cairn searches`: why a search found what it found, and whether it would again."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cairn.cli.deps import Deps
from cairn.cli.options import Json, deps_of, escape, print_json, table

if TYPE_CHECKING:
    from rich.text import Text

app = typer.Typer(help="Searches that were made: explained and replayed.", no_args_is_help=True)

SearchId = Annotated[str, typer.Argument(help="meta.search_id of an answer.")]
Svg = Annotated[Path | None, typer.Option("--svg", help="Draw the walked graph to this file.")]
TEXT_CHARS, BLOCK_CHARS, COLUMN_CHARS = 60, 200, 9


@app.command("show")
def show(ctx: typer.Context, search_id: SearchId, svg: Svg = None, as_json: Json = False) -> None:
    """Show why each result is where it is, leg by leg and signal by signal."""
    deps = deps_of(ctx)
    told = deps.client.get(f"/v1/searches/{search_id}")
    draw(told, svg)
    if as_json:
        return print_json(told)
    show_explained(deps, told)


@app.command("replay")
def replay(ctx: typer.Context, search_id: SearchId, as_json: Json = False) -> None:
    """Do a search again from what was kept of it, and say whether the same comes out."""
    deps = deps_of(ctx)
    told = deps.client.get(f"/v1/searches/{search_id}")
    same = bool(told["replayed"])
    if as_json:
        print_json({"search_id": told["search_id"], "replayed": same, "ids": _ids(told)})
    else:
        for node_id in _ids(told):
            deps.out.print(node_id)
        said = "[green]the same ids in the same order[/]" if same else "[red]not the same ids[/]"
        deps.out.print(said)
    if not same:
        raise typer.Exit(1)


def show_explained(deps: Deps, told: dict[str, Any]) -> None:
    """Print the table of contributions, the legs, and what stood out."""
    rows: list[dict[str, Any]] = told["results"]
    names = list(dict.fromkeys(name for row in rows for name in row["contributions"]))
    if rows and deps.out.width >= TEXT_CHARS + COLUMN_CHARS * (len(names) + 3):
        last = ["rerank"] if _reranked(rows) else []
        shown = table("#", "text", "legs", *names, "total", *last)
        for row in rows:
            shown.add_row(*(escape(cell) for cell in _cells(row, names, rows)))
        deps.out.print(shown)
    elif rows:
        for row in rows:
            deps.out.print(_block(row), highlight=False)
    else:
        deps.out.print("  nothing was found")
    found = ", ".join(f"{leg} {count}" for leg, count in told["candidates"].items())
    intents = ", ".join(f"{name} {sure:.2f}" for name, sure in told["intents"].items())
    said = f"{told['recipe']}: {found}; {told['retrieval_class']}; {intents}"
    deps.out.print(f"[dim]{escape(said)}[/]")
    for each in told["degraded"]:
        deps.out.print(f"[yellow]without[/] {escape(each)}")


def draw(told: dict[str, Any], svg: Path | None) -> None:
    """Write the drawing of what the graph leg walked, when a file is named."""
    if svg is None:
        return
    from cairn.recall.walks.picture import walk_picture

    svg.write_text(walk_picture(told), encoding="utf-8")
    typer.echo(f"drawn to {svg}", err=True)


def show_timings(deps: Deps, meta: dict[str, Any]) -> None:
    """Print milliseconds by leg and stage."""
    legs = [f"{name} {leg['ms']:.1f}" for name, leg in meta["legs"].items()]
    stages = [f"{name} {ms:.1f}" for name, ms in meta["stages_ms"].items()]
    deps.out.print(f"[dim]ms by leg: {', '.join(legs)}; by stage: {', '.join(stages)}[/]")


def _ids(told: dict[str, Any]) -> list[str]:
    return [row["node_id"] for row in told["results"]]


def _reranked(rows: list[dict[str, Any]]) -> bool:
    return any(row.get("rerank") is not None for row in rows)


def _block(row: dict[str, Any]) -> "Text":
    """Return a result as a few short lines: what a narrow terminal can show of its table row."""
    from rich.text import Text

    text = " ".join(str(row.get("text", row["node_id"])).split())
    legs = ", ".join(f"{leg} {at['rank']}" for leg, at in row["legs"].items())
    parts = [f"{name} {part:+.3f}" for name, part in row["contributions"].items()]
    rerank = [] if row.get("rerank") is None else [f"rerank {row['rerank']:.3f}"]
    block = Text(f"{row['rank']}. {text[:BLOCK_CHARS]}\n", overflow="fold")
    block.append(f"   {row['score']:.3f}", style="bold").append(f" found by {legs}\n")
    return block.append(f"   {'  '.join([*parts, *rerank])}\n", style="dim")


def _cells(row: dict[str, Any], names: list[str], rows: list[dict[str, Any]]) -> list[str]:
    text = " ".join(str(row.get("text", row["node_id"])).split())
    legs = ", ".join(f"{leg} {at['rank']}" for leg, at in row["legs"].items())
    parts = [row["contributions"].get(name) for name in names]
    cells = [
        str(row["rank"]),
        text[:TEXT_CHARS] + ("…" if len(text) > TEXT_CHARS else ""),
        legs,
        *("" if part is None else f"{part:+.3f}" for part in parts),
        f"{row['score']:.3f}",
    ]
    if _reranked(rows):
        cells.append("" if row.get("rerank") is None else f"{row['rerank']:.3f}")
    return cells
