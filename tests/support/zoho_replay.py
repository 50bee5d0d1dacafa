"""Zoho Desk's REST API v1 and its accounts server, as documented, over tickets it keeps.

Shapes, names of parameters and error codes are those of Zoho's own OpenAPI description; like the
original it refuses parameters it does not know, answers 204 to an empty list, and issues access
tokens that end.
"""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tests.support.replaying import Asked, Replay, Reply, Route, served

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Record = dict[str, Any]

ORGANISATION = "600012345"
CLIENT_ID, CLIENT_SECRET = "1000.CLIENTID", "client-secret-0123456789"
REFRESH_TOKEN = "1000.refresh-token-0123456789"
DESK = "/api/v1"
SORTS = {"createdTime", "dueDate", "recentThread"}
SEARCH_SORTS = {"relevance", "createdTime", "modifiedTime", "customerResponseTime"}


@dataclass(kw_only=True)
class ZohoReplay(Replay):
    """The organisation's tickets. `statuses` are the portal's own."""

    tickets: dict[str, Record] = field(default_factory=dict)
    contacts: dict[str, Record] = field(default_factory=dict)
    threads: dict[str, list[Record]] = field(default_factory=dict)
    comments: dict[str, list[Record]] = field(default_factory=dict)
    times: dict[str, list[Record]] = field(default_factory=dict)
    statuses: tuple[str, ...] = ("Open", "On Hold", "Escalated", "Closed")
    from_addresses: tuple[str, ...] = ("support@harbourlane.example",)
    tokens: set[str] = field(default_factory=set)
    refresh_token: str = REFRESH_TOKEN
    issued: int = 0
    now: datetime = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    ids: Iterator[int] = field(default_factory=lambda: itertools.count(7_000_000_000_001))

    @property
    def desk_url(self) -> str:
        """Where the help desk is."""
        return self.url + DESK

    def stamp(self) -> str:
        """The present time as Zoho writes it."""
        return f"{self.now:%Y-%m-%dT%H:%M:%S}.000Z"

    def new_id(self) -> str:
        """A new id."""
        return str(next(self.ids))

    def add_contact(self, email: str, last_name: str, **more: Any) -> Record:
        """Keep a contact and return it."""
        made = {"id": self.new_id(), "email": email, "lastName": last_name, "firstName": None,
                "phone": None, "mobile": None, "accountId": None, "type": None, **more}  # fmt: skip
        self.contacts[made["id"]] = made
        return made

    def add_ticket(self, subject: str, *, contact: Record, **more: Any) -> Record:
        """Keep a ticket and return it."""
        made = {
            "id": self.new_id(),
            "ticketNumber": str(100 + len(self.tickets) + 1),
            "subject": subject,
            "description": f"<div>{subject}</div>",
            "status": "Open",
            "statusType": "Open",
            "priority": None,
            "channel": "Email",
            "email": contact["email"],
            "phone": None,
            "contactId": contact["id"],
            "departmentId": "6000000000001",
            "createdTime": self.stamp(),
            "modifiedTime": self.stamp(),
            "dueDate": None,
            "webUrl": f"{self.url}/support/tickets/{len(self.tickets) + 1}",
            **more,
        }
        self.tickets[made["id"]] = made
        return made

    def write(self, ticket: Record, content: str, **more: Any) -> Record:
        """Let the requester mail to a ticket, as Zoho takes it in, and return the thread."""
        made = {
            "id": self.new_id(),
            "channel": "EMAIL",
            "direction": "in",
            "status": "SUCCESS",
            "isDescriptionThread": False,
            "fromEmailAddress": f'"Mara Voss"<{ticket["email"]}>',
            "author": {"name": "Mara Voss", "email": ticket["email"], "type": "END_USER"},
            "contentType": "text/html",
            "summary": content[:20],
            "content": content,
            "visibility": "public",
            "createdTime": self.stamp(),
            **more,
        }
        self.threads.setdefault(ticket["id"], []).append(made)
        self.tickets[ticket["id"]]["modifiedTime"] = self.stamp()
        return made

    def remark(self, ticket: Record, content: str, *, kind: str, email: str) -> Record:
        """Let an AGENT or an END_USER comment on a ticket and return the comment."""
        made = {
            "id": self.new_id(),
            "content": content,
            "contentType": "plainText",
            "isPublic": True,
            "commentedTime": self.stamp(),
            "commenter": {"name": "X", "email": email, "type": kind},
        }
        self.comments.setdefault(ticket["id"], []).append(made)
        self.tickets[ticket["id"]]["modifiedTime"] = self.stamp()
        return made

    def expire_tokens(self) -> None:
        """Make every access token that was issued an old one."""
        self.tokens.clear()

    def revoke(self) -> None:
        """Take the refresh token back, as an administrator would."""
        self.refresh_token = "none"
        self.tokens.clear()

    def refused(self, asked: Asked) -> Reply | None:
        if not asked.path.startswith(DESK):
            return None
        if (
            asked.headers.get("authorization", "").removeprefix("Zoho-oauthtoken ")
            not in self.tokens
        ):
            return _error(401, "INVALID_OAUTH", "The OAuth Token you provided is invalid.")
        if asked.headers.get("orgid") != ORGANISATION:
            return _error(403, "FORBIDDEN", "You are not allowed to access this organization.")
        return None

    def unknown(self, asked: Asked) -> Reply:
        return _error(404, "URL_NOT_FOUND", "The URL you requested could not be found.")

    def routes(self) -> Mapping[tuple[str, str], Route]:
        ticket = f"{DESK}/tickets/([0-9]+)"
        return {
            ("POST", "/oauth/v2/token"): self._token,
            ("GET", f"{DESK}/organizations/([0-9]+)"): self._organisation,
            ("GET", f"{DESK}/tickets"): self._list,
            ("GET", f"{DESK}/tickets/search"): self._search,
            ("GET", ticket): self._ticket,
            ("PATCH", ticket): self._patch,
            ("GET", f"{ticket}/threads"): self._threads,
            ("GET", f"{ticket}/threads/([0-9]+)"): self._thread,
            ("POST", f"{ticket}/sendReply"): self._reply,
            ("GET", f"{ticket}/comments"): self._comments,
            ("POST", f"{ticket}/comments"): self._comment,
            ("GET", f"{ticket}/timeEntry"): self._times,
            ("POST", f"{ticket}/timeEntry"): self._time,
            ("GET", f"{DESK}/contacts/([0-9]+)"): self._contact,
            ("GET", f"{DESK}/contacts/search"): self._contact_search,
        }

    def _token(self, asked: Asked) -> Reply:
        given = asked.body or {}
        if given.get("grant_type") != "refresh_token":
            return Reply(body={"error": "unsupported_grant_type"})
        if (given.get("client_id"), given.get("client_secret")) != (CLIENT_ID, CLIENT_SECRET):
            return Reply(body={"error": "invalid_client"})
        if given.get("refresh_token") != self.refresh_token:
            return Reply(body={"error": "invalid_code"})
        self.issued += 1
        token = f"1000.access-token-{self.issued:04d}"
        self.tokens.add(token)
        return Reply(
            body={"access_token": token, "api_domain": self.url, "token_type": "Bearer",
                  "expires_in": 3600}
        )  # fmt: skip

    def _organisation(self, asked: Asked, number: str) -> Reply:
        return Reply(
            body={"id": number, "companyName": "Harbour Lane", "portalName": "harbourlane"}
        )

    def _list(self, asked: Asked) -> Reply:
        known = {"from", "limit", "include", "sortBy", "status", "departmentIds", "departmentId"}
        if wrong := _wrong(asked, known, SORTS):
            return wrong
        found = list(self.tickets.values())
        if asked.query.get("status"):
            found = [item for item in found if item["status"] in asked.query["status"].split(",")]
        if asked.query.get("departmentIds"):
            departments = asked.query["departmentIds"].split(",")
            found = [item for item in found if item["departmentId"] in departments]
        return self._page(asked, _sorted(found, asked.query.get("sortBy", "createdTime")))

    def _search(self, asked: Asked) -> Reply:
        known = {"from", "limit", "sortBy", "_all", "email", "status", "modifiedTimeRange"}
        if wrong := _wrong(asked, known, SEARCH_SORTS):
            return wrong
        if not set(asked.query) & {"_all", "email", "status", "modifiedTimeRange"}:
            return _invalid("_all", "missing")
        found = [ticket for ticket in self.tickets.values() if _fits(ticket, asked.query)]
        return self._page(asked, _sorted(found, asked.query.get("sortBy", "createdTime")))

    def _page(self, asked: Asked, found: list[Record]) -> Reply:
        start, limit = int(asked.query.get("from", 0)), int(asked.query.get("limit", 10))
        rows = found[start : start + limit]
        if not rows:
            return Reply(status=204)
        with_contacts = asked.query.get("include") == "contacts"
        return Reply(body={"data": [self._whole(row) if with_contacts else row for row in rows]})

    def _whole(self, ticket: Record) -> Record:
        return {**ticket, "contact": self.contacts.get(ticket["contactId"])}

    def _ticket(self, asked: Asked, number: str) -> Reply:
        found = self.tickets.get(number)
        return self.unknown(asked) if found is None else Reply(body=self._whole(found))

    def _patch(self, asked: Asked, number: str) -> Reply:
        found = self.tickets.get(number)
        if found is None:
            return self.unknown(asked)
        status = (asked.body or {}).get("status")
        if status not in self.statuses:
            return _invalid("/status", "invalid")
        closed = "Closed" if status == "Closed" else "Open"
        found |= {"status": status, "statusType": closed, "modifiedTime": self.stamp()}
        return Reply(body=found)

    def _threads(self, asked: Asked, number: str) -> Reply:
        if number not in self.tickets:
            return self.unknown(asked)
        rows = [
            {name: value for name, value in thread.items() if name not in {"content", "plainText"}}
            for thread in reversed(self.threads.get(number, []))
        ]
        return self._rows(asked, rows)

    def _thread(self, asked: Asked, number: str, thread: str) -> Reply:
        found = next((item for item in self.threads.get(number, []) if item["id"] == thread), None)
        return self.unknown(asked) if found is None else Reply(body=found)

    def _reply(self, asked: Asked, number: str) -> Reply:
        given = asked.body or {}
        if number not in self.tickets:
            return self.unknown(asked)
        if given.get("channel") != "EMAIL" or not given.get("content"):
            return _invalid("/channel", "invalid")
        if given.get("fromEmailAddress") not in self.from_addresses:
            return _invalid("/fromEmailAddress", "invalid")
        made = {
            "id": self.new_id(),
            "channel": "EMAIL",
            "direction": "out",
            "status": "SUCCESS",
            "to": given["to"],
            "fromEmailAddress": given["fromEmailAddress"],
            "contentType": given.get("contentType", "plainText"),
            "summary": given["content"][:60],
            "content": given["content"],
            "visibility": "public",
            "createdTime": self.stamp(),
        }
        self.threads.setdefault(number, []).append(made)
        return Reply(body=made)

    def _comments(self, asked: Asked, number: str) -> Reply:
        if number not in self.tickets:
            return self.unknown(asked)
        return self._rows(asked, list(reversed(self.comments.get(number, []))))

    def _comment(self, asked: Asked, number: str) -> Reply:
        given = asked.body or {}
        if number not in self.tickets:
            return self.unknown(asked)
        if not given.get("content"):
            return _invalid("/content", "missing")
        made = {
            "id": self.new_id(),
            "content": given["content"],
            "contentType": given.get("contentType", "plainText"),
            "isPublic": bool(given.get("isPublic")),
            "commentedTime": self.stamp(),
            "modifiedTime": None,
            "commenterId": "6000000000099",
            "commenter": {"name": "Cairn", "email": "agent@harbourlane.example", "type": "AGENT"},
            "attachments": [],
        }
        self.comments.setdefault(number, []).append(made)
        return Reply(body=made)

    def _times(self, asked: Asked, number: str) -> Reply:
        return self._rows(asked, list(reversed(self.times.get(number, []))))

    def _time(self, asked: Asked, number: str) -> Reply:
        given = asked.body or {}
        if number not in self.tickets:
            return self.unknown(asked)
        if not given.get("executedTime"):
            return _invalid("/executedTime", "missing")
        made = {
            "id": self.new_id(),
            "hoursSpent": str(given.get("hoursSpent", 0)),
            "minutesSpent": str(given.get("minutesSpent", 0)),
            "secondsSpent": str(given.get("secondsSpent", 0)),
            "description": given.get("description"),
            "executedTime": given["executedTime"],
            "requestId": number,
        }
        self.times.setdefault(number, []).append(made)
        return Reply(body=made)

    def _contact(self, asked: Asked, number: str) -> Reply:
        found = self.contacts.get(number)
        return self.unknown(asked) if found is None else Reply(body=found)

    def _contact_search(self, asked: Asked) -> Reply:
        email = asked.query.get("email", "").casefold()
        found = [
            contact
            for contact in self.contacts.values()
            if str(contact["email"]).casefold() == email
        ]
        return Reply(body={"data": found}) if found else Reply(status=204)

    def _rows(self, asked: Asked, rows: list[Record]) -> Reply:
        start, limit = int(asked.query.get("from", 0)), int(asked.query.get("limit", 50))
        page = rows[start : start + limit]
        return Reply(body={"data": page}) if page else Reply(status=204)


def _wrong(asked: Asked, known: set[str], sorts: set[str]) -> Reply | None:
    for name in asked.query:
        if name not in known:
            return _error(
                422,
                "UNPROCESSABLE_ENTITY",
                f"Extra query parameter '{name}' is present in the input.",
            )
    if asked.query.get("sortBy", "createdTime").removeprefix("-") not in sorts:
        return _invalid("sortBy", "invalid")
    if not 1 <= int(asked.query.get("limit", 10)) <= 100:
        return _invalid("limit", "invalid")
    return None


def _sorted(found: list[Record], by: str) -> list[Record]:
    name = by.removeprefix("-")
    return sorted(found, key=lambda record: str(record.get(name) or ""), reverse=by.startswith("-"))


def _fits(ticket: Record, query: Mapping[str, str]) -> bool:
    words, span = query.get("_all"), query.get("modifiedTimeRange")
    first, _, last = (span or ",").partition(",")
    return (
        (not words or words.casefold() in str(ticket).casefold())
        and ("email" not in query or ticket["email"] == query["email"])
        and ("status" not in query or ticket["status"] in query["status"].split(","))
        and (not span or first <= ticket["modifiedTime"] <= last)
    )


def _error(status: int, code: str, message: str) -> Reply:
    return Reply(status=status, body={"errorCode": code, "message": message})


def _invalid(name: str, kind: str) -> Reply:
    return Reply(
        status=422,
        body={
            "errorCode": "INVALID_DATA",
            "message": "The data is invalid due to validation restrictions",
            "errors": [{"fieldName": name, "errorType": kind, "errorMessage": ""}],
        },
    )


@contextmanager
def zoho_replay() -> Iterator[ZohoReplay]:
    """Serve an organisation without tickets until the block ends."""
    with served(ZohoReplay()) as replay:
        yield replay
