"""Prints what `cairn bench consolidation` measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from benchmarks.consolidation.run import PRECISION_ASKED, RECALL_ASKED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console


def show(out: Console, measured: Mapping[str, Mapping[str, Any]]) -> None:
    """Print a table a file, and what was asked."""
    for name, found in measured.items():
        table = Table("class", "pairs", "merged", "flagged", "linked", title=name)
        for one, count in found["pairs"].items():
            cells = (count, found["merged"][one], found["flagged"][one], found["linked"][one])
            table.add_row(one, *map(str, cells))
        out.print(table)
        merges, flags = found["duplicates"], found["contradictions"]
        out.print(
            f"duplicates: precision {merges['precision']}, recall {merges['recall']}"
            f" (asked {PRECISION_ASKED} and {RECALL_ASKED}); "
            f"contradictions: precision {flags['precision']}, recall {flags['recall']}"
        )
        out.print(
            f"wrong supersedes: {found['wrong_supersedes']} of pairs, "
            f"{found['wrong_in_batches']} in batches (asked 0)"
        )
        for pair in found["wrong"]:
            out.print(f"  wrong: {pair['one']} | {pair['other']}", style="red")
