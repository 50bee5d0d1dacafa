"""Intents: what a member seeks and offers, from words; and how each stands."""

from functools import partial
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from cairn.api.answers import answer
from cairn.api.dependencies import ClientGiven, ClientWriter, Idempotency, Options, Services
from cairn.api.documentation import PageOf, answers, problems
from cairn.api.fields import Body, Name, Text, Timestamp, at_most, examples
from cairn.api.pages import Cursor, Limit, newest_answer
from cairn.api.routing import router
from cairn.discovery.intents.intents import IntentChange, Submission
from cairn.discovery.intents.reading import Source
from cairn.discovery.intents.rows import IntentState
from cairn.discovery.intents.statements import Side
from cairn.discovery.intents.verify import MOST_CHARS
from cairn.discovery.intents.views import IntentsSubmitted, IntentView
from cairn.discovery.networks.acting import acting
from cairn.writing.checks import MAX_TEXT_CHARS

routes = router("discovery")

IntentId = Annotated[UUID, Path(description="The intent's id.")]
Id = Annotated[UUID, Field(strict=False)]
SideName = Annotated[Side, Field(strict=False)]


class IntentIn(Body):
    """Words that may say what a member seeks or offers: a text, or a document or conversation."""

    model_config = examples(
        {"text": "I'm looking for a shipwright, and I can teach welding on Thursdays."},
        {"text": "A used lathe, up to one metre", "infer": False, "side": "seeking"},
    )

    text: Annotated[Text, at_most(MAX_TEXT_CHARS)] | None = None
    document_id: Id | None = None
    conversation_id: Id | None = None
    mode: Literal["create", "propose"] = "create"
    infer: bool = True
    side: SideName | None = None
    networks: Annotated[list[Id], Field(max_length=50)] | None = None
    expires_at: Timestamp | None = None
    client_id: Name | None = None


class IntentChangeIn(Body):
    """What changes of an intent; what is left out stays."""

    description: Annotated[Text, at_most(MOST_CHARS)] | None = None
    side: SideName | None = None
    expires_at: Timestamp | None = None
    client_id: Name | None = None


class IntentRefreshIn(Body):
    """Until when an intent lasts anew; left out: 90 days."""

    expires_at: Timestamp | None = None
    client_id: Name | None = None


class IntentAnswerIn(Body):
    """Whether a new intent is a change of the open one that it is near to, or stays by itself."""

    decision: Literal["update", "create"]
    client_id: Name | None = None


class IntentMoveIn(Body):
    """Whose it is; left out: the client that the key is bound to."""

    client_id: Name | None = None


@routes.post(
    "/v1/intents",
    summary="Say what a member seeks or offers",
    response_model=None,
    responses={
        **answers(200, "What the words came to, or would", IntentsSubmitted),
        **problems("not-found", "conflict", body=True),
    },
)
def submit_intents(
    body: IntentIn, caller: ClientWriter, services: Services, idempotency: Idempotency
) -> Response:
    """Infer intents, verify each, and make, change or end what the words say; or only propose."""
    member = acting(caller, body.client_id)
    submission = submission_of(body)
    if body.mode == "propose":
        return answer(services.intents.propose(member, submission))
    return answer(services.intents.submit(member, submission, idempotency=idempotency))


@routes.get(
    "/v1/intents",
    summary="List a member's intents",
    response_model=None,
    responses={**answers(200, "The newest first", PageOf[IntentView]), **problems()},
)
def list_intents(
    caller: ClientWriter,
    services: Services,
    options: Options,
    client_id: ClientGiven,
    state: Annotated[IntentState | None, Query(description="Only those in this state.")] = None,
    as_of: Annotated[Timestamp | None, Query(description="As they were at this moment.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List a member's own intents as they are, or as they were."""
    member = acting(caller, client_id)
    return newest_answer(
        partial(services.intents.page, member, states=(state,) if state else None, as_of=as_of),
        limit=limit,
        cursor=cursor,
        key="changed_at",
        route="intents",
        filters={"state": state, "as_of": as_of, "client_id": member.client_id},
        options=options,
    )


@routes.get(
    "/v1/intents/{intent_id}",
    summary="Show an intent",
    response_model=None,
    responses={**answers(200, "The intent", IntentView), **problems("not-found")},
)
def get_intent(
    intent_id: IntentId, caller: ClientWriter, services: Services, client_id: ClientGiven
) -> Response:
    """Show one of a member's own intents, and how far it was verified."""
    return answer(services.intents.get(acting(caller, client_id), intent_id))


@routes.patch(
    "/v1/intents/{intent_id}",
    summary="Change an intent",
    response_model=None,
    responses={
        **answers(200, "The intent as it is now, or the new one in its place", IntentView),
        **problems("not-found", "conflict", body=True),
    },
)
def update_intent(
    intent_id: IntentId, body: IntentChangeIn, caller: ClientWriter, services: Services
) -> Response:
    """Change an intent in place; of another side or matter it ends and another begins."""
    change = IntentChange(description=body.description, side=body.side, expires_at=body.expires_at)
    views = services.intents.update(acting(caller, body.client_id), intent_id, change)
    return answer(views[0])


@routes.delete(
    "/v1/intents/{intent_id}",
    summary="Delete an intent",
    response_model=None,
    responses={
        **answers(200, "It is archived", IntentView),
        **problems("not-found", "conflict"),
    },
)
def delete_intent(
    intent_id: IntentId, caller: ClientWriter, services: Services, client_id: ClientGiven
) -> Response:
    """Archive an intent: it leaves its networks, and what was found for it and is open expires."""
    return answer(services.intents.remove(acting(caller, client_id), intent_id))


@routes.post(
    "/v1/intents/{intent_id}/pause",
    summary="Pause an intent",
    response_model=None,
    responses={
        **answers(200, "It is kept, and not looked for", IntentView),
        **problems("not-found", "conflict", body=True),
    },
)
def pause_intent(
    intent_id: IntentId, body: IntentMoveIn, caller: ClientWriter, services: Services
) -> Response:
    """Keep an intent without looking for it or showing it."""
    return answer(services.intents.pause(acting(caller, body.client_id), intent_id))


@routes.post(
    "/v1/intents/{intent_id}/resume",
    summary="Resume an intent",
    response_model=None,
    responses={
        **answers(200, "It is looked for again", IntentView),
        **problems("not-found", "conflict", body=True),
    },
)
def resume_intent(
    intent_id: IntentId, body: IntentMoveIn, caller: ClientWriter, services: Services
) -> Response:
    """Look for a paused intent again."""
    return answer(services.intents.resume(acting(caller, body.client_id), intent_id))


@routes.post(
    "/v1/intents/{intent_id}/refresh",
    summary="Let an intent last anew",
    response_model=None,
    responses={
        **answers(200, "It lasts until then", IntentView),
        **problems("not-found", "conflict", body=True),
    },
)
def refresh_intent(
    intent_id: IntentId, body: IntentRefreshIn, caller: ClientWriter, services: Services
) -> Response:
    """Let an intent last 90 days from now, or until a moment; an expired one is open again."""
    member = acting(caller, body.client_id)
    return answer(services.intents.refresh(member, intent_id, body.expires_at))


@routes.post(
    "/v1/intents/{intent_id}/answer",
    summary="Say whether an intent is a change of another",
    response_model=None,
    responses={
        **answers(200, "The intent that stays", IntentView),
        **problems("not-found", "conflict", body=True),
    },
)
def answer_intent(
    intent_id: IntentId, body: IntentAnswerIn, caller: ClientWriter, services: Services
) -> Response:
    """Settle what was unsure: `update` writes it into the open intent, `create` keeps both."""
    member = acting(caller, body.client_id)
    is_change = body.decision == "update"
    return answer(services.intents.settle(member, intent_id, is_change=is_change))


def submission_of(body: IntentIn) -> Submission:
    """Return what a body says for the use case."""
    source = Source(
        text=body.text, document_id=body.document_id, conversation_id=body.conversation_id
    )
    return Submission(
        source=source,
        infer=body.infer,
        side=body.side,
        networks=tuple(body.networks) if body.networks is not None else None,
        expires_at=body.expires_at,
    )
