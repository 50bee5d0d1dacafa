"""Read an export back (`cairn-ledger-1`), checking every entry before it is handed on. No storage.

An export with one byte changed is refused at its line: the header of an entry is hashed, its body's
hash stands in the header, and each entry names the hash of the one before. A line that is not
written as `export` writes it (a key twice, an id in another form) is refused, too.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.kernel.errors import ValidationFailed
from cairn.kernel.text.canonical import parse_timestamp
from cairn.ledger.chain import empty_head, head_of
from cairn.ledger.entry import Actor, ActorKind, Entry, Head
from cairn.ledger.export import FORMAT, export_line, header_line
from cairn.ledger.verify import fault_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ENTRY_FIELDS = frozenset(
    {
        "actor_id",
        "actor_kind",
        "body",
        "body_hash",
        "data_subjects",
        "hash",
        "id",
        "meta",
        "occurred_at",
        "parent_id",
        "position",
        "prev_hash",
        "recorded_at",
        "session_id",
        "trace_id",
        "type",
        "workspace_id",
    }
)


class ImportRefused(ValidationFailed):
    """An export cannot be what was exported. `line` is the first bad one, `reason` says why."""

    code = "import-refused"

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"The export is refused at line {line}: {reason}.", reason=reason)
        self.line = line


class Export:
    """An export as it is read: its header at once, its entries one at a time.

    Raises ImportRefused for a first line that is no header of an export.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self.head = _header(next(self._lines, ""))

    @property
    def workspace_id(self) -> UUID:
        """Return whose ledger it is."""
        return self.head.workspace_id

    def entries(self) -> Iterator[Entry]:
        """Yield the entries, each checked against the one before; memory does not grow.

        Raises ImportRefused at the first line that is no entry (`malformed`), breaks the chain (the
        reasons of `ledger.verify`), or when the end is not that of the header (`head-mismatch`).
        """
        head = empty_head(self.workspace_id)
        number = 1
        for number, line in enumerate(self._lines, start=2):
            entry = _entry(line, number)
            fault = fault_of(entry, head)
            if fault is not None:
                raise ImportRefused(number, fault.value)
            head = head_of(entry)
            yield entry
        if (head.position, head.hash) != (self.head.position, self.head.hash):
            raise ImportRefused(number + 1, "head-mismatch")


def _header(line: str) -> Head:
    try:
        fields: Any = json.loads(line)
        if fields["format"] != FORMAT:
            raise ImportRefused(1, "not-an-export")
        workspace_id = UUID(fields["workspace_id"])
        empty = empty_head(workspace_id)
        head = Head(
            workspace_id=workspace_id,
            position=int(fields["head"]["position"]),
            hash=bytes.fromhex(fields["head"]["hash"]),
            recorded_at=empty.recorded_at,
        )
        if not _written_as(header_line(head), line):
            raise ImportRefused(1, "not-an-export")
        return head
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ImportRefused(1, "not-an-export") from error


def _entry(line: str, number: int) -> Entry:
    try:
        fields: Any = json.loads(line)
        if fields.keys() != _ENTRY_FIELDS or type(fields["position"]) is not int:
            raise ImportRefused(number, "malformed")
        entry = _read(fields)
        if not _written_as(export_line(entry), line):
            raise ImportRefused(number, "malformed")
        return entry
    except (
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
        binascii.Error,
        ValidationFailed,
    ) as error:
        raise ImportRefused(number, "malformed") from error


def _written_as(exported: str, line: str) -> bool:
    return exported.removesuffix("\n") == line.removesuffix("\n")


def _read(fields: dict[str, Any]) -> Entry:
    parent = fields["parent_id"]
    body = base64.b64decode(fields["body"], validate=True)
    return Entry(
        id=UUID(fields["id"]),
        workspace_id=UUID(fields["workspace_id"]),
        position=fields["position"],
        type=fields["type"],
        actor=Actor(kind=ActorKind(fields["actor_kind"]), id=fields["actor_id"]),
        occurred_at=parse_timestamp(fields["occurred_at"]),
        recorded_at=parse_timestamp(fields["recorded_at"]),
        data_subjects=tuple(UUID(subject) for subject in fields["data_subjects"]),
        meta_text=fields["meta"],
        body=body,
        body_hash=bytes.fromhex(fields["body_hash"]),
        session_id=fields["session_id"],
        trace_id=fields["trace_id"],
        parent_id=UUID(parent) if parent is not None else None,
        prev_hash=bytes.fromhex(fields["prev_hash"]),
        hash=bytes.fromhex(fields["hash"]),
    )
