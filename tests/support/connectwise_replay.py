"""ConnectWise PSA's REST API 3.0, as documented, over tickets it keeps, and its callbacks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import itertools
import json
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tests.support.replaying import Asked, Replay, Reply, Route, served

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.support.file_replay import Kept

Record = dict[str, Any]

COMPANY, PUBLIC, PRIVATE, CLIENT_ID = "harbourlane", "pub-0123", "priv-456789", "c7d2f3a0-1b2c"
SIGNING_KEY = "cw-signing-key"
BASE = "/v4_6_release/apis/3.0"
TICKET = f"{BASE}/service/tickets/([0-9]+)"
STATUSES = {1: "New", 2: "In Progress", 3: "Waiting on Customer", 4: "Closed"}
_CONDITION = re.compile(r'([A-Za-z/]+)(>=|=)(?:\[([^\]]+)\]|"([^"]*)"|([A-Za-z0-9]+))')


@dataclass(kw_only=True)
class ConnectWiseReplay(Replay):
    """The tickets of a company's boards."""

    tickets: dict[int, Record] = field(default_factory=dict)
    notes: dict[int, list[Record]] = field(default_factory=dict)
    times: list[Record] = field(default_factory=list)
    documents: dict[int, list[Record]] = field(default_factory=dict)
    files: dict[str, Kept] = field(default_factory=dict)
    now: datetime = datetime(2026, 3, 2, 9, tzinfo=UTC)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(501))

    def stamp(self) -> str:
        return f"{self.now:%Y-%m-%dT%H:%M:%SZ}"

    def add(self, summary: str, text: str, **more: Any) -> Record:
        """Let a contact ask."""
        number = next(self.numbers)
        ticket = {
            "id": number,
            "summary": summary,
            "board": {"id": 1, "name": "Help Desk"},
            "status": {"id": 1, "name": "New"},
            "priority": {"id": 3, "name": "Priority 3 - Medium"},
            "company": {"id": 250, "identifier": "Northwind", "name": "Northwind"},
            "contact": {"id": 77, "name": "Mara Voss"},
            "contactEmailAddress": "mara@northwind.example",
            "closedFlag": False,
            "_info": {"lastUpdated": self.stamp(), "dateEntered": self.stamp()},
            **more,
        }
        self.tickets[number] = ticket
        self.note(number, text, contact=ticket["contact"])
        return ticket

    def note(self, number: int, text: str, **more: Any) -> Record:
        """Let somebody note something; that changes the ticket."""
        note = {
            "id": next(self.numbers),
            "ticketId": number,
            "text": text,
            "detailDescriptionFlag": True,
            "internalAnalysisFlag": False,
            "dateCreated": self.stamp(),
            **more,
        }
        self.notes.setdefault(number, []).append(note)
        self.tickets[number]["_info"]["lastUpdated"] = self.stamp()
        return note

    def attach(self, number: int, kept: Kept, **more: Any) -> None:
        """Attach a document to a ticket; without `publicFlag` the portal does not show it."""
        self.files[str(kept.named)] = kept
        document = {
            "id": kept.named,
            "title": kept.name,
            "fileName": kept.name,
            "serverFileName": f"{kept.named}.bin",
            "owner": "EmailConnector",
            "linkFlag": False,
            "imageFlag": False,
            "publicFlag": False,
            "readOnlyFlag": False,
            "size": len(kept.content),
            "urlFlag": False,
            **more,
        }
        self.documents.setdefault(number, []).append(document)
        self.tickets[number]["_info"]["lastUpdated"] = self.stamp()

    def callback(self, number: int, action: str = "updated") -> bytes:
        entity = json.dumps({"id": number, "summary": self.tickets[number]["summary"]})
        document = {
            "MessageId": "9b1e",
            "FromUrl": "na.myconnectwise.net",
            "CompanyId": COMPANY,
            "Action": action,
            "Type": "ticket",
            "ID": number,
            "Metadata": {"key_url": f"{self.url}/keys"},
            "Entity": entity,
        }
        return json.dumps(document).encode()

    def refused(self, asked: Asked) -> Reply | None:
        sent = base64.b64encode(f"{COMPANY}+{PUBLIC}:{PRIVATE}".encode()).decode()
        ours = asked.headers.get("authorization") == f"Basic {sent}"
        if not ours or asked.headers.get("clientid") != CLIENT_ID:
            return Reply(status=401, body={"code": "Unauthorized", "message": "Check clientId."})
        return None

    def unknown(self, asked: Asked) -> Reply:
        return Reply(status=404, body={"code": "NotFound", "message": "Ticket not found"})

    def routes(self) -> Mapping[tuple[str, str], Route]:
        return {
            ("GET", f"{BASE}/service/tickets"): self._list,
            ("GET", TICKET): self._ticket,
            ("PATCH", TICKET): self._patch,
            ("GET", f"{TICKET}/notes"): self._notes,
            ("POST", f"{TICKET}/notes"): self._note,
            ("GET", f"{BASE}/time/entries"): self._times,
            ("POST", f"{BASE}/time/entries"): self._time,
            ("GET", f"{BASE}/system/documents"): self._documents,
            ("GET", f"{BASE}/system/documents/([0-9]+)/download"): self._download,
        }

    def _list(self, asked: Asked) -> Reply:
        return _page(asked, list(self.tickets.values()))

    def _ticket(self, asked: Asked, number: str) -> Reply:
        ticket = self.tickets.get(int(number))
        return self.unknown(asked) if ticket is None else Reply(body=ticket)

    def _patch(self, asked: Asked, number: str) -> Reply:
        ticket, (change,) = self.tickets.get(int(number)), asked.body
        if ticket is None:
            return self.unknown(asked)
        status = next(
            (
                {"id": each, "name": name}
                for each, name in STATUSES.items()
                if change["value"] in ({"id": each}, {"name": name})
            ),
            None,
        )
        if change["op"] != "replace" or change["path"] != "status" or status is None:
            return Reply(status=400, body={"code": "InvalidObject", "message": "Status not found"})
        closed = status["name"] == "Closed"
        ticket |= {"status": status, "closedFlag": closed}
        ticket["_info"]["lastUpdated"] = self.stamp()
        return Reply(body=ticket)

    def _notes(self, asked: Asked, number: str) -> Reply:
        if int(number) not in self.tickets:
            return self.unknown(asked)
        return _page(asked, self.notes.get(int(number), []))

    def _note(self, asked: Asked, number: str) -> Reply:
        if int(number) not in self.tickets:
            return self.unknown(asked)
        given = dict(asked.body)
        return Reply(
            status=201,
            body=self.note(int(number), given.pop("text"), member={"identifier": "api"}, **given),
        )

    def _documents(self, asked: Asked) -> Reply:
        if asked.query["recordType"] != "Ticket":
            return Reply(status=400, body={"message": "recordType is required"})
        rows = self.documents.get(int(asked.query["recordId"]), [])
        return Reply(body=rows[: int(asked.query["pageSize"])])

    def _download(self, asked: Asked, number: str) -> Reply:
        return self.files[number].read()

    def _times(self, asked: Asked) -> Reply:
        return _page(asked, self.times)

    def _time(self, asked: Asked) -> Reply:
        if not {"chargeToId", "chargeToType", "timeStart"} <= asked.body.keys():
            return Reply(status=400, body={"message": "timeStart is required"})
        entry = {"id": next(self.numbers), **asked.body}
        self.times.append(entry)
        return Reply(status=201, body=entry)


def signed(body: bytes, secret: str = SIGNING_KEY) -> dict[str, str]:
    """The headers of a callback."""
    key = hashlib.sha256(secret.encode()).digest()
    return {"x-content-signature": base64.b64encode(hmac.digest(key, body, "sha256")).decode()}


def _page(asked: Asked, rows: list[Record]) -> Reply:
    rest = asked.query.get("conditions", "")
    for name, operator, moment, text, word in _CONDITION.findall(rest):
        rows = [row for row in rows if _fits(row, name, operator, moment or text or word)]
    rows = sorted(rows, key=lambda row: row["id"], reverse=asked.query["orderBy"] == "id desc")
    size, number = int(asked.query["pageSize"]), int(asked.query.get("page", "1"))
    return Reply(body=rows[(number - 1) * size : number * size])


def _fits(row: Record, name: str, operator: str, value: str) -> bool:
    has: Any = row["_info"] if name == "lastUpdated" else row
    for part in name.split("/"):
        has = has[part]
    return str(has) >= value if operator == ">=" else str(has).casefold() == value.casefold()


@contextmanager
def connectwise_replay() -> Iterator[ConnectWiseReplay]:
    """Serve a company until the block ends."""
    with served(ConnectWiseReplay()) as replay:
        yield replay
