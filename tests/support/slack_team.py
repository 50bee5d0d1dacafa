"""A Slack team that an app is installed to, as people use it: they write, mention, click and read.

Its Web API is that of `slack_replay`, with the methods that channels need; what people do reaches
the app as signed requests of the Events API and of interactivity, over the door of this process.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from tests.support.replaying import Asked, Reply, served
from tests.support.slack_replay import BOT, BOT_TOKEN, SIGNING_SECRET, TEAM, SlackReplay, signed

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    import httpx
    from tests.support.front import Front
    from tests.support.replaying import Route

Record = dict[str, Any]
GENERAL, OPERATORS = "C024BE91L", "C0OPERATE1"
KIM, LEE, GUEST, STRANGER = "U0KIM00001", "U0LEE00001", "U0GUEST001", "U0OTHER001"


@dataclass(kw_only=True)
class SlackTeam(SlackReplay):
    """The conversations of a team; `users` are the answers of `users.info`."""

    users: dict[str, Record] = field(default_factory=dict[str, dict[str, Any]])

    def __post_init__(self) -> None:
        for user, name in ((KIM, "Kim"), (LEE, "Lee"), (GUEST, "Guest"), (STRANGER, "Other")):
            self.users[user] = {
                "id": user,
                "team_id": "T0OTHER001" if user == STRANGER else TEAM,
                "real_name": name,
                "is_bot": False,
                "is_restricted": user == GUEST,
                "profile": {"display_name": name.lower()},
            }

    def routes(self) -> Mapping[tuple[str, str], Route]:
        return {
            **super().routes(),
            ("GET", "/users.info"): self._user,
            ("GET", "/conversations.history"): self._history,
            ("POST", "/chat.postMessage"): self._say,
            ("POST", "/chat.update"): self._update,
        }

    def _user(self, asked: Asked) -> Reply:
        user = self.users.get(asked.query["user"])
        return _no("user_not_found") if user is None else _yes(user=user)

    def _history(self, asked: Asked) -> Reply:
        channel = asked.query["channel"]
        roots = [thread[0] for (where, _), thread in self.threads.items() if where == channel]
        newest = list(reversed(roots))[: int(asked.query["limit"])]
        return _yes(messages=newest, response_metadata={"next_cursor": ""})

    def _say(self, asked: Asked) -> Reply:
        body, stamp = asked.body, self.stamp()
        if not body.get("text") and not body.get("blocks"):
            return _no("no_text")
        if wrong := _wrong_blocks(body.get("blocks") or []):
            return _no(wrong)
        if not str(body["channel"]).startswith(("C", "D", "G")):
            return _no("channel_not_found")
        thread = body.get("thread_ts")
        where = (body["channel"], thread or stamp)
        if thread and where not in self.threads:
            return _no("thread_not_found")
        message = {**body, "ts": stamp, "user": BOT, "bot_id": "B01"}
        self.threads.setdefault(where, []).append(message)
        return _yes(ts=stamp, channel=body["channel"], message=message)

    def _update(self, asked: Asked) -> Reply:
        message = self.message(asked.body["channel"], asked.body["ts"])
        if message is None:
            return _no("message_not_found")
        if message.get("user") != BOT:
            return _no("cant_update_message")
        if wrong := _wrong_blocks(asked.body.get("blocks") or []):
            return _no(wrong)
        message.update(asked.body)
        return _yes(ts=asked.body["ts"], channel=asked.body["channel"], text=message["text"])

    def message(self, channel: str, stamp: str) -> Record | None:
        """Return a message of a conversation."""
        every = (each for (where, _), thread in self.threads.items() if where == channel
                 for each in thread)  # fmt: skip
        return next((each for each in every if each["ts"] == stamp), None)

    def told(self, channel: str, thread: str | None = None) -> list[Record]:
        """Return what the app posted, in a conversation or one of its threads."""
        return [
            message
            for (where, root), messages in self.threads.items()
            for message in messages
            if where == channel and message.get("user") == BOT and thread in (None, root)
        ]

    def words(self, channel: str, thread: str | None = None) -> list[str]:
        """Return the texts of what the app posted, without Slack's escapes."""
        return [_plain(each["text"]) for each in self.told(channel, thread)]


@dataclass
class Member:
    """Somebody of the team, with the app's channel in Cairn at hand."""

    team: SlackTeam
    front: Front
    channel_id: str
    user: str = KIM

    def writes(
        self,
        text: str,
        *,
        channel: str = GENERAL,
        thread: str | None = None,
        mention: bool = True,
        **more: Any,
    ) -> Record:
        """Write, with a mention of the app unless told otherwise; return the event."""
        direct = channel.startswith("D")
        words = f"<@{BOT}> {text}" if mention and not direct else text
        kind = "app_mention" if mention and not direct else "message"
        say = self.team.say(
            words, thread=thread, user=self.user, channel=channel, type=kind,
            channel_type="im" if direct else "channel", **more,
        )  # fmt: skip
        say["authorizations"] = [{"user_id": BOT, "team_id": TEAM, "is_bot": True}]
        return say

    def says(self, text: str, **more: Any) -> str:
        """Write, and let Slack tell the app of it; return the time stamp."""
        event = self.writes(text, **more)
        answer = self.deliver(event)
        assert answer.status_code == 200, answer.text
        stamp: str = event["event"]["ts"]
        return stamp

    def press(self, message: Record, button: str, **more: Any) -> httpx.Response:
        """Press a button of a message, as it stands there now."""
        return self.deliver(urlencode({"payload": json.dumps(self.click(message, button, **more))}))

    def click(self, message: Record, button: str, **more: Any) -> Record:
        """Return what Slack sends when a button of a message is pressed."""
        buttons = [
            element
            for block in message["blocks"]
            if block["type"] == "actions"
            for element in block["elements"]
        ]
        value = next((each["value"] for each in buttons if each["action_id"] == button), "")
        return {
            "type": "block_actions",
            "team": {"id": TEAM, "domain": "harbour"},
            "user": {"id": self.user, "username": "kim", "team_id": TEAM},
            "api_app_id": "A0FFV41KK",
            "token": "Jhj5dZrVaK7ZwHHjRyZWjbDl",
            "container": {
                "type": "message", "message_ts": message["ts"], "channel_id": message["channel"],
                "is_ephemeral": False,
            },
            "trigger_id": f"{self.team.stamp()}.abc",
            "channel": {"id": message["channel"], "name": "operators"},
            "message": {"ts": message["ts"], "user": BOT, "type": "message"},
            "actions": [
                {
                    "type": "button", "action_id": button, "block_id": "b", "value": value,
                    "action_ts": self.team.stamp(),
                }
            ],
            **more,
        }  # fmt: skip

    def deliver(
        self, document: Record | str, *, secret: str = SIGNING_SECRET, **headers: str
    ) -> httpx.Response:
        """Send a request as Slack does, signed, with no key of ours."""
        form = isinstance(document, str)
        body, sent = signed(
            document.encode() if isinstance(document, str) else document,
            datetime.now(UTC),
            secret=secret,
        )
        if form:
            sent["content-type"] = "application/x-www-form-urlencoded"
        sent |= {"authorization": "", **headers}
        return self.front.answer(
            "POST", f"/v1/channels/{self.channel_id}/events", content=body, headers=sent
        )


def add_channel(
    front: Front, team: SlackTeam, name: str = "slack", operators: str = OPERATORS, **settings: Any
) -> Record:
    """Add the team as a channel; operators work in theirs."""
    body = {
        "name": name,
        "kind": "slack",
        "config": {"team_id": TEAM, "operators": operators, "api_url": team.url},
        "secrets": {"bot_token": BOT_TOKEN, "signing_secret": SIGNING_SECRET},
        "settings": settings,
    }
    shown: Record = front.call("POST", "/v1/channels", json=body)
    return shown


@contextmanager
def slack_team() -> Generator[SlackTeam]:
    """Serve a team until the block ends."""
    with served(SlackTeam()) as team:
        yield team


def _wrong_blocks(blocks: list[Record]) -> str:
    """Return Slack's error for blocks that it does not take, by their documented limits."""
    if len(blocks) > 50:
        return "invalid_blocks"
    for block in blocks:
        kind = block["type"]
        texts = [block["text"]] if "text" in block else block.get("fields", [])
        most = {"header": 150, "section": 3_000}.get(kind, 3_000)
        if kind == "section" and len(block.get("fields", [])) > 10:
            return "invalid_blocks"
        if any(not 0 < len(text["text"]) <= most for text in texts):
            return "invalid_blocks"
        for element in block.get("elements", []):
            if len(element.get("value", "")) > 2_000 or len(element["text"]["text"]) > 75:
                return "invalid_blocks"
    return ""


def _plain(text: str) -> str:
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _yes(**fields: Any) -> Reply:
    return Reply(body={"ok": True, **fields})


def _no(error: str) -> Reply:
    return Reply(body={"ok": False, "error": error})
