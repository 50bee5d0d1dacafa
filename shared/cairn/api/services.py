"""What the API needs from below: use-case callables, filled in by the composition root.

Each callable's docstring states what it promises and raises; the records they take and return are
those of the use cases, and their field names are the JSON names. No rules live here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from cairn.api.stream_options import OpenStreams, Pace
from cairn.kernel.access.allowances import NO_LOAD
from cairn.kernel.metrics import Metrics, untold

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from cairn.anchors.anchors import AnchoredVerification
    from cairn.api.approval_services import ApprovalServices, GrantServices, KeepRedaction
    from cairn.api.connector_services import ConnectorServices
    from cairn.api.consolidation_services import ConsolidationServices
    from cairn.api.cost_services import GetCosts
    from cairn.api.fairness import Limits
    from cairn.api.forget_services import ForgetServices
    from cairn.api.investigation_services import InvestigationServices
    from cairn.api.memory_graph_services import MemoryGraphServices
    from cairn.api.node_services import EntityServices, NodeServices
    from cairn.api.people_services import PeopleServices
    from cairn.api.rebuild_services import RebuildServices
    from cairn.api.ticket_services import TicketServices
    from cairn.api.walk_services import GraphServices
    from cairn.conversations.messages import NewMessage
    from cairn.conversations.read import (
        ConversationFilter,
        ConversationMessage,
        ConversationView,
    )
    from cairn.conversations.record import MessageRecorded
    from cairn.conversations.search import ConversationAnswer, ConversationQuery
    from cairn.documents.items import DocumentAccepted, NewDocument, UploadTicket
    from cairn.events.draft import NewEvent, Observed
    from cairn.events.read import EventFilter, EventView
    from cairn.investigations.call_log import ApiCall
    from cairn.kernel.access import Principal
    from cairn.kernel.access.allowances import Load
    from cairn.memories.items import NewMemory, Remembered
    from cairn.operations.backlog import Backlog
    from cairn.operations.stats import Stats
    from cairn.reading.views import (
        Admission,
        DocumentView,
        IngestionView,
        KeyCreated,
        KeyView,
        LedgerEntryView,
        LedgerVerification,
        MemoryFilter,
        MemoryVersion,
        MemoryView,
        NewKey,
        Page,
        Status,
    )
    from cairn.rebuild.orphans import Orphans
    from cairn.recall.answer import Answer
    from cairn.recall.query import SearchRequest
    from cairn.recall.subscriptions import SubscriptionView
    from cairn.reembedding.reindex import MissingVectors, Reindexed
    from cairn.reports.read import Report, ReportFilter, ReportPage
    from cairn.reports.write import NewReport, ReportWritten
    from cairn.taint.taint import NewTaint, Tainted, TaintLifted, TaintReport
    from cairn.tasks.draft import NewTask, TaskStep
    from cairn.tasks.work import TaskChanged
    from cairn.webhooks.webhooks import DeliveryView, NewWebhook, Webhook, WebhookMade
    from cairn.workspace.change import KeepSettings
    from cairn.writing.items import Deleted, IdempotencyKey
    from cairn.writing.taint_views import TaintView


class Remember(Protocol):
    """Write memories in one transaction.

    Outcomes are in order; a memory the domain refuses is an outcome with its error, and the others
    stand. Raises Unavailable (nothing written), Denied, and what `IdempotencyKey` says.
    """

    def __call__(
        self,
        principal: Principal,
        memories: tuple[NewMemory, ...],
        *,
        idempotency: IdempotencyKey | None,
    ) -> Remembered: ...


class ListMemories(Protocol):
    """Return a page of memories, newest ledger position first, those below `after` when given."""

    def __call__(
        self, principal: Principal, where: MemoryFilter, *, limit: int, after: int | None
    ) -> Page[MemoryView]: ...


class GetMemory(Protocol):
    """Return one memory; NotFound when the principal cannot see it."""

    def __call__(self, principal: Principal, memory_id: UUID, /) -> MemoryView: ...


class GetMemoryHistory(Protocol):
    """Return a memory's versions, oldest first; NotFound when the principal cannot see it."""

    def __call__(self, principal: Principal, memory_id: UUID, /) -> tuple[MemoryVersion, ...]: ...


class Delete(Protocol):
    """Delete softly; deleting again returns the first deletion. NotFound when not visible."""

    def __call__(self, principal: Principal, node_id: UUID, /) -> Deleted: ...


class IngestDocument(Protocol):
    """Store a document's bytes and start its ingestion; a repeat of unchanged bytes is cheap.

    Raises ValidationFailed for content that is not what it claims, TooLarge, NotFound for an
    unknown upload, and what `IdempotencyKey` says.
    """

    def __call__(
        self, principal: Principal, document: NewDocument, *, idempotency: IdempotencyKey | None
    ) -> DocumentAccepted: ...


class CreateUpload(Protocol):
    """Return a ticket for a direct upload of exactly `size` bytes; TooLarge above the limit."""

    def __call__(
        self, principal: Principal, *, size: int, media_type: str | None
    ) -> UploadTicket: ...


class GetDocument(Protocol):
    """Return one document with its sections; NotFound when the principal cannot see it."""

    def __call__(self, principal: Principal, document_id: UUID, /) -> DocumentView: ...


class ListDocuments(Protocol):
    """Return a page of documents, newest first, those below ledger position `after`."""

    def __call__(
        self,
        principal: Principal,
        *,
        client_id: str | None,
        source_uri: str | None,
        limit: int,
        after: int | None,
    ) -> Page[DocumentView]: ...


class GetIngestion(Protocol):
    """Return one ingestion; NotFound when the principal cannot see it."""

    def __call__(self, principal: Principal, ingestion_id: UUID, /) -> IngestionView: ...


class Search(Protocol):
    """Recall. A leg that fails is named in `meta.degraded`; Unavailable only when all fail."""

    def __call__(self, principal: Principal, request: SearchRequest, /) -> Answer: ...


class AssembleContext(Protocol):
    """Recall, written as one block of at most `max_tokens`. Raises what searching raises."""

    def __call__(
        self, principal: Principal, request: SearchRequest, *, max_tokens: int
    ) -> Mapping[str, Any]: ...


class ExplainSearch(Protocol):
    """Return why a search's results are where they are; NotFound for somebody else's search."""

    def __call__(self, principal: Principal, search_id: UUID, /) -> Mapping[str, Any]: ...


class ListLedger(Protocol):
    """Return a page of entries by rising position, those above `after` and from `from_position`."""

    def __call__(
        self,
        principal: Principal,
        *,
        type: str | None,
        from_position: int,
        limit: int,
        after: int | None,
    ) -> Page[LedgerEntryView]: ...


class VerifyLedger(Protocol):
    """Recompute the workspace's chain from its beginning."""

    def __call__(self, principal: Principal, /) -> LedgerVerification: ...


class VerifyAnchors(Protocol):
    """Recompute the chain and hold it to the signed heads outside the database."""

    def __call__(self, principal: Principal, /) -> AnchoredVerification: ...


class TaintServices(Protocol):
    """Hold back what is not trusted, and let it out again; `lifecycle.taint.Taints`."""

    def apply(self, principal: Principal, new: NewTaint, *, dry_run: bool = False) -> Tainted: ...
    def lift(self, principal: Principal, taint_id: UUID) -> TaintLifted: ...
    def get(self, principal: Principal, taint_id: UUID) -> TaintReport: ...
    def page(self, principal: Principal, *, limit: int, after: int | None) -> Page[TaintView]: ...


class Admit(Protocol):
    """Return who holds an API key and whether this request of its may run.

    Counts the request, and what it asks of its workspace's allowances. Unauthenticated when the key
    is unknown, expired or revoked.
    """

    def __call__(self, key: str, load: Load = NO_LOAD, /) -> Admission: ...


class CreateKey(Protocol):
    """Make a key in the principal's workspace."""

    def __call__(self, principal: Principal, key: NewKey, /) -> KeyCreated: ...


class ListKeys(Protocol):
    """Return every key of the workspace, newest first, revoked ones too."""

    def __call__(self, principal: Principal, /) -> tuple[KeyView, ...]: ...


class RevokeKey(Protocol):
    """Revoke a key at once; a second time changes nothing. Conflict for the last admin key."""

    def __call__(self, principal: Principal, key_id: UUID, /) -> KeyView: ...


class Claim(Protocol):
    """Exchange the one-time first-run token for the first admin key.

    Unauthenticated when the token is wrong or older than 15 minutes, Conflict when it was used.
    """

    def __call__(self, *, token: str, workspace_name: str) -> KeyCreated: ...


class GetStatus(Protocol):
    """Count what waits in the principal's workspace."""

    def __call__(self, principal: Principal, /) -> Status: ...


class CountMissingVectors(Protocol):
    """Count the nodes without a vector of the present model; Denied unless an admin asks."""

    def __call__(self, principal: Principal, /) -> MissingVectors: ...


class Reindex(Protocol):
    """Queue a part of them, going on after a node; Denied unless an admin asks."""

    def __call__(self, principal: Principal, *, after: UUID | None = None) -> Reindexed: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReindexServices:
    """The use cases behind a change of the embedding model."""

    count: CountMissingVectors
    queue: Reindex


class GetStats(Protocol):
    """Return the numbers of a workspace to an admin; Denied for others."""

    def __call__(self, principal: Principal, /) -> Stats: ...


class FindOrphans(Protocol):
    """Return what lost what it belongs to, by kind, to an admin; Denied for others."""

    def __call__(self, principal: Principal, /) -> Mapping[str, Orphans]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsServices:
    """The use cases that count a workspace."""

    get: GetStats
    orphans: FindOrphans


class CheckReady(Protocol):
    """Return what has waited longest, when the database answers; Unavailable otherwise."""

    def __call__(self) -> Backlog: ...


class ObserveEvents(Protocol):
    """Write events in one transaction, in the order they happened.

    Outcomes are in the caller's order; an event the domain refuses is an outcome with its error,
    and the others stand. Raises Unavailable (nothing written), Denied, and what `IdempotencyKey`
    says.
    """

    def __call__(
        self,
        principal: Principal,
        events: tuple[NewEvent, ...],
        *,
        idempotency: IdempotencyKey | None,
    ) -> Observed: ...


class ListEvents(Protocol):
    """Return a page of events, newest ledger position first, those below `after` when given."""

    def __call__(
        self, principal: Principal, where: EventFilter, *, limit: int, after: int | None
    ) -> Page[EventView]: ...


class GetEvent(Protocol):
    """Return one event; NotFound when the principal cannot see it."""

    def __call__(self, principal: Principal, event_id: UUID, /) -> EventView: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EventServices:
    """The use cases of events."""

    observe: ObserveEvents
    page: ListEvents
    get: GetEvent


class RecordMessage(Protocol):
    """Record one message of a conversation; a web chat's first ones wait for the user's second.

    Raises Denied, ValidationFailed or TooLarge naming the field, Conflict (`too-many-pending`),
    Unavailable (nothing written), and what `IdempotencyKey` says.
    """

    def __call__(
        self, principal: Principal, message: NewMessage, *, idempotency: IdempotencyKey | None
    ) -> MessageRecorded: ...


class BindKey(Protocol):
    """Bind a public key to the one conversation it may see, for good; admins only.

    NotFound for a conversation that is not visible, ValidationFailed for a key that is no public
    one of the workspace, Conflict (`key-bound`) when it is bound to another.
    """

    def __call__(self, principal: Principal, conversation_id: UUID, key_id: UUID, /) -> None: ...


class ListConversations(Protocol):
    """Return a page of conversations, newest first; a public key's own one."""

    def __call__(
        self, principal: Principal, where: ConversationFilter, *, limit: int, after: int | None
    ) -> Page[ConversationView]: ...


class GetConversation(Protocol):
    """Return a conversation and a page of its messages, oldest first; NotFound when hidden."""

    def __call__(
        self, principal: Principal, conversation_id: UUID, *, limit: int, after: int | None
    ) -> tuple[ConversationView, Page[ConversationMessage]]: ...


class SearchConversations(Protocol):
    """Find messages. A public key finds those of the conversation it is bound to.

    Denied (`no-conversation`) for a public key bound to none, NotFound for a conversation that is
    not visible, Unavailable when both legs failed.
    """

    def __call__(self, principal: Principal, asked: ConversationQuery, /) -> ConversationAnswer: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationServices:
    """The use cases of conversations."""

    record: RecordMessage
    bind_key: BindKey
    page: ListConversations
    get: GetConversation
    search: SearchConversations


class WriteReport(Protocol):
    """Write a report; the same title in the same minute returns the one that is there.

    Raises Denied, ValidationFailed or TooLarge naming the field, NotFound for a conversation that
    is not visible, Unavailable (nothing written), and what `IdempotencyKey` says.
    """

    def __call__(
        self, principal: Principal, report: NewReport, *, idempotency: IdempotencyKey | None
    ) -> ReportWritten: ...


class LatestReports(Protocol):
    """Return the newest reports with their bodies, of one keyword when given."""

    def __call__(
        self, principal: Principal, *, keyword: str | None, limit: int
    ) -> tuple[Report, ...]: ...


class ListReports(Protocol):
    """Return a page of the catalogue without bodies, newest first, and the total."""

    def __call__(
        self, principal: Principal, where: ReportFilter, *, limit: int, after: int | None
    ) -> ReportPage: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportServices:
    """The use cases of reports."""

    write: WriteReport
    latest: LatestReports
    page: ListReports


class GetSubscriptions(Protocol):
    """Return an agent's subscription, or everybody's for an admin who names no agent."""

    def __call__(
        self, principal: Principal, agent: str | None, /
    ) -> tuple[SubscriptionView, ...]: ...


class PutSubscription(Protocol):
    """Replace an agent's keywords; Denied for another agent's, ValidationFailed for bad ones."""

    def __call__(
        self, principal: Principal, agent: str | None, keywords: Sequence[str], /
    ) -> SubscriptionView: ...


class ClearSubscription(Protocol):
    """Let an agent subscribe to nothing."""

    def __call__(self, principal: Principal, agent: str | None, /) -> SubscriptionView: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionServices:
    """The use cases of subscriptions."""

    get: GetSubscriptions
    put: PutSubscription
    clear: ClearSubscription


class StartTask(Protocol):
    """Start a task; NotFound for a conversation the principal cannot see."""

    def __call__(
        self, principal: Principal, new: NewTask, *, idempotency: IdempotencyKey | None
    ) -> TaskChanged: ...


class StepTask(Protocol):
    """Take a task's next step, or end it; Conflict when it has ended otherwise already."""

    def __call__(
        self,
        principal: Principal,
        task_id: UUID,
        step: TaskStep,
        *,
        idempotency: IdempotencyKey | None,
    ) -> TaskChanged: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskServices:
    """The use cases of tasks."""

    start: StartTask
    step: StepTask
    end: StepTask


class CreateWebhook(Protocol):
    """Make a webhook; ValidationFailed for an address that may not be posted to."""

    def __call__(self, principal: Principal, new: NewWebhook, /) -> WebhookMade: ...


class ListWebhooks(Protocol):
    """Return every webhook, newest first."""

    def __call__(self, principal: Principal, /) -> Sequence[Webhook]: ...


class RemoveWebhook(Protocol):
    """Remove a webhook with its deliveries; NotFound when there is none."""

    def __call__(self, principal: Principal, webhook_id: UUID, /) -> None: ...


class ListDeliveries(Protocol):
    """Return the newest deliveries of a webhook; NotFound when there is none."""

    def __call__(self, principal: Principal, webhook_id: UUID, /) -> Sequence[DeliveryView]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookServices:
    """The use cases of webhooks."""

    create: CreateWebhook
    all: ListWebhooks
    remove: RemoveWebhook
    deliveries: ListDeliveries


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiServices:
    """Every use case the routes call. One object an app; nothing connects when it is built."""

    admit: Admit
    check_ready: CheckReady
    remember: Remember
    get_memory: GetMemory
    get_memory_history: GetMemoryHistory
    list_memories: ListMemories
    delete_memory: Delete
    ingest_document: IngestDocument
    create_upload: CreateUpload
    get_document: GetDocument
    list_documents: ListDocuments
    delete_document: Delete
    get_ingestion: GetIngestion
    search: Search
    context: AssembleContext
    explain_search: ExplainSearch
    list_ledger: ListLedger
    verify_ledger: VerifyLedger
    verify_anchors: VerifyAnchors
    taints: TaintServices
    create_key: CreateKey
    list_keys: ListKeys
    revoke_key: RevokeKey
    claim: Claim
    get_status: GetStatus
    reindex: ReindexServices
    consolidations: ConsolidationServices
    rebuilds: RebuildServices
    forgetting: ForgetServices
    stats: StatsServices
    events: EventServices
    conversations: ConversationServices
    reports: ReportServices
    subscriptions: SubscriptionServices
    nodes: NodeServices
    entities: EntityServices
    graph: GraphServices
    memory_graph: MemoryGraphServices
    tasks: TaskServices
    webhooks: WebhookServices
    connectors: ConnectorServices
    costs: GetCosts
    investigations: InvestigationServices
    tickets: TicketServices
    approvals: ApprovalServices
    grants: GrantServices
    redaction: KeepRedaction
    settings: KeepSettings
    people: PeopleServices
    log_call: Callable[[Principal, ApiCall], None]
    show_metrics: Callable[[], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiOptions:
    """What a deployment may choose. Sizes are in bytes.

    `cors_origins` empty means CORS is off. `mcp_hosts` are the Host headers that /mcp answers, such
    as `127.0.0.1:*`, against DNS rebinding on a laptop; empty means any. Bodies are at most 4 MiB
    and answers 5 MiB so that both fit a Lambda invocation (6 MB, less base64). `request_threads`
    is how many requests a server works on at once; None leaves it to the framework. `fairness` is
    what a server works on at once of each workspace; None for a function, which serves one.
    `metrics_token` opens `/metrics`; None: there is no such path.
    """

    cors_origins: tuple[str, ...] = ()
    mcp_hosts: tuple[str, ...] = ()
    max_body_bytes: int = 4 * 1024 * 1024
    max_answer_bytes: int = 5 * 1024 * 1024
    request_threads: int | None = None
    fairness: Limits | None = None
    pace: Pace = field(default_factory=Pace)
    open_streams: OpenStreams = field(default_factory=OpenStreams)
    metrics: Metrics = untold
    metrics_token: str | None = field(default=None, repr=False)
