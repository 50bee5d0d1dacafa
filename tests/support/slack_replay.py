"""Slack's Web API as documented, over threads it keeps, and events signed as Slack signs them."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tests.support.replaying import Asked, Replay, Reply, Route, served

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Record = dict[str, Any]

BOT_TOKEN, SIGNING_SECRET = "xoxb-17653672481-19874698323-pdFZKVeTuE8sk7oOcHrzqqgy", "8f742231b10e"
TEAM, CHANNEL, KEVIN, BOT = "T061EG9R6", "C024BE91L", "U061F7AUR", "U0LAN0Z89"


@dataclass(kw_only=True)
class SlackReplay(Replay):
    """The threads of a team, by channel and time stamp."""

    threads: dict[tuple[str, str], list[Record]] = field(default_factory=dict)
    token: str = BOT_TOKEN
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def stamp(self) -> str:
        return f"{int(self.now.timestamp())}.{next(self.numbers):06d}"

    def say(self, text: str, *, thread: str | None = None, **more: Any) -> Record:
        """Let Kevin write; return the request of the Events API that tells of it."""
        stamp = self.stamp()
        event = {
            "type": "app_mention",
            "user": KEVIN,
            "text": text,
            "ts": stamp,
            "channel": CHANNEL,
            "event_ts": stamp,
            **({"thread_ts": thread} if thread else {}),
            **more,
        }
        self.threads.setdefault((event["channel"], thread or stamp), []).append(event)
        return {
            "token": "Jhj5dZrVaK7ZwHHjRyZWjbDl",
            "team_id": TEAM,
            "api_app_id": "A0FFV41KK",
            "event": event,
            "type": "event_callback",
            "event_id": f"Ev{next(self.numbers):08d}",
            "event_time": int(self.now.timestamp()),
        }

    def refused(self, asked: Asked) -> Reply | None:
        if asked.headers.get("authorization") != f"Bearer {self.token}":
            return _no("invalid_auth")
        return None

    def unknown(self, asked: Asked) -> Reply:
        return _no("unknown_method")

    def routes(self) -> Mapping[tuple[str, str], Route]:
        return {
            ("POST", "/auth.test"): lambda asked: _yes(team_id=TEAM, user_id=BOT),
            ("GET", "/conversations.replies"): self._replies,
            ("POST", "/chat.postMessage"): self._post,
        }

    def _replies(self, asked: Asked) -> Reply:
        thread = self.threads.get((asked.query["channel"], asked.query["ts"]))
        if thread is None:
            return _no("thread_not_found")
        at, limit = int(asked.query.get("cursor") or 0), int(asked.query["limit"])
        shown = thread[at : at + limit]
        if asked.query.get("include_all_metadata") != "true":
            shown = [{**item, "metadata": None} for item in shown]
        following = str(at + limit) if at + limit < len(thread) else ""
        return _yes(messages=shown, response_metadata={"next_cursor": following})

    def _post(self, asked: Asked) -> Reply:
        thread = self.threads.get((asked.body["channel"], asked.body["thread_ts"]))
        if thread is None:
            return _no("channel_not_found")
        stamp = self.stamp()
        thread.append({**asked.body, "ts": stamp, "user": BOT, "bot_id": "B01"})
        return _yes(ts=stamp, channel=asked.body["channel"])


def signed(
    document: Any, at: datetime, *, secret: str = SIGNING_SECRET
) -> tuple[bytes, dict[str, str]]:
    """A request of Slack's: the body and its headers."""
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    sent_at = str(int(at.timestamp()))
    base = b"v0:" + sent_at.encode() + b":" + body
    signature = "v0=" + hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()
    return body, {
        "x-slack-request-timestamp": sent_at,
        "x-slack-signature": signature,
        "content-type": "application/json",
    }


def _yes(**fields: Any) -> Reply:
    return Reply(body={"ok": True, **fields})


def _no(error: str) -> Reply:
    return Reply(body={"ok": False, "error": error})


@contextmanager
def slack_replay() -> Iterator[SlackReplay]:
    """Serve a team until the block ends."""
    with served(SlackReplay()) as replay:
        yield replay
