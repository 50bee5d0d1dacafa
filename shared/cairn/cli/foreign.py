"""Which exports of other stores the commands read, and as what. Not the reading itself."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from cairn.cli.failure import Failure
from cairn.kernel.access import Scope

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cairn.memories.foreign.items import Item


class Store(StrEnum):
    """A store whose exports can be read."""

    MEM0 = "mem0"
    GRAPHITI = "graphiti"


def read_items(
    store: Store, file: Path, *, client_id: str = "global", scope: str = "admin"
) -> "Iterator[Item]":
    """Yield what the export holds; a Failure when the file is not there or is no JSON at all."""
    from cairn.memories.foreign.graphiti import read_graphiti
    from cairn.memories.foreign.items import Defaults
    from cairn.memories.foreign.mem0 import read_mem0
    from cairn.memories.foreign.reading import read_export

    if not file.is_file():
        raise Failure(f"{file} is not there, or no file.")
    if scope not in tuple(Scope):
        raise Failure(f"{scope} is none of the scopes {', '.join(Scope)}.")
    defaults = Defaults(client_id=client_id, scope=Scope(scope))
    read = {Store.MEM0: read_mem0, Store.GRAPHITI: read_graphiti}[store]
    yield from read(read_export(file), defaults)
