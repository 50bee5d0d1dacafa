"""GitHub issues as a kind of ticket source. Its client is `http.github`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.http.desks.declaring import (
    Fields,
    HelpDesk,
    is_hours,
    is_secret,
    is_text,
    is_texts,
)
from cairn.adapters.http.github import API_URL, GitHubIssues, GitHubRepository
from cairn.tickets.github import GitHubAdapter, repository_of
from cairn.tickets.ticket import SourceKind

if TYPE_CHECKING:
    from cairn.adapters.http.desks.declaring import Opening


def _open(opening: Opening) -> GitHubAdapter:
    config, secrets = opening.config, opening.secrets
    repository = GitHubRepository(
        owner=str(config["owner"]),
        name=str(config["repository"]),
        token=secrets["token"],
        api_url=config.get("api_url", API_URL),
        allow_private=opening.allow_private,
    )
    return GitHubAdapter(
        client=GitHubIssues(
            repository,
            transport=opening.transport,
            clock=opening.clock,
            breakers=opening.breakers,
        ),
        repository=repository_of(config),
        webhook_secret=secrets.get("webhook_secret"),
        clock=opening.clock,
    )


DESK = HelpDesk(
    kind=SourceKind.GITHUB_ISSUES,
    config=Fields(
        needed={"owner": is_text, "repository": is_text},
        allowed={
            "api_url": is_text,
            "labels": is_texts,
            "customer": is_text,
            "backfill_hours": is_hours,
        },
    ),
    secrets=Fields(needed={"token": is_secret}, allowed={"webhook_secret": is_secret}),
    open=_open,
)
