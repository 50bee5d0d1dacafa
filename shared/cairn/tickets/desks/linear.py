"""Linear as a source and sink of tickets: issues of a team, comments, states. Not the HTTP.

Comments are seen by the whole workspace, so there are no private notes; Linear books no time.
https://linear.app/developers/graphql
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from cairn.kernel.errors import NotFound, Unauthenticated, ValidationFailed
from cairn.kernel.text.canonical import format_timestamp
from cairn.tickets.adapter import Capabilities, Events, Incoming, Message, text_at, time_at
from cairn.tickets.attachments import listed, named
from cairn.tickets.deliveries import check_signature, delivery_id, record_of
from cairn.tickets.desks.walking import (
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
)
from cairn.tickets.ticket import Priority

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from cairn.tickets.adapter import Attachment, Delivered

STATUSES = {
    "auto_resolved": "Done",
    "needs_tech": "Todo",
    "needs_l2": "Todo",
    "needs_client": "In Progress",
    "failed": "Todo",
}
"""What a new team calls its states."""

SIGNATURE_HEADER, DELIVERY_HEADER = "linear-signature", "linear-delivery"
WINDOW_MILLISECONDS = 60_000
"""How far the time of a delivery may be from ours, as Linear advises."""

COMMENTS = 25
"""New comments of an issue that a page has: with 50 a page of 50 issues is near the limit of
complexity."""

UPLOADS_URL = "https://uploads.linear.app"
"""Where Linear keeps files, for who signs in as at its API."""

_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_PRIORITIES = {"1": Priority.CRITICAL, "2": Priority.HIGH, "4": Priority.LOW}
_CLOSED = frozenset(["completed", "canceled"])

_ISSUE = (
    "id identifier title description priority url createdAt updatedAt slaBreachesAt "
    "state { name type } team { key } creator { id email } externalUserCreator { id email } "
    f"comments(first: {COMMENTS}, filter: {{ createdAt: {{ gte: $since }} }})"
    " { nodes { id body createdAt user { id email } externalUser { id email } } }"
)
CHANGED = (
    "query Changed($filter: IssueFilter!, $since: DateTimeOrDuration!, $first: Int!,"
    " $after: String) { issues(filter: $filter, first: $first, after: $after, orderBy: updatedAt,"
    f" includeArchived: true) {{ nodes {{ {_ISSUE} }} pageInfo {{ hasNextPage endCursor }} }} }}"
)
COMMENT_OF = (
    "query CommentOf($issue: String!, $id: ID!) { issue(id: $issue) {"
    " comments(filter: { id: { eq: $id } }) { nodes { id } } } }"
)
COMMENT = (
    "mutation Comment($input: CommentCreateInput!) {"
    " commentCreate(input: $input) { success comment { id } } }"
)
STATES_OF = (
    "query StatesOf($issue: String!) { issue(id: $issue) { team {"
    " states(first: 100) { nodes { id name } } } } }"
)
SET_STATE = (
    "mutation SetState($issue: String!, $input: IssueUpdateInput!) {"
    " issueUpdate(id: $issue, input: $input) { success issue { state { name } } } }"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearAdapter(WalkedDesk):
    """Implements `TicketAdapter`. A ticket is an issue of one team."""

    team: str
    uploads_url: str = UPLOADS_URL

    def capabilities(self) -> Capabilities:
        """Say what it can do."""
        return Capabilities(private_notes=False, webhooks=self.webhook_secret is not None)

    def listed(self, since: datetime, page: str, limit: int) -> Listed:
        """Return issues that changed, or were commented on."""
        span = {"gte": format_timestamp(since)}
        variables = {
            "filter": {
                "team": {"key": {"eq": self.team}},
                "or": [{"updatedAt": span}, {"comments": {"some": {"createdAt": span}}}],
            },
            "since": span["gte"],
            "first": limit,
            "after": page or None,
        }
        issues = object_of(self._ask(CHANGED, variables).get("issues"))
        info = object_of(issues.get("pageInfo"))
        following = text_at(info, "endCursor") if info.get("hasNextPage") is True else ""
        return Listed(records=rows_of(issues, "nodes"), following=following)

    def changed(self, record: Record) -> datetime | None:
        """Return when it, or its last comment, was written; a comment may not change it."""
        times = [time_at(comment, "createdAt") for comment in rows_of(record, "comments", "nodes")]
        times.append(time_at(record, "updatedAt"))
        return max((each for each in times if each is not None), default=None)

    def incoming(self, record: Record) -> Incoming:
        """Return an issue in canonical form."""
        return incoming(record, self.customer, self.uploads_url)

    def said(self, record: Record) -> Iterable[Message | None]:
        """Return the comments of who opened it, and of people from outside the workspace."""
        comments = rows_of(record, "comments", "nodes")
        return (message_of(comment, record, self.uploads_url) for comment in comments)

    def verify(self, delivered: Delivered, now: datetime) -> None:
        """Raise Unauthenticated unless the body is signed, and its time is now."""
        secret = (self.webhook_secret or "").encode()
        expected = hmac.new(secret, delivered.body, hashlib.sha256).hexdigest()
        check_signature(delivered.headers.get(SIGNATURE_HEADER, "") if secret else "", expected)
        sent_at = text_at(record_of(delivered), "webhookTimestamp")
        if not sent_at.isdecimal() or len(sent_at) > 15:
            raise Unauthenticated("This delivery does not say when it was sent.", reason="stale")
        if abs(now.timestamp() * 1000 - int(sent_at)) > WINDOW_MILLISECONDS:
            raise Unauthenticated("This delivery is too old.", reason="stale")

    def read(self, delivered: Delivered) -> Events:
        """Return the issue of an event, or what somebody from outside commented.

        The next poll brings what an event leaves open: who opened an issue, or that one.
        """
        document = record_of(delivered)
        name = delivery_id(delivered.headers.get(DELIVERY_HEADER, ""), delivered)
        kind, record = text_at(document, "type"), object_at(document, "data")
        issue = object_at(record, "issue") if kind == "Comment" else record
        is_news = text_at(document, "action") in ("create", "update")
        if not is_news or text_at(issue, "team", "key") != self.team:
            return Events(delivery_id=name, tickets=())
        if kind == "Comment":
            message = message_of(record, issue, self.uploads_url)
            return Events(delivery_id=name, tickets=(), messages=(message,) if message else ())
        ticket = self.incoming(record)
        is_whole = kind == "Issue" and ticket.requester_email is not None
        return Events(delivery_id=name, tickets=(ticket,) if is_whole else ())

    def reply(self, external_id: str, text: str, *, private: bool, key: str) -> str:
        """Comment on the issue. The comment's id follows from the key: it is there once."""
        issue, name = checked_id(external_id, _ID), comment_id(key)
        answer = self._ask(COMMENT_OF, {"issue": issue, "id": name})
        if rows_of(answer, "issue", "comments", "nodes"):
            return name
        body = {"id": name, "issueId": issue, "body": marked(text, key)}
        answer = self._ask(COMMENT, {"input": body}, repeatable=False)
        return text_at(answer, "commentCreate", "comment", "id") or name

    def set_status(self, external_id: str, status: str) -> str:
        """Give the issue the state of its team that is called so, or has this id."""
        issue, called = checked_id(external_id, _ID), self.statuses[status]
        states = rows_of(self._ask(STATES_OF, {"issue": issue}), "issue", "team", "states", "nodes")
        for state in states:
            name = text_at(state, "name")
            if called == text_at(state, "id") or called.casefold() == name.casefold():
                variables = {"issue": issue, "input": {"stateId": text_at(state, "id")}}
                self._ask(SET_STATE, variables)
                return name
        raise no_status(called)

    def log_time(self, external_id: str, minutes: int, note: str, *, key: str) -> str:
        """Refuse: issues have no time entries."""
        raise ValidationFailed("Linear's issues have no time entries.", reason="not-supported")

    def _ask(self, query: str, variables: Record, *, repeatable: bool = True) -> Record:
        """Return the data of an answer; NotFound where there is none."""
        body = {"query": query, "variables": variables}
        answer = object_of(self.api("POST", "", body=body, repeatable=repeatable))
        data = object_of(answer.get("data"))
        if "issue" in data and data["issue"] is None:
            raise NotFound("There is no such issue.")
        return data


def incoming(issue: Record, customer: str, uploads_url: str = UPLOADS_URL) -> Incoming:
    """Return an issue in canonical form. Pure."""
    files = attachments_of(text_at(issue, "description"), uploads_url)
    return Incoming(
        external_id=text_at(issue, "id"),
        title=text_at(issue, "title"),
        body=text_at(issue, "description"),
        customer=customer,
        requester_email=_creator(issue),
        priority=_PRIORITIES.get(text_at(issue, "priority"), Priority.MEDIUM),
        sla_at=time_at(issue, "slaBreachesAt"),
        received_at=time_at(issue, "createdAt"),
        modified_at=time_at(issue, "updatedAt") or time_at(issue, "createdAt"),
        closed=text_at(issue, "state", "type") in _CLOSED,
        source_metadata={
            name: value
            for name, value in (
                ("identifier", text_at(issue, "identifier")),
                ("status", text_at(issue, "state", "name")),
                ("url", text_at(issue, "url")),
            )
            if value
        }
        | named(files),
        attachments=files,
    )


def attachments_of(text: str, uploads_url: str = UPLOADS_URL) -> tuple[Attachment, ...]:
    """Return the uploaded files that a Markdown text links to; not its pictures. Pure."""
    link = (
        rf"(?<!!)\[([^\[\]]{{1,300}})\]"
        rf"\(({re.escape(uploads_url)}(?:/{_ID}){{2,4}})(?:\?[^()\s]*)?\)"
    )
    files = {url: name for name, url in re.findall(link, text)}
    return attached(
        ({"id": url[-36:], "name": name, "url": url} for url, name in files.items()), name="name"
    )


def message_of(comment: Record, issue: Record, uploads_url: str = UPLOADS_URL) -> Message | None:
    """Return what the opener, or somebody from outside, commented; None for any other. Pure."""
    user, text = text_at(comment, "user", "id"), text_at(comment, "body")
    is_opener = user != "" and user == text_at(issue, "creator", "id")
    is_outside = text_at(comment, "externalUser", "id") != ""
    if not (is_opener or is_outside) or not text_at(comment, "id") or is_ours(text):
        return None
    files = attachments_of(text, uploads_url)
    return Message(
        ticket=text_at(issue, "id"),
        id=f"comment:{text_at(comment, 'id')}",
        text=text + listed(files),
        author=_address(comment, "externalUser") if is_outside else _creator(issue),
        written_at=time_at(comment, "createdAt"),
        attachments=files,
    )


def comment_id(key: str) -> str:
    """Return the id of the comment of a key: a UUID of version 4's form, the same every time."""
    digest = hashlib.sha256(f"cairn:{key}".encode()).digest()
    return str(UUID(bytes=digest[:16], version=4))


def _creator(issue: Record) -> str | None:
    return _address(issue, "externalUserCreator") or _address(issue, "creator")


def _address(record: Record, name: str) -> str | None:
    """Return a person's e-mail; without one, what only names the account."""
    account = text_at(record, name, "id")
    return text_at(record, name, "email") or (f"{account}@linear.invalid" if account else None)
