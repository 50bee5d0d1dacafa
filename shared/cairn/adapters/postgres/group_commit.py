"""Writes to one workspace that arrive together share a transaction and one hold of the head.

Each entry stays its own, and each write its own success or refusal: when one is refused, all are
undone and done again one by one. For a process that serves many requests at once.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from cairn.adapters.postgres.database import Connection, Database, bind, bound
from cairn.adapters.postgres.store_transactions import PostgresStores, lock_head, take
from cairn.kernel.errors import Unavailable
from cairn.kernel.transaction.together import Together

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores

T = TypeVar("T")


@dataclass(slots=True)
class Writing:
    """A write: what it does with a connection that holds the head, and what became of it."""

    principal: Principal
    once: str | None
    run: Callable[[Connection], Any]
    result: Any = None
    error: BaseException | None = None


class GroupCommit:
    """Implements `Committing` of `Stores`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._together: Together[Writing] = Together(self._commit)

    def __call__(
        self,
        principal: Principal,
        work: Callable[[Stores], T],
        /,
        *,
        once: str | None = None,
    ) -> T:
        """Do one write and return its result when it is committed."""
        context = copy_context()  # another thread may do it, in this one's trace
        writing = Writing(
            principal,
            once,
            lambda connection: context.run(work, PostgresStores(connection, principal)),
        )
        self._together(principal.workspace_id, writing)
        if writing.error is not None:
            raise writing.error
        return cast("T", writing.result)

    def _commit(self, group: Sequence[Writing]) -> None:
        again = group if len(group) == 1 else self._all(group)
        for item in again:
            try:
                with self._opened(item.principal) as connection:
                    self._run(connection, item)
            except BaseException as error:  # noqa: BLE001 - raised in the thread it belongs to
                item.error = error

    def _all(self, group: Sequence[Writing]) -> Sequence[Writing]:
        """Run all in one transaction and return those that are to be run again, alone."""
        running: Writing | None = None
        try:
            with self._opened(group[0].principal) as connection:
                bound_to = group[0].principal
                for running in group:
                    if running.principal != bound_to:
                        bind(connection, running.principal, read_only=False, sees_deleted=True)
                        bound_to = running.principal
                    self._run(connection, running)
                running = None
        except Unavailable as error:
            # what took too long is not tried again; nor is anything when nothing can be done
            late = group if running is None else (running,)
            for item in late:
                item.error = error
            return [writing for writing in group if writing.error is None]
        except BaseException:  # noqa: BLE001 - whose it is shows when each is alone
            return group
        return ()

    @contextmanager
    def _opened(self, principal: Principal) -> Generator[Connection]:
        with bound(self._database, principal, read_only=False, sees_deleted=True) as connection:
            lock_head(connection, principal)
            yield connection

    def _run(self, connection: Connection, item: Writing) -> None:
        if item.once is not None:
            take(connection, item.principal, item.once)
        item.result = item.run(connection)
