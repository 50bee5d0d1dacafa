"""Redaction for the steps: one text after another into the vault of one investigation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cairn.safety.profiles import joined

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.connectors.directory import Profiles
    from cairn.investigations.ports import Situation
    from cairn.investigations.state import Evidence
    from cairn.kernel.text.json_value import JsonValue
    from cairn.safety.redaction import ReversibleRedactor


@dataclass(frozen=True, slots=True, kw_only=True)
class Hiding:
    """Hides what the workspace's profile and the persona's together take out."""

    redactor: ReversibleRedactor
    profiles: Profiles

    def of(self, situation: Situation) -> Hider:
        """Return what hides into the investigation's vault; Unavailable without its profile."""
        persona, memory = situation.persona, situation.memory
        return self.under(situation.workspace_id, persona.redaction, memory.vault)

    def under(self, workspace_id: UUID, profile: str, vault: Mapping[str, str]) -> Hider:
        """Return the same for a persona's profile and a vault."""
        both = joined([self.profiles(workspace_id), profile])
        return Hider(self.redactor, both, vault)

    def restored(self, text: str, vault: Mapping[str, str]) -> str:
        """Return a text with its values: for tools, people and help desks, never for models."""
        return str(self.redactor.restore(text, vault))


class Hider:
    """Hides personal values in one text after another; `vault` grows with them."""

    def __init__(
        self, redactor: ReversibleRedactor, profile: str, vault: Mapping[str, str]
    ) -> None:
        self._redactor, self._profile, self.vault = redactor, profile, vault

    def __call__(self, text: str) -> str:
        """Return a text from outside with placeholders."""
        hidden, self.vault = self._redactor.redact(text, self.vault, profile=self._profile)
        return hidden

    def moved(self, value: JsonValue, theirs: Mapping[str, str]) -> JsonValue:
        """Return what was hidden into another vault, hidden into this one.

        Raises ValidationFailed for a placeholder that `theirs` does not know.
        """
        hidden, self.vault = self._redactor.moved(value, theirs, self.vault, profile=self._profile)
        return hidden

    def evidence(self, evidences: Sequence[Evidence]) -> tuple[Evidence, ...]:
        """Return evidence with its texts hidden."""
        return tuple(replace(evidence, text=self(evidence.text)) for evidence in evidences)
