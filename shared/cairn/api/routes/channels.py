"""Messaging channels, where people chat and operators work. Admins' routes, but one."""

from datetime import UTC, datetime
from typing import Annotated, Any, NotRequired
from uuid import UUID

from fastapi import Depends, Path, Request, Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Services
from cairn.api.documentation import ListOf, answers, problems
from cairn.api.fields import Body, examples
from cairn.api.routes.widget import WidgetPersons
from cairn.api.routing import router
from cairn.channels.channel import ChannelKind, ChannelRow, ChannelSettings
from cairn.channels.keep import ChannelChange, NewChannel
from cairn.channels.ties import ChannelCode, TieView
from cairn.kernel.clock import utc_now
from cairn.kernel.records import convert
from cairn.tickets.adapter import Delivered

routes = router("channels")

ChannelId = Annotated[UUID, Path(description="The channel's id.")]
PersonId = Annotated[UUID, Path(description="The person's id.")]
Kind = Annotated[ChannelKind, Field(strict=False, examples=["slack"])]


class ChannelAllowance(TypedDict):
    """How much somebody may say: in a minute, in a day, and in one session of a thread."""

    per_minute: int
    per_day: int
    per_session: int
    idle_minutes: int


class ChannelSettingsView(TypedDict):
    """What a channel may do."""

    answers: bool
    outsiders: bool
    limits: ChannelAllowance
    busy: str
    day_usd: float
    hand_off: WidgetPersons | None
    agent: str | None


class MessagingChannelView(TypedDict):
    """A messaging channel, without its secrets. What it delivers goes to `events_path`."""

    id: UUID
    name: str
    kind: ChannelKind
    config: dict[str, Any]
    settings: ChannelSettingsView
    paused: bool
    error: str | None
    spent_usd: float
    created_at: datetime
    changed_at: datetime
    events_path: str


class MessagingChannelRemoved(TypedDict):
    """The channel that is gone."""

    id: UUID


class ChannelChecked(TypedDict):
    """The keys are good; the channel knows the app by this name."""

    app: str


class ChannelHeard(TypedDict):
    """What the channel wants to be answered with: nothing, or what it asked for."""

    challenge: NotRequired[str]
    statusCode: NotRequired[int]
    type: NotRequired[str]
    value: NotRequired[str]


class MessagingChannelIn(Body):
    """A channel. `config` and `secrets` are its kind's: see the guide to channels."""

    model_config = examples(
        {
            "name": "slack",
            "kind": "slack",
            "config": {"team_id": "T061EG9R6", "operators": "C024BE91L"},
            "secrets": {"bot_token": "xoxb-...", "signing_secret": "..."},
            "settings": {"hand_off": {"wait_minutes": 10}},
        }
    )

    name: Annotated[str, Field(min_length=1, max_length=64)]
    kind: Kind
    config: dict[str, Any] = Field(default_factory=dict[str, Any])
    secrets: dict[str, str] = Field(default_factory=dict[str, str], repr=False)
    settings: ChannelSettings = Field(default_factory=ChannelSettings)


class MessagingChannelChangeIn(Body):
    """What to change; what is left out stays. Secrets are replaced one by one, null removes."""

    config: dict[str, Any] | None = None
    secrets: dict[str, str | None] | None = Field(default=None, repr=False)
    settings: ChannelSettings | None = None
    paused: bool | None = None


class ChannelCodeIn(Body):
    """For whom the code is."""

    person_id: Annotated[UUID, Field(strict=False)]


async def delivered(request: Request) -> Delivered:
    """Return a delivery as it came: its signature covers exactly these bytes."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    return Delivered(body=await request.body(), headers=headers)


@routes.post(
    "/v1/channels",
    summary="Add a messaging channel",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "It is heard from now on", MessagingChannelView),
        **problems("conflict", body=True),
    },
)
def add_channel(body: MessagingChannelIn, caller: Admin, services: Services) -> Response:
    """Keep a channel. Its secrets are sealed, and never shown again."""
    created = services.messaging_channels.create(caller, convert(body, NewChannel))
    return answer(_shown(created), status=201)


@routes.get(
    "/v1/channels",
    summary="List messaging channels",
    response_model=None,
    responses={
        **answers(200, "Every channel, by name", ListOf[MessagingChannelView]),
        **problems(),
    },
)
def list_channels(caller: Admin, services: Services) -> Response:
    """List channels, and how asking them goes."""
    return answer({"items": [_shown(item) for item in services.messaging_channels.all(caller)]})


@routes.get(
    "/v1/channels/{channel_id}",
    summary="Show a messaging channel",
    response_model=None,
    responses={**answers(200, "The channel", MessagingChannelView), **problems("not-found")},
)
def get_channel(channel_id: ChannelId, caller: Admin, services: Services) -> Response:
    """Show a channel."""
    return answer(_shown(services.messaging_channels.get(caller, channel_id)))


@routes.patch(
    "/v1/channels/{channel_id}",
    summary="Change a messaging channel",
    response_model=None,
    responses={
        **answers(200, "The channel as it is now", MessagingChannelView),
        **problems("not-found", body=True),
    },
)
def change_channel(
    channel_id: ChannelId, body: MessagingChannelChangeIn, caller: Admin, services: Services
) -> Response:
    """Change a channel. `settings` are set anew, all of them."""
    change = convert(body, ChannelChange)
    return answer(_shown(services.messaging_channels.change(caller, channel_id, change)))


@routes.delete(
    "/v1/channels/{channel_id}",
    summary="Remove a messaging channel",
    response_model=None,
    responses={
        **answers(200, "It is gone, its conversations stay", MessagingChannelRemoved),
        **problems("not-found"),
    },
)
def remove_channel(channel_id: ChannelId, caller: Admin, services: Services) -> Response:
    """Remove a channel with its secrets, its sessions, and who is whom there."""
    services.messaging_channels.remove(caller, channel_id)
    return answer({"id": channel_id})


@routes.post(
    "/v1/channels/{channel_id}/check",
    summary="Ask a messaging channel whether its keys are good",
    response_model=None,
    responses={
        **answers(200, "They are", ChannelChecked),
        **problems("not-found", "conflict", "validation-failed"),
    },
)
def check_channel(channel_id: ChannelId, caller: Admin, services: Services) -> Response:
    """Ask the channel by which name it knows the app."""
    return answer({"app": services.messaging_channels.check(caller, channel_id)})


@routes.get(
    "/v1/channels/{channel_id}/ties",
    summary="List who of a messaging channel is who here",
    response_model=None,
    responses={
        **answers(200, "Everybody who is tied", ListOf[TieView]),
        **problems("not-found"),
    },
)
def list_channel_ties(channel_id: ChannelId, caller: Admin, services: Services) -> Response:
    """List who may decide and answer in a channel, as far as their roles let them."""
    return answer({"items": services.channel_ties.all(caller, channel_id)})


@routes.post(
    "/v1/channels/{channel_id}/codes",
    summary="Make a code that ties somebody of a messaging channel",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "The code, which lasts for ten minutes", ChannelCode),
        **problems("not-found", body=True),
    },
)
def make_channel_code(
    channel_id: ChannelId, body: ChannelCodeIn, caller: Admin, services: Services
) -> Response:
    """Make a one-time code: who sends it to the app, directly, is this person from then on."""
    code = services.channel_ties.make_code(caller, channel_id, body.person_id)
    return answer(code, status=201)


@routes.delete(
    "/v1/channels/{channel_id}/ties/{person_id}",
    summary="Untie a person from a messaging channel",
    response_model=None,
    responses={
        **answers(200, "They are nobody there any more", MessagingChannelRemoved),
        **problems("not-found"),
    },
)
def untie_channel_person(
    channel_id: ChannelId, person_id: PersonId, caller: Admin, services: Services
) -> Response:
    """Remove a tie."""
    services.channel_ties.untie(caller, channel_id, person_id)
    return answer({"id": person_id})


@routes.post(
    "/v1/channels/{channel_id}/events",
    summary="Take what a messaging channel delivers",
    response_model=None,
    responses={
        **answers(200, "What the channel wants to be answered with", ChannelHeard),
        **problems(
            "unauthenticated", "denied", "not-found", "validation-failed", "too-large",
            "rate-limited", public=True,
        ),
    },
)  # fmt: skip
def receive_channel_event(
    channel_id: ChannelId,
    services: Services,
    received: Annotated[Delivered, Depends(delivered)],
) -> Response:
    """Keep what was said or clicked; it is worked at later. Proved by its signature, by no key."""
    return answer(dict(services.receive_channel(channel_id, received) or {}))


def _shown(channel: ChannelRow) -> dict[str, Any]:
    settings = ChannelSettings.model_validate(channel.settings).model_dump(mode="json")
    names = ("id", "name", "kind", "config", "paused", "error", "created_at", "changed_at")
    return {
        **{name: getattr(channel, name) for name in names},
        "settings": settings,
        "spent_usd": float(channel.spent(utc_now().astimezone(UTC).date())),
        "events_path": f"/v1/channels/{channel.id}/events",
    }
