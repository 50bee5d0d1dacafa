"""From words to changes of intents: infer, verify in parallel, enrich, reconcile. No writes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cairn.discovery.intents.reconcile import Action, OpenIntent, reconcile
from cairn.discovery.intents.statements import Act, Statement, judged, of_side, parts_of
from cairn.discovery.intents.verify import MOST_CHARS, Verified, anchor_of, enriched, verify

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from cairn.discovery.intents.models import AskOfIntents
    from cairn.discovery.intents.profile import ProfileText
    from cairn.discovery.intents.statements import Part, Side
    from cairn.discovery.intents.verify import By

AT_ONCE = 4
"""Statements that models verify at once."""

MOST_STATEMENTS = 50
"""Of one text that are looked at; the others are said to be left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """What a text says, statement by statement; `left_out` counts what was not looked at."""

    statements: tuple[Verified, ...]
    left_out: int
    by: By


@dataclass(frozen=True, slots=True)
class Planner:
    """Says what texts mean and change, by models where they are configured, else by rules."""

    models: AskOfIntents
    read: Callable[[Sequence[Part]], Sequence[Statement]] = judged

    def understand(self, workspace_id: UUID, text: str, profile: ProfileText | None) -> Understood:
        """Return what a text says, each statement verified, vague ones enriched."""
        statements = self.models.infer(workspace_id, text)
        by: By = "rules" if statements is None else "model"
        if statements is None:
            parts = parts_of(text)
            every, first = len(parts), self.read(parts[:MOST_STATEMENTS])
        else:
            every, first = len(statements), statements[:MOST_STATEMENTS]

        def verified(statement: Statement) -> Verified:
            return self._verified(workspace_id, statement, profile, by)

        if by == "rules" or len(first) < 2:
            results = [verified(each) for each in first]
        else:
            with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
                results = list(pool.map(verified, first))
        return Understood(statements=tuple(results), left_out=every - len(first), by=by)

    def as_said(self, text: str, side: Side, profile: ProfileText | None) -> Understood:
        """Return one statement as it is, its side given: nothing is inferred."""
        statement = of_side(text[:MOST_CHARS], side)
        return Understood(statements=(verify(statement, profile),), left_out=0, by="rules")

    def reconcile(
        self, workspace_id: UUID, statements: Sequence[Verified], intents: Sequence[OpenIntent]
    ) -> tuple[Action, ...]:
        """Return what statements change in a member's open intents."""
        new = [each for each in statements if each.act is not Act.EXPRESSIVE]
        if intents and new:
            actions = self.models.reconcile(workspace_id, new, intents)
            if actions is not None:
                return actions
        return reconcile(statements, intents)

    def _verified(
        self, workspace_id: UUID, statement: Statement, profile: ProfileText | None, by: By
    ) -> Verified:
        first = self.models.verify(workspace_id, statement, profile) if by == "model" else None
        judged = first or verify(statement, profile)
        if not (judged.is_intent and judged.is_vague and profile is not None):
            return judged
        text = self.models.enrich(workspace_id, judged, profile) if by == "model" else None
        if text is None:
            return enriched(judged, profile)
        again = replace(statement, text=text)
        second = self.models.verify(workspace_id, again, profile) or verify(again, profile)
        return replace(second, original=statement.text, anchor=second.anchor or anchor_of(text))
