"""What the API needs, as a function and behind uvicorn."""

from __future__ import annotations

from functools import partial
from threading import Thread
from typing import TYPE_CHECKING

from cairn.api.app import create_app
from cairn.api.services import ApiOptions, ApiServices
from cairn.bootstrap.asking import asking_parts
from cairn.bootstrap.dispatching import dispatcher
from cairn.bootstrap.events import event_services
from cairn.bootstrap.graph import walk_services
from cairn.bootstrap.logs import logger, warn
from cairn.bootstrap.metrics import measured
from cairn.bootstrap.nodes import node_services
from cairn.bootstrap.parts import CONNECTIONS, database, embedder, key_store
from cairn.bootstrap.recalling import Search, context, recall, searches
from cairn.bootstrap.reindexing import reindex_services
from cairn.bootstrap.search_index import keyword_leg
from cairn.bootstrap.talking import (
    conversation_services,
    report_services,
    subscription_services,
)
from cairn.clock import utc_now
from cairn.errors import CairnError
from cairn.ids import new_id
from cairn.ingestion.accept_document import AcceptDocument, CreateUpload
from cairn.ingestion.delete import DeleteDocument, DeleteMemory
from cairn.ingestion.remember import Remember
from cairn.ingestion.subjects import SubjectResolver
from cairn.ledger.keys import BodyCipher
from cairn.lifecycle.keys import CreateKey, ListKeys, RevokeKey
from cairn.retrieval.browse import Browse
from cairn.settings import ApiSettings
from cairn.storage.aws.objects import S3Objects
from cairn.storage.postgres.accounts import (
    Admit,
    RedeemClaim,
    account_transactions,
)
from cairn.storage.postgres.store_transactions import StoreTransactions
from cairn.storage.postgres.stores import PostgresStores
from cairn.storage.postgres.views import CheckReady, browse_transactions

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger
    from fastapi import FastAPI

    from cairn.embedding.port import Embedder
    from cairn.ingestion.ports import Dispatcher
    from cairn.retrieval.recall import Recall
    from cairn.storage.postgres.database import Database


LOOPBACK = ("127.0.0.1:*", "localhost:*", "[::1]:*")


def api_services(settings: ApiSettings, log: Logger, model: Embedder) -> ApiServices:
    """Build every use case of the API; nothing connects and no model is read yet."""
    opened = database(settings, size=CONNECTIONS)
    transactions = StoreTransactions(opened, PostgresStores)
    accounts = account_transactions(opened)
    browse = Browse(transactions=browse_transactions(opened))
    resolver = SubjectResolver(transactions=transactions, keys=key_store(settings), new_id=new_id)
    objects = S3Objects(settings.uploads_bucket)
    wake = dispatcher(
        settings.embed_queue_url, settings.ingestion_machine_arn, opened, transactions, warn(log)
    )
    remember = _remember(transactions, resolver, wake)
    recalled = _recall(settings, opened, log, model)
    nodes, entities = node_services(opened, transactions, remember)
    return ApiServices(
        admit=Admit(opened, utc_now),
        check_ready=CheckReady(opened),
        remember=remember,
        get_memory=browse.get_memory,
        get_memory_history=browse.get_memory_history,
        list_memories=browse.list_memories,
        delete_memory=DeleteMemory(
            transactions=transactions, dispatcher=wake, clock=utc_now, new_id=new_id
        ),
        ingest_document=AcceptDocument(
            transactions=transactions,
            resolver=resolver,
            cipher=BodyCipher(),
            objects=objects,
            dispatcher=wake,
            clock=utc_now,
            new_id=new_id,
        ),
        create_upload=CreateUpload(
            transactions=transactions, objects=objects, clock=utc_now, new_id=new_id
        ),
        get_document=browse.get_document,
        list_documents=browse.list_documents,
        delete_document=DeleteDocument(transactions=transactions, clock=utc_now, new_id=new_id),
        get_ingestion=browse.get_ingestion,
        search=Search(recalled),
        context=context(recalled),
        explain_search=searches(opened),
        list_ledger=browse.list_ledger,
        verify_ledger=browse.verify_ledger,
        create_key=CreateKey(transactions=accounts, clock=utc_now, new_id=new_id),
        list_keys=ListKeys(transactions=accounts),
        revoke_key=RevokeKey(transactions=accounts, clock=utc_now, new_id=new_id),
        claim=RedeemClaim(opened, utc_now, new_id),
        get_status=browse.get_status,
        reindex=reindex_services(opened, wake, model.model),
        events=event_services(opened, transactions, remember),
        conversations=conversation_services(opened, remember, recalled),
        reports=report_services(opened, remember, log),
        subscriptions=subscription_services(opened, remember),
        nodes=nodes,
        entities=entities,
        graph=walk_services(opened, recalled),
    )


def _remember(
    transactions: StoreTransactions[PostgresStores], resolver: SubjectResolver, wake: Dispatcher
) -> Remember:
    return Remember(
        transactions=transactions,
        resolver=resolver,
        cipher=BodyCipher(),
        dispatcher=wake,
        clock=utc_now,
        new_id=new_id,
    )


def _recall(settings: ApiSettings, opened: Database, log: Logger, model: Embedder) -> Recall:
    return recall(
        opened,
        model,
        log,
        keyword_leg(settings, opened),
        parts=asking_parts(settings),
        measure=partial(measured, "api", settings.stage),
    )


def create_asgi_app(*, read_model: bool = False) -> FastAPI:
    """Build the app from the environment, for uvicorn and for the api function alike.

    `read_model` reads the embedding model beside the first requests, where processes live long.
    """
    settings = ApiSettings.read()
    log = logger("api", settings.log_level)
    model = embedder(settings)
    if read_model:
        Thread(target=_read, args=(model, log), daemon=True).start()
    return create_app(api_services(settings, log, model), _options(settings), log=log)


def _options(settings: ApiSettings) -> ApiOptions:
    """Return what the deployment chose. A laptop answers MCP under its own names only."""
    local = settings.stage == "local"
    return ApiOptions(cors_origins=settings.origins(), mcp_hosts=LOOPBACK if local else ())


def _read(model: Embedder, log: Logger) -> None:
    try:
        model.load()
    except CairnError as error:
        log.error("embedder.not_loaded", extra={"error": error.code, "reason": error.reason})
