"""The chat widget as an admin sets it. Not its door to customers (`widget_door.py`)."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Services
from cairn.api.documentation import answers, problems
from cairn.api.fields import Body, examples
from cairn.api.routing import router
from cairn.chat.widget import ChallengeKind, WidgetSettings
from cairn.chat.widget_settings import WidgetView

routes = router("widget")


class WidgetIn(Body, WidgetSettings):
    """All that the widget is to be: what is left out is as when it is new.

    `secret` is of the challenge's service; it is sealed, never shown, and stays when left out.
    """

    model_config = examples(
        {"origins": ["https://www.example.org"], "texts": {"title": "Ask the harbour"}}
    )

    secret: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class WidgetLook(TypedDict):
    """How the widget looks on its page."""

    primary: str
    background: str
    text: str
    font: str
    side: Literal["left", "right"]


class WidgetWords(TypedDict):
    """What the widget says by itself."""

    title: str
    greeting: str
    placeholder: str
    busy: str


class WidgetAllowance(TypedDict):
    """How much is said: by an address (or whom the host signed in), and in a session."""

    per_minute: int
    per_day: int
    per_session: int
    idle_minutes: int
    challenge_after: int | None


class WidgetIssuer(TypedDict):
    """Whose signature says who a customer is, and the public keys of it."""

    issuer: str
    keys: list[dict[str, Any]]


class WidgetSignIn(TypedDict):
    """The host's own login: whose id tokens, for which clients, and how much they may say."""

    issuer: str
    audiences: list[str]
    limits: WidgetAllowance


class WidgetPersons(TypedDict):
    """When a person is called, and for how long they are waited for."""

    wait_minutes: int
    away_minutes: int
    after_unanswered: int | None


class WidgetOut(TypedDict):
    """The widget, what it has cost today."""

    id: UUID
    origins: list[str]
    theme: WidgetLook
    texts: WidgetWords
    anonymous: WidgetAllowance | None
    signed: WidgetAllowance
    host: WidgetIssuer | None
    login: WidgetSignIn | None
    day_usd: float
    hand_off: WidgetPersons | None
    challenge: ChallengeKind
    site_key: str | None
    agent: str | None
    has_secret: bool
    spent_usd: float
    created_at: datetime
    changed_at: datetime


class WidgetRemoved(TypedDict):
    """The widget that is gone."""

    id: UUID


@routes.get(
    "/v1/widget",
    summary="Show the chat widget",
    response_model=None,
    responses={**answers(200, "The widget", WidgetOut), **problems("not-found")},
)
def get_widget(caller: Admin, services: Services) -> Response:
    """Show what the workspace's widget may do, and what it has cost today."""
    return answer(_shown(services.keep_widget.show(caller)))


@routes.put(
    "/v1/widget",
    summary="Set the chat widget",
    response_model=None,
    responses={**answers(200, "It holds from now on", WidgetOut), **problems(body=True)},
)
def set_widget(body: WidgetIn, caller: Admin, services: Services) -> Response:
    """Make the widget, or set all of it anew. Its id stays: it stands in pages."""
    settings = WidgetSettings.model_validate(body.model_dump(exclude={"secret"}))
    return answer(_shown(services.keep_widget.set(caller, settings, secret=body.secret)))


@routes.delete(
    "/v1/widget",
    summary="Remove the chat widget",
    response_model=None,
    responses={
        **answers(200, "Nobody is answered any more", WidgetRemoved),
        **problems("not-found"),
    },
)
def remove_widget(caller: Admin, services: Services) -> Response:
    """Remove the widget with its sessions. What was said in them stays a conversation."""
    return answer({"id": services.keep_widget.remove(caller)})


def _shown(view: WidgetView) -> dict[str, Any]:
    return {
        "id": view.id,
        **view.settings.model_dump(mode="json"),
        "has_secret": view.has_secret,
        "spent_usd": float(view.spent_usd),
        "created_at": view.created_at,
        "changed_at": view.changed_at,
    }
