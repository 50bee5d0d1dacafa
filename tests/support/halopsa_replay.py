"""HaloPSA's API and its authorisation server, as documented, over tickets it keeps."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tests.support.replaying import Asked, Replay, Reply, Route, served

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.support.file_replay import Kept

Record = dict[str, Any]

CLIENT_ID, CLIENT_SECRET, TENANT = "b3c1f6de-halo", "halo-secret-0123456789", "harbourlane"
STATUSES = {1: "New", 2: "In Progress", 4: "With User", 8: "Resolved", 9: "Closed"}
NO_TIME = "0001-01-01T00:00:00"
_LIST = {"pageinate", "page_size", "page_no", "order", "orderdesc", "lastupdatefromdate"}


@dataclass(kw_only=True)
class HaloReplay(Replay):
    """The tickets of an instance, and the tokens it gave out."""

    tickets: dict[int, Record] = field(default_factory=dict)
    actions: dict[int, list[Record]] = field(default_factory=dict)
    attachments: dict[int, list[Record]] = field(default_factory=dict)
    files: dict[str, Kept] = field(default_factory=dict)
    tokens: list[str] = field(default_factory=list)
    revoked: bool = False
    now: datetime = datetime(2026, 3, 2, 9, tzinfo=UTC)

    def stamp(self) -> str:
        return f"{self.now:%Y-%m-%dT%H:%M:%S}.{self.now.microsecond:06d}7Z"

    def add(self, summary: str, details: str, **more: Any) -> Record:
        """Let a user ask."""
        number = 2_001 + len(self.tickets)
        ticket = {
            "id": number,
            "summary": summary,
            "details": details,
            "dateoccurred": self.stamp(),
            "lastactiondate": self.stamp(),
            "last_update": self.stamp(),
            "fixbydate": NO_TIME,
            "status_id": 1,
            "priority_id": 3,
            "client_id": 12,
            "client_name": "Northwind",
            "user_id": 399,
            "user_name": "Mara Voss",
            "user_email": "mara@northwind.example",
            **more,
        }
        self.tickets[number] = ticket
        self.act(number, details, who="Mara Voss")
        return ticket

    def act(self, number: int, note: str, **more: Any) -> Record:
        """Let a user act on a ticket; with `who_agentid`, an agent."""
        rows = self.actions.setdefault(number, [])
        action = {
            "id": len(rows) + 1,
            "ticket_id": number,
            "datetime": self.stamp(),
            "who": "",
            "who_agentid": 0,
            "note": note,
            "hiddenfromuser": False,
            **more,
        }
        rows.append(action)
        self.tickets[number] |= {"lastactiondate": self.stamp(), "last_update": self.stamp()}
        return action

    def attach(self, number: int, action: Record, kept: Kept, **more: Any) -> None:
        """Attach a file to an action; lists leave out its data."""
        self.files[str(kept.named)] = kept
        row = {
            "id": kept.named,
            "filename": kept.name,
            "datecreated": self.stamp(),
            "note": "",
            "filesize": len(kept.content),
            "type": 0,
            "unique_id": number,
            "desc": "",
            "ticket_id": number,
            "action_id": action["id"],
            "user_id": 0,
            "agent_id": action["who_agentid"],
            "showforusers": True,
            **more,
        }
        self.attachments.setdefault(number, []).append(row)
        self.tickets[number]["last_update"] = self.stamp()

    def refused(self, asked: Asked) -> Reply | None:
        if asked.path == "/auth/token":
            return None
        sent = asked.headers.get("authorization", "").removeprefix("Bearer ")
        return None if sent in self.tokens else Reply(status=401)

    def unknown(self, asked: Asked) -> Reply:
        return Reply(status=404, body={"message": "Not found"})

    def routes(self) -> Mapping[tuple[str, str], Route]:
        return {
            ("POST", "/auth/token"): self._token,
            ("GET", "/api/Tickets"): self._list,
            ("POST", "/api/Tickets"): self._change,
            ("GET", "/api/Tickets/([0-9]+)"): self._ticket,
            ("GET", "/api/Actions"): self._list_actions,
            ("POST", "/api/Actions"): self._act,
            ("GET", "/api/Status"): self._statuses,
            ("GET", "/api/Attachment"): self._attachments,
            ("GET", "/api/Attachment/([0-9]+)"): self._attachment,
        }

    def _token(self, asked: Asked) -> Reply:
        form = {
            "grant_type": "client_credentials",
            "client_id": CLIENT_ID,
            "client_secret": CLIENT_SECRET,
            "scope": "all",
        }
        if asked.body != form or self.revoked:
            return Reply(status=400, body={"error": "invalid_client"})
        self.tokens.append(f"token-{len(self.tokens)}")
        body = {"access_token": self.tokens[-1], "token_type": "Bearer", "expires_in": 3600}
        return Reply(body=body)

    def _list(self, asked: Asked) -> Reply:
        if set(asked.query) != _LIST or asked.query["order"] != "id":
            return Reply(status=400, body={"message": f"unknown: {asked.query}"})
        since = datetime.fromisoformat(asked.query["lastupdatefromdate"]).replace(tzinfo=UTC)
        tickets = [
            {name: value for name, value in ticket.items() if name not in {"details", "user_email"}}
            for _, ticket in sorted(self.tickets.items())
            if datetime.fromisoformat(ticket["last_update"]) >= since
        ]
        size, number = int(asked.query["page_size"]), int(asked.query["page_no"])
        shown = tickets[(number - 1) * size : number * size]
        return Reply(
            body={
                "page_no": number,
                "page_size": size,
                "record_count": len(tickets),
                "tickets": shown,
            }
        )

    def _ticket(self, asked: Asked, number: str) -> Reply:
        ticket = self.tickets.get(int(number))
        if ticket is None:
            return self.unknown(asked)
        details = {} if asked.query.get("includedetails") == "true" else {"details": None}
        return Reply(body={**ticket, **details})

    def _change(self, asked: Asked) -> Reply:
        (change,) = asked.body
        ticket = self.tickets.get(change["id"])
        if ticket is None or change["status_id"] not in STATUSES:
            return Reply(status=400, body={"message": "The status is invalid"})
        ticket |= {**change, "last_update": self.stamp()}
        return Reply(status=201, body=ticket)

    def _list_actions(self, asked: Asked) -> Reply:
        rows = self.actions.get(int(asked.query["ticket_id"]), [])
        shown = rows[::-1][: int(asked.query["count"])]
        return Reply(body={"record_count": len(rows), "actions": shown})

    def _act(self, asked: Asked) -> Reply:
        (given,) = asked.body
        if given["ticket_id"] not in self.tickets:
            return Reply(status=400, body={"message": "The ticket is invalid"})
        return Reply(
            status=201,
            body=self.act(given["ticket_id"], **{**given, "who": "Cairn", "who_agentid": 7}),
        )

    def _attachments(self, asked: Asked) -> Reply:
        rows = self.attachments.get(int(asked.query["ticket_id"]), [])
        return Reply(body={"record_count": len(rows), "attachments": rows})

    def _attachment(self, asked: Asked, number: str) -> Reply:
        return self.files[number].read()

    def _statuses(self, asked: Asked) -> Reply:
        return Reply(body=[{"id": number, "name": name} for number, name in STATUSES.items()])


@contextmanager
def halopsa_replay() -> Iterator[HaloReplay]:
    """Serve an instance until the block ends."""
    with served(HaloReplay()) as replay:
        yield replay
