"""Taints: what is not trusted any more goes out of recall with all that was made of it."""

from typing import Annotated
from uuid import UUID

from fastapi import Response
from pydantic import ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from cairn.api import cursors
from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Options, Services
from cairn.api.documentation import PageOf, answers, problems
from cairn.api.fields import Body
from cairn.api.pages import Cursor, Limit, page_answer
from cairn.api.routing import router
from cairn.graph.projection import TaintKind
from cairn.taint.taint import NewTaint, Tainted, TaintLifted, TaintReport
from cairn.writing.taint_views import TaintView

routes = router("operations")
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
    after = cursors.decode(cursor, route="taints", filters={})
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
