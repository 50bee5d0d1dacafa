"""Which folders of this machine may be read: those that its owner names, and what is in them."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from cairn.kernel.errors import FieldError, ValidationFailed

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


def _refuse(field: str, fault: str) -> NoReturn:
    raise ValidationFailed(
        f"{field} {fault}.", reason="source-folder", errors=[FieldError(field, fault)]
    )
