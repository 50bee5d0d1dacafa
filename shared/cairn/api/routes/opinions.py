"""What people say of investigations, and what they remember of them. An admin's routes."""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from fastapi import Path, Response
from pydantic import Field

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Services
from cairn.api.documentation import ListOf, answers, problems
from cairn.api.fields import Body, Text, at_most
from cairn.api.routing import router
from cairn.investigations.people.learning import HIGHEST, LOWEST
from cairn.investigations.people.proposing import Remembered
from cairn.investigations.views import OpinionView

routes = router("investigations")

MAX_TEXT_CHARS = 2_000
InvestigationId = Annotated[UUID, Path(description="The investigation's id.")]


class RememberedAs(StrEnum):
    """What a line is remembered as."""

    FACT = "fact"
    OBSERVATION = "observation"
    RESOLUTION = "resolution"


class RatingIn(Body):
    """How well it was done."""

    rating: Annotated[int, Field(ge=LOWEST, le=HIGHEST)]
    comment: Annotated[str, at_most(MAX_TEXT_CHARS)] = ""


class DisputeIn(Body):
    """What was wrong."""

    reason: Annotated[Text, at_most(MAX_TEXT_CHARS)]


class RememberIn(Body):
    """What to remember of a line; without `text` what the line says."""

    label: Annotated[RememberedAs, Field(strict=False)] = RememberedAs.FACT
    text: Annotated[Text, at_most(MAX_TEXT_CHARS)] | None = None


@routes.post(
    "/v1/investigations/{investigation_id}/rating",
    summary="Rate an investigation",
    response_model=None,
    responses={
        **answers(200, "What you said", OpinionView),
        **problems("not-found", "conflict", body=True),
    },
)
def rate_investigation(
    investigation_id: InvestigationId, body: RatingIn, caller: Admin, services: Services
) -> Response:
    """Rate one that ended; 4 and 5 stage what may be learned of it. Your last word counts."""
    said = services.opinions.rate(
        caller, investigation_id, rating=body.rating, comment=body.comment
    )
    return answer(said)


@routes.post(
    "/v1/investigations/{investigation_id}/dispute",
    summary="Dispute how an investigation ended",
    response_model=None,
    responses={
        **answers(200, "What you said", OpinionView),
        **problems("not-found", "conflict", body=True),
    },
)
def dispute_investigation(
    investigation_id: InvestigationId, body: DisputeIn, caller: Admin, services: Services
) -> Response:
    """Say that it did not end well: nothing is learned of it. Your last word counts."""
    return answer(services.opinions.dispute(caller, investigation_id, reason=body.reason))


@routes.get(
    "/v1/investigations/{investigation_id}/opinions",
    summary="List what people said of an investigation",
    response_model=None,
    responses={
        **answers(200, "The last word of each", ListOf[OpinionView]),
        **problems("not-found"),
    },
)
def list_opinions(investigation_id: InvestigationId, caller: Admin, services: Services) -> Response:
    """List ratings and disputes that stand; earlier words are in the ledger."""
    return answer({"items": services.opinions.of(caller, investigation_id)})


@routes.post(
    "/v1/investigations/{investigation_id}/steps/{seq}/remember",
    summary="Remember a step",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "The node that holds it", Remembered),
        **problems("not-found", "conflict", body=True),
    },
)
def remember_step(
    investigation_id: InvestigationId,
    seq: Annotated[int, Path(ge=1, le=2**31 - 1, description="The step's number.")],
    body: RememberIn,
    caller: Admin,
    services: Services,
) -> Response:
    """Make a line of the timeline an active node of the memory graph, tied to its investigation."""
    made = services.remember_step(
        caller, investigation_id, seq, label=body.label.value, text=body.text
    )
    return answer(made, status=201)
