"""What tasks, and writes that name the task they came of, ask of the stores. Contracts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from cairn.kernel.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Mapping
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


def no_such_task(task_id: UUID | None) -> NotFound:
    """Return what refuses a write that names a task its principal cannot see."""
    return NotFound("There is no such task.", task_id=str(task_id))
