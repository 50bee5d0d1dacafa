"""Questions to people, standing grants, and what is hidden from models."""

from functools import partial
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Options, Services, Writer
from cairn.api.documentation import PageOf, answers, problems
from cairn.api.fields import Body, Name, Text, Timestamp, at_most, examples
from cairn.api.pages import Cursor, Limit, newest_answer
from cairn.api.routing import router
from cairn.investigations.ports import ApprovalState, QuestionView
from cairn.investigations.views import ApprovalView, Decided
from cairn.kernel.records import convert
from cairn.safety.grants import MAX_REASON_CHARS, MAX_USES, Grant, GrantView, NewGrant

routes = router("investigations")

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
        route="approvals",
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


GrantId = Annotated[UUID, Path(description="The grant's id.")]


class GrantIn(Body):
    """What agents may do without asking.

    `arguments` has every argument of the calls it covers: in texts `*` stands for letters, digits
    and `._+-`, `**` for anything. null leaves them open, for at most 10 uses. Left out, they are
    those of the approval, exactly.
    """

    model_config = examples(
        {
            "tool": "accounts.unlock_user",
            "arguments": {"user_id": "**", "notify": True},
            "expires_at": "2026-09-01T00:00:00Z",
            "max_uses": 20,
            "reason": "Unlocking is harmless, and they are told.",
        }
    )

    tool: Name
    arguments: dict[str, Any] | None = None
    expires_at: Timestamp
    max_uses: Annotated[int, Field(ge=1, le=MAX_USES)]
    reason: Annotated[Text, at_most(MAX_REASON_CHARS)]
    approval_id: Annotated[UUID, Field(strict=False)] | None = None


@routes.post(
    "/v1/grants",
    summary="Make a standing grant",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "It holds from now on", GrantView),
        **problems("not-found", "conflict", body=True),
    },
)
def make_grant(body: GrantIn, caller: Admin, services: Services) -> Response:
    """Say yes in advance to a tool with such arguments, so many times, until a moment."""
    as_asked = body.approval_id is not None and "arguments" not in body.model_fields_set
    return answer(
        _shown(services.make_grant(caller, convert(body, NewGrant), as_asked=as_asked)), status=201
    )


@routes.get(
    "/v1/grants",
    summary="List standing grants",
    response_model=None,
    responses={**answers(200, "Grants, the newest first", PageOf[GrantView]), **problems()},
)
def list_grants(
    caller: Admin,
    services: Services,
    options: Options,
    limit: Annotated[int, Query(ge=1, le=99, description="How many a page may have.")] = 50,
    cursor: Cursor = None,
) -> Response:
    """List grants, those that are over too, with how often each was used."""

    def newest(*, before: UUID | None, limit: int) -> list[GrantView]:
        return [_shown(item) for item in services.grants.page(caller, before=before, limit=limit)]

    return newest_answer(
        newest, limit=limit, cursor=cursor, key="made_at", route="grants", options=options
    )


@routes.delete(
    "/v1/grants/{grant_id}",
    summary="Revoke a standing grant",
    response_model=None,
    responses={**answers(200, "It counts no more", GrantView), **problems("not-found")},
)
def revoke_grant(grant_id: GrantId, caller: Admin, services: Services) -> Response:
    """Revoke a grant at once; a second time changes nothing."""
    return answer(_shown(services.grants.revoke(caller, grant_id)))


def _shown(grant: Grant) -> GrantView:
    return convert(grant, GrantView)


class RedactionProfile(TypedDict):
    """The redaction profile that holds."""

    profile: str


class ProfileIn(Body):
    """The profile that is to hold."""

    model_config = examples({"profile": "hipaa"})

    profile: Annotated[str, Field(max_length=32)]


@routes.get(
    "/v1/redaction",
    summary="Show the redaction profile",
    response_model=None,
    responses={**answers(200, "What holds now", RedactionProfile), **problems()},
)
def get_redaction(caller: Admin, services: Services) -> Response:
    """Show the workspace's profile; a persona's adds to it."""
    return answer({"profile": services.redaction.show(caller)})


@routes.put(
    "/v1/redaction",
    summary="Choose the redaction profile",
    response_model=None,
    responses={**answers(200, "It holds from now on", RedactionProfile), **problems(body=True)},
)
def choose_redaction(body: ProfileIn, caller: Admin, services: Services) -> Response:
    """Choose the workspace's profile. Open questions to people are void: the rules have changed."""
    return answer({"profile": services.redaction.choose(caller, body.profile)})
