"""Read a published file by its address, as anybody may. Not HTTP, and not who publishes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import NotFound
from cairn.publishing.addresses import INDEX, UnsafePath, parse_path
from cairn.publishing.files import media_type
from cairn.publishing.publications import object_key

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from cairn.documents.ports import ObjectStore
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.publishing.publications import StoredFile


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFile:
    """A file that is served, and where its bytes are."""

    path: str
    file: StoredFile
    media_type: str
    key: str


class IsFolder(Exception):
    """A path without a slash at its end that names a folder: relative links need the slash."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSite:
    """What an address leads to. `workspace_of` knows the workspace of a site and a name."""

    transactions: Transactions[Stores]
    workspace_of: Callable[[str, str], UUID | None]
    objects: ObjectStore

    def find(self, path: str) -> PublishedFile:
        """Return the file of a decoded path.

        Raises NotFound for all that is not published, IsFolder where a slash is missing, and
        UnsafePath.
        """
        address = parse_path(path)
        workspace_id = self.workspace_of(address.site, address.name) if address else None
        if address is None or workspace_id is None:
            raise _nothing()
        with self.transactions.reading(system_principal(workspace_id)) as stores:
            row = stores.publications.served(address.site, address.name)
        if row is None:
            raise _nothing()
        publication_id, files = row
        at_folder = f"{address.file}/" if address.file else ""
        if (
            not address.is_folder
            and any(each.startswith(at_folder) for each in files)
            and (address.file not in files)
        ):
            raise IsFolder
        name = f"{at_folder}{INDEX}" if address.is_folder else address.file
        served_as = media_type(name)
        if name not in files or served_as is None:
            raise _nothing()
        return PublishedFile(
            path=name,
            file=files[name],
            media_type=served_as,
            key=object_key(workspace_id, publication_id, name),
        )

    def content(self, file: PublishedFile) -> bytes:
        """Return its bytes; NotFound when it was withdrawn meanwhile."""
        return self.objects.get(file.key)


def _nothing() -> NotFound:
    return NotFound("Nothing is published here.")


__all__ = ["IsFolder", "PublishedFile", "ReadSite", "UnsafePath"]
