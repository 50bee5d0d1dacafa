"""The rules: what they merge, flag, link, file and relate, the same in any order of input."""

from dataclasses import replace
from datetime import timedelta
from random import Random
from uuid import UUID

import pytest
from tests.unit.consolidation.batches import NOON, PUBLIC, batch, memory, near, of, texts

from cairn.consolidation.checks import checked
from cairn.consolidation.heuristic import MAX_LINKS, HeuristicPlanner
from cairn.consolidation.plan import (
    Add,
    AddEntity,
    Batch,
    Clash,
    EntityName,
    Flag,
    Link,
    Pair,
    Plan,
    Recategorise,
    Relate,
)
from cairn.graph.edge import Relation
from cairn.graph.node import KnowledgeCategory
from cairn.memories.kinds import MemoryKind

A, B, C = (UUID(int=number) for number in (1, 2, 3))
PLANNER = HeuristicPlanner()
MIXED = (
    "The ferry takes 40 minutes.",
    "The ferry takes 55 minutes.",
    "Ida booked the boat for Sunday.",
    "The boat was booked by Ida for Sunday.",
    "On Sunday, the boat was booked by Ida.",
    "Ida books the boat often.",
    "The server is backed up to the API database each night.",
    "Acme uses Next.js.",
    "The pump in hall 2 is noisy.",
    "the pump in hall 2 is noisy",
)


def planned(given: Batch, cosine: float = 0.95) -> Plan:
    return checked(PLANNER.plan(given, near(given, cosine)), given)


def test_the_same_in_other_words_is_merged_into_the_fullest_text() -> None:
    long = "The boat was booked by Ida for Sunday. It is red."
    (add,) = of(planned(texts("Ida booked the boat for Sunday.", long)).operations, Add)
    assert add.text == long
    assert add.sources == (A, B)


def test_equal_texts_are_merged_without_a_vector() -> None:
    given = texts("The hut has a stove.", "the hut has a stove")
    assert of(checked(PLANNER.plan(given, []), given).operations, Add)


def test_three_that_say_the_same_become_one() -> None:
    found = planned(texts(*MIXED[2:5])).operations
    assert [item.sources for item in of(found, Add)] == [(A, B, C)]


def test_a_plan_does_not_depend_on_the_order_of_its_input() -> None:
    given = texts(*MIXED)
    first = PLANNER.plan(given, near(given))
    for seed in range(20):
        chance = Random(seed)
        memories = chance.sample(given.memories, len(given.memories))
        pairs = [Pair(one=pair.other, other=pair.one, cosine=pair.cosine) for pair in near(given)]
        turned = replace(given, memories=tuple(memories))
        assert PLANNER.plan(turned, chance.sample(pairs, len(pairs))) == first


def test_whatever_the_rules_propose_passes_the_checks() -> None:
    given = texts(*MIXED)
    proposed = PLANNER.plan(given, near(given))
    found = checked(proposed, given)
    assert not found.refused
    assert len(found.operations) == len(proposed.operations)
    kinds = {type(operation) for operation in found.operations}
    assert kinds >= {Add, Flag, Link, Recategorise, Relate}


@pytest.mark.parametrize(
    "other",
    [
        {"audience": PUBLIC},
        {"client_id": "acme"},
        {"kind": MemoryKind.DECISION},
    ],
)
def test_memories_of_different_readers_clients_or_kinds_stay_apart(
    other: dict[str, object],
) -> None:
    given = batch(memory(1), memory(2, **other))
    assert not of(planned(given).operations, Add)


def test_events_are_linked_and_neither_merged_nor_flagged() -> None:
    given = batch(
        memory(1, "The ferry to Oslo took 40 minutes.", kind=MemoryKind.EVENT),
        memory(2, "The ferry to Oslo took 55 minutes.", kind=MemoryKind.EVENT),
    )
    found = planned(given).operations
    assert [type(item) for item in found] == [Link]


def test_facts_of_two_keys_are_not_merged() -> None:
    given = batch(memory(1, key="a"), memory(2, key="b"))
    assert not of(planned(given).operations, Add)


def test_contradictions_are_flagged_and_not_merged() -> None:
    (flag,) = of(planned(texts(*MIXED[:2])).operations, Flag)
    assert (flag.one, flag.other, flag.clash) == (A, B, Clash.NUMBER)


def test_what_stopped_before_the_other_began_does_not_contradict_it() -> None:
    later = NOON + timedelta(days=9)
    given = batch(memory(1, MIXED[0], valid_to=later), memory(2, MIXED[1], valid_from=later))
    assert not of(planned(given).operations, Flag)


def test_far_memories_are_left_alone() -> None:
    assert not planned(texts(*MIXED[2:4]), cosine=0.6).operations


def test_who_speaks_and_what_everybody_says_link_nothing() -> None:
    lines = [f"Ida: hey, good talk, I give it a try with item{number}." for number in range(10)]
    both = ["Ida: we tune the old cello.", "Ida: good, the cello needs a new string to tune."]
    (link,) = of(planned(texts(*lines, *both), 0.85).operations, Link)
    assert link.description == "Both speak of cello, tune."


def test_links_say_what_both_speak_of_and_are_few() -> None:
    given = texts(*(f"The pump of hall {number} needs oil and care." for number in range(1, 9)))
    found = of(planned(given, 0.85).operations, Link)
    assert found[0].description == "Both speak of care, hall, pump, oil."
    for each in given.memories:
        assert sum(each.id in link.memories for link in found) <= MAX_LINKS


def test_memories_known_before_are_compared_with_new_ones_only() -> None:
    given = batch(memory(1, known=True), memory(2, known=True), memory(3, "The hut has a stove!"))
    found = planned(given).operations
    assert [item.sources for item in of(found, Add)] == [(A, B, C)]
    old = replace(given, memories=given.memories[:2])
    assert not planned(old).operations


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("The brand palette and the logo are blue.", KnowledgeCategory.BRAND),
        ("The DNS server moved to other hosting.", KnowledgeCategory.TECHNICAL),
        ("In the meeting we agreed on the minutes.", KnowledgeCategory.MEETING),
        ("The newsletter had a new headline.", KnowledgeCategory.CONTENT),
        ("The campaign targets a new market.", KnowledgeCategory.STRATEGY),
        ("Ida prefers a phone call from her contact.", KnowledgeCategory.RELATIONSHIP),
    ],
)
def test_general_memories_are_filed_by_their_words(text: str, category: KnowledgeCategory) -> None:
    (found,) = of(planned(texts(text)).operations, Recategorise)
    assert found.category is category
    filed = batch(memory(1, text, knowledge_category=KnowledgeCategory.MEETING))
    assert not of(planned(filed).operations, Recategorise)


def test_memories_whose_words_point_nowhere_stay_general() -> None:
    assert not planned(texts("The sea was calm.")).operations


CLIENT = EntityName(name="acme-corp", type="client")


@pytest.mark.parametrize(
    ("text", "relation", "source", "target"),
    [
        ("Acme Widgets uses Next.js.", Relation.USES, "Acme Widgets", "Next.js"),
        ("We use PostgreSQL for orders.", Relation.USES, "acme-corp", "PostgreSQL"),
        ("Priya Shah is the main contact at Norwind Lines.", Relation.CONTACT_OF, "Priya Shah",
         "Norwind Lines"),
        ("The main contact at Norwind Lines is Priya Shah.", Relation.CONTACT_OF, "Priya Shah",
         "Norwind Lines"),
        ("Hugo Lind works on Project Halyard.", Relation.WORKS_ON, "Hugo Lind", "Project Halyard"),
        ("Brisa Air competes with Norwind Lines.", Relation.COMPETITOR_OF, "Brisa Air",
         "Norwind Lines"),
        ("site-a.com and site-b.com have the same owner.", Relation.SAME_OWNER, "site-a.com",
         "site-b.com"),
    ],
)  # fmt: skip
def test_relationships_are_taken_from_plain_sentences(
    text: str, relation: Relation, source: str, target: str
) -> None:
    given = batch(memory(1, text, client_id="acme-corp"))
    (found,) = of(planned(given).operations, Relate)
    assert (found.relation, found.source.name, found.target.name) == (relation, source, target)


@pytest.mark.parametrize(
    "text",
    [
        "Acme Widgets does not use Next.js.",
        "Does Acme Widgets use Next.js?",
        "Acme Widgets might use Next.js.",
        "Acme Widgets used Next.js until May.",
        "If Acme Widgets uses Next.js, tell us.",
    ],
)
def test_nothing_is_related_by_a_doubtful_sentence(text: str) -> None:
    assert not of(planned(texts(text)).operations, Relate)


def test_a_relationship_is_as_strong_as_it_is_often_said() -> None:
    given = texts("Acme Widgets uses Next.js.", "In April Acme Widgets uses Next.js a lot.")
    (found,) = of(planned(given, 0.1).operations, Relate)
    assert (found.strength, found.memories) == (2, (A, B))


def test_other_names_are_taken_where_a_text_gives_them() -> None:
    given = texts("Norwind Lines, also known as NWL, moved.")
    (found,) = of(planned(given).operations, AddEntity)
    assert (found.entity.name, found.aliases) == ("Norwind Lines", ("NWL",))


def test_the_plan_says_what_it_leaves_to_a_model() -> None:
    found = planned(texts("Ida rows to Bergen.", "Olaf sails to Bergen."))
    assert any("near pairs were not merged" in item for item in found.undone)
    assert (found.provider, found.cost_usd) == ("heuristic", 0)
