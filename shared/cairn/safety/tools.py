"""What a connector offers, as the safety rules read it: tools, their lanes and flags. Not calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Lane(StrEnum):
    """What a tool does to the world. There is no third lane: a dry run is decided at run time."""

    READ = "read"
    WRITE = "write"


class Autonomy(StrEnum):
    """How far an agent may go, from not at all to by itself; compared by `rank`."""

    OFF = "off"  # tickets come in and are not investigated
    INVESTIGATE = "investigate"  # reads only
    PROPOSE = "propose"  # every write waits for a person
    ACT = "act"  # writes, within what tools demand

    @property
    def rank(self) -> int:
        """Return 0 for off to 3 for act."""
        return list(Autonomy).index(self)

    def capped(self, other: Autonomy) -> Autonomy:
        """Return the lesser of two: a persona's and a connector's."""
        return min(self, other, key=lambda item: item.rank)


class Criticality(StrEnum):
    """What a degraded connector means for an investigation that wants it."""

    SKIP = "skip"  # the planner goes on without
    HALT = "halt"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as its manifest declares it.

    `schema` is the JSON Schema of its arguments. `lane` None was not declared: the tool is unsafe.
    `resource` is a path over the arguments such as `users/{user_id}/reset_password`, what scopes
    are matched against beside the name. `deduplicates` says that a call repeated under one
    `idempotency_key` happens once. `rollback` names the tool that undoes this one.
    """

    connector: str
    name: str
    description: str
    schema: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    lane: Lane | None = None
    dangerous: bool = False
    requires_approval_above_autonomy: Autonomy | None = None
    forbidden_in_autonomy: frozenset[Autonomy] = frozenset()
    supports_dry_run: bool = False
    deduplicates: bool = False
    resource: str | None = None
    rollback: str | None = None

    @property
    def key(self) -> str:
        """Return `connector.tool`, what a tool is called everywhere."""
        return f"{self.connector}.{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A connector's tools at one version; `hash` is SHA-256 (hex) of its canonical form.

    `safe` is False when a tool lacks its scope: such a connector is held to `investigate`.
    """

    connector: str
    version: str
    hash: str
    tools: tuple[ToolSpec, ...]
    safe: bool = True
    criticality: Criticality = Criticality.SKIP

    def tool(self, name: str) -> ToolSpec | None:
        """Return the tool of this name."""
        return next((tool for tool in self.tools if tool.name == name), None)
