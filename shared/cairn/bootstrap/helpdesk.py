"""What tickets are made of: for the API, for the functions that take up, poll and write back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.adapters.postgres.database import Database
    from cairn.graph.memory_records import Dump
    from cairn.inbound.gateway import Redact
    from cairn.kernel.access import Principal
    from cairn.llm.gateway import Gateway
    from cairn.memory_graph.ledger_graph import LedgerGraph
    from cairn.tickets.adapter import DeskForm
    from cairn.tickets.attachments import AttachDocuments
    from cairn.tickets.fetching import FetchAttachments
    from cairn.tickets.gateway import Admit, SweepTickets, TakeTicket
    from cairn.tickets.intake import Intake
    from cairn.tickets.messages import ReceiveMessages
    from cairn.tickets.personas import Personas
    from cairn.tickets.polling import PollDue, PollSource, ReceiveEvents
    from cairn.tickets.queue import Requeue, WatchQueue
    from cairn.tickets.sealing import Sealed
    from cairn.tickets.sources import TicketSources
    from cairn.tickets.write_back import Desk
    from cairn.writing.platform import Platform

PEOPLE = frozenset(["customer", "user"])


@dataclass(frozen=True)
class HelpdeskParts:
    """Use cases of tickets. Nothing connects when they are made.

    `leads` is the setting that says where requests to help desks may lead, `bucket` where documents
    wait to be read: without it what is attached becomes none.
    """

    opened: Database
    platform: Platform
    leads: str = "public"
    bucket: str | None = None

    @cached_property
    def sealed(self) -> Sealed:
        """What opens tickets."""
        from cairn.tickets.sealing import Sealed

        return Sealed(keys=self.platform.keys, cipher=self.platform.cipher)

    @cached_property
    def intake(self) -> Intake:
        """What takes tickets in."""
        from cairn.tickets.intake import Intake

        return Intake(self.platform)

    @cached_property
    def messages(self) -> ReceiveMessages:
        """What takes requesters' later messages in."""
        from cairn.tickets.messages import ReceiveMessages

        return ReceiveMessages(self.platform)

    @cached_property
    def requeue(self) -> Requeue:
        """What puts tickets back; `requeue.mended(workspace_id, "connector:<name>")`, too."""
        from cairn.tickets.queue import Requeue

        return Requeue(platform=self.platform)

    @cached_property
    def sources(self) -> TicketSources:
        """Where tickets come from."""
        from cairn.adapters.http.help_desks import OpenHelpDesk
        from cairn.bootstrap.sign_ins import sign_in_tokens, sign_ins
        from cairn.tickets.sources import TicketSources

        return TicketSources(
            platform=self.platform,
            open_adapter=OpenHelpDesk(allow_private=self.leads == "private"),
            mended=self.requeue.mended,
            tokens=sign_in_tokens(self.leads, self.opened, self.platform),
            signing_in=sign_ins(self.leads, self.opened, self.platform),
        )

    @cached_property
    def forms(self) -> Mapping[str, DeskForm]:
        """What each kind of source is made of."""
        from cairn.adapters.http.help_desks import DESKS
        from cairn.adapters.http.opening import forms

        return forms(DESKS)

    @cached_property
    def personas(self) -> Personas:
        """How agents work."""
        from cairn.tickets.personas import Personas

        return Personas(platform=self.platform)

    @cached_property
    def poll(self) -> PollSource:
        """What fetches the tickets of one source."""
        from cairn.tickets.polling import PollSource

        return PollSource(
            platform=self.platform,
            adapter=self.sources.adapter,
            intake=self.intake,
            messages=self.messages,
            mended=self.requeue.mended,
            attach=self.attach,
            fetch=None if self.attach is None else self.fetch,
        )

    @cached_property
    def fetch(self) -> FetchAttachments:
        """What gets attachments that help desks keep."""
        from cairn.tickets.fetching import FetchAttachments

        return FetchAttachments(platform=self.platform)

    @cached_property
    def attach(self) -> AttachDocuments | None:
        """What makes documents of attachments."""
        if self.bucket is None:
            return None
        from cairn.adapters.aws.objects import S3Objects
        from cairn.documents.accept import AcceptDocument
        from cairn.tickets.attachments import AttachDocuments

        accept = AcceptDocument(self.platform, objects=S3Objects(self.bucket))
        return AttachDocuments(platform=self.platform, sealed=self.sealed, accept=accept)

    @cached_property
    def poll_due(self) -> PollDue:
        """What fetches the tickets of every source that is due: `poll_due(seconds=...)`."""
        from cairn.adapters.postgres.agents.ticket_sources import SourcesDue
        from cairn.tickets.polling import PollDue

        return PollDue(platform=self.platform, due=SourcesDue(self.opened), poll=self.poll)

    @cached_property
    def receive(self) -> ReceiveEvents:
        """What takes webhooks of help desks in."""
        from cairn.adapters.postgres.agents.ticket_sources import WorkspaceOfSource
        from cairn.tickets.polling import ReceiveEvents

        return ReceiveEvents(
            platform=self.platform,
            workspace_of=WorkspaceOfSource(self.opened),
            adapter=self.sources.adapter,
            intake=self.intake,
            messages=self.messages,
        )

    @cached_property
    def desk(self) -> Desk:
        """Where investigations read tickets and personas, and write back."""
        from cairn.tickets.write_back import Desk

        return Desk(
            platform=self.platform,
            sealed=self.sealed,
            adapter_of=self.sources.adapter_of,
            graph=self.remember,
        )

    def queue(self, at_once: int, above: int) -> WatchQueue:
        """Return what looks at the queue; its `degraded(workspace_id)` is for investigations."""
        from cairn.tickets.queue import WatchQueue

        return WatchQueue(platform=self.platform, at_once=at_once, above=above)

    def take(self, models: Gateway | None, redact: Redact, admit: Admit) -> TakeTicket:
        """Return what takes up a ticket: screens it, queues it, and lets `admit` start."""
        from cairn.inbound.gateway import InboundGateway
        from cairn.tickets.gateway import TakeTicket

        screen = InboundGateway(platform=self.platform, models=models, redact=redact)
        return TakeTicket(
            platform=self.platform,
            sealed=self.sealed,
            screen=screen,
            redact=redact,
            graph=self.remember,
            admit=admit,
        )

    def sweep(self, take: TakeTicket) -> SweepTickets:
        """Return what takes up, in every workspace, the tickets that lost messages left behind."""
        from cairn.adapters.postgres.agents.tickets import WorkspacesWithTickets
        from cairn.tickets.gateway import SweepTickets

        return SweepTickets(
            workspaces=WorkspacesWithTickets(self.opened),
            platform=self.platform,
            take=take,
        )

    def remember(self, workspace_id: UUID, records: Sequence[Dump]) -> None:
        """Write records into the memory graph; people who stand there already are left alone."""
        from cairn.graph.memory_records import NodeDump

        graph = self.graph
        new = [
            record
            for record in records
            if not isinstance(record, NodeDump)
            or record.label not in PEOPLE
            or graph.get_node(workspace_id, record.label, record.natural_key) is None
        ]
        if new:
            graph.write(workspace_id, new, importing=False)

    @cached_property
    def graph(self) -> LedgerGraph:
        """The memory graph, to read and to write."""
        from cairn.memory_graph.ledger_graph import LedgerGraph
        from cairn.writing.writer import Writer

        return LedgerGraph(writer=Writer(self.platform), forget=_forgets_nothing)


def _forgets_nothing(principal: Principal, target: object, reason: object) -> NoReturn:
    raise RuntimeError("tickets do not forget; forgetting is its own use case")
