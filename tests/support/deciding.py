"""Agents that stop and ask a person, over the database of an API: for pages to decide on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from tests.support.agent import DOC, Agents, ScriptedPlanner, act, search

from benchmarks.objects import InMemoryObjects
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.investigations.approvals import Approvals
from cairn.investigations.grants import Grants
from cairn.investigations.people.candidates import Candidates
from cairn.investigations.people.proposing import RememberStep
from cairn.investigations.state import State
from cairn.kernel.clock import utc_now
from cairn.safety.tools import Autonomy, Lane
from cairn.tickets.personas import DEFAULT

if TYPE_CHECKING:
    from uuid import UUID

    from tests.support.world import World

PROPOSES = replace(DEFAULT, autonomy=Autonomy.PROPOSE)
TOOL = "accounts.unlock"


def agents_of(services: Any, world: World) -> Agents:
    """Agents of a workspace whose questions the services of an API show and decide."""
    planner = ScriptedPlanner([search("locked"), act(TOOL, evidence=(DOC,))])
    planner.at = lambda question: len(question.memory.queries) + len(question.memory.observations)
    agents = Agents(
        transactions=StoreTransactions(world.pool),
        workspace_id=world.workspace_id,
        keys=services.platform.keys,
        clock=utc_now,  # type: ignore[arg-type]
        planner=planner,
        persona=PROPOSES,
    )
    agents.host.add(TOOL, Lane.WRITE)
    desk: Any = agents.desk
    replaced = cast("dict[str, Any]", vars(services))
    replaced.update(
        approvals=Approvals(
            journal=agents.journal, pipeline=agents.pipeline, desk=desk, hiding=agents.hiding
        ),
        grants=Grants(platform=services.platform, policies=agents.policy),
        candidates=Candidates(
            journal=agents.journal,
            desk=desk,
            ingest=replace(services.ingest_document, objects=InMemoryObjects()),
        ),
        remember_step=RememberStep(
            browse=services.investigations,
            desk=desk,
            graph=services.memory_graph.bound_to,
            redact=services.investigation_parts.redacted,
            clock=utc_now,
        ),
    )
    return agents


def question(agents: Agents, body: str = "Ada cannot sign in.", **changes: Any) -> UUID:
    """Return the id of a question that waits for a person."""
    investigation_id = agents.begin(body, **changes)
    assert agents.work(investigation_id).state is State.WAITING_APPROVAL
    return agents.pending().id
