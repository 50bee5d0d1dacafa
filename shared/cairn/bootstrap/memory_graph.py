"""The memory graph over the ledger, beside the use cases that write memories and that forget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.memory_graph.ledger_graph import LedgerGraph
from cairn.writing.writer import Writer

if TYPE_CHECKING:
    from cairn.forgetting.forget import Forget
    from cairn.writing.platform import Platform


def memory_graph(platform: Platform, forget: Forget) -> LedgerGraph:
    """Return it; nothing connects yet."""
    return LedgerGraph(writer=Writer(platform), forget=forget)
