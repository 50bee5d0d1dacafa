"""What use cases share: made once a process by the composition root. Not what one needs alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cairn.kernel.clock import Clock, Stopwatch
    from cairn.kernel.ids import IdSource
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import PreparingTransactions
    from cairn.ledger.keys import BodyCipher, KeyStore
    from cairn.writing.ports import Dispatcher

Log: TypeAlias = "Callable[[str, Mapping[str, Any]], None]"
"""Takes a name and ids, counts or codes: never texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """Adapters and sources that every use case may be given; what it needs beside is its own."""

    transactions: PreparingTransactions[Stores]
    keys: KeyStore
    cipher: BodyCipher
    dispatcher: Dispatcher
    clock: Clock
    new_id: IdSource
    stopwatch: Stopwatch
    log: Log  # what was done
    warn: Log  # what went wrong and was got over
