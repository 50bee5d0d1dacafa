"""What use cases share, for tests: real clocks and ciphers, keys in memory, nothing sent."""

from dataclasses import replace
from typing import Any, TypeVar

from tests.fakes.keys import InMemoryKeyStore

from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id
from cairn.ledger.keys import BodyCipher
from cairn.writing.platform import Platform

T = TypeVar("T")


class Unsent:
    """A dispatcher for nobody."""

    def send(self, rows: object) -> None:
        """Send nothing."""


def silent(event: str, fields: object) -> None:
    """Log nothing."""


def platform_of(transactions: Any, **changes: Any) -> Platform:
    """A platform over transactions, real or in memory."""
    given: dict[str, Any] = {
        "keys": changes.get("keys") or InMemoryKeyStore(),
        "cipher": BodyCipher(),
        "dispatcher": Unsent(),
        "clock": utc_now,
        "new_id": new_id,
        "stopwatch": lambda: 0.0,
        "log": silent,
        "warn": silent,
    }
    return Platform(transactions=transactions, **(given | changes))


def on_other(use_case: T, **changes: Any) -> T:
    """The use case on a platform of which some parts are others."""
    made: Any = use_case
    return replace(made, platform=replace(made.platform, **changes))
