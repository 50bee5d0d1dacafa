"""A connector as a workspace has registered it: how it is reached, and what agents may do with it.

Not how it is at the moment (`lifecycle`), not what it offers (`manifest`).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

from cairn.safety.tools import Autonomy, Criticality

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.text.json_value import JsonValue


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
    """What a transport needs to reach a connector. Holds secrets: never logged, never shown."""

    name: str
    transport: Transport
    builtin: str | None = None
    command: tuple[str, ...] = ()
    url: str | None = None
    config: Mapping[str, JsonValue] = field(default_factory=lambda: MappingProxyType({}))
    secrets: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)


def arguments_digest(arguments: Mapping[str, JsonValue]) -> str:
    """Return SHA-256 (hex) of arguments, alike for arguments that mean the same."""
    said = json.dumps(arguments, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()
