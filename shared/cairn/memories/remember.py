"""Remember memories: the use case behind `POST /v1/memories`. Not parsing of requests.

Checked and scrubbed first, then keys, then one transaction that plans, appends and projects; the
embed stage is woken when all of it is committed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from cairn.kernel.access import Principal
from cairn.kernel.errors import CairnError
from cairn.kernel.stores import Stores
from cairn.memories.draft import MemoryDraft, draft_memory
from cairn.memories.identity import Conversation, Session, chain_key, dedup_key
from cairn.memories.items import MemoryOutcome, NewMemory, Remembered
from cairn.memories.plan import BatchPlan, session_of
from cairn.writing.batches import Drafted, drafted, kept_outcome, read_outcome
from cairn.writing.checks import require_writer
from cairn.writing.items import IdempotencyKey, Outcome
from cairn.writing.subjects import resolve
from cairn.writing.taint_arrivals import with_quarantine
from cairn.writing.task_ports import no_such_task
from cairn.writing.writer import Work, Write, Writer


@dataclass(frozen=True, slots=True, kw_only=True)
class Remember(Writer):
    """Writes memories in one transaction: durable and searchable by keyword when it returns.

    A memory that is refused is an outcome with its error; the others stand. Raises Denied for a
    principal that may not write, Unavailable when nothing could be written.
    """

    def __call__(
        self,
        principal: Principal,
        memories: Sequence[NewMemory],
        *,
        idempotency: IdempotencyKey | None = None,
    ) -> Remembered:
        """Write up to MAX_BATCH memories and return their outcomes in the same order."""
        require_writer(principal)
        batch = drafted(memories, draft_memory, principal, self.platform.clock(), what="memories")

        def prepared() -> Work[Remembered]:
            return Work(
                resolution=resolve(self.platform, principal, batch.wanted),
                do=partial(_remember, batch),
                keep=_answer,
                read=_remembered,
            )

        return self.write_once(principal, prepared, idempotency)


def _remember(batch: Drafted[MemoryDraft], write: Write) -> Remembered:
    write.register()
    drafts = _with_tasks(write.stores, batch.owned(write.resolution))
    plan = _plan(write, drafts)
    outcomes = tuple(
        MemoryOutcome(outcome=Outcome.REJECTED, error=draft)
        if isinstance(draft, CairnError)
        else plan.remember(draft)
        for draft in drafts
    )
    write.append()
    memory_outcomes = tuple(
        with_quarantine(outcome, write.entries.held_back) for outcome in outcomes
    )
    write.wake_embed(plan.touched)
    return Remembered(outcomes=memory_outcomes)


def _plan(write: Write, drafts: Sequence[MemoryDraft | CairnError]) -> BatchPlan:
    memories = write.stores.memories
    good = [draft for draft in drafts if isinstance(draft, MemoryDraft)]
    places = [(key, item.valid_from) for item in good if (key := chain_key(item))]
    return BatchPlan(
        entries=write.entries,
        known=dict(memories.known({dedup_key(item) for item in good})),
        links=dict(memories.links(places)) if places else {},
        conversations=_conversations(write.stores, good),
    )


def _with_tasks(
    stores: Stores, drafts: Sequence[MemoryDraft | CairnError]
) -> Sequence[MemoryDraft | CairnError]:
    """Return the drafts, those refused that name a task nobody here knows."""
    good = (draft for draft in drafts if isinstance(draft, MemoryDraft))
    task_ids = {item.task_id for item in good if item.task_id is not None}
    if not task_ids:
        return drafts
    unknown = task_ids - stores.tasks.known(task_ids)
    return [
        no_such_task(draft.task_id)
        if isinstance(draft, MemoryDraft) and draft.task_id in unknown
        else draft
        for draft in drafts
    ]


def _conversations(stores: Stores, drafts: Sequence[MemoryDraft]) -> dict[Session, Conversation]:
    spans: dict[Session, tuple[int, int]] = {}
    for draft in drafts:
        session, sequence = session_of(draft), draft.sequence
        if session is not None and sequence is not None:
            first, last = spans.get(session, (sequence, sequence))
            spans[session] = (min(first, sequence), max(last, sequence))
    return {
        session: Conversation(stores.memories.messages(session, first, last))
        for session, (first, last) in spans.items()
    }


def _answer(done: Remembered) -> dict[str, Any]:
    return {
        "outcomes": [
            {
                **kept_outcome(outcome),
                "superseded": [str(other) for other in outcome.superseded],
                "observation_count": outcome.observation_count,
                "warnings": list(outcome.warnings),
            }
            for outcome in done.outcomes
        ]
    }


def _remembered(answer: Mapping[str, Any]) -> Remembered:
    return Remembered(
        replayed=True,
        outcomes=tuple(
            MemoryOutcome(
                **read_outcome(outcome),
                superseded=tuple(UUID(other) for other in outcome["superseded"]),
                observation_count=outcome["observation_count"],
                warnings=tuple(outcome["warnings"]),
            )
            for outcome in answer["outcomes"]
        ),
    )
