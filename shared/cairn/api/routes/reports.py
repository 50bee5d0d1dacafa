"""Reports: write one, read the newest, scan the catalogue."""

from dataclasses import asdict, dataclass
from typing import Annotated, Any
from uuid import UUID

from fastapi import Query, Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api import pages
from cairn.api.answers import answer, replay_headers
from cairn.api.dependencies import Idempotency, Services, Writer
from cairn.api.documentation import ListOf, answers, problems
from cairn.api.fields import Body, Name, Names, ScopeName, Text, Timestamp, at_most
from cairn.api.pages import Cursor, Limit
from cairn.api.routing import router
from cairn.kernel.records import convert
from cairn.reports.read import MAX_LATEST, Report, ReportEntry, ReportFilter
from cairn.reports.write import (
    MAX_BODY_CHARS,
    MAX_KEYWORD_CHARS,
    MAX_KEYWORDS,
    MAX_TITLE_CHARS,
    NewReport,
)
from cairn.writing.audience import GLOBAL_CLIENT

routes = router("reports")

Keyword = Annotated[
    str | None, Query(min_length=1, max_length=MAX_KEYWORD_CHARS, description="In any case.")
]


class ReportKept(TypedDict):
    """A report that is kept; `created` is false when it was there already."""

    id: UUID
    position: int
    created: bool
    parent_id: UUID | None


class ReportPage(TypedDict):
    """A page of the catalogue, and how many reports it has."""

    items: list[ReportEntry]
    next_cursor: str | None
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportWithBody(ReportEntry):
    """A report with its body."""

    body: str


class ReportIn(Body):
    """A report to keep. Without a conversation it hangs under the workspace's admin."""

    title: Annotated[Text, at_most(MAX_TITLE_CHARS)]
    body: Annotated[Text, at_most(MAX_BODY_CHARS)]
    keywords: Annotated[list[str], Field(max_length=MAX_KEYWORDS)] = Field(
        default_factory=list[str]
    )
    source_workflow: Name | None = None
    occurred_at: Timestamp | None = None
    conversation_id: Annotated[UUID, Field(strict=False)] | None = None
    session_id: Name | None = None
    client_id: Name = GLOBAL_CLIENT
    scope: ScopeName | None = None
    agents: Names = Field(default_factory=list[str])
    data_subjects: Names = Field(default_factory=list[str])


@routes.post(
    "/v1/reports",
    summary="Write a report",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "It is written", ReportKept),
        **answers(200, "This title was reported in this minute already", ReportKept),
        **problems("not-found", "conflict", body=True),
    },
)
def write_report(
    body: ReportIn, caller: Writer, services: Services, idempotency: Idempotency
) -> Response:
    """Keep what a workflow made. Reports are never changed; the same one again is the same one."""
    done = services.write_report(caller, convert(body, NewReport), idempotency=idempotency)
    shown: ReportKept = {
        "id": done.id,
        "position": done.position,
        "created": done.created,
        "parent_id": done.parent_id,
    }
    headers = replay_headers(replayed=done.replayed)
    return answer(shown, status=201 if done.created else 200, headers=headers)


@routes.get(
    "/v1/reports/latest",
    summary="Read the newest report",
    response_model=None,
    responses={
        **answers(200, "The newest, with their bodies", ListOf[ReportWithBody]),
        **problems(),
    },
)
def get_latest_reports(
    caller: Writer,
    services: Services,
    keyword: Keyword = None,
    limit: Annotated[int, Query(ge=1, le=MAX_LATEST)] = 1,
) -> Response:
    """Read the newest report with a keyword, by the time it is about; no items when none is."""
    reports = services.reports.latest(caller, keyword=keyword, limit=limit)
    return answer({"items": [report_json(item) for item in reports]})


@routes.get(
    "/v1/reports",
    summary="List reports, newest first",
    response_model=None,
    responses={**answers(200, "One page without bodies", ReportPage), **problems()},
)
def list_reports(
    caller: Writer,
    services: Services,
    keyword: Keyword = None,
    source_workflow: Annotated[Name | None, Query()] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List the catalogue without bodies, and say how many reports it has."""
    where = ReportFilter(
        keyword=keyword.casefold() if keyword else None, source_workflow=source_workflow
    )
    bound: dict[str, Any] = {"route": "reports", "filters": asdict(where)}
    after = pages.decode(cursor, **bound)
    page = services.reports.list(caller, where, limit=limit, after=after)
    following = page.page.next_after
    onward = None if following is None else pages.encode(following, **bound)
    return answer({"items": page.page.items, "next_cursor": onward, "total": page.total})


def report_json(report: Report) -> dict[str, Any]:
    """Return the JSON form of a report with its body."""
    return {**asdict(report.report), "body": report.body}
