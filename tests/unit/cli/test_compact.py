"""`cairn compact`: which files it reads as transcripts."""

import json
from pathlib import Path

import pytest

from cairn.cli.client import Failure
from cairn.cli.compact import messages_of

SAID = [{"role": "user", "text": "Hello"}, {"role": "assistant", "text": "Hi"}]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(SAID),
        json.dumps({"messages": SAID}),
        "\n".join(json.dumps(each) for each in SAID) + "\n",
    ],
)
def test_a_list_an_object_and_lines_are_the_same_transcript(tmp_path: Path, text: str) -> None:
    file = tmp_path / "talk.json"
    file.write_text(text, encoding="utf-8")
    assert messages_of(file) == SAID


@pytest.mark.parametrize("content", [b"no json", b"\xff\xfe", b'"text"'])
def test_a_file_that_is_no_transcript_is_said_to_be_none(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "talk.json"
    file.write_bytes(content)
    with pytest.raises(Failure, match=r"talk\.json"):
        messages_of(file)
