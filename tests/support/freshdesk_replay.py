"""Freshdesk's API version 2, as documented, over tickets it keeps."""

from __future__ import annotations

import base64
import itertools
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tests.support.replaying import Asked, Replay, Reply, Route, served

from cairn.tickets.html import plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.support.file_replay import Kept

Record = dict[str, Any]

API_KEY = "abcdefghij1234567890"
TICKET = "/api/v2/tickets/([0-9]+)"
STATUSES = {
    "2": ["Open", "Being Processed"],
    "3": ["Pending", "Awaiting your Reply"],
    "4": ["Resolved", "This ticket has been Resolved"],
    "5": ["Closed", "This ticket has been Closed"],
}
MARA = {"id": 41, "name": "Mara Voss", "email": "mara@northwind.example"}


@dataclass(kw_only=True)
class FreshdeskReplay(Replay):
    """The tickets of an account, their conversations and times."""

    tickets: dict[str, Record] = field(default_factory=dict)
    conversations: dict[str, list[Record]] = field(default_factory=dict)
    times: dict[str, list[Record]] = field(default_factory=dict)
    now: datetime = datetime(2026, 3, 2, 9, tzinfo=UTC)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(101))

    def stamp(self) -> str:
        return f"{self.now:%Y-%m-%dT%H:%M:%SZ}"

    def add(self, subject: str, text: str) -> Record:
        """Let a customer ask."""
        number = next(self.numbers)
        self.tickets[str(number)] = {
            "id": number,
            "subject": subject,
            "description": f"<div>{text}</div>".replace("\n", "<br>"),
            "description_text": text,
            "status": 2,
            "priority": 2,
            "requester_id": 41,
            "requester": MARA,
            "company": {"id": 9, "name": "Northwind"},
            "created_at": self.stamp(),
            "updated_at": self.stamp(),
        }
        return self.tickets[str(number)]

    def say(self, number: str, html: str, user: int, *, incoming: bool, private: bool) -> Record:
        row = {
            "id": next(self.numbers),
            "user_id": user,
            "body": html,
            "body_text": plain_text(html),
            "incoming": incoming,
            "private": private,
            "created_at": self.stamp(),
            "from_email": MARA["email"] if incoming else None,
        }
        self.conversations.setdefault(number, []).append(row)
        self.touch(number)
        return row

    def attach(self, record: Record, kept: Kept, **more: Any) -> None:
        """Attach a file to a ticket or a conversation, at an address of the store."""
        row = {
            "id": kept.named,
            "name": kept.name,
            "content_type": kept.media_type,
            "size": len(kept.content),
            "attachment_url": kept.url,
        }
        record.setdefault("attachments", []).append({**row, **more})

    def touch(self, number: str) -> None:
        self.tickets[number]["updated_at"] = self.stamp()

    def refused(self, asked: Asked) -> Reply | None:
        sent = base64.b64encode(f"{API_KEY}:X".encode()).decode()
        if asked.headers.get("authorization") != f"Basic {sent}":
            body = {"code": "invalid_credentials", "message": "You have to be logged in."}
            return Reply(status=401, body=body)
        return None

    def unknown(self, asked: Asked) -> Reply:
        return Reply(status=404)

    def routes(self) -> Mapping[tuple[str, str], Route]:
        return {
            ("GET", "/api/v2/tickets"): self._list,
            ("GET", TICKET): self._ticket,
            ("PUT", TICKET): self._change,
            ("GET", f"{TICKET}/conversations"): self._conversations,
            ("POST", f"{TICKET}/reply"): self._reply,
            ("POST", f"{TICKET}/notes"): self._note,
            ("GET", f"{TICKET}/time_entries"): self._times,
            ("POST", f"{TICKET}/time_entries"): self._enter,
            ("GET", "/api/v2/ticket_fields"): self._fields,
        }

    def _list(self, asked: Asked) -> Reply:
        if asked.query["order_by"] != "created_at" or int(asked.query["per_page"]) > 100:
            return Reply(status=400, body={"description": "Validation failed"})
        since = datetime.fromisoformat(asked.query["updated_since"])
        rows = [
            {name: value for name, value in item.items() if name != "attachments"}
            for _, item in sorted(self.tickets.items())
            if datetime.fromisoformat(item["updated_at"]) >= since
        ]
        size, page = int(asked.query["per_page"]), int(asked.query["page"])
        return Reply(body=rows[(page - 1) * size : page * size])

    def _ticket(self, asked: Asked, number: str) -> Reply:
        ticket = self.tickets.get(number)
        return self.unknown(asked) if ticket is None else Reply(body={"attachments": [], **ticket})

    def _conversations(self, asked: Asked, number: str) -> Reply:
        if number not in self.tickets:
            return self.unknown(asked)
        size, page = int(asked.query["per_page"]), int(asked.query["page"])
        return Reply(body=self.conversations.get(number, [])[(page - 1) * size : page * size])

    def _reply(self, asked: Asked, number: str) -> Reply:
        return self._said(asked, number, private=False)

    def _note(self, asked: Asked, number: str) -> Reply:
        return self._said(asked, number, private=asked.body["private"])

    def _said(self, asked: Asked, number: str, *, private: bool) -> Reply:
        if number not in self.tickets:
            return self.unknown(asked)
        row = self.say(number, asked.body["body"], 7, incoming=False, private=private)
        return Reply(status=201, body=row)

    def _change(self, asked: Asked, number: str) -> Reply:
        ticket = self.tickets.get(number)
        if ticket is None:
            return self.unknown(asked)
        ticket |= asked.body
        self.touch(number)
        return Reply(body=ticket)

    def _times(self, asked: Asked, number: str) -> Reply:
        return Reply(body=self.times.get(number, []))

    def _enter(self, asked: Asked, number: str) -> Reply:
        entry = {"id": next(self.numbers), **asked.body}
        self.times.setdefault(number, []).append(entry)
        return Reply(status=201, body=entry)

    def _fields(self, asked: Asked) -> Reply:
        return Reply(body=[{"name": "status", "type": "default_status", "choices": STATUSES}])


@contextmanager
def freshdesk_replay() -> Iterator[FreshdeskReplay]:
    """Serve an account until the block ends."""
    with served(FreshdeskReplay()) as replay:
        yield replay
