"""Issues of one GitHub repository over the REST API. Pull requests are left out of lists.

Records are as GitHub sends them (`number`, `state`, `labels`, times as ISO 8601); who makes a
ticket of them is `tickets`. Endpoints and fields used: docs/build/connectors-reference.md.
Errors are those of `rest`. `comment_once` looks for the mark of its key first (`once`).
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from datetime import UTC
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote

from cairn.adapters.http.rest import (
    DEFAULT_RETRY_AFTER,
    Answer,
    Request,
    RestService,
    rest_breakers,
)
from cairn.adapters.once import has_mark, mark, not_before
from cairn.kernel.clock import Clock, utc_now
from cairn.kernel.errors import FieldError, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    import httpx

    from cairn.kernel.resilience.breaker import Breakers

Record: TypeAlias = dict[str, Any]

API_URL = "https://api.github.com"
API_VERSION = "2022-11-28"
MAX_PAGE = 100
MAX_LOOKED_THROUGH = 50
"""Pages of comments that are searched for a mark."""

STATES = frozenset({"open", "closed", "all"})
CLOSED_BECAUSE = frozenset({"completed", "not_planned", "duplicate"})
_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")


@dataclass(frozen=True, slots=True, kw_only=True)
class GitHubRepository:
    """Whose issues, and with which token; the token never shows in a repr.

    `api_url` of GitHub Enterprise Server is https://HOST/api/v3; `allow_private` lets it lead into
    this network.
    """

    owner: str
    name: str
    token: str = field(repr=False)
    api_url: str = API_URL
    allow_private: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some records, and the number of the next page; None after the last."""

    records: Sequence[Record]
    next_page: int | None = None


class GitHubIssues:
    """The issues of a repository. Safe between threads.

    Reads, labels and states are repeated when GitHub is busy; comments are sent once, and raise
    OutcomeUnknown when no answer came.
    """

    def __init__(
        self,
        repository: GitHubRepository,
        *,
        transport: httpx.BaseTransport | None = None,
        pause: Callable[[float], None] = time.sleep,
        clock: Clock = utc_now,
        breakers: Breakers | None = None,
    ) -> None:
        self._base = (
            f"/repos/{_checked_name('owner', repository)}/{_checked_name('name', repository)}"
        )
        self._headers = {
            "authorization": f"Bearer {repository.token}",
            "accept": "application/vnd.github+json",
            "x-github-api-version": API_VERSION,
            "user-agent": "cairn",
        }
        self._service = RestService(
            name="GitHub",
            base_url=repository.api_url,
            allow_private=repository.allow_private,
            words=lambda body: str(body.get("message", "")),
            limited=is_limited,
            wait=lambda headers: seconds_to_wait(headers, clock()),
            transport=transport,
            pause=pause,
            breakers=breakers or rest_breakers(),
        )

    def repository(self) -> Record:
        """Return the repository; what a health check asks."""
        return self._service.ask(self._read(""), self._headers).record()

    def issues(
        self,
        *,
        state: str = "open",
        labels: Sequence[str] = (),
        since: datetime | None = None,
        sort: str = "updated",
        direction: str = "asc",
        page: int = 1,
        per_page: int = 50,
    ) -> Page:
        """Return issues changed at or after `since`; a page may hold fewer for its pull requests.

        `sort` is created, updated or comments.
        """
        query = {"state": _one_of("state", state, STATES), "sort": sort, "direction": direction}
        query |= {"page": str(page), "per_page": _checked_limit(per_page)}
        if labels:
            query["labels"] = ",".join(labels)
        if since is not None:
            query["since"] = github_time(since)
        issues_page = self._page("/issues", query)
        only = [record for record in issues_page.records if "pull_request" not in record]
        return Page(records=only, next_page=issues_page.next_page)

    def issue(self, number: int) -> Record:
        """Return an issue."""
        return self._service.ask(self._read(_issue(number)), self._headers).record()

    def comments(
        self, number: int, *, since: datetime | None = None, page: int = 1, per_page: int = 100
    ) -> Page:
        """Return the comments of an issue changed at or after `since`, oldest first."""
        query = {"page": str(page), "per_page": _checked_limit(per_page)}
        if since is not None:
            query["since"] = github_time(since)
        return self._page(f"{_issue(number)}/comments", query)

    def comment(self, number: int, body: str) -> Record:
        """Write a comment and return it."""
        return self._write("POST", f"{_issue(number)}/comments", {"body": body}).record()

    def comment_once(self, number: int, body: str, *, key: str) -> tuple[Record, bool]:
        """Write a comment unless that was done under `key`; True says that it was.

        The mark is an HTML comment at the end, which GitHub does not show.
        """
        page: int | None = 1
        while page is not None and page <= MAX_LOOKED_THROUGH:
            read = self.comments(number, since=not_before(key), page=page)
            comment = next(
                (record for record in read.records if has_mark(record, key, "body")), None
            )
            if comment is not None:
                return comment, True
            page = read.next_page
        return self.comment(number, f"{body}\n\n<!-- {mark(key)} -->"), False

    def add_labels(self, number: int, labels: Sequence[str]) -> list[Record]:
        """Add labels to an issue and return all it has; one it has already stays."""
        body = {"labels": list(labels)}
        path = f"{_issue(number)}/labels"
        return self._write("POST", path, body, repeatable=True).rows()

    def remove_label(self, number: int, label: str) -> list[Record]:
        """Take a label off an issue and return those left; NotFound when it has no such label."""
        path = f"{_issue(number)}/labels/{quote(label, safe='')}"
        return self._write("DELETE", path, None, repeatable=True).rows()

    def set_state(self, number: int, state: str, *, reason: str | None = None) -> Record:
        """Open or close an issue and return it; `reason` is why it is closed."""
        body: Record = {"state": _one_of("state", state, STATES - {"all"})}
        if reason is not None:
            body["state_reason"] = _one_of("reason", reason, CLOSED_BECAUSE | {"reopened"})
        return self._write("PATCH", _issue(number), body, repeatable=True).record()

    def _read(self, path: str, query: Mapping[str, str] | None = None) -> Request:
        return Request(method="GET", path=self._base + path, query=query or {}, repeatable=True)

    def _page(self, path: str, query: Mapping[str, str]) -> Page:
        answer = self._service.ask(self._read(path, query), self._headers)
        more = 'rel="next"' in answer.headers.get("link", "")
        return Page(records=answer.rows(), next_page=int(query["page"]) + 1 if more else None)

    def _write(
        self, method: str, path: str, body: Mapping[str, Any] | None, *, repeatable: bool = False
    ) -> Answer:
        request = Request(method=method, path=self._base + path, body=body, repeatable=repeatable)
        return self._service.ask(request, self._headers)


def github_time(moment: datetime) -> str:
    """Return a moment as GitHub writes it: 2026-03-01T09:30:00Z."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def is_limited(status: int, headers: Mapping[str, str]) -> bool:
    """Return whether an answer means a rate limit; GitHub sends 403 for those, too."""
    spent = headers.get("x-ratelimit-remaining") == "0" or "retry-after" in headers
    return status == 429 or (status == 403 and spent)


def seconds_to_wait(headers: Mapping[str, str], now: datetime) -> float:
    """Return the seconds GitHub wants: of retry-after, else until x-ratelimit-reset, else 60."""
    retry_after = headers.get("retry-after", "")
    if retry_after.isdecimal():
        return float(retry_after)
    reset = headers.get("x-ratelimit-reset", "")
    if headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
        return max(float(reset) - now.timestamp(), 1.0)
    return DEFAULT_RETRY_AFTER


def _issue(number: int) -> str:
    if number < 1:
        message = "is a number from 1"
        raise ValidationFailed(f"number {message}.", errors=[FieldError("number", message)])
    return f"/issues/{number}"


def _checked_name(part: str, repository: GitHubRepository) -> str:
    value = repository.owner if part == "owner" else repository.name
    if not _NAME.fullmatch(value) or value.strip(".") == "":
        message = "is a name of letters, digits, dots, dashes and underscores"
        raise ValidationFailed(f"{part} {message}.", errors=[FieldError(part, message)])
    return value


def _one_of(name: str, value: str, allowed: frozenset[str]) -> str:
    if value not in allowed:
        message = f"is one of {', '.join(sorted(allowed))}"
        raise ValidationFailed(f"{name} {message}.", errors=[FieldError(name, message)])
    return value


def _checked_limit(limit: int) -> str:
    return str(min(max(limit, 1), MAX_PAGE))
