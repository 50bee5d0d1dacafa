"""What the user sees while the laptop cloud comes up: one line a step, with its seconds.

It goes to stderr, so that the output of a command stays its own.
"""

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console


@dataclass(kw_only=True)
class Line:
    """The line of a running step; `says` adds what came of it."""

    detail: str = ""

    def says(self, detail: str) -> None:
        """Show `detail` behind the step's title."""
        self.detail = detail


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Prints steps; `quiet` prints nothing, for tests and `--json`."""

    quiet: bool = False
    console: Console = field(
        default_factory=lambda: Console(highlight=False, soft_wrap=True, stderr=True)
    )

    @contextmanager
    def step(self, title: str) -> Generator[Line]:
        """Show `title` while the block runs, then its mark, detail and seconds."""
        line = Line()
        started = time.monotonic()
        if self.quiet:
            yield line
            return
        mark = "[red]✗[/]"
        try:
            with self.console.status(f"{title} …"):
                yield line
            mark = "[green]✓[/]"
        finally:
            detail = f" [dim]({line.detail})[/]" if line.detail else ""
            seconds = time.monotonic() - started
            self.console.print(f"  {mark} {title}{detail}  [dim]{seconds:.1f} s[/]")

    def say(self, text: str = "") -> None:
        """Print a line of text."""
        if not self.quiet:
            self.console.print(text)
