"""The memory graph on the wire: its nodes and edges page by page, out and in. Not its file."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api import pages
from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Services
from cairn.api.documentation import answers, problems
from cairn.api.fields import Body
from cairn.api.pages import Cursor, Limit
from cairn.api.routing import router
from cairn.graph.memory_dump import as_record, from_record
from cairn.graph.memory_records import Dump
from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.memory_graph.ledger_graph import Imported
from cairn.memory_graph.ports import IMPORT_BATCH

routes = router("memory graph")


class NodeRecord(TypedDict):
    """A node of the memory graph without its id."""

    kind: Literal["node"]
    label: str
    natural_key: str
    properties: dict[str, Any]
    provenance: Literal["operator", "proposed", "imported"]
    status: Literal["provisional", "active", "archived"]


class EdgeRecord(TypedDict):
    """An edge of the memory graph: its ends are labels with natural keys."""

    kind: Literal["edge"]
    source: list[str]
    target: list[str]
    relation: str
    weight: str
    properties: dict[str, Any]
    observed_at: datetime


class ExportPage(TypedDict):
    """A page of an export, and the ledger position at which it began."""

    items: list[NodeRecord | EdgeRecord]
    next_cursor: str | None
    position: int


class ImportIn(Body):
    """Records in the order of an export: nodes before the edges that name them."""

    items: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=IMPORT_BATCH)]

    def records(self) -> list[Dump]:
        """Return the records; ValidationFailed names the first that is wrong."""
        results: list[Dump] = []
        for number, item in enumerate(self.items):
            try:
                results.append(from_record(item))
            except ValidationFailed as error:
                where = f"items.{number}"
                wrong = [FieldError(where, error.detail)]
                detail = f"{where}: {error.detail}"
                raise ValidationFailed(detail, reason=error.reason, errors=wrong) from error
        return results


@routes.get(
    "/v1/export",
    summary="Export the memory graph",
    response_model=None,
    responses={**answers(200, "Nodes first, then edges, each sorted", ExportPage), **problems()},
)
def export_graph(
    caller: Admin, services: Services, limit: Limit = 100, cursor: Cursor = None
) -> Response:
    """Read the nodes with natural keys and the edges between them, without ids, page by page."""
    after = pages.decode_names(cursor, route="export")
    position, names = after or (None, ())
    page = services.memory_graph.bound_to(caller).export_page(
        caller.workspace_id, names, position=position, limit=limit
    )
    more = None
    if page.after is not None:
        more = pages.encode_names([page.position, *page.after], route="export")
    items = [as_record(record) for record in page.records]
    return answer({"items": items, "position": page.position, "next_cursor": more})


@routes.post(
    "/v1/import",
    summary="Import into the memory graph",
    response_model=None,
    responses={
        **answers(200, "How many records there were and how many changed something", Imported),
        **problems("conflict", body=True),
    },
)
def import_graph(body: ImportIn, caller: Admin, services: Services) -> Response:
    """Write up to 100 records as they are, all or none; again changes nothing."""
    graph = services.memory_graph.bound_to(caller)
    return answer(graph.import_records(caller.workspace_id, body.records()))
