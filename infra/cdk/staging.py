"""Puts a function's code together: its own folder and what of `cairn` it can import.

Deterministic: the same sources give the same bytes, so a function is deployed again only when
something it can import changed. Dependencies are not here, they are layers.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from infra.cdk.imports import SHARED, files_of

if TYPE_CHECKING:
    from collections.abc import Mapping

LEFT_OUT = {"__pycache__", "tests", "function.toml"}


def stage_function(folder: Path, build: Path, more: Mapping[str, Path] | None = None) -> Path:
    """The asset folder `build/<name>` for the function in `folder`, brought up to date.

    `more` are files of the deployment's own, by the name that they have there.
    """
    target = build / folder.name
    files = _files(folder)
    files |= {path.relative_to(SHARED): path for path in files_of(folder.glob("*.py"))}
    files |= {Path(name): path for name, path in (more or {}).items()}
    for relative, source in files.items():
        _copy(source, target / relative)
    for path in sorted(target.rglob("*"), reverse=True):
        if path.is_file() and path.relative_to(target) not in files:
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()
    return target


def _files(folder: Path) -> dict[Path, Path]:
    return {
        path.relative_to(folder): path
        for path in folder.rglob("*")
        if path.is_file() and not LEFT_OUT.intersection(path.relative_to(folder).parts)
    }


def _copy(source: Path, target: Path) -> None:
    if target.is_file() and target.read_bytes() == source.read_bytes():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    target.chmod(0o644)
