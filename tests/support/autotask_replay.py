"""Autotask's REST API version 1.0 and its zone look-up, as documented, over tickets it keeps."""

from __future__ import annotations

import base64
import itertools
import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from tests.support.replaying import Asked, Replay, Reply, Route, served

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.support.file_replay import Kept

Record = dict[str, Any]

USERNAME, SECRET, CODE = "api@harbourlane.example", "autotask-secret-01", "HUCX2HRYNAJNBM"
BASE = "/ATServicesRest/V1.0"
STATUSES = {1: "New", 5: "Complete", 7: "Waiting Customer", 8: "In Progress", 11: "Escalate"}
_OPERATORS = {
    "eq": lambda value, other: value == other,
    "gte": lambda value, other: str(value) >= str(other),
}


@dataclass(kw_only=True)
class AutotaskReplay(Replay):
    """The entities of an organisation, by kind and number. `zone_url` is what it says of itself."""

    entities: dict[str, dict[int, Record]] = field(default_factory=dict)
    files: dict[int, Kept] = field(default_factory=dict)
    zone_url: str = ""
    now: datetime = datetime(2026, 3, 2, 9, tzinfo=UTC)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(7_001))

    def stamp(self) -> str:
        return f"{self.now:%Y-%m-%dT%H:%M:%S}.{self.now.microsecond // 1000:03d}Z"

    def put(self, entity: str, **fields: Any) -> Record:
        record = {"id": next(self.numbers), **fields}
        self.entities.setdefault(entity, {})[record["id"]] = record
        return record

    def add(self, title: str, description: str, contact: Record, **more: Any) -> Record:
        """Let a contact ask."""
        return self.put(
            "Tickets",
            ticketNumber="T20260302.0001",
            title=title,
            description=description,
            status=1,
            priority=2,
            companyID=contact["companyID"],
            contactID=contact["id"],
            createDate=self.stamp(),
            lastActivityDate=self.stamp(),
            dueDateTime="2026-03-03T17:00:00Z",
            queueID=5,
            **more,
        )

    def note(self, ticket: int, description: str, **by: Any) -> Record:
        """Let a contact or a resource note something."""
        self.entities["Tickets"][ticket]["lastActivityDate"] = self.stamp()
        people = {"createdByContactID": None, "creatorResourceID": None, **by}
        return self.put(
            "TicketNotes",
            ticketID=ticket,
            description=description,
            createDateTime=self.stamp(),
            **{"title": "", "noteType": 1, "publish": 1, **people},
        )

    def attach(self, ticket: int, kept: Kept, **more: Any) -> None:
        """Let a contact or a resource attach a file; lists leave out its data."""
        people = {"attachedByContactID": None, "attachedByResourceID": None}
        row = self.put(
            "TicketAttachments",
            ticketID=ticket,
            parentID=ticket,
            title=kept.name.partition(".")[0],
            fullPath=kept.name,
            contentType=kept.media_type,
            attachmentType="FILE_ATTACHMENT",
            **{"fileSize": float(len(kept.content)), "data": None, **people, **more},
        )
        self.files[row["id"]] = kept
        self.entities["Tickets"][ticket]["lastActivityDate"] = self.stamp()

    def refused(self, asked: Asked) -> Reply | None:
        if asked.path.endswith("/zoneInformation"):
            return None
        sent = tuple(
            asked.headers.get(name) for name in ("username", "secret", "apiintegrationcode")
        )
        return None if sent == (USERNAME, SECRET, CODE) else Reply(status=401)

    def unknown(self, asked: Asked) -> Reply:
        return Reply(status=404, body={"errors": ["The requested resource does not exist."]})

    def routes(self) -> Mapping[tuple[str, str], Route]:
        return {
            ("GET", f"{BASE}/zoneInformation"): self._zone,
            ("GET", f"{BASE}/Tickets/entityInformation/fields"): self._fields,
            ("POST", f"{BASE}/([A-Za-z]+)/query"): self._query,
            ("POST", f"{BASE}/([A-Za-z]+)/query/next"): self._query,
            ("GET", f"{BASE}/TicketAttachments/([0-9]+)"): self._attachment,
            ("GET", f"{BASE}/([A-Za-z]+)/([0-9]+)"): self._get,
            ("POST", f"{BASE}/Tickets/([0-9]+)/Notes"): self._note,
            ("PATCH", f"{BASE}/Tickets"): self._patch,
            ("POST", f"{BASE}/TimeEntries"): self._time,
        }

    def _zone(self, asked: Asked) -> Reply:
        if asked.query.get("user") != USERNAME:
            return Reply(status=500, body={"errors": ["No zone was found for that user."]})
        url = self.zone_url or f"{self.url}/ATServicesRest/"
        return Reply(body={"zoneName": "Test", "url": url, "webUrl": "", "ci": 1})

    def _query(self, asked: Asked, entity: str) -> Reply:
        paging = json.loads(asked.query.get("paging", '{"nextId": 0}'))
        if asked.path.endswith("/next") == ("paging" not in asked.query):
            return Reply(status=500, body={"errors": ["The paging is invalid."]})
        rows = [
            record
            for number, record in sorted(self.entities.get(entity, {}).items())
            if number > paging["nextId"]
            and all(
                _OPERATORS[each["op"]](record.get(each["field"]), each["value"])
                for each in asked.body["filter"]
            )
        ]
        most = asked.body["MaxRecords"]
        shown, following = rows[:most], None
        if len(rows) > most:
            query = urlencode({"paging": json.dumps({"pageSize": most, "nextId": shown[-1]["id"]})})
            following = f"{self.url}{BASE}/{entity}/query/next?{query}"
        details = {"count": len(shown), "prevPageUrl": None, "nextPageUrl": following}
        return Reply(body={"items": shown, "pageDetails": details})

    def _get(self, asked: Asked, entity: str, number: str) -> Reply:
        return Reply(body={"item": self.entities.get(entity, {}).get(int(number))})

    def _attachment(self, asked: Asked, number: str) -> Reply:
        """Answer an attachment with its data, in the form of a query; or a page of the proxy."""
        given = self.files[int(number)].read()
        if given.status != 200 or "html" in given.headers["content-type"]:
            return given
        data = base64.b64encode(given.body).decode()
        row = self.entities["TicketAttachments"][int(number)] | {"data": data}
        return Reply(body={"items": [row], "pageDetails": {"count": 1}})

    def _note(self, asked: Asked, number: str) -> Reply:
        if int(number) not in self.entities.get("Tickets", {}):
            return self.unknown(asked)
        given = dict(asked.body)
        note = self.note(int(number), given.pop("description"), creatorResourceID=29, **given)
        return Reply(body={"itemId": note["id"]})

    def _fields(self, asked: Asked) -> Reply:
        values = [
            {"value": str(number), "label": label, "isActive": True}
            for number, label in STATUSES.items()
        ]
        return Reply(body={"fields": [{"name": "status", "picklistValues": values}]})

    def _patch(self, asked: Asked) -> Reply:
        ticket = self.entities.get("Tickets", {}).get(asked.body["id"])
        if ticket is None:
            return self.unknown(asked)
        if asked.body["status"] not in STATUSES:
            return Reply(status=500, body={"errors": ["The status is invalid."]})
        ticket |= {**asked.body, "lastActivityDate": self.stamp()}
        return Reply(body={"itemId": ticket["id"]})

    def _time(self, asked: Asked) -> Reply:
        return Reply(body={"itemId": self.put("TimeEntries", **asked.body)["id"]})


@contextmanager
def autotask_replay() -> Iterator[AutotaskReplay]:
    """Serve an organisation until the block ends."""
    with served(AutotaskReplay()) as replay:
        yield replay
