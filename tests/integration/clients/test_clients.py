"""clients/: what is generated is current, and a program that uses it is type-checked."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.openapi import document

ROOT = Path(__file__).parents[3]
PACKAGE = Path("clients", "python", "src", "cairn_memory")
PROGRAM = """
from uuid import UUID

from cairn_memory import AsyncMemory, Memory, models, operations


def ids(memory: Memory) -> list[UUID]:
    written: models.MemoryResult = memory.remember("Dana is allergic to peanuts.", type="fact")
    tickets = memory.call(operations.list_tickets(status="needs_tech")).items
    return [written.id, *(hit.node_id for hit in memory.recall("Dana?").results), tickets[0].id]


async def texts(memory: AsyncMemory) -> list[str]:
    return [held.text async for held in memory.memories(type="fact")]
"""


def run(*command: str | Path, folder: Path) -> None:
    """Run a tool and fail with what it said unless it is satisfied."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def stale(made: list[Path], below: Path) -> list[str]:
    """Return the names of the files that differ from those of the project."""
    return [
        path.name
        for path in made
        if path.read_text("utf-8") != (ROOT / path.relative_to(below)).read_text("utf-8")
    ]


def test_what_is_generated_is_what_the_api_says_today(tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "openapi.json").write_text(json.dumps(document()), encoding="utf-8")
    uv = ROOT / ".local" / "uv" / "bin" / "uv"
    command = (uv if uv.exists() else "uv", "run", "--quiet", "--no-project", "--python")
    script = ("--script", ROOT / "scripts" / "clients.py", "openapi.json", "--output", "clients")
    run(*command, sys.executable, *script, folder=tmp_path)
    run(sys.executable, "-m", "ruff", "check", "--quiet", "--fix", "clients", folder=tmp_path)
    run(sys.executable, "-m", "ruff", "format", "--quiet", "clients", folder=tmp_path)
    made = [path for path in (tmp_path / "clients").rglob("*.*") if path.is_file()]
    assert {path.suffix for path in made} == {".py", ".ts"}
    assert not stale(made, tmp_path), "run `make clients`"


def test_the_types_of_typescript_are_what_the_api_says_today(tmp_path: Path) -> None:
    client = Path("clients", "typescript")
    without = shutil.ignore_patterns("node_modules", "dist", "*.tgz")
    shutil.copytree(ROOT / client, tmp_path / client, ignore=without)
    (tmp_path / "openapi.json").write_text(json.dumps(document()), encoding="utf-8")
    script = ("-m", "scripts.typescript", "--folder", tmp_path / client)
    run(sys.executable, *script, "types", tmp_path / "openapi.json", folder=ROOT)
    assert not stale([tmp_path / client / "src" / "schema.ts"], tmp_path), "run `make clients`"


def test_a_program_gets_its_types(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    source = str(ROOT / PACKAGE.parent)
    settings = {"include": ["program.py"], "typeCheckingMode": "strict", "extraPaths": [source]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    run(sys.executable, "-m", "pyright", "--pythonpath", sys.executable, folder=tmp_path)
