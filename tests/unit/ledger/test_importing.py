"""Reading an export back: only what `export` writes is taken, byte for byte."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.unit.ledger.chains import WORKSPACE, chain

from cairn.ledger.chain import head_of
from cairn.ledger.export import export_lines
from cairn.ledger.importing import Export, ImportRefused

CHAIN = chain(12)
LINES = list(export_lines(head_of(CHAIN[-1]), CHAIN))

Change = Callable[[dict[str, Any]], object]


def changed(line: str, change: Change) -> str:
    fields = json.loads(line)
    made = change(fields)
    return made if isinstance(made, str) else json.dumps(fields, separators=(",", ":")) + "\n"


def test_what_was_exported_is_read_back_with_or_without_the_last_newline() -> None:
    assert list(Export(LINES).entries()) == CHAIN
    assert list(Export([*LINES[:-1], LINES[-1].rstrip("\n")]).entries()) == CHAIN


@pytest.mark.parametrize(
    "change",
    [
        lambda item: item.update(id=item["id"].upper()),
        lambda item: item.update(workspace_id=f"urn:uuid:{WORKSPACE}"),
        lambda item: item.update(workspace_id=WORKSPACE.hex),
        lambda item: item.update(hash=item["hash"].upper()),
        lambda item: item.update(
            prev_hash=" ".join([item["prev_hash"][:2], item["prev_hash"][2:]])
        ),
        lambda item: item.update(occurred_at=item["occurred_at"].replace("Z", "+00:00")),
        lambda item: item.update(body=same_bytes(item["body"])),
        lambda item: '{"type":"memory.other",' + json.dumps(item)[1:],
        lambda item: "[" * 100_000,
        lambda item: '{"a":' * 100_000,
    ],
)
def test_a_line_written_in_another_form_is_refused(change: Change) -> None:
    """Hashes cover what a line means; how it is written must be as it was, too."""
    damaged = [*LINES[:11], changed(LINES[11], change), *LINES[12:]]
    assert damaged[11] != LINES[11]
    with pytest.raises(ImportRefused) as refused:
        list(Export(damaged).entries())
    assert (refused.value.line, refused.value.reason) == (12, "malformed")


def same_bytes(body: str) -> str:
    """The same bytes with other spare bits at the end, which base64 leaves open."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    bare = body.rstrip("=")
    assert bare != body
    other = bare[:-1] + letters[letters.index(bare[-1]) + 1] + body[len(bare) :]
    assert base64.b64decode(other) == base64.b64decode(body)
    return other


@pytest.mark.parametrize(
    "change",
    [
        lambda item: item.update(workspace_id=item["workspace_id"].upper()),
        lambda item: item.update(extra=1),
        lambda item: '{"workspace_id":"x",' + json.dumps(item)[1:],
        lambda item: "[" * 100_000,
    ],
)
def test_a_first_line_in_another_form_is_no_export(change: Change) -> None:
    with pytest.raises(ImportRefused) as refused:
        Export([changed(LINES[0], change), *LINES[1:]])
    assert (refused.value.line, refused.value.reason) == (1, "not-an-export")
