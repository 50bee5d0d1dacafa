"""Every page of the console's navigation has a picture in a guide, made by `scripts.pictures`."""

from __future__ import annotations

import re
from pathlib import Path

from scripts.pictures import FOLDER, TALK

from benchmarks.console import PAGES

GUIDES = Path(__file__).parents[3] / "docs"
PICTURE = re.compile(r"!\[([^\]]*)\]\([^)]*pictures/([\w-]+)\.webp\)")


def test_every_page_has_a_picture_in_a_guide_with_words_for_who_cannot_see_it() -> None:
    shown = {
        name: words
        for guide in GUIDES.rglob("*.md")
        for words, name in PICTURE.findall(guide.read_text(encoding="utf-8"))
    }
    made = {path.stem for path in FOLDER.glob("*.webp")}
    assert {*PAGES, *TALK} - shown.keys() == set()
    assert shown.keys() == made
    assert [name for name, words in shown.items() if len(words) < 10] == []
