"""Zoho Desk over its REST API v1: tickets, replies, comments, time entries, contacts.

Records are as Zoho sends them (`ticketNumber`, `contactId`, times as ISO 8601); who makes a ticket
of them is `tickets`. Endpoints and fields used: docs/build/connectors-reference.md. Errors are
those of `rest`. The writes named `*_once` look for the mark of their key first (`once`).
"""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC
from typing import TYPE_CHECKING, Any, TypeAlias

from cairn.adapters.http.rest import Answer, Request, RestService, rest_breakers
from cairn.adapters.once import has_mark, mark, not_before
from cairn.connectors.port import ConnectorUnauthorised
from cairn.kernel.clock import Stopwatch, monotonic
from cairn.kernel.errors import FieldError, RateLimited, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    import httpx

    from cairn.kernel.resilience.breaker import Breakers

Record: TypeAlias = dict[str, Any]

DESK_URL = "https://desk.zoho.com/api/v1"
ACCOUNTS_URL = "https://accounts.zoho.com"
"""Of the data centre in the United States; others end in zoho.eu, zoho.in, zoho.com.au, ..."""

TOKEN_LEEWAY_SECONDS = 60.0
MAX_PAGE = 100
MAX_LOOKED_THROUGH = 1_000
MAX_THREADS_READ = 20
"""Comments and mails that are searched for a mark, the newest first."""

LONGEST_PAUSE = 600.0
_ID = re.compile(r"[0-9]{1,20}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ZohoAccount:
    """How to sign in to one organisation; secrets never show in a repr.

    `allow_private` lets the addresses lead into this network: for a laptop, for tests.
    """

    organisation_id: str
    client_id: str
    client_secret: str = field(repr=False)
    refresh_token: str = field(repr=False)
    desk_url: str = DESK_URL
    accounts_url: str = ACCOUNTS_URL
    allow_private: bool = False


class ZohoTokens:
    """Access tokens made with the refresh token, each used until a minute before its end."""

    def __init__(
        self,
        account: ZohoAccount,
        *,
        transport: httpx.BaseTransport | None = None,
        pause: Callable[[float], None] = time.sleep,
        stopwatch: Stopwatch = monotonic,
        breakers: Breakers | None = None,
    ) -> None:
        self._account = account
        self._stopwatch = stopwatch
        self._lock = threading.Lock()
        self._token, self._ends = "", 0.0
        self._service = RestService(
            name="Zoho's accounts server",
            base_url=account.accounts_url,
            allow_private=account.allow_private,
            words=lambda body: str(body.get("error", "")),
            transport=transport,
            pause=pause,
            breakers=breakers or rest_breakers(),
        )

    def get(self, *, instead_of: str = "") -> str:
        """Return an access token, another one than `instead_of`, which the service refused."""
        with self._lock:
            if not self._token or self._token == instead_of or self._stopwatch() >= self._ends:
                self._refresh()
            return self._token

    def _refresh(self) -> None:
        account = self._account
        request = Request(
            method="POST",
            path="/oauth/v2/token",
            form={
                "grant_type": "refresh_token",
                "refresh_token": account.refresh_token,
                "client_id": account.client_id,
                "client_secret": account.client_secret,
            },
            repeatable=True,
        )
        body = self._request_token(request).record()
        if not isinstance(body.get("access_token"), str):
            raise _token_refused(str(body.get("error", "")))
        self._token = body["access_token"]
        lives = float(body.get("expires_in") or 3600)
        self._ends = self._stopwatch() + max(lives - TOKEN_LEEWAY_SECONDS, 0.0)

    def _request_token(self, request: Request) -> Answer:
        try:
            return self._service.ask(request, {})
        except ValidationFailed as refused:
            if refused.reason != "refused":
                raise
            raise _token_refused(refused.detail) from None


def _token_refused(error: str) -> ConnectorUnauthorised | RateLimited:
    """Return what a token request's error means; Zoho sends most of them with status 200."""
    if "too many requests" in error.casefold():
        return RateLimited("Zoho gives no more access tokens now.", retry_after=LONGEST_PAUSE)
    reason = error if re.fullmatch(r"[a-z_]{1,40}", error) else "unknown"
    return ConnectorUnauthorised(
        f"Zoho refuses the refresh token ({reason}). Someone must sign in again.", status=401
    )


class ZohoDesk:
    """The organisation's help desk. Safe between threads.

    Reads and `set_status` are repeated when Zoho is busy; replies, comments and time entries are
    sent once, and raise OutcomeUnknown when no answer came.
    """

    def __init__(
        self,
        account: ZohoAccount,
        *,
        transport: httpx.BaseTransport | None = None,
        pause: Callable[[float], None] = time.sleep,
        stopwatch: Stopwatch = monotonic,
        breakers: Breakers | None = None,
    ) -> None:
        self._organisation = _checked_id("organisation_id", account.organisation_id)
        breakers = breakers or rest_breakers()
        self._tokens = ZohoTokens(
            account, transport=transport, pause=pause, stopwatch=stopwatch, breakers=breakers
        )
        self._service = RestService(
            name="Zoho Desk",
            base_url=account.desk_url,
            allow_private=account.allow_private,
            words=_words,
            transport=transport,
            pause=pause,
            breakers=breakers,
        )

    def organisation(self) -> Record:
        """Return the organisation; what a health check asks."""
        return self._get(f"/organizations/{self._organisation}").record()

    def tickets(
        self,
        *,
        start: int = 0,
        limit: int = 50,
        status: Sequence[str] = (),
        department_id: str | None = None,
        sort_by: str = "-createdTime",
    ) -> list[Record]:
        """Return tickets with their contacts; sorted by createdTime, dueDate or recentThread."""
        query = {"from": str(start), "limit": _checked_limit(limit), "include": "contacts"}
        query["sortBy"] = sort_by
        if status:
            query["status"] = ",".join(status)
        if department_id:
            query["departmentIds"] = _checked_id("department_id", department_id)
        return self._get("/tickets", query).rows("data")

    def search(
        self,
        *,
        text: str | None = None,
        email: str | None = None,
        status: Sequence[str] = (),
        modified: tuple[datetime, datetime] | None = None,
        start: int = 0,
        limit: int = 50,
        sort_by: str = "modifiedTime",
    ) -> list[Record]:
        """Return tickets that fit everything given; `start` goes up to 999.

        `text` is looked for in all columns, at least 3 characters of it; `modified` is the span of
        the last change, both ends included. Zoho's search index lags some seconds behind.
        """
        query = {"from": str(start), "limit": _checked_limit(limit), "sortBy": sort_by}
        if text is not None:
            query["_all"] = text
        if email is not None:
            query["email"] = email
        if status:
            query["status"] = ",".join(status)
        if modified is not None:
            query["modifiedTimeRange"] = f"{zoho_time(modified[0])},{zoho_time(modified[1])}"
        return self._get("/tickets/search", query).rows("data")

    def ticket(self, ticket_id: str) -> Record:
        """Return a ticket with its contact, description and status."""
        return self._get(_ticket(ticket_id), {"include": "contacts"}).record()

    def threads(self, ticket_id: str, *, start: int = 0, limit: int = 50) -> list[Record]:
        """Return the mails of a ticket, newest first, each with the first words (`summary`)."""
        query = {"from": str(start), "limit": _checked_limit(limit), "sortBy": "-sendDateTime"}
        return self._get(f"{_ticket(ticket_id)}/threads", query).rows("data")

    def thread(self, ticket_id: str, thread_id: str) -> Record:
        """Return one mail with its whole `content`."""
        path = f"{_ticket(ticket_id)}/threads/{_checked_id('thread_id', thread_id)}"
        return self._get(path).record()

    def reply(
        self, ticket_id: str, *, content: str, to: str, from_address: str, html: bool = False
    ) -> Record:
        """Mail the requester and return the thread; `from_address` is one the portal knows."""
        body = {
            "channel": "EMAIL",
            "to": to,
            "fromEmailAddress": from_address,
            "contentType": "html" if html else "plainText",
            "content": content,
        }
        return self._post(f"{_ticket(ticket_id)}/sendReply", body)

    def reply_once(
        self, ticket_id: str, *, key: str, content: str, to: str, from_address: str
    ) -> tuple[Record, bool]:
        """Mail the requester unless that was done under `key`; True says that it was.

        The mail ends in a line with the mark, which the requester sees.
        """
        reply = self._reply_of(ticket_id, key)
        if reply is not None:
            return reply, True
        marked = f"{content}\n\nReference: {mark(key)}"
        sent = self.reply(ticket_id, content=marked, to=to, from_address=from_address)
        return sent, False

    def _reply_of(self, ticket_id: str, key: str) -> Record | None:
        since = not_before(key)
        sent = [thread for thread in self.threads(ticket_id) if thread.get("direction") == "out"]
        recent = [
            item for item in sent if since is None or str(item["createdTime"]) >= zoho_time(since)
        ]
        for item in recent[:MAX_THREADS_READ]:
            whole = self.thread(ticket_id, str(item["id"]))
            if has_mark(whole, key, "content", "plainText"):
                return whole
        return None

    def comments(self, ticket_id: str, *, start: int = 0, limit: int = 100) -> list[Record]:
        """Return the comments of a ticket, newest first."""
        query = {"from": str(start), "limit": _checked_limit(limit), "sortBy": "-commentedTime"}
        return self._get(f"{_ticket(ticket_id)}/comments", query).rows("data")

    def comment(
        self, ticket_id: str, *, content: str, public: bool = False, html: bool = False
    ) -> Record:
        """Write a comment and return it; only agents see one that is not public."""
        body = {
            "isPublic": public,
            "contentType": "html" if html else "plainText",
            "content": content,
        }
        return self._post(f"{_ticket(ticket_id)}/comments", body)

    def comment_once(
        self, ticket_id: str, *, key: str, content: str, public: bool = False
    ) -> tuple[Record, bool]:
        """Write a comment unless that was done under `key`; True says that it was."""
        for start in range(0, MAX_LOOKED_THROUGH, MAX_PAGE):
            page = self.comments(ticket_id, start=start)
            comment = next((item for item in page if has_mark(item, key, "content")), None)
            if comment is not None:
                return comment, True
            if len(page) < MAX_PAGE:
                break
        return self.comment(ticket_id, content=f"{content}\n[{mark(key)}]", public=public), False

    def set_status(self, ticket_id: str, status: str) -> Record:
        """Give a ticket one of the portal's own statuses and return the ticket."""
        request = Request(
            method="PATCH", path=_ticket(ticket_id), body={"status": status}, repeatable=True
        )
        return self._ask(request).record()

    def time_entries(self, ticket_id: str, *, start: int = 0, limit: int = 100) -> list[Record]:
        """Return the time entries of a ticket, newest first."""
        query = {"from": str(start), "limit": _checked_limit(limit), "orderBy": "DESC"}
        return self._get(f"{_ticket(ticket_id)}/timeEntry", query).rows("data")

    def add_time_entry(
        self, ticket_id: str, *, minutes: int, note: str, executed_at: datetime
    ) -> Record:
        """Book minutes on a ticket and return the entry."""
        body = {
            "executedTime": zoho_time(executed_at),
            "hoursSpent": minutes // 60,
            "minutesSpent": minutes % 60,
            "secondsSpent": 0,
            "description": note,
        }
        return self._post(f"{_ticket(ticket_id)}/timeEntry", body)

    def add_time_entry_once(
        self, ticket_id: str, *, key: str, minutes: int, note: str, executed_at: datetime
    ) -> tuple[Record, bool]:
        """Book minutes unless that was done under `key`; True says that it was."""
        for entry in self.time_entries(ticket_id):
            if has_mark(entry, key, "description"):
                return entry, True
        added = self.add_time_entry(
            ticket_id, minutes=minutes, note=f"{note} [{mark(key)}]", executed_at=executed_at
        )
        return added, False

    def contact(self, contact_id: str) -> Record:
        """Return a contact."""
        return self._get(f"/contacts/{_checked_id('contact_id', contact_id)}").record()

    def contacts(self, *, email: str, limit: int = 10) -> list[Record]:
        """Return the contacts with an e-mail address."""
        query = {"email": email, "limit": _checked_limit(limit)}
        return self._get("/contacts/search", query).rows("data")

    def _get(self, path: str, query: Mapping[str, str] | None = None) -> Answer:
        return self._ask(Request(method="GET", path=path, query=query or {}, repeatable=True))

    def _post(self, path: str, body: Mapping[str, Any]) -> Record:
        return self._ask(Request(method="POST", path=path, body=body)).record()

    def _ask(self, request: Request) -> Answer:
        """Ask with a token, and once more with a new one when Zoho says that this one is old."""
        token = self._tokens.get()
        try:
            return self._service.ask(request, self._headers(token))
        except ConnectorUnauthorised as refused:
            if refused.fields.get("status") != 401:
                raise
        return self._service.ask(request, self._headers(self._tokens.get(instead_of=token)))

    def _headers(self, token: str) -> Mapping[str, str]:
        return {"authorization": f"Zoho-oauthtoken {token}", "orgId": self._organisation}


def zoho_time(moment: datetime) -> str:
    """Return a moment as Zoho writes it: 2026-03-01T09:30:00.000Z."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def _ticket(ticket_id: str) -> str:
    return f"/tickets/{_checked_id('ticket_id', ticket_id)}"


def _checked_id(name: str, value: str) -> str:
    if not _ID.fullmatch(value):
        message = "is a number of up to 20 digits"
        raise ValidationFailed(f"{name} {message}.", errors=[FieldError(name, message)])
    return value


def _checked_limit(limit: int) -> str:
    return str(min(max(limit, 1), MAX_PAGE))


def _words(body: Mapping[str, Any]) -> str:
    code, message = body.get("errorCode", ""), body.get("message", "")
    return f"{code} {message}".strip()
