"""An audit of memories of any store: what is doubled, wrong, secret or came out of recall. Pure.

It changes nothing. Records are taken one by one and kept shortened, up to a limit, so memory is
bounded whatever the size of an export.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from cairn.kernel.text.scrub import scrub
from cairn.memories.audit.pairs import alike, quoted_whole, recalled_marks, restated, said_in_turns
from cairn.memories.audit.records import (
    AuditReport,
    Finding,
    MemoryRecord,
    Problem,
    ProblemCount,
    junk_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cairn.memories.audit.pairs import EmbedTexts

MOST_RECORDS = 100_000
KEPT_CHARS = 1_000
"""Of each text so much is compared; secrets are looked for in all of it."""

EXAMPLES = 5
SHOWN_CHARS = 160


Apart: TypeAlias = "Callable[[str, str], str | None]"
"""Returns in what two texts that are alike cannot both hold.

"" when they differ and both may hold, None when nothing that counts differs.
"""


@dataclass(slots=True)
class _Problem:
    """The records that have one problem, and the first examples of it."""

    records: set[str] = field(default_factory=set[str])
    examples: list[Finding] = field(default_factory=list[Finding])

    def add(self, finding: Finding, *concerned: str) -> None:
        self.records.update(concerned)
        if len(self.examples) < EXAMPLES:
            self.examples.append(finding)


@dataclass(slots=True, kw_only=True)
class MemoryAudit:
    """Takes records, then reports.

    Without `embed` texts are compared by words; without `apart` what is alike is the same.
    """

    embed: EmbedTexts | None = None
    apart: Apart | None = None
    compared_by: str = "words"
    most_records: int = MOST_RECORDS
    _records: list[MemoryRecord] = field(default_factory=list[MemoryRecord])
    _seen: int = 0
    _scanned: int = 0
    _left_out: int = 0
    _problems: dict[Problem, _Problem] = field(
        default_factory=lambda: {problem: _Problem() for problem in Problem}
    )

    def add(self, record: MemoryRecord) -> None:
        """Take one record: it is looked at alone, and kept for comparing while there is room."""
        self._seen += 1
        scrubbed = scrub(record.text)
        excerpt = replace(record, text=scrubbed.text[:KEPT_CHARS])
        if scrubbed.found:
            self._note(Problem.SECRET, f"holds {', '.join(scrubbed.found)}", excerpt)
        if junk := junk_of(record.text):
            self._note(Problem.BOILERPLATE, f"junk: {junk.value}", excerpt)
        if mark := recalled_marks(excerpt.text):
            self._note(Problem.LOOP, f"reads like the output of a recall: {mark}", excerpt)
        if record.active and len(self._records) < self.most_records:
            self._records.append(excerpt)
        elif record.active:
            self._left_out += 1

    def scan(self, record: str, text: str) -> None:
        """Look through a text that is no active memory: for credentials, and for nothing else."""
        self._scanned += 1
        scrubbed = scrub(text)
        if scrubbed.found:
            excerpt = MemoryRecord(id=record, text=scrubbed.text[:KEPT_CHARS])
            self._note(Problem.SECRET, f"holds {', '.join(scrubbed.found)}", excerpt)

    def lost(self, record: str, why: str) -> None:
        """Note something that lost what it belongs to, found by who read the store."""
        self._problems[Problem.ORPHAN].add(Finding(records=(record,), why=why), record)

    def unreadable(self, record: str, why: str) -> None:
        """Note a record that could not be read as a memory."""
        self._seen += 1
        self._problems[Problem.UNREADABLE].add(Finding(records=(record,), why=why), record)

    def report(self) -> AuditReport:
        """Compare what was kept, and say what was found."""
        records = sorted(self._records, key=lambda record: (_age(record), record.id))
        self._compare(records)
        self._chains(records)
        self._loops(records)
        return AuditReport(
            records=self._seen,
            scanned=self._scanned,
            left_out=self._left_out,
            compared_by=self.compared_by,
            problems={
                problem.value: ProblemCount(
                    count=len(counted.records),
                    share=self._share(problem, len(counted.records)),
                    examples=tuple(counted.examples),
                )
                for problem, counted in self._problems.items()
            },
        )

    def _share(self, problem: Problem, count: int) -> float:
        of = self._seen + (self._scanned if problem is Problem.SECRET else 0)
        return min(1.0, round(count / of, 4)) if of else float(count > 0)

    def _compare(self, records: list[MemoryRecord]) -> None:
        for pair in alike(records, self.embed):
            record, other = records[pair.one], records[pair.other]
            apart = self.apart(record.text, other.text) if self.apart else None
            if apart and "event" not in (
                record.kind,
                other.kind,
            ):  # events happen beside each other
                self._note(
                    Problem.CONTRADICTION, f"{apart} ({pair.score:.2f} alike)", record, other
                )
            elif apart is None and pair.same and record.kind == other.kind:
                finding = self._finding(f"{pair.score:.2f} alike", record, other)
                self._problems[Problem.NEAR_DUPLICATE].add(finding, other.id)

    def _chains(self, records: list[MemoryRecord]) -> None:
        """Two active memories of one key or subject: the older should have been replaced."""
        chains: defaultdict[tuple[str, str, str], list[MemoryRecord]] = defaultdict(list)
        for record in records:
            if record.chain is not None:
                chains[record.audience, record.kind, record.chain].append(record)
        for chain in chains.values():
            if len({item.text for item in chain}) > 1:
                self._note(Problem.CONTRADICTION, "active at once under one key", *chain[:3])

    def _loops(self, records: list[MemoryRecord]) -> None:
        for place, sentence in restated(records).items():
            why = f"many memories restate: {sentence[:SHOWN_CHARS]}"
            self._note(Problem.BOILERPLATE, why, records[place])
        for places in said_in_turns(records):
            memory_records = [records[place] for place in places]
            agents = " → ".join(str(item.source) for item in memory_records[:4])
            self._note(Problem.LOOP, f"agents said it in turns: {agents}", *memory_records)
        for older, younger in quoted_whole(records):
            why = "holds all of an older memory"
            finding = self._finding(why, records[older], records[younger])
            self._problems[Problem.LOOP].add(finding, records[younger].id)

    def _note(self, problem: Problem, why: str, *records: MemoryRecord) -> None:
        ids = [record.id for record in records]
        self._problems[problem].add(self._finding(why, *records), *ids)

    def _finding(self, why: str, *records: MemoryRecord) -> Finding:
        shown: Iterable[MemoryRecord] = records[:4]
        return Finding(
            records=tuple(record.id for record in records[:4]),
            why=why,
            texts=tuple(record.text[:SHOWN_CHARS] for record in shown),
        )


def _age(record: MemoryRecord) -> float:
    """Return a sort key: older first, what has no time last."""
    return record.recorded_at.timestamp() if record.recorded_at else float("inf")
