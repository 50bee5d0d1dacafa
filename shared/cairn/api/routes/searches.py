"""Searches that were made: why each result is where it is."""

from typing import Any
from uuid import UUID

from fastapi import Response

from cairn.api.answers import answer
from cairn.api.dependencies import Anyone, Services
from cairn.api.documentation import answers, problems
from cairn.api.routing import router

routes = router("searches")

_EXPLAINED: dict[str, Any] = {
    "title": "ExplainedSearch",
    "type": "object",
    "required": ["search_id", "recipe", "results", "replayed"],
    "properties": {
        "search_id": {"type": "string", "format": "uuid"},
        "recipe": {"type": "string"},
        "recipe_used": {
            "type": "object",
            "description": "The recipe as the workspace, the request and the route left it.",
        },
        "replayed": {
            "type": "boolean",
            "description": "Whether doing it again from what was kept gives the same ids.",
        },
        "results": {
            "type": "array",
            "description": "By rank; the contributions of each sum to its score.",
            "items": {"type": "object"},
        },
        "others": {
            "type": "array",
            "description": "The best of what was scored and not returned.",
            "items": {"type": "object"},
        },
        "edges": {"type": "array", "items": {"type": "object"}},
    },
}


@routes.get(
    "/v1/searches/{search_id}",
    summary="Explain a search",
    response_model=None,
    responses={**answers(200, "Leg by leg, signal by signal", _EXPLAINED), **problems("not-found")},
)
def get_search(search_id: UUID, caller: Anyone, services: Services) -> Response:
    """Return why each result is where it is; one's own searches, and every one for an admin.

    The id is `meta.search_id` of an answer. Texts are shown as far as the key may see them now.
    """
    return answer(services.explain_search(caller, search_id))
