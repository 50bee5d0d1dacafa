"""`cairn cite`: what a citation of an answer names, looked up where it stands."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from cairn.cli.deps import Deps
from cairn.cli.failure import Failure
from cairn.cli.options import Json, deps_of, escape, print_json
from cairn.investigations import citations
from cairn.investigations.citations import Citation, Kind
from cairn.recall.rendering import plain

SHOWN_CHARS = 2_000
FORMS = "[doc:URI#HEADINGS#L1-L9], [memory:ID], [tool:ID] or [ticket:ID]"


def cite(
    ctx: typer.Context,
    citation: Annotated[str, typer.Argument(help=f"As it stands in an answer: {FORMS}.")],
    as_json: Json = False,
) -> None:
    """Show what a citation names: the document, the memory, the tool call, or the ticket."""
    deps = deps_of(ctx)
    read = citations.parse(citation)
    if read is None:
        raise Failure(f"{citation} is no citation.", advice=f"one looks like {FORMS}")
    found = _LOOK[read.kind](deps, read)
    if as_json:
        print_json({"citation": str(read), "kind": read.kind.value, "found": found})
    else:
        _show(deps, read, found)


def _document(deps: Deps, cited: Citation) -> dict[str, Any]:
    """Return the document, with those of its sections that the headings lead to."""
    listed = deps.client.get("/v1/documents", source_uri=cited.target, limit=1)["items"]
    if not listed:
        raise Failure(f"There is no document {cited.target} (any more).")
    found = deps.client.get(f"/v1/documents/{listed[0]['id']}")
    wanted = [plain(one) for one in cited.headings]
    sections = [
        one
        for one in found["sections"]
        if [plain(each) for each in one["headings"]][: len(wanted)] == wanted
    ]
    return {**found, "sections": sections}


def _tool_call(deps: Deps, cited: Citation) -> dict[str, Any]:
    return deps.client.get(f"/v1/tool-calls/{cited.target}")


def _node(deps: Deps, cited: Citation) -> dict[str, Any]:
    return deps.client.get(f"/v1/nodes/{cited.target}")


def _ticket(deps: Deps, cited: Citation) -> dict[str, Any]:
    return deps.client.get(f"/v1/tickets/{cited.target}")


_LOOK: Mapping[Kind, Callable[[Deps, Citation], dict[str, Any]]] = {
    Kind.DOC: _document,
    Kind.MEMORY: _node,
    Kind.TOOL: _tool_call,
    Kind.TICKET: _ticket,
}


def _show(deps: Deps, cited: Citation, found: Mapping[str, Any]) -> None:
    head = {
        Kind.DOC: lambda: f"{found['title']}  {found['source_uri']}",
        Kind.MEMORY: lambda: f"{found['label']}  {found['state']}",
        Kind.TOOL: lambda: f"{found['tool']}  {found['state']}",
        Kind.TICKET: lambda: f"{found['title'] or '(forgotten)'}  {found['status']}",
    }[cited.kind]()
    text = {
        Kind.DOC: lambda: _sections(cited, found),
        Kind.MEMORY: lambda: found["text"],
        Kind.TOOL: lambda: found["output"],
        Kind.TICKET: lambda: found["body"],
    }[cited.kind]()
    deps.out.print(f"[bold]{escape(head)}[/]  [dim]{found['id']}[/]")
    deps.out.print(escape(str(text or "(forgotten)")[:SHOWN_CHARS]))


def _sections(cited: Citation, found: Mapping[str, Any]) -> str:
    """Return where in the document: headings, lines or pages, and what the sections are about."""
    lines = [f"lines {cited.lines[0]} to {cited.lines[1]}"] if cited.lines else []
    lines += [f"pages {cited.pages[0]} to {cited.pages[1]}"] if cited.pages else []
    for one in found["sections"] if cited.headings else ():
        said = f": {one['summary']}" if one["summary"] else ""
        lines.append(f"{' > '.join(one['headings'])}{said}")
    return "\n".join(lines) or str(found["summary"] or "the whole document")
