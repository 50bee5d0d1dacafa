"""The functions that exist: one folder under `functions/` each, described by its `function.toml`.

Not the wiring: triggers and grants are in the stacks, because they name other resources.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from infra.cdk.config import ROOT, SynthRefused

if TYPE_CHECKING:
    from pathlib import Path

FUNCTIONS = ROOT / "functions"
MAX_LAYERS = 5  # Lambda's limit for one function


@dataclass(frozen=True, kw_only=True)
class FunctionSpec:
    """One function: which dependency groups it imports and which settings it reads."""

    name: str
    folder: Path
    description: str
    layers: tuple[str, ...]
    memory_mb: int
    timeout_seconds: int
    settings: tuple[str, ...]


def discover(folder: Path = FUNCTIONS) -> dict[str, FunctionSpec]:
    """Every folder with a handler, by name, in alphabetical order."""
    names = sorted(path.parent.name for path in folder.glob("*/handler.py"))
    return {name: _read(folder / name) for name in names}


def _read(folder: Path) -> FunctionSpec:
    description = folder / "function.toml"
    if not description.is_file():
        raise SynthRefused(f"functions/{folder.name} has a handler.py but no function.toml")
    table = tomllib.loads(description.read_text(encoding="utf-8"))
    layers = tuple(table["layers"])
    if len(layers) > MAX_LAYERS:
        raise SynthRefused(f"functions/{folder.name}: Lambda takes {MAX_LAYERS} layers at most")
    return FunctionSpec(
        name=folder.name,
        folder=folder,
        description=table["description"],
        layers=layers,
        memory_mb=table["memory_mb"],
        timeout_seconds=table["timeout_seconds"],
        settings=tuple(table["settings"]),
    )
