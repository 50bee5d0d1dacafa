"""What tasks, and writes that name the task they came of, ask of the stores. Contracts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from cairn.kernel.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Set
    from uuid import UUID


class TaskStatus(StrEnum):
    """How a task stands. running and waiting go back and forth; the others are the end."""

    RUNNING = "running"
    WAITING = "waiting"  # for a person, or for another system
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_end(self) -> bool:
        """Return whether nothing follows."""
        return self not in (TaskStatus.RUNNING, TaskStatus.WAITING)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTask:
    """A task about to go on: what its next step has to know of it."""

    id: UUID
    kind: str
    title: str
    position: int
    data_subjects: tuple[UUID, ...]
    metadata: Mapping[str, Any]

    @property
    def status(self) -> TaskStatus:
        """Return how it stands."""
        return TaskStatus(self.metadata["status"])


class TaskStore(Protocol):
    """The tasks of the transaction's workspace, and the conversations that raise them.

    Only what the principal may see and what is neither deleted nor quarantined.
    """

    def find(self, task_id: UUID) -> StoredTask | None:
        """Return a task."""
        ...

    def known(self, task_ids: Collection[UUID]) -> Set[UUID]:
        """Return which of these are tasks."""
        ...

    def conversation(
        self, conversation_id: UUID | None, session_id: str | None
    ) -> tuple[UUID, tuple[UUID, ...]] | None:
        """Return (id, data subjects) of the conversation of this id, else the session's newest."""
        ...


def no_such_task(task_id: UUID | None) -> NotFound:
    """Return what refuses a write that names a task its principal cannot see."""
    return NotFound("There is no such task.", task_id=str(task_id))


class HasTasks(Protocol):
    """A transaction in which tasks can be looked up."""

    @property
    def tasks(self) -> TaskStore: ...
