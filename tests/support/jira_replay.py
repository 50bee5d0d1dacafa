"""Jira Cloud's REST API version 2 and the service desk's, as documented, over requests it keeps."""

from __future__ import annotations

import base64
import itertools
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from tests.support.replaying import Asked, Replay, Reply, Route, served

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.support.file_replay import Kept

Record = dict[str, Any]

EMAIL, API_TOKEN, PROJECT = "cairn@harbourlane.example", "ATATT3xFfGF0-token", "SUP"
ISSUE = "/rest/api/2/issue/([0-9]+)"
TRANSITIONS = {"11": "Waiting for support", "21": "Waiting for customer", "31": "Resolved"}
_JQL = re.compile(
    r'project = "([A-Z]+)" AND updated >= "(\d{4}-\d\d-\d\d \d\d:\d\d)" ORDER BY key ASC'
)


@dataclass(kw_only=True)
class JiraReplay(Replay):
    """The requests of a site, and what the account's profile says of its time zone."""

    issues: dict[str, Record] = field(default_factory=dict)
    comments: dict[str, list[Record]] = field(default_factory=dict)
    worklogs: dict[str, list[Record]] = field(default_factory=dict)
    files: dict[str, Kept] = field(default_factory=dict)
    zone: str = "Europe/Berlin"
    now: datetime = datetime(2026, 3, 2, 9, tzinfo=UTC)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(10_001))

    def stamp(self) -> str:
        local = self.now.astimezone(ZoneInfo(self.zone))
        return f"{local:%Y-%m-%dT%H:%M:%S}.{local.microsecond // 1000:03d}{local:%z}"

    def add(self, summary: str, description: str | None, by: Record, **more: Any) -> Record:
        """Let a customer ask."""
        number = str(next(self.numbers))
        fields = {
            "summary": summary,
            "description": description,
            "status": _status("Waiting for support"),
            "priority": {"name": "Medium"},
            "reporter": by,
            "created": self.stamp(),
            "updated": self.stamp(),
            "project": {"id": "10000", "key": PROJECT},
            **more,
        }
        self.issues[number] = {"id": number, "key": f"{PROJECT}-{number}", "fields": fields}
        return self.issues[number]

    def comment(self, number: str, text: str, by: Record, *, public: bool = True) -> Record:
        comment = {
            "id": str(next(self.numbers)),
            "author": by,
            "body": text,
            "created": self.stamp(),
            "jsdPublic": public,
        }
        self.comments.setdefault(number, []).append(comment)
        self.touch(number)
        return comment

    def attach(self, number: str, kept: Kept, by: Record, **more: Any) -> None:
        """Attach a file to a request; its address sends who is signed in on to the store."""
        self.files[str(kept.named)] = kept
        row = {
            "id": str(kept.named),
            "filename": kept.name,
            "author": by,
            "size": len(kept.content),
            "mimeType": kept.media_type,
            "content": f"{self.url}/rest/api/2/attachment/content/{kept.named}",
        }
        self.issues[number]["fields"].setdefault("attachment", []).append({**row, **more})
        self.touch(number)

    def touch(self, number: str) -> None:
        self.issues[number]["fields"]["updated"] = self.stamp()

    def refused(self, asked: Asked) -> Reply | None:
        sent = base64.b64encode(f"{EMAIL}:{API_TOKEN}".encode()).decode()
        if asked.headers.get("authorization") != f"Basic {sent}":
            return _error(401, "Client must be authenticated to access this resource.")
        return None

    def unknown(self, asked: Asked) -> Reply:
        return _error(404, "Issue does not exist or you do not have permission to see it.")

    def routes(self) -> Mapping[tuple[str, str], Route]:
        return {
            ("GET", "/rest/api/2/myself"): lambda asked: Reply(body={"timeZone": self.zone}),
            ("GET", "/rest/api/2/search/jql"): self._search,
            ("GET", ISSUE): self._issue,
            ("GET", f"{ISSUE}/comment"): self._comments,
            ("GET", f"{ISSUE}/transitions"): self._transitions,
            ("POST", f"{ISSUE}/transitions"): self._move,
            ("GET", f"{ISSUE}/worklog"): self._worklogs,
            ("POST", f"{ISSUE}/worklog"): self._work,
            ("POST", "/rest/servicedeskapi/request/([0-9]+)/comment"): self._reply,
            ("GET", "/rest/api/2/attachment/content/([0-9]+)"): self._file,
        }

    def _file(self, asked: Asked, number: str) -> Reply:
        kept = self.files.get(number)
        return Reply(status=303, headers={"location": kept.url}) if kept else self.unknown(asked)

    def _search(self, asked: Asked) -> Reply:
        jql = _JQL.fullmatch(asked.query["jql"])
        if jql is None or jql[1] != PROJECT:
            return _error(400, "The value does not exist for the field 'project'.")
        since = datetime.fromisoformat(jql[2]).replace(tzinfo=ZoneInfo(self.zone))
        issues = [item for _, item in sorted(self.issues.items()) if _time(item) >= since]
        token, limit = asked.query.get("nextPageToken", "0"), int(asked.query["maxResults"])
        if not token.isdecimal():
            return _error(400, "The provided next page token is invalid.")
        at = int(token)
        shown, rest = issues[at : at + limit], issues[at + limit :]
        more = {"nextPageToken": str(at + limit)} if rest else {}
        asked_for = asked.query["fields"].split(",")
        issues = [
            {**item, "fields": {name: item["fields"].get(name) for name in asked_for}}
            for item in shown
        ]
        return Reply(body={"issues": issues, "isLast": not rest, **more})

    def _issue(self, asked: Asked, number: str) -> Reply:
        issue = self.issues.get(number)
        return self.unknown(asked) if issue is None else Reply(body=issue)

    def _comments(self, asked: Asked, number: str) -> Reply:
        if number not in self.issues:
            return self.unknown(asked)
        comments = self.comments.get(number, [])
        if asked.query.get("orderBy") == "-created":
            comments = comments[::-1]
        shown = comments[: int(asked.query.get("maxResults", 5000))]
        return Reply(body={"startAt": 0, "total": len(comments), "comments": shown})

    def _transitions(self, asked: Asked, number: str) -> Reply:
        if number not in self.issues:
            return self.unknown(asked)
        rows = [
            {"id": each, "name": f"To {name}", "to": _status(name)}
            for each, name in TRANSITIONS.items()
        ]
        return Reply(body={"transitions": rows})

    def _move(self, asked: Asked, number: str) -> Reply:
        name = TRANSITIONS.get(asked.body["transition"]["id"])
        if name is None:
            return _error(400, "It seems that you have tried to perform an illegal operation.")
        self.issues[number]["fields"]["status"] = _status(name)
        self.touch(number)
        return Reply(status=204)

    def _worklogs(self, asked: Asked, number: str) -> Reply:
        if number not in self.issues:
            return self.unknown(asked)
        return Reply(body={"worklogs": self.worklogs.get(number, [])})

    def _work(self, asked: Asked, number: str) -> Reply:
        datetime.strptime(asked.body["started"], "%Y-%m-%dT%H:%M:%S.%f%z")
        worklog = {"id": str(next(self.numbers)), **asked.body}
        self.worklogs.setdefault(number, []).append(worklog)
        return Reply(status=201, body=worklog)

    def _reply(self, asked: Asked, number: str) -> Reply:
        if number not in self.issues:
            return Reply(status=404, body={"errorMessage": "The request does not exist."})
        author = account("agent-1", EMAIL, kind="atlassian")
        comment = self.comment(number, asked.body["body"], author, public=asked.body["public"])
        return Reply(status=201, body={"id": comment["id"], "public": comment["jsdPublic"]})


def account(name: str, email: str, *, kind: str = "customer") -> Record:
    """An account as issues and comments have it; an e-mail that is "" is hidden."""
    shown = {"emailAddress": email} if email else {}
    return {"accountId": f"qm:{name}", "accountType": kind, "displayName": name, **shown}


def _status(name: str) -> Record:
    category = "done" if name == "Resolved" else "indeterminate"
    return {"id": str(len(name)), "name": name, "statusCategory": {"key": category}}


def _time(issue: Record) -> datetime:
    return datetime.fromisoformat(issue["fields"]["updated"])


def _error(status: int, message: str) -> Reply:
    return Reply(status=status, body={"errorMessages": [message], "errors": {}})


@contextmanager
def jira_replay() -> Iterator[JiraReplay]:
    """Serve a site until the block ends."""
    with served(JiraReplay()) as replay:
        yield replay
