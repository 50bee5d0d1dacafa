"""A tool: a name, checked arguments, one use case, a text. Not the protocol it is served by."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from cairn.api.answers import encode
from cairn.api.mcp import schemas
from cairn.kernel.access import Role
from cairn.kernel.text.hashes import sha256
from cairn.writing.items import IdempotencyKey

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cairn.api.fields import Body
    from cairn.bootstrap.api import ApiServices
    from cairn.kernel.access import Principal

ALWAYS_LOAD: Mapping[str, Any] = {"anthropic/alwaysLoad": True}
"""Tells a client to load a tool's schema with the list, not when the tool is first looked for."""


class Effect(StrEnum):
    """What a call may do to what is stored. Who asks a person first, asks by this."""

    READ = "read"
    CHANGE = "change"
    DELETE = "delete"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What a tool gives back: a text for a model, and the same as JSON for programs.

    What is None or empty in `structured` is left out: it says nothing. `events` are trace events
    for a chat's stream, (name, fields).
    """

    text: str
    structured: Mapping[str, Any]
    events: Sequence[tuple[str, Mapping[str, Any]]] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool. `roles` may call it; others neither see it nor call it.

    `call` gets arguments that `arguments` has validated, and raises Cairn's errors. `parameters`
    describes for a model those of them that are listed; REST's others are taken, too. `result` is
    the TypedDict of the structured answer. `eager` tools are those an agent needs in most sessions.
    An alias is callable and not listed, and takes null as a value where REST does.
    """

    name: str
    title: str
    description: str
    arguments: type[Body]
    parameters: Mapping[str, str]
    result: type
    call: Callable[[ApiServices, Principal, Any], ToolAnswer]
    aliases: tuple[str, ...] = ()
    roles: frozenset[Role] = frozenset(Role)
    effect: Effect = Effect.READ
    repeatable: bool = True  # calling it twice with the same arguments changes nothing more
    eager: bool = False
    of_a_client: bool = False  # for keys bound to a client, too: it reads and writes nodes only

    @property
    def reads(self) -> bool:
        """Whether it changes nothing."""
        return self.effect is Effect.READ

    def input_schema(self) -> dict[str, Any]:
        """Return the schema of the arguments a model is told of."""
        return schemas.input_schema(self.arguments, self.parameters)

    def output_schema(self) -> dict[str, Any]:
        """Return the schema of the structured answer."""
        return schemas.output_schema(self.result)

    def named(self, name: str) -> bool:
        """Return whether this is its name or an alias of it."""
        return name == self.name or name in self.aliases


WRITERS = frozenset({Role.ADMIN, Role.AGENT})
ADMINS = frozenset({Role.ADMIN})


def may_use(tool: Tool, principal: Principal) -> bool:
    """Return whether the principal's role and the key's own list of tools allow the tool."""
    listed = principal.tools is None or any(tool.named(name) for name in principal.tools)
    whose = principal.client_id is None or tool.of_a_client
    return listed and whose and principal.role in tool.roles


RepeatKey = Annotated[str, Field(pattern=r"^[\x21-\x7e]{1,255}$")]
"""The same key and arguments within 24 hours are written once."""


def repeated(arguments: Body, key: str | None) -> IdempotencyKey | None:
    """Return the key with the hash of the arguments it came with; None without one."""
    if key is None:
        return None
    document = arguments.model_dump(mode="json", exclude={"idempotency_key"})
    return IdempotencyKey(key=key, body_hash=sha256(encode([type(arguments).__name__, document])))
