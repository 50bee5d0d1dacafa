"""A connector as a workspace has registered it: how it is reached, and what agents may do with it.

Not how it is at the moment (`lifecycle`), not what it offers (`manifest`).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from cairn.oauth_client.client import SETTING as OAUTH
from cairn.oauth_client.client import Holder, bound_to, read_client
from cairn.safety.destinations import origin
from cairn.safety.tools import Autonomy, Criticality

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.connectors.lifecycle import Health
    from cairn.connectors.wires import Wire
    from cairn.kernel.text.json_value import JsonValue
    from cairn.oauth_client.ports import Bearer


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What a connector listed at its last handshake: the version it goes by, and its tools."""

    version: str
    hash: str
    tools: Sequence[Mapping[str, Any]]

    def accepted(self, name: str) -> frozenset[str]:
        """Return the arguments a tool declares, with those that are the host's to give."""
        for tool in self.tools:
            properties: object = tool["inputSchema"].get("properties")
            if tool["name"] == name and isinstance(properties, dict):
                return frozenset(cast("dict[str, Any]", properties))
        return frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """A connector with how it is and what it listed."""

    connector: Connector
    health: Health
    listing: Listing | None = None


Wires: TypeAlias = "Callable[[Launch], Wire]"
"""Makes the wire to a connector; bootstrap knows what is bundled and where HTTP may lead.

Return a wire that is not open yet; ValidationFailed when there can be none.
"""


DatabaseCheck: TypeAlias = "Callable[[str], None]"
"""Looks where the credentials of a database connector lead.

Raise ValidationFailed (`connector-database`) for a database or role of Cairn's.

Unreachable ones raise it too (`connector-database-unreachable`): nobody could look.
"""


class Transport(StrEnum):
    """How a connector is talked to."""

    STDIO = "stdio"  # a process of its own: a bundled connector, or a command
    HTTP = "http"  # MCP's streamable HTTP, at an address
    IN_PROCESS = "in_process"  # a bundled connector inside this process


@dataclass(frozen=True, slots=True, kw_only=True)
class Connector:
    """A registered connector. Secrets are not part of it: only the names of them.

    One of `builtin`, `command` and `url` says what runs, by `transport`. `config` are settings in
    clear: those of a bundled connector, `env` of a command, `headers` of an address. `scopes` is
    the text of the scope rules. `revision` counts changes of what runs.
    """

    id: UUID
    name: str
    transport: Transport
    created_at: datetime
    changed_at: datetime
    builtin: str | None = None
    command: tuple[str, ...] = ()
    url: str | None = None
    config: Mapping[str, JsonValue] = field(default_factory=lambda: MappingProxyType({}))
    secret_names: tuple[str, ...] = ()
    scopes: str = ""
    autonomy: Autonomy = Autonomy.INVESTIGATE
    criticality: Criticality = Criticality.SKIP
    revision: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What a transport needs to reach a connector. Holds secrets: never logged, never shown.

    `bearer` gives the token of one that is signed in to by a device code.
    """

    name: str
    transport: Transport
    builtin: str | None = None
    command: tuple[str, ...] = ()
    url: str | None = None
    config: Mapping[str, JsonValue] = field(default_factory=lambda: MappingProxyType({}))
    secrets: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    bearer: Bearer | None = field(default=None, repr=False)


SIGN_IN_ENTRIES = ("connector.sign_in_begun", "connector.signed_in", "connector.signed_out")


def holder_of(connector: Connector, secrets: Mapping[str, str]) -> Holder | None:
    """Return how a connector signs in by a device code; None for one that does not."""
    if OAUTH not in connector.config or connector.url is None:
        return None
    client = read_client(connector.config[OAUTH], secrets)
    begun, done, ended = SIGN_IN_ENTRIES
    return Holder(
        id=connector.id,
        client=client,
        bound_to=bound_to(client, origin(connector.url)),
        begun=begun,
        done=done,
        ended=ended,
    )


def arguments_digest(arguments: Mapping[str, JsonValue]) -> str:
    """Return SHA-256 (hex) of arguments, alike for arguments that mean the same."""
    dumps = json.dumps(arguments, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(dumps.encode("utf-8", "surrogatepass")).hexdigest()
