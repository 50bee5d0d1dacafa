"""What the retrieve function needs: the recall the API serves, also as a step, and discovery."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.bootstrap.lazy import lazy
from cairn.bootstrap.parts import CONNECTIONS, database, embedder, logger, registered, warn
from cairn.bootstrap.telemetry import tell_spans
from cairn.settings import RetrieveSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from aws_lambda_powertools import Logger

    from cairn.adapters.postgres.database import Database
    from cairn.bootstrap.investigations import InvestigationParts, InvestigationSteps
    from cairn.bootstrap.workflows import WorkflowSteps
    from cairn.discovery.matching.ambient import SweepDiscovery
    from cairn.investigations.ports import StepFunction
    from cairn.recall.answer import Search
    from cairn.recall.query import SearchRequest
    from cairn.recall.recall import Recall


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrieveServices:
    """The retrieve function's use cases."""

    request: Callable[[object], SearchRequest]
    search: Search
    investigation: InvestigationSteps
    workflow: WorkflowSteps
    sweep_discovery: SweepDiscovery
    log: Logger


def retrieve_services() -> RetrieveServices:
    """Build them from the environment; nothing connects and no model is read yet."""
    settings = RetrieveSettings.read()
    opened = database(settings, size=CONNECTIONS)
    log = logger("retrieve", settings.log_level)
    tell_spans("retrieve", settings)
    recall = lazy(lambda: _recall(settings, opened, log))
    return RetrieveServices(
        request=lazy(search_request),
        search=lazy(lambda: _search(recall)),
        investigation=lazy(lambda: _steps(settings, opened, log, recall)),
        workflow=lazy(lambda: _workflow(settings, opened, log, recall)),
        sweep_discovery=lazy(lambda: _sweep_discovery(settings, opened, log)),
        log=log,
    )


def search_request() -> Callable[[object], SearchRequest]:
    """Return what checks the document of a search; a step of an investigation has none."""
    from pydantic import TypeAdapter

    from cairn.recall.query import SearchRequest

    return TypeAdapter(SearchRequest).validate_python


def _recall(settings: RetrieveSettings, opened: Database, log: Logger) -> Recall:
    from functools import partial

    from cairn.adapters.aws.metrics import measured
    from cairn.adapters.aws.search_runs import QueuedSearchRuns
    from cairn.bootstrap.models import over
    from cairn.bootstrap.parts import deployment_document
    from cairn.bootstrap.recall import asking_parts, recall, recorder
    from cairn.bootstrap.search_index import keyword_leg

    queue = QueuedSearchRuns(settings.embed_queue_url)
    return recall(
        opened,
        registered(embedder(settings), opened),
        log,
        keyword_leg(settings, opened),
        parts=asking_parts(
            settings, partial(over, settings=settings, opened=opened, report=warn(log))
        ),
        measure=partial(measured, "retrieve", settings.stage),
        runs=recorder(opened, queue, warn(log), outlives_answers=False),
        deployment=deployment_document(settings),
    )


def _search(recall: Recall) -> Search:
    from cairn.recall.answer import Search

    return Search(recall)


def _steps(
    settings: RetrieveSettings, opened: Database, log: Logger, recall: Recall
) -> InvestigationSteps:
    """Return the steps of investigations: a search that is none needs nothing of them."""
    from cairn.bootstrap.investigations import InvestigationParts, InvestigationSteps

    parts = InvestigationParts(
        settings=settings,
        opened=opened,
        log=log,
        steps={"RETRIEVING": lambda: _retrieve(parts, recall)},
    )
    return InvestigationSteps(parts=parts)


def _workflow(
    settings: RetrieveSettings, opened: Database, log: Logger, recall: Recall
) -> WorkflowSteps:
    from cairn.bootstrap.investigations import InvestigationParts
    from cairn.bootstrap.workflows import WorkflowSteps
    from cairn.workflows.searching import SearchMemory

    parts = InvestigationParts(settings=settings, opened=opened, log=log, steps={})
    search = SearchMemory(platform=parts.platform, recall=recall)
    return WorkflowSteps(parts=parts, steps={"recall": lambda: search})


def _sweep_discovery(settings: RetrieveSettings, opened: Database, log: Logger) -> SweepDiscovery:
    from cairn.adapters.postgres.sweeping import ListWorkspaces
    from cairn.bootstrap.investigations import InvestigationParts
    from cairn.bootstrap.matching import sweep_discovery
    from cairn.bootstrap.models import gateway

    parts = InvestigationParts(settings=settings, opened=opened, log=log, steps={})
    model = registered(embedder(settings), opened)
    models = gateway(settings, opened, report=warn(log))
    return sweep_discovery(ListWorkspaces(opened), parts.platform, model, warn(log), models)


def _retrieve(parts: InvestigationParts, recall: Recall) -> StepFunction:
    from cairn.bootstrap.plan import bounds
    from cairn.investigations.planning.surrounds import KnowledgeRecaller
    from cairn.investigations.steps.retrieve import Retrieve

    return Retrieve(
        recall=KnowledgeRecaller(recall=recall), hiding=parts.hiding, bounds=bounds(parts.opened)
    )
