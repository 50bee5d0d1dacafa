"""Linear's GraphQL API, as far as its published schema answers our queries, over issues it keeps.

Queries are recognised by their operation's name; what they ask for must be of the schema's fields.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from tests.support.replaying import Asked, Replay, Reply, Route, served

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.support.file_replay import Kept

Record = dict[str, Any]

API_KEY, TEAM = "lin_api_aiIkX2gDt0vCqB3Y", "SUP"
STATES = {name: str(uuid4()) for name in ("Backlog", "Todo", "In Progress", "Done", "Canceled")}
_TYPES = {"Done": "completed", "Canceled": "canceled", "In Progress": "started"}
_OPERATION = re.compile(r"(query|mutation) ([A-Za-z]+)")
_FIELDS = (
    "body comment commentCreate comments createdAt creator description email endCursor"
    " externalUser externalUserCreator hasNextPage id identifier issue issueUpdate issues key"
    " name nodes pageInfo priority slaBreachesAt state states success team title type updatedAt"
    " url user"
)


@dataclass(kw_only=True)
class LinearReplay(Replay):
    """The issues of a workspace; its key is of the user `cairn`. Uploads are at the same server."""

    issues: dict[str, Record] = field(default_factory=dict)
    files: dict[str, Kept] = field(default_factory=dict)
    now: datetime = datetime(2026, 3, 2, 9, tzinfo=UTC)

    def stamp(self) -> str:
        return f"{self.now:%Y-%m-%dT%H:%M:%S}.{self.now.microsecond // 1000:03d}Z"

    def add(self, title: str, description: str | None, by: Record, **more: Any) -> Record:
        """Let somebody open an issue."""
        issue = {
            "id": str(uuid4()),
            "identifier": f"{TEAM}-{len(self.issues) + 1}",
            "title": title,
            "description": description,
            "priority": 3,
            "url": f"https://linear.app/harbourlane/issue/{TEAM}-{len(self.issues) + 1}",
            "createdAt": self.stamp(),
            "updatedAt": self.stamp(),
            "slaBreachesAt": None,
            "state": _state("Todo"),
            "team": {"id": "t", "key": TEAM},
            "creator": by,
            "externalUserCreator": None,
            "comments": [],
            **more,
        }
        self.issues[issue["id"]] = issue
        return issue

    def comment(self, issue: str, body: str, **by: Any) -> Record:
        """Let somebody comment; that changes the issue's `updatedAt` not at all."""
        comment = {
            "id": str(uuid4()),
            "body": body,
            "createdAt": self.stamp(),
            "user": None,
            "externalUser": None,
            **by,
        }
        self.issues[issue]["comments"].append(comment)
        return comment

    def link(self, kept: Kept) -> str:
        """Upload a file; return what the Markdown of a text says of it."""
        path = f"/{uuid4()}/{uuid4()}/{uuid4()}"
        self.files[path] = kept
        return f"[{kept.name}]({self.url}{path})"

    def refused(self, asked: Asked) -> Reply | None:
        if asked.headers.get("authorization") != API_KEY:
            return _error(401, "AUTHENTICATION_ERROR", "Authentication required")
        return None

    def unknown(self, asked: Asked) -> Reply:
        return Reply(status=404)

    def routes(self) -> Mapping[tuple[str, str], Route]:
        return {
            ("POST", "/graphql"): self._graphql,
            ("GET", "((?:/[0-9a-f-]{36}){3})"): lambda asked, path: self.files[path].read(),
        }

    def _graphql(self, asked: Asked) -> Reply:
        query, variables = asked.body["query"], asked.body["variables"]
        operation = _OPERATION.match(query)
        asked_for = set(re.findall(r"(?<![$:\w])[a-z]\w*(?=[ }({])(?!:)", _body(query)))
        if operation is None or (unknown := asked_for - set(_FIELDS.split())):
            return _error(400, "GRAPHQL_VALIDATION_FAILED", f"Cannot query field {unknown}")
        answers = {
            "Changed": self._changed,
            "CommentOf": self._comment_of,
            "Comment": self._create,
            "StatesOf": self._states,
            "SetState": self._set_state,
        }
        return answers[operation[2]](variables)

    def _changed(self, variables: Record) -> Reply:
        since = variables["since"]
        issues = [
            issue
            for issue in self.issues.values()
            if issue["team"]["key"] == variables["filter"]["team"]["key"]["eq"]
            and (
                issue["updatedAt"] >= since
                or any(comment["createdAt"] >= since for comment in issue["comments"])
            )
        ]
        issues.sort(key=lambda issue: issue["updatedAt"], reverse=True)
        ids = [issue["id"] for issue in issues]
        after, first = variables["after"], variables["first"]
        if after is not None and after not in ids:
            return _error(400, "INVALID_INPUT", "after is no cursor")
        at = ids.index(after) + 1 if after else 0
        shown = issues[at : at + first]
        info = {"hasNextPage": at + first < len(issues), "endCursor": None}
        info |= {"endCursor": shown[-1]["id"]} if shown else {}
        return _data(issues={"nodes": [_shown(item, since) for item in shown], "pageInfo": info})

    def _comment_of(self, variables: Record) -> Reply:
        issue = self.issues.get(variables["issue"])
        if issue is None:
            return _error(200, "INPUT_ERROR", "Entity not found: Issue")
        nodes = [item for item in issue["comments"] if item["id"] == variables["id"]]
        return _data(issue={"comments": {"nodes": nodes}})

    def _create(self, variables: Record) -> Reply:
        given = variables["input"]
        if UUID(given["id"]).version != 4:
            return _error(400, "INVALID_INPUT", "id must be a UUID")
        comment = self.comment(given["issueId"], given["body"], user={"id": "cairn"})
        comment["id"] = given["id"]
        return _data(commentCreate={"success": True, "comment": {"id": given["id"]}})

    def _states(self, variables: Record) -> Reply:
        if variables["issue"] not in self.issues:
            return _error(200, "INPUT_ERROR", "Entity not found: Issue")
        nodes = [{"id": number, "name": name} for name, number in STATES.items()]
        return _data(issue={"team": {"states": {"nodes": nodes}}})

    def _set_state(self, variables: Record) -> Reply:
        names = {number: name for name, number in STATES.items()}
        state = _state(names[variables["input"]["stateId"]])
        self.issues[variables["issue"]] |= {"state": state, "updatedAt": self.stamp()}
        return _data(issueUpdate={"success": True, "issue": {"state": state}})


def _shown(issue: Record, since: str) -> Record:
    nodes = [item for item in issue["comments"] if item["createdAt"] >= since]
    return {**issue, "comments": {"nodes": nodes[:25]}}


def _body(query: str) -> str:
    """The selection of a query, without arguments."""
    text = query[query.index("{") :]
    while "(" in text:
        text = re.sub(r"\([^()]*\)", " ", text)
    return text


def _state(name: str) -> Record:
    return {"id": STATES[name], "name": name, "type": _TYPES.get(name, "unstarted")}


def _data(**fields: Any) -> Reply:
    return Reply(body={"data": fields})


def _error(status: int, code: str, message: str) -> Reply:
    error = {"message": message, "extensions": {"code": code, "userError": True}}
    return Reply(status=status, body={"errors": [error], "data": None})


@contextmanager
def linear_replay() -> Iterator[LinearReplay]:
    """Serve a workspace until the block ends."""
    with served(LinearReplay()) as replay:
        yield replay
