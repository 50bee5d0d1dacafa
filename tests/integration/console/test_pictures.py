"""The commands that measure the console's pages and make their pictures, against a real API."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scripts import pictures
from tests.integration.console import test_in_a_browser

from benchmarks import console

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.console.test_in_a_browser import Site

pytestmark = test_in_a_browser.pytestmark


@pytest.fixture
def key(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAIRN_URL", site.url)
    monkeypatch.setenv("CAIRN_API_KEY", site.front.key)


@pytest.mark.usefixtures("key")
def test_every_page_is_measured_and_a_first_visit_is_small_and_nobody_is_left_behind(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    people = len(site.front.call("GET", "/v1/people")["items"])
    monkeypatch.setattr(console, "MOST_MS", 600_000)  # how fast is for a quiet machine to say
    console.main(rounds=2)
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[0] for line in lines} >= {"page", "all:", *console.PAGES}
    assert len(site.front.call("GET", "/v1/people")["items"]) == people


@pytest.mark.usefixtures("key")
def test_a_picture_is_made_of_a_page_and_is_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "FOLDER", tmp_path / "pictures")
    pictures.main(["home", "audit"])
    made = sorted((tmp_path / "pictures").iterdir())
    assert [path.name for path in made] == ["audit.webp", "home.webp"]
    for path in made:
        picture = path.read_bytes()
        assert picture[8:12] == b"WEBP"
        assert len(picture) <= pictures.MOST_BYTES
    with pytest.raises(SystemExit, match="No such page: nothing"):
        pictures.main(["nothing"])
