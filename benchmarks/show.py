"""Shows the values of a measurement as one table."""

from typing import TYPE_CHECKING, Any

from cairn.cli.options import table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console


def show_values(console: "Console", measured: "Mapping[str, Any]") -> None:
    """Print a line a value."""
    shown = table("measure", "value")
    for name, value in measured.items():
        shown.add_row(name, str(value))
    console.print(shown)
