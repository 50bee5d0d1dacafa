"""Summarises a workspace in a process of its own that is killed (SIGKILL) at its n-th write.

python -m tests.support.summarise_and_die DATABASE_URL WORKSPACE_ID KEY_FILE before|after N
"""

import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from tests.support.remembering import Remembering, admin_of
from tests.support.summarising import Summarising

from cairn.adapters.files.keys import FileKeyStore
from cairn.adapters.postgres.database import Database
from cairn.adapters.postgres.store_transactions import StoreTransactions

A_WRITE = 10
"""Summaries of one transaction: few, so that a small workspace takes several."""


class Deadly:
    """Transactions whose n-th writing one is the process's last: before or after its commit."""

    def __init__(self, inner: Any, moment: str, writes: int) -> None:
        self.reading = inner.reading
        self._inner, self._moment, self._left = inner, moment, writes

    @contextmanager
    def writing(self, principal: Any, *, once: str | None = None) -> Generator[Any]:
        self._left -= 1
        with self._inner.writing(principal, once=once) as stores:
            yield stores
            if self._left == 0 and self._moment == "before":
                os.kill(os.getpid(), signal.SIGKILL)
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def stand_in(pool: Database, workspace_id: UUID, keys: Path, **changes: Any) -> Summarising:
    """The use cases over a database with a key file that several processes share."""
    transactions = changes.get("transactions") or StoreTransactions(pool)
    store: Any = FileKeyStore(keys)
    system = Remembering(transactions=transactions, principal=admin_of(workspace_id), keys=store)
    return Summarising(system, a_write=A_WRITE)


if __name__ == "__main__":
    url, workspace, folder, when, number = sys.argv[1:]
    opened = Database(url, size=2)
    deadly = Deadly(StoreTransactions(opened), when, int(number))
    stand_in(opened, UUID(workspace), Path(folder), transactions=deadly).run()
