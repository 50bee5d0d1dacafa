"""What the API calls of agents: what they are given, tickets, investigations, connectors."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING

from cairn.bootstrap.api_feed import FeedServices
from cairn.bootstrap.lazy import lazy, part
from cairn.kernel.clock import utc_now

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.bootstrap.helpdesk import HelpdeskParts
    from cairn.channels.keep import Channels as MessagingChannels
    from cairn.channels.receiving import ReceiveChannel
    from cairn.channels.ties import ChannelTies
    from cairn.channels.working import WorkChannel
    from cairn.chat.actions import Actions
    from cairn.chat.answer import AnswerTurn
    from cairn.chat.hand_off_views import BrowseChats
    from cairn.chat.hand_offs import HandOffs
    from cairn.chat.public_tools import PublicTools
    from cairn.chat.recording import RecordLines
    from cairn.chat.turns import Turns
    from cairn.chat.widget_sessions import Widgets
    from cairn.chat.widget_settings import KeepWidget
    from cairn.checkpoints.keep import Checkpoints
    from cairn.compaction.chats import CompactChat
    from cairn.compaction.compact import Compact
    from cairn.compaction.session import KeepBriefing
    from cairn.connectors.registry import Connectors
    from cairn.discovery.feed.feeds import Feeds
    from cairn.discovery.feed.maintenance import MaintainFeeds
    from cairn.discovery.intents.intents import Intents
    from cairn.discovery.matching.discovery import Discovery
    from cairn.discovery.matching.opportunities import Opportunities
    from cairn.discovery.negotiation.negotiations import Negotiations
    from cairn.documents.accept import AcceptDocument
    from cairn.investigations.approvals import Approvals
    from cairn.investigations.browse import BrowseInvestigations
    from cairn.investigations.grants import GrantFromQuestion, Grants
    from cairn.investigations.people.bundle import Escalations
    from cairn.investigations.people.candidates import Candidates
    from cairn.investigations.people.delivering import Channels
    from cairn.investigations.people.learning import Opinions
    from cairn.investigations.people.proposing import Proposals, RememberStep
    from cairn.investigations.run.admission import Start
    from cairn.investigations.run.resume import Resume
    from cairn.investigations.tool_calls import LogCall
    from cairn.investigations.views import InvestigationView
    from cairn.kernel.access import Principal
    from cairn.memory_graph.ledger_graph import LedgerGraph
    from cairn.sessions.knowledge import Knowledge
    from cairn.sessions.opening import OpenSession
    from cairn.sources.keep import Sources
    from cairn.tickets.adapter import DeskForm
    from cairn.tickets.intake import Intake
    from cairn.tickets.messages import ReceiveMessages
    from cairn.tickets.personas import Personas
    from cairn.tickets.polling import PollSource, ReceiveEvents
    from cairn.tickets.queue import ReadTickets, Requeue, WatchQueue
    from cairn.tickets.sources import TicketSources
    from cairn.workflows.definitions import Workflows
    from cairn.workflows.runs import Runs
    from cairn.workspace.change import RedactionProfile

MOST_INVESTIGATIONS = 20
"""Of a ticket that are shown with it."""


class AgentServices(FeedServices):
    """Use cases, each imported and made when a request first needs it."""

    # What an agent is given

    @part
    def compact(self) -> Compact:
        """Making a transcript shorter, recorded whole."""
        from cairn.compaction.compact import Compact
        from cairn.compaction.model import AskModel
        from cairn.conversations.transcript import RecordTranscript
        from cairn.recall.context import counting

        return Compact(
            record=RecordTranscript(self.platform),
            count_tokens=counting(self.embedder.count_tokens),
            reword=AskModel(gateway=self.gateway) if self.gateway else None,
        )

    @part
    def keep_briefing(self) -> KeepBriefing:
        """Keeping what a compaction says of a session."""
        from cairn.compaction.session import KeepBriefing

        return KeepBriefing(self.platform)

    @part
    def compact_chat(self) -> CompactChat:
        """Chats made shorter behind their turns."""
        from cairn.compaction.chats import CompactChat

        return CompactChat(compact=self.compact, keep=self.keep_briefing)

    @part
    def open_session(self) -> OpenSession:
        """What a session begins with."""
        from cairn.bootstrap.parts import session_opening

        return session_opening(
            self.platform,
            self.log,
            investigations=self.investigations,
            escalations=self.escalations,
            snapshot=self.knowledge.text_for,
        )

    @part
    def knowledge(self) -> Knowledge:
        """What agents are given before they ask."""
        from cairn.sessions.knowledge import Knowledge

        return Knowledge(platform=self.platform)

    # Tickets

    @property
    def _helpdesk(self) -> HelpdeskParts:
        return self.investigation_parts.helpdesk

    @part
    def intake(self) -> Intake:
        """Taking tickets in."""
        return self._helpdesk.intake

    @part
    def ticket_messages(self) -> ReceiveMessages:
        """Taking in what requesters wrote later."""
        return self._helpdesk.messages

    @part
    def requeue(self) -> Requeue:
        """Putting a ticket back into the queue."""
        return self._helpdesk.requeue

    @part
    def ticket_queue(self) -> WatchQueue:
        """How the queue is."""
        return self._helpdesk.queue(self.settings.investigations, self.settings.degraded_above)

    @part
    def ticket_sources(self) -> TicketSources:
        """Where tickets come from."""
        return self._helpdesk.sources

    @part
    def desk_forms(self) -> Mapping[str, DeskForm]:
        """What a ticket source of each kind is made of."""
        return self._helpdesk.forms

    @part
    def poll_source(self) -> PollSource:
        """Fetching what is new at a source."""
        return self._helpdesk.poll

    @part
    def receive_events(self) -> ReceiveEvents:
        """Taking a help desk's delivery in."""
        return self._helpdesk.receive

    @part
    def personas(self) -> Personas:
        """How agents work, by kind of ticket."""
        return self._helpdesk.personas

    @part
    def tickets(self) -> ReadTickets:
        """Tickets, with their newest investigations."""
        from cairn.tickets.queue import ReadTickets

        return ReadTickets(
            platform=self.platform,
            sealed=self._helpdesk.sealed,
            investigations=self._of_ticket,
        )

    def _of_ticket(self, principal: Principal, ticket_id: UUID) -> Sequence[InvestigationView]:
        return self.investigations.page(
            principal, state=None, ticket_id=ticket_id, before=None, limit=MOST_INVESTIGATIONS
        )

    # Investigations

    @part
    def investigations(self) -> BrowseInvestigations:
        """Investigations, their timelines, tool calls and questions to people."""
        from cairn.investigations.browse import BrowseInvestigations
        from cairn.investigations.journal import Opener

        return BrowseInvestigations(
            transactions=self.platform.transactions,
            open=Opener(keys=self.platform.keys, cipher=self.platform.cipher),
        )

    @part
    def start_investigation(self) -> Start:
        """Queueing a ticket and starting its investigation if there is room."""
        from cairn.investigations.run.admission import Start

        parts = self.investigation_parts
        return Start(journal=parts.journal, admit=parts.admit, desk=parts.desk)

    @part
    def resume(self) -> Resume:
        """Taking up what lost its execution."""
        return self.investigation_parts.resume

    @part
    def approvals(self) -> Approvals:
        """Showing questions to admins and taking their decisions."""
        from cairn.investigations.approvals import Approvals

        parts = self.investigation_parts
        return Approvals(
            journal=parts.journal, pipeline=parts.pipeline, desk=parts.desk, hiding=parts.hiding
        )

    @part
    def grants(self) -> Grants:
        """Standing grants."""
        from cairn.investigations.grants import Grants

        parts = self.investigation_parts
        return Grants(platform=self.platform, policies=parts.policies)

    @part
    def make_grant(self) -> GrantFromQuestion:
        """Making a standing grant, from a question where one is named."""
        from cairn.investigations.grants import GrantFromQuestion

        return GrantFromQuestion(
            transactions=self.platform.transactions,
            show=self.approvals.get,
            make=self.grants.make,
        )

    @part
    def redaction(self) -> RedactionProfile:
        """A workspace's redaction profile."""
        from cairn.workspace.change import RedactionProfile

        return RedactionProfile(self.platform)

    @part
    def log_call(self) -> LogCall:
        """Keeping what a request to the API did, beside the calls of tools."""
        from cairn.adapters.postgres.agents.tool_calls import KeepCall
        from cairn.investigations.tool_calls import LogCall

        return LogCall(platform=self.platform, keep=KeepCall(self.opened))

    # Chat

    @part
    def chat_turns(self) -> Turns:
        """Turns of chats."""
        from cairn.chat.turns import Turns

        return Turns(self.platform, actions=self.chat_actions, record=self.record_lines)

    @part
    def chat_actions(self) -> Actions:
        """What waits for the person a chat is with."""
        from cairn.chat.actions import Actions

        return Actions(platform=self.platform)

    @part
    def widgets(self) -> Widgets:
        """The chat widget as pages ask it: its sessions, and what they may say."""
        from cairn.adapters.http.issuer_keys import PublishedIssuerKeys
        from cairn.adapters.http.turnstile import Turnstile
        from cairn.adapters.postgres.agents.widget import WorkspaceOfWidget
        from cairn.chat.widget_sessions import Widgets

        local = self.settings.stage == "local"
        keys = partial(PublishedIssuerKeys, allow_private=local)
        return Widgets(
            platform=self.platform,
            workspace_of=WorkspaceOfWidget(self.opened),
            elsewhere=Turnstile(),
            issuer_keys=lru_cache(maxsize=256)(keys),
            metrics=self.investigation_parts.metrics,
        )

    @part
    def public_tools(self) -> PublicTools:
        """What customers' turns may do."""
        from cairn.chat.public_tools import PublicTools

        return PublicTools(recall=lazy(lambda: self.recalled), hand_offs=self.hand_offs)

    @part
    def hand_offs(self) -> HandOffs:
        """Chats that go to people."""
        from cairn.chat.hand_offs import HandOffs

        return HandOffs(
            platform=self.platform,
            intake=self.intake,
            record=self.record_lines,
            transcript=self.browse_chats.transcript,
            metrics=self.investigation_parts.metrics,
        )

    @part
    def record_lines(self) -> RecordLines:
        """Recording what is said to people in chats."""
        from cairn.chat.recording import RecordLines
        from cairn.conversations.record import RecordMessage

        return RecordLines(platform=self.platform, record=RecordMessage(self.platform))

    @part
    def browse_chats(self) -> BrowseChats:
        """Chats that go to people, as they see them."""
        from cairn.chat.hand_off_views import BrowseChats

        return BrowseChats(platform=self.platform, redact=self.investigation_parts.redacted)

    @part
    def keep_widget(self) -> KeepWidget:
        """Setting the chat widget."""
        from cairn.chat.widget_settings import KeepWidget

        return KeepWidget(platform=self.platform)

    @part
    def checkpoints(self) -> Checkpoints:
        """States that programs of agents go on from."""
        from cairn.checkpoints.keep import Checkpoints

        return Checkpoints(
            self.platform,
            lambda principal: self.workspace_settings(principal).settings.checkpoints,
        )

    @part
    def answer_turn(self) -> AnswerTurn:
        """Answering a turn, by a model or by rules."""
        from cairn.chat.answer import AnswerTurn
        from cairn.chat.titles import Titles
        from cairn.conversations.record import RecordMessage
        from cairn.inbound.gateway import InboundGateway

        return AnswerTurn(
            platform=self.platform,
            turns=self.chat_turns,
            actions=self.chat_actions,
            screen=InboundGateway(
                platform=self.platform,
                models=self.gateway,
                redact=self.investigation_parts.redacted,
            ),
            record=RecordMessage(self.platform),
            models=self.gateway,
            titles=Titles(models=self.gateway),
            metrics=self.investigation_parts.metrics,
            snapshot=lazy(lambda: self.knowledge.text_for),
            briefing=lazy(lambda: self.compact_chat.briefing),
            compact=lazy(lambda: self.compact_chat),
        )

    # Messaging channels

    @part
    def messaging_channels(self) -> MessagingChannels:
        """Channels that people chat, decide and answer in."""
        from cairn.adapters.http.messengers.opening import OpenMessenger
        from cairn.channels.keep import Channels

        allow = self.settings.webhooks == "private"
        return Channels(platform=self.platform, open_channel=OpenMessenger(allow_private=allow))

    @part
    def messenger_forms(self) -> Mapping[str, DeskForm]:
        """What a channel of each kind is made of."""
        from cairn.adapters.http.messengers.opening import MESSENGERS
        from cairn.adapters.http.opening import forms

        return forms(MESSENGERS)

    @part
    def channel_ties(self) -> ChannelTies:
        """Who of a channel is who here."""
        from cairn.channels.ties import ChannelTies

        return ChannelTies(platform=self.platform)

    @part
    def receive_channel(self) -> ReceiveChannel:
        """Taking in what a channel delivers."""
        from cairn.adapters.postgres.agents.messaging import WorkspaceOfChannel
        from cairn.channels.receiving import ReceiveChannel

        return ReceiveChannel(
            platform=self.platform,
            workspace_of=WorkspaceOfChannel(self.opened),
            channels=self.messaging_channels,
        )

    @part
    def work_channel(self) -> WorkChannel:
        """Working at what channels delivered, and telling them what moved."""
        from cairn.channels.conversing import Converse
        from cairn.channels.operating import Operate
        from cairn.channels.posting import TellChannels
        from cairn.channels.sessions import ThreadSessions
        from cairn.channels.working import WorkChannel
        from cairn.conversations.record import RecordMessage

        converse = Converse(
            platform=self.platform,
            sessions=ThreadSessions(
                platform=self.platform, metrics=self.investigation_parts.metrics
            ),
            turns=self.chat_turns,
            answer=self.answer_turn,
            tools=self.public_tools,
            hand_offs=self.hand_offs,
            record=RecordMessage(self.platform),
        )
        operate = Operate(
            platform=self.platform,
            ties=self.channel_ties,
            approvals=self.approvals,
            hand_offs=self.hand_offs,
        )
        tell = TellChannels(
            platform=self.platform,
            channels=self.messaging_channels,
            approvals=self.approvals,
            hand_offs=self.hand_offs,
            chats=self.browse_chats,
            console_url=self.settings.console_url,
        )
        return WorkChannel(
            platform=self.platform,
            channels=self.messaging_channels,
            converse=converse,
            operate=operate,
            tell=tell,
        )

    # Discovery

    @part
    def discovery(self) -> Discovery:
        """Looking for who fits."""
        from cairn.bootstrap.matching import discovery_of

        return discovery_of(self.platform, self.embedder, self.gateway)

    @part
    def opportunities(self) -> Opportunities:
        """What members do with the meetings that were found."""
        from cairn.bootstrap.matching import opportunities_of

        return opportunities_of(self.platform, self.discovery, self.gateway)

    @part
    def feeds(self) -> Feeds:
        """Whom members should meet."""
        from cairn.bootstrap.feeds import feeds_of

        return feeds_of(self.platform, self.opportunities, self.negotiations, self.gateway)

    @part
    def maintain_feeds(self) -> MaintainFeeds:
        """Looking after feeds."""
        from cairn.discovery.feed.maintenance import MaintainFeeds

        return MaintainFeeds(platform=self.platform, introduce=self.opportunities.introduce)

    # Workflows

    @part
    def intents(self) -> Intents:
        """What members seek and offer."""
        from cairn.bootstrap.intents import intents_of

        return intents_of(self.platform, self.embedder, self.gateway, self.indexer)

    @part
    def workflows(self) -> Workflows:
        """What workflows are made of."""
        from cairn.bootstrap.workflows import workflows_of

        return workflows_of(self.investigation_parts)

    @part
    def workflow_runs(self) -> Runs:
        """Runs of workflows; their steps run elsewhere."""
        from cairn.workflows.runs import Runs

        return Runs(platform=self.platform)

    # Discovery

    @part
    def negotiations(self) -> Negotiations:
        """What members' agents say to each other."""
        from cairn.bootstrap.negotiations import negotiations

        return negotiations(self.platform, self.gateway)

    # People and connectors

    @part
    def escalations(self) -> Escalations:
        """Calls of people."""
        from cairn.investigations.people.bundle import Escalations

        return Escalations(journal=self.investigation_parts.journal, browse=self.investigations)

    @part
    def channels(self) -> Channels:
        """Where people are called."""
        from cairn.adapters.http.webhooks import sender_for
        from cairn.investigations.people.delivering import Channels

        check = sender_for(self.settings.webhooks).check
        return Channels(journal=self.investigation_parts.journal, check=check)

    @part
    def opinions(self) -> Opinions:
        """Ratings and disputes."""
        from cairn.investigations.people.learning import Opinions, StageCandidates

        journal = self.investigation_parts.journal
        return Opinions(journal=journal, stage=StageCandidates(journal=journal))

    @part
    def candidates(self) -> Candidates:
        """The review queue."""
        from cairn.investigations.people.candidates import Candidates

        parts = self.investigation_parts
        return Candidates(
            journal=parts.journal, desk=parts.desk, ingest=lazy(lambda: self.ingest_document)
        )

    @part
    def remember_step(self) -> RememberStep:
        """Turning a line of a timeline into a node of the graph."""
        from cairn.investigations.people.proposing import RememberStep

        return RememberStep(
            browse=self.investigations,
            desk=self.investigation_parts.desk,
            graph=self.memory_graph.bound_to,
            redact=self.investigation_parts.redacted,
            clock=utc_now,
        )

    @part
    def proposals(self) -> Proposals:
        """Proposed nodes, and decisions on them."""
        from cairn.investigations.people.proposing import Proposals

        return Proposals(graph=self.memory_graph.bound_to, clock=utc_now)

    @part
    def connectors(self) -> Connectors:
        """The registry of connectors."""
        from cairn.bootstrap.connectors import connector_host, connector_registry
        from cairn.bootstrap.sign_ins import sign_ins

        host = connector_host(self.settings, self.opened, self.platform, handshake_seconds=12.0)
        return connector_registry(
            self.settings,
            host,
            self.platform,
            mended=self.requeue.mended,
            signing_in=sign_ins(self.settings.webhooks, self.opened, self.platform),
        )

    # What these share with the other use cases

    @part
    def sources(self) -> Sources:
        """Where documents are read of."""
        from cairn.adapters.sources.checking import CheckSource
        from cairn.sources.keep import Sources

        settings = self.settings
        check = CheckSource(
            folders=settings.folders(),
            private_hosts=settings.hosts_inside(),
            buckets=settings.buckets() - {settings.uploads_bucket},
        )
        return Sources(self.platform, check=check)

    @part
    def ingest_document(self) -> AcceptDocument:
        """Storing a document's bytes and starting its ingestion."""
        from cairn.documents.accept import AcceptDocument

        return AcceptDocument(self.platform, objects=self.objects)

    @part
    def memory_graph(self) -> LedgerGraph:
        """The memory graph over the ledger."""
        from cairn.memory_graph.ledger_graph import LedgerGraph
        from cairn.writing.writer import Writer

        return LedgerGraph(writer=Writer(self.platform), forget=lazy(lambda: self.forget))
