"""`cairn bench extraction`: the labelled turns meet their bounds, and a bad file is named."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from benchmarks.extraction import measured
from benchmarks.samples import SAMPLES
from cairn.cli.client import Failure

if TYPE_CHECKING:
    from pathlib import Path


def test_the_labelled_turns_are_drawn_from_without_a_reversal() -> None:
    found = measured(sorted((SAMPLES / "extraction").glob("*.jsonl")))
    assert sum(summary["turns"] for summary in found.values()) >= 300
    for summary in found.values():
        assert summary["precision"] >= 0.9
        assert summary["recall"] >= 0.6
        assert summary["reversed"] == []


def test_what_is_wrong_missed_or_reversed_is_named(tmp_path: Path) -> None:
    file = tmp_path / "turns.jsonl"
    held = [
        {"kinds": ["preference"], "words": ["olives"], "negated": True},
        {"kinds": ["fact"], "words": ["Bergen"]},
    ]
    turn = {"conversation": "a", "speaker": "Finn", "text": "I love olives.", "memories": held}
    file.write_text(json.dumps(turn), encoding="utf-8")
    summary = measured([file])["turns"]
    assert (summary["precision"], summary["recall"]) == (0.0, 0.0)
    assert summary["reversed"] == summary["wrong"] == ["Finn: I love olives."]
    assert len(summary["missed"]) == 2


@pytest.mark.parametrize("text", ["{}", "[1]", "not json", '{"conversation": 1}'])
def test_a_file_without_labelled_turns_is_named(text: str, tmp_path: Path) -> None:
    file = tmp_path / "turns.jsonl"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(Failure, match=r"turns\.jsonl is not a file of labelled turns"):
        measured([file])
