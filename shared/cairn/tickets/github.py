"""GitHub issues as a source and sink of tickets: records in canonical form, webhooks, comments.

Not the HTTP: the client comes from outside. Pull requests are no tickets.
https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

from cairn.kernel.errors import NotFound, ValidationFailed
from cairn.tickets.adapter import (
    Capabilities,
    Events,
    Incoming,
    Message,
    Polled,
    backfill_of,
    fresh,
    read_cursor,
    text_at,
    time_at,
)
from cairn.tickets.deliveries import check_signature, delivery_id, record_of
from cairn.tickets.ticket import Priority, TicketStatus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime, timedelta

    from cairn.kernel.clock import Clock
    from cairn.tickets.adapter import Delivered

SIGNATURE_HEADER = "x-hub-signature-256"
EVENT_HEADER = "x-github-event"
DELIVERY_HEADER = "x-github-delivery"
COMMENT_EVENT = "issue_comment"
STATUS_LABEL = "cairn:"
COMMENT_PAGES = 10
"""Pages of a hundred comments that are read at the most."""

_OURS = re.compile(r"<!-- cairn:[^<>]* -->\s*\Z")

_PRIORITIES = {
    Priority.CRITICAL: ("critical", "urgent", "blocker", "p0", "sev1"),
    Priority.HIGH: ("high", "p1", "sev2"),
    Priority.LOW: ("low", "minor", "p3", "p4"),
}

_EVENTS = frozenset(["issues", COMMENT_EVENT])

Record = dict[str, Any]


class Page(Protocol):
    """Some records, and the number of the next page."""

    @property
    def records(self) -> Sequence[Record]: ...
    @property
    def next_page(self) -> int | None: ...


class GitHubClient(Protocol):
    """A repository's issues over REST, as far as tickets need them."""

    def issues(
        self,
        *,
        state: str,
        labels: Sequence[str],
        since: datetime,
        sort: str,
        direction: str,
        page: int,
        per_page: int,
    ) -> Page: ...
    def issue(self, number: int) -> Record: ...
    def comments(
        self, number: int, *, since: datetime | None = None, page: int, per_page: int
    ) -> Page: ...
    def comment(self, number: int, body: str) -> Record: ...
    def add_labels(self, number: int, labels: Sequence[str]) -> list[Record]: ...
    def remove_label(self, number: int, label: str) -> list[Record]: ...
    def set_state(self, number: int, state: str, *, reason: str | None = None) -> Record: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Repository:
    """What of a source's settings is not the sign-in."""

    owner: str
    name: str
    customer: str
    labels: tuple[str, ...]
    backfill: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class GitHubAdapter:
    """Implements `TicketAdapter`. Comments are public: it takes no notes."""

    client: GitHubClient
    repository: Repository
    webhook_secret: str | None
    clock: Clock

    def capabilities(self) -> Capabilities:
        """Say what it can do."""
        return Capabilities(private_notes=False, webhooks=self.webhook_secret is not None)

    def poll(self, cursor: str | None, limit: int) -> Polled:
        """Return issues by the time of their last change; `start` of the cursor counts pages."""
        at = read_cursor(cursor, self.clock() - self.repository.backfill)
        page = self.client.issues(
            state="all",
            labels=self.repository.labels,
            since=at.since,
            sort="updated",
            direction="asc",
            page=at.start + 1,
            per_page=limit,
        )
        more = page.next_page is not None
        changes = [
            (text_at(record, "number"), time_at(record, "updated_at"), record)
            for record in page.records
        ]
        results, after = fresh(at, changes, full=more, size=1)
        return Polled(
            tickets=tuple(incoming(item, self.repository) for item in results),
            cursor=str(after),
            more=more,
            messages=tuple(
                message for item in results for message in self._messages(item, at.since)
            ),
        )

    def verify(self, delivered: Delivered, now: datetime) -> None:
        """Raise Unauthenticated unless the body is signed with the webhook's secret."""
        signature = delivered.headers.get(SIGNATURE_HEADER, "") if self.webhook_secret else ""
        secret = (self.webhook_secret or "").encode()
        expected = hmac.new(secret, delivered.body, hashlib.sha256).hexdigest()
        check_signature(signature.removeprefix("sha256="), expected)

    def read(self, delivered: Delivered) -> Events:
        """Return the issue of an `issues` event, or of an `issue_comment` with what was said.

        Other events tell nothing that is a ticket's.
        """
        known_as = delivery_id(delivered.headers.get(DELIVERY_HEADER, ""), delivered)
        if delivered.headers.get(EVENT_HEADER) not in _EVENTS:
            return Events(delivery_id=known_as, tickets=())
        document = record_of(delivered)
        issue: Any = document.get("issue")
        if not isinstance(issue, dict) or "pull_request" in issue or not self._is_ours(document):
            return Events(delivery_id=known_as, tickets=())
        record = cast("Record", issue)
        if not set(self.repository.labels) <= set(_labels(record)):
            return Events(delivery_id=known_as, tickets=())
        comment: Any = document.get("comment")
        commented = delivered.headers.get(EVENT_HEADER) == COMMENT_EVENT
        if commented and (not isinstance(comment, dict) or document.get("action") != "created"):
            return Events(delivery_id=known_as, tickets=())
        messages = said_of(record, [cast("Record", comment)]) if commented else ()
        ticket = incoming(record, self.repository)
        return Events(delivery_id=known_as, tickets=(ticket,), messages=messages)

    def reply(self, external_id: str, text: str, *, private: bool, key: str) -> str:
        """Comment on the issue; a comment that carries the key is there already."""
        number = _number(external_id)
        existing = self._comment(number, mark(key))
        return existing or text_at(self.client.comment(number, f"{text}\n\n{mark(key)}"), "id")

    def set_status(self, external_id: str, status: str) -> str:
        """Label the issue with the status, instead of an earlier one; close what is resolved."""
        number, label = _number(external_id), f"{STATUS_LABEL}{status}"
        for other in _labels(self.client.issue(number)):
            if other.startswith(STATUS_LABEL) and other != label:
                self._take_off(number, other)
        self.client.add_labels(number, [label])
        if status == TicketStatus.AUTO_RESOLVED:
            self.client.set_state(number, "closed", reason="completed")
        return label

    def log_time(self, external_id: str, minutes: int, note: str, *, key: str) -> str:
        """Refuse: issues have no time entries."""
        raise ValidationFailed("GitHub issues have no time entries.", reason="not-supported")

    def _messages(self, issue: Record, since: datetime) -> tuple[Message, ...]:
        if text_at(issue, "comments") == "0":
            return ()
        number = _number(text_at(issue, "number"))
        return said_of(issue, list(self._comments(number, since)))

    def _comment(self, number: int, marker: str) -> str:
        for comment in self._comments(number):
            if marker in text_at(comment, "body"):
                return text_at(comment, "id")
        return ""

    def _comments(self, number: int, since: datetime | None = None) -> Iterator[Record]:
        page: int | None = 1
        while page is not None and page <= COMMENT_PAGES:
            comments = self.client.comments(number, since=since, page=page, per_page=100)
            yield from comments.records
            page = comments.next_page

    def _take_off(self, number: int, label: str) -> None:
        try:
            self.client.remove_label(number, label)
        except NotFound:  # somebody else took it off
            return

    def _is_ours(self, fields: Record) -> bool:
        full = f"{self.repository.owner}/{self.repository.name}"
        return text_at(fields, "repository", "full_name").casefold() == full.casefold()


def incoming(record: Record, repository: Repository) -> Incoming:
    """Return an issue in canonical form. Pure; the requester is the account's no-reply address."""
    labels, login = _labels(record), text_at(record, "user", "login")
    return Incoming(
        external_id=text_at(record, "number"),
        title=text_at(record, "title"),
        body=text_at(record, "body"),
        customer=repository.customer,
        requester_email=_address(login),
        priority=priority_of(labels),
        received_at=time_at(record, "created_at"),
        modified_at=time_at(record, "updated_at") or time_at(record, "created_at"),
        closed=text_at(record, "state") == "closed",
        source_metadata={
            "repository": f"{repository.owner}/{repository.name}",
            "url": text_at(record, "html_url"),
            "author": login,
        },
    )


def said_of(issue: Record, comments: Sequence[Record]) -> tuple[Message, ...]:
    """Return the comments of who opened an issue; those that carry a mark of ours are ours. Pure.

    Without an opener, whose account is gone, there are none.
    """
    opener = _address(text_at(issue, "user", "login"))
    return tuple(
        Message(
            ticket=text_at(issue, "number"),
            id=f"comment:{text_at(comment, 'id')}",
            text=text_at(comment, "body"),
            author=opener,
            written_at=time_at(comment, "created_at"),
        )
        for comment in comments
        if text_at(comment, "id")
        and opener is not None
        and _address(text_at(comment, "user", "login")) == opener
        and not _OURS.search(text_at(comment, "body"))
    )


def priority_of(labels: Sequence[str]) -> Priority:
    """Return what labels such as `priority: high` or `P0` say; medium when none does."""
    words = {
        word
        for label in labels
        for word in label.casefold().replace(":", " ").replace("/", " ").replace("-", " ").split()
    }
    for priority, names in _PRIORITIES.items():
        if words.intersection(names):
            return priority
    return Priority.MEDIUM


def repository_of(config: Mapping[str, Any]) -> Repository:
    """Return what of a source's settings is not the sign-in."""
    return Repository(
        owner=str(config.get("owner", "")),
        name=str(config.get("repository", "")),
        customer=str(config.get("customer", "")),
        labels=tuple(str(item) for item in cast("Sequence[Any]", config.get("labels") or ())),
        backfill=backfill_of(config),
    )


def mark(key: str) -> str:
    """Return what an answer carries so that it is recognised; readers do not see it."""
    return f"<!-- cairn:{key} -->"


def _labels(record: Record) -> list[str]:
    listed: Any = record.get("labels") or []
    if not isinstance(listed, list):
        return []
    names = [
        text_at(cast("Record", item), "name") if isinstance(item, dict) else str(item)
        for item in cast("list[Any]", listed)
    ]
    return [name for name in names if name]


def _address(login: str) -> str | None:
    return f"{login}@users.noreply.github.com" if login else None


def _number(external_id: str) -> int:
    if not external_id.isdecimal():
        raise NotFound("There is no such issue.", external_id=external_id)
    return int(external_id)
