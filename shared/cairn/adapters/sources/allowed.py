"""What may be read: of this machine, folders that its owner names; with a token, over TLS only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import urlsplit

from cairn.kernel.errors import FieldError, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

SETTING = "CAIRN_SOURCE_FOLDERS"


def allowed_folder(path: str, roots: tuple[Path, ...], *, field: str = "path") -> Path:
    """Return a folder without links in its name; refused where its owner allows none above it."""
    if not roots:
        _refuse(field, f"is read on a laptop only, below the folders that {SETTING} names")
    if not Path(path).is_absolute():
        _refuse(field, "is a path from the root of this machine")
    resolved = Path(path).resolve()
    if not any(resolved.is_relative_to(root.resolve()) for root in roots):
        _refuse(field, f"is outside the folders that {SETTING} names")
    return resolved


def require_bucket(bucket: str, buckets: frozenset[str]) -> None:
    """Raise ValidationFailed for a bucket that the owner does not let be read."""
    if bucket not in buckets:
        fault = "is none of the buckets that CAIRN_SOURCE_BUCKETS names"
        raise ValidationFailed(
            f"config.bucket {fault}.",
            reason="source-bucket",
            errors=[FieldError("config.bucket", fault)],
        )


def refuse_bare_token(url: str, secrets: Mapping[str, str], private_hosts: frozenset[str]) -> None:
    """Raise ValidationFailed where a token would go unsealed over somebody's network."""
    parts = urlsplit(url)
    if secrets.get("token") and parts.scheme == "http" and parts.hostname not in private_hosts:
        fault = "is an address that begins with https:// where a token is sent"
        raise ValidationFailed(
            f"config.url {fault}.",
            reason="http-address",
            errors=[FieldError("config.url", fault)],
        )


def _refuse(field: str, fault: str) -> NoReturn:
    raise ValidationFailed(
        f"{field} {fault}.", reason="source-folder", errors=[FieldError(field, fault)]
    )
