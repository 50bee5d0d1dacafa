"""Zendesk's ticketing API, as documented, over tickets it keeps."""

from __future__ import annotations

import base64
import itertools
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tests.support.replaying import Asked, Replay, Reply, Route, served

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.support.file_replay import Kept

Record = dict[str, Any]

EMAIL, API_TOKEN = "cairn@harbourlane.example", "6wiIBWbGkBMo1mRDMuVwkw1EPsNkeUj95PIz2akv"
TICKET = "/api/v2/tickets/([0-9]+)"
STATUSES = {
    1: ("New", "new"),
    2: ("Open", "open"),
    3: ("Pending", "pending"),
    5: ("Solved", "solved"),
}
PEOPLE = {
    7: {"id": 7, "email": "cairn@harbourlane.example", "role": "agent"},
    8: {"id": 8, "email": "lena@harbourlane.example", "role": "agent"},
    41: {"id": 41, "email": "mara@northwind.example", "role": "end-user"},
}


@dataclass(kw_only=True)
class ZendeskReplay(Replay):
    """The tickets of an account, and their comments."""

    tickets: dict[str, Record] = field(default_factory=dict)
    comments: dict[str, list[Record]] = field(default_factory=dict)
    files: dict[str, Kept] = field(default_factory=dict)
    now: datetime = datetime(2026, 3, 2, 9, tzinfo=UTC)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(35_436))

    def stamp(self) -> str:
        return f"{self.now:%Y-%m-%dT%H:%M:%SZ}"

    def add(self, subject: str, text: str) -> Record:
        """Let a customer ask."""
        number = next(self.numbers)
        ticket = {
            "id": number,
            "subject": subject,
            "description": text,
            "status": "new",
            "custom_status_id": 1,
            "priority": "normal",
            "requester_id": 41,
            "organization_id": 509,
            "created_at": self.stamp(),
            "updated_at": self.stamp(),
        }
        self.tickets[str(number)] = ticket
        self.comment(str(number), text, 41)
        return ticket

    def comment(self, number: str, text: str, author: int, *, public: bool = True) -> Record:
        comment = {
            "id": next(self.numbers),
            "type": "Comment",
            "author_id": author,
            "body": text,
            "plain_body": text,
            "public": public,
            "created_at": self.stamp(),
        }
        self.comments.setdefault(number, []).append(comment)
        self.touch(number)
        return comment

    def attach(self, comment: Record, kept: Kept, **more: Any) -> None:
        """Attach a file to a comment; its address sends who is signed in on to the store."""
        self.files[str(kept.named)] = kept
        row = {
            "id": kept.named,
            "file_name": kept.name,
            "content_url": f"{self.url}/attachments/token/{kept.named}/?name={quote(kept.name)}",
            "content_type": kept.media_type,
            "size": len(kept.content),
            "inline": False,
            "deleted": False,
            "malware_scan_result": "malware_not_found",
        }
        comment.setdefault("attachments", []).append({**row, **more})

    def touch(self, number: str) -> None:
        self.tickets[number]["updated_at"] = self.stamp()

    def refused(self, asked: Asked) -> Reply | None:
        sent = base64.b64encode(f"{EMAIL}/token:{API_TOKEN}".encode()).decode()
        if asked.headers.get("authorization") != f"Basic {sent}":
            return Reply(status=401, body={"error": "Couldn't authenticate you"})
        return None

    def unknown(self, asked: Asked) -> Reply:
        return Reply(status=404, body={"error": "RecordNotFound", "description": "Not found"})

    def routes(self) -> Mapping[tuple[str, str], Route]:
        return {
            ("GET", "/api/v2/incremental/tickets/cursor.json"): self._export,
            ("GET", f"{TICKET}.json"): self._ticket,
            ("PUT", f"{TICKET}.json"): self._change,
            ("GET", f"{TICKET}/comments.json"): self._comments,
            ("GET", "/api/v2/custom_statuses.json"): self._statuses,
            ("GET", "/attachments/token/([0-9]+)/"): self._file,
        }

    def _file(self, asked: Asked, number: str) -> Reply:
        kept = self.files.get(number)
        return Reply(status=302, headers={"location": kept.url}) if kept else self.unknown(asked)

    def _export(self, asked: Asked) -> Reply:
        """Answer by time of change; the cursor is the place behind the last one of a page."""
        if "cursor" in asked.query:
            text = base64.b64decode(asked.query["cursor"]).decode()
            time, _, number = text.partition("|")
            place = (time, int(number))
        else:
            begin = int(asked.query["start_time"])
            if begin > self.now.timestamp() - 60:
                detail = {"error": "StartTimeTooRecent", "description": "Too recent start_time."}
                return Reply(status=422, body=detail)
            moment = datetime.fromtimestamp(begin, UTC)
            place = (f"{moment:%Y-%m-%dT%H:%M:%SZ}", -1)
        places = sorted(
            ((item["updated_at"], item["id"]), item)
            for item in self.tickets.values()
            if (item["updated_at"], item["id"]) > place
        )
        shown, rest = places[: int(asked.query["per_page"])], places[int(asked.query["per_page"]) :]
        last = shown[-1][0] if shown else place
        cursor = base64.b64encode(f"{last[0]}|{last[1]}".encode()).decode()
        tickets = [{**item, "description": item["description"]} for _, item in shown]
        return Reply(body={"tickets": tickets, "after_cursor": cursor, "end_of_stream": not rest})

    def _ticket(self, asked: Asked, number: str) -> Reply:
        ticket = self.tickets.get(number)
        if ticket is None:
            return self.unknown(asked)
        people = [PEOPLE[ticket["requester_id"]]]
        body = {"ticket": ticket}
        if asked.query.get("include") == "users,organizations":
            body |= {"users": people, "organizations": [{"id": 509, "name": "Northwind"}]}
        return Reply(body=body)

    def _comments(self, asked: Asked, number: str) -> Reply:
        if number not in self.tickets:
            return self.unknown(asked)
        rows = self.comments[number]
        if asked.query.get("sort") == "-created_at":
            rows = rows[::-1]
        people = [PEOPLE[author] for author in sorted({item["author_id"] for item in rows})]
        shown = rows[: int(asked.query["page[size]"])]
        return Reply(body={"comments": shown, "users": people, "meta": {"has_more": False}})

    def _change(self, asked: Asked, number: str) -> Reply:
        ticket = self.tickets.get(number)
        if ticket is None:
            return self.unknown(asked)
        change, events = asked.body["ticket"], []
        if "custom_status_id" in change:
            status = STATUSES[change["custom_status_id"]][1]
            ticket |= {"custom_status_id": change["custom_status_id"], "status": status}
            self.touch(number)
        if "comment" in change:
            comment = change["comment"]
            events.append(self.comment(number, comment["body"], 7, public=comment["public"]))
        return Reply(body={"ticket": ticket, "audit": {"id": next(self.numbers), "events": events}})

    def _statuses(self, asked: Asked) -> Reply:
        rows = [
            {"id": number, "agent_label": label, "status_category": category, "active": True}
            for number, (label, category) in STATUSES.items()
        ]
        return Reply(body={"custom_statuses": rows})


@contextmanager
def zendesk_replay() -> Iterator[ZendeskReplay]:
    """Serve an account until the block ends."""
    with served(ZendeskReplay()) as replay:
        yield replay
