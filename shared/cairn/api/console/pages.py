"""How pages are made: templates, static files under names with their hash, headers, errors.

Whatever is shown is escaped by the templates; no page has a script or a style in itself.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urlencode

from fastapi import Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from cairn.api.problems import from_error
from cairn.kernel.errors import Conflict, Unauthenticated, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fastapi import Request

    from cairn.api.console.guard import Visitor
    from cairn.kernel.errors import CairnError

ChoiceT = TypeVar("ChoiceT", bound=StrEnum)
FOLDER = Path(__file__).parent
STATIC = "/console/static/"
TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "same-origin",  # a form says where it comes from
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "vary": "cookie, hx-request",
}
MENU = (
    ("", (("home", "/", "Home"),)),
    (
        "Memory",
        (
            ("memories", "/console/memories", "Memories"),
            ("documents", "/console/documents", "Documents"),
            ("searches", "/console/searches", "Searches"),
            ("graph", "/console/graph", "Graph"),
            ("conversations", "/console/conversations", "Conversations"),
            ("summaries", "/console/summaries", "Summaries"),
            ("clients", "/console/clients", "Clients"),
            ("review", "/console/review", "Review"),
        ),
    ),
    (
        "Work",
        (
            ("approvals", "/console/approvals", "Approvals"),
            ("chats", "/console/chats", "Chats"),
            ("tickets", "/console/tickets", "Tickets"),
            ("investigations", "/console/investigations", "Investigations"),
            ("tool-calls", "/console/tool-calls", "Tool calls"),
            ("workflows", "/console/workflows", "Workflows"),
            ("publications", "/console/publications", "Published"),
        ),
    ),
    ("Yours", (("own", "/console/own", "For you"),)),
)
"""The navigation's groups of pages: what a template's `here` says, the path, the name."""
ADMIN_MENU = (
    "Workspace",
    (
        ("networks", "/console/networks", "Network"),
        ("ledger", "/console/ledger", "Ledger"),
        ("people", "/console/people", "Administration"),
    ),
)
ADMINISTRATION = (
    ("people", "/console/people", "People"),
    ("scim", "/console/scim", "Directory"),
    ("keys", "/console/keys", "Keys"),
    ("agents", "/console/agents", "Agents"),
    ("personas", "/console/personas", "Personas"),
    ("settings", "/console/settings", "Settings"),
    ("connectors", "/console/connectors", "Connectors"),
    ("sources", "/console/sources", "Sources"),
    ("ticket-sources", "/console/ticket-sources", "Ticket sources"),
    ("channels", "/console/channels", "Channels"),
    ("webhooks", "/console/webhooks", "Webhooks"),
    ("widget", "/console/widget", "Chat widget"),
    ("costs", "/console/costs", "Costs"),
    ("stats", "/console/stats", "Statistics"),
    ("transfer", "/console/transfer", "Export and import"),
    ("upkeep", "/console/upkeep", "Upkeep"),
    ("audit", "/console/audit", "Audit"),
)
"""The pages of Administration, as in the navigation."""
REASON = "x-cairn-reason"
"""The header that tells the console's script why a request was refused."""


def page(
    name: str, visitor: Visitor | None, *, status: int = 200, passing: bool = False, **values: Any
) -> HTMLResponse:
    """Return a page made of a template.

    One that was refused, or is `passing`, is no place of its own: going back and reloading lead to
    the page that its form was on.
    """
    no_place = passing or status in (409, 413, 422)
    values |= {"visitor": visitor, "now": _now(), "refused": no_place}
    text = _environment().get_template(name).render(values)
    return HTMLResponse(text, status_code=status, headers=HEADERS)


def fragment(name: str, **values: Any) -> bytes:
    """Return a piece of a page that is the same for whoever reads it."""
    return _environment().get_template(name).render(visitor=None, now=_now(), **values).encode()


def go_to(path: str) -> RedirectResponse:
    """Send the browser to a path of the console, to read it."""
    return RedirectResponse(path, status_code=303, headers=HEADERS)


def refused(request: Request, error: CairnError, visitor: Visitor | None) -> Response:
    """Return the page of a refusal: what was wrong, and what a person can do."""
    problem = from_error(error)
    renewed = isinstance(error, Unauthenticated) and error.reason == "session-rotated"
    response = page(
        "refused.html",
        visitor,
        status=problem.kind.status,
        title=problem.kind.title,
        detail=error.detail,
        renewed=renewed,
        errors=problem.errors,
    )
    response.headers[REASON] = error.reason or problem.kind.code
    if problem.retry_after:
        response.headers["retry-after"] = str(max(1, round(problem.retry_after)))
    return response


def too_large(title: str, most: int) -> Response:
    """Return the page of a form that is larger than a request may be; nobody was looked up."""
    detail = (
        f"A form with its file may have {most // 2**20} MiB. Go back: the page that has the form "
        "names the command that takes a larger file (cairn), or take it in parts."
    )
    values: dict[str, Any] = {"title": title, "detail": detail, "renewed": False, "errors": ()}
    return page("refused.html", None, status=413, **values)


def choice(options: type[ChoiceT], text: str) -> ChoiceT:
    """Return a value of a list of them; ValidationFailed names those that there are."""
    try:
        return options(text)
    except ValueError as error:
        names = ", ".join(each.value for each in options)
        raise ValidationFailed(f"There is no {text[:40]!r}; choose {names}.") from error


def choice_or_all(options: type[ChoiceT], text: str) -> ChoiceT | None:
    """Return a value of a list of them; None for all."""
    return None if text == "all" else choice(options, text)


def choices(options: type[StrEnum], first: str | None = None) -> list[str]:
    """Return what a list can be narrowed to, `first` before all the others."""
    return [*([first] if first else []), "all", *(each.value for each in options if each != first)]


def cut(name: str, rows: Sequence[Any], most: int) -> dict[str, Any]:
    """Return rows that were read with one more than a page; `older` is the id to go on after."""
    return {name: rows[:most], "older": rows[most - 1].id if len(rows) > most else None}


def refusal(error: Conflict | ValidationFailed, detail: str = "") -> dict[str, Any]:
    """Return what the page of a form says when it is refused, and the page's status."""
    return {"wrong": detail or error.detail, "status": 409 if isinstance(error, Conflict) else 422}


def static_file(name: str) -> Response | None:
    """Return a file by the name that has its hash; None for any other name."""
    path = _names().get(name)
    if path is None:
        return None
    return Response(
        path.read_bytes(),
        media_type=TYPES[path.suffix],
        headers={
            "cache-control": "public, max-age=31536000, immutable",
            "cross-origin-resource-policy": "same-origin",
        },
    )


@cache
def _names() -> Mapping[str, Path]:
    return {
        f"{path.stem}.{hashlib.sha256(path.read_bytes()).hexdigest()[:12]}{path.suffix}": path
        for path in sorted((FOLDER / "static").iterdir())
        if path.suffix in TYPES
    }


def static_url(name: str) -> str:
    """Return the address of a static file: its content is in its name."""
    return next(STATIC + hashed for hashed, path in _names().items() if path.name == name)


def ago(moment: datetime, now: datetime) -> str:
    """Return how long ago something was, for people."""
    seconds = int((now - moment).total_seconds())
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if abs(seconds) >= size:
            amount = f"{abs(seconds) // size} {unit}"
            return f"{amount} ago" if seconds > 0 else f"in {amount}"
    return "just now" if seconds >= 0 else "in a moment"


def exact(moment: datetime) -> str:
    """Return a time to the second, in UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def with_query(path: str, values: Mapping[str, object]) -> str:
    """Return a path with what narrows it; the path alone where nothing does."""
    return f"{path}?{urlencode(values)}" if values else path


def quoted(text: str) -> str:
    """Return a text as a word of a command line."""
    return shlex.quote(text)


def as_json(value: object) -> str:
    """Return a value as JSON, which the template escapes like any text."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def pieces(text: str) -> list[tuple[str, bool]]:
    """Return a text in pieces, and which of them are citations."""
    from cairn.investigations.citations import pieces as split

    return [(str(piece), not isinstance(piece, str)) for piece in split(text)]


def _now() -> datetime:
    from cairn.kernel.clock import utc_now

    return utc_now()


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    cast("dict[str, Any]", environment.globals).update(
        static=static_url,
        menu=MENU,
        admin_menu=ADMIN_MENU,
        administration=ADMINISTRATION,
        quoted=quoted,
    )
    cast("dict[str, Any]", environment.filters).update(
        exact=exact, ago=ago, json=as_json, pieces=pieces
    )
    return environment
