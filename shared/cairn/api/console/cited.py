"""What a citation names: the document, memory, tool call or ticket behind a claim.

Reads by the use cases of each kind, so nobody sees more by a citation than by the thing's own page.
"""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response

from cairn.api.console.routes import ConsoleRoute, Reader, shown
from cairn.graph.node import Label
from cairn.investigations.citations import Citation, Kind, parse
from cairn.kernel.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from cairn.api.console.guard import Visitor

CITED = "/console/cited"
ENTITIES = "/console/graph/entities"
_PAGES = {
    Label.MEMORY: "/console/memories",
    Label.CONVERSATION: "/console/conversations",
    Label.ENTITY: ENTITIES,
}

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What stands behind a citation. `facts` are names with values, `parts` longer texts."""

    kind: str
    title: str
    facts: Mapping[str, Any]
    parts: Sequence[tuple[str, str]]
    path: str


def page_of(label: str, node_id: object) -> str:
    """Return the page of a node."""
    path = next((path for of, path in _PAGES.items() if of == label), None)
    return f"{path}/{node_id}" if path else cited_page(f"[memory:{node_id}]")


def cited_page(citation: str) -> str:
    """Return the page of what a citation names."""
    return f"{CITED}?{urlencode({'citation': citation})}"


@routes.get(CITED)
def show_source(request: Request, visitor: Reader, citation: str = "") -> Response:
    """Show what a citation names."""
    cited = parse(citation)
    if cited is None:
        raise NotFound("This is no citation; one looks like [ticket:…] or [doc:…].")
    source = _SOURCES[cited.kind](visitor, cited)
    command = f"cairn cite {quote(str(cited))}"
    return shown(
        request, visitor, "cited.html", source=source, citation=str(cited), command=command
    )


def _tool(visitor: Visitor, cited: Citation) -> Source:
    call = visitor.services.investigations.tool_call(visitor.principal, _id(cited))
    return Source(
        kind="What a tool said",
        title=call.tool,
        facts={
            "State": call.state.value,
            "Asked for": call.proposed_at,
            "Took": f"{call.ms} ms" if call.ms is not None else None,
            "Error": call.error,
            "Id": call.id,
        },
        parts=[("Input", call.input or ""), ("Output", call.output or "")],
        path=f"/v1/tool-calls/{call.id}",
    )


def _ticket(visitor: Visitor, cited: Citation) -> Source:
    ticket = visitor.services.tickets.get(visitor.principal, _id(cited))
    return Source(
        kind="A ticket",
        title=ticket.title or "Forgotten",
        facts={
            "Status": ticket.status.value,
            "Customer": ticket.customer,
            "Received": ticket.received_at,
            "Id": ticket.id,
        },
        parts=[("What it says", ticket.body or "")],
        path=f"/v1/tickets/{ticket.id}",
    )


def _memory(visitor: Visitor, cited: Citation) -> Source:
    node = visitor.services.nodes.node(visitor.principal, _id(cited))
    return Source(
        kind="A memory",
        title=node.title or node.name or node.label,
        facts={
            "Kind": node.kind or node.label,
            "State": node.state,
            "Client": node.client_id,
            "Id": node.id,
        },
        parts=[("What it says", node.text)],
        path=f"/v1/nodes/{node.id}",
    )


def _document(visitor: Visitor, cited: Citation) -> Source:
    browse = visitor.services.browse
    listed = browse.list_documents(
        visitor.principal, client_id=None, source_uri=cited.target, limit=1, after=None
    )
    if not listed.items:
        raise NotFound(f"There is no document {cited.target} any more.")
    document = browse.get_document(visitor.principal, listed.items[0].id)
    sections = [
        (" > ".join(each.headings) or document.title, each.summary or "")
        for each in document.sections
        if each.headings[: len(cited.headings)] == cited.headings
    ]
    lines, pages = cited.lines, cited.pages
    return Source(
        kind="A document",
        title=document.title,
        facts={
            "Source": document.source_uri,
            "Section": " > ".join(cited.headings),
            "Lines": f"{lines[0]} to {lines[1]}" if lines else None,
            "Pages": f"{pages[0]} to {pages[1]}" if pages else None,
            "State": document.state,
            "Recorded": document.recorded_at,
            "Id": document.id,
        },
        parts=sections[:20],
        path=f"/v1/documents/{document.id}",
    )


def _id(cited: Citation) -> UUID:
    if cited.id is None:
        raise NotFound("There is nothing with this id.")
    return cited.id


_SOURCES: Mapping[Kind, Callable[[Visitor, Citation], Source]] = {
    Kind.TOOL: _tool,
    Kind.TICKET: _ticket,
    Kind.MEMORY: _memory,
    Kind.DOC: _document,
}
