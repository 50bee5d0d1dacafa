"""Wheels that are no dependencies: unpacked aside, checked against their hashes, once."""

import shutil
import subprocess
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path

from infra.local.state import locked
from layers import model


def waiting_for(folder: Path) -> AbstractContextManager[None]:
    """Let one process at a time make a folder; who comes second finds it made."""
    return locked(folder.with_name(f".{folder.name}.lock"))


def unpacked(pinned: str, folder: Path, *, without: str = "") -> Path:
    """Return the folder of a wheel (a requirement with hashes), fetched when there is none.

    `without` is a package of it that would hide one of ours.
    """
    with waiting_for(folder):
        if not folder.is_dir():
            with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
                _fetch(pinned, Path(scratch), without).rename(folder)
    return folder


def _fetch(pinned: str, scratch: Path, without: str) -> Path:
    wanted, target = scratch / "requirements.txt", scratch / "unpacked"
    wanted.write_text(pinned + "\n", encoding="utf-8")
    flags = ["--quiet", "--no-deps", "--require-hashes", "--only-binary", ":all:"]
    places = ["--target", str(target), "--requirement", str(wanted)]
    subprocess.run([*model.installer(), *flags, *places], check=True)
    if without:
        shutil.rmtree(target / without)
    return target
