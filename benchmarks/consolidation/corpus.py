"""Reads a file of labelled pairs of texts; samples/consolidation/README.md says what it holds."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from cairn.cli.client import Failure

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class PairClass(StrEnum):
    """What two texts are to each other."""

    EXACT = "exact"
    PARAPHRASE = "paraphrase"
    CONTRADICTION = "contradiction"
    NEAR_MISS = "near_miss"


DUPLICATES = (PairClass.EXACT, PairClass.PARAPHRASE)
"""The classes that are to be merged; no other may be."""


def read_pairs(path: Path) -> Mapping[PairClass, tuple[tuple[str, str], ...]]:
    """Read the pairs by class; Failure says what is wrong with the file."""
    try:
        content: dict[str, list[list[Any]]] = json.loads(path.read_text(encoding="utf-8"))
        found = {
            item: tuple((str(a), str(b)) for a, b in content[item.value]) for item in PairClass
        }
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise Failure(f"{path} is not a file of labelled pairs: {exc!r}.") from exc
    if not all(found.values()):
        raise Failure(f"{path} has a class without pairs.")
    return found
