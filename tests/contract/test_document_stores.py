"""The stores of documents, ingestions and vectors: what holds for the fake and PostgreSQL alike."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
import pytest
from tests.support.embedding import HASHING, HashingEmbedder
from tests.support.ingesting import Documents
from tests.support.platform import platform_of
from tests.support.remembering import NOON, Remembering, admin_of, fact

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.documents.ports import DocumentStatus, StoredParts, Upload
from cairn.enrichment.enrich import NewEmbedding, text_hash
from cairn.enrichment.ports import TextVectors
from cairn.kernel.access import Role, Scope
from cairn.kernel.access.system import system_principal
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id
from cairn.memories.delete import DeleteMemory
from cairn.memories.kinds import MemoryKind

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

    from cairn.embedding.port import Vectors

MODEL = replace(HASHING, id=1)  # a model the database knows, with as many dimensions
HUT = "# Hut\n\nWords about the hut.\n\n## Beds\n\nThere are twelve beds.\n"


@pytest.fixture(params=["in memory", "postgres"])
def system(request: pytest.FixtureRequest) -> Iterator[Documents]:
    if request.param == "in memory":
        yield Documents(embedder=HashingEmbedder(MODEL))
        return
    database: Database = request.getfixturevalue("database")
    name = f"contract-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    pool = Pool(database.app_url, size=2)
    yield Documents(
        transactions=StoreTransactions(pool),
        principal=admin_of(workspace_id),
        embedder=HashingEmbedder(MODEL),
    )
    pool.close()


def parts(system: Documents, document_id: UUID) -> StoredParts:
    with system.transactions.reading(system.principal) as stores:
        found = stores.documents.parts(document_id)
    assert found is not None
    return found


def shape(found: StoredParts) -> dict[str, Any]:
    """Return what of the parts does not depend on their ids."""
    return {
        "sections": [(section.ordinal, section.headings) for section in found.sections],
        "chunks": [(chunk.ordinal, chunk.headings) for chunk in found.chunks],
        "edges": sorted(edge.relation for edge in found.edges),
        "chunk_places": [found.places[chunk.id] for chunk in found.chunks],
        "parents": [found.parents[section.id] for section in found.sections],
    }


def vector(seed: int) -> "Vectors":
    row = np.zeros(MODEL.dimensions, dtype=np.float32)
    row[seed] = 1.0
    return row


def test_the_parts_of_a_document_are_read_back_in_order(system: Documents) -> None:
    document_id = UUID(system.ingest(HUT)["document_id"])
    assert shape(parts(system, document_id)) == {
        "sections": [(0, ("Hut",)), (1, ("Hut", "Beds"))],
        "chunks": [(0, ("Hut",)), (1, ("Hut", "Beds"))],
        "edges": ["FOLLOWS", "PART_OF", "PART_OF", "PART_OF", "PART_OF"],
        "chunk_places": [(3, 3, None, None), (7, 7, None, None)],
        "parents": [document_id] * 2,
    }


def test_the_same_source_again_changes_the_same_parts(system: Documents) -> None:
    first = system.ingest(HUT)
    document_id = UUID(first["document_id"])
    before = parts(system, document_id)
    second = system.ingest(HUT.replace("twelve", "ten"))
    after = parts(system, document_id)
    assert second["document_id"] == first["document_id"]
    counts = [second[f"chunks_{name}"] for name in ("added", "kept", "removed")]
    assert counts == [1, 1, 1]
    assert [section.id for section in after.sections] == [section.id for section in before.sections]
    assert after.chunks[0].id == before.chunks[0].id
    assert after.chunks[1].id != before.chunks[1].id
    assert len(after.edges) == len(before.edges)


def test_a_deleted_document_comes_back_with_its_parts(system: Documents) -> None:
    document_id = UUID(system.ingest(HUT)["document_id"])
    before = parts(system, document_id)
    deleted = system.delete(system.principal, document_id)
    assert deleted.nodes == 5
    gone = parts(system, document_id)
    assert gone.document.deleted_at is not None
    assert [chunk.id for chunk in gone.chunks] == [chunk.id for chunk in before.chunks]
    system.ingest(HUT)
    back = parts(system, document_id)
    assert back.document.deleted_at is None
    assert [chunk.id for chunk in back.chunks] == [chunk.id for chunk in before.chunks]
    assert [section.id for section in back.sections] == [section.id for section in before.sections]


def test_a_place_is_known_to_have_a_document_also_when_that_was_deleted(system: Documents) -> None:
    kept = system.send(
        HUT, source_uri="ticket:desk/1/file-1", media_type="text/markdown"
    ).document_id
    system.delete(system.principal, kept)
    with system.transactions.reading(system_principal(system.principal.workspace_id)) as stores:
        found = stores.documents.at(["ticket:desk/1/file-1", "ticket:desk/1/file-2"])
    assert found == {"ticket:desk/1/file-1"}


def test_a_document_is_seen_by_who_may_see_it(system: Documents) -> None:
    tagged = system.send(HUT, agents=("cook",)).document_id
    free = system.send(HUT).document_id
    cook = replace(system.principal, role=Role.AGENT, agent_slug="cook")
    public = replace(system.principal, allowed_scopes=frozenset({Scope.PUBLIC}))
    for principal, seen in (
        (system.principal, {tagged, free}),
        (cook, {tagged}),
        (public, set[UUID]()),
    ):
        with system.transactions.reading(principal) as stores:
            found = {item for item in (tagged, free) if stores.documents.visible(item)}
        assert found == seen


def test_an_ingestion_moves_on_until_it_has_ended(system: Documents) -> None:
    accepted = system.send(HUT)
    one = accepted.ingestion_id
    with system.transactions.writing(system.principal) as stores:
        stores.ingestions.advance(one, DocumentStatus.PARSED, NOON, counts={"blocks": 3})
        stores.ingestions.advance(one, DocumentStatus.CHUNKED, NOON, counts={"chunks": 2})
        stores.ingestions.advance(one, DocumentStatus.READY, NOON)
        stores.ingestions.advance(one, DocumentStatus.FAILED, NOON, error={"reason": "x"})
    with system.transactions.reading(system.principal) as stores:
        found = stores.ingestions.find(one)
        assert stores.ingestions.find(new_id()) is None
        assert stores.ingestions.entry(found).id == stores.ingestions.entry(found).id
        assert stores.ingestions.entry(found).type == "document.received"
    assert (found.status, found.error) == (DocumentStatus.READY, None)
    assert found.counts == {"blocks": 3, "chunks": 2}


def test_the_newest_ingestion_of_a_source_is_known(system: Documents) -> None:
    older, newer = system.send(HUT), system.send(HUT)
    other = system.send(HUT, source_uri="https://example.org/other.md")
    with system.transactions.reading(system.principal) as stores:
        newest = {
            item.ingestion_id: stores.ingestions.is_newest(
                stores.ingestions.find(item.ingestion_id)
            )
            for item in (older, newer, other)
        }
    assert newest == {
        older.ingestion_id: False,
        newer.ingestion_id: True,
        other.ingestion_id: True,
    }


def test_batches_wait_until_their_vectors_are_stored(system: Documents) -> None:
    accepted = system.send(HUT)
    ids = system.workspace_id, accepted.ingestion_id
    system.steps.parse(*ids)
    system.steps.chunk(*ids)
    batches = system.steps.store(*ids)["batches"]
    assert batches == [0, 2]
    assert system.enrich.batch(*ids, 0) == 2
    with system.transactions.reading(system.principal) as stores:
        assert list(stores.ingestions.batches(accepted.ingestion_id)) == [2]
        assert stores.outbox.find_batch(accepted.ingestion_id, 0) is None
        assert stores.outbox.find_batch(accepted.ingestion_id, 2) is not None
    assert system.enrich.batch(*ids, 0) == 0


def test_an_upload_belongs_to_who_announced_it(system: Documents) -> None:
    upload = Upload(id=new_id(), size=7, media_type="text/plain", expires_at=NOON)
    other = replace(system.principal, principal_id=new_id())
    with system.transactions.writing(system.principal) as stores:
        stores.uploads.add(upload, NOON)
    with system.transactions.reading(system.principal) as stores:
        assert stores.uploads.find(upload.id) == upload
    with system.transactions.reading(other) as stores:
        assert stores.uploads.find(upload.id) is None


def test_vectors_of_texts_are_cached_by_model(system: Documents) -> None:
    one, other = text_hash("one"), text_hash("other")
    with system.transactions.writing(system.principal) as stores:
        stores.embeddings.cache(TextVectors({one: vector(3)}), MODEL.id, NOON)
        for first, tokens in ((5, b"first"), (6, b"second")):  # the first of each stays
            texts = TextVectors({one: vector(first)}, {one: tokens})
            stores.embeddings.cache(texts, MODEL.id, NOON)
    with system.transactions.reading(system.principal) as stores:
        cached = stores.embeddings.cached({one, other}, MODEL.id)
        assert not stores.embeddings.cached({one}, 2).vectors
    assert set(cached.vectors) == {one}
    assert abs(cached.vectors[one] - vector(3)).max() < 1e-3
    assert cached.tokens == {one: b"first"}


def test_messages_are_enriched_with_the_two_before_nearest_first(system: Documents) -> None:
    memories = Remembering(
        transactions=system.transactions, principal=system.principal, keys=system.keys
    )
    told = [
        memories.tell_one(fact(text, type=MemoryKind.EVENT, session_id="s", sequence=n))
        for n, text in enumerate(("one", "two", "three", "four"))
    ]
    other = memories.tell_one(fact("alone"))
    deleted = DeleteMemory(platform_of(system.transactions, dispatcher=system.sent))
    wanted = [item.id for item in (*told, other) if item.id]
    with system.transactions.reading(system.principal) as stores:
        found = {item.text: item.context for item in stores.embeddings.enrichable(wanted)}
    assert found == {
        "one": (),
        "two": ("one",),
        "three": ("two", "one"),
        "four": ("three", "two"),
        "alone": (),
    }
    deleted(system.principal, wanted[2])
    with system.transactions.reading(system.principal) as stores:
        found = {item.text: item.context for item in stores.embeddings.enrichable(wanted)}
    assert found["four"] == ("two", "one")
    assert "three" not in found


def test_storing_vectors_twice_is_storing_them_once(system: Documents) -> None:
    memories = Remembering(
        transactions=system.transactions, principal=system.principal, keys=system.keys
    )
    made = memories.tell_one(fact("a"))
    assert made.id is not None
    for vectors in ([vector(1), vector(2)], [vector(3)]):
        with system.transactions.writing(system.principal) as stores:
            row = NewEmbedding(node_id=made.id, vectors=vectors)
            stores.embeddings.store([row], MODEL.id, made.position or 1)
    with system.transactions.writing(system.principal) as stores:
        stores.outbox.failed([row.id for row in memories.sent.rows], "embedder-down")
        assert [row.id for row in stores.outbox.find([row.id for row in memories.sent.rows])]
        stores.outbox.done([row.id for row in memories.sent.rows])
        assert not list(stores.outbox.find([row.id for row in memories.sent.rows]))
