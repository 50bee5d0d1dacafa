"""The hourly sweep of intents: ends those whose time is over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.discovery.intents.rows import IntentState
from cairn.discovery.intents.writing import IntentWrite
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError
from cairn.ledger.entry import SYSTEM
from cairn.writing.writer import open_write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from uuid import UUID

    from cairn.discovery.intents.rows import IntentRow, TextRow
    from cairn.kernel.access import Principal
    from cairn.writing.platform import Platform

PAGE = 200
"""Intents of a workspace that one sweep ends: the next one takes the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepIntents:
    """Ends what is over in every workspace; what fails in one leaves the others be.

    Killed or run twice at once it ends the same: each intent moves once, by compare-and-set.
    """

    platform: Platform
    workspaces: Callable[[], Iterable[UUID]]
    gone: Callable[[UUID, Sequence[UUID]], None]

    def __call__(self) -> int:
        """Return how many expired."""
        ended = 0
        for workspace_id in self.workspaces():
            try:
                ended += self._workspace(workspace_id)
            except CairnError as error:
                fields = {"workspace_id": str(workspace_id), "reason": error.reason}
                self.platform.warn("intents.not_swept", fields)
        return ended

    def _workspace(self, workspace_id: UUID) -> int:
        principal = system_principal(workspace_id)
        with self.platform.transactions.reading(principal) as stores:
            due = stores.intents.due(self.platform.clock(), PAGE)
            texts = stores.intents.texts([row.id for row in due])
        ended = [row.id for row in due if self._expire(principal, row, texts)]
        with self.platform.transactions.reading(principal) as stores:
            left = stores.intents.uncleaned(PAGE)
        if ended or left:
            self.gone(workspace_id, [*ended, *left])
        return len(ended)

    def _expire(self, principal: Principal, row: IntentRow, texts: Mapping[UUID, TextRow]) -> bool:
        text = texts.get(row.id)
        if text is None:
            return False
        keys = self.platform.keys.get_or_create(principal.workspace_id, (row.member_id,))
        try:
            with open_write(self.platform, principal, actor=SYSTEM, keys=keys) as write:
                intents = IntentWrite(
                    write=write,
                    member_id=row.member_id,
                    client_id=text.client_id,
                    source_agent="system",
                )
                intents.stand(row, text.metadata, IntentState.EXPIRED)
        except CairnError:  # it moved, or its member is being forgotten
            return False
        return True
