"""Summaries of documents and sections by a model, in place of the extracts ingestion made.

Once for each text: what was asked stands in the node, with the hash of what it was asked of. Where
no model answers, or what it says may not stand, the extract stays. Not the texts (`summary_texts`),
and nothing without a model.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import UUID

from cairn.conversations.messages import OWN_METADATA
from cairn.graph.node import Label
from cairn.kernel.errors import BudgetExceeded, Unavailable
from cairn.ledger.keys import SubjectForgotten
from cairn.llm.summaries import MAX_TOKENS, Level
from cairn.summaries.entries import covering
from cairn.summaries.ports import Condensed, PartState, TextRequest
from cairn.summaries.texts import RULES_MODEL, RULES_PROVIDER

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Sequence

    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.summaries.append import SummaryWriting
    from cairn.writing.writer import Write

DESCRIBED = "summary.described"
PARTS_A_PAGE = 100
PARTS_A_WRITE = 10
MOST_UNANSWERED = 3
"""After so many questions in a row that nobody answered, the next run asks again."""

LEVELS = ((Label.SECTION, "sections"), (Label.DOCUMENT, "documents"))
"""Sections first: a document's summary is made of theirs. The names are those of counts."""


Describe: TypeAlias = "Callable[[TextRequest], Condensed]"
"""Asks a model for a short text; returns an extract that names why the model's was refused.

Raises Unavailable when no model answered, BudgetExceeded when none may be asked.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Descriptions:
    """Asks for what is missing, and for what was ingested anew since."""

    transactions: Transactions[Stores]
    writing: SummaryWriting
    describe: Describe

    def refresh(
        self,
        principal: Principal,
        run_id: UUID | None,
        counts: Counter[str],
        in_time: Callable[[], bool],
    ) -> bool:
        """Go through what is due; False when time ran out before the last.

        Counts: `documents` and `sections` a model described, those `left` as they are because they
        are short or the model's text was refused, `unanswered` questions, and `over_budget` when
        nothing more may be spent. The last two end this, and the next run goes on.
        """
        asking = _Asking(use=self, principal=principal, run_id=run_id, counts=counts)
        for label, name in LEVELS:
            after = UUID(int=0)
            while page := self._due(principal, label, after):
                for parts in _written_together(page):
                    if not asking.described(parts, name, in_time):
                        return False
                    if asking.ended:
                        return True
                after = page[-1].id
        return True

    def _due(self, principal: Principal, label: str, after: UUID) -> Sequence[PartState]:
        with self.transactions.reading(principal) as stores:
            return stores.summaries.undescribed(label, covering(""), after, limit=PARTS_A_PAGE)


@dataclass(slots=True, kw_only=True)
class _Asking:
    """One call under way. `ended`: nobody answers any more, or the money is spent."""

    use: Descriptions
    principal: Principal
    run_id: UUID | None
    counts: Counter[str]
    unanswered: int = 0
    ended: bool = False
    made: list[tuple[PartState, Condensed]] = field(
        default_factory=list[tuple[PartState, Condensed]]
    )

    def described(self, parts: Iterable[PartState], name: str, in_time: Callable[[], bool]) -> bool:
        """Ask for these and write what was answered; False when time ran out before the last."""
        late = False
        for part in parts:
            late = not in_time()
            if late or self.ended:
                break
            self._ask(part)
        self._write(name)
        return not late

    def _ask(self, part: PartState) -> None:
        level = Level(part.label.lower())
        with self.use.transactions.reading(self.principal) as stores:
            short = stores.summaries.tokens_of(part) <= MAX_TOKENS[level]
            texts = () if short else tuple(stores.summaries.texts_of(part))
        if not texts:
            self.made.append((part, _extract("short")))
            return
        request = TextRequest(
            scope=level.value,
            texts=texts,
            workspace_id=self.principal.workspace_id,
            run_id=self.run_id,
        )
        try:
            condensed = self.use.describe(request)
        except BudgetExceeded:
            self.counts["over_budget"] += 1
            self.ended = True
            return
        except Unavailable:
            condensed = None
        if condensed is None or (
            condensed.is_extract and condensed.refused is None
        ):  # rules stood in
            self.counts["unanswered"] += 1
            self.unanswered += 1
            self.ended = self.unanswered >= MOST_UNANSWERED
            return
        self.unanswered = 0
        self.counts["refused"] += condensed.refused is not None
        self.made.append((part, condensed))

    def _write(self, name: str) -> None:
        parts, self.made = {part.id: (part, text) for part, text in self.made}, []
        if not parts:
            return
        subjects = next(iter(parts.values()))[0].data_subjects

        def do(write: Write) -> None:
            good = [
                (now, parts[now.id][1])
                for now in write.stores.summaries.parts(parts)
                if _is_same(now, parts[now.id][0])
            ]
            self.counts["changed"] += len(parts) - len(good)
            if not good:
                return
            write.entries.add(
                DESCRIBED,
                {"node_ids": [str(now.id) for now, _ in good]},
                {"parts": [_described(now, condensed) for now, condensed in good]},
                data_subjects=subjects,
                occurred_at=write.now,
            )
            fresh = [now.id for now, condensed in good if not condensed.is_extract]
            self.counts[name] += len(fresh)
            self.counts["left"] += len(good) - len(fresh)
            write.wake_embed(fresh)

        try:
            self.use.writing.once(self.principal, subjects, do)
        except SubjectForgotten:  # its rows are about to go
            self.counts["forgotten"] += 1


def _written_together(page: Iterable[PartState]) -> Iterable[tuple[PartState, ...]]:
    """Yield the parts of a page as they are written: each time those of the same persons."""
    by_subjects: dict[tuple[UUID, ...], list[PartState]] = defaultdict(list)
    for part in page:
        by_subjects[part.data_subjects].append(part)
    for parts in by_subjects.values():
        for start in range(0, len(parts), PARTS_A_WRITE):
            yield tuple(parts[start : start + PARTS_A_WRITE])


def _is_same(now: PartState, state: PartState) -> bool:
    """Return whether a part is what was asked about, and nobody described it meanwhile."""
    return (now.content_hash, now.metadata) == (state.content_hash, state.metadata)


def _extract(why: str) -> Condensed:
    return Condensed(
        text="", provider=RULES_PROVIDER, model=RULES_MODEL, is_extract=True, refused=why
    )


def _described(part: PartState, condensed: Condensed) -> dict[str, Any]:
    """Return what the entry says of a part; `summary` None leaves the extract it has."""
    fields: dict[str, Any] = {
        "covers": covering(part.content_hash),
        "provider": condensed.provider,
        "model": condensed.model,
        "is_extract": condensed.is_extract,
    }
    if condensed.refused is not None:
        fields["refused"] = condensed.refused
    own = {**part.own_metadata, "summary": fields}
    return {
        "id": str(part.id),
        "summary": None if condensed.is_extract else condensed.text,
        "metadata": {**part.metadata, OWN_METADATA: own},
    }
