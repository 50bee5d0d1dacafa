"""What an agent asks of the host of connectors. Not the safety rules: they come before a call."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from cairn.kernel.errors import Conflict, Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from uuid import UUID

    from cairn.kernel.text.json_value import JsonValue
    from cairn.safety.tools import Manifest


MAX_DESCRIPTION = 2_000
MAX_WORD = 4_096
"""Characters without a break that still count as one word: tokens are long, pictures longer."""

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,2000}(?:\x07|\x1b\\)|[@-Z\\-_])")
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\ud800-\udfff\U000e0000-\U000e007f]"
)

_BREAK = re.compile(r"[\s\"'`,;|<>(){}\[\]]")


def plain(text: str) -> str:
    """Return `text` without terminal escapes, control and direction characters, lone surrogates.

    Line breaks and tabs stay; CRLF becomes LF. O(characters).
    """
    text = text.replace("\r\n", "\n")
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    return _UNSEEN.sub("", text)


def described(text: object, most: int = MAX_DESCRIPTION) -> str:
    """Return a description as data: plain, at most `most` characters; empty for what is no text."""
    if not isinstance(text, str):
        return ""
    cleaned = plain(text[: most * 4]).strip()
    return cleaned if len(cleaned) <= most else cleaned[: most - 1] + "…"


def whole_words(text: str) -> str:
    """Return a text that was cut, without the word at the cut.

    Half an address or half a token is recognised by no rule, and is somebody's all the same. A word
    of more than `MAX_WORD` characters stays.
    """
    tail = text[-MAX_WORD:]
    breaks = [item.end() for item in _BREAK.finditer(tail)]
    return text[: len(text) - len(tail) + breaks[-1]] if breaks else text


def without(text: str, secrets: Iterable[str]) -> str:
    """Return a text in which none of the secrets stands."""
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, "[secret]")
    return text


MAX_RESULT_BYTES = 100_000
"""Of a tool's result; what is longer is cut and ends with `TRUNCATED`."""

TRUNCATED = "\n[truncated by cairn: the result was {size} bytes]"


class ConnectorState(StrEnum):
    """The life of a connector.

    configured -> launching -> ready <-> busy; busy -> timeout -> ready or restarting;
    launching or busy -> crashed -> restarting -> ready, degraded after 5 restarts in 5 minutes;
    any -> shutdown.
    """

    CONFIGURED = "configured"
    LAUNCHING = "launching"
    READY = "ready"
    BUSY = "busy"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    RESTARTING = "restarting"
    DEGRADED = "degraded"
    SHUTDOWN = "shutdown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call. `idempotency_key` is passed to tools of the write lane; `seconds` is the wait.

    `manifest_hash` is of the manifest the call was decided by; under another it is not sent.
    """

    connector: str
    tool: str
    arguments: Mapping[str, JsonValue]
    idempotency_key: UUID | None = None
    dry_run: bool = False
    seconds: float = 30.0
    traceparent: str | None = None
    manifest_hash: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool said, as text of at most `MAX_RESULT_BYTES` without control characters.

    `is_error` is the tool's own word. `simulated` says that the host answered in the place of a
    tool without a dry run. `cached` results were read within the last 60 s.
    """

    text: str
    is_error: bool = False
    truncated: bool = False
    simulated: bool = False
    cached: bool = False
    ms: int = 0
    manifest_version: str = ""
    manifest_hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorView:
    """A connector a workspace has: its tools at the last handshake, and how it is."""

    name: str
    state: ConnectorState
    manifest: Manifest | None


class ConnectorUnavailable(Unavailable):
    """A connector did not run when the call was to be sent: nothing happened.

    `reason` is `connector-degraded`, `connector-crashed` or `connector-not-started`.
    """

    code = "connector-unavailable"


class OutcomeUnknown(Conflict):
    """A call was sent and no answer came: nobody knows whether it happened.

    `reason` is `tool-timeout` or `connector-crashed`.
    """

    code = "outcome-unknown"


class ConnectorUnauthorised(Conflict):
    """The connector's own sign-in is no longer good (401 or 403): a person must renew it."""

    code = "connector-unauthorised"
