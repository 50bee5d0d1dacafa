"""Slack as a source and sink of tickets: signed events, threads, answers. Not the HTTP.

A ticket is a thread: `CHANNEL:TS` of the message that began it. It begins where somebody mentions
the app, writes to it directly, or writes in a channel that the source takes whole.
https://docs.slack.dev/authentication/verifying-requests-from-slack
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol, cast

from cairn.kernel.errors import NotFound, ValidationFailed
from cairn.tickets.adapter import Capabilities, Events, Incoming, Message, Polled, text_at
from cairn.tickets.deliveries import check_now, check_signature, delivery_id, record_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.tickets.adapter import Delivered

SIGNATURE_HEADER, TIME_HEADER = "x-slack-signature", "x-slack-request-timestamp"
MAX_TEXT_CHARS = 39_000
"""Slack cuts a message at 40,000."""

TITLE_CHARS = 80
SAID = frozenset(["", "file_share", "thread_broadcast"])
"""Subtypes of messages that a person wrote; others are edits, joins and what apps say."""

STAMP = re.compile(r"[0-9]{1,11}\.[0-9]{1,6}")
SLACK_ID = re.compile(r"[A-Z0-9]{1,40}")
_LINK = re.compile(r"<((?:https?|mailto):[^<>|]{1,2000})(?:\|([^<>|]{1,2000}))?>")

Record = dict[str, Any]


class SlackClient(Protocol):
    """The methods of Slack's Web API that tickets and channels need; a refusal raises."""

    def test(self) -> Record: ...
    def user(self, user: str) -> Record: ...
    def found(self, channel: str, thread: str, key: str) -> str | None:
        """Return the time stamp of our message that carries the key, of a thread or a channel."""
        ...

    def say(self, channel: str, thread: str, body: Record, key: str) -> str:
        """Post a message; return the time stamp."""
        ...

    def change(self, channel: str, stamp: str, body: Record) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """What of a source's settings is not the sign-in. `channels` are taken whole."""

    team_id: str
    channels: frozenset[str] = frozenset()
    customer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackAdapter:
    """Implements `TicketAdapter`. Threads have no notes, no statuses, and are not fetched."""

    client: SlackClient
    team: Team
    signing_secret: str

    def capabilities(self) -> Capabilities:
        """Say what it can do."""
        return Capabilities(private_notes=False, statuses=False)

    def poll(self, cursor: str | None, limit: int) -> Polled:
        """Look whether the token is still good, and of this team; events bring what is new."""
        if text_at(self.client.test(), "team_id") != self.team.team_id:
            raise ValidationFailed("The token is of another team.", reason="slack-team")
        return Polled(tickets=(), cursor=cursor)

    def verify(self, delivered: Delivered, now: datetime) -> None:
        """Raise Unauthenticated unless the body and its time are signed, and the time is now."""
        check_signed(delivered, self.signing_secret, now)

    def read(self, delivered: Delivered) -> Events:
        """Return what a person wrote, or the challenge of a URL verification.

        Of another team, and what else happens in a team, tells nothing.
        """
        record = record_of(delivered)
        known_as = delivery_id(text_at(record, "event_id"), delivered)
        if text_at(record, "type") == "url_verification":
            challenge = text_at(record, "challenge")[:1_000]
            return Events(delivery_id=known_as, tickets=(), challenge=challenge)
        event: Any = record.get("event")
        if not isinstance(event, dict) or text_at(record, "team_id") != self.team.team_id:
            return Events(delivery_id=known_as, tickets=())
        tickets, messages = said_of(cast("Record", event), self.team)
        return Events(delivery_id=known_as, tickets=tickets, messages=messages)

    def reply(self, external_id: str, text: str, *, private: bool, key: str) -> str:
        """Answer in the thread; an answer that carries the key is there already."""
        channel, _, thread = external_id.partition(":")
        if not SLACK_ID.fullmatch(channel) or not STAMP.fullmatch(thread):
            raise NotFound("There is no such thread.", external_id=external_id)
        posted = self.client.found(channel, thread, key)
        body = {"text": escaped(text)[:MAX_TEXT_CHARS]}
        return posted or self.client.say(channel, thread, body, key)

    def set_status(self, external_id: str, status: str) -> str:
        """Refuse: a thread has no status."""
        raise ValidationFailed("A thread has no status.", reason="not-supported")

    def log_time(self, external_id: str, minutes: int, note: str, *, key: str) -> str:
        """Refuse: a thread has no time entries."""
        raise ValidationFailed("A thread has no time entries.", reason="not-supported")


def check_signed(delivered: Delivered, secret: str, now: datetime) -> None:
    """Raise Unauthenticated unless Slack signed the body and its time, and the time is now."""
    sent_at = delivered.headers.get(TIME_HEADER, "")
    signature = delivered.headers.get(SIGNATURE_HEADER, "")
    check_now(sent_at if signature else "", now)
    base = b"v0:" + sent_at.encode() + b":" + delivered.body
    expected = hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()
    check_signature(signature, f"v0={expected}")


def client_of(user: str, team: str) -> str:
    """Return by which name a user of a team is known here: one that no mail reaches."""
    return f"{user}@{team}.slack.invalid"


def said_of(event: Record, team: Team) -> tuple[tuple[Incoming, ...], tuple[Message, ...]]:
    """Return the ticket that a message begins, and the message where it stands in a thread. Pure.

    A ticket that is known is not changed by it, and its first message is not written again.
    """
    kind, user, channel = (text_at(event, name) for name in ("type", "user", "channel"))
    stamp = text_at(event, "ts")
    thread = text_at(event, "thread_ts") or stamp
    if (
        kind not in ("message", "app_mention")
        or text_at(event, "subtype") not in SAID
        or event.get("bot_id")
        or not (SLACK_ID.fullmatch(user) and SLACK_ID.fullmatch(channel))
        or not (STAMP.fullmatch(stamp) and STAMP.fullmatch(thread))
    ):
        return (), ()
    written_at = datetime.fromtimestamp(float(stamp), UTC)
    author, text = client_of(user, team.team_id), plain(text_at(event, "text"))
    files: Any = event.get("files")
    ticket = Incoming(
        external_id=f"{channel}:{thread}",
        title=_title(text),
        body=text,
        customer=team.customer,
        requester_email=author,
        received_at=written_at,
        source_metadata={
            "message_id": stamp,
            "channel": channel,
            "user": user,
            "files": [text_at(cast("Record", item), "name")[:200]
                      for item in cast("list[Any]", files)[:20] if isinstance(item, dict)]
            if isinstance(files, list) else [],
        },
    )  # fmt: skip
    whole = text_at(event, "channel_type") == "im" or channel in team.channels
    begins = kind == "app_mention" or (whole and thread == stamp)
    message = Message(
        ticket=ticket.external_id, id=stamp, text=text, author=author, written_at=written_at
    )
    return (ticket,) if begins else (), (message,) if thread != stamp else ()


def plain(text: str) -> str:
    """Return what was written, without Slack's escapes; links as `label (address)`."""
    text = _LINK.sub(lambda link: f"{link[2]} ({link[1]})" if link[2] else link[1], text)
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def escaped(text: str) -> str:
    """Return a text that Slack shows as it is: it mentions nobody and links nowhere hidden."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def team_of(config: Mapping[str, Any]) -> Team:
    """Return what of a source's settings is not the sign-in."""
    return Team(
        team_id=str(config.get("team_id", "")),
        channels=frozenset(str(item) for item in config.get("channels") or ()),
        customer=str(config.get("customer", "")),
    )


def _title(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= TITLE_CHARS else f"{line[: TITLE_CHARS - 1]}\u2026"
