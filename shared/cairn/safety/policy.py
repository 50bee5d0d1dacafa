"""What a workspace lets its agents do: autonomy and scopes by connector. Not the rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from cairn.kernel.text.canonical import canonical_bytes
from cairn.safety.profiles import DEFAULT_PROFILE
from cairn.safety.scope import Scopes
from cairn.safety.tools import Autonomy, Criticality

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from cairn.safety.tools import Manifest, ToolSpec

RULES_VERSION = 1
"""Of `rules.decide`: counted up when the same policy decides otherwise, so that approvals lapse."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorPolicy:
    """What holds for one connector of a workspace.

    `manifest` is the one last seen, None when it never started: none of its tools may be called.
    """

    connector: str
    autonomy: Autonomy = Autonomy.INVESTIGATE
    scopes: Scopes = field(default_factory=Scopes)
    manifest: Manifest | None = None
    criticality: Criticality = Criticality.SKIP

    def tool(self, name: str) -> ToolSpec | None:
        """Return a tool of the manifest last seen."""
        return self.manifest.tool(name) if self.manifest is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Everything a workspace decides by. `redaction` names its profile."""

    connectors: Mapping[str, ConnectorPolicy] = field(default_factory=lambda: MappingProxyType({}))
    redaction: str = DEFAULT_PROFILE

    def autonomy(self, connector: str, persona: Autonomy) -> Autonomy:
        """Return how far a persona may go with a connector: the lower holds.

        A connector whose manifest is unsafe is held to `investigate`; an unknown one is off.
        """
        found = self.connectors.get(connector)
        if found is None or found.manifest is None:
            return Autonomy.OFF
        safe = found.manifest.safe
        locked = found.autonomy if safe else found.autonomy.capped(Autonomy.INVESTIGATE)
        return locked.capped(persona)

    def version(self, connector: str, persona: Autonomy) -> str:
        """Return SHA-256 (hex) over all that decides about a connector's tools for a persona.

        Autonomy, scopes, the manifest's hash, the redaction profile, and the version of the rules.
        What changes another connector changes no version here.
        """
        found = self.connectors.get(connector)
        manifest = found.manifest if found is not None else None
        decides = {
            "autonomy": self.autonomy(connector, persona).value,
            "connector": connector,
            "manifest": manifest.hash if manifest is not None else None,
            "redaction": self.redaction,
            "rules": RULES_VERSION,
            "safe": manifest.safe if manifest is not None else False,
            "scopes": found.scopes.canonical() if found is not None else None,
        }
        return sha256(canonical_bytes(decides)).hexdigest()


class Policies(Protocol):
    """The policies of workspaces, as they are now: never remembered from an earlier call."""

    def __call__(self, workspace_id: UUID) -> Policy:
        """Return the workspace's policy; Unavailable when it cannot be read."""
        ...
