"""The memory graph and the memories as one file, and moving the graph between backends.

Memories are read from `GET /v1/memories` and written by `POST /v1/memories`, as anybody would.
"""

import hashlib
import os
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.cli.client import Client, Failure
from cairn.cli.deps import Deps
from cairn.kernel.errors import ValidationFailed
from cairn.memories.files import A_BATCH, batches, by_validity, sorted_memories

if TYPE_CHECKING:
    from cairn.graph.memory_dump import MemoryLine
    from cairn.graph.memory_records import Dump


_NOWHERE = UUID(int=0)


_WRITTEN = ("created", "superseded", "corroborated")


class Only(StrEnum):
    """The part of a file that is meant."""

    GRAPH = "graph"
    MEMORIES = "memories"


class Backend(StrEnum):
    """Where a graph can be moved to."""

    MEMORY = "memory"
    POSTGRES = "postgres"


def exported(client: Client) -> Iterator["Dump"]:
    """Yield the records of the key's workspace, page by page."""
    from cairn.graph.memory_dump import from_record

    for item in client.pages("/v1/export", limit=A_BATCH):
        yield from_record(item)


def exported_memories(client: Client) -> Iterator[dict[str, Any]]:
    """Yield the records of the memories the key sees, in the order of a file."""
    return sorted_memories(client.pages("/v1/memories", state="any", limit=A_BATCH))


def write_file(deps: Deps, out: Path | None, only: Only | None = None) -> dict[str, Any]:
    """Write an export to a file, or to standard output; return what is in it.

    The file is there when it is whole: until then it has another name.
    """
    from cairn.graph.memory_dump import dump_lines

    client = deps.client
    counted = Counted(exported(client) if only is not Only.MEMORIES else ())
    memories = counted.remembered(exported_memories(client) if only is not Only.GRAPH else ())
    if out is None:
        import typer

        for line in dump_lines(counted, memories):
            typer.echo(line, nl=False)
        return counted.told()
    part = out.with_name(f".{out.name}.{os.getpid()}.part")
    digest = hashlib.sha256()
    try:
        with part.open("wb") as file:
            for line in dump_lines(counted, memories):
                digest.update(line)
                file.write(line)
        part.replace(out)
    except OSError as error:
        raise Failure(f"{out} cannot be written: {error.strerror}.") from error
    finally:
        part.unlink(missing_ok=True)
    return {**counted.told(), "file": str(out), "sha256": digest.hexdigest()}


def import_file(
    deps: Deps, path: Path, *, dry_run: bool, only: Only | None = None
) -> dict[str, Any]:
    """Read a file to its end, then write its records in batches; a bad file writes nothing.

    `refused` are memories that the deployment took for wrong, by their lines; the others stand.
    """
    counted = Counted(())
    for record in _records(path, only):
        counted.count(record)
    refused: list[dict[str, Any]] = []
    changed = 0
    if counted.nodes and not dry_run:
        changed += sent(deps.client, _graph_of(_records(path, only)))
    if counted.memories and not dry_run:
        changed += _remembered(deps.client, _records(path, only), refused)
    return {**counted.told(), "dry_run": dry_run, "changed": changed, "refused": refused}


def sent(client: Client, dumps: Iterable["Dump"]) -> int:
    """Send records in batches and return how many changed something."""
    from cairn.graph.memory_dump import as_record

    changed = 0
    for batch in batches(as_record(dump) for dump in dumps):
        changed += client.post("/v1/import", {"items": batch})["changed"]
    return changed


def moved(deps: Deps, backend: Backend, target: Client | None) -> dict[str, Any]:
    """Move the graph, and compare byte by byte what both sides export then."""
    if backend is Backend.MEMORY:
        return _rehearsed(deps.client)
    if target is None:
        raise Failure(
            "Where to?", advice="--url of the other deployment, its key in CAIRN_TARGET_API_KEY"
        )
    mine, theirs = (client.get("/v1/whoami")["workspace_id"] for client in (deps.client, target))
    if mine == theirs:
        raise Failure("Both keys are of the same workspace.", advice="use the other one's key")
    counted = Counted(exported(deps.client))
    changed = sent(target, counted)
    return _compared(counted, changed, exported(deps.client), exported(target))


def _rehearsed(client: Client) -> dict[str, Any]:
    from cairn.adapters.memory_graph import InMemoryGraph
    from cairn.kernel.clock import utc_now
    from cairn.kernel.ids import new_id

    graph = InMemoryGraph(utc_now, new_id)
    counted = Counted(exported(client))
    graph.import_all(_NOWHERE, counted)
    return _compared(counted, 0, exported(client), graph.export_all(_NOWHERE))


class Counted:
    """Records as they go by."""

    def __init__(self, dumps: Iterable["Dump"]) -> None:
        self._dumps = dumps
        self.nodes = self.edges = self.memories = 0

    def __iter__(self) -> Iterator["Dump"]:
        for dump in self._dumps:
            self.count(dump)
            yield dump

    def remembered(self, memories: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield records of memories, counting them."""
        for memory in memories:
            self.memories += 1
            yield memory

    def count(self, record: "Dump | MemoryLine") -> None:
        """Count a record."""
        from cairn.graph.memory_records import EdgeDump, NodeDump

        self.nodes += isinstance(record, NodeDump)
        self.edges += isinstance(record, EdgeDump)
        self.memories += not isinstance(record, NodeDump | EdgeDump)

    def told(self) -> dict[str, Any]:
        """Return how many nodes, edges and memories went by."""
        return {"nodes": self.nodes, "edges": self.edges, "memories": self.memories}


def _compared(
    counted: Counted, changed: int, source: Iterable["Dump"], target: Iterable["Dump"]
) -> dict[str, Any]:
    mine, theirs = _digest(source), _digest(target)
    return {
        **counted.told(),
        "changed": changed,
        "source_sha256": mine,
        "target_sha256": theirs,
        "equal": mine == theirs,
    }


def _digest(dumps: Iterable["Dump"]) -> str:
    from cairn.graph.memory_dump import dump_lines

    digest = hashlib.sha256()
    for line in dump_lines(dumps):
        digest.update(line)
    return digest.hexdigest()


def _remembered(
    client: Client, records: Iterable["Dump | MemoryLine"], refused: list[dict[str, Any]]
) -> int:
    """Write memories by when they began to hold; return how many did something."""
    from cairn.graph.memory_dump import MemoryLine
    from cairn.memories.lines import as_request

    changed = 0
    lines = (record for record in records if isinstance(record, MemoryLine))
    for batch in batches(by_validity(lines)):
        items = [as_request(record) for _, record in batch]
        results = client.post("/v1/memories", {"items": items})["results"]
        for (number, _), result in zip(batch, results, strict=True):
            changed += result["outcome"] in _WRITTEN
            if result["outcome"] == "rejected":
                refused.append({"line": number, "why": result["error"]["detail"]})
    return changed


def _graph_of(records: Iterable["Dump | MemoryLine"]) -> Iterator["Dump"]:
    from cairn.graph.memory_dump import MemoryLine

    return (record for record in records if not isinstance(record, MemoryLine))


def _records(path: Path, only: Only | None) -> Iterator["Dump | MemoryLine"]:
    """Yield the records of a file that are meant; Failure names the line that is wrong."""
    from cairn.graph.memory_dump import MemoryLine, file_lines, read_file
    from cairn.memories.lines import new_memory

    try:
        with path.open("rb") as file:
            for item in read_file(file_lines(file), new_memory):
                if only is None or isinstance(item, MemoryLine) == (only is Only.MEMORIES):
                    yield item
    except OSError as error:
        raise Failure(f"{path} cannot be read: {error.strerror}.") from error
    except ValidationFailed as refused:
        raise Failure(
            f"{path}: {refused.detail}", advice="nothing of it was written; export it again"
        ) from refused
