"""What is known of a client."""

from typing import Annotated

from fastapi import Query, Response

from cairn.api.answers import answer
from cairn.api.dependencies import ClientGiven, ClientWriter, Services
from cairn.api.documentation import answers, problems
from cairn.api.routing import router
from cairn.profiles.derive import Profile
from cairn.profiles.read import About

routes = router("memories")

_MEMORY = "019a8f0e-3b5c-7c11-9d2e-6f4a1b2c3d4e"
_STATED = {
    "id": _MEMORY,
    "confidence": 0.9,
    "occurred_at": "2026-03-04T06:00:12.000000Z",
    "evidence": ["019a8f0e-3b5c-7c11-9d2e-000000000001"],
}
_EXAMPLE = {
    "client_id": "ada",
    "facts": [{**_STATED, "text": "Ada: I live in Porto."}],
    "preferences": [{**_STATED, "text": "Ada: I prefer PostgreSQL to Redis."}],
    "skills": [
        {**_STATED, "text": "Ada: I speak German.", "name": "German", "level": "has"},
    ],
    "interests": [
        {"name": "PostgreSQL", "type": "technology", "score": 0.98, "evidence": [_MEMORY]}
    ],
    "patterns": [
        {
            "type": "tool.execute",
            "tool_name": "book_table",
            "text": None,
            "times": 4,
            "sessions": 3,
            "first_at": "2026-02-04T06:00:12.000000Z",
            "last_at": "2026-03-04T06:00:12.000000Z",
            "strength": 0.8,
            "evidence": ["019a8f0e-3b5c-7c11-9d2e-000000000002"],
        }
    ],
    "truncated": False,
}


@routes.get(
    "/v1/profile",
    summary="Show what is known of a client",
    response_model=None,
    responses={**answers(200, "The profile, with its evidence", Profile, _EXAMPLE), **problems()},
)
def get_profile(
    caller: ClientWriter,
    services: Services,
    client_id: ClientGiven,
    about: Annotated[
        About | None,
        Query(description="Parts only: who_is, how_does or personalize. By default all."),
    ] = None,
) -> Response:
    """Derive a client's facts, preferences, skills, interests and patterns from what stands now."""
    return answer(services.profile(caller, client_id, about=about))
