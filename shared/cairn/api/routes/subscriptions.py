"""Subscriptions: the keywords by which an agent finds what is not tagged for it."""

from typing import Annotated

from fastapi import Query, Response
from pydantic import Field

from cairn.api.answers import answer
from cairn.api.dependencies import Services, Writer
from cairn.api.documentation import ListOf, answers, problems
from cairn.api.fields import Body
from cairn.api.routing import router
from cairn.recall.subscriptions import SubscriptionView

routes = router("subscriptions")

_EXAMPLE = {"agent": "concierge", "keywords": ["solar panels", "heat pump"], "position": 17}
Agent = Annotated[
    str | None, Query(description="Whose; an agent's key has its own and need not say.")
]


class SubscriptionIn(Body):
    """An agent's keywords from now on: 1 to 5 of them, 1 to 64 characters each."""

    agent: str | None = None
    keywords: Annotated[list[str], Field(min_length=1, max_length=50)]


@routes.get(
    "/v1/subscriptions",
    summary="What agents subscribe to",
    response_model=None,
    responses={
        **answers(
            200,
            "The agent's subscription, or everybody's for an admin who names no agent",
            ListOf[SubscriptionView],
            {"items": [_EXAMPLE]},
        ),
        **problems(),
    },
)
def get_subscriptions(caller: Writer, services: Services, agent: Agent = None) -> Response:
    """Return what an agent subscribes to; no items when it subscribes to nothing."""
    return answer({"items": services.subscriptions.get(caller, agent)})


@routes.put(
    "/v1/subscriptions",
    summary="Subscribe an agent to keywords",
    response_model=None,
    responses={
        **answers(200, "The subscription", SubscriptionView, _EXAMPLE),
        **problems(body=True),
    },
)
def replace_subscription(body: SubscriptionIn, caller: Writer, services: Services) -> Response:
    """Replace the agent's keywords. Searches follow them where subscriptions are switched on."""
    return answer(services.subscriptions.put(caller, body.agent, body.keywords))


@routes.delete(
    "/v1/subscriptions",
    summary="Let an agent subscribe to nothing",
    response_model=None,
    responses={
        **answers(200, "It subscribes to nothing", SubscriptionView, {**_EXAMPLE, "keywords": []}),
        **problems(),
    },
)
def clear_subscription(caller: Writer, services: Services, agent: Agent = None) -> Response:
    """Remove every keyword of the agent; nothing to remove is fine too."""
    return answer(services.subscriptions.clear(caller, agent))
