"""Addresses of published files: which host serves them, which paths are safe. Pure.

A host is either that of the sites or the console's, and `surface_of` alone says which.
"""

from __future__ import annotations

import re
from base64 import b32encode
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.ledger.keys import subject_mark

ROOT = "/sites/"
NO_SITES, SITES_SETTING = "no-sites", "CAIRN_SITES_URL"
INDEX = "index.html"
MAX_PATH_CHARS = 300
MAX_NAME_CHARS = 64
SAFE_SEGMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,99}")
"""A part of a path: no dot first, so neither `..` nor a hidden file; no percent, slash or NUL."""

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_HOST = re.compile(r"\[[0-9a-f:.]+\]|[^:]*")


class Surface(StrEnum):
    """Whose a request is, by its host."""

    CONSOLE = "console"
    SITES = "sites"


class UnsafePath(Exception):
    """A path with a part that names no file anywhere: `..`, a percent, a NUL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SitePath:
    """A path below `ROOT`: whose site, which publication, which file of it.

    `file` is empty for the publication itself; `is_folder` says that the path ends in a slash.
    """

    site: str
    name: str
    file: str
    is_folder: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicHost:
    """Where a workspace's sites are, and which setting says so; without one, `reason` alone."""

    hostname: str | None = None
    url: str | None = None
    source: str | None = None
    reason: str | None = None


def public_host(sites_url: str, site: str) -> PublicHost:
    """Return the host that sites are served on, and what the addresses of a site begin with.

    The deployment's setting alone decides: no request, no name service and no stored row is asked.
    """
    if not sites_url:
        return PublicHost(reason=NO_SITES)
    hostname = host_of(urlsplit(sites_url).netloc)
    return PublicHost(hostname=hostname, url=f"{sites_url}{ROOT}{site}/", source=SITES_SETTING)


def host_of(text: str) -> str:
    """Return a host without its port, in small letters, without the dot of the root."""
    match = _HOST.match(text.strip().lower())
    return (match[0] if match else "").removesuffix(".")


def surface_of(host: str, sites_url: str) -> Surface:
    """Return whose a request to `host` is; without `sites_url` there are no sites.

    Ports count for nothing: a browser's cookies know none.
    """
    sites = host_of(urlsplit(sites_url).netloc)
    return Surface.SITES if sites and host_of(host) == sites else Surface.CONSOLE


def site_of(workspace_key: bytes) -> str:
    """Return the first part of a workspace's addresses: 26 letters that nobody can guess."""
    return _letters(subject_mark(workspace_key, "sites", ""))


def unguessable_name(random: bytes) -> str:
    """Return a publication's name for who was given its address; `random` has 16 bytes."""
    return _letters(random)


def checked_name(name: str) -> str:
    """Return a name that a person chose; ValidationFailed for what is no plain word."""
    if len(name) > MAX_NAME_CHARS or not _NAME.fullmatch(name):
        message = f"is small letters, digits and single dashes between, {MAX_NAME_CHARS} at most"
        raise ValidationFailed(f"name {message}.", errors=[FieldError("name", message)])
    return name


def parse_path(path: str) -> SitePath | None:
    """Return what a decoded path names; None when it names no publication.

    Raises UnsafePath for a part that is not a `SAFE_SEGMENT`: nothing is decoded or joined twice.
    """
    parts = path.removeprefix(ROOT).split("/")
    folder = parts[-1] == ""
    parts = parts[:-1] if folder else parts
    if len(path) > MAX_PATH_CHARS or any(not SAFE_SEGMENT.fullmatch(part) for part in parts):
        raise UnsafePath
    if len(parts) < 2:
        return None
    return SitePath(site=parts[0], name=parts[1], file="/".join(parts[2:]), is_folder=folder)


def _letters(random: bytes) -> str:
    return b32encode(random[:16]).decode().rstrip("=").lower()
