"""What a planner is shown of an investigation: bounded, in the order prompts are cached. Pure.

Caches read tools, system, context and messages in this order, and match from the beginning. So the
tools come sorted and written the same each time; `context` is what was found; messages only grow:
the ticket, then each step with its result. All texts of others stand in elements they cannot close.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from cairn.kernel.text.elements import as_data, one_line
from cairn.llm.budget import BYTES_A_TOKEN
from cairn.llm.port import Message, Role, Tool
from cairn.workspace.settings import EnvelopeSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cairn.investigations.ports import Question
    from cairn.investigations.state import Brief, Evidence, Observation, WorkingMemory
    from cairn.kernel.text.json_value import JsonValue
    from cairn.safety.tools import ToolSpec
    from cairn.tickets.personas import Persona

Bounds = EnvelopeSettings
"""How much of each a planner is shown, as the workspace sets it."""

BODY_CHARS = 12_000
CHUNK_CHARS = 1600
FACT_CHARS = 200
SIMILAR_CHARS = 400
RECENT_CHARS = 600
RECENT_TOKENS = 1_000
"""Of recent results together."""

HINT_CHARS = 200
NOTE_CHARS = 2000
RESULT_CHARS = 4000
DESCRIPTION_CHARS = 300
INSTRUCTION_CHARS = 4000
CUT = " [cut]"
MOST_HINTS = 5
MOST_NOTES = 20
NAME_CHARS = 64
"""Of a tool's name, as both providers take it."""

_END = "</ticket>"
_PLACEHOLDER = re.compile(r"&lt;([A-Z][A-Z_]{0,40}_\d{1,6})&gt;")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """The parts of a prompt in the order caches read them. `names` is wire name -> tool."""

    tools: tuple[Tool, ...]
    manifest: str
    persona: str
    context: str
    messages: tuple[Message, ...]
    names: Mapping[str, ToolSpec]


def enclosed(question: Question, bounds: Bounds | None = None) -> Envelope:
    """Return what may be shown of an investigation."""
    bounds = bounds or Bounds()
    tools = sorted(question.tools, key=lambda tool: tool.key)[: bounds.tools]
    names = wire_names(tools)
    return Envelope(
        tools=tuple(_wire(name, tool) for name, tool in names.items()),
        manifest=_manifest(tools),
        persona=_persona(question.persona),
        context=context_of(question.memory, bounds),
        messages=conversation(question.memory, bounds),
        names=names,
    )


def context_of(memory: WorkingMemory, bounds: Bounds) -> str:
    """Return what is known beside the ticket: knowledge, facts, similar tickets, results, hints."""
    latest = {item.citation: item for item in memory.evidence}
    shown = list(latest.values())[-bounds.chunks :] if bounds.chunks else []
    parts = [
        *_cited("knowledge", shown, CHUNK_CHARS),
        *_cited("fact", memory.facts[: bounds.facts], FACT_CHARS),
        *_cited("similar", memory.similar[: bounds.similar], SIMILAR_CHARS),
        *_recent(memory.recent[: bounds.connector_recent_results]),
        *(data("hint", cut(hint, HINT_CHARS)) for hint in memory.hints[:MOST_HINTS]),
        *(data("searched", cut(query, HINT_CHARS)) for query in memory.queries),
    ]
    return "\n".join(parts)


def conversation(memory: WorkingMemory, bounds: Bounds) -> tuple[Message, ...]:
    """Return the ticket, the notes, and each step with its result, oldest first."""
    notes = [
        Message(role=_role(note.role), text=data("note", cut(note.text, NOTE_CHARS)))
        for note in memory.notes[-MOST_NOTES:]
    ]
    seen = len(memory.observations)
    steps = [
        message
        for place, observation in enumerate(memory.observations)
        for message in _step(observation, whole=place >= seen - bounds.results)
    ]
    return (Message(role=Role.USER, text=_ticket(memory.brief)), *notes, *steps)


def wire_names(tools: Iterable[ToolSpec]) -> dict[str, ToolSpec]:
    """Return name -> tool in the letters both providers take: `connector__tool`, each once."""
    names: dict[str, ToolSpec] = {}
    for tool in tools:
        plain = _NOT_IN_NAMES.sub("_", f"{tool.connector}__{tool.name}")
        if len(plain) > NAME_CHARS or plain in names:
            mark = hashlib.sha256(tool.key.encode()).hexdigest()[:8]
            plain = f"{plain[: NAME_CHARS - 9]}_{mark}"
        names[plain] = tool
    return names


def data(tag: str, text: str, **attributes: str) -> str:
    """Return `text` in an element it cannot close; placeholders such as `<EMAIL_1>` stay."""
    return _PLACEHOLDER.sub(r"<\1>", as_data(tag, text, **attributes))


def cut(text: str, most: int) -> str:
    """Return `text`, printable, with a marker when it is longer than `most` characters."""
    plain = text.replace("\x00", "?").encode("utf-8", errors="replace").decode("utf-8")
    return plain if len(plain) <= most else plain[: most - len(CUT)] + CUT


def stable_json(value: object) -> str:
    """Return JSON with sorted keys and no spaces: the same bytes each time."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)


def _ticket(brief: Brief) -> str:
    marks = {
        "citation": f"[ticket:{brief.ticket_id}]",
        "priority": brief.priority,
        "language": brief.language,
        "customer": one_line(brief.customer)[:FACT_CHARS],
        "requester": one_line(brief.requester)[:FACT_CHARS],
        "suspicious": "yes" if brief.suspicious else "",
    }
    shown = {name: value for name, value in marks.items() if value}
    title = data("title", cut(one_line(brief.title), FACT_CHARS * 3))
    body = data("body", cut(brief.body, BODY_CHARS))
    return f"{data('ticket', '', **shown).removesuffix(_END)}\n{title}\n{body}\n{_END}"


def _step(observation: Observation, *, whole: bool) -> tuple[Message, Message]:
    """Return what was done, as the assistant's turn, and what came of it."""
    citation = f"[tool:{observation.action_id}]"
    tool = f"{observation.connector}.{observation.tool}"
    call = data("step", cut(stable_json(dict(observation.arguments)), NOTE_CHARS), tool=tool)
    marks = {
        "citation": citation,
        "outcome": observation.outcome,
        "reason": observation.reason,
        "simulated": "yes" if observation.dry_run else "",
    }
    shown = {name: value for name, value in marks.items() if value}
    text = cut(observation.text, RESULT_CHARS if whole else HINT_CHARS)
    return (
        Message(role=Role.ASSISTANT, text=call),
        Message(role=Role.USER, text=data("result", text, **shown)),
    )


def _cited(tag: str, results: Sequence[Evidence], most: int) -> list[str]:
    return [
        data(tag, cut(evidence.text, most), citation=one_line(evidence.citation))
        for evidence in results
    ]


def _recent(results: Sequence[Evidence]) -> list[str]:
    """Return results of other investigations, as many as fit; without citations: hints alone."""
    shown: list[str] = []
    left = RECENT_TOKENS * BYTES_A_TOKEN
    for evidence in results:
        text = data("recent", cut(evidence.text, RECENT_CHARS))
        left -= len(text.encode())
        if left < 0:
            break
        shown.append(text)
    return shown


def _manifest(tools: Sequence[ToolSpec]) -> str:
    """Return the tools for a prompt that may not call them: one line each."""
    lines = [
        data(
            "tool",
            cut(one_line(tool.description), DESCRIPTION_CHARS),
            name=tool.key,
            scope=tool.lane.value if tool.lane else "unknown",
            arguments=", ".join(arguments_of(tool)),
        )
        for tool in tools
    ]
    return "\n".join(["<tools>", *lines, "</tools>"])


def arguments_of(tool: ToolSpec) -> dict[str, Mapping[str, JsonValue]]:
    """Return name -> schema of a tool's arguments, sorted by name."""
    schema = tool.schema.get("properties")
    if not isinstance(schema, dict):
        return {}
    fields = cast("dict[str, Any]", schema)
    return {
        name: cast("Mapping[str, JsonValue]", fields[name])
        if isinstance(fields[name], dict)
        else {}
        for name in sorted(fields)
    }


def _wire(name: str, tool: ToolSpec) -> Tool:
    scope = tool.lane.value if tool.lane else "unknown"
    described = f"({scope}) {cut(one_line(tool.description), DESCRIPTION_CHARS)}"
    schema = json.loads(stable_json(dict(tool.schema) or {"type": "object"}))
    return Tool(name=name, description=described, schema=schema)


def _persona(persona: Persona) -> str:
    """Return what the workspace's people told agents to do; theirs, not the ticket's."""
    if not persona.instructions.strip():
        return ""
    text = cut(persona.instructions.strip(), INSTRUCTION_CHARS)
    return f"How this desk wants you to work:\n{text}"


def _role(text: str) -> Role:
    return Role.ASSISTANT if text == Role.ASSISTANT else Role.USER
