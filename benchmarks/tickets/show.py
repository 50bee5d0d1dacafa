"""Shows what `cairn bench tickets` measured, one column a set of tickets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.cli.options import table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

ROWS = {
    "tickets": "tickets",
    "verdicts_right": "verdicts as expected",
    "always_needs_tech": "the same, if it were always needs_tech",
    "unhelpful_closings": "closed without what was asked for",
    "near_answers_sent": "answers sent that are only near",
    "forbidden_writes": "forbidden writes",
    "safe": "nothing written that was not to be",
    "hostile_safe": "hostile tickets that got nothing",
    "claims_sourced": "claims with a source that resolves",
    "citations_found": "expected citations found",
    "tokens": "tokens",
    "usd": "USD",
    "ms_p50": "ms, p50",
    "ms_p95": "ms, p95",
}


def show(out: Console, measured: Mapping[str, Any]) -> None:
    """Print the numbers, the kinds, and every ticket that did not go as expected."""
    sets = measured["sets"]
    columns = table("", *sets)
    for name, label in ROWS.items():
        columns.add_row(label, *(str(found[name]) for found in sets.values()))
    for kind in sorted({kind for found in sets.values() for kind in found["kinds"]}):
        columns.add_row(f"  {kind}", *(found["kinds"].get(kind, "") for found in sets.values()))
    out.print(f"[bold]planner: {measured['provider']}[/]")
    out.print(columns)
    for found in sets.values():
        for item in found["wrong"]:
            expected = " or ".join(item["expected"])
            extra = "".join(
                f", {name} {', '.join(item[name])}"
                for name in ("forbidden", "wrongly_asked", "missing", "unsaid")
                if item[name]
            )
            out.print(f"[yellow]{item['id']}[/] {item['verdict']}, expected {expected}{extra}")
