"""The export format, read by the verifier script as a stranger would run it."""

import ast
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.ledger.chains import (
    KEYS,
    NOW,
    OTHER_SUBJECT,
    OTHER_WORKSPACE,
    SUBJECT,
    WORKSPACE,
    chain,
    new_entry,
)

from cairn.ledger.chain import empty_head, entry_hash, head_of, seal
from cairn.ledger.entry import Entry, Head
from cairn.ledger.export import export_lines
from cairn.ledger.verify import verify

SCRIPT = Path(__file__).parents[3] / "scripts" / "verify_ledger.py"
CHAIN = chain(5)


def export(folder: Path, entries: Sequence[Entry], head: Head | None = None) -> Path:
    path = folder / "export.ndjson"
    path.write_text("".join(export_lines(head or head_of(entries[-1]), entries)), encoding="utf-8")
    return path


def run(*arguments: object) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-I", str(SCRIPT), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_the_script_is_short_and_imports_only_the_standard_library_and_cryptography() -> None:
    source = SCRIPT.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 185
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    assert names - {"cryptography"} <= sys.stdlib_module_names


def test_a_good_export_passes(tmp_path: Path) -> None:
    status, out, err = run(export(tmp_path, CHAIN))
    assert (status, err) == (0, "")
    assert out.startswith("OK: 5 entries")


def test_an_empty_chain_passes(tmp_path: Path) -> None:
    status, out, _ = run(export(tmp_path, [], empty_head(WORKSPACE)), "--json")
    assert status == 0
    assert json.loads(out)["checked"] == 0


def test_json_output_names_the_head(tmp_path: Path) -> None:
    _, out, _ = run(export(tmp_path, CHAIN), "--json")
    assert json.loads(out) == {
        "ok": True,
        "first_bad_position": None,
        "reason": None,
        "checked": 5,
        "workspace_id": str(WORKSPACE),
        "head": CHAIN[-1].hash.hex(),
        "bodies_opened": 0,
    }


def test_bodies_open_with_the_keys_at_hand(tmp_path: Path) -> None:
    news = [
        new_entry(1),
        new_entry(2, subjects=(SUBJECT, OTHER_SUBJECT)),
        new_entry(3, subjects=()),
        replace(new_entry(4), body=b""),
    ]
    entries = seal(empty_head(WORKSPACE), news, NOW)
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps({str(k): v.hex() for k, v in KEYS.items()}), encoding="utf-8")
    status, out, _ = run(export(tmp_path, entries), "--keys", keys, "--json")
    assert (status, json.loads(out)["bodies_opened"]) == (0, 3)
    keys.write_text(json.dumps({str(SUBJECT): KEYS[SUBJECT].hex()}), encoding="utf-8")
    status, out, _ = run(export(tmp_path, entries), "--keys", keys, "--json")
    assert (status, json.loads(out)["bodies_opened"]) == (0, 1)


def test_a_body_that_its_keys_do_not_open_fails_at_its_position(tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps({str(SUBJECT): "ab" * 32}), encoding="utf-8")
    status, out, _ = run(export(tmp_path, CHAIN), "--keys", keys)
    assert status == 1
    assert "position 1: body-not-authentic" in out


def resealed(entry: Entry) -> Entry:
    return replace(entry, hash=entry_hash(entry))


@pytest.mark.parametrize(
    "entries",
    [
        [*CHAIN[:2], *CHAIN[3:]],
        [*CHAIN[:2], replace(CHAIN[2], type="memory.forged"), *CHAIN[3:]],
        [*CHAIN[:2], replace(CHAIN[2], body=b"other"), *CHAIN[3:]],
        [*CHAIN[:2], replace(CHAIN[2], prev_hash=bytes(32)), *CHAIN[3:]],
        [*CHAIN[:2], resealed(replace(CHAIN[2], meta_text='{"a": 1}')), *CHAIN[3:]],
        [*CHAIN[:2], resealed(replace(CHAIN[2], meta_text='{"a":0.5}')), *CHAIN[3:]],
        [*CHAIN[:2], resealed(replace(CHAIN[2], recorded_at=CHAIN[2].occurred_at)), *CHAIN[3:]],
        [*CHAIN[:2], resealed(replace(CHAIN[2], type="memory.forged")), *CHAIN[3:]],
        CHAIN[:3],
    ],
)
def test_the_script_and_the_library_name_the_same_position_and_reason(
    tmp_path: Path, entries: list[Entry]
) -> None:
    head = head_of(CHAIN[-1])
    expected = verify(entries, workspace_id=WORKSPACE, expected=head)
    status, out, _ = run(export(tmp_path, entries, head), "--json")
    found = json.loads(out)
    assert status == 1
    assert found["first_bad_position"] == expected.first_bad_position
    assert found["reason"] == expected.reason
    assert found["checked"] == expected.checked


@pytest.mark.parametrize(
    "head", [head_of(CHAIN[2]), replace(head_of(CHAIN[4]), hash=bytes(32)), head_of(CHAIN[4])]
)
def test_both_agree_about_heads(tmp_path: Path, head: Head) -> None:
    expected = verify(CHAIN, workspace_id=WORKSPACE, expected=head)
    _, out, _ = run(export(tmp_path, CHAIN, head), "--json")
    assert json.loads(out)["first_bad_position"] == expected.first_bad_position
    assert json.loads(out)["ok"] == expected.ok


def change_line(path: Path, number: int, change: dict[str, Any] | str) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[number] = (
        change if isinstance(change, str) else json.dumps(json.loads(lines[number]) | change)
    )
    path.write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("{not json", "malformed"),
        ("[]", "malformed"),
        ("{}", "malformed"),
        ({"body": "***"}, "malformed"),
        ({"prev_hash": "xyz"}, "malformed"),
        ({"extra": 1}, "hash-mismatch"),
        ({"meta": ""}, "meta-not-canonical"),
        ({"meta": "["}, "meta-not-canonical"),
        ({"actor_id": "someone"}, "hash-mismatch"),
        ({"hash": "00" * 32}, "hash-mismatch"),
        ("[" * 100_000, "malformed"),
        ('{"a":' * 100_000, "malformed"),
        ({"meta": "[" * 100_000}, "meta-not-canonical"),
        ('{"position": 2, "position": 2}', "malformed"),
        ({"position": 2.0}, "malformed"),
        ({"id": str(CHAIN[1].id).upper()}, "malformed"),
        ({"workspace_id": f"urn:uuid:{WORKSPACE}"}, "malformed"),
        ({"data_subjects": [SUBJECT.hex]}, "malformed"),
    ],
)
def test_a_broken_line_is_named_and_never_a_crash(
    tmp_path: Path, change: dict[str, Any] | str, reason: str
) -> None:
    path = export(tmp_path, CHAIN)
    change_line(path, 2, change)
    status, out, err = run(path)
    assert (status, err) == (1, "")
    assert f"BAD at position 2: {reason}" in out


HEADER = f'{{"format":"cairn-ledger-1","workspace_id":"{WORKSPACE}","head":{{}}}}'


@pytest.mark.parametrize(
    "content",
    [
        "",
        "hello",
        "{}",
        '{"format": "other"}',
        "\udcff",
        "[" * 100_000,
        HEADER.replace(str(WORKSPACE), str(WORKSPACE).upper()),
        HEADER.replace(str(WORKSPACE), f"urn:uuid:{WORKSPACE}"),
        HEADER.replace(str(WORKSPACE), WORKSPACE.hex),
        HEADER.replace("{", f'{{"workspace_id":"{OTHER_WORKSPACE}",', 1),
    ],
)
def test_what_is_no_export_ends_with_status_2(tmp_path: Path, content: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    status, out, err = run(path)
    assert (status, out) == (2, "")
    assert "not a Cairn ledger export" in err


def test_a_missing_file_ends_with_status_2(tmp_path: Path) -> None:
    assert run(tmp_path / "nothing")[0] == 2
