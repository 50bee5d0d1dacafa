"""GitHub's REST API for issues, as documented, over one repository it keeps."""

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

TOKEN = "github_pat_" + "11ABCDEFG0" * 4
REPOSITORY = "/repos/harbourlane/booking"


@dataclass(kw_only=True)
class GitHubReplay(Replay):
    """The repository's issues and comments."""

    issues: dict[int, Record] = field(default_factory=dict)
    comments: dict[int, list[Record]] = field(default_factory=dict)
    token: str = TOKEN
    now: datetime = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
    ids: Iterator[int] = field(default_factory=lambda: itertools.count(4_100_000_001))

    def stamp(self) -> str:
        """The present time as GitHub writes it."""
        return f"{self.now:%Y-%m-%dT%H:%M:%SZ}"

    def add_issue(self, title: str, body: str = "", **more: Any) -> Record:
        """Keep an issue and return it; `pull_request` makes it one."""
        number = len(self.issues) + 1
        made = {
            "id": next(self.ids),
            "number": number,
            "title": title,
            "body": body,
            "state": "open",
            "state_reason": None,
            "labels": [],
            "user": {"login": "ines", "id": 7, "type": "User"},
            "comments": 0,
            "created_at": self.stamp(),
            "updated_at": self.stamp(),
            "closed_at": None,
            "html_url": f"https://github.com/harbourlane/booking/issues/{number}",
            "author_association": "NONE",
            **more,
        }
        self.issues[number] = made
        return made

    def refused(self, asked: Asked) -> Reply | None:
        if asked.headers.get("authorization") != f"Bearer {self.token}":
            return _error(401, "Bad credentials")
        if not asked.headers.get("user-agent"):
            return _error(403, "Request forbidden by administrative rules.")
        return None

    def unknown(self, asked: Asked) -> Reply:
        return _error(404, "Not Found")

    def routes(self) -> Mapping[tuple[str, str], Route]:
        issue = f"{REPOSITORY}/issues/([0-9]+)"
        return {
            ("GET", REPOSITORY): self._repository,
            ("GET", f"{REPOSITORY}/issues"): self._list,
            ("GET", issue): self._issue,
            ("PATCH", issue): self._patch,
            ("GET", f"{issue}/comments"): self._comments,
            ("POST", f"{issue}/comments"): self._comment,
            ("POST", f"{issue}/labels"): self._label,
            ("DELETE", f"{issue}/labels/([^/]+)"): self._unlabel,
        }

    def _repository(self, asked: Asked) -> Reply:
        return Reply(body={"id": 1, "full_name": "harbourlane/booking", "private": True})

    def _list(self, asked: Asked) -> Reply:
        query = asked.query
        wanted = set(filter(None, query.get("labels", "").split(",")))
        found = [
            issue
            for issue in self.issues.values()
            if query.get("state", "open") in {"all", issue["state"]}
            and wanted <= {label["name"] for label in issue["labels"]}
            and issue["updated_at"] >= query.get("since", "")
        ]
        by = f"{query.get('sort', 'created')}_at"
        found.sort(key=lambda item: item[by], reverse=query.get("direction", "desc") == "desc")
        return self._page(asked, found)

    def _page(self, asked: Asked, found: list[Record]) -> Reply:
        page, size = int(asked.query.get("page", 1)), int(asked.query.get("per_page", 30))
        rows = found[(page - 1) * size : page * size]
        more = f'<{self.url}{asked.path}?page={page + 1}>; rel="next"'
        headers = {"link": more} if len(found) > page * size else {}
        return Reply(body=rows, headers={**headers, "x-ratelimit-remaining": "4990"})

    def _issue(self, asked: Asked, number: str) -> Reply:
        found = self.issues.get(int(number))
        return self.unknown(asked) if found is None else Reply(body=found)

    def _patch(self, asked: Asked, number: str) -> Reply:
        found = self.issues.get(int(number))
        if found is None:
            return self.unknown(asked)
        given = asked.body or {}
        if given.get("state") not in {"open", "closed"}:
            return _error(422, "Validation Failed")
        found |= {"state": given["state"], "state_reason": given.get("state_reason")}
        found["updated_at"] = self.stamp()
        return Reply(body=found)

    def _comments(self, asked: Asked, number: str) -> Reply:
        if int(number) not in self.issues:
            return self.unknown(asked)
        since = asked.query.get("since", "")
        rows = [
            comment
            for comment in self.comments.get(int(number), [])
            if comment["updated_at"] >= since
        ]
        return self._page(asked, rows)

    def _comment(self, asked: Asked, number: str) -> Reply:
        if int(number) not in self.issues:
            return self.unknown(asked)
        said = (asked.body or {})["body"]
        return Reply(status=201, body=self.write(int(number), said, by="cairn-bot"))

    def write(self, number: int, body: str, *, by: str) -> Record:
        """Let an account comment on an issue and return the comment."""
        issue = self.issues[number]
        made = {
            "id": next(self.ids),
            "body": body,
            "user": {"login": by, "id": 8, "type": "Bot" if by == "cairn-bot" else "User"},
            "created_at": self.stamp(),
            "updated_at": self.stamp(),
            "html_url": f"{issue['html_url']}#issuecomment-1",
        }
        self.comments.setdefault(number, []).append(made)
        issue["comments"] += 1
        issue["updated_at"] = self.stamp()
        return made

    def _label(self, asked: Asked, number: str) -> Reply:
        issue = self.issues.get(int(number))
        if issue is None:
            return self.unknown(asked)
        present = {label["name"] for label in issue["labels"]}
        for name in (asked.body or {})["labels"]:
            if name not in present:
                issue["labels"].append({"id": next(self.ids), "name": name, "color": "ededed"})
        return Reply(body=issue["labels"])

    def _unlabel(self, asked: Asked, number: str, name: str) -> Reply:
        issue = self.issues.get(int(number))
        if issue is None:
            return self.unknown(asked)
        if name not in {label["name"] for label in issue["labels"]}:
            return _error(404, "Label does not exist")
        issue["labels"] = [label for label in issue["labels"] if label["name"] != name]
        return Reply(body=issue["labels"])


def _error(status: int, message: str) -> Reply:
    return Reply(
        status=status,
        body={"message": message, "documentation_url": "https://docs.github.com/rest"},
    )


@contextmanager
def github_replay() -> Iterator[GitHubReplay]:
    """Serve a repository without issues until the block ends."""
    with served(GitHubReplay()) as replay:
        yield replay
