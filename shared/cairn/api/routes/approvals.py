"""Approvals: what agents ask people before they act, and the answers. Decisions are an admin's."""

from functools import partial
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Options, Services, Writer
from cairn.api.documentation import PageOf, answers, problems
from cairn.api.fields import Body, Text, at_most, examples
from cairn.api.pages import Cursor, Limit, newest_answer
from cairn.api.routing import router
from cairn.investigations.ports import ApprovalState
from cairn.investigations.views import ApprovalView, Decided, QuestionView

routes = router("investigations")

_ROUTE = "approvals"
MAX_REASON_CHARS = 1_000
ApprovalId = Annotated[UUID, Path(description="The approval's id.")]
Reason = Annotated[Text, at_most(MAX_REASON_CHARS)]
Binding = Annotated[
    str,
    Field(pattern=r"^[0-9a-f]{64}$", description="`binding` of the approval: what you were shown."),
]


class ApproveIn(Body):
    """A yes to exactly what has this binding."""

    binding: Binding
    reason: Annotated[str, at_most(MAX_REASON_CHARS)] = ""


class RejectActionIn(Body):
    """A no, and why: the agent is told."""

    reason: Reason


class EditActionIn(Body):
    """A yes to other arguments, which go through the safety rules again."""

    model_config = examples(
        {
            "binding": "5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9",
            "arguments": {"user": "marta", "notify": True},
            "reason": "She asked to be told.",
        }
    )

    binding: Binding
    arguments: Annotated[dict[str, Any], Field(description="All of them, as the tool takes them.")]
    reason: Reason


@routes.get(
    "/v1/approvals",
    summary="List approvals",
    response_model=None,
    responses={**answers(200, "The newest first", PageOf[QuestionView]), **problems()},
)
def list_approvals(
    caller: Writer,
    services: Services,
    options: Options,
    state: Annotated[ApprovalState | None, Query(description="Only those in this state.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List what people were asked: the tool, the state, the times; not with which values."""
    return newest_answer(
        partial(services.investigations.approvals, caller, state=state),
        limit=limit,
        cursor=cursor,
        key="asked_at",
        route=_ROUTE,
        filters={"state": state},
        options=options,
    )


@routes.get(
    "/v1/approvals/{approval_id}",
    summary="Show an approval",
    response_model=None,
    responses={**answers(200, "Everything to decide on", ApprovalView), **problems("not-found")},
)
def get_approval(approval_id: ApprovalId, caller: Admin, services: Services) -> Response:
    """Show tool, arguments, evidence, the rule that asks, rollback and expiry."""
    return answer(services.approvals.get(caller, approval_id))


@routes.post(
    "/v1/approvals/{approval_id}/approve",
    summary="Approve an action",
    response_model=None,
    responses={
        **answers(200, "It goes on", Decided),
        **problems("not-found", "conflict", body=True),
    },
)
def approve_action(
    approval_id: ApprovalId, body: ApproveIn, caller: Admin, services: Services
) -> Response:
    """Say yes to exactly what you were shown; it counts once, until it expires."""
    decided = services.approvals.approve(
        caller, approval_id, binding=body.binding, reason=body.reason
    )
    return answer(decided)


@routes.post(
    "/v1/approvals/{approval_id}/reject",
    summary="Reject an action",
    response_model=None,
    responses={
        **answers(200, "The agent tries another way", Decided),
        **problems("not-found", "conflict", body=True),
    },
)
def reject_action(
    approval_id: ApprovalId, body: RejectActionIn, caller: Admin, services: Services
) -> Response:
    """Say no, and why."""
    return answer(services.approvals.reject(caller, approval_id, reason=body.reason))


@routes.post(
    "/v1/approvals/{approval_id}/edit",
    summary="Approve an action with other arguments",
    response_model=None,
    responses={
        **answers(200, "The changed action is checked again", Decided),
        **problems("not-found", "conflict", body=True),
    },
)
def edit_action(
    approval_id: ApprovalId, body: EditActionIn, caller: Admin, services: Services
) -> Response:
    """Say yes to other arguments: the rules look at them, then they count as approved."""
    decided = services.approvals.edit(
        caller,
        approval_id,
        binding=body.binding,
        arguments=body.arguments,
        reason=body.reason,
    )
    return answer(decided)
