"""Summaries: a list, and a tree from one down to what it is made of."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Query, Response
from typing_extensions import TypedDict

from cairn.api import pages
from cairn.api.answers import answer
from cairn.api.dependencies import Anyone, Options, Services, require_client
from cairn.api.documentation import PageOf, answers, problems
from cairn.api.fields import AsOf
from cairn.api.pages import Cursor, Limit, key_page_answer
from cairn.api.routing import router
from cairn.kernel.text.canonical import format_timestamp, parse_timestamp
from cairn.summaries.read import (
    DEPTH,
    MAX_DEPTH,
    Branch,
    SourceView,
    SummaryFilter,
    SummaryTree,
    SummaryView,
)

routes = router("summaries")

_ROUTE = "/v1/summaries"
_EXAMPLE = {
    "id": "01a20178-55c3-7d51-8d0e-2f4b8a60b7c1",
    "position": 812,
    "scope": "session",
    "scope_id": "support-17",
    "content": "Hall 2's pump failed on 3 March. Ines Roth replaced its seal the same day.",
    "created_at": "2026-03-04T06:00:12.000000Z",
    "event_count": 14,
    "time_range": ["2026-03-03T09:10:00.000000Z", "2026-03-03T16:40:00.000000Z"],
    "importance": 6,
    "provider": "heuristic",
    "model": "extractive-1",
    "is_extract": True,
    "occurred_at": "2026-03-03T09:10:00.000000Z",
    "session_id": "support-17",
    "trace_id": None,
    "agent_id": "concierge",
    "client_id": "global",
    "agents": [],
    "state": "active",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceBranch(SourceView):
    """A source of a summary: an event, a message or a memory."""

    children: "tuple[SummaryBranch | SourceBranch, ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryBranch(SummaryView):
    """A summary with what it is made of, in the order of time."""

    label: Literal["Summary"]
    children: "tuple[SummaryBranch | SourceBranch, ...]"


class SummaryMeta(TypedDict):
    """What a tree was read as of; `truncated` says that there is more."""

    as_of_position: int | None
    truncated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryTreeView(SummaryBranch):
    """A summary down to the events and messages it is made of."""

    meta: SummaryMeta


_TREE_EXAMPLE = {
    **_EXAMPLE,
    "label": "Summary",
    "children": [],
    "meta": {"as_of_position": None, "truncated": False},
}


class SummaryScope(StrEnum):
    """What a summary is of."""

    EPISODE = "episode"
    SESSION = "session"
    AGENT = "agent"


@routes.get(
    _ROUTE,
    summary="List summaries",
    response_model=None,
    responses={
        **answers(
            200,
            "Summaries, the latest first",
            PageOf[SummaryView],
            {"items": [_EXAMPLE], "next_cursor": None},
        ),
        **problems(),
    },
)
def list_summaries(
    caller: Anyone,
    services: Services,
    options: Options,
    scope: SummaryScope | None = None,
    scope_id: Annotated[
        str | None, Query(max_length=256, description="A trace, a session or an agent.")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    as_of: AsOf | None = None,
) -> Response:
    """Return summaries of episodes, sessions and agents, the latest first."""
    filters = {"scope": scope, "scope_id": scope_id, "as_of": as_of}
    key = pages.decode_key(cursor, kind=str, route=_ROUTE, filters=filters)
    after = (parse_timestamp(key[0]), key[1]) if key else None
    where = SummaryFilter(scope=scope.value if scope else None, scope_id=scope_id, as_of=as_of)
    require_client(services, caller, None)
    summaries = services.summaries.page(caller, where, limit=limit + 1, after=after)
    return key_page_answer(
        summaries, limit=limit, key="occurred_at", route=_ROUTE, filters=filters, options=options
    )


@routes.get(
    "/v1/summaries/{summary_id}",
    summary="Show what a summary is made of",
    response_model=None,
    responses={
        **answers(200, "The summary with its children", SummaryTreeView, _TREE_EXAMPLE),
        **problems("not-found"),
    },
)
def get_summary(
    summary_id: UUID,
    caller: Anyone,
    services: Services,
    depth: Annotated[int, Query(ge=0, le=MAX_DEPTH, description="Levels below it.")] = DEPTH,
    as_of: AsOf | None = None,
) -> Response:
    """Return a summary with what it is made of: sessions, episodes, and their sources."""
    tree = services.summaries.tree(caller, summary_id, depth=depth, as_of=as_of)
    return answer({**_branch(tree.root), "meta": _meta(tree)})


def _meta(tree: SummaryTree) -> SummaryMeta:
    return {"as_of_position": tree.as_of_position, "truncated": tree.truncated}


def _branch(branch: Branch) -> dict[str, Any]:
    children = [_branch(child) for child in branch.children]
    return {**_node(branch.node), "children": children}


def _node(node: SummaryView | SourceView) -> dict[str, Any]:
    shown = {name: getattr(node, name) for name in node.__dataclass_fields__}
    label = {"label": "Summary"} if isinstance(node, SummaryView) else {}
    return {**label, **{name: _plain(value) for name, value in shown.items()}}


def _plain(value: object) -> object:
    return format_timestamp(value) if isinstance(value, datetime) else value
