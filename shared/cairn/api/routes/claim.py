"""The first run on AWS: a one-time token, valid 15 minutes, becomes the first admin key."""

from typing import Annotated

from fastapi import Response
from pydantic import Field

from cairn.api.answers import answer
from cairn.api.dependencies import Services
from cairn.api.documentation import answers, problems
from cairn.api.fields import Body, Name
from cairn.api.routes.keys import KeyWithSecret
from cairn.api.routing import router

routes = router("keys")


class ClaimIn(Body):
    """The token from the deployment's output, and a name for the workspace."""

    token: Annotated[str, Field(min_length=1, max_length=200)]
    workspace_name: Name = "main"


@routes.post(
    "/v1/claim",
    summary="Claim a new deployment",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "The first admin key, with its secret", KeyWithSecret),
        **problems(
            "unauthenticated", "conflict", "rate-limited", "validation-failed",
            body=True, public=True,
        ),
    },
)  # fmt: skip
def claim(body: ClaimIn, services: Services) -> Response:
    """Exchange the one-time token for the first admin key; works once."""
    created = services.claim(token=body.token, workspace_name=body.workspace_name)
    return answer({"key": created.key, "secret": created.secret}, status=201)
