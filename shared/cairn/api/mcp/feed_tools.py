"""Tools over the feed: whom the member should meet, and how the feed does."""

from typing import Annotated, Any, NotRequired
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.fields import Body, Name
from cairn.api.mcp.tool import WRITERS, Tool, ToolAnswer
from cairn.bootstrap.api import ApiServices
from cairn.kernel.access import Principal

MOST_CARDS = 20


class FeedCardLine(TypedDict):
    """Somebody worth meeting, why, and what to do."""

    opportunity_id: UUID
    section: str
    state: str
    score: int
    headline: str
    summary: str
    why_you: str
    suggested_action: str
    can: NotRequired[list[str]]


class FeedCards(TypedDict):
    """Cards, section by section; `by` says what worded them."""

    items: NotRequired[list[FeedCardLine]]
    by: str


class HealthShown(TypedDict):
    """How the feed does, from 0 to 1."""

    score: float
    rediscover_below: float
    connections: int
    introductions: int
    expired: int


class FeedArguments(Body):
    """Whose feed, and how many cards."""

    limit: Annotated[int, Field(ge=1, le=MOST_CARDS)] = 10
    client_id: Name | None = None


class HealthArguments(Body):
    """Whose feed."""

    client_id: Name | None = None


def _read(services: ApiServices, principal: Principal, arguments: FeedArguments) -> ToolAnswer:
    feed = services.feeds.get(principal, client_id=arguments.client_id, limit=arguments.limit)
    names = ("opportunity_id", "score", "headline", "summary", "why_you", "suggested_action", "can")
    items: list[dict[str, Any]] = [
        {
            **{name: getattr(card, name) for name in names},
            "section": section.title,
            "state": card.state.value,
        }
        for section in feed.sections
        for card in section.cards
    ]
    lines = [
        f"{item['section']}: {item['headline']} ({item['score']}). {item['summary']} "
        f"{item['suggested_action']}: {item['opportunity_id']}"
        for item in items
    ]
    text = "\n".join(lines) or "The feed is empty: nobody was found yet."
    return ToolAnswer(text=text, structured={"items": items, "by": feed.by})


def _health(services: ApiServices, principal: Principal, arguments: HealthArguments) -> ToolAnswer:
    shown = services.maintain_feeds.health(principal, client_id=arguments.client_id)
    names = ("score", "rediscover_below", "connections", "introductions", "expired")
    text = f"{shown.score:.2f}; below {shown.rediscover_below} intents are looked for again."
    return ToolAnswer(text=text, structured={name: getattr(shown, name) for name in names})


READ = Tool(
    name="feed_read",
    title="Read the feed",
    description="Whom the member should meet, why, and what they may do about it.",
    arguments=FeedArguments,
    parameters={"limit": "How many cards"},
    result=FeedCards,
    call=_read,
    roles=WRITERS,
    of_a_client=True,
)
HEALTH = Tool(
    name="feed_health",
    title="Read how the feed does",
    description="How good the member's feed is, from 0 to 1, and what it is made of.",
    arguments=HealthArguments,
    parameters={},
    result=HealthShown,
    call=_health,
    roles=WRITERS,
    of_a_client=True,
)
