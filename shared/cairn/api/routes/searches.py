"""Searches that were made: why each result is where it is."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import Query, Response

from cairn.api.answers import answer
from cairn.api.dependencies import Anyone, Services
from cairn.api.documentation import answers, problems
from cairn.api.recall_answers import ExplainedSearch
from cairn.api.routing import router
from cairn.recall.walks.picture import walk_picture

routes = router("searches")

Form = Annotated[Literal["json", "svg"], Query(description="svg draws the walked graph.")]


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
    told = services.explain_search(caller, search_id)
    if format == "svg":
        return Response(walk_picture(told), media_type="image/svg+xml")
    return answer(told)
