"""Builds the Lambda layers from uv.lock: one folder a dependency group, without Docker.

`python -m layers.build` writes build/layers/<machine>/<group>/, for arm64 (Lambda) unless
`--machine x86_64` asks for this kind of machine, where the tests import every handler from it.
Not the functions' own code (`infra/cdk/staging.py`), and not boto3: the runtime brings that.
"""

from __future__ import annotations

import argparse
import fcntl
import filecmp
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from layers import authorities, model

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "layers"
PYTHON = "3.13"
PLATFORMS = {"arm64": "aarch64-manylinux_2_28", "x86_64": "x86_64-manylinux_2_28"}
BASE = "base"  # every function takes it, so the other layers leave out what it holds
GROUPS = (BASE, "api", "documents", "vectors", "llm", "sources")
# What a package asks for and our functions never import, with the reason.
NOT_NEEDED = {
    # servers of protocols that a function does not speak: Lambda's runtime serves, spans go by HTTP
    "api": ("uvicorn",),
    "base": ("googleapis-common-protos",),
    # tokenizers' downloads (ours is a file), and OpenSearch's other protocol (ours is HTTP)
    "vectors": ("huggingface-hub", "opensearch-protobufs"),
}
LEFT_OUT = ("__pycache__", "tests", "bin")
LEFT_OUT_OF = {
    "aws_lambda_powertools": (
        "event_handler",
        *(
            f"utilities/{name}"
            for name in (
                *("auth_alpha", "batch", "circuit_breaker", "data_classes", "data_masking"),
                *("feature_flags", "idempotency", "kafka", "parameters", "parser", "streaming"),
            )
        ),
    ),
    "lxml": ("html", "includes", "isoschematron"),
    "numpy": ("f2py",),
    "onnxruntime": ("datasets", "quantization", "tools", "transformers"),
    # what it loads when a client is asked for it, and ours asks for chats and embeddings
    "openai": [
        *(f"{kind}/{name}" for kind in ("resources", "types") for name in ("beta", "admin")),
        *(f"{kind}/{name}" for kind in ("resources", "types") for name in ("live", "realtime")),
    ],
}
LEFT_OUT_FILES = (
    *("*.pyi", "*.pyc", "*.c", "*.h", "*.a", "*.pyx", "*.pxd", "*.pxi", "RECORD"),
    *("objectify.*.so", "lxml/sax.*", "lxml/builder.*"),
    *("libonnxruntime.so*", "numpy/_core/*_tests.*.so"),  # for programs in C; numpy's own tests
)
NAME = re.compile(r"^([A-Za-z0-9._-]+)==", re.MULTILINE)


def build(
    machine: str = "arm64", *, folder: Path = BUILD, model_folder: Path | None = None
) -> Path:
    """Make every layer for `machine` and return the folder; at once for what is current.

    The model is the pinned one, or what is in `model_folder`.
    """
    target = folder / machine
    base = requirements(BASE)
    shared = tuple(NAME.findall(base))
    for group in GROUPS:
        wanted = base if group == BASE else requirements(group, without=shared)
        _build_group(group, wanted, machine, target / group)
    _add_model(target / "model", model_folder or model.build())
    authorities.write(target / BASE / "certificates" / "rds.pem")
    return target


def requirements(group: str, *, without: tuple[str, ...] = ()) -> str:
    """The locked requirements of one dependency group, with hashes, less what is not needed."""
    command = [_uv(), "export", "--quiet", "--frozen", "--only-group", group]
    command += ["--no-emit-project", "--no-header", "--no-annotate"]
    for name in NOT_NEEDED.get(group, ()):
        command += ["--prune", name]
    for name in without:
        command += ["--no-emit-package", name]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def _build_group(group: str, wanted: str, machine: str, target: Path) -> None:
    recipe = Path(__file__).read_bytes() + wanted.encode()
    stamp = target.with_suffix(".stamp")
    digest = hashlib.sha256(recipe).hexdigest()
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.with_suffix(".lock").open("w") as lock:  # two builds at once: one of them waits
        fcntl.flock(lock, fcntl.LOCK_EX)
        if target.is_dir() and stamp.is_file() and stamp.read_text(encoding="utf-8") == digest:
            return
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        _install(wanted, machine, target / "python")
        _strip(target / "python")
        stamp.write_text(digest, encoding="utf-8")


def _install(wanted: str, machine: str, target: Path) -> None:
    command = [_uv(), "pip", "install", "--quiet", "--no-deps", "--link-mode", "copy"]
    command += ["--python-platform", PLATFORMS[machine], "--python-version", PYTHON]
    command += ["--only-binary", ":all:", "--target", str(target), "--requirement", "-"]
    command += ["--python", sys.executable]
    subprocess.run(command, check=True, input=wanted, text=True)


def _strip(packages: Path) -> None:
    """Take away what no import needs: tests, byte code, stubs, C sources, command scripts."""
    unneeded = [path for name in LEFT_OUT for path in packages.rglob(name) if path.is_dir()]
    unneeded += [packages / name / part for name, parts in LEFT_OUT_OF.items() for part in parts]
    for path in unneeded:
        shutil.rmtree(path, ignore_errors=True)
    for pattern in LEFT_OUT_FILES:
        for path in packages.rglob(pattern):
            path.unlink()
    (packages / ".lock").unlink(missing_ok=True)


def _add_model(target: Path, made: Path) -> None:
    place = target / "model" / made.name
    if place.parent.is_dir() and not place.is_dir():
        shutil.rmtree(place.parent)  # another model, of an earlier build
    place.mkdir(parents=True, exist_ok=True)
    for file in sorted(path for path in made.iterdir() if path.is_file()):
        copy = place / file.name
        if not copy.is_file() or not filecmp.cmp(file, copy, shallow=False):
            shutil.copyfile(file, copy)


def unzipped_bytes(folder: Path) -> int:
    """How much Lambda counts of one layer or function folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def declared_groups() -> set[str]:
    """The dependency groups that pyproject.toml declares."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return set(project["dependency-groups"])


def _uv() -> str:
    """The uv that runs us, the project's own, or the one on the path."""
    own = ROOT / ".local" / "uv" / "bin" / "uv"
    found = os.environ.get("UV") or (str(own) if own.is_file() else shutil.which("uv"))
    if not found:
        raise SystemExit("uv is needed to build the layers; `make setup` installs it")
    return found


def main() -> None:
    """Build for one machine and say how large each layer became."""
    parser = argparse.ArgumentParser(description="Build the Lambda layers from uv.lock.")
    parser.add_argument("--machine", choices=sorted(PLATFORMS), default="arm64")
    parser.add_argument("--folder", type=Path, default=BUILD)
    chosen = parser.parse_args()
    target = build(chosen.machine, folder=chosen.folder)
    for group in sorted(path for path in target.iterdir() if path.is_dir()):
        print(f"{group.name:12}{unzipped_bytes(group) / 1e6:8.1f} MB")


if __name__ == "__main__":
    main()
