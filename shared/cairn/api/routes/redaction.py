"""The redaction profile of a workspace: which personal values no model sees. An admin's routes."""

from typing import Annotated, Any

from fastapi import Response
from pydantic import Field

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Services
from cairn.api.documentation import answers, problems
from cairn.api.fields import Body, examples
from cairn.api.routing import router
from cairn.safety.profiles import PROFILES

routes = router("investigations")

_PROFILE: dict[str, Any] = {
    "type": "object",
    "required": ["profile"],
    "properties": {"profile": {"enum": list(PROFILES)}},
}


class ProfileIn(Body):
    """The profile that is to hold."""

    model_config = examples({"profile": "hipaa"})

    profile: Annotated[str, Field(max_length=32)]


@routes.get(
    "/v1/redaction",
    summary="Show the redaction profile",
    response_model=None,
    responses={**answers(200, "What holds now", _PROFILE), **problems()},
)
def get_redaction(caller: Admin, services: Services) -> Response:
    """Show the workspace's profile; a persona's adds to it."""
    return answer({"profile": services.redaction.show(caller)})


@routes.put(
    "/v1/redaction",
    summary="Choose the redaction profile",
    response_model=None,
    responses={**answers(200, "It holds from now on", _PROFILE), **problems(body=True)},
)
def choose_redaction(body: ProfileIn, caller: Admin, services: Services) -> Response:
    """Choose the workspace's profile. Open questions to people are void: the rules have changed."""
    return answer({"profile": services.redaction.choose(caller, body.profile)})
