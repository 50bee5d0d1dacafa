"""The connector `github-issues`: the issues of one repository.

A comment carries the mark of its idempotency key in an HTML comment, and is looked for before it is
written. Labels and states are set, not toggled: doing that twice is doing it once. Settings:
`owner`, `repository`, `api_url`; secret: `token`, which needs read and write access to issues.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AwareDatetime, Field, SecretStr

from cairn.adapters.http.github import API_URL, GitHubIssues, GitHubRepository
from cairn.bundled.configuration import ConnectorConfig, configured, run
from cairn.bundled.serving import (
    Answer,
    Arguments,
    Text,
    Tool,
    WriteArguments,
    connector_server,
    reads,
    writes,
)
from cairn.kernel.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server.lowlevel import Server

    from cairn.adapters.http.github import Record
    from cairn.kernel.text.json_value import JsonValue

NAME, VERSION, PREFIX = "github-issues", "1.0.0", "GITHUB_ISSUES_"
MAX_COMMENTS = 30

Number = Annotated[int, Field(ge=1, le=2_000_000_000, description="The issue's number.")]
Label = Annotated[str, Field(min_length=1, max_length=50, pattern=r"^[^,\x00-\x1f\x7f]+$")]


class GitHubConfig(ConnectorConfig):
    """Whose issues."""

    owner: str
    repository: str
    token: SecretStr
    api_url: str = API_URL
    allow_private: bool = False


class ListIssues(Arguments):
    """Which issues."""

    state: Literal["open", "closed", "all"] = "open"
    labels: tuple[Label, ...] = Field(default=(), max_length=10, description="All of these.")
    since: AwareDatetime | None = Field(default=None, description="Changed at or after this.")
    page: int = Field(default=1, ge=1, le=1_000)


class OneIssue(Arguments):
    """Which issue."""

    number: Number


class Comment(WriteArguments):
    """What to say, and where."""

    number: Number
    body: Text = Field(description="Markdown. Everybody who sees the issue sees it.")


class Labelled(WriteArguments):
    """Which label, and where."""

    number: Number
    label: Label


class Close(WriteArguments):
    """Which issue to close, and why."""

    number: Number
    reason: Literal["completed", "not_planned"] = "completed"


class Reopen(WriteArguments):
    """Which issue to open again."""

    number: Number


class Issues:
    """The tools over one repository."""

    def __init__(self, github: GitHubIssues) -> None:
        self._github = github

    def health(self) -> Mapping[str, JsonValue]:
        """Ask for the repository."""
        record = self._github.repository()
        return {"repository": str(record.get("full_name", ""))}

    def list_issues(self, arguments: ListIssues) -> Answer:
        """Return issues, the latest change first."""
        page = self._github.issues(
            state=arguments.state,
            labels=arguments.labels,
            since=arguments.since,
            direction="desc",
            page=arguments.page,
        )
        issues: list[JsonValue] = [_brief(record) for record in page.records]
        return Answer(value={"issues": issues, "next_page": page.next_page})

    def get_issue(self, arguments: OneIssue) -> Answer:
        """Return an issue with its first comments."""
        issue = self._github.issue(arguments.number)
        page = self._github.comments(arguments.number, per_page=MAX_COMMENTS)
        comments: list[JsonValue] = [_comment(record) for record in page.records]
        fields = {**_brief(issue), "body": issue.get("body"), "comments": comments}
        return Answer(value={**fields, "more_comments": page.next_page is not None})

    def comment(self, arguments: Comment) -> Answer:
        """Write a comment once."""
        if arguments.dry_run:
            return self._would(arguments.number, {"comment": arguments.body})
        comment, repeated = self._github.comment_once(
            arguments.number, arguments.body, key=arguments.idempotency_key or ""
        )
        return Answer(value={**_comment(comment), "repeated": repeated})

    def add_label(self, arguments: Labelled) -> Answer:
        """Add a label."""
        if arguments.dry_run:
            return self._would(arguments.number, {"add_label": arguments.label})
        return _labels(self._github.add_labels(arguments.number, [arguments.label]))

    def remove_label(self, arguments: Labelled) -> Answer:
        """Take a label off; an issue without it is as it should be."""
        if arguments.dry_run:
            return self._would(arguments.number, {"remove_label": arguments.label})
        try:
            return _labels(self._github.remove_label(arguments.number, arguments.label))
        except NotFound:
            labels = _names(self._github.issue(arguments.number))
        return Answer(value={"labels": labels, "note": "It had no such label."})

    def close(self, arguments: Close) -> Answer:
        """Close an issue."""
        if arguments.dry_run:
            return self._would(arguments.number, {"close": arguments.reason})
        issue = self._github.set_state(arguments.number, "closed", reason=arguments.reason)
        return Answer(value=_brief(issue))

    def reopen(self, arguments: Reopen) -> Answer:
        """Open an issue again."""
        if arguments.dry_run:
            return self._would(arguments.number, {"reopen": True})
        issue = self._github.set_state(arguments.number, "open", reason="reopened")
        return Answer(value=_brief(issue))

    def _would(self, number: int, change: Mapping[str, JsonValue]) -> Answer:
        present = _brief(self._github.issue(number))
        return Answer(value={"dry_run": True, "issue": present, "would": dict(change)})


def _brief(issue: Record) -> dict[str, JsonValue]:
    return {
        "number": issue.get("number"),
        "title": issue.get("title"),
        "state": issue.get("state"),
        "state_reason": issue.get("state_reason"),
        "labels": _names(issue),
        "author": _login(issue),
        "comment_count": issue.get("comments"),
        "created_at": issue.get("created_at"),
        "updated_at": issue.get("updated_at"),
        "url": issue.get("html_url"),
    }


def _comment(comment: Record) -> dict[str, JsonValue]:
    return {
        "id": comment.get("id"),
        "author": _login(comment),
        "body": comment.get("body"),
        "created_at": comment.get("created_at"),
        "url": comment.get("html_url"),
    }


def _login(record: Record) -> JsonValue:
    user: Record = record.get("user") or {}
    return user.get("login")


def _names(issue: Record) -> list[JsonValue]:
    """Return the names of an issue's labels; GitHub may send a label as its name alone."""
    labels: list[str | Record] = issue.get("labels") or []
    return [label if isinstance(label, str) else label.get("name") for label in labels]


def _labels(labels: list[Record]) -> Answer:
    return Answer(value={"labels": [label.get("name") for label in labels]})


def tools(issues: Issues) -> list[Tool]:
    """Return the tools with what they declare."""
    return [
        reads("list_issues", "List issues, the latest change first.", ListIssues,
              issues.list_issues),
        reads("get_issue", "Read an issue with its comments.", OneIssue, issues.get_issue,
              resource="issues/{number}"),
        writes("comment", "Comment on an issue, for all to see.", Comment, issues.comment,
               resource="issues/{number}/comments"),
        writes("add_label", "Add a label to an issue.", Labelled, issues.add_label,
               resource="issues/{number}/labels", rollback="remove_label"),
        writes("remove_label", "Take a label off an issue.", Labelled, issues.remove_label,
               resource="issues/{number}/labels", rollback="add_label"),
        writes("close", "Close an issue.", Close, issues.close,
               resource="issues/{number}/state", rollback="reopen"),
        writes("reopen", "Open a closed issue again.", Reopen, issues.reopen,
               resource="issues/{number}/state", rollback="close"),
    ]  # fmt: skip


def server(config: Mapping[str, JsonValue], secrets: Mapping[str, str]) -> Server[Any]:
    """Return the server; ValidationFailed names settings it cannot work with."""
    settings = configured(GitHubConfig, config, secrets)
    repository = GitHubRepository(
        owner=settings.owner,
        name=settings.repository,
        token=settings.token.get_secret_value(),
        api_url=settings.api_url,
        allow_private=settings.allow_private,
    )
    issues = Issues(GitHubIssues(repository))
    return connector_server(
        NAME,
        VERSION,
        tools(issues),
        health=issues.health,
        instructions=f"Issues of the GitHub repository {settings.owner}/{settings.repository}.",
        secrets=settings.secrets(),
    )


if __name__ == "__main__":
    run(server, GitHubConfig, PREFIX)
