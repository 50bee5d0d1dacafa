"""Start, continue and end tasks: the use cases behind `/v1/tasks` and the work tools.

A task is a node for a longer piece of work. It leads to what it produced (PRODUCED) and to the
conversation that asked for it (RAISED_DURING), so that "what came of this conversation" is one walk
of the graph. Not the work itself, and not who does it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.kernel.errors import Conflict, NotFound
from cairn.kernel.text.canonical import format_timestamp
from cairn.kernel.text.hashes import content_hash
from cairn.tasks.draft import (
    MAX_STEPS,
    NewTask,
    TaskDraft,
    TaskStep,
    draft_step,
    draft_task,
)
from cairn.writing.checks import refuse, require_writer
from cairn.writing.subjects import SubjectRegisteredMeanwhile, resolve
from cairn.writing.task_ports import TaskStatus, no_such_task
from cairn.writing.writer import Work, Write, Writer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.writing.items import IdempotencyKey
    from cairn.writing.task_ports import StoredTask


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskChanged:
    """Where a task stands now."""

    id: UUID
    position: int
    status: TaskStatus
    replayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tasks(Writer):
    """Starts tasks and takes their steps. Each is one ledger entry and one line of the log.

    Raises Denied for a principal that may not write, ValidationFailed or TooLarge naming the field,
    NotFound for a task, conversation or product the principal cannot see, Conflict for a step of a
    task that has ended.
    """

    def start(
        self, principal: Principal, new: NewTask, *, idempotency: IdempotencyKey | None = None
    ) -> TaskChanged:
        """Start a task."""
        require_writer(principal)
        draft = draft_task(new, principal, self.platform.clock())

        def prepared() -> Work[TaskChanged]:
            return Work(
                resolution=resolve(
                    self.platform, principal, draft.wanted, self._talkers(principal, draft)
                ),
                do=partial(_start, draft),
                keep=_stored_answer,
                read=_read,
            )

        done = self.write_once(principal, prepared, idempotency)
        self._say("start", done, kind=draft.kind)
        return done

    def step(
        self,
        principal: Principal,
        task_id: UUID,
        step: TaskStep,
        *,
        idempotency: IdempotencyKey | None = None,
    ) -> TaskChanged:
        """Take one step of a task that goes on; ValidationFailed for a step that would end it."""
        if step.status.is_end:
            refuse("status", "is running or waiting; a task is ended by completing it")
        return self._take(principal, task_id, step, idempotency)

    def end(
        self,
        principal: Principal,
        task_id: UUID,
        step: TaskStep,
        *,
        idempotency: IdempotencyKey | None = None,
    ) -> TaskChanged:
        """End a task; the same end again changes nothing. ValidationFailed for no end."""
        if not step.status.is_end:
            refuse("status", "is completed, failed or cancelled")
        return self._take(principal, task_id, step, idempotency)

    def _take(
        self,
        principal: Principal,
        task_id: UUID,
        step: TaskStep,
        idempotency: IdempotencyKey | None,
    ) -> TaskChanged:
        require_writer(principal)
        checked = draft_step(step)

        def prepared() -> Work[TaskChanged]:
            with self.platform.transactions.reading(principal) as stores:
                task = _present(stores, task_id)
            return Work(
                resolution=resolve(self.platform, principal, (), task.data_subjects),
                do=partial(_step, task_id, checked),
                keep=_stored_answer,
                read=_read,
            )

        done = self.write_once(principal, prepared, idempotency)
        self._say("done" if done.status.is_end else "step", done)
        return done

    def _talkers(self, principal: Principal, draft: TaskDraft) -> tuple[UUID, ...]:
        """Return whom the conversation is about that asked for the task: so is the task."""
        if draft.conversation_id is None and draft.session_id is None:
            return ()
        with self.platform.transactions.reading(principal) as stores:
            results = stores.tasks.conversation(draft.conversation_id, draft.session_id)
        return results[1] if results else ()

    def _say(self, action: str, done: TaskChanged, **more: str) -> None:
        if not done.replayed:
            fields = {"action": action, "task_id": str(done.id), "status": done.status.value}
            self.platform.log("task", {**fields, **more})


def _start(draft: TaskDraft, write: Write) -> TaskChanged:
    conversation, talkers = _conversation(write.stores, draft)
    write.register()
    entries, resolution = write.entries, write.resolution
    subjects = tuple(sorted({*resolution.subjects_of(draft.wanted), *talkers}))
    if any(subject not in resolution.keys for subject in subjects):
        raise SubjectRegisteredMeanwhile("The conversation was begun meanwhile.")
    task_id = entries.new_id()
    meta = {
        "node_id": str(task_id),
        "scope": draft.audience.scope,
        "raised_during": str(conversation) if conversation else None,
    }
    position = entries.add(
        "task.started",
        meta,
        _started_body(draft),
        data_subjects=subjects,
        occurred_at=draft.occurred_at,
        session_id=draft.session_id,
        trace_id=draft.trace_id,
    )
    write.append()
    done = TaskChanged(id=task_id, position=position, status=TaskStatus.RUNNING)
    write.wake_embed([task_id])
    return done


def _conversation(stores: Stores, draft: TaskDraft) -> tuple[UUID | None, tuple[UUID, ...]]:
    if draft.conversation_id is None and draft.session_id is None:
        return None, ()
    results = stores.tasks.conversation(draft.conversation_id, draft.session_id)
    if results is None and draft.conversation_id is not None:
        raise NotFound("There is no such conversation.")
    return results or (None, ())


def _started_body(draft: TaskDraft) -> dict[str, Any]:
    agents = draft.audience.agents
    return {
        "kind": draft.kind,
        "title": draft.title,
        "content_hash": content_hash(draft.title),
        "agents": list(agents) if agents is not None else None,
        "client_id": draft.client_id,
        "source_agent": draft.source_agent,
        "metadata": {
            "status": TaskStatus.RUNNING.value,
            "inputs": dict(draft.inputs),
            "input_schema": draft.input_schema,
            "started_at": format_timestamp(draft.occurred_at),
            "steps": [],
        },
    }


def _step(task_id: UUID, step: TaskStep, write: Write) -> TaskChanged:
    task = _present(write.stores, task_id)
    if task.status.is_end:
        if task.status is step.status and not step.produced:
            return TaskChanged(id=task.id, position=task.position, status=task.status)
        raise Conflict(
            f"This task is {task.status.value}; start another one.",
            reason="task-ended",
            task_id=str(task.id),
        )
    _require_visible(write.stores, step.produced)
    entries = write.entries
    text = f"{task.title}\n{step.note}" if step.status.is_end and step.note else task.title
    position = entries.add(
        "task.completed" if step.status.is_end else "task.updated",
        {
            "node_id": str(task_id),
            "status": step.status.value,
            "produced": [str(item) for item in step.produced],
        },
        {
            "text": text,
            "content_hash": content_hash(text),
            "metadata": _stepped(task.metadata, step, format_timestamp(write.now)),
        },
        data_subjects=task.data_subjects,
        occurred_at=write.now,
    )
    write.append()
    woken = [task_id] if step.status.is_end else []
    done = TaskChanged(id=task_id, position=position, status=step.status)
    write.wake_embed(woken)
    return done


def _stepped(metadata: Mapping[str, Any], step: TaskStep, now: str) -> dict[str, Any]:
    """Return the task's metadata after a step; of many steps the newest are kept."""
    steps = list(metadata["steps"])
    if step.note is not None and not step.status.is_end:
        steps.append({"at": now, "note": step.note, "status": step.status.value})
    changed: dict[str, Any] = {
        **metadata,
        "status": step.status.value,
        "steps": steps[-MAX_STEPS:],
    }
    if step.status.is_end:
        changed |= {"ended_at": now, "outcome": step.note}
    return changed


def _present(stores: Stores, task_id: UUID) -> StoredTask:
    task = stores.tasks.find(task_id)
    if task is None:
        raise no_such_task(task_id)
    return task


def _require_visible(stores: Stores, node_ids: Sequence[UUID]) -> None:
    if not node_ids:
        return
    results = stores.graph_nodes.find(node_ids)
    for id_ in node_ids:
        node = results.get(id_)
        if node is None or not node.is_present:
            raise NotFound("There is no such node.", node_id=str(id_))


def _stored_answer(done: TaskChanged) -> dict[str, Any]:
    return {"id": str(done.id), "position": done.position, "status": done.status.value}


def _read(stored: Mapping[str, Any]) -> TaskChanged:
    return TaskChanged(
        id=UUID(stored["id"]),
        position=stored["position"],
        status=TaskStatus(stored["status"]),
        replayed=True,
    )
