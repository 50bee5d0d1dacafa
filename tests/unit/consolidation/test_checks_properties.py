"""Whatever a planner proposes, what passes its checks loses nothing and mixes nobody's memories."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.consolidation.batches import ADMINS, PUBLIC, batch, memory, of, plan

from cairn.consolidation.checks import checked
from cairn.consolidation.merge_checks import MERGEABLE, same_audience
from cairn.consolidation.plan import (
    MAX_OPERATIONS,
    Add,
    Batch,
    Clash,
    Flag,
    Link,
    Operation,
    Recategorise,
    Supersede,
)
from cairn.consolidation.tokens import NOT, difference, tokens
from cairn.graph.node import KnowledgeCategory
from cairn.memories.kinds import MemoryKind

SAID = "the hut has 5 20 beds not never open closed Ida Olaf Monday Tuesday May 12 mg kg in"
KEPT = {"5", "20", "not", "never", "Monday", "Tuesday", "12"}
WORDS = st.sampled_from(SAID.split())
TEXTS = st.lists(WORDS, min_size=1, max_size=9).map(" ".join)
IDS = st.integers(min_value=1, max_value=8).map(lambda number: UUID(int=number))
REFS = st.sampled_from(["a", "b", "c", str(UUID(int=1)), str(UUID(int=2))])
PAIRS = st.lists(IDS.filter(lambda item: item.int < 7), min_size=2, max_size=3, unique=True).map(
    tuple
)
SOURCES = st.lists(IDS, max_size=4).map(tuple)
WILD = st.text(max_size=20)


@st.composite
def batches(draw: st.DrawFn) -> Batch:
    """Mostly facts for admins that draw on two texts, so that some of them may be merged."""
    said = draw(st.lists(TEXTS, min_size=2, max_size=2))
    worded = st.sampled_from([*said, *said, said[0] + " in the hut", said[1] + " 20 kg"])
    return batch(
        *(
            memory(
                number,
                draw(worded),
                audience=draw(st.sampled_from([*[ADMINS] * 9, PUBLIC])),
                kind=draw(st.sampled_from([*[MemoryKind.FACT] * 20, *MemoryKind])),
                client_id=draw(st.sampled_from([*["global"] * 9, "acme"])),
                key=draw(st.sampled_from([*[None] * 9, "k", "l"])),
                known=draw(st.integers(0, 4)) == 0,
                knowledge_category=draw(st.sampled_from(KnowledgeCategory)),
            )
            for number in range(1, 7)
        )
    )


@st.composite
def operations(draw: st.DrawFn, of_batch: Batch) -> list[Operation]:
    """Half of what is proposed is sound in form, so that some of it passes."""
    found: list[Operation] = []
    held = st.sampled_from([memory.text for memory in of_batch.memories])
    for at in range(draw(st.integers(0, 5))):
        ref = draw(st.one_of(st.just(f"m{at}"), REFS))
        text = draw(st.one_of(held, held, held, TEXTS, WILD))
        alike = [
            memory.id for memory in of_batch.memories if memory.text in text or text in memory.text
        ]
        sources = draw(st.one_of(*[st.just(tuple(alike[:3]))] * 2, SOURCES))
        kind = draw(st.sampled_from([*[MemoryKind.FACT] * 9, *MemoryKind]))
        found.append(Add(ref=ref, text=text, sources=sources, kind=kind))
        replaced = draw(st.one_of(*[st.just(sources)] * 4, SOURCES))
        found.append(Supersede(by=ref, sources=replaced))
    for _ in range(draw(st.integers(0, 3))):
        clash, why = draw(st.sampled_from(Clash)), draw(WILD)
        found.append(Flag(one=draw(IDS), other=draw(IDS), clash=clash, why=why))
        found.append(Link(memories=draw(SOURCES), description=draw(WILD)))
        category = draw(st.sampled_from(KnowledgeCategory))
        found.append(Recategorise(memory=draw(IDS), category=category))
    return draw(st.permutations(found))


@st.composite
def proposals(draw: st.DrawFn) -> tuple[Batch, list[Operation]]:
    made = draw(batches())
    return made, draw(operations(made))


def adds(found: Sequence[Operation]) -> list[Add]:
    return list(of(found, Add))


@settings(max_examples=120)
@given(proposals())
def test_no_merge_that_passes_loses_a_number_or_a_negation(
    proposal: tuple[Batch, list[Operation]],
) -> None:
    made, wanted = proposal
    memories = {memory.id: memory for memory in made.memories}
    for add in adds(checked(plan(*wanted), made).operations):
        merged = tokens(add.text)
        for source in add.sources:
            held = tokens(memories[source].text)
            assert all(merged.counted.get(one, 0) >= n for one, n in held.counted.items())
            assert held.names <= merged.words
        counts = {tokens(memories[source].text).counted.get(NOT, 0) for source in add.sources}
        assert len(counts) == 1


@settings(max_examples=120)
@given(st.lists(WORDS, min_size=2, max_size=9), st.data())
def test_a_text_without_one_of_its_numbers_or_negations_never_replaces_it(
    said: list[str], data: st.DataObject
) -> None:
    text = " ".join(["Huts", *said, "5", "never"])
    dropped = data.draw(st.sampled_from([at for at, one in enumerate(said) if one in KEPT] or [-2]))
    words = text.split()
    del words[dropped + 1 if dropped >= 0 else dropped]
    made = batch(memory(1, text), memory(2, text))
    merge = Add(ref="m", text=" ".join(words), sources=(UUID(int=1), UUID(int=2)))
    supersede = Supersede(by="m", sources=merge.sources)
    assert not adds(checked(plan(merge, supersede), made).operations)


@settings(max_examples=120)
@given(proposals())
def test_what_passes_stays_within_one_audience_client_kind_and_key(
    proposal: tuple[Batch, list[Operation]],
) -> None:
    made, wanted = proposal
    memories = {memory.id: memory for memory in made.memories}
    for operation in checked(plan(*wanted), made).operations:
        match operation:
            case Add(sources=ids) | Link(memories=ids):
                together = [memories[id_] for id_ in ids]
            case Flag(one=first, other=second):
                together = [memories[first], memories[second]]
            case Recategorise(memory=id_, category=category):
                assert memories[id_].knowledge_category is KnowledgeCategory.GENERAL
                assert category is not KnowledgeCategory.GENERAL
                continue
            case _:
                continue
        assert len(together) >= 2
        assert all(same_audience(each.audience, together[0].audience) for each in together)
        assert len({each.client_id for each in together}) == 1
        assert not all(each.known for each in together)
        if isinstance(operation, Add):
            assert {each.kind for each in together} == {operation.kind} <= MERGEABLE
            assert len({each.key for each in together} - {None}) <= 1
            texts = [tokens(each.text) for each in together]
            assert not any(difference(a, b) for a in texts for b in texts)


@settings(max_examples=120)
@given(proposals())
def test_nothing_is_superseded_twice_or_in_a_circle(
    proposal: tuple[Batch, list[Operation]],
) -> None:
    made, wanted = proposal
    found = checked(plan(*wanted), made).operations
    replaced = Counter(id_ for item in of(found, Supersede) for id_ in item.sources)
    assert all(count == 1 for count in replaced.values())
    assert {item.by: item.sources for item in of(found, Supersede)} == {
        add.ref: add.sources for add in adds(found)
    }
    by = {str(id_): item.by for item in of(found, Supersede) for id_ in item.sources}
    for start in by:
        at, steps = start, 0
        while at in by and steps <= len(by):
            at, steps = by[at], steps + 1
        assert steps <= len(by)


@settings(max_examples=80)
@given(proposals())
def test_checking_a_checked_plan_changes_nothing_and_order_does_not_matter(
    proposal: tuple[Batch, list[Operation]],
) -> None:
    made, wanted = proposal
    first = checked(plan(*wanted), made)
    again = checked(first, made)
    assert again.operations == first.operations
    assert not again.refused
    turned = replace(made, memories=made.memories[::-1])
    assert checked(plan(*wanted), turned).operations == first.operations
    assert len(first.operations) <= MAX_OPERATIONS
