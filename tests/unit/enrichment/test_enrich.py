"""Vectors for what was written: the cache first, neighbours pooled, safe to be asked twice."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from tests.fakes.stores import Tables
from tests.support.embedding import HASHING, HashingEmbedder
from tests.support.platform import platform_of
from tests.support.remembering import Remembering, fact, in_memory

from cairn.enrichment.enrich import Enrich
from cairn.kernel.access import Principal
from cairn.kernel.errors import Unavailable
from cairn.kernel.stores import Stores
from cairn.kernel.transaction import LedgerBusy, PreparingTransactions
from cairn.memories.delete import DeleteMemory
from cairn.memories.items import NewMemory
from cairn.memories.kinds import MemoryKind


@pytest.fixture
def system() -> Remembering:
    return in_memory()


@pytest.fixture
def embedder() -> HashingEmbedder:
    return HashingEmbedder()


@pytest.fixture
def enrich(system: Remembering, embedder: HashingEmbedder) -> Enrich:
    return enriching(system, embedder)


def enriching(
    system: Remembering, embedder: HashingEmbedder, transactions: Any = None, **changes: Any
) -> Enrich:
    platform = platform_of(transactions or system.transactions, keys=system.keys)
    return Enrich(platform=platform, embedder=embedder, **changes)


def tables(system: Remembering) -> Tables:
    return system.transactions.workspaces[system.principal.workspace_id]


def work_off(system: Remembering, enrich: Enrich) -> int:
    return enrich.rows(system.principal.workspace_id, list(tables(system).outbox))


def message(text: str, sequence: int) -> NewMemory:
    return fact(text, type=MemoryKind.EVENT, session_id="s", sequence=sequence)


def test_a_memory_gets_its_vector_and_its_row_goes(
    system: Remembering, enrich: Enrich, embedder: HashingEmbedder
) -> None:
    made = system.tell_one(fact("the stove burns pellets"))
    assert work_off(system, enrich) == 1
    position, (vector,) = tables(system).embeddings[made.id, HASHING.id]
    assert position == made.position
    assert np.allclose(vector, embedder.embed(["the stove burns pellets"])[0])
    assert not tables(system).outbox


def test_enriching_is_an_entry_that_names_model_and_nodes_only(
    system: Remembering, enrich: Enrich
) -> None:
    made = system.tell_one(fact("the stove burns pellets"))
    work_off(system, enrich)
    entry = tables(system).entries[-1]
    assert entry.type == "node.enriched"
    assert entry.meta == {"model": HASHING.name, "node_ids": [str(made.id)]}


def test_rows_worked_off_already_are_nothing_to_do(
    system: Remembering, enrich: Enrich, embedder: HashingEmbedder
) -> None:
    system.tell(fact("a"))
    rows = list(tables(system).outbox)
    workspace_id = system.principal.workspace_id
    assert enrich.rows(workspace_id, rows) == 1
    entries, calls = len(tables(system).entries), len(embedder.calls)
    assert enrich.rows(workspace_id, rows) == 0
    assert (len(tables(system).entries), len(embedder.calls)) == (entries, calls)


def test_a_text_seen_before_is_not_embedded_again(
    system: Remembering, enrich: Enrich, embedder: HashingEmbedder
) -> None:
    system.tell(fact("the stove burns pellets"))
    work_off(system, enrich)
    system.tell(fact("the stove burns pellets", client_id="acme"), fact("another"))
    assert work_off(system, enrich) == 2
    assert embedder.calls == [["the stove burns pellets"], ["another"]]


def test_a_message_is_pooled_with_the_two_before_it(
    system: Remembering, enrich: Enrich, embedder: HashingEmbedder
) -> None:
    made = system.tell(*(message(text, n) for n, text in enumerate(("one", "two", "three"))))
    work_off(system, enrich)
    one, two, three = embedder.embed(["one", "two", "three"])
    expected = three + 0.5 * two + 0.5 * one
    _, (vector,) = tables(system).embeddings[made[2].id, HASHING.id]
    assert np.allclose(vector, expected / np.linalg.norm(expected), atol=1e-6)
    _, (first,) = tables(system).embeddings[made[0].id, HASHING.id]
    assert np.allclose(first, one)


def test_a_late_message_changes_the_vectors_after_it_without_embedding_them_again(
    system: Remembering, enrich: Enrich, embedder: HashingEmbedder
) -> None:
    system.tell(message("one", 1))
    third = system.tell_one(message("three", 3))
    work_off(system, enrich)
    before = tables(system).embeddings[third.id, HASHING.id]
    system.tell(message("two", 2))
    assert work_off(system, enrich) == 2
    after = tables(system).embeddings[third.id, HASHING.id]
    assert not np.allclose(before[1][0], after[1][0])
    assert embedder.calls[-1] == ["two"]


def test_deleting_a_message_takes_it_out_of_the_vectors_after_it(
    system: Remembering, enrich: Enrich, embedder: HashingEmbedder
) -> None:
    first, second = system.tell(message("one", 1), message("two", 2))
    work_off(system, enrich)
    delete = DeleteMemory(platform_of(system.transactions, dispatcher=system.sent))
    delete(system.principal, first.id)
    assert system.sent.rows[-1].node_ids == (second.id,)
    assert work_off(system, enrich) == 1
    _, (vector,) = tables(system).embeddings[second.id, HASHING.id]
    assert np.allclose(vector, embedder.embed(["two"])[0])


def test_a_deleted_memory_gets_no_vector_and_its_row_goes(
    system: Remembering, enrich: Enrich
) -> None:
    made = system.tell_one(fact("a"))
    delete = DeleteMemory(platform_of(system.transactions, dispatcher=system.sent))
    delete(system.principal, made.id)
    assert work_off(system, enrich) == 0
    assert not tables(system).outbox
    assert not tables(system).embeddings


def test_when_the_embedder_is_down_the_row_stays_with_the_reason(
    system: Remembering, enrich: Enrich, embedder: HashingEmbedder
) -> None:
    system.tell(fact("a"))
    embedder.failures = [Unavailable("no answer", reason="embedder-down")]
    with pytest.raises(Unavailable):
        work_off(system, enrich)
    assert list(tables(system).failed.values()) == ["embedder-down"]
    assert not tables(system).embeddings
    assert work_off(system, enrich) == 1
    assert not tables(system).outbox


def test_an_older_message_does_not_undo_a_newer_vector(system: Remembering, enrich: Enrich) -> None:
    third = system.tell_one(message("three", 3))
    late = dict(tables(system).outbox)
    system.tell(message("two", 2))
    newest = [row for row in tables(system).outbox if row not in late]
    enrich.rows(system.principal.workspace_id, newest)
    position = tables(system).embeddings[third.id, HASHING.id][0]
    enrich.rows(system.principal.workspace_id, list(late))
    assert tables(system).embeddings[third.id, HASHING.id][0] == position


@dataclass
class Busy:
    """Transactions whose ledger is held by others for the first `refusals` writes."""

    inner: PreparingTransactions[Stores]
    refusals: int

    def reading(
        self, principal: Principal, *, timeout_ms: int | None = None
    ) -> AbstractContextManager[Stores]:
        return self.inner.reading(principal, timeout_ms=timeout_ms)

    def writing(
        self, principal: Principal, *, once: str | None = None
    ) -> AbstractContextManager[Stores]:
        return self.inner.writing(principal, once=once)

    @contextmanager
    def preparing(self, principal: Principal) -> Generator[tuple[Stores, Callable[[], None]]]:
        with self.inner.preparing(principal) as (stores, _):
            yield stores, self._hold

    def _hold(self) -> None:
        self.refusals -= 1
        if self.refusals >= 0:
            raise LedgerBusy(retry_after=1.0)


def test_vectors_wait_for_the_ledger_and_are_not_made_again(
    system: Remembering, embedder: HashingEmbedder
) -> None:
    made = system.tell_one(fact("the stove burns pellets"))
    pauses: list[float] = []
    enrich = enriching(
        system,
        embedder,
        transactions=Busy(system.transactions, refusals=3),
        pause=pauses.append,
    )
    assert work_off(system, enrich) == 1
    assert (made.id, HASHING.id) in tables(system).embeddings
    assert (len(embedder.calls), len(pauses)) == (1, 3)


def test_a_ledger_that_stays_busy_leaves_the_rows_for_later(
    system: Remembering, embedder: HashingEmbedder
) -> None:
    system.tell_one(fact("the stove burns pellets"))
    enrich = enriching(
        system,
        embedder,
        transactions=Busy(system.transactions, refusals=99),
        pause=lambda _: None,
    )
    with pytest.raises(Unavailable):
        work_off(system, enrich)
    assert tables(system).outbox
