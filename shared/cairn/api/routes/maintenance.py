"""What an admin has done to a whole workspace: consolidations, rebuilds, reindexing, taints."""

from functools import partial
from typing import Annotated
from uuid import UUID

from anyio import to_thread
from fastapi import Path, Query, Request, Response
from pydantic import ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from cairn.api import pages, streams
from cairn.api.answers import answer, replay_headers
from cairn.api.dependencies import Admin, Idempotency, Options, Services
from cairn.api.documentation import PageOf, answers, problems
from cairn.api.fields import Body, Name
from cairn.api.pages import Cursor, Limit, newest_answer, page_answer
from cairn.api.routing import router
from cairn.api.traces import RunEvents
from cairn.consolidation.requests import Preview
from cairn.consolidation.runs import RunView
from cairn.graph.projection import TaintKind
from cairn.rebuild.runs import RebuildView
from cairn.reembedding.reindex import MissingVectors, Reindexed
from cairn.taint.taint import NewTaint, Tainted, TaintLifted, TaintReport
from cairn.writing.taint_views import TaintView

routes = router("operations")


class RunAccepted(TypedDict):
    """A run that waits to begin; follow it by its id."""

    id: UUID
    state: str


class ConsolidationIn(Body):
    """What is to be consolidated. Without `client_id`, the memories of every client.

    `dry_run` plans only: the answer holds the plan and its cost, and no memory changes.
    """

    client_id: Name | None = None
    dry_run: Annotated[bool, Field(description="Plan, and change nothing.")] = False


@routes.post(
    "/v1/consolidations",
    summary="Consolidate memories",
    status_code=202,
    response_model=None,
    responses={
        **answers(202, "The run; follow it by its id", RunAccepted),
        **answers(200, "What a run would do (`dry_run`)", Preview),
        **problems("not-found", "conflict", "budget-exceeded", body=True),
    },
)
def start_consolidation(
    body: ConsolidationIn, caller: Admin, services: Services, idempotency: Idempotency
) -> Response:
    """Wake the consolidation machine, which also runs every six hours; or plan only.

    A dry run plans for a few seconds; `more` says that memories were left for lack of time.
    """
    if body.dry_run:
        return answer(services.preview_consolidation(caller, client_id=body.client_id))
    run = services.start_consolidation(caller, client_id=body.client_id, idempotency=idempotency)
    return answer(
        {"id": run.id, "state": run.state},
        status=202,
        headers=replay_headers(replayed=run.replayed),
    )


@routes.get(
    "/v1/consolidations",
    summary="List runs of the consolidation",
    response_model=None,
    responses={**answers(200, "Runs, the newest first", PageOf[RunView]), **problems()},
)
def list_consolidations(
    caller: Admin,
    services: Services,
    options: Options,
    limit: Limit = 20,
    cursor: Cursor = None,
) -> Response:
    """List runs, dry ones too, with what they did, what they cost and why they failed."""
    return newest_answer(
        partial(services.consolidations.page, caller),
        limit=limit,
        cursor=cursor,
        key="created_at",
        route="consolidations",
        options=options,
    )


@routes.get(
    "/v1/consolidations/{run_id}",
    summary="Follow one run",
    response_model=None,
    responses={
        **answers(200, "How far it is", RunView, picture=streams.MEDIA_TYPE),
        **problems("not-found", "not-streamable"),
    },
)
async def get_consolidation(
    run_id: Annotated[UUID, Path(description="From the answer to POST /v1/consolidations.")],
    caller: Admin,
    services: Services,
    options: Options,
    request: Request,
) -> Response:
    """Show a run: waiting, running, finished or failed, and its counts so far.

    Asked for `text/event-stream`, a server streams its trace events until it ends.
    """
    find = partial(services.consolidations.show, caller, run_id)
    if not streams.wanted(request):
        return answer(await to_thread.run_sync(find))
    streams.require_stream(request, f"poll GET /v1/consolidations/{run_id}", reason="poll-run")
    options.open_streams.check()
    look = RunEvents(find, await to_thread.run_sync(find))
    watch = streams.Watch(look, streams.readmission(services, request), options.pace)
    return streams.streaming(watch.parts(), options.open_streams)


class RebuildIn(Body):
    """What is wanted: a rebuild, or with `check` a comparison only."""

    check: Annotated[bool, Field(description="Compare, and change nothing.")] = False


@routes.post(
    "/v1/rebuilds",
    summary="Make the projections anew from the ledger",
    status_code=202,
    response_model=None,
    responses={
        **answers(202, "The rebuild; follow it by its id", RebuildView),
        **problems("conflict", body=True),
    },
)
def start_rebuild(body: RebuildIn, caller: Admin, services: Services) -> Response:
    """Replay the ledger beside the rows in use, then replace what differs in one transaction.

    Searches go on all the while. Writes wait only while the rows are put in place; then a write may
    be told to come again (503 `ledger-busy`).
    """
    return answer(services.start_rebuild(caller, check=body.check), status=202)


@routes.get(
    "/v1/rebuilds/{rebuild_id}",
    summary="Follow one rebuild",
    response_model=None,
    responses={**answers(200, "How far it is", RebuildView), **problems("not-found")},
)
def get_rebuild(
    rebuild_id: Annotated[UUID, Path(description="From the answer to POST /v1/rebuilds.")],
    caller: Admin,
    services: Services,
) -> Response:
    """Show a rebuild: running, finished with checksums by table, or failed with a reason."""
    return answer(services.show_rebuild(caller, rebuild_id))


@routes.get(
    "/v1/reindex",
    summary="How many nodes have no vector of the present model",
    response_model=None,
    responses={**answers(200, "Counts", MissingVectors), **problems()},
)
def count_missing_vectors(caller: Admin, services: Services) -> Response:
    """Count the nodes that are found by keyword only, and those of them that wait for a vector."""
    return answer(services.count_missing_vectors(caller))


@routes.post(
    "/v1/reindex",
    summary="Queue nodes that have no vector of the present model",
    status_code=202,
    response_model=None,
    responses={**answers(202, "What was looked at and queued", Reindexed), **problems()},
)
def reindex(
    caller: Admin,
    services: Services,
    after: Annotated[
        UUID | None, Query(description="The `after` of the answer before, to go on there.")
    ] = None,
) -> Response:
    """Queue a part of the workspace; ask again with `after` while there is `more`.

    A node that waits already is not queued again, so the whole may be repeated. Nodes whose words
    an older release indexed are indexed anew.
    """
    return answer(services.reindex(caller, after=after), status=202)


TARGETS = ("agent", "session", "source", "node")


class TaintIn(Body):
    """Exactly one of agent, session, source and node, and why."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"agent": "scout", "reason": "its tool was fed forged tickets"}
        },
    )

    agent: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    session: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    source: Annotated[str, Field(min_length=1, max_length=2_048)] | None = None
    node: Annotated[UUID, Field(strict=False)] | None = None
    reason: Annotated[str, Field(min_length=1, max_length=1_000)]
    causes: bool = False
    dry_run: bool = False

    @model_validator(mode="after")
    def names_one_target(self) -> "TaintIn":
        """Refuse a request that names none or several."""
        if sum(getattr(self, name) is not None for name in TARGETS) != 1:
            raise PydanticCustomError("target", "Name exactly one of agent, session, source, node")
        return self

    def new(self) -> NewTaint:
        """Return it as the use case takes it."""
        [kind] = [name for name in TARGETS if getattr(self, name) is not None]
        return NewTaint(
            kind=TaintKind(kind),
            value=None if kind == "node" else getattr(self, kind),
            node_id=self.node,
            reason=self.reason,
            causes=self.causes,
        )


@routes.post(
    "/v1/taint",
    summary="Hold back an agent, a session, a source or a node, and all that was made of it",
    response_model=None,
    responses={
        **answers(200, "What is out of recall, and who has used it", Tainted),
        **problems("not-found", body=True),
    },
)
def apply_taint(caller: Admin, services: Services, body: TaintIn) -> Response:
    """Quarantine it. Ask again with the same body while `complete` is false.

    New writes that fall under a standing taint are stored in quarantine. `dry_run` changes nothing.
    """
    return answer(services.taints.apply(caller, body.new(), dry_run=body.dry_run))


@routes.get(
    "/v1/taints",
    summary="List taints",
    response_model=None,
    responses={**answers(200, "One page, newest first", PageOf[TaintView]), **problems()},
)
def list_taints(
    caller: Admin,
    services: Services,
    options: Options,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """Read the taints of the workspace, standing and lifted."""
    after = pages.decode(cursor, route="taints", filters={})
    page = services.taints.page(caller, limit=limit, after=after)
    return page_answer(page, route="taints", filters={}, options=options)


@routes.get(
    "/v1/taints/{taint_id}",
    summary="Read a taint",
    response_model=None,
    responses={
        **answers(200, "The taint, and what used tainted nodes", TaintReport),
        **problems("not-found"),
    },
)
def get_taint(caller: Admin, services: Services, taint_id: UUID) -> Response:
    """Return a taint with the newest actions and searches that used what it holds."""
    return answer(services.taints.get(caller, taint_id))


@routes.post(
    "/v1/taints/{taint_id}/lift",
    summary="Lift a taint",
    response_model=None,
    responses={
        **answers(200, "How much is back in recall", TaintLifted),
        **problems("not-found"),
    },
)
def lift_taint(caller: Admin, services: Services, taint_id: UUID) -> Response:
    """Let nodes have the state they had; those that another taint holds stay in quarantine."""
    return answer(services.taints.lift(caller, taint_id))
