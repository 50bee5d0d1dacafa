"""Files that may be published: by their endings, their first bytes and their sizes. Pure."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from cairn.kernel.errors import FieldError, TooLarge, ValidationFailed
from cairn.publishing.addresses import MAX_PATH_CHARS, SAFE_SEGMENT

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_FILES = 100
MAX_FILE_BYTES = 3 * 1024 * 1024
MAX_DEPTH = 8
TEXT = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}
"""Texts by their ending: UTF-8 without NUL."""

BINARY = {
    ".png": ("image/png", (b"\x89PNG\r\n\x1a\n",)),
    ".jpg": ("image/jpeg", (b"\xff\xd8\xff",)),
    ".jpeg": ("image/jpeg", (b"\xff\xd8\xff",)),
    ".gif": ("image/gif", (b"GIF87a", b"GIF89a")),
    ".webp": ("image/webp", (b"RIFF",)),
    ".ico": ("image/x-icon", (b"\x00\x00\x01\x00",)),
    ".woff": ("font/woff", (b"wOFF",)),
    ".woff2": ("font/woff2", (b"wOF2",)),
}
"""Other files by their ending: the type they are served as, and how they begin."""

TYPES: Mapping[str, str] = {**TEXT, **{ending: type_ for ending, (type_, _) in BINARY.items()}}
"""All that is served. Scripts are not, nor SVG, which may hold some."""


def media_type(path: str) -> str | None:
    """Return what a file is served as; None for an ending that is not served."""
    return TYPES.get(PurePosixPath(path).suffix.lower())


def check_files(files: Mapping[str, bytes]) -> None:
    """Raise ValidationFailed or TooLarge for the first file that may not be published."""
    if not files:
        _refuse("files", "is empty")
    if len(files) > MAX_FILES:
        raise TooLarge(f"A publication has at most {MAX_FILES} files.", limit=MAX_FILES)
    for number, (path, content) in enumerate(files.items()):
        _check(path, content, f"files.{number}")
    folded = {path.lower() for path in files}
    if len(folded) < len(files):
        _refuse("files", "has two paths that differ in capitals only")
    folders = {str(parent) for path in files for parent in PurePosixPath(path).parents}
    if folders & set(files):
        _refuse("files", "has a path that is both a file and a folder")


def _check(path: str, content: bytes, place: str) -> None:
    parts = path.split("/")
    if len(path) > MAX_PATH_CHARS or len(parts) > MAX_DEPTH:
        _refuse(f"{place}.path", f"has more than {MAX_DEPTH} parts or {MAX_PATH_CHARS} characters")
    if not all(SAFE_SEGMENT.fullmatch(part) for part in parts):
        _refuse(f"{place}.path", "has parts of other than letters, digits, dots, dashes")
    if media_type(path) is None:
        _refuse(f"{place}.path", f"ends in none of {', '.join(TYPES)}")
    if len(content) > MAX_FILE_BYTES:
        raise TooLarge(f"A file has at most {MAX_FILE_BYTES} bytes.", limit=MAX_FILE_BYTES)
    if not _is_what_it_says(PurePosixPath(path).suffix.lower(), content):
        _refuse(f"{place}.content_base64", "is not what the ending of its path says")


def _is_what_it_says(ending: str, content: bytes) -> bool:
    if ending in BINARY:
        webp = ending != ".webp" or content[8:12] == b"WEBP"
        return content.startswith(BINARY[ending][1]) and webp
    try:
        return "\x00" not in content.decode("utf-8")
    except UnicodeDecodeError:
        return False


def _refuse(field: str, message: str) -> None:
    raise ValidationFailed(f"{field} {message}.", errors=[FieldError(field, message)])
