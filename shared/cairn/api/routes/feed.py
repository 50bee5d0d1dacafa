"""The feed of a member, how it does, and looking after every feed."""

from typing import Annotated

from fastapi import Query, Response

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, ClientGiven, ClientWriter, Services
from cairn.api.documentation import answers, problems
from cairn.api.routing import router
from cairn.discovery.feed.feeds import MOST_SHOWN, FeedView
from cairn.discovery.feed.maintenance import FeedHealth, MaintenanceRun

routes = router("feed")


@routes.get(
    "/v1/feed",
    summary="Show the feed",
    response_model=None,
    responses={**answers(200, "Cards in sections", FeedView), **problems()},
)
def get_feed(
    caller: ClientWriter,
    services: Services,
    client_id: ClientGiven,
    limit: Annotated[int, Query(ge=1, le=MOST_SHOWN, description="How many cards.")] = 50,
) -> Response:
    """Show whom a member should meet, why, and what to do about it.

    A card is made of what a shared network shows and of what was said aloud; `by` says whether
    rules or a model worded it.
    """
    return answer(services.feeds.get(caller, client_id=client_id, limit=limit))


@routes.get(
    "/v1/feed/health",
    summary="Show how the feed does",
    response_model=None,
    responses={**answers(200, "From 0 to 1", FeedHealth), **problems()},
)
def get_feed_health(caller: ClientWriter, services: Services, client_id: ClientGiven) -> Response:
    """Show how a member's feed does: what it is made of, how fresh it is, what of it expired."""
    return answer(services.maintain_feeds.health(caller, client_id=client_id))


@routes.post(
    "/v1/feed/maintenance",
    summary="Look after every feed now",
    response_model=None,
    responses={**answers(200, "What was done", MaintenanceRun), **problems()},
)
def maintain_feeds(caller: Admin, services: Services) -> Response:
    """Look after the feeds of the workspace now; a schedule does so every hour.

    Where one does poorly, its member's intents are looked for again, as many as may wait.
    """
    return answer(services.maintain_feeds.run(caller))
