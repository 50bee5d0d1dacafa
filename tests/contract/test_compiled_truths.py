"""What is held true of entities."""

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from tests.support.remembering import NOON, fact
from tests.support.summarising import (
    Summarising,
    summarising_in_postgres,
)

from cairn.memories.kinds import MemoryKind
from cairn.summaries.ports import EntityState

if TYPE_CHECKING:
    from tests.plugins.postgres import Database


@pytest.fixture
def holding(database: "Database") -> Iterator[Summarising]:
    yield from summarising_in_postgres(database)


def tell(holding: Summarising, entity: UUID, text: str, **changes: Any) -> UUID:
    """Remember a fact that refers to an entity."""
    outcome = holding.system.tell_one(fact(text, **changes))
    assert outcome.id is not None
    role = changes.get("role", "about")
    holding.graph.relate(outcome.id, "REFERENCES", entity, properties={"role": role})
    return outcome.id


def truth(holding: Summarising, entity: UUID) -> EntityState:
    with holding.system.transactions.reading(holding.system.principal) as stores:
        found = stores.summaries.entity(entity)
    assert found is not None
    return found


def test_what_facts_and_statuses_say_is_held_true(holding: Summarising) -> None:
    entity = holding.graph.entity("Redis", "technology")
    first = tell(holding, entity, "Redis runs in version 8", importance=4)
    second = tell(
        holding, entity, "Redis is degraded.", type=MemoryKind.STATUS, subject="redis", importance=8
    )
    tell(holding, entity, "Redis was restarted.", type=MemoryKind.EVENT)
    assert holding.run() == {"truths": 1}
    found = truth(holding, entity)
    assert found.compiled_truth == "Redis is degraded. Redis runs in version 8."
    assert holding.targets(entity, "DERIVED_FROM") == {first, second}
    assert holding.targets(entity, "SUMMARIZES") == set()
    told = found.metadata["cairn"]["truth"]
    assert (told["provider"], told["is_extract"], told["sources"]) == ("heuristic", True, 2)
    assert holding.run() == {"unchanged": 1}


def test_a_truth_follows_its_sources(holding: Summarising) -> None:
    entity = holding.graph.entity("Redis", "technology")
    old = tell(holding, entity, "Redis runs in version 7.", key="redis version")
    other = tell(holding, entity, "Redis keeps the sessions.")
    holding.run()
    later = NOON + timedelta(days=1)
    new = tell(holding, entity, "Redis runs in version 8.", key="redis version", occurred_at=later)
    assert holding.run() == {"truths": 1}
    found = truth(holding, entity)
    assert "version 8" in (found.compiled_truth or "")
    assert "version 7" not in (found.compiled_truth or "")
    assert holding.targets(entity, "DERIVED_FROM") == {new, other}
    assert old not in holding.targets(entity, "DERIVED_FROM")


def test_a_truth_goes_when_nothing_says_it_any_more(holding: Summarising) -> None:
    entity = holding.graph.entity("Redis", "technology")
    told = [tell(holding, entity, f"Redis has {n} replicas in zone {n}.") for n in (2, 3)]
    holding.run()
    for item in told:
        holding.delete(holding.system.principal, item)
    assert holding.run() == {"dropped": 1}
    found = truth(holding, entity)
    assert (found.compiled_truth, found.metadata) == (None, {})
    assert holding.targets(entity, "DERIVED_FROM") == set()
    assert holding.run() == {}


def test_a_truth_that_somebody_wrote_stays(holding: Summarising) -> None:
    entity = holding.graph.entity("Redis", "technology")
    holding.graph.compile(holding.system.principal, entity, "Ask Ines before touching it.")
    for n in (2, 3):
        tell(holding, entity, f"Redis has {n} replicas in zone {n}.")
    assert holding.run() == {"unchanged": 1}
    assert truth(holding, entity).compiled_truth == "Ask Ines before touching it."


def test_a_truth_that_somebody_wrote_over_ours_stays(holding: Summarising) -> None:
    entity = holding.graph.entity("Redis", "technology")
    tell(holding, entity, "Redis has 2 replicas.")
    tell(holding, entity, "Redis keeps the sessions.")
    holding.run()
    holding.graph.compile(holding.system.principal, entity, "Ask Ines before touching it.")
    tell(holding, entity, "Redis is on port 6379.")
    assert holding.run() == {"unchanged": 1}
    assert truth(holding, entity).compiled_truth == "Ask Ines before touching it."


@pytest.mark.parametrize(
    "changes",
    [{"client_id": "acme"}, {"data_subjects": ("Ines Roth",)}, {"agents": ("bot",)}],
    ids=["client", "person", "agent"],
)
def test_what_is_of_another_audience_is_not_held_true_of_it(
    holding: Summarising, changes: dict[str, Any]
) -> None:
    entity = holding.graph.entity("Redis", "technology")
    for n in (2, 3):
        tell(holding, entity, f"Redis has {n} replicas in zone {n}.", **changes)
    assert holding.run() == {}
    assert truth(holding, entity).compiled_truth is None


def test_what_an_agent_said_is_not_about_the_agent(holding: Summarising) -> None:
    entity = holding.graph.entity("bot", "agent")
    for n in (2, 3):
        outcome = holding.system.tell_one(fact(f"There are {n} zones in region {n}."))
        assert outcome.id is not None
        holding.graph.relate(outcome.id, "REFERENCES", entity, properties={"role": "source"})
    assert holding.run() == {}


def test_a_truth_is_a_few_sentences(holding: Summarising) -> None:
    entity = holding.graph.entity("Redis", "technology")
    said = [
        tell(
            holding,
            entity,
            f"Redis node {n} " + "serves many requests " * 12,
            importance=n + 1,
        )
        for n in range(9)
    ]
    assert holding.run() == {"truths": 1}
    held = truth(holding, entity).compiled_truth or ""
    assert len(held.split()) <= 120
    cited = holding.targets(entity, "DERIVED_FROM")
    assert cited < set(said)
    assert len(cited) == 3


def test_a_replay_gives_the_same_truth(holding: Summarising) -> None:
    entity = holding.graph.entity("Redis", "technology", properties_note="x")
    told = [tell(holding, entity, f"Redis has {n} replicas in zone {n}.") for n in (2, 3, 4)]
    holding.run()
    holding.delete(holding.system.principal, told[0])
    holding.run()
    node = holding.nodes()[entity]
    found = truth(holding, entity)
    assert (node.compiled_truth, dict(node.metadata)) == (found.compiled_truth, found.metadata)


def test_the_entity_waits_for_the_embed_stage(holding: Summarising) -> None:
    entity = holding.graph.entity("Redis", "technology")
    for n in (2, 3):
        tell(holding, entity, f"Redis has {n} replicas in zone {n}.")
    holding.run()
    assert holding.system.sent.rows[-1].node_ids == (entity,)
