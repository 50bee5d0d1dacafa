"""Wheels that are no dependencies: unpacked aside, checked against their hashes, once."""

import fcntl
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from layers import model


@contextmanager
def waiting_for(folder: Path) -> Generator[None]:
    """Let one process at a time make a folder; who comes second finds it made."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f".{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


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
    subprocess.run([*model._installer(), *flags, *places], check=True)
    if without:
        shutil.rmtree(target / without)
    return target
