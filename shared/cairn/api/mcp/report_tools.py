"""Tools over reports: write one, read the newest, scan the catalogue. Not how they are kept."""

from dataclasses import asdict
from typing import Annotated, Any

from pydantic import Field

from cairn.api.answers import encode
from cairn.api.fields import Body, Name
from cairn.api.mcp.repeating import RepeatKey, repeated
from cairn.api.mcp.tool import WRITERS, Tool, ToolAnswer
from cairn.api.routes.reports import ReportIn, report_json
from cairn.bootstrap.api import ApiServices
from cairn.kernel.access import Principal
from cairn.reports.read import MAX_LATEST, ReportFilter
from cairn.reports.write import MAX_KEYWORD_CHARS

MAX_LISTED = 100
Keyword = Annotated[str, Field(min_length=1, max_length=MAX_KEYWORD_CHARS)]


class WriteReportArguments(ReportIn):
    """A report, and what makes writing it repeatable."""

    idempotency_key: RepeatKey | None = None


class LatestArguments(Body):
    """Which reports, and how many of the newest."""

    keyword: Keyword | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_LATEST)] = 1


class ListArguments(Body):
    """Which reports; `after` is `next_after` of the answer before."""

    keyword: Keyword | None = None
    source_workflow: Name | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_LISTED)] = 20
    after: Annotated[int, Field(ge=1, le=2**53 - 1)] | None = None


def _write(
    services: ApiServices, principal: Principal, arguments: WriteReportArguments
) -> ToolAnswer:
    repeat = repeated(arguments, arguments.idempotency_key)
    done = services.write_report(principal, arguments.record(), idempotency=repeat)
    said = "written" if done.created else "already there from this minute"
    structured = {
        "id": done.id,
        "position": done.position,
        "created": done.created,
        "parent_id": done.parent_id,
    }
    return ToolAnswer(text=f"{said}: {done.id}", structured=structured)


def _latest(services: ApiServices, principal: Principal, arguments: LatestArguments) -> ToolAnswer:
    found = services.reports.latest(principal, keyword=arguments.keyword, limit=arguments.limit)
    texts = [
        f"# {one.report.title}\n(id: {one.report.id}, {one.report.occurred_at:%Y-%m-%d %H:%M} UTC)"
        f"\n\n{one.body}"
        for one in found
    ]
    structured = {"items": [report_json(one) for one in found]}
    return ToolAnswer(text="\n---\n".join(texts) or "There is no report.", structured=structured)


def _list(services: ApiServices, principal: Principal, arguments: ListArguments) -> ToolAnswer:
    keyword = arguments.keyword.casefold() if arguments.keyword else None
    where = ReportFilter(keyword=keyword, source_workflow=arguments.source_workflow)
    found = services.reports.list(principal, where, limit=arguments.limit, after=arguments.after)
    structured: dict[str, Any] = {
        "items": [asdict(one) for one in found.page.items],
        "next_after": found.page.next_after,
        "total": found.total,
    }
    return ToolAnswer(text=encode(structured).decode(), structured=structured)


WRITE = Tool(
    name="memory-report-write",
    title="Write a report",
    description=(
        "Keep the output of a workflow that somebody may want back: a briefing, an analysis. The "
        "same title within the same minute is the same report. At most 10,000 characters."
    ),
    arguments=WriteReportArguments,
    call=_write,
    roles=WRITERS,
    reads=False,
)
READ_LATEST = Tool(
    name="memory-report-read-latest",
    title="Read the newest report",
    description='For "the latest briefing", "last night\'s run": the newest report of a keyword.',
    arguments=LatestArguments,
    call=_latest,
    roles=WRITERS,
)
LIST = Tool(
    name="memory-report-list",
    title="List reports",
    description="Scan the catalogue of reports, newest first, without their bodies.",
    arguments=ListArguments,
    call=_list,
    roles=WRITERS,
    eager=False,
)
