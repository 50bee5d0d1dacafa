"""What the API calls, as a function and behind uvicorn: every use case, made when it is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from cairn.bootstrap.api_agents import AgentServices
from cairn.bootstrap.api_people import PeopleServices
from cairn.bootstrap.lazy import part
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Callable

    from cairn.accounts.agents import Agents
    from cairn.accounts.keys import CreateKey, ListKeys, RevokeKey
    from cairn.accounts.signing_in import SignIns
    from cairn.accounts.tokens import AdmitToken
    from cairn.adapters.files.prometheus import Exposition
    from cairn.adapters.postgres.accounts import Admit, RedeemClaim
    from cairn.adapters.postgres.sweeping import ListWorkspaces
    from cairn.anchors.anchors import AnchoredVerification
    from cairn.consolidation.requests import (
        BrowseConsolidations,
        PreviewConsolidation,
        StartConsolidation,
    )
    from cairn.conversations.read import BrowseConversations
    from cairn.conversations.record import BindKey, ChangeConversation, RecordMessage
    from cairn.conversations.search import SearchConversations
    from cairn.discovery.intents.profiles import MemberProfiles
    from cairn.discovery.networks.ties import Ties
    from cairn.documents.pages import Fetch
    from cairn.documents.uploads import CreateUpload
    from cairn.embedding.port import EmbeddingModel
    from cairn.events.observe import Observe
    from cairn.events.read import BrowseEvents
    from cairn.forgetting.prove import Prove
    from cairn.kernel.access import Principal
    from cairn.kernel.metrics import Metrics
    from cairn.llm.costs import GetCosts
    from cairn.memories.delete import DeleteDocument, DeleteMemory
    from cairn.memories.edit import EditMemories
    from cairn.memories.expiry import RefreshMemories
    from cairn.memories.restore import RestoreMemory
    from cairn.nodes.changes import CompileTruth, DeleteNode, GraphWriting, LabelNode, Relate
    from cairn.nodes.entities import CorrectEntities
    from cairn.nodes.views import BrowseNodes
    from cairn.nodes.write import WriteNodes
    from cairn.operations.stats import GetStats
    from cairn.operations.sweep import MeasureBacklog
    from cairn.profiles.read import ReadProfile
    from cairn.reading.views import LedgerVerification
    from cairn.rebuild.missing_keys import FindOrphans, VerifyWithKeys
    from cairn.rebuild.runs import ShowRebuild, StartRebuild
    from cairn.recall.answer import Search
    from cairn.recall.context import ShowContext
    from cairn.recall.searches.searches import GiveFeedback, ReadSearches
    from cairn.recall.subscriptions import Subscriptions
    from cairn.recall.walks.lineage import TraceLineage
    from cairn.recall.walks.subgraph import QuerySubgraph
    from cairn.reembedding.reindex import CountMissingVectors, Reindex
    from cairn.reports.read import BrowseReports
    from cairn.reports.write import WriteReport
    from cairn.sessions.logs import ReadSessionLog
    from cairn.summaries.read import ReadSummaries
    from cairn.taint.taint import Taints
    from cairn.tasks.work import Tasks
    from cairn.webhooks.incoming import Deliveries, IncomingWebhooks
    from cairn.webhooks.webhooks import Webhooks
    from cairn.workspace.change import KeepSettings

Found = TypeVar("Found", bound="LedgerVerification")


class ApiServices(AgentServices, PeopleServices):
    """Every use case the routes and tools call. One object an app; nothing connects when made."""

    # Access and health

    @part
    def ties(self) -> Ties:
        """People who are members."""
        from cairn.discovery.networks.ties import Ties

        return Ties(people=self.people, places=self.places)

    @part
    def admit(self) -> Admit:
        """Who holds a key, and whether its request may run."""
        from cairn.accounts.editions import EDITIONS
        from cairn.adapters.postgres.accounts import Admit

        edition, allowances = EDITIONS[self.settings.edition], self.settings.allowances()
        return Admit(self.opened, utc_now, allowances=allowances, edition=edition)

    @part
    def admit_token(self) -> AdmitToken:
        """Who holds an access token of the deployment's issuer."""
        from cairn.accounts.tokens import AdmitToken, TrustedIssuer
        from cairn.adapters.http.issuer_keys import PublishedIssuerKeys

        issuer = self.settings.oidc_issuer
        keys = PublishedIssuerKeys(issuer, allow_private=self.settings.stage == "local")
        trusted = TrustedIssuer(issuer=issuer, audiences=self.settings.audiences(), keys=keys)
        return AdmitToken(trusted=trusted, admit=self.admit.of_subjects, clock=utc_now)

    @part
    def create_key(self) -> CreateKey:
        """Making a key."""
        from cairn.accounts.keys import CreateKey

        return CreateKey(platform=self.platform)

    @part
    def list_keys(self) -> ListKeys:
        """Every key of a workspace."""
        from cairn.accounts.keys import ListKeys

        return ListKeys(platform=self.platform)

    @part
    def revoke_key(self) -> RevokeKey:
        """Revoking a key."""
        from cairn.accounts.keys import RevokeKey

        return RevokeKey(platform=self.platform)

    @part
    def sign_ins(self) -> SignIns:
        """Keys of clients that sign in."""
        from cairn.accounts.signing_in import SignIns

        return SignIns(transactions=self.platform.transactions, clock=utc_now, new_id=new_id)

    @part
    def agents(self) -> Agents:
        """Registering agents, and what is said of them."""
        from cairn.accounts.agents import Agents

        return Agents(platform=self.platform)

    @part
    def workspaces(self) -> ListWorkspaces:
        """Every workspace."""
        from cairn.adapters.postgres.sweeping import ListWorkspaces

        return ListWorkspaces(self.opened)

    @part
    def fetch(self) -> Fetch:
        """Fetching a page of the web: for `scrape_url`, and for whatever follows links."""
        from cairn.adapters.http.fetching import HttpFetch
        from cairn.settings import ServerSettings

        return HttpFetch(private_hosts=ServerSettings.read().private_hosts())

    @part
    def member_profiles(self) -> MemberProfiles:
        """Members' own profiles and premises; links go through the one fetch."""
        from cairn.bootstrap.member_profiles import profiles_of

        return profiles_of(self.platform, self.gateway, lambda: self.fetch)

    @part
    def claim(self) -> RedeemClaim:
        """Exchanging the first-run token for the first admin key."""
        from cairn.adapters.postgres.accounts import RedeemClaim

        return RedeemClaim(self.opened, utc_now, new_id)

    @part
    def check_ready(self) -> MeasureBacklog:
        """Whether the database answers, and what has waited longest."""
        from cairn.adapters.postgres.sweeping import OldestRow
        from cairn.operations.sweep import PROMPT, MeasureBacklog

        return MeasureBacklog(oldest=OldestRow(self.opened, PROMPT), clock=utc_now)

    # Memories and documents; `remember`, `browse` and `ingest_document` are the parts'

    @part
    def delete_memory(self) -> DeleteMemory:
        """Hiding a memory softly."""
        from cairn.memories.delete import DeleteMemory

        return DeleteMemory(self.platform)

    @part
    def refresh_memories(self) -> RefreshMemories:
        """Letting memories that last for a time last as long again."""
        from cairn.memories.expiry import RefreshMemories

        return RefreshMemories(self.platform)

    @part
    def edit_memories(self) -> EditMemories:
        """Correcting, merging, moving, pinning a memory, and keeping it from recall."""
        from cairn.memories.edit import EditMemories

        return EditMemories(self.platform)

    @part
    def restore_memory(self) -> RestoreMemory:
        """Taking the deletion of a memory back."""
        from cairn.memories.restore import RestoreMemory

        return RestoreMemory(self.platform)

    @part
    def delete_document(self) -> DeleteDocument:
        """Hiding a document softly."""
        from cairn.memories.delete import DeleteDocument

        return DeleteDocument(self.platform)

    @part
    def create_upload(self) -> CreateUpload:
        """Tickets for direct uploads."""
        from cairn.documents.uploads import CreateUpload

        return CreateUpload(
            transactions=self.platform.transactions,
            objects=self.objects,
            clock=utc_now,
            new_id=new_id,
        )

    # Recall and the graph

    @part
    def search(self) -> Search:
        """Recall."""
        from cairn.recall.answer import Search

        return Search(self.recalled)

    def client_required(self, principal: Principal) -> bool:
        """Whether the workspace answers nothing without a client."""
        return self.workspace_settings(principal).settings.recall.client_required

    @part
    def context(self) -> ShowContext:
        """Recall as a block of text."""
        from cairn.bootstrap.recall import context

        return context(self.recalled)

    @part
    def explain_search(self) -> ReadSearches:
        """Why a search's results are where they are."""
        from cairn.bootstrap.recall import searches

        return searches(self.opened, self.search_runs)

    @part
    def subgraph(self) -> QuerySubgraph:
        """What lies around a question or nodes."""
        from cairn.bootstrap.recall import subgraph

        return subgraph(self.opened, self.recalled)

    @part
    def lineage(self) -> TraceLineage:
        """Where a node comes from or what came of it."""
        from cairn.recall.walks.lineage import TraceLineage

        return TraceLineage(
            transactions=self.platform.transactions,
            clock=utc_now,
            stopwatch=monotonic,
            settings=self.recalled.settings,
        )

    @part
    def summaries(self) -> ReadSummaries:
        """Summaries, and what they are made of."""
        from cairn.summaries.read import ReadSummaries

        return ReadSummaries(transactions=self.platform.transactions)

    @part
    def profile(self) -> ReadProfile:
        """What is known of a client."""
        from cairn.profiles.read import ReadProfile

        return ReadProfile(transactions=self.platform.transactions, clock=utc_now)

    @part
    def give_feedback(self) -> GiveFeedback:
        """Whether a node that a search returned was of use."""
        from cairn.adapters.postgres.memory.graph_reader import PostgresFeedback
        from cairn.recall.searches.searches import GiveFeedback

        store = PostgresFeedback(self.opened, self.search_runs.wait_for)
        return GiveFeedback(store=store, clock=utc_now, note=self.recalled.note)

    @part
    def subscriptions(self) -> Subscriptions:
        """What agents find without being tagged for it."""
        from cairn.recall.subscriptions import Subscriptions

        return Subscriptions(self.platform)

    # Nodes and entities

    @part
    def nodes(self) -> BrowseNodes:
        """Nodes and entities, one or a page."""
        from cairn.nodes.views import BrowseNodes

        return BrowseNodes(transactions=self.platform.transactions)

    @part
    def write_nodes(self) -> WriteNodes:
        """Writing nodes with their edges."""
        from cairn.nodes.write import WriteNodes

        return WriteNodes(self.platform)

    @part
    def _graph_writing(self) -> GraphWriting:
        from cairn.nodes.changes import GraphWriting

        return GraphWriting(self.platform)

    @part
    def relate(self) -> Relate:
        """Stating an edge between two nodes."""
        from cairn.nodes.changes import Relate

        return Relate(writing=self._graph_writing)

    @part
    def compile_truth(self) -> CompileTruth:
        """Replacing what is held true of a node."""
        from cairn.nodes.changes import CompileTruth

        return CompileTruth(writing=self._graph_writing)

    @part
    def label_node(self) -> LabelNode:
        """Setting what a node is beside its first label."""
        from cairn.nodes.changes import LabelNode

        return LabelNode(writing=self._graph_writing)

    @part
    def delete_node(self) -> DeleteNode:
        """Hiding a node softly."""
        from cairn.nodes.changes import DeleteNode

        return DeleteNode(writing=self._graph_writing)

    @part
    def entities(self) -> CorrectEntities:
        """Correcting entities: names, merges, splits."""
        from cairn.nodes.entities import CorrectEntities

        return CorrectEntities(writing=self._graph_writing)

    # Events, conversations, reports, tasks

    @part
    def observe(self) -> Observe:
        """Writing events."""
        from cairn.events.observe import Observe

        return Observe(self.platform)

    @part
    def events(self) -> BrowseEvents:
        """Events, one or a page."""
        from cairn.events.read import BrowseEvents

        return BrowseEvents(transactions=self.platform.transactions)

    @part
    def record_message(self) -> RecordMessage:
        """Recording a message of a conversation."""
        from cairn.conversations.record import RecordMessage

        return RecordMessage(self.platform)

    @part
    def bind_key(self) -> BindKey:
        """Binding a public key to its one conversation."""
        from cairn.conversations.record import BindKey

        return BindKey(self.platform)

    @part
    def change_conversation(self) -> ChangeConversation:
        """Saying whether memories are drawn from a conversation."""
        from cairn.conversations.record import ChangeConversation

        return ChangeConversation(self.platform)

    @part
    def conversations(self) -> BrowseConversations:
        """Conversations, one or a page."""
        from cairn.conversations.read import BrowseConversations

        return BrowseConversations(transactions=self.platform.transactions)

    @part
    def search_conversations(self) -> SearchConversations:
        """Finding messages, by the legs of recall."""
        from cairn.adapters.postgres.memory.conversations import PostgresOneConversation
        from cairn.conversations.search import SearchConversations

        legs = self.recalled.legs
        return SearchConversations(
            embedder=legs.embedder,
            vector_leg=legs.vector,
            keyword_leg=legs.keyword,
            one=lambda conversation_id: PostgresOneConversation(self.opened, conversation_id),
            transactions=self.platform.transactions,
            pool=legs.pool,
            clock=utc_now,
            stopwatch=monotonic,
        )

    @part
    def write_report(self) -> WriteReport:
        """Writing a report."""
        from cairn.reports.write import WriteReport

        return WriteReport(self.platform)

    @part
    def reports(self) -> BrowseReports:
        """The newest reports, and the catalogue of them."""
        from cairn.bootstrap.parts import inform
        from cairn.reports.read import BrowseReports

        return BrowseReports(
            transactions=self.platform.transactions,
            stopwatch=monotonic,
            log=inform(self.log),
        )

    @part
    def tasks(self) -> Tasks:
        """Work of several steps."""
        from cairn.tasks.work import Tasks

        return Tasks(self.platform)

    # The ledger, taint, forgetting

    @part
    def verify_ledger(self) -> VerifyWithKeys[LedgerVerification]:
        """Recomputing the workspace's chain from its beginning."""
        return self._with_keys(self.browse.verify_ledger)

    @part
    def verify_anchors(self) -> VerifyWithKeys[AnchoredVerification]:
        """Recomputing the chain and holding it to the signed heads outside the database."""
        from cairn.adapters.aws.anchors import S3Anchors
        from cairn.anchors.anchors import VerifyAnchored
        from cairn.bootstrap.parts import signing_key

        anchored = VerifyAnchored(
            transactions=self.platform.transactions,
            store=S3Anchors(self.settings.anchor_bucket),
            verifier=signing_key(self.settings),
            clock=utc_now,
        )
        return self._with_keys(anchored)

    def _with_keys(self, verify: Callable[[Principal], Found]) -> VerifyWithKeys[Found]:
        from cairn.rebuild.missing_keys import VerifyWithKeys

        return VerifyWithKeys(
            verify=verify,
            transactions=self.platform.transactions,
            keys=self.platform.keys,
        )

    @part
    def taints(self) -> Taints:
        """Holding back what is not trusted, and letting it out again."""
        from cairn.taint.taint import Taints

        return Taints(platform=self.platform)

    @part
    def prove(self) -> Prove:
        """Looking for what was forgotten in every store."""
        from cairn.bootstrap.forgetting import prove

        return prove(self.settings, self.opened, self.platform.keys)

    # Consolidation, rebuilds, reindexing

    @part
    def start_consolidation(self) -> StartConsolidation:
        """Keeping a run and waking its machine."""
        from cairn.consolidation.requests import StartConsolidation

        return StartConsolidation(self.platform)

    @part
    def preview_consolidation(self) -> PreviewConsolidation:
        """Planning a run; no memory is changed."""
        from cairn.bootstrap.models import PREVIEW_ANSWER_SECONDS, propose_plan
        from cairn.consolidation.requests import PreviewConsolidation
        from cairn.consolidation.run import PreviewClient

        propose = propose_plan(
            self.platform, self.embedder, self.gateway, seconds=PREVIEW_ANSWER_SECONDS
        )
        return PreviewConsolidation(
            transactions=self.platform.transactions,
            preview=PreviewClient(propose=propose, stopwatch=monotonic),
            clock=utc_now,
            stopwatch=monotonic,
            new_id=new_id,
        )

    @part
    def consolidations(self) -> BrowseConsolidations:
        """Runs, one or a page."""
        from cairn.consolidation.requests import BrowseConsolidations

        return BrowseConsolidations(transactions=self.platform.transactions)

    @part
    def start_rebuild(self) -> StartRebuild:
        """Keeping a rebuild and waking its machine."""
        from cairn.rebuild.runs import StartRebuild

        return StartRebuild(platform=self.platform)

    @part
    def show_rebuild(self) -> ShowRebuild:
        """One rebuild."""
        from cairn.rebuild.runs import ShowRebuild

        return ShowRebuild(transactions=self.platform.transactions)

    @part
    def count_missing_vectors(self) -> CountMissingVectors:
        """Counting the nodes without a vector of the present model."""
        from cairn.reembedding.reindex import CountMissingVectors

        return CountMissingVectors(
            platform=self.platform, model=self.model.model, check=self._check_model
        )

    @part
    def reindex(self) -> Reindex:
        """Queueing a part of them."""
        from cairn.reembedding.reindex import Reindex

        return Reindex(platform=self.platform, model=self.model.model, check=self._check_model)

    def _check_model(self, model: EmbeddingModel) -> None:
        from cairn.adapters.postgres.embedding_models import CheckRegistered
        from cairn.embedding.models import is_known

        if not is_known(model):
            CheckRegistered(self.opened)(model)

    # The workspace

    @part
    def incoming_webhooks(self) -> IncomingWebhooks:
        """Which services outside write memories."""
        import os

        from cairn.webhooks.incoming import IncomingWebhooks

        return IncomingWebhooks(platform=self.platform, random_bytes=os.urandom)

    @part
    def memory_deliveries(self) -> Deliveries:
        """On whose behalf a signed delivery writes."""
        from cairn.adapters.postgres.webhooks import WorkspaceOfIncomingWebhook
        from cairn.webhooks.incoming import Deliveries

        return Deliveries(
            platform=self.platform, workspace_of=WorkspaceOfIncomingWebhook(self.opened)
        )

    @part
    def webhooks(self) -> Webhooks:
        """Who is told of what happens here."""
        import os

        from cairn.adapters.http.webhooks import sender_for
        from cairn.webhooks.webhooks import Webhooks

        return Webhooks(
            transactions=self.platform.transactions,
            keys=self.platform.keys,
            cipher=self.platform.cipher,
            sender=sender_for(self.settings.webhooks),
            clock=utc_now,
            new_id=new_id,
            random_bytes=os.urandom,
        )

    @part
    def keep_settings(self) -> KeepSettings:
        """What a workspace sets."""
        from cairn.bootstrap.parts import deployment_document
        from cairn.workspace.change import KeepSettings

        return KeepSettings(platform=self.platform, deployment=deployment_document(self.settings))

    @part
    def read_session_log(self) -> ReadSessionLog:
        """What is logged of a session."""
        from cairn.sessions.logs import ReadSessionLog

        return ReadSessionLog(transactions=self.platform.transactions)

    @part
    def get_stats(self) -> GetStats:
        """The numbers of a workspace."""
        from cairn.operations.stats import GetStats

        return GetStats(
            transactions=self.platform.transactions,
            clock=utc_now,
            settings=self.workspace_settings,
        )

    @part
    def find_orphans(self) -> FindOrphans:
        """What lost what it belongs to, by kind."""
        from cairn.rebuild.missing_keys import FindOrphans

        return FindOrphans(transactions=self.platform.transactions)

    @part
    def costs(self) -> GetCosts:
        """What models have cost."""
        from cairn.llm.costs import GetCosts

        return GetCosts(transactions=self.platform.transactions, clock=utc_now)

    @part
    def show_metrics(self) -> Exposition:
        """The metrics in the Prometheus format."""
        from cairn.adapters.files.prometheus import Exposition
        from cairn.bootstrap.parts import warn
        from cairn.investigations.gauges import TellGauges
        from cairn.settings import metrics_folder

        def tell(metrics: Metrics) -> object:
            gauges = TellGauges(
                workspaces=self.workspaces,
                transactions=self.platform.transactions,
                metrics=metrics,
                report=warn(self.log),
            )
            return gauges()

        return Exposition(metrics_folder() or "", tell)
