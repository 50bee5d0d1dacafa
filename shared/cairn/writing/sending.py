"""Sending what several requests committed at once: what waits while one sends goes as one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.kernel.traces import current
from cairn.kernel.transaction.together import Together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cairn.writing.ports import Dispatcher, OutboxRow


@dataclass(slots=True)
class _Sending:
    rows: Sequence[OutboxRow]
    error: BaseException | None = None


class SendTogether:
    """Implements `ports.Dispatcher` over another one; rows of different traces stay apart."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._together: Together[_Sending] = Together(self._send)

    def send(self, rows: Sequence[OutboxRow]) -> None:
        """Send rows, perhaps with those of others."""
        if not rows:
            return
        sending = _Sending(rows)
        self._together(current(), sending)
        if sending.error is not None:
            raise sending.error

    def _send(self, group: Sequence[_Sending]) -> None:
        try:
            self._dispatcher.send([row for sending in group for row in sending.rows])
        except BaseException as error:  # noqa: BLE001 - raised in each thread that asked
            for sending in group:
                sending.error = error
