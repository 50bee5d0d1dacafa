"""Options whose values come from files: what cannot be read is said in one line."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cairn.cli.client import Failure
from cairn.cli.options import json_given, text_given


def test_a_text_is_taken_as_it_is_or_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "note").write_text("Größe", encoding="utf-8")
    assert text_given("Größe") == text_given(f"@{tmp_path}/note")


@pytest.mark.parametrize("read", [text_given, json_given])
def test_a_file_that_is_no_text_is_said(tmp_path: Path, read: Callable[[str], object]) -> None:
    (tmp_path / "image").write_bytes(b"\x89PNG\xff")
    with pytest.raises(Failure, match="is no text in UTF-8"):
        read(f"@{tmp_path}/image")


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="No such file"):
        text_given(f"@{tmp_path}/none")
