"""`cairn bench entities`: the labelled texts meet their bounds, and a bad file is named."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from benchmarks.entities import measured
from benchmarks.samples import SAMPLES
from cairn.cli.client import Failure

if TYPE_CHECKING:
    from pathlib import Path


def test_names_in_talk_are_found_with_little_junk() -> None:
    found = measured(sorted((SAMPLES / "entities").glob("*.jsonl")))
    assert sum(summary["texts"] for summary in found.values()) >= 160
    for summary in found.values():
        assert summary["junk_rate"] <= 0.05
        assert summary["recall"] >= 0.9
        assert summary["type_right"] >= 0.8


def test_junk_and_what_is_missed_are_named(tmp_path: Path) -> None:
    file = tmp_path / "texts.jsonl"
    text = {"text": "I told Anna and Finn.", "entities": [["Anna", "place"], ["Berta", "person"]]}
    file.write_text(json.dumps(text), encoding="utf-8")
    summary = measured([file])["texts"]
    assert (summary["precision"], summary["recall"], summary["type_right"]) == (0.5, 0.5, 0.0)
    assert summary["junk"] == ["Finn: I told Anna and Finn."]
    assert summary["missed"] == ["Berta: I told Anna and Finn."]


@pytest.mark.parametrize("text", ["{}", "[1]", "not json", '{"text": 1}'])
def test_a_file_without_labelled_texts_is_named(text: str, tmp_path: Path) -> None:
    file = tmp_path / "texts.jsonl"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(Failure, match=r"texts\.jsonl is not a file of labelled texts"):
        measured([file])
