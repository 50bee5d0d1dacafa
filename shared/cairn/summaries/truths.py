"""What is held true of an entity now, put together from the facts and statuses that refer to it.

Only such as have the entity's own scope, agents and data subjects: what is held true of an entity
is seen with it, and nobody's forgetting may leave it there. A truth that somebody wrote is left as
it is. Not the texts (`summary_texts`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.conversations.messages import OWN_METADATA
from cairn.graph.edge import Relation
from cairn.kernel.text.hashes import content_hash
from cairn.ledger.keys import SubjectForgotten
from cairn.summaries.entries import covering
from cairn.summaries.ports import TextRequest
from cairn.summaries.texts import MOST_WORDS, TRUTH

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Sequence

    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.summaries.append import SummaryWriting
    from cairn.summaries.ports import Condense, Condensed, EntityState, Source
    from cairn.writing.writer import Write

ENTITIES_A_PAGE = 200
MOST_FACTS = 20
LEAST_FACTS = 2
"""One fact says by itself what it says."""

COMPILED = "truth.compiled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Truths:
    """Writes what is missing, refreshes what changed, clears what nothing says any more."""

    transactions: Transactions[Stores]
    writing: SummaryWriting
    condense: Condense

    def refresh(
        self,
        principal: Principal,
        run_id: UUID | None,
        counts: Counter[str],
        in_time: Callable[[], bool],
    ) -> bool:
        """Go through the entities that facts refer to; False when time ran out before the last."""
        after = UUID(int=0)
        while True:
            with self.transactions.reading(principal) as stores:
                page = stores.summaries.entities(after, limit=ENTITIES_A_PAGE)
            if not page:
                return True
            for state in page:
                if not in_time():
                    return False
                try:
                    self._entity(principal, state, run_id, counts)
                except SubjectForgotten:
                    counts["forgotten"] += 1
            after = page[-1].id

    def _entity(
        self, principal: Principal, state: EntityState, run_id: UUID | None, counts: Counter[str]
    ) -> None:
        covers = covering(state.fingerprint)
        if not is_ours(state) or truth_metadata(state).get("covers") == covers:
            counts["unchanged"] += 1
            return
        if state.sources < LEAST_FACTS:
            if state.compiled_truth is not None:
                self._write(principal, state, (), None, covers, counts)
            return
        with self.transactions.reading(principal) as stores:
            sources = fitting(stores.summaries.facts(state.id, limit=MOST_FACTS))
        if not sources:
            return
        request = TextRequest(
            scope=TRUTH,
            texts=tuple(source.text for source in sources),
            workspace_id=principal.workspace_id,
            run_id=run_id,
        )
        condensed = self.condense(request)
        counts["refused"] += condensed.refused is not None
        self._write(principal, state, sources, condensed, covers, counts)

    def _write(
        self,
        principal: Principal,
        state: EntityState,
        sources: Sequence[Source],
        condensed: Condensed | None,
        covers: str,
        counts: Counter[str],
    ) -> None:
        def do(write: Write) -> None:
            store = write.stores.summaries
            now = store.entity(state.id)
            contents = store.contents([source.id for source in sources])
            if any(contents.get(source.id) != source.content_hash for source in sources):
                counts["changed"] += 1
                return
            if now is None or not is_ours(now) or truth_metadata(now).get("covers") == covers:
                return
            held = [
                edge for edge in store.edges([now.id]) if edge.relation == Relation.DERIVED_FROM
            ]
            has, source_ids = {item.target_id for item in held}, {source.id for source in sources}
            body = {
                "compiled_truth": condensed.text if condensed else "",
                "metadata": _metadata(now, condensed, covers, len(sources)),
                "edges": [
                    [Relation.DERIVED_FROM.value, str(item)] for item in sorted(source_ids - has)
                ],
                "closed": [str(item.id) for item in held if item.target_id not in source_ids],
            }
            write.entries.add(
                COMPILED,
                {"node_id": str(now.id)},
                body,
                data_subjects=now.data_subjects,
                occurred_at=write.now,
            )
            counts["truths" if condensed else "dropped"] += 1
            write.wake_embed([now.id])

        self.writing.once(principal, state.data_subjects, do)


def is_ours(state: EntityState) -> bool:
    """Return whether an entity's compiled truth may be written: none is there, or it is ours."""
    if state.compiled_truth is None:
        return True
    return truth_metadata(state).get("content_hash") == content_hash(state.compiled_truth)


def truth_metadata(state: EntityState) -> dict[str, Any]:
    """Return what an entity keeps of its compiled truth, {} without one of ours."""
    return state.metadata.get(OWN_METADATA, {}).get(TRUTH, {})


def fitting(sources: Iterable[Source]) -> tuple[Source, ...]:
    """Return the first sources whose texts are a few sentences together; one at the least."""
    chosen: list[Source] = []
    left = MOST_WORDS[TRUTH]
    for source in sources:
        left -= len(source.text.split())
        if chosen and left < 0:
            break
        chosen.append(source)
    return tuple(chosen)


def _metadata(
    state: EntityState, condensed: Condensed | None, covers: str, sources: int
) -> dict[str, Any]:
    own = {k: v for k, v in state.metadata.get(OWN_METADATA, {}).items() if k != TRUTH}
    if condensed is not None:
        own[TRUTH] = {
            "covers": covers,
            "content_hash": content_hash(condensed.text),
            "provider": condensed.provider,
            "model": condensed.model,
            "is_extract": condensed.is_extract,
            "sources": sources,
        }
    rest = {k: v for k, v in state.metadata.items() if k != OWN_METADATA}
    return {**rest, OWN_METADATA: own} if own else rest
