"""Keep, find and take away checkpoints: the use case behind `/v1/checkpoints`.

What a program hands over is opaque: it is sealed as it came, neither scrubbed nor embedded, and
given back to keys of the same agent for the same client.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from typing import TYPE_CHECKING

from cairn.checkpoints.rows import Among, CheckpointRow, WriteRow
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import Conflict, FieldError, TooLarge, ValidationFailed
from cairn.kernel.text.hashes import sha256
from cairn.writing.audience import GLOBAL_CLIENT
from cairn.writing.checks import clean_name, require_writer
from cairn.writing.sealing import Sealer, client_subjects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.checkpoints.rows import Sized
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.workspace.settings import CheckpointSettings
    from cairn.writing.platform import Platform

MAX_DATA_CHARS = 2_500_000
"""Of a checkpoint, and of all that is written beside it: both fit one answer."""
MAX_WRITES = 200
MAX_TTL_SECONDS = 10 * 366 * 86_400
EXPIRED_AT_ONCE = 20
"""Threads taken away in one transaction: each may have hundreds of megabytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCheckpoint:
    """A state of a thread. `data` is the program's own, as text.

    `ttl_seconds` is how long its thread lasts without another write; None as it was.
    """

    thread_id: str
    checkpoint_id: str
    data: str
    namespace: str = ""
    parent_id: str | None = None
    run_id: str | None = None
    client_id: str = GLOBAL_CLIENT
    ttl_seconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewWrite:
    """What a task wrote to a channel; the last one counts where `idx` is below zero."""

    idx: int
    channel: str
    data: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewWrites:
    """What a task wrote after a checkpoint and before the next."""

    thread_id: str
    checkpoint_id: str
    task_id: str
    writes: tuple[NewWrite, ...]
    namespace: str = ""
    task_path: str = ""
    client_id: str = GLOBAL_CLIENT


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointFilter:
    """Which checkpoints are meant; `before` is the id of a later one."""

    thread_id: str | None = None
    namespace: str | None = None
    checkpoint_id: str | None = None
    before: str | None = None
    run_id: str | None = None
    client_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteView:
    """What a task wrote to a channel."""

    task_id: str
    task_path: str
    idx: int
    channel: str
    data: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointView:
    """A checkpoint with what tasks wrote after it, in the order of their paths."""

    id: UUID
    thread_id: str
    namespace: str
    checkpoint_id: str
    parent_id: str | None
    run_id: str | None
    data: str
    writes: Sequence[WriteView]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """The checkpoints of a principal's agent."""

    platform: Platform
    settings: Callable[[Principal], CheckpointSettings]

    def put(self, principal: Principal, new: NewCheckpoint) -> None:
        """Keep a checkpoint, in the place of one of the same id; TooLarge above the limit.

        Raises Conflict when its thread, or all of the workspace's, would take up too much.
        """
        require_writer(principal)
        _require_room(len(new.data), "data")
        client = _client(principal, new.client_id)
        row_id, now = self.platform.new_id(), self.platform.clock()
        subjects = client_subjects(self.platform, principal, client)
        row = CheckpointRow(
            id=row_id,
            agent=principal.agent_slug,
            client_id=_column(client),
            thread=_thread(principal, client, new.thread_id),
            namespace=new.namespace,
            checkpoint_id=new.checkpoint_id,
            parent_id=new.parent_id,
            run_id=new.run_id,
            data_subjects=subjects,
            body=self._sealer(principal, row_id, subjects, create=True).seal(
                {"thread_id": new.thread_id, "data": new.data}
            ),
            created_at=now,
        )
        limits = self.settings(principal)
        remove_expired(self.platform, principal, first=row.thread)
        with self.platform.transactions.preparing(principal) as (stores, _):
            stores.checkpoints.put(row)
            _use(stores, row.thread, limits, now=now, ttl_seconds=new.ttl_seconds)

    def put_writes(self, principal: Principal, new: NewWrites) -> None:
        """Keep what a task wrote, each once; TooLarge when it is too much for one checkpoint.

        Raises Conflict as `put` does.
        """
        require_writer(principal)
        client = _client(principal, new.client_id)
        subjects = client_subjects(self.platform, principal, client)
        thread = _thread(principal, client, new.thread_id)
        rows = [self._row(principal, subjects, client, thread, new, each) for each in new.writes]
        limits = self.settings(principal)
        remove_expired(self.platform, principal, first=thread)
        with self.platform.transactions.preparing(principal) as (stores, _):
            for row in rows:
                stores.checkpoints.put_write(row)
            written = stores.checkpoints.written(thread, new.namespace, new.checkpoint_id)
            _require_room(written, "writes")
            _use(stores, thread, limits, now=self.platform.clock())

    def list(
        self,
        principal: Principal,
        where: CheckpointFilter,
        *,
        after: tuple[str, UUID] | None,
        limit: int,
        max_bytes: int,
    ) -> tuple[Sequence[CheckpointView], tuple[str, UUID] | None]:
        """Return checkpoints, the newest first, and the last one's place when there are more.

        As many as fit `max_bytes`, at least one. What was forgotten or has expired is left out.
        """
        require_writer(principal)
        among, now = _among(principal, where), self.platform.clock()
        with self.platform.transactions.reading(principal) as stores:
            sizes = stores.checkpoints.sizes(among, after=after, now=now, limit=limit + 1)
            ids = _fitting(sizes[:limit], max_bytes)
            rows = stores.checkpoints.of_ids(ids)
            writes = stores.checkpoints.writes_of(ids)
        last = (rows[-1].checkpoint_id, rows[-1].id) if rows and len(ids) < len(sizes) else None
        return self._views(principal, rows, writes), last

    def remove(self, principal: Principal, where: CheckpointFilter) -> int:
        """Take checkpoints away; ValidationFailed unless a thread or a run is named."""
        require_writer(principal)
        if where.thread_id is None and where.run_id is None:
            message = "Name a thread_id or a run_id."
            raise ValidationFailed(message, errors=[FieldError("query.thread_id", message)])
        narrower = (where.namespace, where.checkpoint_id, where.before, where.run_id)
        whole = all(value is None for value in narrower)
        remove_expired(self.platform, principal)
        with self.platform.transactions.preparing(principal) as (stores, _):
            stores.checkpoints.hold()
            return stores.checkpoints.remove(_among(principal, where), whole=whole)

    def _sealer(
        self,
        principal: Principal,
        row_id: UUID,
        subjects: tuple[UUID, ...],
        *,
        create: bool = False,
    ) -> Sealer:
        workspace_id = principal.workspace_id
        return Sealer.of(self.platform, workspace_id, row_id, subjects, create=create)

    def _row(
        self,
        principal: Principal,
        subjects: tuple[UUID, ...],
        client: str,
        thread: bytes,
        new: NewWrites,
        write: NewWrite,
    ) -> WriteRow:
        row_id = self.platform.new_id()
        body = {"channel": write.channel, "task_path": new.task_path, "data": write.data}
        return WriteRow(
            id=row_id,
            agent=principal.agent_slug,
            client_id=_column(client),
            thread=thread,
            namespace=new.namespace,
            checkpoint_id=new.checkpoint_id,
            task_id=new.task_id,
            idx=write.idx,
            data_subjects=subjects,
            body=self._sealer(principal, row_id, subjects, create=True).seal(body),
            created_at=self.platform.clock(),
        )

    def _views(
        self, principal: Principal, rows: Sequence[CheckpointRow], writes: Sequence[WriteRow]
    ) -> Sequence[CheckpointView]:
        beside = {
            place: list(group) for place, group in groupby(sorted(writes, key=_place), key=_place)
        }
        views: list[CheckpointView] = []
        for row in rows:
            opened = self._open(principal, row)
            if opened:
                written = self._written(principal, beside.get(_place(row), ()))
                views.append(
                    CheckpointView(
                        id=row.id,
                        thread_id=opened["thread_id"],
                        namespace=row.namespace,
                        checkpoint_id=row.checkpoint_id,
                        parent_id=row.parent_id,
                        run_id=row.run_id,
                        data=opened["data"],
                        writes=written,
                        created_at=row.created_at,
                    )
                )
        return views

    def _written(self, principal: Principal, rows: Iterable[WriteRow]) -> Sequence[WriteView]:
        opened = [(row, body) for row in rows if (body := self._open(principal, row))]
        views = [WriteView(task_id=row.task_id, idx=row.idx, **body) for row, body in opened]
        return sorted(views, key=lambda view: (view.task_path, view.task_id, view.idx))

    def _open(self, principal: Principal, row: CheckpointRow | WriteRow) -> dict[str, str]:
        return self._sealer(principal, row.id, tuple(row.data_subjects)).open(row.body)


def _client(principal: Principal, client_id: str) -> str:
    return principal.writing_client(clean_name(client_id, "client_id") or GLOBAL_CLIENT)


def _column(client: str) -> str | None:
    return None if client == GLOBAL_CLIENT else client


def _thread(principal: Principal, client: str, thread_id: str) -> bytes:
    """Return what a thread is known by: a name may be a person's, and stands in no column."""
    return sha256(json.dumps([principal.agent_slug, client, thread_id]).encode())


def _among(principal: Principal, where: CheckpointFilter) -> Among:
    client = _client(principal, where.client_id or GLOBAL_CLIENT)
    thread_id = where.thread_id
    return Among(
        agent=principal.agent_slug,
        client_id=_column(client),
        thread=None if thread_id is None else _thread(principal, client, thread_id),
        namespace=where.namespace,
        checkpoint_id=where.checkpoint_id,
        before=where.before,
        run_id=where.run_id,
    )


def _place(row: CheckpointRow | WriteRow) -> tuple[bytes, str, str]:
    return row.thread, row.namespace, row.checkpoint_id


def _fitting(sizes: Sequence[Sized], max_bytes: int) -> list[UUID]:
    """Return the first ids whose checkpoints fit together, at least one."""
    ids: list[UUID] = []
    left = max_bytes
    for each in sizes:
        left -= each.size
        if ids and left < 0:
            break
        ids.append(each.id)
    return ids


def remove_expired(platform: Platform, principal: Principal, *, first: bytes | None = None) -> int:
    """Take away some threads that have expired, `first` before others; return how many."""
    now = platform.clock()
    with platform.transactions.reading(principal) as stores:
        if not stores.checkpoints.has_expired(now):
            return 0
    with platform.transactions.preparing(principal) as (stores, _):
        stores.checkpoints.hold()
        return stores.checkpoints.remove_expired(now, first=first, limit=EXPIRED_AT_ONCE)


@dataclass(frozen=True, slots=True)
class ExpireCheckpoints:
    """Takes away what expired in one workspace. Killed and begun again it ends the same."""

    platform: Platform

    def __call__(self, workspace_id: UUID, *, seconds: float) -> dict[str, int | bool]:
        """Return how many `threads` went; `more` when `seconds` did not reach."""
        principal = system_principal(workspace_id)
        until = self.platform.stopwatch() + seconds
        threads = 0
        while self.platform.stopwatch() < until:
            removed = remove_expired(self.platform, principal)
            threads += removed
            if removed < EXPIRED_AT_ONCE:
                return {"threads": threads, "more": False}
        return {"threads": threads, "more": True}


def _use(
    stores: Stores,
    thread: bytes,
    limits: CheckpointSettings,
    *,
    now: datetime,
    ttl_seconds: int | None = None,
) -> None:
    """Let a thread last from now on; Conflict when it, or all of them, take up too much."""
    days = limits.expire_after_days
    usage = stores.checkpoints.use(
        thread,
        now=now,
        ttl_seconds=ttl_seconds,
        default_seconds=None if days is None else int(timedelta(days=days).total_seconds()),
    )
    if usage is None:
        return
    for size, limit, what, setting in (
        (usage.thread_bytes or 0, limits.max_thread_bytes, "thread", "max_thread_bytes"),
        (usage.workspace_bytes, limits.max_bytes, "workspace", "max_bytes"),
    ):
        if size > limit:
            raise Conflict(
                f"The checkpoints of this {what} would take up {size} bytes; the setting"
                f" checkpoints.{setting} allows {limit}. Take some away, or raise it.",
                reason="checkpoint-quota",
                bytes=size,
                limit=limit,
            )


def _require_room(size: int, field: str) -> None:
    if size > MAX_DATA_CHARS:
        message = f"has {size} characters; at most {MAX_DATA_CHARS} are allowed"
        raise TooLarge(f"{field} {message}.", errors=[FieldError(field, message)])
