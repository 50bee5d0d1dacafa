"""The memory graph from the command line: its file, and moving it from one backend to another."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.cli.client import Client
from cairn.cli.deps import Deps
from cairn.cli.failure import Failure
from cairn.errors import ValidationFailed

if TYPE_CHECKING:
    from cairn.graph.memory_records import Dump

PAGE = 100
AT_ONCE_BYTES = 1024 * 1024
"""What a request carries at the most, give or take a record; its records are few, or small."""

_NOWHERE = UUID(int=0)


class Backend(StrEnum):
    """Where a graph can be moved to."""

    MEMORY = "memory"
    POSTGRES = "postgres"


def exported(client: Client) -> Iterator["Dump"]:
    """Yield the records of the key's workspace, page by page."""
    from cairn.graph.memory_dump import from_record

    for item in client.pages("/v1/export", limit=PAGE):
        yield from_record(item)


def write_file(deps: Deps, out: Path | None) -> dict[str, Any]:
    """Write an export to a file, or to standard output; return what is in it.

    The file is there when it is whole: until then it has another name.
    """
    from cairn.graph.memory_dump import dump_lines

    counted = Counted(exported(deps.client))
    if out is None:
        import typer

        for line in dump_lines(counted):
            typer.echo(line, nl=False)
        return counted.told()
    part = out.with_name(f".{out.name}.{os.getpid()}.part")
    digest = hashlib.sha256()
    try:
        with part.open("wb") as file:
            for line in dump_lines(counted):
                digest.update(line)
                file.write(line)
        part.replace(out)
    except OSError as error:
        raise Failure(f"{out} cannot be written: {error.strerror}.") from error
    finally:
        part.unlink(missing_ok=True)
    return {**counted.told(), "file": str(out), "sha256": digest.hexdigest()}


def import_file(deps: Deps, path: Path, *, dry_run: bool) -> dict[str, Any]:
    """Read a file to its end, then write its records in batches; a bad file writes nothing."""
    counted = Counted(_records(path))
    for _ in counted:
        pass
    told = {**counted.told(), "dry_run": dry_run, "changed": 0}
    if not dry_run:
        told["changed"] = sent(deps.client, _records(path))
    return told


def sent(client: Client, dumps: Iterable["Dump"]) -> int:
    """Send records in batches and return how many changed something."""
    changed = 0
    for batch in _batches(dumps):
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
    from cairn.clock import utc_now
    from cairn.ids import new_id
    from cairn.storage.in_memory.memory_graph import InMemoryGraph

    graph = InMemoryGraph(utc_now, new_id)
    counted = Counted(exported(client))
    graph.import_all(_NOWHERE, counted)
    return _compared(counted, 0, exported(client), graph.export_all(_NOWHERE))


class Counted:
    """Records as they go by."""

    def __init__(self, dumps: Iterable["Dump"]) -> None:
        self._dumps = dumps
        self.nodes = self.edges = 0

    def __iter__(self) -> Iterator["Dump"]:
        from cairn.graph.memory_records import NodeDump

        for dump in self._dumps:
            if isinstance(dump, NodeDump):
                self.nodes += 1
            else:
                self.edges += 1
            yield dump

    def told(self) -> dict[str, Any]:
        """Return how many nodes and edges went by."""
        return {"nodes": self.nodes, "edges": self.edges}


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


def _records(path: Path) -> Iterator["Dump"]:
    """Yield the records of a file; Failure names the line that is wrong."""
    from cairn.graph.memory_dump import file_lines, read_dump

    try:
        with path.open("rb") as file:
            yield from read_dump(file_lines(file))
    except OSError as error:
        raise Failure(f"{path} cannot be read: {error.strerror}.") from error
    except ValidationFailed as refused:
        raise Failure(
            f"{path}: {refused.detail}", advice="nothing of it was written; export it again"
        ) from refused


def _batches(dumps: Iterable["Dump"]) -> Iterator[list[Any]]:
    """Yield records as they are sent: up to a hundred, and not much above a mebibyte."""
    from cairn.graph.memory_dump import as_record
    from cairn.text.canonical import canonical_bytes

    records = (as_record(one) for one in dumps)
    while batch := list(islice(records, 1)):
        size = len(canonical_bytes(batch[0]))
        while size < AT_ONCE_BYTES and len(batch) < PAGE:
            record = next(records, None)
            if record is None:
                break
            batch.append(record)
            size += len(canonical_bytes(record))
        yield batch
