"""The plain source: tickets come over the API, and what goes back stays here as rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from cairn.kernel.errors import Conflict
from cairn.tickets.adapter import Capabilities

if TYPE_CHECKING:
    from datetime import datetime

    from cairn.tickets.adapter import Delivered, Events, Polled


@dataclass(frozen=True, slots=True)
class PlainAdapter:
    """Implements `helpdesk.adapter.TicketAdapter`; `GET /v1/tickets/{id}` shows what was said."""

    def capabilities(self) -> Capabilities:
        """Say what it can do: whatever is kept with the ticket."""
        return Capabilities(polls=False, webhooks=False, time_entries=True)

    def poll(self, cursor: str | None, limit: int) -> Polled:
        """Refuse: nothing is to be fetched."""
        _refuse()

    def verify(self, delivered: Delivered, now: datetime) -> None:
        """Refuse: tickets come with an API key."""
        _refuse()

    def read(self, delivered: Delivered) -> Events:
        """Refuse: tickets come with an API key."""
        _refuse()

    def reply(self, external_id: str, text: str, *, private: bool, key: str) -> str:
        """Return the key: the reply's row is all there is."""
        return key

    def set_status(self, external_id: str, status: str) -> str:
        """Return the status: the ticket's own."""
        return status

    def log_time(self, external_id: str, minutes: int, note: str, *, key: str) -> str:
        """Return the key: the ledger's entry is all there is."""
        return key


def _refuse() -> NoReturn:
    raise Conflict("The plain source takes tickets over the API only.", reason="plain-source")
