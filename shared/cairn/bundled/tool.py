"""A connector's tool: a name, checked arguments, a function, a declaration. Not the protocol.

Tools that write take two arguments more: `idempotency_key`, under which a call happens once, and
`dry_run`, which says what would happen and changes nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from cairn.connectors.manifest import tool_meta
from cairn.safety.tools import Autonomy, Lane

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cairn.kernel.text.json_value import JsonValue

    Record = Mapping[str, JsonValue]

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_CONTROLS_IN_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def one_line(value: str) -> str:
    """Return the text; ValueError when it has a control character."""
    if _CONTROLS.search(value):
        raise ValueError("has a control character")
    return value


def _many_lines(value: str) -> str:
    value = value.replace("\r\n", "\n")
    if _CONTROLS_IN_TEXT.search(value):
        raise ValueError("has a control character")
    return value


Line = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(one_line)]
Text = Annotated[str, Field(min_length=1, max_length=30_000), AfterValidator(_many_lines)]


class Arguments(BaseModel):
    """What a tool takes. Errors never repeat what was given: it may be a secret."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class WriteArguments(Arguments):
    """What a tool that writes takes beside its own."""

    idempotency_key: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9._:-]{8,128}$",
        description="Calls with one key happen once. Needed unless dry_run.",
    )
    dry_run: bool = Field(default=False, description="Say what would happen, and change nothing.")

    def may_run(self) -> bool:
        """Return whether the call has a key, or changes nothing."""
        return self.dry_run or self.idempotency_key is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a tool gives back: a JSON value that becomes text. `failed`: it did not work."""

    value: JsonValue
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool. `run` gets validated arguments and raises Cairn's errors."""

    name: str
    description: str
    arguments: type[Arguments]
    run: Callable[[Any], Answer]
    lane: Lane = Lane.READ
    meta: Mapping[str, Any] = field(default_factory=lambda: tool_meta(Lane.READ))
    dangerous: bool = False
    deduplicates: bool = False


def reads(
    name: str,
    description: str,
    arguments: type[Arguments],
    run: Callable[[Any], Answer],
    *,
    resource: str | None = None,
) -> Tool:
    """Return a tool that changes nothing."""
    return Tool(
        name=name,
        description=description,
        arguments=arguments,
        run=run,
        meta=tool_meta(Lane.READ, idempotent=True, resource=resource),
    )


def writes(
    name: str,
    description: str,
    arguments: type[WriteArguments],
    run: Callable[[Any], Answer],
    *,
    resource: str | None = None,
    dangerous: bool = False,
    asks_above: Autonomy | None = None,
    forbidden: Iterable[Autonomy] = (),
    deduplicates: bool = True,
    rollback: str | None = None,
) -> Tool:
    """Return a tool that changes something; `asks_above` is requires_approval_above_autonomy."""
    return Tool(
        name=name,
        description=description,
        arguments=arguments,
        run=run,
        lane=Lane.WRITE,
        meta=tool_meta(
            Lane.WRITE,
            dangerous=dangerous,
            requires_approval_above_autonomy=asks_above,
            forbidden_in_autonomy=forbidden,
            supports_dry_run=True,
            idempotent=deduplicates,
            resource=resource,
            rollback=rollback,
        ),
        dangerous=dangerous,
        deduplicates=deduplicates,
    )
