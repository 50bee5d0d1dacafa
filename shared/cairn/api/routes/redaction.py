"""The redaction profile of a workspace: which personal values no model sees. An admin's routes."""

from typing import Annotated

from fastapi import Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Services
from cairn.api.documentation import answers, problems
from cairn.api.fields import Body, examples
from cairn.api.routing import router

routes = router("investigations")


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
