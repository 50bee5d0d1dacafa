"""What a plan may not do is dropped and counted, whoever proposes it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from tests.unit.consolidation.batches import (
    NOON,
    PUBLIC,
    batch,
    memory,
    merge,
    of,
    plan,
    texts,
)

from cairn.consolidation.checks import MAX_LINKED, checked
from cairn.consolidation.plan import (
    MAX_OPERATIONS,
    Add,
    AddEntity,
    Batch,
    Clash,
    EntityName,
    Flag,
    Link,
    Operation,
    Recategorise,
    Refusal,
    Relate,
    Supersede,
)
from cairn.graph.edge import Relation
from cairn.graph.node import KnowledgeCategory
from cairn.memories.kinds import MemoryKind
from cairn.writing.audience import Audience

A, B, C, D = (UUID(int=number) for number in (1, 2, 3, 4))
STOVE = "the hut has a stove"
ACME, NEXT = EntityName(name="Acme", type="client"), EntityName(name="Next.js", type="technology")


def refused(operations: Sequence[Operation], given: Batch) -> dict[Refusal, int]:
    found = checked(plan(*operations), given)
    assert not of(found.operations, Add)
    return dict(found.refused)


def two(**changes: Any) -> Batch:
    return batch(memory(1), memory(2, **changes))


def test_a_sound_merge_stays() -> None:
    found = checked(plan(*merge(STOVE, 2, 1)), two())
    add, supersede = found.operations
    assert isinstance(add, Add)
    assert isinstance(supersede, Supersede)
    assert add.sources == supersede.sources == (A, B)
    assert not found.refused


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"audience": PUBLIC}, Refusal.AUDIENCE),
        ({"audience": Audience(scope="admin", agents=("x",), data_subjects=())}, Refusal.AUDIENCE),
        ({"audience": Audience(scope="admin", agents=None, data_subjects=(C,))}, Refusal.AUDIENCE),
        ({"client_id": "acme"}, Refusal.CLIENT),
        ({"kind": MemoryKind.STATUS}, Refusal.KIND),
        ({"kind": MemoryKind.EVENT}, Refusal.KIND),
        ({"kind": MemoryKind.DECISION}, Refusal.KIND),
        ({"valid_to": NOON.replace(year=2027)}, Refusal.VALIDITY),
    ],
)
def test_a_merge_of_what_differs_beside_its_text_is_refused(
    other: dict[str, Any], reason: Refusal
) -> None:
    assert refused(merge(STOVE, 1, 2), two(**other)) == {reason: 1}


@pytest.mark.parametrize("kind", [MemoryKind.EVENT, MemoryKind.DECISION])
def test_events_and_decisions_are_never_superseded(kind: MemoryKind) -> None:
    given = batch(memory(1, kind=kind), memory(2, kind=kind))
    assert refused(merge(STOVE, 1, 2, kind=kind), given) == {Refusal.KIND: 1}


@pytest.mark.parametrize("name", ["key", "subject", "status_value"])
def test_memories_of_two_identities_are_never_merged(name: str) -> None:
    given = batch(memory(1, **{name: "a"}), memory(2, **{name: "b"}))
    assert refused(merge(STOVE, 1, 2), given) == {Refusal.IDENTITY: 1}


def test_a_merge_takes_the_key_of_its_source_and_no_other() -> None:
    given = batch(memory(1, key="stove"), memory(2))
    found = checked(plan(*merge(STOVE, 1, 2)), given)
    assert found.operations[0] == replace(merge(STOVE, 1, 2, key="stove")[0], sources=(A, B))
    assert refused(merge(STOVE, 1, 2, key="oven"), given) == {Refusal.IDENTITY: 1}
    assert refused(merge(STOVE, 1, 2, key="oven"), two()) == {Refusal.IDENTITY: 1}


def test_ids_of_other_batches_and_invented_ones_are_refused() -> None:
    assert refused(merge(STOVE, 1, 99), two()) == {Refusal.UNKNOWN_ID: 1}
    assert refused([Flag(one=A, other=UUID(int=99), clash=Clash.DATE, why="x")], two()) == {
        Refusal.UNKNOWN_ID: 1
    }
    unknown = Recategorise(memory=UUID(int=99), category=KnowledgeCategory.BRAND)
    assert refused([unknown], two()) == {Refusal.UNKNOWN_ID: 1}


def test_a_memory_is_in_one_merge_only() -> None:
    given = batch(memory(1), memory(2), memory(3))
    found = checked(plan(*merge(STOVE, 1, 2, ref="a"), *merge(STOVE, 2, 3, ref="b")), given)
    assert [item.sources for item in of(found.operations, Add)] == [(A, B)]
    assert found.refused == {Refusal.USED_TWICE: 1}


def test_one_memory_twice_is_no_merge() -> None:
    assert refused(merge(STOVE, 1, 1), two()) == {Refusal.TOO_FEW: 1}


def test_what_is_superseded_is_what_was_merged() -> None:
    add, _ = merge(STOVE, 1, 2)
    given = batch(memory(1), memory(2), memory(3))
    assert refused([add], given) == {Refusal.SOURCES: 1}
    other = Supersede(by="m", sources=(A, B, C))
    assert refused([add, other], given) == {Refusal.SOURCES: 1}
    assert refused([Supersede(by="x", sources=(A, B))], given) == {Refusal.UNKNOWN_REF: 1}


def test_cycles_of_supersede_are_refused() -> None:
    given = batch(memory(1), memory(2), memory(3), memory(4))
    ring = [*merge(STOVE, 2, 3, ref=str(A)), *merge(STOVE, 1, 4, ref=str(B))]
    assert refused(ring, given) == {Refusal.CYCLE: 2, Refusal.SOURCES: 2}
    own = merge(STOVE, 1, 2, ref=str(A))
    assert refused(own, given) == {Refusal.CYCLE: 1, Refusal.SOURCES: 1}


def test_two_merges_of_one_name_are_one() -> None:
    given = batch(memory(1), memory(2), memory(3), memory(4))
    found = checked(plan(*merge(STOVE, 1, 2), *merge(STOVE, 3, 4)), given)
    assert [item.sources for item in of(found.operations, Add)] == [(A, B)]
    assert found.refused == {Refusal.DUPLICATE_REF: 1, Refusal.REPEATED: 1}


@pytest.mark.parametrize("text", ["", " ", "a\x00b", "a\ud800b", "x" * 32_001])
def test_texts_that_cannot_be_kept_are_refused(text: str) -> None:
    assert refused(merge(text, 1, 2), two()) == {Refusal.TEXT: 1}
    assert refused([Link(memories=(A, B), description=text)], two()) == {Refusal.TEXT: 1}
    flag = Flag(one=A, other=B, clash=Clash.DATE, why=text)
    assert refused([flag], two()) == {Refusal.TEXT: 1}


@pytest.mark.parametrize(
    ("one", "other", "merged", "reason"),
    [
        ("Rent is 900 euros.", "Rent is 900 euros, since May.", "Rent is due.", Refusal.LOST),
        ("Rent is 900 euros.", "Rent is 900 euros.", "Rent is 90 euros.", Refusal.LOST),
        ("He does not smoke.", "He does not smoke.", "He smokes.", Refusal.LOST),
        ("He smokes.", "He smokes.", "He does not smoke.", Refusal.INVENTED),
        ("The hut is Ida's.", "The hut is Ida's.", "The hut is hers.", Refusal.LOST),
    ],
)
def test_a_merge_that_drops_or_adds_a_token_is_refused(
    one: str, other: str, merged: str, reason: Refusal
) -> None:
    assert refused(merge(merged, 1, 2), texts(one, other)) == {reason: 1}


@pytest.mark.parametrize(
    ("one", "other", "clash"),
    [
        ("Rent is 900 euros.", "Rent is 950 euros.", Clash.NUMBER),
        ("The hut opens in May.", "The hut opens in June.", Clash.DATE),
        ("The hut is open.", "The hut is not open.", Clash.NEGATION),
        ("The contact is Ida.", "The contact is Olaf.", Clash.VALUE),
        ("The hut is open today.", "The hut is closed today.", Clash.OPPOSITE),
    ],
)
def test_sources_that_differ_are_flagged_instead_of_merged(
    one: str, other: str, clash: Clash
) -> None:
    found = checked(plan(*merge(f"{one} {other}", 1, 2)), texts(one, other))
    (flag,) = found.operations
    assert isinstance(flag, Flag)
    assert (flag.one, flag.other, flag.clash) == (A, B, clash)
    assert found.refused == {Refusal.CONTRADICTS: 1}


def test_what_a_plan_flags_it_does_not_merge() -> None:
    flag = Flag(one=B, other=A, clash=Clash.MEANING, why="They disagree.")
    found = checked(plan(*merge(STOVE, 1, 2), flag, flag), two())
    assert found.operations == (replace(flag, one=A, other=B),)
    assert found.refused == {Refusal.CONTRADICTS: 1, Refusal.REPEATED: 1}


def test_an_alias_counts_as_its_name_in_a_merge() -> None:
    names = {("admin", None): {"acme": ("Acme Corporation", "client")}}
    given = replace(texts("We like Acme.", "We like Acme Corporation."), aliases=names)
    found = checked(plan(*merge("We like Acme.", 1, 2)), given)
    assert of(found.operations, Add)


def test_links_keep_their_known_memories() -> None:
    given = batch(memory(1), memory(2), memory(3, audience=PUBLIC), memory(4, client_id="acme"))
    found = checked(plan(Link(memories=(B, A, UUID(int=99)), description="huts")), given)
    assert found.operations == (Link(memories=(A, B), description="huts"),)
    assert found.refused == {Refusal.UNKNOWN_ID: 1}
    assert refused([Link(memories=(A, C), description="x")], given) == {Refusal.AUDIENCE: 1}
    assert refused([Link(memories=(A, D), description="x")], given) == {Refusal.CLIENT: 1}
    assert refused([Link(memories=(A,), description="x")], given) == {Refusal.TOO_FEW: 1}


def test_a_link_joins_few() -> None:
    given = batch(*(memory(number) for number in range(1, MAX_LINKED + 2)))
    link = Link(memories=tuple(memory.id for memory in given.memories), description="all")
    assert refused([link], given) == {Refusal.TOO_MANY: 1}


def test_merged_memories_are_not_linked_with_each_other() -> None:
    found = checked(plan(*merge(STOVE, 1, 2), Link(memories=(A, B), description="x")), two())
    assert not of(found.operations, Link)


def test_what_was_looked_at_together_before_is_left_alone() -> None:
    given = batch(memory(1, known=True), memory(2, known=True))
    flag = Flag(one=A, other=B, clash=Clash.DATE, why="x")
    link = Link(memories=(A, B), description="x")
    assert refused([*merge(STOVE, 1, 2), flag, link], given) == {Refusal.REPEATED: 3}


def test_only_general_memories_are_recategorised() -> None:
    given = batch(memory(1, knowledge_category=KnowledgeCategory.BRAND), memory(2))
    brand = Recategorise(memory=A, category=KnowledgeCategory.MEETING)
    general = Recategorise(memory=B, category=KnowledgeCategory.GENERAL)
    sound = Recategorise(memory=B, category=KnowledgeCategory.MEETING)
    found = checked(plan(brand, general, sound, sound), given)
    assert found.operations == (sound,)
    assert found.refused == {Refusal.CATEGORY: 2, Refusal.REPEATED: 1}


def test_relationships_are_of_five_sorts_and_of_what_is_spoken_of() -> None:
    given = texts("Acme uses Next.js.", "Acme pays.")
    uses = Relate(source=ACME, target=NEXT, relation=Relation.USES, memories=(A,), strength=9)
    found = checked(plan(uses), given)
    assert found.operations == (replace(uses, strength=1),)
    assert refused([replace(uses, relation=Relation.CO_OCCURRENCE)], given) == {Refusal.RELATION: 1}
    assert refused([replace(uses, target=ACME)], given) == {Refusal.RELATION: 1}
    rival = EntityName(name="Rival", type="client")
    assert refused([replace(uses, target=rival)], given) == {Refusal.INVENTED: 1}
    assert refused([replace(uses, memories=(UUID(int=99),))], given) == {Refusal.UNKNOWN_ID: 2}


def test_an_alias_is_new_and_stands_in_the_text() -> None:
    names = {("admin", None): {"zed": ("Zeta", "client")}}
    given = replace(texts("Acme, also called AC or zed, pays. The hut."), aliases=names)
    entity = AddEntity(
        entity=ACME, memories=(A,), aliases=("AC", "zed", "the", "Acme", "QQ", "\x00")
    )
    (found,) = checked(plan(entity), given).operations
    assert found == replace(entity, aliases=("AC",))


def test_an_entity_nobody_names_is_refused() -> None:
    rival = AddEntity(entity=EntityName(name="Rival", type="client"), memories=(A,))
    assert refused([rival], two()) == {Refusal.INVENTED: 1}
    odd = AddEntity(entity=EntityName(name="the\x00hut", type="client"), memories=(A,))
    assert refused([odd], two()) == {Refusal.TEXT: 1}


def test_a_plan_holds_so_many_operations_and_no_half_merge() -> None:
    given = batch(*(memory(number) for number in range(1, 2 * MAX_OPERATIONS + 1)))
    wanted: list[Operation] = [
        item
        for number in range(1, MAX_OPERATIONS + 1)
        for item in merge(STOVE, 2 * number - 1, 2 * number, ref=f"m{number}")
    ]
    found = checked(plan(*wanted), given)
    assert len(found.operations) == MAX_OPERATIONS
    assert len(of(found.operations, Add)) == len(of(found.operations, Supersede))
    assert found.refused == {Refusal.TOO_MANY: MAX_OPERATIONS}
