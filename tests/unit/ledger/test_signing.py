"""Signed statements: what a signature covers, and what is refused before anything is believed."""

import json
from pathlib import Path

import pytest

from cairn.adapters.files.signing import FileSigningKey, make_signing_key
from cairn.kernel.errors import ValidationFailed
from cairn.kernel.text.canonical import canonical_bytes
from cairn.ledger.signing import is_signed, read_statement, sign_statement

FIELDS = {"format": "test-1", "position": 7, "hash": "ab", "previous": None}


@pytest.fixture
def key(tmp_path: Path) -> FileSigningKey:
    make_signing_key(tmp_path / "signing.pem")
    return FileSigningKey(tmp_path / "signing.pem")


def test_a_statement_comes_back_as_it_was_signed(key: FileSigningKey) -> None:
    read = read_statement(sign_statement(key, FIELDS))
    assert read.fields == FIELDS
    assert is_signed(key, read, "test-1")


def test_a_statement_of_another_format_is_not_taken(key: FileSigningKey) -> None:
    assert not is_signed(key, read_statement(sign_statement(key, FIELDS)), "test-2")


def test_an_unsigned_statement_is_read_and_not_believed(key: FileSigningKey) -> None:
    read = read_statement(json.dumps(FIELDS).encode())
    assert read.signature is None
    assert not is_signed(key, read, "test-1")


def test_the_order_of_members_and_spaces_do_not_matter_to_a_signature(key: FileSigningKey) -> None:
    members = json.loads(sign_statement(key, FIELDS))
    loose = json.dumps(dict(reversed(members.items())), indent=2).encode()
    assert is_signed(key, read_statement(loose), "test-1")


def test_any_changed_byte_is_noticed(key: FileSigningKey) -> None:
    stored = sign_statement(key, FIELDS)
    for at in range(len(stored)):
        changed = stored[:at] + bytes([stored[at] ^ 1]) + stored[at + 1 :]
        try:
            believed = is_signed(key, read_statement(changed), "test-1")
        except ValidationFailed:
            continue
        assert not believed, (at, changed)


def test_a_member_added_later_is_noticed(key: FileSigningKey) -> None:
    members = json.loads(sign_statement(key, FIELDS))
    assert not is_signed(key, read_statement(canonical_bytes({**members, "more": 1})), "test-1")


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"7",
        b"null",
        b'"text"',
        b'{"a": 1.5}',
        b'{"a": NaN}',
        b'{"signature": 1}',
        b'{"signature": {}}',
        b'{"signature": {"key_id": "a", "algorithm": "b", "value": "not hex"}}',
        b'{"signature": {"key_id": 1, "algorithm": "b", "value": "aa"}}',
        b'{"signature": {"key_id": "a", "algorithm": "b", "value": null}}',
        b'{"signature": {"key_id": "a", "algorithm": "b", "value": "aa", "more": ""}}',
        b"[" * 100_000,
        b'{"a":"' + b"x" * 70_000 + b'"}',
    ],
)
def test_other_bytes_are_refused(stored: bytes) -> None:
    with pytest.raises(ValidationFailed) as caught:
        read_statement(stored)
    assert caught.value.reason == "malformed-statement"


@pytest.mark.parametrize("fields", [{}, {"position": 1}, {"format": "t", "signature": {}}])
def test_fields_without_a_format_or_with_a_signature_are_a_mistake_of_the_caller(
    key: FileSigningKey, fields: dict[str, int]
) -> None:
    with pytest.raises(ValueError, match="format"):
        sign_statement(key, fields)
