"""What the API needs, as a function and behind uvicorn.

Every use case is imported and built when the first request needs it; `later` stands for it until.
"""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING, TypeVar

from cairn.api.app import create_app
from cairn.api.fairness import Limits
from cairn.api.services import ApiOptions, ApiServices
from cairn.bootstrap.api_parts import ApiParts
from cairn.bootstrap.embedded_metrics import metrics
from cairn.bootstrap.lazy import lazy
from cairn.bootstrap.logs import logger
from cairn.bootstrap.parts import embedder
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import CairnError
from cairn.kernel.ids import new_id
from cairn.settings import ApiSettings, ServerSettings, metrics_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from aws_lambda_powertools import Logger
    from fastapi import FastAPI

    from cairn.api import services as api
    from cairn.api.approval_services import ApprovalServices, GrantServices, KeepRedaction
    from cairn.api.connector_services import ConnectorServices
    from cairn.api.consolidation_services import ConsolidationServices
    from cairn.api.cost_services import GetCosts
    from cairn.api.forget_services import ForgetServices
    from cairn.api.investigation_services import InvestigationServices
    from cairn.api.memory_graph_services import MemoryGraphServices
    from cairn.api.people_services import PeopleServices
    from cairn.api.rebuild_services import RebuildServices
    from cairn.api.ticket_services import TicketServices
    from cairn.api.walk_services import GraphServices
    from cairn.bootstrap.prometheus import Exposition
    from cairn.embedding.port import Embedder
    from cairn.investigations.call_log import LogCall
    from cairn.kernel.access import Principal
    from cairn.kernel.metrics import Metrics
    from cairn.reading.views import LedgerVerification
    from cairn.rebuild.missing_keys import VerifyWithKeys
    from cairn.workspace.change import KeepSettings


Found = TypeVar("Found", bound="LedgerVerification")

LOOPBACK = ("127.0.0.1:*", "localhost:*", "[::1]:*")


def api_services(
    settings: ApiSettings, log: Logger, model: Embedder, server: ServerSettings | None = None
) -> ApiServices:
    """Return every use case of the API; nothing connects and no model is read yet."""
    parts = ApiParts(settings, log, model, server)
    return ApiServices(
        admit=lazy(lambda: _admit(parts)),
        check_ready=lazy(lambda: _check_ready(parts)),
        remember=lazy(lambda: parts.remember),
        get_memory=lazy(lambda: parts.browse.get_memory),
        get_memory_history=lazy(lambda: parts.browse.get_memory_history),
        list_memories=lazy(lambda: parts.browse.list_memories),
        delete_memory=lazy(lambda: _delete_memory(parts)),
        ingest_document=lazy(lambda: _accept_document(parts)),
        create_upload=lazy(lambda: _create_upload(parts)),
        get_document=lazy(lambda: parts.browse.get_document),
        list_documents=lazy(lambda: parts.browse.list_documents),
        delete_document=lazy(lambda: _delete_document(parts)),
        get_ingestion=lazy(lambda: parts.browse.get_ingestion),
        search=lazy(lambda: _search(parts)),
        context=lazy(lambda: _context(parts)),
        explain_search=lazy(lambda: _searches(parts)),
        list_ledger=lazy(lambda: parts.browse.list_ledger),
        verify_ledger=lazy(lambda: _with_keys(parts, parts.browse.verify_ledger)),
        verify_anchors=lazy(lambda: _verify_anchors(parts)),
        taints=lazy(lambda: _taints(parts)),
        create_key=lazy(lambda: _create_key(parts)),
        list_keys=lazy(lambda: _list_keys(parts)),
        revoke_key=lazy(lambda: _revoke_key(parts)),
        claim=lazy(lambda: _claim(parts)),
        get_status=lazy(lambda: parts.browse.get_status),
        reindex=lazy(lambda: _reindex(parts)),
        consolidations=lazy(lambda: _consolidations(parts)),
        rebuilds=lazy(lambda: _rebuilds(parts)),
        forgetting=lazy(lambda: _forgetting(parts)),
        stats=lazy(lambda: _stats(parts)),
        events=lazy(lambda: _events(parts)),
        conversations=lazy(lambda: _conversations(parts)),
        reports=lazy(lambda: _reports(parts)),
        subscriptions=lazy(lambda: _subscriptions(parts)),
        nodes=lazy(lambda: parts.graph_writing[0]),
        entities=lazy(lambda: parts.graph_writing[1]),
        graph=lazy(lambda: _walks(parts)),
        memory_graph=lazy(lambda: _memory_graph(parts)),
        tasks=lazy(lambda: _tasks(parts)),
        webhooks=lazy(lambda: _webhooks(parts)),
        connectors=lazy(lambda: _connectors(parts)),
        costs=lazy(lambda: _costs(parts)),
        investigations=lazy(lambda: _investigations(parts)),
        tickets=lazy(lambda: _tickets(parts)),
        approvals=lazy(lambda: _approvals(parts)),
        grants=lazy(lambda: _grants(parts)),
        redaction=lazy(lambda: _redaction(parts)),
        settings=lazy(lambda: _settings(parts)),
        people=lazy(lambda: _people(parts)),
        log_call=lazy(lambda: _log_call(parts)),
        show_metrics=lazy(lambda: _show_metrics(parts)),
    )


def _admit(parts: ApiParts) -> api.Admit:
    from cairn.adapters.postgres.accounts import Admit

    return Admit(parts.opened, utc_now, allowances=parts.settings.allowances())


def _check_ready(parts: ApiParts) -> api.CheckReady:
    from cairn.adapters.postgres.sweeping import OldestRow
    from cairn.operations.backlog import PROMPT, MeasureBacklog

    return MeasureBacklog(oldest=OldestRow(parts.opened, PROMPT), clock=utc_now)


def _delete_memory(parts: ApiParts) -> api.Delete:
    from cairn.memories.delete import DeleteMemory

    return DeleteMemory(
        transactions=parts.transactions, dispatcher=parts.wake, clock=utc_now, new_id=new_id
    )


def _delete_document(parts: ApiParts) -> api.Delete:
    from cairn.memories.delete import DeleteDocument

    return DeleteDocument(transactions=parts.transactions, clock=utc_now, new_id=new_id)


def _accept_document(parts: ApiParts) -> api.IngestDocument:
    from cairn.documents.accept import AcceptDocument

    return AcceptDocument(
        transactions=parts.transactions,
        resolver=parts.remember.resolver,
        cipher=parts.remember.cipher,
        objects=parts.objects,
        dispatcher=parts.wake,
        clock=utc_now,
        new_id=new_id,
    )


def _create_upload(parts: ApiParts) -> api.CreateUpload:
    from cairn.documents.accept import CreateUpload

    return CreateUpload(
        transactions=parts.transactions, objects=parts.objects, clock=utc_now, new_id=new_id
    )


def _search(parts: ApiParts) -> api.Search:
    from cairn.bootstrap.recalling import Search

    return Search(parts.recalled)


def _context(parts: ApiParts) -> api.AssembleContext:
    from cairn.bootstrap.recalling import context

    return context(parts.recalled)


def _searches(parts: ApiParts) -> api.ExplainSearch:
    from cairn.bootstrap.recalling import searches

    return searches(parts.opened, parts.search_runs)


def _with_keys(parts: ApiParts, verify: Callable[[Principal], Found]) -> VerifyWithKeys[Found]:
    from cairn.adapters.postgres.store_transactions import StoreTransactions
    from cairn.rebuild.missing_keys import VerifyWithKeys

    return VerifyWithKeys(
        verify=verify,
        transactions=StoreTransactions(parts.opened),
        keys=parts.remember.resolver.keys,
    )


def _verify_anchors(parts: ApiParts) -> api.VerifyAnchors:
    from cairn.adapters.aws.anchors import S3Anchors
    from cairn.adapters.postgres.store_transactions import StoreTransactions
    from cairn.anchors.anchors import VerifyAnchored
    from cairn.bootstrap.signing import signing_key

    anchored = VerifyAnchored(
        transactions=StoreTransactions(parts.opened),
        store=S3Anchors(parts.settings.anchor_bucket),
        verifier=signing_key(parts.settings),
        clock=utc_now,
    )
    return _with_keys(parts, anchored)


def _taints(parts: ApiParts) -> api.TaintServices:
    from cairn.kernel.clock import monotonic
    from cairn.taint.taint import Taints

    return Taints(
        transactions=parts.transactions,
        keys=parts.remember.resolver.keys,
        cipher=parts.remember.cipher,
        dispatcher=parts.wake,
        clock=utc_now,
        stopwatch=monotonic,
        new_id=new_id,
    )


def _create_key(parts: ApiParts) -> api.CreateKey:
    from cairn.accounts.keys import CreateKey

    return CreateKey(transactions=parts.accounts, clock=utc_now, new_id=new_id)


def _list_keys(parts: ApiParts) -> api.ListKeys:
    from cairn.accounts.keys import ListKeys

    return ListKeys(transactions=parts.accounts)


def _revoke_key(parts: ApiParts) -> api.RevokeKey:
    from cairn.accounts.keys import RevokeKey

    return RevokeKey(transactions=parts.accounts, clock=utc_now, new_id=new_id)


def _claim(parts: ApiParts) -> api.Claim:
    from cairn.adapters.postgres.accounts import RedeemClaim

    return RedeemClaim(parts.opened, utc_now, new_id)


def _reindex(parts: ApiParts) -> api.ReindexServices:
    from cairn.bootstrap.reindexing import reindex_services

    return reindex_services(parts.opened, parts.wake, parts.model.model)


def _stats(parts: ApiParts) -> api.StatsServices:
    from cairn.bootstrap.statistics import stats_services
    from cairn.bootstrap.workspace import deployment_document

    return stats_services(parts.opened, deployment_document(parts.settings))


def _costs(parts: ApiParts) -> GetCosts:
    from cairn.bootstrap.statistics import costs

    return costs(parts.opened)


def _log_call(parts: ApiParts) -> LogCall:
    from cairn.adapters.postgres.agents.tool_calls import KeepCall
    from cairn.investigations.call_log import LogCall

    keys, cipher = parts.remember.resolver.keys, parts.remember.cipher
    return LogCall(
        keep=KeepCall(parts.opened), keys=keys, cipher=cipher, clock=utc_now, new_id=new_id
    )


def _show_metrics(parts: ApiParts) -> Exposition:
    from cairn.adapters.postgres.sweeping import ListWorkspaces
    from cairn.bootstrap.logs import warn
    from cairn.bootstrap.prometheus import Exposition
    from cairn.investigations.gauges import TellGauges

    made = parts.investigating

    def tell(told: Metrics) -> object:
        gauges = TellGauges(
            workspaces=ListWorkspaces(parts.opened),
            transactions=made.transactions,
            metrics=told,
            report=warn(parts.log),
        )
        return gauges()

    return Exposition(metrics_folder() or "", tell)


def _tickets(parts: ApiParts) -> TicketServices:
    from cairn.bootstrap.helpdesk import ticket_services

    return ticket_services(parts)


def _investigations(parts: ApiParts) -> InvestigationServices:
    from cairn.bootstrap.investigation_views import investigation_services

    return investigation_services(parts)


def _approvals(parts: ApiParts) -> ApprovalServices:
    from cairn.bootstrap.investigation_views import approval_services

    return approval_services(parts)


def _grants(parts: ApiParts) -> GrantServices:
    from cairn.bootstrap.investigation_views import grant_services

    return grant_services(parts)


def _redaction(parts: ApiParts) -> KeepRedaction:
    from cairn.bootstrap.investigation_views import redaction_profile

    return redaction_profile(parts)


def _settings(parts: ApiParts) -> KeepSettings:
    from cairn.bootstrap.workspace import deployment_document
    from cairn.workspace.change import KeepSettings

    return KeepSettings(
        transactions=parts.transactions,
        clock=utc_now,
        new_id=new_id,
        deployment=deployment_document(parts.settings),
    )


def _people(parts: ApiParts) -> PeopleServices:
    from cairn.bootstrap.memory_graph import memory_graph
    from cairn.bootstrap.people import people_services

    graph = lazy(lambda: memory_graph(parts.opened, parts.remember, lazy(lambda: parts.forget)))
    return people_services(parts, lazy(lambda: _accept_document(parts)), graph)


def _forgetting(parts: ApiParts) -> ForgetServices:
    from cairn.bootstrap.forgetting import forget_services

    return forget_services(parts.settings, parts.opened, parts.remember.resolver.keys, parts.forget)


def _consolidations(parts: ApiParts) -> ConsolidationServices:
    from cairn.bootstrap.consolidating import consolidation_services

    return consolidation_services(parts.opened, parts.embedder, parts.remember, parts.gateway)


def _rebuilds(parts: ApiParts) -> RebuildServices:
    from cairn.bootstrap.rebuilding import rebuild_services

    return rebuild_services(parts.opened, parts.wake)


def _events(parts: ApiParts) -> api.EventServices:
    from cairn.bootstrap.events import event_services

    return event_services(parts.opened, parts.transactions, parts.remember)


def _conversations(parts: ApiParts) -> api.ConversationServices:
    from cairn.bootstrap.conversations import conversation_services

    return conversation_services(parts.opened, parts.remember, parts.recalled)


def _reports(parts: ApiParts) -> api.ReportServices:
    from cairn.bootstrap.conversations import report_services

    return report_services(parts.opened, parts.remember, parts.log)


def _webhooks(parts: ApiParts) -> api.WebhookServices:
    from cairn.bootstrap.webhooks import webhook_services

    return webhook_services(parts.remember, parts.transactions, parts.settings.webhooks)


def _connectors(parts: ApiParts) -> ConnectorServices:
    from cairn.bootstrap.connectors import connector_host, connector_registry

    shared = parts.transactions, parts.remember.resolver.keys, parts.remember.cipher
    host = connector_host(parts.settings, parts.opened, *shared, handshake_seconds=12.0)
    mended = parts.investigating.helpdesk.requeue.mended
    return connector_registry(parts.settings, host, *shared, mended=mended)


def _tasks(parts: ApiParts) -> api.TaskServices:
    from cairn.bootstrap.conversations import task_services

    return task_services(parts.remember, parts.transactions, parts.log)


def _subscriptions(parts: ApiParts) -> api.SubscriptionServices:
    from cairn.bootstrap.conversations import subscription_services

    return subscription_services(parts.opened, parts.remember)


def _walks(parts: ApiParts) -> GraphServices:
    from cairn.bootstrap.graph import walk_services

    return walk_services(parts.opened, parts.recalled, parts.search_runs)


def _memory_graph(parts: ApiParts) -> MemoryGraphServices:
    from cairn.bootstrap.memory_graph import memory_graph

    return memory_graph(parts.opened, parts.remember, lazy(lambda: parts.forget))


def create_asgi_app(server: ServerSettings | None = None) -> FastAPI:
    """Build the app from the environment, for uvicorn and for the api function alike.

    A `server` lives long: it reads the embedding model beside its first requests.
    """
    settings = ApiSettings.read()
    log = logger("api", settings.log_level)
    model = embedder(settings)
    if server is not None:
        Thread(target=_read, args=(model, log), daemon=True).start()
    services = api_services(settings, log, model, server)
    return create_app(services, _options(settings, server), log=log)


def _options(settings: ApiSettings, server: ServerSettings | None) -> ApiOptions:
    """Return what the deployment chose. A laptop answers MCP under its own names only."""
    local = settings.stage == "local"
    return ApiOptions(
        request_threads=server.request_threads if server else None,
        fairness=_limits(server) if server else None,
        cors_origins=settings.origins(),
        mcp_hosts=LOOPBACK if local else (),
        metrics=metrics(settings.stage),
        metrics_token=_metrics_token(server),
    )


def _limits(server: ServerSettings) -> Limits:
    return Limits(
        reads_at_once=server.reads_at_once,
        writes_at_once=server.writes_at_once,
        longest_wait=server.longest_wait_seconds,
    )


def _metrics_token(server: ServerSettings | None) -> str | None:
    given = server.metrics_token if server else None
    return given.get_secret_value() if given and metrics_folder() else None


def _read(model: Embedder, log: Logger) -> None:
    try:
        model.load()
    except CairnError as error:
        log.error("embedder.not_loaded", extra={"error": error.code, "reason": error.reason})
