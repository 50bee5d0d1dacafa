"""`cairn ingest`, and `cairn cite`: what a citation of an answer names."""

import base64
import hashlib
import mimetypes
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from cairn.cli.client import Failure
from cairn.cli.deps import Deps
from cairn.cli.options import Client, Json, Scope, deps_of, escape, print_json, table, without_none
from cairn.investigations import citations
from cairn.investigations.citations import Citation, Kind
from cairn.recall.rendering import plain

INLINE_BYTES = 2_900_000
"""What fits a request of 4 MiB as base64; larger files are uploaded."""

POLL_SECONDS = 0.5
WAIT_SECONDS = 600.0
_ENDED = frozenset({"ready", "failed"})
_MEDIA_TYPES = {".md": "text/markdown", ".py": "text/x-python"}


def ingest(
    ctx: typer.Context,
    files: Annotated[list[Path], typer.Argument(exists=True, dir_okay=False)],
    client: Client = None,
    scope: Scope = None,
    title: Annotated[str | None, typer.Option(help="Of a single file.")] = None,
    source_uri: Annotated[str | None, typer.Option(help="Of a single file.")] = None,
    wait: Annotated[
        bool, typer.Option(help="Wait until the files are searchable by vector.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Ingest files: text, Markdown, HTML, PDF or source code, up to 20 MB each, PDF 50 MB."""
    if len(files) > 1 and (title or source_uri):
        raise typer.BadParameter("--title and --source-uri go with a single file.")
    deps = deps_of(ctx)
    fields = without_none({"client_id": client, "scope": scope, "title": title})
    accepted = [
        send(deps, file, {**fields, "source_uri": source_uri or file.resolve().as_uri()})
        for file in files
    ]
    ended = wait_for(deps, accepted) if wait else accepted
    if as_json:
        print_json({"documents": ended})
    else:
        show(deps, files, ended)
    if any(each["status"] == "failed" for each in ended):
        raise typer.Exit(1)


def send(deps: Deps, file: Path, fields: dict[str, Any]) -> dict[str, Any]:
    """Send one file, in the request or by upload, and return the API's acceptance."""
    content = file.read_bytes()
    body = without_none({**fields, "media_type": media_type(file)})
    if len(content) <= INLINE_BYTES:
        body["content_base64"] = base64.b64encode(content).decode("ascii")
    else:
        ticket = deps.client.post(
            "/v1/uploads",
            without_none(
                {
                    "size": len(content),
                    "media_type": body.get("media_type"),
                    "sha256": hashlib.sha256(content).hexdigest(),
                }
            ),
        )
        with deps.err.status(f"uploading {file.name}, {len(content) / 1e6:.0f} MB …"):
            deps.client.put_bytes(ticket["url"], content, ticket["headers"])
        body["upload_id"] = ticket["upload_id"]
    return deps.client.post("/v1/documents", body)


def media_type(file: Path) -> str | None:
    """Return the media type a file's name says, None when it says none."""
    return _MEDIA_TYPES.get(file.suffix.lower()) or mimetypes.guess_type(file.name)[0]


def wait_for(deps: Deps, accepted: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Poll the ingestions until each is ready or failed; returns their last states."""
    ids = [each["ingestion_id"] for each in accepted]
    states: dict[str, dict[str, Any]] = {}

    def ended() -> bool:
        for each in ids:
            if states.get(each, {}).get("status") not in _ENDED:
                states[each] = deps.client.get(f"/v1/ingestions/{each}")
        return all(states[each]["status"] in _ENDED for each in ids)

    def progress() -> str:
        done = sum(states[each]["status"] in _ENDED for each in ids)
        return f"{done} of {len(ids)} documents are searchable"

    wait_until(deps, ended, progress)
    return [states[each] for each in ids]


def wait_until(deps: Deps, ended: Callable[[], bool], progress: Callable[[], str]) -> None:
    """Ask until `ended`, showing `progress`; Failure after ten minutes."""
    started = deps.stopwatch()
    with deps.err.status("waiting …") as line:
        while not ended():
            if deps.stopwatch() - started > WAIT_SECONDS:
                raise Failure(
                    f"Gave up waiting: {progress()}.", advice="see what is wrong: cairn doctor"
                )
            line.update(f"{progress()} …")
            deps.sleep(POLL_SECONDS)


def show(deps: Deps, files: list[Path], states: list[dict[str, Any]]) -> None:
    """Print one line a document."""
    shown = table("document", "status", "sections", "chunks", "ingestion")
    for file, state in zip(files, states, strict=True):
        colour = {"failed": "red", "ready": "green"}.get(state["status"], "cyan")
        shown.add_row(
            file.name,
            f"[{colour}]{state['status']}[/]",
            str(state.get("sections", "-")),
            str(state.get("chunks", "-")),
            str(state.get("id") or state.get("ingestion_id")),
        )
        if state.get("error"):
            why = escape(str(state["error"].get("detail", state["error"])))
            deps.err.print(f"[red]{escape(file.name)}:[/] {why}")
    deps.out.print(shown)


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
    record = _LOOK[read.kind](deps, read)
    if as_json:
        print_json({"citation": str(read), "kind": read.kind.value, "found": record})
    else:
        _show(deps, read, record)


def _document(deps: Deps, cited: Citation) -> dict[str, Any]:
    """Return the document, with those of its sections that the headings lead to."""
    listed = deps.client.get("/v1/documents", source_uri=cited.target, limit=1)["items"]
    if not listed:
        raise Failure(f"There is no document {cited.target} (any more).")
    answer = deps.client.get(f"/v1/documents/{listed[0]['id']}")
    headings = [plain(heading) for heading in cited.headings]
    sections = [
        section
        for section in answer["sections"]
        if [plain(each) for each in section["headings"]][: len(headings)] == headings
    ]
    return {**answer, "sections": sections}


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


def _show(deps: Deps, cited: Citation, answer: Mapping[str, Any]) -> None:
    head = {
        Kind.DOC: lambda: f"{answer['title']}  {answer['source_uri']}",
        Kind.MEMORY: lambda: f"{answer['label']}  {answer['state']}",
        Kind.TOOL: lambda: f"{answer['tool']}  {answer['state']}",
        Kind.TICKET: lambda: f"{answer['title'] or '(forgotten)'}  {answer['status']}",
    }[cited.kind]()
    text = {
        Kind.DOC: lambda: _sections(cited, answer),
        Kind.MEMORY: lambda: answer["text"],
        Kind.TOOL: lambda: answer["output"],
        Kind.TICKET: lambda: answer["body"],
    }[cited.kind]()
    deps.out.print(f"[bold]{escape(head)}[/]  [dim]{answer['id']}[/]")
    deps.out.print(escape(str(text or "(forgotten)")[:SHOWN_CHARS]))


def _sections(cited: Citation, answer: Mapping[str, Any]) -> str:
    """Return where in the document: headings, lines or pages, and what the sections are about."""
    lines = [f"lines {cited.lines[0]} to {cited.lines[1]}"] if cited.lines else []
    lines += [f"pages {cited.pages[0]} to {cited.pages[1]}"] if cited.pages else []
    for section in answer["sections"] if cited.headings else ():
        text = f": {section['summary']}" if section["summary"] else ""
        lines.append(f"{' > '.join(section['headings'])}{text}")
    return "\n".join(lines) or str(answer["summary"] or "the whole document")
