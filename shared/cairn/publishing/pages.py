"""A report or a document as a page of its own: HTML without scripts. What it says is text only."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from cairn.publishing.addresses import INDEX

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

STYLE = "style.css"
_CSS = b"""\
:root { color-scheme: light dark; }
body { margin: 0 auto; max-width: 44rem; padding: 1.5rem 1rem 4rem; line-height: 1.6;
  font-family: system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { line-height: 1.2; }
.text { white-space: pre-wrap; }
footer { margin-top: 3rem; font-size: 0.875rem; }
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A part of a page: the headings it stands under, and what it says."""

    headings: tuple[str, ...]
    text: str


def render(title: str, passages: Sequence[Passage], now: datetime) -> Mapping[str, bytes]:
    """Return the files of a page, by their paths."""
    moment = now.strftime("%Y-%m-%d %H:%M UTC")
    page = "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>",
            f'<link rel="stylesheet" href="{STYLE}">',
            "</head>",
            "<body>",
            "<main>",
            f"<h1>{escape(title)}</h1>",
            *_passages(passages),
            "</main>",
            f'<footer>As of <time datetime="{now.isoformat()}">{moment}</time>.</footer>',
            "</body>",
            "</html>",
            "",
        ]
    )
    return {INDEX: page.encode(), STYLE: _CSS}


def _passages(passages: Sequence[Passage]) -> list[str]:
    """Return the passages, each heading once; the page's title is the heading of level one."""
    lines: list[str] = []
    before: tuple[str, ...] = ()
    for passage in passages:
        same = 0
        while passage.headings[: same + 1] == before[: same + 1] and same < len(passage.headings):
            same += 1
        for depth, heading in enumerate(passage.headings[same:], same):
            level = min(depth + 2, 6)
            lines.append(f"<h{level}>{escape(heading)}</h{level}>")
        before = passage.headings
        lines.append(f'<div class="text">{escape(passage.text)}</div>')
    return lines
