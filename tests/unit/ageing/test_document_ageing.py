"""Documents nobody used: archived whole; whole again when a part is used or the source comes."""

from collections import Counter
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from tests.support.ingesting import Documents
from tests.support.platform import platform_of
from tests.support.remembering import NOON

from cairn.ageing import cleanup
from cairn.ageing.cleanup import Cleanup
from cairn.ageing.rules import ageing_meta
from cairn.graph.node import State
from cairn.kernel.ids import new_id
from cairn.ledger.entry import NewEntry
from cairn.writing.append import SYSTEM, append
from cairn.writing.entries import Planned
from cairn.writing.writer import open_write

DAY = timedelta(days=1)
TEXT = "# Harbour\n\nThe harbour opens at six.\n\n# Crane\n\nThe crane lifts twenty tonnes.\n"


@pytest.fixture
def documents() -> Documents:
    made = Documents()
    made.ingest(TEXT)
    return made


def clean(documents: Documents, now: datetime) -> int:
    use_case = Cleanup(platform_of(documents.transactions, clock=lambda: now))
    return use_case(documents.workspace_id, seconds=60)["archived"]


def states(documents: Documents) -> Counter[State]:
    labels = ("Document", "Section", "Chunk")
    return Counter(node.state for node in documents.tables.nodes.values() if node.label in labels)


def use(documents: Documents, node_id: UUID, at: datetime) -> None:
    """What counting a search does: the access, and what it brings back."""
    entry = NewEntry(
        id=new_id(),
        workspace_id=documents.workspace_id,
        type="memory.accessed",
        actor=SYSTEM,
        occurred_at=at,
        meta={"counts": {str(node_id): 1}},
    )
    with documents.transactions.writing(documents.principal) as stores:
        append(stores, [Planned(entry=entry, body={})], at, new_id)
    platform = platform_of(documents.transactions, clock=lambda: at)
    with open_write(platform, documents.principal) as write:
        back = write.stores.ageing.archived([node_id])
        write.note("node.restored", ageing_meta("used", back))


def test_after_180_days_a_document_is_archived_with_all_its_parts(documents: Documents) -> None:
    parts = states(documents).total()
    assert clean(documents, NOON + 179 * DAY) == 0
    assert clean(documents, NOON + 181 * DAY) == parts
    assert states(documents) == {State.ARCHIVED: parts}
    assert clean(documents, NOON + 400 * DAY) == 0


def test_a_part_that_was_used_keeps_the_whole_document(documents: Documents) -> None:
    chunk = next(iter(documents.found().values()))
    use(documents, chunk.id, NOON + 100 * DAY)
    assert clean(documents, NOON + 200 * DAY) == 0
    assert clean(documents, NOON + 281 * DAY) == states(documents).total()


def test_using_one_part_brings_the_whole_document_back(documents: Documents) -> None:
    clean(documents, NOON + 181 * DAY)
    chunk = next(iter(documents.found().values()))
    use(documents, chunk.id, NOON + 182 * DAY)
    assert set(states(documents)) == {State.ACTIVE}


def test_the_same_source_ingested_again_brings_it_back_with_its_ids(
    documents: Documents,
) -> None:
    ids = {item.id for item in documents.found().values()}
    clean(documents, NOON + 181 * DAY)
    documents.ingest(TEXT)
    assert set(states(documents)) == {State.ACTIVE}
    assert {item.id for item in documents.found().values()} == ids


def test_a_document_goes_in_small_steps_its_own_row_last(
    documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cleanup, "PAGE", 2)
    before = len(documents.tables.entries)
    parts = clean(documents, NOON + 181 * DAY)
    written = documents.tables.entries[before:]
    named = [item.meta["node_ids"] for item in written if item.type == "node.archived"]
    assert [len(item) for item in named] == [2] * (parts // 2) + [1] * (parts % 2)
    last = UUID(named[-1][-1])
    assert documents.tables.nodes[last].label == "Document"
