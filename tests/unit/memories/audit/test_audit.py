"""The audit of memories: each problem is found with an example; what only looks alike is not."""

import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.support.embedding import HashingEmbedder

from cairn.cli.audit_memory import apart
from cairn.memories.audit import audit as audit_memory
from cairn.memories.audit import pairs as audit_pairs
from cairn.memories.audit.audit import KEPT_CHARS, MemoryAudit
from cairn.memories.audit.records import AuditReport, Finding, MemoryRecord, Problem

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def record(number: int, text: str, **changes: Any) -> MemoryRecord:
    given = {"id": f"m{number}", "recorded_at": NOON + timedelta(minutes=number)}
    return MemoryRecord(text=text, **(given | changes))


def report(*texts: str | MemoryRecord, **options: Any) -> AuditReport:
    audit = MemoryAudit(apart=apart, **options)
    for number, one in enumerate(texts):
        audit.add(record(number, one) if isinstance(one, str) else one)
    return audit.report()


def every_finding(audit: MemoryAudit) -> dict[str, tuple[Finding, ...]]:
    """All findings of an audit, not just the first few."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(audit_memory, "EXAMPLES", 10_000)
        return {name: one.examples for name, one in audit.report().problems.items()}


def found(told: AuditReport, problem: Problem) -> list[tuple[str, ...]]:
    return [example.records for example in told.problems[problem].examples]


def test_a_near_duplicate_is_the_younger_one() -> None:
    told = report(
        "The harbour crane opens every morning at nine",
        "Every morning the harbour crane opens at nine",
        "The bakery sells bread",
    )
    assert told.problems[Problem.NEAR_DUPLICATE].count == 1
    assert found(told, Problem.NEAR_DUPLICATE) == [("m0", "m1")]
    assert told.compared_by == "words"


def test_with_an_embedder_what_is_near_by_vector_is_a_duplicate() -> None:
    embedder = HashingEmbedder()
    told = report(
        "the crane opens at nine", "at nine the crane opens", embed=embedder.embed,
        compared_by="hashing",
    )  # fmt: skip
    assert found(told, Problem.NEAR_DUPLICATE) == [("m0", "m1")]


def test_memories_of_different_audiences_are_never_compared() -> None:
    told = report(
        record(0, "The harbour crane opens at nine", audience="acme"),
        record(1, "The harbour crane opens at nine", audience="globex"),
    )
    assert not any(problem.count for problem in told.problems.values())


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("The contract ends in May 2027", "The contract ends in May 2028", "date"),
        ("The crane costs 20 euros an hour", "The crane costs 30 euros an hour", "number"),
        ("The API supports batch writes", "The API does not support batch writes", "negation"),
    ],
)
def test_facts_that_cannot_both_hold_contradict_each_other(one: str, other: str, why: str) -> None:
    told = report(one, other)
    assert found(told, Problem.CONTRADICTION) == [("m0", "m1")]
    assert told.problems[Problem.CONTRADICTION].examples[0].why.startswith(why)
    assert told.problems[Problem.NEAR_DUPLICATE].count == 0


def test_what_differs_in_a_number_and_may_both_hold_is_neither() -> None:
    told = report("Ticket 4512 was closed on Monday", "Ticket 4513 was closed on Monday")
    assert told.problems[Problem.CONTRADICTION].count == 0
    assert told.problems[Problem.NEAR_DUPLICATE].count == 0


def test_on_labelled_pairs_duplicates_are_precise_and_contradictions_mostly() -> None:
    path = Path(__file__).parents[4] / "samples" / "consolidation" / "pairs.json"
    labelled: dict[str, list[list[str]]] = json.loads(path.read_text(encoding="utf-8"))
    audit = MemoryAudit(apart=apart)
    for label, pairs in labelled.items():
        for number, texts in enumerate(pairs):
            for at, text in enumerate(texts[:2]):
                one = record(at, text, id=f"{label} {number} {at}", audience=f"{label} {number}")
                audit.add(one)
    with_all = every_finding(audit)
    same = Counter(item.records[0].split()[0] for item in with_all[Problem.NEAR_DUPLICATE])
    clash = Counter(item.records[0].split()[0] for item in with_all[Problem.CONTRADICTION])
    right = same["exact"] + same["paraphrase"]
    assert right >= 80
    assert right / same.total() >= 0.95
    assert clash["contradiction"] >= 35
    assert clash["contradiction"] / clash.total() >= 0.9


def test_events_happen_beside_each_other() -> None:
    told = report(
        record(0, "The crane lifted 20 tonnes of cargo", kind="event"),
        record(1, "The crane lifted 30 tonnes of cargo", kind="event"),
    )
    assert told.problems[Problem.CONTRADICTION].count == 0


def test_two_active_memories_of_one_key_contradict_each_other() -> None:
    told = report(
        record(0, "Acme runs on Rails", chain="stack"),
        record(1, "Bread is baked daily", chain="stack"),
    )
    assert found(told, Problem.CONTRADICTION) == [("m0", "m1")]


def test_a_sentence_many_memories_restate_is_boilerplate() -> None:
    footer = "This message was sent by the automatic reporting system."
    told = report(*(f"Berth number {n} is free. {footer}" for n in "ABCDE"), "A lone memory")
    assert told.problems[Problem.BOILERPLATE].count == 5
    assert "automatic reporting" in told.problems[Problem.BOILERPLATE].examples[0].why


def test_secrets_are_named_by_kind_and_masked_in_every_example() -> None:
    secret = "ghp_" + "a1B2" * 9
    told = report(f"The deploy token is {secret}", f"Deploy with the token {secret} always")
    assert told.problems[Problem.SECRET].count == 2
    assert secret not in repr(told)
    assert "[REDACTED:" in repr(told)


@pytest.mark.parametrize(
    "text",
    [
        "Relevant memories: Ada likes tea",
        "[Memory] (0199aaaa-0000-7000-8000-000000000000) (0.91) Ada likes tea",
        '<source cite="memory:1" type="Memory"><text>Ada likes tea</text></source>',
        "Ada --[LIKES]--> tea",
        "Based on my memory, Ada likes tea",
    ],
)
def test_the_output_of_a_recall_that_went_in_again_is_a_loop(text: str) -> None:
    assert report(text).problems[Problem.LOOP].count == 1


def test_agents_that_say_the_same_in_turns_are_a_loop_and_one_that_agrees_is_not() -> None:
    def said(*agents: str) -> int:
        records = (record(n, "Ada likes tea", source=one) for n, one in enumerate(agents))
        return report(*records).problems[Problem.LOOP].count

    assert said("a", "b", "a") == 3
    assert said("a", "b") == 0
    assert said("a", "a", "b") == 0


def test_a_memory_that_holds_all_of_an_older_one_is_a_loop() -> None:
    older = "The harbour of Lille opens its gates every day at nine"
    told = report(older, f"The user asked about opening times and learned: {older}.")
    assert found(told, Problem.LOOP) == [("m0", "m1")]


def test_what_is_not_active_is_not_compared() -> None:
    told = report(
        record(0, "The crane opens at nine", active=False), record(1, "The crane opens at nine")
    )
    assert told.problems[Problem.NEAR_DUPLICATE].count == 0
    assert told.records == 2


def test_beyond_the_limit_records_are_counted_and_said_to_be_left_out() -> None:
    told = report("one fact here", "another fact here", "third fact", most_records=2)
    assert (told.records, told.left_out) == (3, 1)


def test_texts_are_kept_shortened_and_secrets_found_behind_the_cut() -> None:
    secret = "ghp_" + "a1B2" * 9
    long = "word " * KEPT_CHARS + secret
    told = report(long)
    assert told.problems[Problem.SECRET].count == 1
    assert all(len(text) <= 160 for problem in told.problems.values()
               for example in problem.examples for text in example.texts)  # fmt: skip


def test_pairs_looked_at_grow_with_the_memories_and_not_with_their_square() -> None:
    asked: list[int] = []

    def embed(texts: Sequence[str]) -> Any:
        asked.append(len(texts))
        return HashingEmbedder().embed(texts)

    records = [record(n, f"the crane number {n % 7} lifted box {n}") for n in range(600)]
    bags = [frozenset(record.text.split()) for record in records]
    pairs = list(audit_pairs._candidates(records, bags))  # pyright: ignore[reportPrivateUsage]
    most = 600 * audit_pairs.RARE_WORDS * audit_pairs.BLOCK_NEIGHBOURS
    assert len(pairs) <= most < 600 * 599 // 2
    audit_pairs.alike(records, embed)
    assert sum(asked) <= 600


def test_other_texts_are_looked_through_for_secrets_only() -> None:
    audit = MemoryAudit()
    audit.add(record(0, "The crane opens at nine"))
    audit.scan("chunk", "The crane opens at nine; password=hunter2hunter2")
    audit.scan("event", "ok thanks")
    told = audit.report()
    assert (told.records, told.scanned) == (1, 2)
    assert told.problems[Problem.SECRET].share == round(1 / 3, 4)
    assert told.problems[Problem.NEAR_DUPLICATE].count == 0
    assert told.problems[Problem.BOILERPLATE].count == 0


def test_a_report_says_which_problems_are_above_a_share() -> None:
    told = report("ok thanks", "The crane opens at nine", "Bread is baked daily", "Ada likes tea")
    assert told.above(20) == [Problem.BOILERPLATE]
    assert told.above(25) == []


def test_an_empty_store_has_no_problems() -> None:
    told = MemoryAudit().report()
    assert told.records == 0
    assert told.above(0) == []
