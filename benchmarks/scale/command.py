"""`cairn bench scale`: reads the options and shows what was found, as tables and as a curve."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cairn.cli.client import Failure
from cairn.cli.deps import NO_ENVIRONMENT
from cairn.cli.options import table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from benchmarks.locomo.run import Progress
    from benchmarks.scale.run import ScaleBench
    from cairn.cli.deps import Deps
    from cairn.embedding.onnx import OnnxEmbedder

SMALLEST, LARGEST = 1_000, 10_000_000
PARTS = ("embed", "vector", "keyword", "opensearch", "floor", "recall", "http")


def sizes_of(text: str, option: str = "--rows") -> list[int]:
    """Return the sizes of `10000,100000`, ascending and distinct; Failure says what is wrong."""
    try:
        sizes = sorted({int(part) for part in text.split(",") if part.strip()})
    except ValueError:
        raise Failure(f"{option} takes numbers separated by commas, not {text!r}.") from None
    if not sizes or sizes[0] < SMALLEST or sizes[-1] > LARGEST:
        raise Failure(f"{option} takes sizes from {SMALLEST} to {LARGEST}.")
    return sizes


def scale_bench(deps: "Deps", embedder: "OnnxEmbedder", progress: "Progress") -> "ScaleBench":
    """Build the benchmark over the configured PostgreSQL server, in a database of its own."""
    from benchmarks.scale.run import ScaleBench
    from benchmarks.scale.stand import stand_over
    from cairn.bootstrap.search_index import Endpoint

    owner_url, app_url = deps.owner_url, deps.settings.app_database_url
    model_dir = deps.settings.model_dir
    index_url, index_auth = deps.settings.opensearch_url, deps.settings.opensearch_auth or "none"
    if not owner_url or app_url is None or model_dir is None:
        raise Failure("The benchmark makes a database of its own.", advice=NO_ENVIRONMENT)
    return ScaleBench(
        owner_url=owner_url,
        app_url=app_url.get_secret_value(),
        embedder=embedder,
        open_workspace=deps.load_operator().create_workspace,
        stand=lambda url: stand_over(
            url,
            embedder=embedder,
            model_dir=model_dir,
            opensearch=Endpoint(index_url.get_secret_value(), index_auth) if index_url else None,
            stopwatch=deps.stopwatch,
            sleep=deps.sleep,
        ),
        progress=progress,
        stopwatch=deps.stopwatch,
    )


def show(console: "Console", measured: "Mapping[str, Any]") -> None:
    """Print a table a size and, from two sizes on, how p50 grows."""
    for size, found in measured["sizes"].items():
        console.print(
            f"\n[bold]{int(size):,} rows[/] loaded at {found['loaded_per_s']:.0f} a second"
        )
        console.print(_table(found["workspaces"]))
    if measured["growth"]:
        console.print(_growth(measured["growth"]))
        for name in measured["growth"]:
            console.print(curve(measured["sizes"], name), markup=False, highlight=False)


def _table(workspaces: "Mapping[str, Mapping[str, Any]]") -> Any:
    parts = [part for part in PARTS if f"{part}_ms_p50" in next(iter(workspaces.values()))]
    shown = table("workspace", "rows", "vector recall@10", *parts, "recall/floor", "http/floor")
    for name, found in workspaces.items():
        times = [f"{found[f'{part}_ms_p50']:.1f} / {found[f'{part}_ms_p95']:.1f}" for part in parts]
        ratios = [
            f"{found[f'{whole}_to_floor_p50']:.2f} / {found[f'{whole}_to_floor_p95']:.2f}"
            if f"{whole}_to_floor_p50" in found
            else "-"
            for whole in ("recall", "http")
        ]
        recall = f"{found['vector_recall_at_10']:.4f}"
        shown.add_row(name, f"{found['rows']:,}", recall, *times, *ratios)
    shown.caption = "p50 / p95, milliseconds; ratios to the floor's p50"
    return shown


def _growth(growth: "Mapping[str, Mapping[str, float]]") -> Any:
    parts = list(next(iter(growth.values())))
    shown = table("growth of p50", *(part.removesuffix("_ms_p50") for part in parts))
    for name, found in growth.items():
        shown.add_row(name, *(f"{found.get(part, float('nan')):.2f}x" for part in parts))
    return shown


def curve(sizes: "Mapping[str, Mapping[str, Any]]", workspace: str) -> str:
    """Return a plot of p50 over the number of rows, a line a part."""
    plotext: Any = import_module("plotext")  # has no types
    plotext.clear_figure()
    counts: Sequence[int] = [int(size) for size in sizes]
    for part in ("vector", "keyword", "floor", "recall"):
        times = [found["workspaces"][workspace][f"{part}_ms_p50"] for found in sizes.values()]
        plotext.plot(counts, times, label=part, marker="braille")
    plotext.title(f"p50 in ms, workspace with {workspace} of the rows")
    plotext.xscale("log")
    plotext.ylim(0, None)
    plotext.plotsize(90, 20)
    plotext.theme("clear")
    return plotext.build()
