"""What is kept of a tool call beside its states: input and output, sealed under its id, and cut."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from cairn.investigations.citations import Kind, parse
from cairn.ledger.keys import key_subjects

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from uuid import UUID

    from cairn.investigations.journal import Journal, Page
    from cairn.investigations.ports import ActionRow
    from cairn.investigations.state import WorkingMemory
    from cairn.kernel.text.json_value import JsonValue
    from cairn.safety.action import Action

MAX_INPUT_CHARS = 4_000
MAX_OUTPUT_CHARS = 8_000
CUT = " [cut]"


def sealed_input(page: Page, action: Action) -> bytes:
    """Return an action's arguments, as models see them, sealed for the record of the call."""
    said = json.dumps(dict(action.arguments), sort_keys=True, ensure_ascii=False)
    said = said.encode("utf-8", "replace").decode("utf-8")
    body = {"arguments": cut(said, MAX_INPUT_CHARS)}
    return page.entries.seal(action.id, page.data_subjects, body)


def sealed_output(page: Page, action_id: UUID, text: str) -> bytes:
    """Return what came of a call, redacted, sealed for its record."""
    body = {"text": cut(text, MAX_OUTPUT_CHARS)}
    return page.entries.seal(action_id, page.data_subjects, body)


def opened_input(
    journal: Journal, workspace_id: UUID, row: ActionRow
) -> dict[str, JsonValue] | None:
    """Return the arguments of a record, with placeholders; None when they were cut or erased.

    Raises SubjectForgotten when a data subject was.
    """
    return arguments_in(_opened(journal, workspace_id, row, row.input))


def arguments_in(body: Mapping[str, JsonValue]) -> dict[str, JsonValue] | None:
    """Return the arguments in an opened input; None when they were cut or erased."""
    try:
        given = json.loads(str(body.get("arguments", "")))
    except ValueError:
        return None
    return cast("dict[str, JsonValue]", given) if isinstance(given, dict) else None


def opened_output(journal: Journal, workspace_id: UUID, row: ActionRow) -> str:
    """Return the output of a record; "" when there is none.

    Raises SubjectForgotten when a data subject was.
    """
    return str(_opened(journal, workspace_id, row, row.output).get("text", ""))


def _opened(
    journal: Journal, workspace_id: UUID, row: ActionRow, sealed: bytes
) -> Mapping[str, JsonValue]:
    """Return what is sealed of a record; nothing of what is not there (any more)."""
    if not sealed:
        return {}
    keys = journal.keys_of(workspace_id, row.data_subjects)
    subjects = key_subjects(workspace_id, row.data_subjects)
    return journal.cipher.open(row.id, workspace_id, subjects, keys, sealed)


def cut(text: str, most: int) -> str:
    """Return a text of at most `most` characters, with a mark where it was cut."""
    return text if len(text) <= most else text[: most - len(CUT)] + CUT


def evidence_ids(memory: WorkingMemory, cited: Iterable[str]) -> list[str]:
    """Return the nodes that citations speak of, by which taint finds what was done on them."""
    known = {one.citation: one.node_id for one in (*memory.evidence, *memory.facts)}
    found: dict[str, None] = {}
    for token in cited:
        citation = parse(token)
        node_id = known.get(token)
        if node_id is None and citation is not None and citation.kind is Kind.MEMORY:
            node_id = citation.id
        if node_id is not None:
            found[str(node_id)] = None
    return list(found)
