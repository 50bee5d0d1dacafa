"""What the API needs of consolidation: use-case callables, as in `services`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cairn.consolidation.requests import Preview, RunAccepted
    from cairn.consolidation.runs import RunView
    from cairn.kernel.access import Principal
    from cairn.writing.items import IdempotencyKey


class StartConsolidation(Protocol):
    """Keep a run and wake its machine. Denied unless an admin asks, NotFound for an unknown client.

    `client_id` None is every client.
    """

    def __call__(
        self,
        principal: Principal,
        /,
        *,
        client_id: str | None = None,
        idempotency: IdempotencyKey | None = None,
    ) -> RunAccepted: ...


class PreviewConsolidation(Protocol):
    """Plan a run and change no memory. Raises as StartConsolidation, and BudgetExceeded."""

    def __call__(self, principal: Principal, /, *, client_id: str | None = None) -> Preview: ...


class BrowseConsolidations(Protocol):
    """Lists and shows runs to admins."""

    def page(
        self, principal: Principal, /, *, before: UUID | None, limit: int
    ) -> Sequence[RunView]:
        """Return up to `limit` runs made before one, the newest first."""
        ...

    def show(self, principal: Principal, run_id: UUID, /) -> RunView:
        """Return one run; NotFound for another workspace's too."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationServices:
    """The use cases of consolidation."""

    start: StartConsolidation
    preview: PreviewConsolidation
    browse: BrowseConsolidations
