"""Searches that were made: who was given what, why, and whether that was of use."""

from functools import partial
from typing import Annotated, Literal
from uuid import UUID

from fastapi import Query, Response
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from cairn.api.answers import answer
from cairn.api.dependencies import Anyone, Options, Services
from cairn.api.documentation import PageOf, answers, problems
from cairn.api.fields import Body
from cairn.api.pages import Cursor, Limit, newest_answer
from cairn.api.recall_answers import ExplainedSearch
from cairn.api.routing import router
from cairn.recall.proactive import Signal
from cairn.recall.searches.searches import Feedback, SearchView
from cairn.recall.walks.picture import walk_picture

routes = router("searches")

Form = Annotated[Literal["json", "svg"], Query(description="svg draws the walked graph.")]


@routes.get(
    "/v1/searches",
    summary="List searches",
    response_model=None,
    responses={**answers(200, "The newest first", PageOf[SearchView]), **problems()},
)
def list_searches(
    caller: Anyone,
    services: Services,
    options: Options,
    node_id: Annotated[
        UUID | None, Query(description="Only those that returned this node: who was given it.")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List one's own searches, an admin every one: who asked, when, how many were returned.

    Neither what was asked nor any text is kept. With `node_id`, `rank` is the node's place.
    """
    return newest_answer(
        partial(services.explain_search.page, caller, node_id=node_id),
        limit=limit,
        cursor=cursor,
        key="asked_at",
        route="searches",
        filters={"node_id": str(node_id) if node_id else None},
        options=options,
    )


@routes.get(
    "/v1/searches/{search_id}",
    summary="Explain a search",
    response_model=None,
    responses={
        **answers(200, "Leg by leg, signal by signal", ExplainedSearch, picture="image/svg+xml"),
        **problems("not-found"),
    },
)
def get_search(
    search_id: UUID, caller: Anyone, services: Services, format: Form = "json"
) -> Response:
    """Return why each result is where it is; one's own searches, and every one for an admin.

    The id is `meta.search_id` of an answer. Texts are shown as far as the key may see them now.
    `svg` draws what the graph leg walked.
    """
    fields = services.explain_search(caller, search_id)
    if format == "svg":
        return Response(walk_picture(fields), media_type="image/svg+xml")
    return answer(fields)


class FeedbackIn(Body):
    """What a reader says of one node."""

    node_id: Annotated[UUID, Field(strict=False)]
    useful: bool
    retrieval_reason: Literal["direct", "proactive"] = "direct"
    proactive_signal: Annotated[Signal, Field(strict=False)] | None = None

    @model_validator(mode="after")
    def signal_of_a_proactive_node(self) -> "FeedbackIn":
        """Refuse a signal of a node that was asked for."""
        if self.proactive_signal is not None and self.retrieval_reason != "proactive":
            raise PydanticCustomError("signal", "proactive_signal is of proactive nodes only")
        return self


@routes.post(
    "/v1/searches/{search_id}/feedback",
    summary="Say whether a result was of use",
    response_model=None,
    responses={**answers(200, "What was kept", Feedback), **problems("not-found", body=True)},
)
def give_feedback(
    search_id: UUID, body: FeedbackIn, caller: Anyone, services: Services
) -> Response:
    """Keep what this key says of a node its search returned; a second time replaces the first.

    `proactive_signal` is what the answer said of a proactive node: a signal of which at least ten
    judgements of the last 30 days say mostly no is muted until they are older.
    """
    return answer(services.give_feedback(caller, feedback_of(body, search_id)))


def feedback_of(body: FeedbackIn, search_id: UUID) -> Feedback:
    """Return the use case's record."""
    return Feedback(
        search_id=search_id,
        node_id=body.node_id,
        useful=body.useful,
        retrieval_reason=body.retrieval_reason,
        signal=body.proactive_signal.value if body.proactive_signal else None,
    )
