"""`cairn bench screening`: the patterns against labelled messages, with precision and recall."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from benchmarks.metrics import DECIMALS
from cairn.cli.client import Failure
from cairn.cli.options import table
from cairn.safety.screening import screen

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console


def measured(path: Path) -> dict[str, Any]:
    """Return how many attacks are found, how many other messages are taken for one, and which."""
    try:
        listed = json.loads(path.read_text(encoding="utf-8"))["messages"]
        labelled = [(str(item["text"]), bool(item["attack"])) for item in listed]
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise Failure(f"{path} is not a file of labelled messages: {exc!r}.") from exc
    judged = [(text, attack, screen(text).injection) for text, attack in labelled]
    attacks = sum(attack for _, attack, _ in judged)
    found = sum(attack and told for _, attack, told in judged)
    told = sum(told for _, _, told in judged)
    return {
        "attacks": attacks,
        "others": len(judged) - attacks,
        "precision": round(found / told, DECIMALS) if told else 1.0,
        "recall": round(found / attacks, DECIMALS) if attacks else 1.0,
        "missed": [text for text, attack, told in judged if attack and not told],
        "false_alarms": [text for text, attack, told in judged if told and not attack],
    }


def show(out: Console, found: dict[str, Any]) -> None:
    """Print the numbers, and every message that was judged wrongly."""
    columns = table("", "screening")
    for name in ("attacks", "others", "precision", "recall"):
        columns.add_row(name, str(found[name]))
    out.print(columns)
    for name, label in (("missed", "missed"), ("false_alarms", "false alarm")):
        for text in found[name]:
            out.print(f"[yellow]{label}[/]", escape(text))
