"""A tool: a name, checked arguments, one use case, a text. Not the protocol it is served by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from cairn.api.answers import encode
from cairn.kernel.access import Role
from cairn.kernel.text.hashes import sha256
from cairn.writing.items import IdempotencyKey

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cairn.api.fields import Body
    from cairn.bootstrap.api import ApiServices
    from cairn.kernel.access import Principal

ALWAYS_LOAD: Mapping[str, Any] = {"anthropic/alwaysLoad": True}
"""Tells a client to load a tool's schema with the list, not when the tool is first looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What a tool gives back: a text for a model, and the same as JSON for programs."""

    text: str
    structured: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool. `roles` may call it; others neither see it nor call it.

    `call` gets arguments that `arguments` has validated, and raises Cairn's errors. `eager` tools
    are those an agent needs in most sessions. `reads` tools change nothing.
    """

    name: str
    title: str
    description: str
    arguments: type[Body]
    call: Callable[[ApiServices, Principal, Any], ToolAnswer]
    roles: frozenset[Role] = frozenset(Role)
    reads: bool = True
    destroys: bool = False  # it takes something away; clients ask a person before they call it
    repeatable: bool = True  # calling it twice with the same arguments changes nothing more
    eager: bool = True
    of_a_client: bool = False  # for keys bound to a client, too: it reads and writes nodes only


WRITERS = frozenset({Role.ADMIN, Role.AGENT})


def may_use(tool: Tool, principal: Principal) -> bool:
    """Return whether the principal's role and the key's own list of tools allow the tool."""
    listed = principal.tools is None or tool.name in principal.tools
    whose = principal.client_id is None or tool.of_a_client
    return listed and whose and principal.role in tool.roles


RepeatKey = Annotated[
    str,
    Field(
        pattern=r"^[\x21-\x7e]{1,255}$",
        description="The same key and arguments within 24 hours are written once.",
    ),
]


def repeated(arguments: Body, key: str | None) -> IdempotencyKey | None:
    """Return the key with the hash of the arguments it came with; None without one."""
    if key is None:
        return None
    given = arguments.model_dump(mode="json", exclude={"idempotency_key"})
    return IdempotencyKey(key=key, body_hash=sha256(encode([type(arguments).__name__, given])))
