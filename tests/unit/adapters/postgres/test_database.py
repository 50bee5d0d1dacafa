"""The database of a process, before anything connects."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from cairn.adapters.postgres.database import Database

THREADS = 8


def test_threads_that_come_first_at_once_share_one_pool() -> None:
    database = Database("postgresql:///nowhere?host=/nowhere", size=1)
    together = Barrier(THREADS)

    def first(_: int) -> int:
        together.wait(5)
        return id(database._opened())  # pyright: ignore[reportPrivateUsage]

    try:
        with ThreadPoolExecutor(THREADS) as threads:
            assert len(set(threads.map(first, range(THREADS)))) == 1
    finally:
        database.close()
