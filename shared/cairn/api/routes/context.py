"""Context: what was found, as one block of text for an agent, within a number of tokens."""

from typing import Annotated

from fastapi import Body as BodyParameter
from fastapi import Response
from pydantic import Field

from cairn.api.answers import answer
from cairn.api.dependencies import Anyone, Services, require_client
from cairn.api.documentation import answers, problems
from cairn.api.recall_answers import ContextAnswer
from cairn.api.routes.search import SearchIn
from cairn.api.routing import router
from cairn.recall.context import LEAST_TOKENS, MAX_TOKENS, MOST_TOKENS

routes = router("context")


class ContextIn(SearchIn):
    """A question, how to answer it, and how long the block may be."""

    max_tokens: Annotated[int, Field(ge=LEAST_TOKENS, le=MOST_TOKENS)] = MAX_TOKENS


@routes.post(
    "/v1/context",
    summary="Recall for a prompt",
    response_model=None,
    responses={
        **answers(200, "A block of text with its sources", ContextAnswer),
        **problems(body=True),
    },
)
def context(
    body: Annotated[
        ContextIn,
        BodyParameter(
            openapi_examples={
                "plain": {"value": {"query": "What runs Acme's website?", "max_tokens": 1000}}
            }
        ),
    ],
    caller: Anyone,
    services: Services,
) -> Response:
    """Search, and write what was found into one block with a citation for each source.

    Stored texts are data: each is quoted in an element of its own, and marked when it reads like
    an attempt to direct a model. Neighbours and related nodes are there as far as they fit.
    """
    require_client(services, caller, body.client_id)
    return answer(services.context(caller, body.record(), max_tokens=body.max_tokens))
