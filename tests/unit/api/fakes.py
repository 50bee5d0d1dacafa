"""Fake use cases for the API, and a client that calls the app in process, without sockets."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import anyio
import httpx
from tests.fakes.stores import InMemoryTransactions
from tests.support.openapi import holds, sample
from tests.support.platform import platform_of
from tests.unit.api.approval_fakes import ApprovalWorld, ProfileWorld
from tests.unit.api.connector_fakes import ConnectorWorld
from tests.unit.api.consolidation_fakes import RunWorld
from tests.unit.api.cost_fakes import CostWorld
from tests.unit.api.forget_fakes import FakeForget, FakeProve, ForgetWorld
from tests.unit.api.graph_fakes import GraphWorld
from tests.unit.api.investigation_fakes import AgentWorld
from tests.unit.api.memory_graph_fakes import MemoryGraphWorld
from tests.unit.api.node_fakes import NodeWorld
from tests.unit.api.numbers_fakes import NumbersWorld
from tests.unit.api.people_fakes import PeopleWorld
from tests.unit.api.rebuild_fakes import RebuildWorld
from tests.unit.api.taint_fakes import TaintWorld
from tests.unit.api.talk_fakes import Talk
from tests.unit.api.ticket_fakes import TicketWorld
from tests.unit.api.vector_fakes import VectorWorld

from cairn.accounts.agents import Agent
from cairn.anchors.anchors import AnchoredVerification, AnchorsFound, FaultFound
from cairn.api.app import create_app
from cairn.api.options import ApiOptions
from cairn.bootstrap.api import ApiServices
from cairn.documents.ports import DocumentAccepted, NewDocument, UploadTicket
from cairn.events.draft import EventOutcome, NewEvent, Observed
from cairn.events.read import EventFilter, EventView
from cairn.investigations.tool_calls import ApiCall
from cairn.kernel.access import ALL_SCOPES, Principal, Role, Scope
from cairn.kernel.access.allowances import NO_LOAD, Load, Refusal
from cairn.kernel.errors import (
    Conflict,
    NotFound,
    TooLarge,
    Unauthenticated,
    Unavailable,
    ValidationFailed,
)
from cairn.ledger.anchors import AnchorFault
from cairn.memories.items import MemoryOutcome, NewMemory, Remembered
from cairn.memories.kinds import MemoryKind
from cairn.operations.sweep import Backlog
from cairn.reading.views import (
    Admission,
    DocumentStatus,
    DocumentView,
    IngestionView,
    KeyCreated,
    KeyView,
    LedgerEntryView,
    LedgerFilter,
    LedgerVerification,
    MemoryFilter,
    MemoryVersion,
    MemoryView,
    NewKey,
    Page,
    RateDecision,
    Status,
)
from cairn.recall.answer import Answer
from cairn.recall.query import SearchRequest
from cairn.workspace.change import KeepSettings
from cairn.writing.items import Deleted, IdempotencyKey, Outcome

NOW = datetime(2026, 3, 15, 10, 0, tzinfo=UTC)
WORKSPACE = UUID(int=1)
SAMPLE_KEY = "cairn_abcd1234.secret"  # in events/api
ADMIN_KEY, AGENT_KEY, PUBLIC_KEY = "cairn_adm.secret", "cairn_agt.secret", "cairn_pub.secret"


def _principal(role: Role, scopes: frozenset[Scope], number: int) -> Principal:
    return Principal(
        workspace_id=WORKSPACE,
        principal_id=UUID(int=number),
        role=role,
        allowed_scopes=scopes,
        key_id=UUID(int=number + 100),
        name=role.value,
    )


PRINCIPALS = {
    ADMIN_KEY: _principal(Role.ADMIN, ALL_SCOPES, 10),
    SAMPLE_KEY: _principal(Role.AGENT, ALL_SCOPES, 13),
    AGENT_KEY: _principal(Role.AGENT, ALL_SCOPES, 11),
    PUBLIC_KEY: _principal(Role.PUBLIC, frozenset({Scope.PUBLIC}), 12),
}


def memory(position: int, text: str = "a memory") -> MemoryView:
    return MemoryView(
        id=UUID(int=position),
        position=position,
        type=MemoryKind.FACT,
        text=text,
        state="active",
        client_id="global",
        scope=Scope.ADMIN,
        recorded_at=NOW,
    )


@dataclass
class World:
    """The state behind the fake use cases; tests set it and look at it."""

    calls_logged: list[tuple[Principal, ApiCall]] = field(default_factory=list)
    memories: list[MemoryView] = field(default_factory=list)
    written: list[NewMemory] = field(default_factory=list)
    documents: list[NewDocument] = field(default_factory=list)
    searches: list[SearchRequest] = field(default_factory=list)
    filters: list[MemoryFilter] = field(default_factory=list)
    observed: list[NewEvent] = field(default_factory=list)
    event_filters: list[EventFilter] = field(default_factory=list)
    talk: Talk = field(default_factory=Talk)
    tainting: TaintWorld = field(default_factory=TaintWorld)
    known: NodeWorld = field(default_factory=lambda: NodeWorld(WORKSPACE))
    graphs: GraphWorld = field(default_factory=lambda: GraphWorld(WORKSPACE))
    vectors: VectorWorld = field(default_factory=VectorWorld)
    forgets: ForgetWorld = field(default_factory=ForgetWorld)
    memory_graph: MemoryGraphWorld = field(default_factory=MemoryGraphWorld)
    runs: RunWorld = field(default_factory=RunWorld)
    numbers: NumbersWorld = field(default_factory=NumbersWorld)
    rebuilding: RebuildWorld = field(default_factory=RebuildWorld)
    spending: CostWorld = field(default_factory=CostWorld)
    connecting: ConnectorWorld = field(default_factory=ConnectorWorld)
    ticketing: TicketWorld = field(default_factory=TicketWorld)
    agents: AgentWorld = field(default_factory=AgentWorld)
    approving: ApprovalWorld = field(default_factory=ApprovalWorld)
    profiles: ProfileWorld = field(default_factory=ProfileWorld)
    peopling: PeopleWorld = field(default_factory=PeopleWorld)
    registered: list[Agent] = field(default_factory=list)
    idempotent: dict[str, tuple[bytes, object]] = field(default_factory=dict)
    in_flight: set[str] = field(default_factory=set)
    results: tuple[Mapping[str, Any], ...] = ()
    outcome: Outcome = Outcome.CREATED
    remaining: int = 600
    loads: list[Load] = field(default_factory=list)
    refusal: Refusal | None = None
    database_up: bool = True
    backlog: Backlog = field(default_factory=Backlog)
    first_bad_position: int | None = 7
    bug: Exception | None = None

    # access

    def admit(self, key: str, load: Load = NO_LOAD, /) -> Admission:
        if key not in PRINCIPALS:
            raise Unauthenticated("This API key is unknown or revoked.", reason="unknown-key")
        self.remaining -= 1
        self.loads.append(load)
        rate = RateDecision(
            allowed=self.remaining >= 0, limit=600, remaining=self.remaining, retry_after=12.3
        )
        return Admission(principal=PRINCIPALS[key], rate=rate, refusal=self.refusal)

    def check_ready(self) -> Backlog:
        if not self.database_up:
            raise Unavailable("The database does not answer.", retry_after=2.0)
        return self.backlog

    # memories

    def remember(
        self,
        principal: Principal,
        memories: tuple[NewMemory, ...],
        *,
        idempotency: IdempotencyKey | None,
    ) -> Remembered:
        if self.bug:
            raise self.bug
        self.check_ready()
        if idempotency and (seen := self._seen(idempotency)):
            return replace(seen, replayed=True)
        done = Remembered(outcomes=tuple(self._write(each) for each in memories))
        if idempotency:
            self.idempotent[idempotency.key] = (idempotency.body_hash, done)
        return done

    def _seen(self, idempotency: IdempotencyKey) -> Any:
        if idempotency.key in self.in_flight:
            raise Conflict("A request with this key is running.", reason="idempotency-in-flight")
        known = self.idempotent.get(idempotency.key)
        if known and known[0] != idempotency.body_hash:
            raise ValidationFailed(
                "This key came with another body.", reason="idempotency-mismatch"
            )
        return known[1] if known else None

    def _write(self, each: NewMemory) -> MemoryOutcome:
        if each.text == "refused by the domain":
            error = TooLarge("text has too many characters.")
            return MemoryOutcome(outcome=Outcome.REJECTED, error=error)
        self.written.append(each)
        number = len(self.written)
        return MemoryOutcome(outcome=self.outcome, id=UUID(int=number), position=number)

    def get_memory(self, principal: Principal, memory_id: UUID) -> MemoryView:
        for each in self.memories:
            if each.id == memory_id:
                return each
        raise NotFound("There is no such memory.")

    def get_memory_history(
        self, principal: Principal, memory_id: UUID
    ) -> tuple[MemoryVersion, ...]:
        found = self.get_memory(principal, memory_id)
        return (MemoryVersion(from_position=found.position, to_position=None, memory=found),)

    def client_required(self, principal: Principal) -> bool:
        return False

    def list_memories(
        self, principal: Principal, where: MemoryFilter, *, limit: int, after: int | None
    ) -> Page[MemoryView]:
        self.filters.append(where)
        newest = sorted(self.memories, key=lambda each: -each.position)
        rest = [each for each in newest if after is None or each.position < after]
        more = rest[limit - 1].position if len(rest) > limit else None
        return Page(items=tuple(rest[:limit]), next_after=more)

    def delete_memory(self, principal: Principal, node_id: UUID) -> Deleted:
        found = self.get_memory(principal, node_id)
        return Deleted(id=found.id, position=99)

    # events

    def observe(
        self,
        principal: Principal,
        events: tuple[NewEvent, ...],
        *,
        idempotency: IdempotencyKey | None,
    ) -> Observed:
        outcomes: list[EventOutcome] = []
        for each in events:
            self.observed.append(each)
            number = len(self.observed)
            outcomes.append(
                EventOutcome(outcome=self.outcome, id=UUID(int=number), position=number)
            )
        return Observed(outcomes=tuple(outcomes))

    def list_events(
        self, principal: Principal, where: EventFilter, *, limit: int, after: int | None
    ) -> Page[EventView]:
        self.event_filters.append(where)
        return Page(items=(self.get_event(principal, UUID(int=5)),), next_after=None)

    def get_event(self, principal: Principal, event_id: UUID) -> EventView:
        if event_id != UUID(int=5):
            raise NotFound("There is no such event.")
        return EventView(
            id=event_id,
            position=5,
            type="tool.execute",
            text="tool execute",
            state="active",
            client_id="global",
            scope=Scope.ADMIN,
            occurred_at=NOW,
            recorded_at=NOW,
            importance=5,
            importance_band="medium",
        )

    @cached_property
    def keep_settings(self) -> KeepSettings:
        transactions = InMemoryTransactions()
        transactions.create_workspace(WORKSPACE)
        return KeepSettings(platform=platform_of(transactions, clock=lambda: NOW), deployment={})

    # documents

    def ingest_document(
        self, principal: Principal, document: NewDocument, *, idempotency: IdempotencyKey | None
    ) -> DocumentAccepted:
        self.documents.append(document)
        return DocumentAccepted(
            document_id=UUID(int=1),
            ingestion_id=UUID(int=2),
            status=DocumentStatus.ACCEPTED,
            position=5,
        )

    def create_upload(
        self, principal: Principal, *, size: int, media_type: str | None, sha256: str | None
    ) -> UploadTicket:
        if size > 50_000_000:
            raise TooLarge("A PDF may have 50 MB.")
        return UploadTicket(
            upload_id=UUID(int=3),
            url="http://bucket/upload",
            headers={"content-type": media_type or "application/octet-stream"},
            expires_at=NOW + timedelta(minutes=15),
            max_bytes=size,
        )

    def get_document(self, principal: Principal, document_id: UUID) -> DocumentView:
        if document_id != UUID(int=1):
            raise NotFound("There is no such document.")
        return DocumentView(
            id=document_id,
            position=5,
            source_uri="file:///a.md",
            title="A",
            media_type="text/markdown",
            client_id="global",
            scope=Scope.ADMIN,
            status=DocumentStatus.READY,
            recorded_at=NOW,
        )

    def list_documents(
        self,
        principal: Principal,
        *,
        client_id: str | None,
        source_uri: str | None,
        limit: int,
        after: int | None,
    ) -> Page[DocumentView]:
        one = self.get_document(principal, UUID(int=1))
        asked = source_uri is None or source_uri == one.source_uri
        return Page(items=(one,) if asked else (), next_after=None)

    def delete_document(self, principal: Principal, node_id: UUID) -> Deleted:
        return Deleted(id=self.get_document(principal, node_id).id, position=99, nodes=12)

    def get_ingestion(self, principal: Principal, ingestion_id: UUID) -> IngestionView:
        return IngestionView(
            id=ingestion_id,
            document_id=UUID(int=1),
            status=DocumentStatus.PARSED,
            started_at=NOW,
        )

    # the rest

    def search(self, principal: Principal, request: SearchRequest) -> Answer:
        self.searches.append(request)
        return Answer(
            results=self.results,
            meta={**sample("SearchMeta"), "nodes_returned": len(self.results)},
        )

    def context(
        self, principal: Principal, request: SearchRequest, *, max_tokens: int
    ) -> dict[str, Any]:
        self.searches.append(request)
        return {
            **sample("ContextAnswer"),
            "context": "<context></context>",
            "max_tokens": max_tokens,
        }

    def explain_search(self, principal: Principal, search_id: UUID) -> dict[str, Any]:
        if search_id != UUID(int=77):
            raise NotFound("There is no such search.", search_id=str(search_id))
        return {**sample("ExplainedSearch"), "search_id": str(search_id)}

    def list_ledger(
        self,
        principal: Principal,
        where: LedgerFilter,
        *,
        limit: int,
        after: int | None,
    ) -> Page[LedgerEntryView]:
        first = max(where.from_position, (after or 0) + 1)
        items = tuple(_entry(each) for each in range(first, min(first + limit, 251)))
        return Page(items=items, next_after=items[-1].position if len(items) == limit else None)

    def verify_ledger(self, principal: Principal) -> LedgerVerification:
        return LedgerVerification(
            workspace_id=WORKSPACE,
            ok=self.first_bad_position is None,
            checked=6,
            first_bad_position=self.first_bad_position,
            reason="hash-mismatch" if self.first_bad_position else None,
            head_position=6,
            head_hash="ab" * 32,
        )

    def verify_anchors(self, principal: Principal) -> AnchoredVerification:
        found = asdict(self.verify_ledger(principal))
        fault = FaultFound(reason=AnchorFault.MISSING, number=2)
        anchors = AnchorsFound(trusted=2, last_position=6, last_verified_at=NOW, faults=(fault,))
        return AnchoredVerification(**{**found, "ok": False, "anchors": anchors})

    def create_key(self, principal: Principal, key: NewKey) -> KeyCreated:
        view = KeyView(
            id=UUID(int=7),
            name=key.name,
            prefix="abc",
            role=key.role,
            scopes=tuple(sorted(key.scopes or ())),
            tools=None if key.tools is None else tuple(sorted(key.tools)),
            created_at=NOW,
        )
        return KeyCreated(key=view, secret="cairn_abc.shown-once")

    def list_keys(self, principal: Principal) -> tuple[KeyView, ...]:
        return (self.create_key(principal, NewKey(name="one", role=Role.AGENT)).key,)

    def revoke_key(self, principal: Principal, key_id: UUID) -> KeyView:
        return replace(self.list_keys(principal)[0], id=key_id, revoked_at=NOW)

    def claim(self, *, token: str, workspace_name: str) -> KeyCreated:
        if token != "right":
            raise Unauthenticated("This token is not valid.", reason="claim-token")
        principal = PRINCIPALS[ADMIN_KEY]
        return self.create_key(principal, NewKey(name=workspace_name, role=Role.ADMIN))

    def show_metrics(self) -> bytes:
        return b"# HELP cairn_ticket_queue_depth cairn_ticket_queue_depth\n"

    def log_call(self, principal: Principal, call: ApiCall) -> None:
        self.calls_logged.append((principal, call))

    def get_status(self, principal: Principal, /) -> Status:
        return Status(
            pending_embeddings=3,
            failed_embeddings=1,
            oldest_pending_at=NOW,
            memories=9,
            documents=2,
            ledger_position=14,
            intents_in_no_network=0,
            failing_discovery=0,
        )

    def services(self) -> ApiServices:
        """Return what the app takes for its use cases; every name is one of `ApiServices`."""
        given = {name: getattr(self, name) for name in OWN} | {
            "browse": self,
            "events": SimpleNamespace(page=self.list_events, get=self.get_event),
            "agents": SimpleNamespace(all=lambda _: self.registered),
            "start_consolidation": self.runs.start,
            "preview_consolidation": self.runs.preview,
            "consolidations": self.runs,
            "start_rebuild": self.rebuilding.start,
            "show_rebuild": self.rebuilding.show,
            "count_missing_vectors": self.vectors.count,
            "reindex": self.vectors.queue,
            "forget": FakeForget(self.forgets),
            "prove": FakeProve(self.forgets),
            "taints": self.tainting,
            "get_stats": self.numbers.get,
            "find_orphans": self.numbers.orphans,
            "investigations": Investigations(self.agents, self.approving),
            "start_investigation": self.agents.start,
            "resume": self.agents,
            "approvals": self.approving,
            "grants": self.approving,
            "make_grant": self.approving.make,
            "redaction": self.profiles,
            "connectors": self.connecting.registry,
            "costs": self.spending.report,
        }
        parts = (self.talk, self.graphs, self.known, self.peopling, self.ticketing)
        for part in parts:
            given |= part.services()
        assert all(hasattr(ApiServices, name) for name in given)
        return cast("ApiServices", SimpleNamespace(**given))


OWN = (
    "admit",
    "check_ready",
    "remember",
    "client_required",
    "delete_memory",
    "ingest_document",
    "create_upload",
    "delete_document",
    "search",
    "context",
    "explain_search",
    "verify_ledger",
    "verify_anchors",
    "create_key",
    "list_keys",
    "revoke_key",
    "claim",
    "observe",
    "keep_settings",
    "memory_graph",
    "show_metrics",
    "log_call",
)


@dataclass
class Investigations:
    """Investigations, with the questions to people."""

    agents: AgentWorld
    approving: ApprovalWorld

    def __getattr__(self, name: str) -> Any:
        return self.approving.questions if name == "approvals" else getattr(self.agents, name)


def _entry(position: int) -> LedgerEntryView:
    return LedgerEntryView(
        position=position,
        id=UUID(int=position),
        type="memory.created",
        actor_kind="agent",
        actor_id="a",
        occurred_at=NOW,
        recorded_at=NOW,
        prev_hash="00" * 32,
        hash="11" * 32,
    )


@dataclass
class Lines:
    """A log that keeps its lines."""

    lines: list[tuple[str, Mapping[str, object]]] = field(default_factory=list)

    def info(self, msg: object, /, *, extra: Mapping[str, object]) -> None:
        self.lines.append((str(msg), extra))

    error = info


@dataclass
class Client:
    """Calls the app as one key would; every call is one request through the whole stack."""

    world: World
    key: str | None = ADMIN_KEY
    options: ApiOptions | None = None
    logged: list[tuple[str, Mapping[str, object]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.app = create_app(
            self.world.services(),
            self.options,
            log=Lines(self.logged),
            ids=lambda: UUID(int=77),
        )

    def request(self, method: str, path: str, **arguments: Any) -> httpx.Response:
        async def call() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://cairn") as client:
                return await client.request(method, path, **arguments)

        headers = dict(arguments.pop("headers", {}))
        if self.key and "authorization" not in headers:
            headers["authorization"] = f"Bearer {self.key}"
        arguments["headers"] = headers
        return holds(anyio.run(call))

    def get(self, path: str, **arguments: Any) -> httpx.Response:
        return self.request("GET", path, **arguments)

    def delete(self, path: str, **arguments: Any) -> httpx.Response:
        return self.request("DELETE", path, **arguments)

    def post(self, path: str, body: object = None, **arguments: Any) -> httpx.Response:
        """Post `body` as JSON; Python's own encoder, so that lone surrogates go out as written."""
        if "content" not in arguments:
            arguments["content"] = json.dumps(body).encode()
        headers = {"content-type": "application/json", **arguments.pop("headers", {})}
        return self.request("POST", path, headers=headers, **arguments)
