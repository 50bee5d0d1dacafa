"""What is kept of a tool call beside its states: input and output, sealed under its id, and cut."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from cairn.investigations.citations import Kind, parse
from cairn.investigations.ports import ActionRow, ActionState
from cairn.ledger.keys import key_subjects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from uuid import UUID

    from cairn.investigations.journal import Journal
    from cairn.investigations.state import WorkingMemory
    from cairn.kernel.access import Principal
    from cairn.kernel.text.json_value import JsonValue
    from cairn.safety.action import Action
    from cairn.writing.platform import Platform
    from cairn.writing.writer import Write


OWNER = "cairn"
MAX_ITEMS = 20
MAX_DEPTH = 6
MAX_SESSION_CHARS = 255
KEPT_FIELDS = frozenset(
    {
        *("type", "kind", "label", "scope", "role", "recipe", "method", "format", "relation"),
        *("intent", "channel", "state", "status", "outcome", "verdict", "connector", "by", "stage"),
        *("reason", "recipe_used", "retrieval_class"),
    }
)
"""Fields whose texts are words of closed lists, or names that an operator gave."""

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]{0,63}")
_ID_OR_TIME = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]{5,15}(?:Z|[+-][0-9:]{5}))?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiCall:
    """A call that has ended. `tool` is an MCP tool's name, or a method and a route.

    `error` is a problem's code, None for a call that succeeded; `seconds` how long it took.
    """

    tool: str
    reads: bool
    given: Mapping[str, Any]
    came: Mapping[str, Any]
    error: str | None
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LogCall:
    """Keeps the record of a call, in a transaction of its own."""

    keep: Callable[[Principal, ActionRow], None]
    platform: Platform

    def __call__(self, principal: Principal, call: ApiCall) -> None:
        """Keep one call; Unavailable when the database or the keys cannot be reached."""
        ended, call_id = self.platform.clock(), self.platform.new_id()
        began = ended - timedelta(seconds=call.seconds)
        outline_text = json.dumps(outline(call.given), sort_keys=True, ensure_ascii=False)
        came = json.dumps(outline(call.came), sort_keys=True, ensure_ascii=False)
        workspace_id = principal.workspace_id
        subjects = key_subjects(workspace_id, ())
        held = self.platform.keys.get_or_create(workspace_id, subjects)

        def sealed(body: dict[str, Any]) -> bytes:
            return self.platform.cipher.seal(call_id, workspace_id, held, body)

        row = ActionRow(
            id=call_id,
            investigation_id=None,
            connector=OWNER,
            tool=call.tool,
            lane="read" if call.reads else "write",
            digest=hashlib.sha256(f"{OWNER}.{call.tool}\n{outline_text}".encode()).hexdigest(),
            state=ActionState.FAILED if call.error else ActionState.APPLIED,
            dry_run=False,
            is_error=call.error is not None,
            input=sealed({"arguments": cut(outline_text, MAX_INPUT_CHARS)}),
            output=sealed({"text": cut(came, MAX_OUTPUT_CHARS)}),
            data_subjects=(),
            proposed_at=began,
            started_at=began,
            completed_at=ended,
            error=call.error,
            session_id=session_of(call.given),
            principal_id=principal.principal_id,
        )
        self.keep(principal, row)


def session_of(arguments: Mapping[str, Any]) -> str | None:
    """Return the session that arguments name, None when they name none that can be kept."""
    session = arguments.get("session_id")
    return session if isinstance(session, str) and len(session) <= MAX_SESSION_CHARS else None


def outline(value: object, field: str = "", depth: int = MAX_DEPTH) -> Any:
    """Return a JSON value without its free texts: each is replaced by its length."""
    if isinstance(value, dict):
        if depth == 0:
            return "<more>"
        pairs = list(cast("dict[object, object]", value).items())[:MAX_ITEMS]
        return {_name(key): outline(each, str(key), depth - 1) for key, each in pairs}
    if isinstance(value, list | tuple):
        items = cast("list[object]", value)
        shown = [outline(each, field, depth - 1) for each in items[:MAX_ITEMS]] if depth else []
        return [*shown, f"<{len(items) - len(shown)} more>"] if len(items) > len(shown) else shown
    if value is None or isinstance(value, bool | int | float):
        return value
    return _text(str(value), field)


def _text(text: str, field: str) -> str:
    is_plain = _ID_OR_TIME.fullmatch(text) or (field in KEPT_FIELDS and _WORD.fullmatch(text))
    return text if is_plain else f"<{len(text)} characters>"


def _name(key: object) -> str:
    return str(key) if _WORD.fullmatch(str(key)) else f"<{len(str(key))} characters>"


MAX_INPUT_CHARS = 4_000
MAX_OUTPUT_CHARS = 8_000
CUT = " [cut]"


def sealed_input(write: Write, action: Action) -> bytes:
    """Return an action's arguments, as models see them, sealed for the record of the call."""
    dumps = json.dumps(dict(action.arguments), sort_keys=True, ensure_ascii=False)
    dumps = dumps.encode("utf-8", "replace").decode("utf-8")
    body = {"arguments": cut(dumps, MAX_INPUT_CHARS)}
    return write.entries.seal(action.id, write.data_subjects, body)


def sealed_output(write: Write, action_id: UUID, text: str) -> bytes:
    """Return what came of a call, redacted, sealed for its record."""
    body = {"text": cut(text, MAX_OUTPUT_CHARS)}
    return write.entries.seal(action_id, write.data_subjects, body)


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
        arguments = json.loads(str(body.get("arguments", "")))
    except ValueError:
        return None
    return cast("dict[str, JsonValue]", arguments) if isinstance(arguments, dict) else None


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
    return journal.platform.cipher.open(row.id, workspace_id, subjects, keys, sealed)


def cut(text: str, most: int) -> str:
    """Return a text of at most `most` characters, with a mark where it was cut."""
    return text if len(text) <= most else text[: most - len(CUT)] + CUT


def evidence_ids(memory: WorkingMemory, cited: Iterable[str]) -> list[str]:
    """Return the nodes that citations speak of, by which taint finds what was done on them."""
    node_ids = {fact.citation: fact.node_id for fact in (*memory.evidence, *memory.facts)}
    record: dict[str, None] = {}
    for token in cited:
        citation = parse(token)
        node_id = node_ids.get(token)
        if node_id is None and citation is not None and citation.kind is Kind.MEMORY:
            node_id = citation.id
        if node_id is not None:
            record[str(node_id)] = None
    return list(record)
