"""Files of other programs: half a document, wrong bytes, endless lines: said, not swallowed."""

import json
from pathlib import Path

import pytest

from cairn.kernel.errors import ValidationFailed
from cairn.memories.foreign import items as reading
from cairn.memories.foreign.items import ExportValue, Unreadable, read_export


def written(folder: Path, content: str | bytes, name: str = "export.json") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_document_is_one_value_however_it_is_indented(tmp_path: Path) -> None:
    value = {"results": [{"memory": "Ada likes tea"}]}
    for indent in (None, 2):
        path = written(tmp_path, json.dumps(value, indent=indent))
        assert list(read_export(path)) == [ExportValue(name="export.json", value=value)]


@pytest.mark.parametrize("name", ["export.ndjson", "export.jsonl", "export.json"])
def test_a_value_a_line_is_a_record_each_and_a_bad_line_leaves_the_others(
    tmp_path: Path, name: str
) -> None:
    path = written(tmp_path, '{"a": 1}\n{"a": \n\n{"a": NaN}\n{"a": 4}\n', name)
    first, second, third, fourth = read_export(path)
    assert first == ExportValue(name="line 1", value={"a": 1})
    assert isinstance(second, Unreadable)
    assert second.name == "line 2"
    assert second.why.startswith("is not JSON: ")
    assert third == Unreadable(name="line 4", why="is not JSON: NaN is no JSON number")
    assert fourth == ExportValue(name="line 5", value={"a": 4})


def test_a_line_of_ten_megabytes_is_named_and_the_next_one_is_read(tmp_path: Path) -> None:
    long = json.dumps({"memory": "x" * 10_000_000})
    path = written(tmp_path, f'{{"a": 1}}\n{long}\n{{"a": 3}}', "export.ndjson")
    assert list(read_export(path)) == [
        ExportValue(name="line 1", value={"a": 1}),
        Unreadable(name="line 2", why=f"is longer than {reading.MAX_LINE_BYTES} bytes"),
        ExportValue(name="line 3", value={"a": 3}),
    ]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ('{"results": [{"memory": "Ada', "is not whole JSON: Unterminated string"),
        ('{"results": [', "is not whole JSON: Expecting value at line 1, column 14"),
        (b'{"a": "\xff\xfe"}', "is not whole JSON: byte 7 is no UTF-8"),
        ('{"a": Infinity}', "is not whole JSON: Infinity is no JSON number"),
        ("[" * 200_000, "is not whole JSON: it is nested too deeply"),
        ("", "is empty"),
        ("  \n ", "is empty"),
    ],
)
def test_what_is_no_json_says_where(tmp_path: Path, content: str | bytes, why: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        list(read_export(written(tmp_path, content)))
    assert f"export.json {why}" in refused.value.detail


def test_a_document_too_large_to_hold_must_come_line_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_DOCUMENT_BYTES", 10)
    with pytest.raises(ValidationFailed, match="must be a record a line"):
        list(read_export(written(tmp_path, '{"results": []}')))
