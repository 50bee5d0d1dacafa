"""Intercom's conversations, as its REST API 2.11 documents them, over those it keeps."""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tests.support.replaying import Asked, Replay, Reply, Route, served

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.support.file_replay import Kept

Record = dict[str, Any]

ACCESS_TOKEN, ADMIN = "dG9rOmludGVyY29tLWFjY2Vzcy10b2tlbg", "814860"
CONVERSATION = "/conversations/([0-9]+)"
MARA = {"type": "user", "id": "6329bd9ffe4e2e91dac76188", "email": "mara@northwind.example"}
STATES = {"close": "closed", "open": "open"}


@dataclass(kw_only=True)
class IntercomReplay(Replay):
    """The conversations of a workspace."""

    conversations: dict[str, Record] = field(default_factory=dict)
    parts: dict[str, list[Record]] = field(default_factory=dict)
    now: datetime = datetime(2026, 3, 2, 9, tzinfo=UTC)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(4_711))

    def seconds(self) -> int:
        return int(self.now.timestamp())

    def add(self, title: str, text: str) -> Record:
        """Let a customer ask."""
        number = str(next(self.numbers))
        lines = [line or "<br>" for line in text.split("\n")]
        paragraphs = "".join(f"<p>{line}</p>" for line in lines)
        self.conversations[number] = {
            "type": "conversation",
            "id": number,
            "title": title,
            "state": "open",
            "priority": "not_priority",
            "created_at": self.seconds(),
            "updated_at": self.seconds(),
            "source": {"type": "conversation", "subject": "", "body": paragraphs, "author": MARA},
        }
        self.parts[number] = []
        return self.conversations[number]

    def say(self, number: str, html: str, author: Record, kind: str = "comment") -> Record:
        part = {
            "type": "conversation_part",
            "id": str(next(self.numbers)),
            "part_type": kind,
            "body": html,
            "created_at": self.seconds(),
            "author": author,
        }
        self.parts[number].append(part)
        self.touch(number)
        return part

    def attach(self, record: Record, kept: Kept, **more: Any) -> None:
        """Attach a file to a part or a source, at a signed address; files have no ids here."""
        row = {
            "type": "upload",
            "name": kept.name,
            "url": kept.url,
            "content_type": kept.media_type,
            "filesize": len(kept.content),
        }
        record.setdefault("attachments", []).append({**row, **more})

    def touch(self, number: str) -> None:
        self.conversations[number]["updated_at"] = self.seconds()

    def refused(self, asked: Asked) -> Reply | None:
        if asked.headers.get("authorization") == f"Bearer {ACCESS_TOKEN}":
            return None
        return _error(401, "unauthorized", "Access Token Invalid")

    def unknown(self, asked: Asked) -> Reply:
        return _error(404, "not_found", "Resource Not Found")

    def routes(self) -> Mapping[tuple[str, str], Route]:
        return {
            ("POST", "/conversations/search"): self._search,
            ("GET", CONVERSATION): self._conversation,
            ("POST", f"{CONVERSATION}/reply"): self._reply,
            ("POST", f"{CONVERSATION}/parts"): self._move,
        }

    def _search(self, asked: Asked) -> Reply:
        query, pages = asked.body["query"], asked.body["pagination"]
        if (query["field"], query["operator"]) != ("updated_at", ">"):
            return _error(400, "parameter_invalid", "unknown query")
        rows = [item for item in self.conversations.values() if item["updated_at"] > query["value"]]
        at, size = int(pages.get("starting_after", "0")), pages["per_page"]
        more = {"next": {"starting_after": str(at + size)}} if rows[at + size :] else {}
        body = {"type": "conversation.list", "conversations": rows[at : at + size], "pages": more}
        return Reply(body=body)

    def _whole(self, number: str) -> Record:
        parts = {"type": "conversation_part.list", "conversation_parts": self.parts[number]}
        return {**self.conversations[number], "conversation_parts": parts}

    def _conversation(self, asked: Asked, number: str) -> Reply:
        known = number in self.conversations
        return Reply(body=self._whole(number)) if known else self.unknown(asked)

    def _reply(self, asked: Asked, number: str) -> Reply:
        if number not in self.conversations:
            return self.unknown(asked)
        admin = {"type": "admin", "id": asked.body["admin_id"], "email": "cairn@example.org"}
        html = f"<p>{asked.body['body']}</p>"
        self.say(number, html, admin, asked.body["message_type"])
        return Reply(body=self._whole(number))

    def _move(self, asked: Asked, number: str) -> Reply:
        self.conversations[number]["state"] = STATES[asked.body["message_type"]]
        self.touch(number)
        return Reply(body=self._whole(number))


def _error(status: int, code: str, message: str) -> Reply:
    errors = [{"code": code, "message": message}]
    return Reply(status=status, body={"type": "error.list", "errors": errors})


@contextmanager
def intercom_replay() -> Iterator[IntercomReplay]:
    """Serve a workspace until the block ends."""
    with served(IntercomReplay()) as replay:
        yield replay
