"""`cairn stats`: what a workspace holds and how good it is, as tables and bars."""

from collections.abc import Mapping
from typing import Any

import typer

from cairn.cli.deps import Deps
from cairn.cli.options import Json, deps_of, print_json, table

_COUNTS = (
    ("labels", "label"),
    ("kinds", "kind of memory"),
    ("states", "state"),
    ("categories", "category"),
    ("knowledge_categories", "knowledge category"),
)
_RATES = (
    ("decayed", "facts decayed below 50 %"),
    ("junk", "junk"),
    ("duplicates", "duplicates"),
    ("contradictions", "contradictions"),
)
BAR = 30
"""Characters of the longest bar."""

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def stats(ctx: typer.Context, as_json: Json = False) -> None:
    """Show counts, rates of junk, duplicates and contradictions, bytes, vectors, what waits."""
    deps = deps_of(ctx)
    told = deps.client.get("/v1/stats")
    if as_json:
        return print_json(told)
    head = told["chain_head"]
    deps.out.print(
        f"{told['nodes']} nodes, {told['active_memories']} active memories; ledger at position "
        f"{head['position']}, {head['hash'][:16]}…"
    )
    _show_counts(deps, told)
    _show_rates(deps, told)
    _show_stored(deps, told)
    _show_feedback(deps, told)


def _show_counts(deps: Deps, told: Mapping[str, Any]) -> None:
    most = max((count for name, _ in _COUNTS for count in told[name].values()), default=1)
    shown = table("what", "value", "nodes", "")
    for name, title in _COUNTS:
        for value, count in sorted(told[name].items(), key=lambda one: (-one[1], one[0])):
            shown.add_row(title, value, str(count), bar(count, most))
            title = ""
    deps.out.print(shown)


def _show_rates(deps: Deps, told: Mapping[str, Any]) -> None:
    shown = table("rate", "share", "found", "of", "")
    for name, title in _RATES:
        rate = told[name]
        of = f"{rate['of']}" if rate["exact"] else f"{rate['of']} at random"
        percent = f"{100 * rate['share']:.1f} %"
        shown.add_row(title, percent, str(rate["count"]), of, bar(rate["share"], 1))
    deps.out.print(shown)


def _show_stored(deps: Deps, told: Mapping[str, Any]) -> None:
    shown = table("stored", "")
    for name, size in told["storage_bytes"].items():
        shown.add_row(name.replace("_", " "), readable(size))
    for model, count in told["vectors"].items():
        shown.add_row(f"vectors of {model}", str(count))
    for topic, count in told["outbox"].items():
        shown.add_row(f"waiting: {topic}", str(count))
    deps.out.print(shown)


def _show_feedback(deps: Deps, told: Mapping[str, Any]) -> None:
    if not told["feedback"]:
        return
    shown = table("feedback: recipe", "reason", "signal", "judged", "useful", "")
    for row in told["feedback"]:
        muted = "muted" if row["signal"] in told["muted_signals"] else ""
        named = (row["recipe"] or "-", row["retrieval_reason"], row["signal"] or "-")
        percent = f"{100 * row['share']:.1f} %"
        shown.add_row(*named, str(row["judged"]), percent, muted)
    deps.out.print(shown)


def bar(value: float, most: float) -> str:
    """Return a bar as long as `value` is of `most`; what is more than nothing shows."""
    return "█" * max(1 if value else 0, round(BAR * value / most)) if most else ""


def readable(size: float) -> str:
    """Return bytes in the largest unit they reach."""
    for unit in _UNITS[:-1]:
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} {_UNITS[-1]}"
