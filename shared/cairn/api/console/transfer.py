"""Export and import: the memory graph and the memories as one file, out and in. For admins.

The file is that of `cairn memory export`. A download is written as it is read; what comes in is
small, and checked to its last line before anything is written.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from itertools import chain
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from cairn.api.answers import encode
from cairn.api.console import pages
from cairn.api.console.files import FileForm, Sent
from cairn.api.console.forms import Form, refused_deed, wrong_field
from cairn.api.console.guard import Visitor, form_from
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.graph.memory_dump import MemoryLine, dump_lines, file_lines, read_file
from cairn.graph.memory_records import Dump, EdgeDump
from cairn.kernel.access import Role
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import Conflict, ValidationFailed
from cairn.memories.files import batches, by_validity, sorted_memories
from cairn.memories.lines import new_memory
from cairn.reading.views import MemoryFilter
from cairn.writing.items import Outcome

TRANSFER = "/console/transfer"
PAGE, CHUNK = 500, 64 * 1024
MOST_WHOLE = 4 * 1024 * 1024
"""Bytes of a download where answers come whole: they travel as text of a third more."""
MOST_RECORDS = 2_000
"""Records that one form takes in: a request has seconds."""
MOST_NAMED = 50
FIELDS = ("file",)
WRITTEN = (Outcome.CREATED, Outcome.SUPERSEDED, Outcome.CORROBORATED)

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@dataclass(slots=True, kw_only=True)
class Brought:
    """What was in a file, and what became of it; `refused` are lines of memories, and why."""

    nodes: int = 0
    edges: int = 0
    memories: int = 0
    changed: int = 0
    checked_only: bool = True
    refused: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    @property
    def records(self) -> int:
        """Return how many there are of all kinds."""
        return self.nodes + self.edges + self.memories

    def count(self, record: Dump | MemoryLine) -> None:
        """Count a record."""
        if isinstance(record, MemoryLine):
            self.memories += 1
        elif isinstance(record, EdgeDump):
            self.edges += 1
        else:
            self.nodes += 1


@routes.get(TRANSFER)
def show_transfer(request: Request, visitor: Reader) -> Response:
    """Say what goes out and in, and how much of it by a page."""
    return _page(request, visitor)


@routes.post(TRANSFER + "/export")
def export(request: Request, body: Body) -> Response:
    """Return the file, as it is read; whole where answers come whole, if it is small."""
    visitor, _ = form_from(request, body)
    visitor.principal.require(Role.ADMIN)
    chunks = chunks_of(_lines(visitor))
    if "aws.event" in request.scope:
        whole = within(chunks, MOST_WHOLE)
        if whole is None:
            wrong = f"It has more than {MOST_WHOLE // 2**20} MiB: use the command."
            return _page(request, visitor, wrong=wrong, status=422)
        chunks = iter([whole])
    name = f"cairn-memory-{utc_now():%Y-%m-%d}.jsonl"
    headers = {**pages.HEADERS, "content-disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(chunks, media_type="application/x-ndjson", headers=headers)


@routes.get(TRANSFER + "/import")
def lead_to_transfer(visitor: Reader) -> Response:
    """Lead who comes back to what a file came to, to the form."""
    return pages.go_to(TRANSFER)


@routes.post(TRANSFER + "/import")
def bring(request: Request, sent: FileForm) -> Response:
    """Check a file, and write what is in it; the same file again changes nothing."""
    visitor = sent.visitor(request)
    visitor.principal.require(Role.ADMIN)
    brought = Brought(checked_only=sent.fields.get("mode") != "import")
    try:
        records = _read(sent, brought)
        if not brought.checked_only:
            _write(visitor, records, brought)
    except (Conflict, ValidationFailed) as error:
        return _page(request, visitor, **refused_deed(sent.fields, error, "file"))
    return _page(request, visitor, brought=brought)


def chunks_of(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines in pieces of some size, so that each costs little to send."""
    held: list[bytes] = []
    size = 0
    for line in lines:
        held.append(line)
        size += len(line)
        if size >= CHUNK:
            yield b"".join(held)
            held, size = [], 0
    yield b"".join(held)


def within(chunks: Iterable[bytes], most: int) -> bytes | None:
    """Return what is not more than `most` bytes; None, and no more is read, for what is."""
    held: list[bytes] = []
    size = 0
    for chunk in chunks:
        held.append(chunk)
        size += len(chunk)
        if size > most:
            return None
    return b"".join(held)


def _lines(visitor: Visitor) -> Iterator[bytes]:
    """Return the lines of the file. The first record is read now: a refusal is a page."""
    who = visitor.principal
    dumps = visitor.services.memory_graph.bound_to(who).export_all(who.workspace_id)
    first = next(dumps, None)
    graph = chain([first] if first is not None else [], dumps)
    return dump_lines(graph, sorted_memories(_views(visitor)))


def _views(visitor: Visitor) -> Iterator[Mapping[str, Any]]:
    """Yield memories as the API shows them, a page a transaction."""
    browse, after = visitor.services.browse, None
    while True:
        page = browse.list_memories(
            visitor.principal, MemoryFilter(state=None), limit=PAGE, after=after
        )
        for each in page.items:
            yield json.loads(encode(each))
        after = page.next_after
        if after is None:
            return


def _read(sent: Sent, brought: Brought) -> list[Dump | MemoryLine]:
    """Return what is in a file, counted; ValidationFailed names the first line that is wrong."""
    if not sent.content:
        raise wrong_field("file", "is missing, or empty")
    records: list[Dump | MemoryLine] = []
    for record in read_file(file_lines(BytesIO(sent.content)), new_memory):
        records.append(record)
        brought.count(record)
        if brought.records > MOST_RECORDS:
            message = f"has more than {MOST_RECORDS} records: cairn memory import takes any number"
            raise wrong_field("file", message)
    return records


def _write(visitor: Visitor, records: Iterable[Dump | MemoryLine], brought: Brought) -> None:
    """Write the graph, then the memories, a batch a transaction."""
    who, services = visitor.principal, visitor.services
    graph = (each for each in records if not isinstance(each, MemoryLine))
    imported = services.memory_graph.bound_to(who).import_records(who.workspace_id, graph)
    brought.changed += imported.changed
    lines = (each for each in records if isinstance(each, MemoryLine))
    for batch in batches(by_validity(lines)):
        memories = tuple(new_memory(record) for _, record in batch)
        outcomes = services.remember(who, memories, idempotency=None).outcomes
        for (number, _), outcome in zip(batch, outcomes, strict=True):
            brought.changed += outcome.outcome in WRITTEN
            if outcome.error is not None:
                brought.refused.append((number, outcome.error.detail))


def _page(
    request: Request,
    visitor: Visitor,
    *,
    form: Form | None = None,
    brought: Brought | None = None,
    wrong: str = "",
    status: int = 200,
) -> Response:
    visitor.principal.require(Role.ADMIN)
    return shown(
        request,
        visitor,
        "transfer.html",
        status=status,
        brought=brought,
        passing=brought is not None,
        wrong=wrong,
        most_records=MOST_RECORDS,
        named=MOST_NAMED,
        form=form or Form(),
        fields=FIELDS,
    )
