"""Feedback: whether a node that a search returned was of use."""

from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Response
from pydantic import Field

from cairn.api.answers import answer
from cairn.api.dependencies import Anyone, Services
from cairn.api.documentation import answers, problems
from cairn.api.fields import Body
from cairn.api.routing import router
from cairn.retrieval.feedback import Feedback

routes = router("searches")

_GIVEN: dict[str, Any] = {
    "title": "Feedback",
    "type": "object",
    "properties": {
        "search_id": {"type": "string", "format": "uuid"},
        "node_id": {"type": "string", "format": "uuid"},
        "useful": {"type": "boolean"},
        "retrieval_reason": {"type": "string", "enum": ["direct", "proactive"]},
    },
}


class FeedbackIn(Body):
    """What a reader says of one node."""

    node_id: Annotated[UUID, Field(strict=False)]
    useful: bool
    retrieval_reason: Literal["direct", "proactive"] = "direct"


@routes.post(
    "/v1/searches/{search_id}/feedback",
    summary="Say whether a result was of use",
    response_model=None,
    responses={**answers(200, "What was kept", _GIVEN), **problems("not-found", body=True)},
)
def give_feedback(
    search_id: UUID, body: FeedbackIn, caller: Anyone, services: Services
) -> Response:
    """Keep what this key says of a node its search returned; a second time replaces the first."""
    feedback = Feedback(
        search_id=search_id,
        node_id=body.node_id,
        useful=body.useful,
        retrieval_reason=body.retrieval_reason,
    )
    return answer(services.graph.feedback(caller, feedback))
