"""Jira Service Management as a source and sink of tickets: requests, comments, worklogs. No HTTP.

Texts are asked for and sent in the form of API version 2: wiki markup, not documents.
https://developer.atlassian.com/cloud/jira/platform/rest/v2/
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import TYPE_CHECKING

from cairn.kernel.zones import zone_of
from cairn.tickets.adapter import Capabilities, Events, Incoming, Message, text_at, time_at
from cairn.tickets.attachments import named
from cairn.tickets.deliveries import check_signature, delivery_id, record_of
from cairn.tickets.desks.walking import (
    MESSAGES_LOOKED_AT,
    WRITTEN_LOOKED_AT,
    Listed,
    Record,
    WalkedDesk,
    attached,
    checked_id,
    is_ours,
    marked,
    no_status,
    object_at,
    object_of,
    rows_of,
    written,
)
from cairn.tickets.ticket import Priority

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime, tzinfo

    from cairn.tickets.adapter import Attachment, Delivered

STATUSES = {
    "auto_resolved": "Resolved",
    "needs_tech": "Waiting for support",
    "needs_l2": "Escalated",
    "needs_client": "Waiting for customer",
    "failed": "Waiting for support",
}
"""What the service project template calls a request's status."""

SIGNATURE_HEADER, DELIVERY_HEADER = "x-hub-signature", "x-atlassian-webhook-identifier"
API, SERVICE_DESK = "/rest/api/2", "/rest/servicedeskapi"
FIELDS = "summary,description,status,priority,reporter,created,updated,project,attachment"
COMMENT_EVENT = "comment_created"
_EVENTS = frozenset(["jira:issue_created", "jira:issue_updated"])
_PRIORITIES = {
    "highest": Priority.CRITICAL,
    "critical": Priority.CRITICAL,
    "blocker": Priority.CRITICAL,
    "high": Priority.HIGH,
    "low": Priority.LOW,
    "lowest": Priority.LOW,
}
_NOT_IN_ADDRESSES = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class JiraAdapter(WalkedDesk):
    """Implements `TicketAdapter`. A ticket is a request of one service project."""

    project: str

    def capabilities(self) -> Capabilities:
        """Say what it can do."""
        return Capabilities(time_entries=True, webhooks=self.webhook_secret is not None)

    def listed(self, since: datetime, page: str, limit: int) -> Listed:
        """Return requests by their key: a change moves none of them to another page.

        JQL knows minutes only, in the account's own time zone.
        """
        account = object_of(self.api("GET", f"{API}/myself", repeatable=True))
        zone = zone_of(text_at(account, "timeZone")) or UTC
        jql = (
            f'project = "{self.project}" AND updated >= "{jql_time(since, zone)}" ORDER BY key ASC'
        )
        query = {"jql": jql, "fields": FIELDS, "maxResults": str(limit)}
        if page:
            query["nextPageToken"] = page
        answer = object_of(self.api("GET", f"{API}/search/jql", query=query, repeatable=True))
        return Listed(records=rows_of(answer, "issues"), following=text_at(answer, "nextPageToken"))

    def changed(self, record: Record) -> datetime | None:
        """Return when it changed; a comment changes it."""
        return time_at(record, "fields", "updated")

    def whole(self, record: Record, since: datetime) -> Record:
        """Return it with its newest comments."""
        query = {"orderBy": "-created", "maxResults": str(MESSAGES_LOOKED_AT)}
        return {**record, "comments": self._comments(text_at(record, "id"), query)}

    def incoming(self, record: Record) -> Incoming:
        """Return an issue in canonical form."""
        return incoming(record, self.customer)

    def said(self, record: Record) -> Iterable[Message | None]:
        """Return the comments of the reporter and of other customers."""
        return (message_of(comment, record) for comment in rows_of(record, "comments"))

    def verify(self, delivered: Delivered, now: datetime) -> None:
        """Raise Unauthenticated unless the body is signed with the webhook's secret."""
        secret = (self.webhook_secret or "").encode()
        expected = hmac.new(secret, delivered.body, hashlib.sha256).hexdigest()
        sent = delivered.headers.get(SIGNATURE_HEADER, "") if secret else ""
        check_signature(sent, f"sha256={expected}")

    def read(self, delivered: Delivered) -> Events:
        """Return the request of an issue's event, or what a customer commented on it."""
        document = record_of(delivered)
        name = delivery_id(delivered.headers.get(DELIVERY_HEADER, ""), delivered)
        event, issue = text_at(document, "webhookEvent"), object_at(document, "issue")
        if text_at(issue, "fields", "project", "key") != self.project:
            return Events(delivery_id=name, tickets=())
        if event == COMMENT_EVENT:
            message = message_of(object_at(document, "comment"), issue)
            return Events(delivery_id=name, tickets=(), messages=(message,) if message else ())
        tickets = (incoming(issue, self.customer),) if event in _EVENTS else ()
        return Events(delivery_id=name, tickets=tickets)

    def reply(self, external_id: str, text: str, *, private: bool, key: str) -> str:
        """Comment for the customer, or internally; what carries the key is there already."""
        request_id = checked_id(external_id)
        query = {"orderBy": "-created", "maxResults": str(WRITTEN_LOOKED_AT)}
        existing = written(self._comments(request_id, query), key, "body")
        if existing:
            return existing
        body = {"body": marked(text, key), "public": not private}
        path = f"{SERVICE_DESK}/request/{request_id}/comment"
        return text_at(object_of(self.api("POST", path, body=body)), "id")

    def set_status(self, external_id: str, status: str) -> str:
        """Take the transition that leads to the status, unless the request has it."""
        path, called = f"{API}/issue/{checked_id(external_id)}", self.statuses[status]
        issue = object_of(self.api("GET", path, query={"fields": "status"}, repeatable=True))
        if _is_called(issue, called, "fields", "status"):
            return text_at(issue, "fields", "status", "name")
        transitions = self.api("GET", f"{path}/transitions", repeatable=True)
        for transition in rows_of(transitions, "transitions"):
            if _is_called(transition, called, "to"):
                body = {"transition": {"id": text_at(transition, "id")}}
                self.api("POST", f"{path}/transitions", body=body)
                return text_at(transition, "to", "name")
        raise no_status(called)

    def log_time(self, external_id: str, minutes: int, note: str, *, key: str) -> str:
        """Add a worklog; one that carries the key is there already."""
        path = f"{API}/issue/{checked_id(external_id)}/worklog"
        worklogs = rows_of(self.api("GET", path, repeatable=True), "worklogs")
        existing = written(worklogs, key, "comment")
        if existing:
            return existing
        body = {
            "comment": marked(note, key),
            "started": f"{self.clock().astimezone(UTC):%Y-%m-%dT%H:%M:%S}.000+0000",
            "timeSpentSeconds": minutes * 60,
        }
        query = {"notifyUsers": "false", "adjustEstimate": "leave"}
        return text_at(object_of(self.api("POST", path, query=query, body=body)), "id")

    def _comments(self, issue_id: str, query: dict[str, str]) -> list[Record]:
        path = f"{API}/issue/{issue_id}/comment"
        return rows_of(self.api("GET", path, query=query, repeatable=True), "comments")


def incoming(issue: Record, customer: str) -> Incoming:
    """Return an issue in canonical form. Pure."""
    files = attachments_of(issue)
    return Incoming(
        external_id=text_at(issue, "id"),
        title=text_at(issue, "fields", "summary"),
        body=text_at(issue, "fields", "description"),
        customer=customer,
        requester_email=_address(issue, "fields", "reporter"),
        priority=_PRIORITIES.get(
            text_at(issue, "fields", "priority", "name").casefold(), Priority.MEDIUM
        ),
        received_at=time_at(issue, "fields", "created"),
        modified_at=time_at(issue, "fields", "updated") or time_at(issue, "fields", "created"),
        closed=text_at(issue, "fields", "status", "statusCategory", "key") == "done",
        source_metadata={
            "key": text_at(issue, "key"),
            "status": text_at(issue, "fields", "status", "name"),
            **named(files),
        },
        attachments=files,
    )


def attachments_of(issue: Record) -> tuple[Attachment, ...]:
    """Return what the reporter and other customers attached, to the issue or a comment. Pure."""
    return attached(
        (row for row in rows_of(issue, "fields", "attachment") if _is_outside(row, issue)),
        name="filename",
        media_type="mimeType",
        size=("size",),
        url="content",
    )


def message_of(comment: Record, issue: Record) -> Message | None:
    """Return what the reporter, or another customer, commented; None for any other. Pure."""
    text = text_at(comment, "body")
    is_internal = comment.get("jsdPublic") is False or is_ours(text)
    if not _is_outside(comment, issue) or not text_at(comment, "id") or is_internal:
        return None
    return Message(
        ticket=text_at(issue, "id"),
        id=f"comment:{text_at(comment, 'id')}",
        text=text,
        author=_address(issue, "fields", "reporter")
        if _is_reporters(comment, issue)
        else _address(comment, "author"),
        written_at=time_at(comment, "created"),
    )


def _is_reporters(record: Record, issue: Record) -> bool:
    author = text_at(record, "author", "accountId")
    return author == text_at(issue, "fields", "reporter", "accountId") != ""


def _is_outside(record: Record, issue: Record) -> bool:
    is_customer = text_at(record, "author", "accountType") == "customer"
    return is_customer or _is_reporters(record, issue)


def jql_time(moment: datetime, zone: tzinfo) -> str:
    """Return a moment as JQL takes it; an hour earlier in the hour that clocks show twice."""
    local = moment.astimezone(zone)
    if local.replace(fold=0).utcoffset() != local.replace(fold=1).utcoffset():
        local = (moment - timedelta(hours=1)).astimezone(zone)
    return f"{local:%Y-%m-%d %H:%M}"


def _is_called(record: Record, called: str, *path: str) -> bool:
    name, number = text_at(record, *path, "name"), text_at(record, *path, "id")
    return called.casefold() == name.casefold() or called == number


def _address(record: Record, *path: str) -> str | None:
    """Return an account's e-mail; where its owner hides it, one that only names the account."""
    account = _NOT_IN_ADDRESSES.sub(".", text_at(record, *path, "accountId"))
    email = text_at(record, *path, "emailAddress")
    return email or (f"{account}@jira.invalid" if account else None)
