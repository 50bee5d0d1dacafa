"""Why a search answered what it did: legs, signals as bars, the walk, doing it again, feedback.

What was asked is kept nowhere, so the page has no question; texts are read as the person may see
them now.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.cited import page_of
from cairn.api.console.guard import form_from
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.kernel.errors import Denied, NotFound, ValidationFailed
from cairn.kernel.text.canonical import parse_timestamp
from cairn.recall.searches.searches import Feedback

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

SEARCHES = "/console/searches"
SHOWN = 25

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(SEARCHES)
def find_search(request: Request, visitor: Reader) -> Response:
    """List the newest; lead to the search of an id that somebody was given."""
    text = request.query_params.get("id", "").strip()
    if text:
        return pages.go_to(f"{SEARCHES}/{_id(text)}")
    before = request.query_params.get("before", "")
    listed = visitor.services.explain_search.page(
        visitor.principal, before=_id(before) if before else None, limit=SHOWN + 1
    )
    return shown(
        request, visitor, "search.html", search=None, **pages.cut("searches", listed, SHOWN)
    )


@routes.get(SEARCHES + "/{search_id}")
def show_search(search_id: str, request: Request, visitor: Reader) -> Response:
    """Show why each result is where it is; one's own searches, and every one for an admin."""
    explained = visitor.services.explain_search(visitor.principal, _id(search_id))
    return shown(
        request,
        visitor,
        "search.html",
        search=explained,
        at=parse_timestamp(explained["asked_at"]),
        steps=steps_of(explained),
        page_of=page_of,
        names={node["node_id"]: node["text"] for node in explained["nodes"]},
        thanked=request.query_params.get("done") == "feedback",
    )


def steps_of(explained: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Return how many were left after each step of the search, in order."""
    rows = [*explained["results"], *explained["others"]]
    legs: Mapping[str, int] = explained["candidates"]
    return [
        *((f"{leg} found", count) for leg, count in legs.items()),
        ("scored, of those shown here", len(rows)),
        ("merged into another", sum(len(row["merged"]) for row in rows)),
        ("judged by a reranker", sum(row["rerank"] is not None for row in rows)),
        ("returned", len(explained["results"])),
    ]


@routes.post(SEARCHES + "/{search_id}/feedback")
def give_feedback(search_id: str, request: Request, body: Body) -> Response:
    """Keep what a person says of a result; the last word counts."""
    visitor, form = form_from(request, body)
    if not visitor.writes:
        raise Denied("Readers say nothing of results. Ask a reviewer.", reason="role")
    if form.get("useful") not in ("yes", "no"):
        raise ValidationFailed("Say whether it was of use: yes or no.")
    feedback = Feedback(
        search_id=_id(search_id),
        node_id=_id(form.get("node", "")),
        useful=form["useful"] == "yes",
    )
    visitor.services.give_feedback(visitor.principal, feedback)
    return pages.go_to(f"{SEARCHES}/{feedback.search_id}?{urlencode({'done': 'feedback'})}")


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise NotFound(
            "There is no such search. Its id is `meta.search_id` of the answer that it gave."
        ) from error
