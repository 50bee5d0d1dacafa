"""Summaries: what happened, in short, and what each is made of down to the messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.cited import page_of
from cairn.api.console.guard import id_of
from cairn.api.console.routes import ConsoleRoute, Reader, shown
from cairn.api.routes.summaries import SummaryScope
from cairn.kernel.text.canonical import parse_timestamp
from cairn.summaries.read import SummaryFilter, SummaryView

if TYPE_CHECKING:
    from collections.abc import Mapping

SUMMARIES = "/console/summaries"
SHOWN, MOST_CHARS = 25, 256

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(SUMMARIES)
def show_summaries(request: Request, visitor: Reader) -> Response:
    """Show summaries of episodes, sessions and agents, the latest first."""
    query = request.query_params
    scope, of = query.get("scope", ""), query.get("of", "").strip()[:MOST_CHARS]
    where = SummaryFilter(
        scope=pages.choice(SummaryScope, scope).value if scope else None, scope_id=of or None
    )
    after = None
    if query.get("at") and query.get("after"):
        after = (parse_timestamp(query["at"], field="at"), id_of(query["after"]))
    rows = visitor.services.summaries.page(visitor.principal, where, limit=SHOWN + 1, after=after)
    chosen = {name: text for name, text in (("scope", scope), ("of", of)) if text}
    return shown(
        request,
        visitor,
        "summaries.html",
        summaries=rows[:SHOWN],
        older=_older(chosen, rows[SHOWN - 1]) if len(rows) > SHOWN else None,
        scope=scope,
        of=of,
        scopes=[each.value for each in SummaryScope],
        command=_command(chosen),
        call=_call(chosen),
    )


@routes.get(SUMMARIES + "/{summary_id}")
def show_summary(request: Request, visitor: Reader, summary_id: str) -> Response:
    """Show one, and what it is made of."""
    tree = visitor.services.summaries.tree(visitor.principal, id_of(summary_id))
    return shown(request, visitor, "summary.html", tree=tree, page_of=_page_of)


def _page_of(node: Any) -> str:
    """Return the page of a part: a summary's own, else that of its node."""
    if isinstance(node, SummaryView):
        return f"{SUMMARIES}/{node.id}"
    return page_of(node.label, node.id)


def _older(chosen: Mapping[str, str], last: SummaryView) -> str:
    more = {"at": last.occurred_at.isoformat(), "after": str(last.id)}
    return f"{SUMMARIES}?{urlencode({**chosen, **more})}"


def _command(chosen: Mapping[str, str]) -> str:
    options = "".join(f" --{name} {pages.quoted(text)}" for name, text in chosen.items())
    return f"cairn summaries list{options}"


def _call(chosen: Mapping[str, str]) -> str:
    names = {"scope": "scope", "of": "scope_id"}
    values = {names[name]: text for name, text in chosen.items()}
    return pages.with_query("/v1/summaries", values)
