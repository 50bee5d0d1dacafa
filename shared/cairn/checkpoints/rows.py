"""Rows of checkpoints, and which of them are meant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointRow:
    """A checkpoint. Its body is sealed under the keys of its data subjects, bound to its id."""

    id: UUID
    agent: str | None
    client_id: str | None
    thread: bytes
    namespace: str
    checkpoint_id: str
    parent_id: str | None
    run_id: str | None
    data_subjects: tuple[UUID, ...]
    body: bytes
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRow:
    """What a task wrote, sealed likewise."""

    id: UUID
    agent: str | None
    client_id: str | None
    thread: bytes
    namespace: str
    checkpoint_id: str
    task_id: str
    idx: int
    data_subjects: tuple[UUID, ...]
    body: bytes
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """A checkpoint's row, and how many bytes it has with what was written beside it."""

    id: UUID
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """How many bytes a thread has, and all threads of its workspace."""

    thread_bytes: int | None
    workspace_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Among:
    """Which checkpoints of an agent and a client; without a thread those of all."""

    agent: str | None
    client_id: str | None
    thread: bytes | None
    namespace: str | None
    checkpoint_id: str | None
    before: str | None
    run_id: str | None
