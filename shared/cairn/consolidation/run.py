"""Consolidate the memories of one client: batch after batch, planned without a lock, then applied.

Each batch is applied in one transaction that marks its memories, so that a run killed anywhere goes
on where it was, and two at once do each batch once. Not the machine that calls it (`control`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cairn.consolidation.apply import Proposal
from cairn.consolidation.checks import checked
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import Unavailable, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from cairn.consolidation.apply import ApplyPlan
    from cairn.consolidation.batching import FindMerges, Gather, Gathered
    from cairn.consolidation.plan import Plan, Planner
    from cairn.consolidation.runs import Client
    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Stopwatch
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions

    Planners = Callable[[UUID, UUID], Planner]
    """(workspace id, run id) -> who plans, on that run's account."""

NO_MODEL = "no-model"
UNREADABLE = frozenset({"chat-wrong-shape", "chat-refused-to-answer", NO_MODEL})
"""Reasons for which asking the same again would not help."""

UNREAD = "what a model answered could not be read: rules planned those memories, at a cost unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposePlan:
    """Plans a batch and checks the plan: nothing is held, nothing is changed."""

    gather: Gather
    planners: Planners
    rules: Planner
    merges: FindMerges

    def __call__(self, principal: Principal, run_id: UUID, gathered: Gathered) -> Proposal:
        """Return the checked plan of a batch, with the vectors of what it merges.

        Rules plan what a model answers in no form that can be read, or refuses to read. Raises
        BudgetExceeded when a model would cost too much, Unavailable when none answers.
        """
        plan = checked(self._planned(principal, run_id, gathered), gathered.batch)
        merges = self.merges(principal, gathered.batch, plan)
        return Proposal(batch=gathered.batch, plan=plan, merges=merges)

    def _planned(self, principal: Principal, run_id: UUID, gathered: Gathered) -> Plan:
        planner = self.planners(principal.workspace_id, run_id)
        try:
            return planner.plan(gathered.batch, gathered.pairs)
        except (Unavailable, ValidationFailed) as problem:
            if isinstance(problem, Unavailable) and problem.reason not in UNREADABLE:
                raise
            has_model = problem.reason != NO_MODEL
        plan = self.rules.plan(gathered.batch, gathered.pairs)
        if not has_model:
            return plan
        return replace(plan, cost_usd=None, undone=(*plan.undone, UNREAD))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidateClient:
    """Works off the memories of one client that no consolidation has looked at."""

    transactions: Transactions[Stores]
    propose: ProposePlan
    apply: ApplyPlan
    stopwatch: Stopwatch

    def __call__(
        self, workspace_id: UUID, run_id: UUID, client_id: UUID, *, seconds: float
    ) -> dict[str, Any]:
        """Return counts, and `more` when time ran out before the memories did.

        A memory that could not be taken (changed meanwhile, its subject forgotten) is left to the
        next call. A client that is no more has nothing to do.
        """
        principal = system_principal(workspace_id)
        client = self._client(principal, client_id)
        until = self.stopwatch() + seconds
        counts: Counter[str] = Counter()
        left: set[UUID] = set()
        while client is not None and self.stopwatch() < until:
            gathered = self.propose.gather(principal, client, without=left)
            if gathered is None:
                return {**counts, "more": False}
            proposal = self.propose(principal, run_id, gathered)
            outcome = self.apply(principal, run_id, proposal)
            counts.update(outcome.counts)
            left |= outcome.left
        return {**counts, "more": client is not None}

    def _client(self, principal: Principal, client_id: UUID) -> Client | None:
        with self.transactions.reading(principal) as stores:
            return stores.unconsolidated.client(client_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One batch of a dry run: its plan, and the texts of the memories the plan names."""

    client_id: UUID
    plan: Plan
    texts: dict[UUID, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewClient:
    """Plans what a run would do to a client's memories, and changes nothing."""

    propose: ProposePlan
    stopwatch: Stopwatch

    def __call__(
        self, principal: Principal, run_id: UUID, client: Client, *, until: float
    ) -> tuple[list[Planned], bool]:
        """Return the plans of its batches until the stopwatch says `until`, and whether more wait.

        What a later batch would find merged by an earlier one, it finds as it is.
        """
        results: list[Planned] = []
        seen: set[UUID] = set()
        while self.stopwatch() < until:
            gathered = self.propose.gather(principal, client, without=seen)
            if gathered is None:
                return results, False
            plan = self.propose(principal, run_id, gathered).plan
            memories = gathered.batch.memories
            seen |= {memory.id for memory in memories}
            texts = {memory.id: memory.text for memory in memories}
            results.append(Planned(client_id=client.id, plan=plan, texts=texts))
        return results, True
