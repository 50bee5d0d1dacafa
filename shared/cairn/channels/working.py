"""Works at what a queue's message names: what came in from a channel, or what one is to be told.

A message that comes twice, or of which a worker died, changes nothing twice: what came in is worked
at in order, by one at a time of a thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.channels.channel import LEASE, InboundState
from cairn.channels.port import Clicked
from cairn.channels.receiving import read
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError, Conflict, NotFound, Unavailable
from cairn.tickets.adapter import NeedsAuth
from cairn.writing.sealing import Sealer

if TYPE_CHECKING:
    from uuid import UUID

    from cairn.channels.channel import InboundRow
    from cairn.channels.conversing import Converse
    from cairn.channels.keep import Channels
    from cairn.channels.operating import Operate
    from cairn.channels.posting import TellChannels
    from cairn.kernel.access import Principal
    from cairn.writing.platform import Platform

MOST_ATTEMPTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkChannel:
    """Takes a message of the channels' queue."""

    platform: Platform
    channels: Channels
    converse: Converse
    operate: Operate
    tell: TellChannels

    def __call__(self, workspace_id: UUID, about: UUID, outbox_id: UUID | None = None) -> str:
        """Return what it was; raises what is to be tried again."""
        system = system_principal(workspace_id)
        with self.platform.transactions.reading(system) as stores:
            inbound = stores.messaging.inbound(about)
        if inbound is not None:
            self._thread(system, inbound.thread)
            self._require_unheld(system, about)
            became = "inbound"
        else:
            became = self.tell(workspace_id, about)
        if outbox_id is not None:
            with self.platform.transactions.preparing(system) as (stores, _):
                stores.outbox.done([outbox_id])
        return became

    def _require_unheld(self, system: Principal, inbound_id: UUID) -> None:
        """Raise Unavailable while somebody works at it, who may have died: it has to come again."""
        with self.platform.transactions.reading(system) as stores:
            row = stores.messaging.inbound(inbound_id)
        if row is not None and row.leased_until and row.leased_until > self.platform.clock():
            raise Unavailable("Somebody works at this message.", reason="channel-held")

    def _thread(self, system: Principal, thread: bytes) -> None:
        """Work at what waits in a thread, the oldest first, until nothing does."""
        while True:
            now = self.platform.clock()
            with self.platform.transactions.preparing(system) as (stores, _):
                inbound = stores.messaging.claim_inbound(thread, now, now + LEASE)
            if inbound is None:
                return
            try:
                if inbound.attempts > MOST_ATTEMPTS:  # who tried it before died of it, each time
                    raise Conflict("This message was tried too often.", reason="tried-too-often")
                state = self._work(system, inbound)
            except CairnError as problem:
                state = self._failed(system, inbound, problem)
            with self.platform.transactions.preparing(system) as (stores, _):
                stores.messaging.end_inbound(inbound.id, state)

    def _failed(self, system: Principal, inbound: InboundRow, problem: CairnError) -> InboundState:
        """Return that it failed for good, or let it be tried again by raising."""
        fields = {"inbound_id": str(inbound.id), "reason": problem.reason}
        self.platform.warn("channel.inbound_failed", fields)
        passes = isinstance(problem, (Unavailable, NeedsAuth))
        with self.platform.transactions.preparing(system) as (stores, _):
            if isinstance(problem, NeedsAuth):
                stores.messaging.failed(inbound.channel_id, problem.reason)
            if passes and inbound.attempts < MOST_ATTEMPTS:
                stores.messaging.free_inbound(inbound.id)
        if passes and inbound.attempts < MOST_ATTEMPTS:
            raise problem
        return InboundState.FAILED

    def _work(self, system: Principal, inbound: InboundRow) -> InboundState:
        workspace_id = system.workspace_id
        with self.platform.transactions.reading(system) as stores:
            channel = stores.messaging.find(inbound.channel_id)
        sealer = Sealer.of(self.platform, workspace_id, inbound.id, inbound.data_subjects)
        event = read(inbound.known_as, sealer.open(inbound.sealed))
        if channel is None or channel.paused or event is None:
            return InboundState.REFUSED
        adapter = self.channels.adapter(system, channel)
        message = event.message_id if isinstance(event, Clicked) else event.place.thread
        with self.platform.transactions.reading(system) as stores:
            post = stores.messaging.post_of_message(channel.id, message) if message else None
        if post is not None:
            return self.operate(workspace_id, channel, adapter, inbound, event, post)
        if isinstance(event, Clicked):
            raise NotFound("There is no such message.")
        tied = self.operate.tie(workspace_id, channel, adapter, inbound, event)
        if tied is not None:
            return tied
        return self.converse(workspace_id, channel, adapter, inbound, event)
