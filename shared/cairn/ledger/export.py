"""The export format `cairn-ledger-1`: NDJSON that scripts/verify_ledger.py reads. Not a backup.

The first line names the workspace and the head, then one entry a line: the header fields, `body` in
base64, `prev_hash` and `hash` in hex.
"""

import base64
import json
from collections.abc import Iterable, Iterator

from cairn.ledger.chain import header_bytes
from cairn.ledger.entry import Entry, Head

FORMAT = "cairn-ledger-1"

EXPORTED = "export.made"
"""The type of the entry that says that the ledger's owner took it out; the export has it."""


def export_lines(head: Head, entries: Iterable[Entry]) -> Iterator[str]:
    """Yield the lines of an export, each ending in a newline; `entries` start at position 1."""
    yield header_line(head)
    for entry in entries:
        yield export_line(entry)


def header_line(head: Head) -> str:
    """Return the first line: whose chain it is, and where it ends."""
    return _line(
        {
            "format": FORMAT,
            "workspace_id": str(head.workspace_id),
            "head": {"position": head.position, "hash": head.hash.hex()},
        }
    )


def export_line(entry: Entry) -> str:
    """Return one entry as a line, just as stored, be it good or bad."""
    fields: dict[str, object] = json.loads(header_bytes(entry))
    fields["body"] = base64.b64encode(entry.body).decode()
    fields["prev_hash"] = entry.prev_hash.hex()
    fields["hash"] = entry.hash.hex()
    return _line(fields)


def _line(fields: dict[str, object]) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")) + "\n"
