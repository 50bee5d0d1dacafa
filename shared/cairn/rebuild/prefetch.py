"""Check and open a ledger's next page while the database is at the one before. Not its replay.

One page at a time is made ready, in a thread: opening bodies releases the interpreter, and so does
waiting for the database.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from cairn.rebuild.replay import checked, opened

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future

    from cairn.ledger.entry import Entry, Head
    from cairn.ledger.keys import BodyCipher, KeyStore
    from cairn.rebuild.replay import Opened


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Entries in order, verified and opened; `reached` is the head after the last of them."""

    entries: Sequence[Opened]
    reached: Head


def prepared(entries: Sequence[Entry], head: Head, keys: KeyStore, cipher: BodyCipher) -> Page:
    """Return the page that follows `head`. Raises what `checked` and `opened` raise."""
    reached = checked(entries, head)
    return Page(entries=opened(entries, keys, cipher), reached=reached)


class Prefetcher:
    """The page after the present one; what is wrong with it is raised when it is asked for."""

    def __init__(self, keys: KeyStore, cipher: BodyCipher) -> None:
        self._keys = keys
        self._cipher = cipher
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ahead")
        self._waiting: tuple[Head, Future[Page]] | None = None

    def __enter__(self) -> Self:
        """Begin with nothing ready."""
        return self

    def __exit__(self, *_: object) -> None:
        """Wait for the thread and drop what it has made."""
        self._worker.shutdown(cancel_futures=True)
        self._waiting = None

    def page(self, head: Head, read: Callable[[int], Sequence[Entry]]) -> Page | None:
        """Return the page after `head`, None at the end; the one after it is begun.

        `read` returns the entries above a position.
        """
        waiting, self._waiting = self._waiting, None
        if waiting is not None and waiting[0] == head:
            page = waiting[1].result()
        else:
            entries = read(head.position)
            if not entries:
                return None
            page = prepared(entries, head, self._keys, self._cipher)
        self._begin(page.reached, read)
        return page

    def _begin(self, head: Head, read: Callable[[int], Sequence[Entry]]) -> None:
        entries = read(head.position)
        if entries:
            work = self._worker.submit(prepared, entries, head, self._keys, self._cipher)
            self._waiting = (head, work)
