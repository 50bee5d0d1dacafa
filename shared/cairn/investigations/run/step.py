"""Run one step of an investigation: read, think without a transaction, write once.

A step that is run again finds the state moved on, does nothing and answers where the investigation
is. Not what a step does: they are in `steps`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cairn.investigations import citations
from cairn.investigations.journal import agent_of
from cairn.investigations.ports import Change, Situation
from cairn.investigations.run.moving import broken, find_investigation, moved, read, spent_out
from cairn.investigations.snapshot import Snapshots
from cairn.investigations.state import Spending, State
from cairn.investigations.views import Present, present
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import BudgetExceeded, CairnError, Conflict, Unavailable
from cairn.kernel.metrics import Metric, untold
from cairn.ledger.keys import BodyUnreadable, SubjectForgotten
from cairn.llm.budget import Budget, Limits, Spent

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from cairn.investigations.journal import Journal
    from cairn.investigations.ports import StepFunction
    from cairn.investigations.run.closing import Abandon
    from cairn.investigations.run.moving import Opened
    from cairn.investigations.state import Evidence, Investigation, WorkingMemory
    from cairn.kernel.clock import Stopwatch
    from cairn.kernel.metrics import Metrics
    from cairn.kernel.stores import Stores
    from cairn.tickets.personas import Persona
    from cairn.tickets.write_back import Desk


def owners(
    journal: Journal, investigation: Investigation, before: WorkingMemory, after: WorkingMemory
) -> tuple[UUID, ...]:
    """Return the data subjects of an investigation with those of what was read meanwhile."""
    citations_before = {item.citation for item in _read(before)}
    new = [item for item in _read(after) if item.citation not in citations_before]
    if not new:
        return investigation.data_subjects
    about = set(investigation.data_subjects)
    nodes = {item.node_id for item in new if item.node_id is not None}
    with journal.reading(investigation.workspace_id) as stores:
        for node in stores.graph_nodes.find(nodes).values() if nodes else ():
            about |= set(node.data_subjects)
        for cited in filter(None, (citations.parse(item.citation) for item in new)):
            about |= _subjects(stores, cited)
    return tuple(sorted(about))


def _read(memory: WorkingMemory) -> tuple[Evidence, ...]:
    return (*memory.evidence, *memory.facts, *memory.similar, *memory.recent)


def _subjects(stores: Stores, cited: citations.Citation) -> set[UUID]:
    row = None
    if cited.id is not None and cited.kind is citations.Kind.TICKET:
        row = stores.tickets.find(cited.id)
    elif cited.id is not None and cited.kind is citations.Kind.TOOL:
        row = stores.actions.find(cited.id)
    return set(row.data_subjects) if row else set()


def count(metrics: Metrics, investigation: Investigation, change: Change) -> None:
    """Tell the metrics of a transition."""
    workspace = investigation.workspace_id
    for fact in change.facts:
        if fact.type == "action.denied":
            metrics(
                Metric.SAFETY_DENIALS,
                1,
                workspace=workspace,
                outcome=fact.meta["reason"],
                connector=fact.body.get("connector", ""),
            )
    if change.target is State.WRITING_BACK and change.memory.evidence:
        metrics(Metric.RETRIEVAL_HIT_RATE, hit_rate(change), workspace=workspace)


def hit_rate(change: Change) -> float:
    """Return the share of what was found that the summary cites, 0 to 1."""
    results = [citations.parse(item.citation) for item in change.memory.evidence]
    cited = citations.citations(change.memory.summary)
    used = [item for item in results if item and any(citations.resolves(c, [item]) for c in cited)]
    return len(used) / len(results)


def budget_of(persona: Persona, spending: Spending, stopwatch: Stopwatch) -> Budget:
    """Return the persona's budget with what earlier steps spent carried on."""
    limits = Limits(
        tokens=persona.max_tokens,
        usd=persona.max_usd,
        seconds=float(persona.max_seconds),
        iterations=persona.max_iterations,
    )
    spent = Spent(
        tokens=spending.tokens,
        usd=spending.usd,
        seconds=spending.ms / 1000,
        iterations=spending.iterations,
        unpriced_calls=spending.unpriced_calls,
    )
    return Budget(limits, stopwatch=stopwatch, spent=spent)


def spending_of(budget: Budget) -> Spending:
    """Return what was spent so far, to be kept with the transition."""
    spent = budget.spent
    return Spending(
        tokens=spent.tokens,
        usd=spent.usd,
        ms=round(max(spent.seconds, 0.0) * 1000),
        iterations=spent.iterations,
        unpriced_calls=spent.unpriced_calls,
    )


CHECKED = frozenset({State.PLANNING, State.RETRIEVING, State.SAFETY_CHECK})
"""States in which the budget is looked at before the step: the others look where they spend."""


def execution_name(investigation_id: UUID, run: int) -> str:
    """Return the name of an execution of the machine: one for each run."""
    return f"{investigation_id}-{run}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStep:
    """Runs the step of a state and makes the transition it asks for.

    Budget spent: the verdict is `failed_budget`. Unavailable is raised again, with what was spent
    kept, for the machine to repeat; any other error of Cairn's ends in HALTED.
    """

    journal: Journal
    steps: Mapping[State, StepFunction]
    desk: Desk
    stopwatch: Stopwatch
    abandon: Abandon
    metrics: Metrics = field(default=untold)

    def __call__(
        self,
        workspace_id: UUID,
        investigation_id: UUID,
        *,
        state: State,
        run: int | None = None,
    ) -> Present:
        """Return where the investigation is after the step of `state`.

        Raises NotFound, Unavailable, and Conflict (`superseded`) for a run that is not the present
        one: nothing is done on its behalf.
        """
        try:
            before = read(self.journal, workspace_id, investigation_id)
            if before.investigation.state is not state:
                return present(before.investigation)
            if run is not None and run != before.investigation.run:
                raise superseded(run)
            return self._done(before, self._change(before))
        except (BodyUnreadable, SubjectForgotten):
            return self.abandon(workspace_id, investigation_id)

    def _change(self, before: Opened) -> Change:
        investigation, memory = before.investigation, before.memory
        persona = self.desk.persona(
            investigation.workspace_id, investigation.persona, began=investigation.created_at
        )
        spent = _most(investigation.spending, memory.spending)
        budget = budget_of(persona, spent, self.stopwatch)
        situation = Situation(
            investigation=investigation, memory=memory, persona=persona, budget=budget
        )
        try:
            change = self._stepped(situation)
        except (BodyUnreadable, SubjectForgotten, Superseded):
            raise
        except Unavailable:
            self._spend(investigation, spending_of(budget))
            raise
        except CairnError as error:
            change = broken(situation, error)
        spending = spending_of(budget)
        return _timed(change, spending, spending.ms - spent.ms)

    def _stepped(self, situation: Situation) -> Change:
        try:
            if situation.investigation.state in CHECKED:
                situation.budget.check()
            return self.steps[situation.investigation.state](situation)
        except BudgetExceeded as error:
            return spent_out(situation, error)

    def _done(self, before: Opened, change: Change) -> Present:
        investigation = before.investigation
        if self._moved(before, change):
            count(self.metrics, investigation, change)
            return present(replace(investigation, state=change.target))
        with self.journal.reading(investigation.workspace_id) as stores:
            return present(find_investigation(stores, investigation.id))

    def _moved(self, before: Opened, change: Change) -> bool:
        """Write the transition, sealed for everybody it is about by now."""
        investigation = before.investigation
        snapshots = Snapshots(cipher=self.journal.platform.cipher)
        about = owners(self.journal, investigation, before.memory, change.memory)
        try:
            return self.journal.write(
                investigation.workspace_id,
                about,
                agent_of(investigation),
                lambda page: moved(page, snapshots, before, change),
            )
        except SubjectForgotten as gone:
            if gone.fields.get("subject_id") in {
                str(subject) for subject in investigation.data_subjects
            }:
                raise
            raise Unavailable(
                "What was read was forgotten meanwhile.", reason="evidence-forgotten"
            ) from gone

    def _spend(self, investigation: Investigation, spending: Spending) -> None:
        principal = system_principal(investigation.workspace_id)
        with self.journal.platform.transactions.writing(principal) as stores:
            stores.investigations.spend(investigation.id, spending, run=investigation.run)


class Superseded(Conflict):
    """Another run, or another process of the same run, has gone on without this one."""

    code = "superseded"


def superseded(run: int) -> Superseded:
    """Return the refusal of a run that another one has taken the place of."""
    return Superseded("Another run has taken this one's place.", run=run)


def _most(stored: Spending, remembered: Spending) -> Spending:
    """Return the larger: a step that did not get to a transition kept its spending beside it."""
    return max(stored, remembered, key=lambda item: (item.tokens, item.ms, item.iterations))


def _timed(change: Change, spending: Spending, ms: int) -> Change:
    """Return the change with what was spent, and the step's time on its first line."""
    first, *rest = change.lines
    line = first if first.ms else replace(first, ms=ms)
    memory = replace(change.memory, spending=spending)
    return replace(change, memory=memory, lines=(line, *rest))
