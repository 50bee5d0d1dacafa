"""Jira Service Management in the cloud as a kind of ticket source."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from cairn.adapters.http.desks.asking import COMMON, AskDesk, always, basic, files_of, settled
from cairn.adapters.http.desks.declaring import (
    Fields,
    HelpDesk,
    is_ascii_secret,
    is_secret,
    is_text,
)
from cairn.tickets.desks.jira import STATUSES, JiraAdapter
from cairn.tickets.ticket import SourceKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.adapters.http.desks.declaring import Opening

_PROJECT = re.compile(r"[A-Z][A-Z0-9_]{0,254}")


def _open(opening: Opening) -> JiraAdapter:
    config, secrets = opening.config, opening.secrets
    headers = {"authorization": basic(config["email"], secrets["api_token"])}
    service = opening.service("Jira", config["site_url"], words=_words)
    return JiraAdapter(
        api=AskDesk(service=service, sign_in=always(headers)),
        file=files_of(service, always(headers)),
        clock=opening.clock,
        project=config["project"],
        webhook_secret=secrets.get("webhook_secret"),
        **settled(config, STATUSES),
    )


def _words(body: Mapping[str, Any]) -> str:
    """Return what an error says; the service desk's form of it is another than the platform's."""
    messages: Any = body.get("errorMessages")
    listed = cast("list[Any]", messages if isinstance(messages, list) else [])
    fields: Any = body.get("errors")
    if isinstance(fields, dict):
        listed = [*listed, *cast("dict[str, Any]", fields).values()]
    return " ".join(map(str, listed)) or str(body.get("errorMessage") or "")


def _is_project(value: object) -> bool:
    return isinstance(value, str) and _PROJECT.fullmatch(value) is not None


DESK = HelpDesk(
    kind=SourceKind.JIRA,
    config=Fields(
        needed={"site_url": is_text, "email": is_text, "project": _is_project}, allowed=COMMON
    ),
    secrets=Fields(needed={"api_token": is_ascii_secret}, allowed={"webhook_secret": is_secret}),
    open=_open,
)
