"""Slack as a messaging channel: its signed events and clicks read, our messages as its blocks.

Not the HTTP (`adapters.http.slack`), nor Slack's threads as tickets (`tickets.slack`).
https://docs.slack.dev/apis/events-api/ https://docs.slack.dev/reference/block-kit/blocks
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qs

from cairn.channels.port import Clicked, Heard, Place, Profile, Speaker, Spoken
from cairn.kernel.errors import Denied, NotFound, ValidationFailed
from cairn.tickets.adapter import text_at
from cairn.tickets.deliveries import record_of
from cairn.tickets.slack import (
    MAX_TEXT_CHARS,
    SAID,
    SLACK_ID,
    STAMP,
    check_signed,
    client_of,
    escaped,
    plain,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cairn.channels.port import Message
    from cairn.tickets.adapter import Delivered
    from cairn.tickets.slack import SlackClient

FORM = "application/x-www-form-urlencoded"
LINK = "link"
"""What buttons that only lead elsewhere are called; pressing one tells nothing."""

MOST_SECTION, MOST_HEADER, MOST_FACT, MOST_FACTS, MOST_BLOCKS = 3_000, 150, 2_000, 10, 48
TONES = {"good": "primary", "bad": "danger"}
_MENTION = re.compile(r"<@([A-Z0-9]{1,40})(?:\|[^<>]{0,200})?>")

Record = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackChannel:
    """Implements `ChannelAdapter`."""

    client: SlackClient
    team_id: str
    signing_secret: str = field(repr=False)

    def check(self) -> str:
        """Return the app's user; ValidationFailed for a token of another team."""
        signed_in = self.client.test()
        if text_at(signed_in, "team_id") != self.team_id:
            raise ValidationFailed("The token is of another team.", reason="slack-team")
        return text_at(signed_in, "user_id")

    def verify(self, delivered: Delivered, now: datetime) -> None:
        """Raise Unauthenticated unless the body and its time are signed, and the time is now."""
        check_signed(delivered, self.signing_secret, now)

    def read(self, delivered: Delivered) -> Heard:
        """Return what a person wrote or pressed, or the challenge of a URL verification."""
        if delivered.headers.get("content-type", "").partition(";")[0].strip().lower() == FORM:
            payload = _payload(delivered.body)
            self._require_team(text_at(payload, "team", "id"))
            return Heard(clicks=clicked_of(payload))
        record = record_of(delivered)
        if text_at(record, "type") == "url_verification":
            return Heard(answer={"challenge": text_at(record, "challenge")[:1_000]})
        self._require_team(text_at(record, "team_id"))
        event: Any = record.get("event")
        if text_at(record, "type") != "event_callback" or not isinstance(event, dict):
            return Heard()
        spoken = spoken_of(cast("Record", event), self.team_id, app=_app_of(record))
        return Heard(messages=(spoken,) if spoken else ())

    def profile(self, speaker: Speaker, place: Place) -> Profile:
        """Return what Slack knows of a user."""
        user: Any = self.client.user(speaker.user).get("user")
        record = cast("Record", user) if isinstance(user, dict) else {}
        profile: Any = record.get("profile")
        names = cast("Record", profile) if isinstance(profile, dict) else {}
        outside = speaker.team != self.team_id or text_at(record, "team_id") != self.team_id
        guest = any(record.get(name) is True for name in ("is_restricted", "is_stranger"))
        name = text_at(names, "display_name") or text_at(record, "real_name")
        return Profile(
            name=name[:200],
            outsider=outside or guest or record.get("deleted") is True,
            app=record.get("is_bot") is True,
        )

    def post(self, place: Place, message: Message, key: str, *, again: bool = False) -> str:
        """Post a message in a thread, or in the conversation."""
        channel, thread = _checked(place)
        there = self.client.found(channel, thread, key) if again else None
        return there or self.client.say(channel, thread, shown(message), key)

    def update(self, place: Place, message_id: str, message: Message) -> None:
        """Show another message in the place of one of ours."""
        channel, _ = _checked(place)
        self.client.change(channel, message_id, shown(message))

    def _require_team(self, team: str) -> None:
        if team != self.team_id:
            raise Denied("This is of another team.", reason="slack-team")


def spoken_of(event: Record, team: str, *, app: str = "") -> Spoken | None:
    """Return what a person wrote; None for all that is not that. Pure."""
    kind, user, channel = (text_at(event, name) for name in ("type", "user", "channel"))
    stamp = text_at(event, "ts")
    thread = text_at(event, "thread_ts")
    direct = text_at(event, "channel_type") == "im"
    if (
        kind not in ("message", "app_mention")
        or text_at(event, "subtype") not in SAID
        or event.get("bot_id")
        or user == app
        or not (SLACK_ID.fullmatch(user) and SLACK_ID.fullmatch(channel))
        or not STAMP.fullmatch(stamp)
        or (thread and not STAMP.fullmatch(thread))
    ):
        return None
    words = text_at(event, "text")
    of_them = text_at(event, "user_team") or text_at(event, "team") or team
    own_thread = "" if direct and not thread else thread or stamp
    return Spoken(
        id=f"{channel}:{stamp}",
        place=Place(conversation=channel, thread=own_thread),
        speaker=Speaker(user=user, team=of_them, client=client_of(user, of_them)),
        text=plain(_without_mention(words, app)).strip(),
        at=datetime.fromtimestamp(float(stamp), UTC),
        addressed=direct or kind == "app_mention" or _mentions(words, app),
        direct=direct,
    )


def clicked_of(payload: Record) -> tuple[Clicked, ...]:
    """Return the buttons of ours that a person pressed. Pure."""
    user, team = text_at(payload, "user", "id"), text_at(payload, "user", "team_id")
    channel = text_at(payload, "container", "channel_id") or text_at(payload, "channel", "id")
    message = text_at(payload, "container", "message_ts") or text_at(payload, "message", "ts")
    thread = text_at(payload, "container", "thread_ts") or text_at(payload, "message", "thread_ts")
    actions: Any = payload.get("actions")
    good = SLACK_ID.fullmatch(user) and SLACK_ID.fullmatch(channel) and STAMP.fullmatch(message)
    if text_at(payload, "type") != "block_actions" or not good or not isinstance(actions, list):
        return ()
    team = team or text_at(payload, "team", "id")
    pressed = [
        cast("Record", each) for each in cast("list[Any]", actions) if isinstance(each, dict)
    ]
    return tuple(
        Clicked(
            id=f"click:{text_at(action, 'action_ts')}:{user}:{message}"[:400],
            place=Place(conversation=channel, thread=thread if STAMP.fullmatch(thread) else ""),
            message_id=message,
            speaker=Speaker(user=user, team=team, client=client_of(user, team)),
            button=text_at(action, "action_id")[:100],
            value=text_at(action, "value")[:2_000],
            at=datetime.fromtimestamp(float(text_at(action, "action_ts")), UTC),
        )
        for action in pressed
        if STAMP.fullmatch(text_at(action, "action_ts"))
        and not text_at(action, "action_id").startswith(LINK)
    )


def shown(message: Message) -> Record:
    """Return a message as Slack shows it: plain text all of it, cut where Slack would. Pure."""
    text = escaped(message.text)[:MAX_TEXT_CHARS]
    if not (message.title or message.facts or message.buttons or message.links):
        return {"text": text or " ", "mrkdwn": False, "blocks": []}
    blocks: list[Record] = []
    if message.title:
        blocks.append({"type": "header", "text": _words(message.title, MOST_HEADER)})
    below: list[Record] = []
    for at in range(0, len(message.facts), MOST_FACTS):
        facts = message.facts[at : at + MOST_FACTS]
        fields = [_words(f"{name}\n{value}", MOST_FACT) for name, value in facts]
        below.append({"type": "section", "fields": fields})
    if elements := _elements(message):
        below.append({"type": "actions", "elements": elements})
    room = MOST_BLOCKS - len(blocks) - len(below)
    pieces = _pieces(message.text)
    blocks += [{"type": "section", "text": _words(piece, MOST_SECTION)} for piece in pieces[:room]]
    return {"text": text or escaped(message.title), "blocks": [*blocks, *below]}


def _elements(message: Message) -> list[Record]:
    pressed: list[Record] = [
        {
            "type": "button",
            "action_id": button.name,
            "text": _words(button.label, 75),
            "value": button.value[:2_000],
            **({"style": TONES[button.tone]} if button.tone in TONES else {}),
        }
        for button in message.buttons
    ]
    led: list[Record] = [
        {
            "type": "button",
            "action_id": f"{LINK}-{number}",
            "text": _words(link.label, 75),
            "url": link.url[:3_000],
        }
        for number, link in enumerate(message.links)
    ]
    return pressed + led


def _pieces(text: str) -> Sequence[str]:
    return [text[at : at + MOST_SECTION] for at in range(0, len(text), MOST_SECTION)]


def _words(text: str, most: int) -> Record:
    cut = text if len(text) <= most else f"{text[: most - 1]}\u2026"
    return {"type": "plain_text", "text": cut or " ", "emoji": False}


def _payload(body: bytes) -> Record:
    try:
        fields = parse_qs(body.decode(), max_num_fields=20)
        payload: Any = json.loads(fields.get("payload", [""])[0])
    except (ValueError, RecursionError) as wrong:
        raise ValidationFailed("This delivery is not JSON.", reason="not-json") from wrong
    return cast("Record", payload) if isinstance(payload, dict) else {}


def _app_of(record: Record) -> str:
    """Return the app's own user, as a delivery names it."""
    every: Any = record.get("authorizations")
    first: Any = cast("list[Any]", every)[0] if isinstance(every, list) and every else None
    return text_at(cast("Record", first), "user_id") if isinstance(first, dict) else ""


def _mentions(text: str, app: str) -> bool:
    return bool(app) and any(user == app for user in _MENTION.findall(text))


def _without_mention(text: str, app: str) -> str:
    """Return a text without the mention of the app; of an unknown one, without the first."""
    if app:
        return _MENTION.sub(lambda mention: "" if mention[1] == app else mention[0], text)
    return _MENTION.sub("", text, count=1) if text.lstrip().startswith("<@") else text


def _checked(place: Place) -> tuple[str, str]:
    if not SLACK_ID.fullmatch(place.conversation):
        raise NotFound("There is no such conversation.")
    if place.thread and not STAMP.fullmatch(place.thread):
        raise NotFound("There is no such thread.")
    return place.conversation, place.thread
