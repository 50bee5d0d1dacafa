"""The port to help desks: tickets in by polling or webhooks, answers out. Not any one help desk.

`read` and `verify` are pure; the other methods ask the help desk and raise Unavailable when it does
not answer, NotFound when it has no such ticket, and `NeedsAuth` when it no longer takes the keys.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from cairn.kernel.errors import Conflict
from cairn.tickets.ticket import Priority

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


class NeedsAuth(Conflict):
    """A help desk refuses the credentials it was given: somebody has to authorise it again."""

    code = "needs-auth"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a help desk can do. What it cannot is skipped and said so in the write-back."""

    polls: bool = True
    webhooks: bool = True
    replies: bool = True
    private_notes: bool = True
    statuses: bool = True
    time_entries: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A ticket as a source gave it, in canonical form; nothing of it is trusted or checked yet.

    `modified_at` is the source's own clock: of two forms of a ticket the later one counts.
    `closed` ones are taken note of when known, and not taken in otherwise.
    """

    external_id: str
    title: str
    body: str
    customer: str = ""
    requester_email: str | None = None
    priority: Priority = Priority.MEDIUM
    sla_at: datetime | None = None
    received_at: datetime | None = None
    modified_at: datetime | None = None
    closed: bool = False
    source_metadata: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What somebody outside the desk wrote to a ticket later; nothing of it is checked yet.

    `ticket` is the ticket's external id, `id` the message's own at its source. `author` is an
    address as `Incoming.requester_email` has it; None says that it is the requester.
    """

    ticket: str
    id: str
    text: str
    author: str | None = None
    written_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Polled:
    """Tickets that are new or changed, and the cursor for next time; `more` are there now.

    `messages` are those of these tickets since `cursor`: our own and colleagues' are left out.
    """

    tickets: tuple[Incoming, ...]
    cursor: str | None
    more: bool = False
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """A webhook's request as it came: the exact bytes, header names in small letters."""

    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """What a verified webhook delivery tells; `delivery_id` is the same when it is sent again."""

    delivery_id: str
    tickets: tuple[Incoming, ...]
    messages: tuple[Message, ...] = ()


class TicketAdapter(Protocol):
    """A help desk, as source and as sink."""

    def capabilities(self) -> Capabilities:
        """Say what it can do."""
        ...

    def poll(self, cursor: str | None, limit: int) -> Polled:
        """Return what changed since `cursor`, which the adapter made; None begins."""
        ...

    def verify(self, delivered: Delivered, now: datetime) -> None:
        """Raise Unauthenticated for a delivery that is unsigned, forged or too old."""
        ...

    def read(self, delivered: Delivered) -> Events:
        """Return what a delivery tells; ValidationFailed for one that cannot be read."""
        ...

    def reply(self, external_id: str, text: str, *, private: bool, key: str) -> str:
        """Answer a ticket and return the source's reference.

        Looked up first: an answer that carries `key` is there already and is not posted again.
        """
        ...

    def set_status(self, external_id: str, status: str) -> str:
        """Set the status (a `TicketStatus`) and return what the source calls it."""
        ...

    def log_time(self, external_id: str, minutes: int, note: str, *, key: str) -> str:
        """Log working time; looked up first by `key`, as `reply`."""
        ...


class OpenAdapter(Protocol):
    """Makes the adapter of a source."""

    def __call__(
        self, kind: str, config: Mapping[str, Any], secrets: Mapping[str, str]
    ) -> TicketAdapter:
        """Return it; ValidationFailed names the field of `config` or `secrets` that is wrong."""
        ...
