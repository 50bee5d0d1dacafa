"""A report as a page: text stays text."""

from __future__ import annotations

from datetime import UTC, datetime

from cairn.publishing.pages import Passage, render

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
HOSTILE = """</div><script>alert(1)</script><img src=x onerror=alert(1)> "'& &lt;"""


def test_nothing_that_is_said_becomes_markup() -> None:
    files = render(HOSTILE, [Passage(headings=(HOSTILE,), text=HOSTILE)], NOON)
    page = files["index.html"].decode()
    assert "<script" not in page
    assert "<img" not in page
    assert page.count("&lt;script&gt;") == 4
    assert "&amp;lt;" in page
    assert set(files) == {"index.html", "style.css"}


def test_a_heading_stands_once_above_what_it_is_of() -> None:
    passages = [
        Passage(headings=("A",), text="1"),
        Passage(headings=("A", "B"), text="2"),
        Passage(headings=("A", "B"), text="3"),
        Passage(headings=("C", "B"), text="4"),
    ]
    page = render("T", passages, NOON)["index.html"].decode()
    headings = [line for line in page.splitlines() if line.startswith("<h")]
    assert headings[-5:] == [
        "<h1>T</h1>",
        "<h2>A</h2>",
        "<h3>B</h3>",
        "<h2>C</h2>",
        "<h3>B</h3>",
    ]
    assert "2026-05-01 12:00 UTC" in page
