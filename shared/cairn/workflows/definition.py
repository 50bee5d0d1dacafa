"""What a workflow is made of: its steps in order, and what each says of the ones before. Pure.

A text of a step may name what is known when it runs: `{{ input.NAME }}`, `{{ run.date }}`,
`{{ steps.NAME.OUTPUT }}`. What a definition names is checked before it is kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, cast

from cairn.kernel.errors import FieldError, TooLarge, ValidationFailed
from cairn.kernel.text.checks import clean_json, clean_text
from cairn.workflows.schedule import Schedule, check_schedule

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_STEPS = 20
MOST_TEXT_CHARS = 8_000
MOST_TITLE_CHARS = 200
MOST_DESCRIPTION_CHARS = 1_000
MOST_KEYWORDS = 10
MOST_ARGUMENT_BYTES = 16_000
MOST_RESULTS = 20
MOST_HOURS = 24 * 7
NAME = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?")
TOOL = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}\.[A-Za-z0-9_-]{1,128}")
_PLACE = re.compile(r"\{\{\s*([A-Za-z0-9_.-]+)\s*\}\}")
_OPEN = re.compile(r"\{\{|\}\}")


class Kind(StrEnum):
    """What a step does."""

    RECALL = "recall"  # searches the memory
    DIGEST = "digest"  # says what is new and what waits, by rules
    ASK = "ask"  # asks a model
    TOOL = "tool"  # calls a tool of a connector, as the safety rules let it
    WAIT = "wait"  # waits for a person's word
    REPORT = "report"  # writes a report
    NOTIFY = "notify"  # tells webhooks


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step. Which fields it has follows from its kind."""

    name: str
    kind: str
    needs: tuple[str, ...] = ()
    query: str | None = None
    limit: int | None = None
    hours: int | None = None
    prompt: str | None = None
    tool: str | None = None
    arguments: Mapping[str, Any] | None = None
    message: str | None = None
    title: str | None = None
    body: str | None = None
    keywords: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A workflow as it was written, its steps in the order in which they run once it is checked."""

    name: str
    steps: tuple[Step, ...]
    description: str = ""
    schedule: Schedule | None = None


@dataclass(frozen=True, slots=True)
class _Shape:
    needed: tuple[str, ...]
    optional: tuple[str, ...]
    outputs: tuple[str, ...]


SHAPES: Mapping[Kind, _Shape] = MappingProxyType(
    {
        Kind.RECALL: _Shape(("query",), ("limit",), ("text", "count")),
        Kind.DIGEST: _Shape((), ("hours",), ("text", "count")),
        Kind.ASK: _Shape(("prompt",), (), ("text",)),
        Kind.TOOL: _Shape(("tool",), ("arguments",), ("text",)),
        Kind.WAIT: _Shape(("message",), ("hours",), ("decision", "comment")),
        Kind.REPORT: _Shape(("title", "body"), ("keywords",), ("id", "title")),
        Kind.NOTIFY: _Shape(("message",), (), ("message",)),
    }
)
"""By kind: the fields it needs, those it may have, and what later steps may name of it."""

RUN = ("id", "date", "started_at", "workflow")
"""What a text may name of the run itself."""

_ALWAYS = ("name", "kind", "needs")
_TEXTS: Mapping[str, int] = {
    "query": MOST_TEXT_CHARS,
    "prompt": MOST_TEXT_CHARS,
    "message": MOST_TEXT_CHARS,
    "title": MOST_TITLE_CHARS,
    "body": MOST_TEXT_CHARS,
}
_NUMBERS: Mapping[str, int] = {"limit": MOST_RESULTS, "hours": MOST_HOURS}


def checked(definition: Definition) -> Definition:
    """Return the definition with its steps in the order in which they run.

    Raises ValidationFailed or TooLarge that names the place: a name, a kind, a field that its kind
    has not, a cycle (`workflow-cycle`), what no step before gives (`unknown-reference`).
    """
    if not NAME.fullmatch(definition.name):
        _refuse("name", "is 1 to 64 small letters, digits, dashes and underscores")
    if definition.description:
        _text("description", definition.description, MOST_DESCRIPTION_CHARS)
    steps = definition.steps
    if not steps:
        _refuse("steps", "has no step", "no-step")
    if len(steps) > MOST_STEPS:
        wrong = f"has {len(steps)} steps; at most {MOST_STEPS} are allowed"
        raise TooLarge(
            f"steps {wrong}.", reason="too-many-steps", errors=[FieldError("steps", wrong)]
        )
    for place, step in enumerate(steps):
        _check_step(f"steps.{place}", step)
    _check_names(steps)
    ordered = in_order(steps)
    _check_references(definition.steps, ordered)
    done = replace(definition, steps=ordered)
    if definition.schedule is not None:
        check_schedule(definition.schedule)
        if inputs := inputs_of(done):
            wrong = f"gives nothing to input.{inputs[0]}, which a step names"
            _refuse("schedule", wrong, "schedule-input")
    return done


def _check_step(place: str, step: Step) -> None:
    if not NAME.fullmatch(step.name):
        _refuse(f"{place}.name", "is 1 to 64 small letters, digits, dashes and underscores")
    if step.kind not in tuple(Kind):
        kinds = ", ".join(Kind)
        _refuse(f"{place}.kind", f"is not a kind of step; there are {kinds}", "unknown-step-kind")
    shape = SHAPES[Kind(step.kind)]
    for field in fields(step):
        is_set = getattr(step, field.name) is not None
        if field.name in _ALWAYS or (not is_set and field.name not in shape.needed):
            continue
        if not is_set:
            _refuse(f"{place}.{field.name}", f"is needed by a step of kind {step.kind}")
        if field.name not in (*shape.needed, *shape.optional):
            _refuse(f"{place}.{field.name}", f"is no field of a step of kind {step.kind}")
    _check_values(place, step)


def _check_values(place: str, step: Step) -> None:
    for name, most in _TEXTS.items():
        if (text := getattr(step, name)) is not None:
            _text(f"{place}.{name}", text, most)
    for name, most in _NUMBERS.items():
        number = getattr(step, name)
        if number is not None and not 1 <= number <= most:
            _refuse(f"{place}.{name}", f"is 1 to {most}")
    if step.tool is not None and not TOOL.fullmatch(step.tool):
        _refuse(f"{place}.tool", "is written as connector.tool")
    if step.arguments is not None:
        clean_json(
            dict(step.arguments),
            field=f"{place}.arguments",
            max_bytes=MOST_ARGUMENT_BYTES,
            max_depth=8,
        )
    keywords = step.keywords or ()
    if len(keywords) > MOST_KEYWORDS:
        _refuse(f"{place}.keywords", f"has {len(keywords)} items; at most {MOST_KEYWORDS}")
    for number, keyword in enumerate(keywords):
        _text(f"{place}.keywords.{number}", keyword, 64)


def _check_names(steps: Sequence[Step]) -> None:
    names = [step.name for step in steps]
    for place, step in enumerate(steps):
        if names.index(step.name) != place:
            _refuse(f"steps.{place}.name", "is another step's name, too", "step-name")
        for number, other in enumerate(step.needs):
            if other not in names:
                _refuse(
                    f"steps.{place}.needs.{number}",
                    f"names no step of this workflow: {other}",
                    "unknown-step",
                )


def in_order(steps: Sequence[Step]) -> tuple[Step, ...]:
    """Return steps after those that they need, else as they were written.

    ValidationFailed (`workflow-cycle`) for steps that wait for each other.
    """
    waiting, done = list(steps), list[Step]()
    while waiting:
        names = {step.name for step in done}
        ready = next((step for step in waiting if set(step.needs) <= names), None)
        if ready is None:
            circle = " -> ".join(_circle(waiting))
            place = next(n for n, step in enumerate(steps) if step.name == waiting[0].name)
            _refuse(f"steps.{place}.needs", f"closes a cycle: {circle}", "workflow-cycle")
        waiting.remove(ready)
        done.append(ready)
    return tuple(done)


def _circle(waiting: Sequence[Step]) -> list[str]:
    """Return names of steps that wait for each other, the first again at the end."""
    by_name = {step.name: step for step in waiting}
    path = [waiting[0].name]
    while True:
        needed = next(name for name in by_name[path[-1]].needs if name in by_name)
        if needed in path:
            return [*path[path.index(needed) :], needed]
        path.append(needed)


def _check_references(written: Sequence[Step], ordered: Sequence[Step]) -> None:
    kinds = {step.name: Kind(step.kind) for step in ordered}
    earlier = set[str]()
    for step in ordered:
        place = next(n for n, other in enumerate(written) if other.name == step.name)
        for field, text in texts(step):
            for name in named(f"steps.{place}.{field}", text):
                _check_reference(f"steps.{place}.{field}", name, kinds, earlier)
        earlier.add(step.name)


def _check_reference(place: str, name: str, kinds: Mapping[str, Kind], earlier: set[str]) -> None:
    first, *rest = name.split(".")
    if first == "input" and len(rest) == 1 and rest[0]:
        return
    if first == "run" and len(rest) == 1 and rest[0] in RUN:
        return
    if first != "steps" or len(rest) != 2:
        outer = "input.NAME, steps.NAME.OUTPUT and " + ", ".join(f"run.{each}" for each in RUN)
        _refuse(place, f"names {name}; there are {outer}", "unknown-reference")
    step, output = rest
    if step not in kinds:
        _refuse(place, f"names a step that there is not: {step}", "unknown-reference")
    if step not in earlier:
        _refuse(place, f"names {step}, which comes no earlier", "later-reference")
    outputs = SHAPES[kinds[step]].outputs
    if output not in outputs:
        listed = ", ".join(outputs)
        _refuse(place, f"names {name}; {kinds[step]} gives {listed}", "unknown-reference")


def texts(step: Step) -> Iterator[tuple[str, str]]:
    """Yield the texts of a step that may name something, with their fields."""
    for name in _TEXTS:
        if (text := getattr(step, name)) is not None:
            yield name, text
    for number, keyword in enumerate(step.keywords or ()):
        yield f"keywords.{number}", keyword
    yield from _strings("arguments", dict(step.arguments or {}))


def _strings(place: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping):
        for name, item in cast("Mapping[str, object]", value).items():
            yield from _strings(f"{place}.{name}", item)
    elif isinstance(value, list):
        for number, item in enumerate(cast("list[object]", value)):
            yield from _strings(f"{place}.{number}", item)


def named(place: str, text: str) -> list[str]:
    """Return what a text names; ValidationFailed for braces that name nothing."""
    names = _PLACE.findall(text)
    if _OPEN.search(_PLACE.sub("", text)):
        _refuse(place, "has {{ or }} that name nothing", "unknown-reference")
    return names


def inputs_of(definition: Definition) -> tuple[str, ...]:
    """Return what a run has to be given, each once."""
    names = [
        name
        for step in definition.steps
        for field, text in texts(step)
        for name in named(field, text)
    ]
    prefix = "input."
    return tuple(
        dict.fromkeys(name.removeprefix(prefix) for name in names if name.startswith(prefix))
    )


def filled(value: Any, values: Mapping[str, str]) -> Any:
    """Return a text, or what holds texts, with what they name put in. It is put in once."""
    if isinstance(value, str):
        return _PLACE.sub(lambda match: values[match.group(1)], value)
    if isinstance(value, Mapping):
        mapping = cast("Mapping[str, Any]", value)
        return {name: filled(item, values) for name, item in mapping.items()}
    if isinstance(value, list | tuple):
        return [filled(item, values) for item in cast("Sequence[Any]", value)]
    return value


def _text(place: str, value: object, most: int) -> None:
    clean_text(value, field=place, max_chars=most)


def _refuse(place: str, message: str, reason: str | None = None) -> NoReturn:
    raise ValidationFailed(
        f"{place} {message}.", reason=reason, errors=[FieldError(place, message)]
    )
