"""A dry run in the place of a tool that has none: what would have been asked, labelled as such."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from cairn.connectors.cleaning import whole_words
from cairn.connectors.port import ToolResult

if TYPE_CHECKING:
    from cairn.connectors.port import ToolCall
    from cairn.safety.tools import Manifest

MAX_SHOWN = 4_000


def simulated(call: ToolCall, manifest: Manifest) -> ToolResult:
    """Return what would be sent. Nothing is; what it would do is not known."""
    shown = json.dumps(call.arguments, ensure_ascii=False, indent=1, sort_keys=True)
    if len(shown) > MAX_SHOWN:
        shown = whole_words(shown[:MAX_SHOWN]) + "…"
    return ToolResult(
        text=(
            f"[simulated by cairn: {call.connector}.{call.tool} has no dry run of its own]\n"
            f"It would be called with:\n{shown}\n"
            "The arguments fit its schema. Nothing was sent, and what it would do is not known."
        ),
        simulated=True,
        manifest_version=manifest.version,
        manifest_hash=manifest.hash,
    )
