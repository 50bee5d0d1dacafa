"""Reads a folder of this machine. Only below the folders that its owner allows; follows no link."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cairn.adapters.sources.allowed import allowed_folder
from cairn.adapters.sources.listed import Chooser, Listing, fault_of, is_read
from cairn.documents.accept import MAX_DOCUMENT_BYTES
from cairn.kernel.errors import Denied, NotFound, Unavailable, ValidationFailed
from cairn.sources.reader import Item
from cairn.sources.source import Content

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cairn.sources.configs import FolderConfig
    from cairn.sources.reader import Marks, Page


@dataclass
class FolderReader:
    """Implements `Reader`."""

    config: FolderConfig
    roots: tuple[Path, ...]
    _listing: Listing | None = field(default=None, init=False)

    def version(self) -> str | None:
        """Nothing tells at once."""
        return None

    def page(self, cursor: str | None, marks: Marks) -> Page:
        """Return the files after a cursor."""
        if self._listing is None:
            root = allowed_folder(self.config.path, self.roots)
            if not root.is_dir():
                raise NotFound("The folder is not there.", reason="no-such-folder")
            self._listing = Listing.of(_files(root, Chooser(self.config)))
        return self._listing.page(cursor)

    def close(self) -> None:
        """Nothing is open."""


def _files(root: Path, chooses: Chooser) -> Iterator[Item]:
    folders = [root]
    while folders:
        folder = folders.pop()
        try:
            entries = list(os.scandir(folder))
        except PermissionError:
            key = folder.relative_to(root).as_posix()
            if folder == root:
                raise Denied("The folder may not be read.", reason="folder-denied") from None
            yield Item(key=_printable(key), refused="not-permitted")
            continue
        except FileNotFoundError:
            continue
        for entry in entries:
            path = Path(entry.path)
            key = path.relative_to(root).as_posix()
            if entry.is_dir(follow_symlinks=False):
                if chooses(_printable(key) + "/x") or not entry.name.startswith("."):
                    folders.append(path)
            elif chooses(_printable(key)):
                yield _item(root, path, key)


def _item(root: Path, path: Path, key: str) -> Item:
    if (fault := fault_of(key)) is not None:
        return Item(key=_printable(key)[:1_000], refused=fault)
    with suppress(OSError):
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            return Item(key=key, refused="symlink")
        if stat.S_ISREG(status.st_mode):
            return Item(
                key=key,
                mark=f"{status.st_size}-{status.st_mtime_ns}",
                size=status.st_size,
                load=partial(_load, root, path),
                skipped=not is_read(key),
            )
    return Item(key=key, skipped=True)


def _load(root: Path, path: Path) -> Content:
    """Read a file that is no link, by now or on the way to it."""
    try:
        if not path.parent.resolve(strict=True).is_relative_to(root):
            raise ValidationFailed("The file is elsewhere by now.", reason="symlink")
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(opened, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ValidationFailed("This is no file by now.", reason="symlink")
            return Content(body=file.read(MAX_DOCUMENT_BYTES + 1))
    except PermissionError:
        raise ValidationFailed("The file may not be read.", reason="not-permitted") from None
    except FileNotFoundError:
        raise NotFound("The file is gone.", reason="gone") from None
    except OSError as problem:
        raise Unavailable("The file cannot be read now.", reason="folder") from problem


def _printable(name: str) -> str:
    return name.encode("utf-8", errors="replace").decode("utf-8")
