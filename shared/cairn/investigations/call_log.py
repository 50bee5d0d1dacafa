"""The record of what agents call over MCP and HTTP: who, which tool, when, how it ended. No texts.

A record outlives what it speaks of, so it has ids, numbers, times and words of closed lists; every
other text stands in it as its length. What was written or found is named by its id.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from cairn.investigations.ports import ActionRow, ActionState
from cairn.investigations.tool_calls import MAX_INPUT_CHARS, MAX_OUTPUT_CHARS, cut
from cairn.ledger.keys import key_subjects

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Clock
    from cairn.kernel.ids import IdSource
    from cairn.ledger.keys import BodyCipher, KeyStore

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
    keys: KeyStore
    cipher: BodyCipher
    clock: Clock
    new_id: IdSource

    def __call__(self, principal: Principal, call: ApiCall) -> None:
        """Keep one call; Unavailable when the database or the keys cannot be reached."""
        ended, call_id = self.clock(), self.new_id()
        began = ended - timedelta(seconds=call.seconds)
        given = json.dumps(outline(call.given), sort_keys=True, ensure_ascii=False)
        came = json.dumps(outline(call.came), sort_keys=True, ensure_ascii=False)
        workspace_id = principal.workspace_id
        subjects = key_subjects(workspace_id, ())
        held = self.keys.get_or_create(workspace_id, subjects)

        def sealed(body: dict[str, Any]) -> bytes:
            return self.cipher.seal(call_id, workspace_id, held, body)

        row = ActionRow(
            id=call_id,
            investigation_id=None,
            connector=OWNER,
            tool=call.tool,
            lane="read" if call.reads else "write",
            digest=hashlib.sha256(f"{OWNER}.{call.tool}\n{given}".encode()).hexdigest(),
            state=ActionState.FAILED if call.error else ActionState.APPLIED,
            dry_run=False,
            is_error=call.error is not None,
            input=sealed({"arguments": cut(given, MAX_INPUT_CHARS)}),
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


def session_of(given: Mapping[str, Any]) -> str | None:
    """Return the session that arguments name, None when they name none that can be kept."""
    session = given.get("session_id")
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
    kept = _ID_OR_TIME.fullmatch(text) or (field in KEPT_FIELDS and _WORD.fullmatch(text))
    return text if kept else f"<{len(text)} characters>"


def _name(key: object) -> str:
    return str(key) if _WORD.fullmatch(str(key)) else f"<{len(str(key))} characters>"
