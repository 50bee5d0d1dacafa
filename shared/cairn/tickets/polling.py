"""Fetching tickets: one source from where it left off, or all that are due. Not the help desks.

The cursor is kept after the tickets it stands for are durable, so a poll that dies repeats some and
loses none.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError, Conflict, NotFound, RateLimited
from cairn.tickets.adapter import NeedsAuth
from cairn.tickets.intake import BATCH, From, Outcome
from cairn.tickets.messages import new_ones
from cairn.tickets.ticket import SourceState

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.tickets.adapter import Delivered, Incoming, Message, Polled, TicketAdapter
    from cairn.tickets.intake import Intake, Received
    from cairn.tickets.messages import ReceiveMessages
    from cairn.tickets.ticket import TicketSource
    from cairn.writing.platform import Platform


MOST = 300
WINDOW_SECONDS = 60


class RateLimiter:
    """Counts deliveries by source in windows of a minute."""

    def __init__(self, most: int = MOST) -> None:
        self._most, self._window, self._lock = most, 0, Lock()
        self._counts: Counter[UUID] = Counter()

    def __call__(self, source_id: UUID, now: datetime) -> None:
        """Count one; RateLimited when there were too many in this window."""
        window, into = divmod(int(now.timestamp()), WINDOW_SECONDS)
        with self._lock:
            if window != self._window:
                self._window = window
                self._counts.clear()
            self._counts[source_id] += 1
            count = self._counts[source_id]
        if count > self._most:
            raise RateLimited(
                f"A ticket source takes {self._most} deliveries in {WINDOW_SECONDS} s.",
                retry_after=WINDOW_SECONDS - into,
                reason="too-many-deliveries",
            )


MAX_TICKETS = 100
"""Of one delivery, and messages as many; the next poll brings what is beyond."""


WorkspaceOf: TypeAlias = "Callable[[UUID], UUID | None]"
"""Says whose a ticket source is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsTaken:
    """What a delivery brought; `duplicate` when it had come before. `nameless` ones had no id.

    `messages` are requesters' later words that were new; `challenge` is to be sent back as it is.
    """

    new: int = 0
    changed: int = 0
    known: int = 0
    nameless: int = 0
    messages: int = 0
    duplicate: bool = False
    challenge: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiveEvents:
    """Takes one delivery in. Again, late and out of order are all the same: what is known stays."""

    platform: Platform
    workspace_of: WorkspaceOf
    adapter: Adapters
    intake: Intake
    messages: ReceiveMessages
    limiter: RateLimiter = field(default_factory=RateLimiter)

    def __call__(self, source_id: UUID, delivered: Delivered) -> EventsTaken:
        """Return what it brought.

        NotFound without the source, Unauthenticated for a delivery that is not signed, forged or
        too old, Conflict for a paused source, ValidationFailed for what cannot be read; RateLimited
        before anything is looked at.
        """
        principal, source = self._source(source_id)
        adapter = self.adapter(principal, source)
        adapter.verify(delivered, self.platform.clock())
        if source.state is SourceState.PAUSED:
            raise Conflict("This ticket source is paused.", reason="source-paused")
        events = adapter.read(delivered)
        if events.challenge is not None:
            return EventsTaken(challenge=events.challenge)
        origin = From(source=source.name, persona=source.persona)
        received = receive_all(self.intake, principal, origin, events.tickets[:MAX_TICKETS])
        messages = self.messages(principal, source.name, events.messages[:MAX_TICKETS])
        with self.platform.transactions.writing(principal) as stores:
            first = stores.ticket_sources.event(
                source_id, events.delivery_id, self.platform.clock()
            )
        outcomes = [item.outcome for item in received]
        return EventsTaken(
            new=outcomes.count(Outcome.NEW),
            changed=outcomes.count(Outcome.CHANGED),
            known=outcomes.count(Outcome.KNOWN),
            nameless=outcomes.count(Outcome.NAMELESS),
            messages=new_ones(messages),
            duplicate=not first,
        )

    def check(self, source_id: UUID) -> None:
        """Say that a source is there: help desks ask before they send. NotFound without it."""
        self._source(source_id)

    def _source(self, source_id: UUID) -> tuple[Principal, TicketSource]:
        workspace_id = self.workspace_of(source_id)
        if workspace_id is not None:
            self.limiter(source_id, self.platform.clock())
            principal = system_principal(workspace_id)
            with self.platform.transactions.reading(principal) as stores:
                source = stores.ticket_sources.find(source_id)
            if source is not None:
                return principal, source
        raise NotFound("There is no such ticket source.", source_id=str(source_id))


PAGE = 50
"""Tickets that a help desk is asked for at once."""

SECONDS = 60.0
"""How long one source may take; what is left waits for the next poll."""

DUE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class PollResult:
    """What a poll did: tickets that were new, changed, known already, or had no id to keep.

    `messages` are requesters' later words that were new; `set_aside` says how many were none, by
    the reason.
    """

    new: int = 0
    changed: int = 0
    known: int = 0
    nameless: int = 0
    messages: int = 0
    set_aside: Mapping[str, int] = field(default_factory=dict[str, int])
    complete: bool = True

    def plus(
        self,
        received: Sequence[Received],
        messages: int,
        set_aside: Mapping[str, int],
        *,
        complete: bool,
    ) -> PollResult:
        """Return it with one more page."""
        outcomes = [item.outcome for item in received]
        return PollResult(
            new=self.new + outcomes.count(Outcome.NEW),
            changed=self.changed + outcomes.count(Outcome.CHANGED),
            known=self.known + outcomes.count(Outcome.KNOWN),
            nameless=self.nameless + outcomes.count(Outcome.NAMELESS),
            messages=self.messages + messages,
            set_aside=Counter(self.set_aside) + Counter(set_aside),
            complete=complete,
        )


Mended: TypeAlias = "Callable[[UUID, str], int]"
"""Puts back what waited for something; see `Requeue.mended`."""


Adapters: TypeAlias = "Callable[[Principal, TicketSource], TicketAdapter]"
"""Opens the adapter of a source; see `TicketSources.adapter`."""


Attach: TypeAlias = "Callable[[Principal, str, Sequence[Incoming], Sequence[Message]], int]"
"""Makes documents of what came with tickets and messages; see `attachments.AttachDocuments`."""


Fetch: TypeAlias = "Callable[[Principal, str, Polled, float], tuple[Polled, bool]]"
"""Fetches the files of a page of tickets, in so many seconds; see `fetching.FetchAttachments`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PollSource:
    """Fetches what is new at one source. Without `attach` what came with it is named alone."""

    platform: Platform
    adapter: Adapters
    intake: Intake
    messages: ReceiveMessages
    mended: Mended
    attach: Attach | None = None
    fetch: Fetch | None = None

    def __call__(
        self, principal: Principal, source_id: UUID, *, seconds: float = SECONDS
    ) -> PollResult:
        """Fetch until nothing is left or time is up.

        NotFound without the source; whatever is raised is kept with the source, and raised.
        A source that `needs-auth` is asked all the same: that it answers mends it.
        """
        with self.platform.transactions.reading(principal) as stores:
            source = stores.ticket_sources.find(source_id)
            cursor = stores.ticket_sources.cursor(source_id)
        if source is None:
            raise NotFound("There is no such ticket source.", source_id=str(source_id))
        until = self.platform.stopwatch() + seconds
        try:
            done = self._pages(principal, source, cursor, until)
        except Exception as problem:
            signed_out = isinstance(problem, NeedsAuth)
            state = SourceState.NEEDS_AUTH if signed_out else source.state
            with self.platform.transactions.writing(principal) as stores:
                stores.ticket_sources.failed(
                    source_id, reason_of(problem), state, self.platform.clock()
                )
            raise
        if source.state is SourceState.NEEDS_AUTH:
            self.mended(principal.workspace_id, f"source:{source.name}")
        return done

    def _pages(
        self, principal: Principal, source: TicketSource, cursor: str | None, until: float
    ) -> PollResult:
        adapter = self.adapter(principal, source)
        origin = From(source=source.name, persona=source.persona)
        done = PollResult()
        while True:
            page, more_files = adapter.poll(cursor, PAGE), False
            if self.fetch is not None:
                left = until - self.platform.stopwatch()
                page, more_files = self.fetch(principal, source.name, page, left)
            received = receive_all(self.intake, principal, origin, page.tickets)
            ones = new_ones(self.messages(principal, source.name, page.messages))
            if self.attach is not None:
                self.attach(principal, source.name, page.tickets, page.messages)
            more = more_files or (page.more and page.cursor != cursor)
            cursor = cursor if more_files else page.cursor  # the page again, for the rest of them
            with self.platform.transactions.writing(principal) as stores:
                stores.ticket_sources.polled(source.id, cursor, self.platform.clock())
            done = done.plus(received, ones, page.set_aside, complete=not more)
            if not more or self.platform.stopwatch() >= until:
                return done


SourcesDue: TypeAlias = "Callable[[datetime, int], Sequence[tuple[UUID, UUID]]]"
"""Names the sources that are to be polled, in every workspace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PollDue:
    """Polls every source that is due. One that fails holds up none of the others."""

    platform: Platform
    due: SourcesDue
    poll: PollSource

    def __call__(self, *, seconds: float) -> dict[str, int]:
        """Return how many sources were polled, how many failed, and what was new."""
        until = self.platform.stopwatch() + seconds
        counts = {"sources": 0, "failed": 0, "new": 0, "changed": 0}
        for workspace_id, source_id in self.due(self.platform.clock(), DUE):
            left = until - self.platform.stopwatch()
            if left <= 0:
                break
            counts["sources"] += 1
            done = self._poll_source(workspace_id, source_id, min(left, SECONDS))
            if done is None:
                counts["failed"] += 1
            else:
                counts["new"] += done.new
                counts["changed"] += done.changed
        return counts

    def _poll_source(
        self, workspace_id: UUID, source_id: UUID, seconds: float
    ) -> PollResult | None:
        fields: dict[str, Any] = {"source_id": str(source_id)}
        try:
            done = self.poll(system_principal(workspace_id), source_id, seconds=seconds)
        except Exception as problem:  # noqa: BLE001 - what one desk answers holds up no other's
            fields |= {"reason": reason_of(problem), "error": type(problem).__name__}
            self.platform.warn("ticket_source.not_polled", fields)
            return None
        counts = {
            "new": done.new,
            "changed": done.changed,
            "known": done.known,
            "messages": done.messages,
            "set_aside": dict(done.set_aside),
        }
        tell = self.platform.warn if done.nameless else self.platform.log
        tell("ticket_source.polled", {**fields, **counts, "nameless": done.nameless})
        return done


def reason_of(problem: Exception) -> str:
    """Return why a poll failed; `unreadable` for an answer that nobody thought of."""
    return problem.reason if isinstance(problem, CairnError) else "unreadable"


def receive_all(
    intake: Intake, principal: Principal, origin: From, tickets: Sequence[Incoming]
) -> list[Received]:
    """Take in any number of tickets, a batch a transaction."""
    return [
        item
        for start in range(0, len(tickets), BATCH)
        for item in intake.receive(principal, origin, tickets[start : start + BATCH])
    ]
