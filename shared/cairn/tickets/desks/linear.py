"""Linear as a source and sink of tickets: issues of a team, comments, states. Not the HTTP.

Comments are seen by the whole workspace, so there are no private notes; Linear books no time.
https://linear.app/developers/graphql
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from cairn.kernel.errors import NotFound, Unauthenticated, ValidationFailed
from cairn.kernel.text.canonical import format_timestamp
from cairn.tickets.adapter import Capabilities, Events, Incoming, Message, text_at, time_at
from cairn.tickets.deliveries import check_signature, delivery_id, record_of
from cairn.tickets.desks.walking import (
    Listed,
    Record,
    WalkedDesk,
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

    from cairn.tickets.adapter import Delivered

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
        return incoming(record, self.customer)

    def said(self, record: Record) -> Iterable[Message | None]:
        """Return the comments of who opened it, and of people from outside the workspace."""
        return (message_of(comment, record) for comment in rows_of(record, "comments", "nodes"))

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
            message = message_of(record, issue)
            return Events(delivery_id=name, tickets=(), messages=(message,) if message else ())
        ticket = incoming(record, self.customer)
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


def incoming(issue: Record, customer: str) -> Incoming:
    """Return an issue in canonical form. Pure."""
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
        },
    )


def message_of(comment: Record, issue: Record) -> Message | None:
    """Return what the opener, or somebody from outside, commented; None for any other. Pure."""
    user, text = text_at(comment, "user", "id"), text_at(comment, "body")
    is_opener = user != "" and user == text_at(issue, "creator", "id")
    is_outside = text_at(comment, "externalUser", "id") != ""
    if not (is_opener or is_outside) or not text_at(comment, "id") or is_ours(text):
        return None
    return Message(
        ticket=text_at(issue, "id"),
        id=f"comment:{text_at(comment, 'id')}",
        text=text,
        author=_address(comment, "externalUser") if is_outside else _creator(issue),
        written_at=time_at(comment, "createdAt"),
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
