"""Which memories make a batch, and what is left of a plan when some may no longer be touched."""

from dataclasses import replace
from uuid import UUID

from tests.unit.consolidation.batches import memory, plan

from cairn.consolidation.apply import without_memories, without_merges
from cairn.consolidation.batching import KNOWN, composed
from cairn.consolidation.plan import (
    BATCH_SIZE,
    Add,
    AddEntity,
    Clash,
    EntityName,
    Flag,
    Link,
    Pair,
    Recategorise,
    Supersede,
)
from cairn.graph.node import KnowledgeCategory


def ids(*numbers: int) -> tuple[UUID, ...]:
    return tuple(UUID(int=number) for number in numbers)


def pair(one: int, other: int, cosine: float = 0.9) -> Pair:
    return Pair(one=UUID(int=one), other=UUID(int=other), cosine=cosine)


def numbers(members: object) -> list[int]:
    return [member.id.int for member in members]  # type: ignore[attr-defined]


def test_what_is_near_stands_beside_what_it_is_near_to() -> None:
    new = [memory(1), memory(2), memory(3)]
    outside = [memory(9, known=True)]
    assert numbers(composed(new, [pair(1, 3), pair(2, 9)], outside)) == [1, 3, 2, 9]


def test_a_batch_is_never_larger_and_always_begins_with_a_new_memory() -> None:
    new = [memory(n) for n in range(1, 51)]
    outside = [memory(n, known=True) for n in range(100, 200)]
    near = [pair(n, 99 + 2 * n + at) for n in range(1, 51) for at in (0, 1)]
    members = composed(new, near, outside)
    assert len(members) == BATCH_SIZE
    assert members[0].id.int == 1
    assert sum(member.known for member in members) <= BATCH_SIZE * KNOWN / (KNOWN + 1) + 1


def test_few_that_were_consolidated_before_come_with_one_and_all_that_were_not() -> None:
    outside = [memory(n, known=n < 20) for n in (10, 11, 12, 13, 21, 22, 23)]
    near = [pair(1, one.id.int, 1 - at / 100) for at, one in enumerate(outside)]
    assert numbers(composed([memory(1)], near, outside)) == [1, 10, 11, 21, 22, 23]


def test_a_pair_with_what_cannot_be_read_is_no_reason_to_fail() -> None:
    assert numbers(composed([memory(1)], [pair(1, 77)], [])) == [1]


MERGE = Add(ref="a", text="one", sources=ids(1, 2))
REPLACES = Supersede(by="a", sources=ids(1, 2))
FLAG = Flag(one=UUID(int=2), other=UUID(int=3), clash=Clash.NUMBER, why="2 or 3")
LINK = Link(memories=ids(4, 5, 6), description="the same hut")
NAMED = AddEntity(entity=EntityName(name="Hut", type="place"), memories=ids(1, 6))
KIND = Recategorise(memory=UUID(int=6), category=KnowledgeCategory.TECHNICAL)


def test_a_plan_nothing_happened_to_stays_as_it_is() -> None:
    whole = plan(MERGE, REPLACES, FLAG)
    cut = without_memories(whole, ())
    assert (cut.plan, cut.gone, cut.dropped) == (whole, frozenset(), 0)


def test_what_was_to_be_merged_with_a_memory_that_is_gone_waits_with_it() -> None:
    cut = without_memories(plan(MERGE, REPLACES, LINK, KIND), ids(1))
    assert cut.plan.operations == (LINK, KIND)
    assert cut.gone == frozenset(ids(1, 2))
    assert cut.dropped == 2


def test_partners_of_partners_wait_too() -> None:
    cut = without_memories(plan(MERGE, REPLACES, FLAG), ids(3))
    assert cut.plan.operations == ()
    assert cut.gone == frozenset(ids(1, 2, 3))


def test_links_and_entities_keep_those_who_are_left() -> None:
    cut = without_memories(plan(LINK, NAMED), ids(1, 4))
    assert cut.plan.operations == (
        replace(LINK, memories=ids(5, 6)),
        replace(NAMED, memories=ids(6)),
    )
    assert without_memories(plan(LINK), ids(4, 5)).plan.operations == ()


def test_a_merge_that_exists_goes_with_what_it_would_replace() -> None:
    assert without_merges(plan(MERGE, REPLACES, FLAG), {"a"}).operations == (FLAG,)
    assert without_merges(plan(MERGE, REPLACES), {"b"}).operations == (MERGE, REPLACES)
