"""What a turn may do: tools by name, called in process, and which of them wait for a person."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, cast

from cairn.investigations.citations import Kind, citations, parse
from cairn.kernel.text.hashes import sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cairn.llm.port import Tool

MAX_RESULT_CHARS = 8_000
"""Of what a tool said that a model reads; what is longer is cut."""

CUT = "\n[cut: the tool said more]"
_ID = re.compile(r"\(id: ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)")


class Does(StrEnum):
    """What rules look for a tool for."""

    RECALL = "recall"
    REMEMBER = "remember"
    LIST = "list"
    DELETE = "delete"
    TICKET = "ticket"
    PERSON = "person"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a tool said: a text for a model, the same as JSON, and an error's code.

    `events` are trace events of what it did, for who listens: (name, fields).
    """

    tool: str
    text: str
    structured: Mapping[str, Any] | None = None
    error: str | None = None
    events: Sequence[tuple[str, Mapping[str, Any]]] = ()

    @property
    def shown(self) -> str:
        """Return the text as a model gets it, cut and never empty."""
        if not self.text.strip():
            return "(the tool said nothing)"
        fits = len(self.text) <= MAX_RESULT_CHARS
        return self.text if fits else self.text[:MAX_RESULT_CHARS] + CUT

    @property
    def sources(self) -> tuple[str, ...]:
        """Return the citations of everything that the text names."""
        sources = [str(each) for each in citations(self.shown)]
        kind = Kind.TICKET if self.tool.startswith("ticket") else Kind.MEMORY
        ids = [*_ID.findall(self.shown), *_ids(self.structured or {})]
        sources += [str(each) for id_ in ids if (each := parse(f"[{kind}:{id_}]"))]
        return tuple(dict.fromkeys(sources))


def _ids(structured: Mapping[str, Any]) -> list[str]:
    rows: list[Any] = [structured]
    for value in structured.values():
        rows += cast("list[Any]", value) if isinstance(value, list) else []
    objects = [cast("Mapping[str, Any]", row) for row in rows if isinstance(row, dict)]
    return [str(row.get("id") or row.get("node_id") or "") for row in objects]


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolbox:
    """The tools of a caller. `waits` are called only after the person said yes.

    `call` checks arguments and never raises. `does` is which tool the rules use for what. A model
    is not told of the `later` ones until it searches for them.
    """

    tools: tuple[Tool, ...]
    waits: frozenset[str]
    call: Callable[[str, Mapping[str, Any]], Result]
    does: Mapping[Does, str] = field(default_factory=dict[Does, str])
    later: frozenset[str] = frozenset()

    def names(self) -> frozenset[str]:
        """Return the names of all."""
        return frozenset(tool.name for tool in self.tools)


def hash_of(tool: str, arguments: Mapping[str, Any]) -> str:
    """Return what binds a person's yes to a tool and its arguments."""
    return sha256(json.dumps([tool, dict(arguments)], sort_keys=True).encode()).hex()
