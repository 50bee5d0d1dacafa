"""Standing grants: a yes in advance, narrow, counted, with an end. An admin's routes."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Options, Services
from cairn.api.documentation import PageOf, answers, problems
from cairn.api.fields import Body, Name, Text, Timestamp, at_most, examples
from cairn.api.pages import Cursor, newest_answer
from cairn.api.routing import router
from cairn.safety.grants import MAX_REASON_CHARS, MAX_USES, Grant, NewGrant

routes = router("investigations")

_ROUTE = "grants"
GrantId = Annotated[UUID, Path(description="The grant's id.")]


class GrantView(TypedDict):
    """A standing grant. `arguments` is what calls must look like; null leaves them open."""

    id: UUID
    tool: str
    arguments: dict[str, Any] | None
    expires_at: datetime
    max_uses: int
    uses: int
    reason: str
    made_by: UUID
    made_at: datetime
    revoked_at: datetime | None
    approval_id: UUID | None


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
    new = NewGrant(
        tool=body.tool,
        arguments=body.arguments,
        expires_at=body.expires_at,
        max_uses=body.max_uses,
        reason=body.reason,
        approval_id=body.approval_id,
    )
    as_asked = body.approval_id is not None and "arguments" not in body.model_fields_set
    return answer(_shown(services.make_grant(caller, new, as_asked=as_asked)), status=201)


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

    def newest(*, before: UUID | None, limit: int) -> list[dict[str, Any]]:
        return [_shown(one) for one in services.grants.page(caller, before=before, limit=limit)]

    return newest_answer(
        newest, limit=limit, cursor=cursor, key="made_at", route=_ROUTE, options=options
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


def _shown(grant: Grant) -> dict[str, Any]:
    shown = asdict(grant)
    del shown["data_subjects"]
    return shown
