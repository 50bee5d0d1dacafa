"""Shows what the benchmark of discovery found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

COLUMNS = ("hit_at_1", "ndcg_at_10", "recall_at_10", "hard_negative_first")
OTHERS = ("precision_shown", "pairs_shown", "forbidden", "role_accuracy")
TIMES = ("discover_ms_p50", "search_ms_p50")


def show(out: Console, measured: Mapping[str, Mapping[str, Any]]) -> None:
    """Print a table for each file, simpler ways below."""
    for name, found in measured.items():
        table = Table(title=f"{name}: {found['questions']} questions")
        table.add_column("way")
        for column in COLUMNS:
            table.add_column(column, justify="right")
        for way, values in (("discover", found), *found["comparison"].items()):
            table.add_row(way, *(f"{values[column]:.3f}" for column in COLUMNS))
        out.print(table)
        out.print("  ".join(f"{each} {found[each]}" for each in OTHERS), highlight=False)
        out.print("  ".join(f"{each} {found[each]:.1f}" for each in TIMES), highlight=False)
