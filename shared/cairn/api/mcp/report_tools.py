"""Tools over reports: keep one, read the newest, scan the catalogue."""

from typing import Annotated, Any, NotRequired
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.fields import Body, Name
from cairn.api.mcp.tool import WRITERS, Effect, RepeatKey, Tool, ToolAnswer, repeated
from cairn.api.routes.reports import ReportIn
from cairn.bootstrap.api import ApiServices
from cairn.kernel.access import Principal
from cairn.kernel.records import convert
from cairn.kernel.text.canonical import format_timestamp
from cairn.reports.read import MAX_LATEST, Report, ReportEntry, ReportFilter
from cairn.reports.write import MAX_KEYWORD_CHARS, NewReport

MAX_LISTED = 100
Keyword = Annotated[str, Field(min_length=1, max_length=MAX_KEYWORD_CHARS)]


class ReportWritten(TypedDict):
    """A report that is kept; `created` is false when it was there already."""

    id: UUID
    position: int
    created: bool


class ReportLine(TypedDict):
    """A report in a list; what is not set is left out."""

    id: str
    title: str
    occurred_at: str
    keywords: NotRequired[list[str]]
    source_workflow: NotRequired[str]
    source_agent: NotRequired[str]


class WholeReport(ReportLine):
    """A report with its body."""

    body: str


class Reports(TypedDict):
    """Reports, the newest first."""

    items: list[WholeReport]


class ReportPage(TypedDict):
    """A page of the catalogue, where the next one begins, and how many reports there are."""

    items: list[ReportLine]
    next_after: NotRequired[int]
    total: int


class WriteArguments(ReportIn):
    """A report, and what makes writing it repeatable."""

    idempotency_key: RepeatKey | None = None


class ReadArguments(Body):
    """Which reports, and how many of the newest."""

    keyword: Keyword | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_LATEST)] = 1


class ListArguments(Body):
    """Which reports; `after` is `next_after` of the answer before."""

    keyword: Keyword | None = None
    source_workflow: Name | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_LISTED)] = 20
    after: Annotated[int, Field(ge=1, le=2**53 - 1)] | None = None


def _write(services: ApiServices, principal: Principal, arguments: WriteArguments) -> ToolAnswer:
    repeat = repeated(arguments, arguments.idempotency_key)
    done = services.write_report(principal, convert(arguments, NewReport), idempotency=repeat)
    outcome = "written" if done.created else "already there from this minute"
    structured = {name: getattr(done, name) for name in ReportWritten.__annotations__}
    return ToolAnswer(text=f"{outcome}: {done.id}", structured=structured)


def _read(services: ApiServices, principal: Principal, arguments: ReadArguments) -> ToolAnswer:
    reports = services.reports.latest(principal, keyword=arguments.keyword, limit=arguments.limit)
    texts = [f"# {each.report.title}\n({_where(each.report)})\n\n{each.body}" for each in reports]
    structured = {"items": [_whole(each) for each in reports]}
    return ToolAnswer(text="\n---\n".join(texts) or "There is no report.", structured=structured)


def _list(services: ApiServices, principal: Principal, arguments: ListArguments) -> ToolAnswer:
    keyword = arguments.keyword.casefold() if arguments.keyword else None
    where = ReportFilter(keyword=keyword, source_workflow=arguments.source_workflow)
    listing = services.reports.list(principal, where, limit=arguments.limit, after=arguments.after)
    lines = [f"{each.title} ({_where(each)})" for each in listing.page.items]
    if listing.page.next_after is not None:
        lines.append(f"more: ask again after {listing.page.next_after}")
    structured = {
        "items": [_line(each) for each in listing.page.items],
        "next_after": listing.page.next_after,
        "total": listing.total,
    }
    return ToolAnswer(text="\n".join(lines) or "There is no report.", structured=structured)


def _line(entry: ReportEntry) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in ReportLine.__annotations__}


def _whole(report: Report) -> dict[str, Any]:
    return {**_line(report.report), "body": report.body}


def _where(entry: ReportEntry) -> str:
    return f"{format_timestamp(entry.occurred_at)}, {entry.id}"


WRITE = Tool(
    name="report_write",
    aliases=("memory-report-write",),
    title="Write a report",
    description=(
        "Keep what a workflow made: a briefing, an analysis. The same title within the same minute "
        "is the same report."
    ),
    arguments=WriteArguments,
    parameters={
        "title": "Its title",
        "body": "At most 10,000 characters",
        "keywords": "To find it by",
        "source_workflow": "What made it",
    },
    result=ReportWritten,
    call=_write,
    roles=WRITERS,
    effect=Effect.CHANGE,
)
READ = Tool(
    name="report_read",
    aliases=("memory-report-read-latest",),
    title="Read the newest report",
    description='For "the latest briefing": the newest report, whole.',
    arguments=ReadArguments,
    parameters={"keyword": "One of its keywords", "limit": "1 if null"},
    result=Reports,
    call=_read,
    roles=WRITERS,
    eager=True,
)
LIST = Tool(
    name="report_list",
    aliases=("memory-report-list",),
    title="List reports",
    description="Scan the catalogue of reports, newest first, without their bodies.",
    arguments=ListArguments,
    parameters={
        "keyword": "One of their keywords",
        "source_workflow": "What made them",
        "limit": "20 if null",
        "after": "next_after of the page before",
    },
    result=ReportPage,
    call=_list,
    roles=WRITERS,
)
