"""A document through the machine, and the same source again: what stays, comes and goes."""

from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

import pytest
from tests.support.ingesting import URI, Documents

from cairn.documents.ports import DocumentStatus, NewDocument
from cairn.graph.node import Label
from cairn.kernel.access import Principal, Role, Scope
from cairn.kernel.errors import Conflict, Denied, NotFound, Unavailable, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.ledger.verify import verify
from cairn.writing.items import IdempotencyKey

FIRST = """# Hut

Opening words about the hut.

## Beds

There are twelve beds.

## Stove

The stove burns pellets.
"""
CHANGED = FIRST.replace("twelve", "fourteen")
MOVED = """# Hut

Opening words about the hut.

## Stove

The stove burns pellets.

## Beds

There are twelve beds.
"""

PARTS = (Label.DOCUMENT, Label.SECTION, Label.CHUNK)


@pytest.fixture
def system() -> Documents:
    return Documents()


def test_a_document_becomes_sections_and_chunks_that_hang_together(system: Documents) -> None:
    stored = system.ingest(FIRST)
    (document,) = system.found(Label.DOCUMENT).values()
    sections, chunks = system.found(Label.SECTION), list(system.found().values())
    assert (stored["sections"], stored["chunks"]) == (len(sections), len(chunks)) == (3, 3)
    assert document.source_uri == URI
    assert {section.parent_id for section in sections.values()} == {document.id}
    ordered = sorted(chunks, key=lambda chunk: chunk.ordinal or 0)
    assert [item.ordinal for item in ordered] == [0, 1, 2]
    assert system.edges("FOLLOWS") == {
        (ordered[1].id, ordered[0].id),
        (ordered[2].id, ordered[1].id),
    }
    assert {target for _, target in system.edges("PART_OF")} == {
        document.id,
        *(section.id for section in sections.values()),
    }


def test_every_part_gets_vectors_and_the_chain_verifies(system: Documents) -> None:
    system.ingest(FIRST)
    found = {item.id for label in PARTS for item in system.found(label).values()}
    assert {node_id for node_id, _ in system.tables.embeddings} == found
    assert not system.tables.outbox
    assert verify(system.tables.entries, workspace_id=system.workspace_id).ok


def test_the_ledger_shows_no_word_of_a_document_in_clear(system: Documents) -> None:
    system.ingest(FIRST, client_id="acme")
    clear = " ".join(entry.meta_text for entry in system.tables.entries)
    assert not any(word in clear for word in ("handbook", "stove", "Hut", "acme"))
    assert all(b"stove" not in entry.body for entry in system.tables.entries)


def test_credentials_in_a_document_are_not_kept(system: Documents) -> None:
    system.ingest("# Access\n\nUse AKIAIOSFODNN7EXAMPLE for the bucket.\n")
    assert all("AKIAIOSFODNN7EXAMPLE" not in text for text in system.found())
    kept = {key: content for key, content in system.objects.held.items() if b"AKIA" in content}
    assert not kept


def test_the_same_document_again_writes_no_part(system: Documents) -> None:
    first = system.ingest(FIRST)
    before = dict(system.tables.nodes)
    again = system.ingest(FIRST)
    assert again["document_id"] == first["document_id"]
    assert (again["chunks_added"], again["chunks_removed"], again["batches"]) == (0, 0, [])
    assert system.tables.nodes == before


def test_a_changed_chunk_is_replaced_and_the_others_keep_their_ids(system: Documents) -> None:
    system.ingest(FIRST)
    before = system.found()
    calls = len(system.embedder.calls)
    stored = system.ingest(CHANGED)
    after = system.found()
    assert (stored["chunks_added"], stored["chunks_kept"], stored["chunks_removed"]) == (1, 2, 1)
    assert after.keys() - before.keys() == {"There are fourteen beds."}
    assert before.keys() - after.keys() == {"There are twelve beds."}
    kept = after.keys() & before.keys()
    assert {after[text].id for text in kept} == {before[text].id for text in kept}
    embedded = [text for call in system.embedder.calls[calls:] for text in call]
    assert "The stove burns pellets." not in embedded


def test_chunks_that_moved_keep_their_ids_and_follow_in_the_new_order(system: Documents) -> None:
    system.ingest(FIRST)
    before = system.found()
    stored = system.ingest(MOVED)
    after = system.found()
    assert stored["chunks_added"] == 0
    assert {text: one.id for text, one in after.items()} == {
        text: one.id for text, one in before.items()
    }
    beds, stove = after["There are twelve beds."], after["The stove burns pellets."]
    assert (stove.ordinal, beds.ordinal) == (1, 2)
    assert (beds.id, stove.id) in system.edges("FOLLOWS")
    assert (stove.id, beds.id) not in system.edges("FOLLOWS")


def test_a_removed_section_goes_with_its_chunks_and_edges(system: Documents) -> None:
    system.ingest(FIRST)
    gone = system.found()["The stove burns pellets."]
    system.ingest(FIRST.split("## Stove")[0])
    assert "Hut > Stove" not in system.found(Label.SECTION)
    assert gone.text not in system.found()
    assert not [
        edge
        for relation in ("FOLLOWS", "PART_OF")
        for edge in system.edges(relation)
        if gone.id in edge
    ]


def test_a_deleted_document_hides_every_part_and_comes_back_with_its_ids(
    system: Documents,
) -> None:
    stored = system.ingest(FIRST)
    before = system.found()
    (document,) = system.found(Label.DOCUMENT).values()
    deleted = system.delete(system.principal, document.id)
    assert deleted.nodes == 1 + stored["sections"] + stored["chunks"]
    assert not any(system.found(label) for label in PARTS)
    again = system.delete(system.principal, document.id)
    assert (again.position, again.nodes) == (deleted.position, deleted.nodes)
    system.ingest(FIRST)
    assert {text: one.id for text, one in system.found().items()} == {
        text: one.id for text, one in before.items()
    }
    assert document.id in {item.id for item in system.found(Label.DOCUMENT).values()}


def test_deleting_what_is_not_there_is_not_found(system: Documents) -> None:
    with pytest.raises(NotFound):
        system.delete(system.principal, new_id())


def test_every_step_may_run_twice_and_adds_nothing(system: Documents) -> None:
    accepted = system.send(FIRST)
    ids = system.workspace_id, accepted.ingestion_id
    for step in (system.steps.parse, system.steps.chunk):
        assert step(*ids) == step(*ids)
    first = system.steps.store(*ids)
    nodes, edges = set(system.tables.nodes), set(system.tables.edges)
    second = system.steps.store(*ids)
    assert (set(system.tables.nodes), set(system.tables.edges)) == (nodes, edges)
    assert second["batches"] == first["batches"]
    assert second["chunks_added"] == 0


def test_a_store_that_died_after_its_first_entry_goes_on_from_there(
    system: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    accepted = system.send(FIRST)
    ids = system.workspace_id, accepted.ingestion_id
    system.steps.parse(*ids)
    system.steps.chunk(*ids)
    written = 0
    writing = system.transactions.writing

    def dying(principal: Principal, *, once: str | None = None) -> AbstractContextManager[Any]:
        nonlocal written
        written += 1
        if written == 2:
            raise KeyboardInterrupt
        return writing(principal, once=once)

    monkeypatch.setattr(system.transactions, "writing", dying)
    with pytest.raises(KeyboardInterrupt):
        system.steps.store(*ids)
    assert len(system.found()) == 3
    assert not system.found(Label.SECTION)
    monkeypatch.undo()
    chunks = {item.id for item in system.found().values()}
    system.run(accepted)
    assert {item.id for item in system.found().values()} == chunks
    assert len(system.found(Label.SECTION)) == 3
    assert {node_id for node_id, _ in system.tables.embeddings} >= chunks


def test_an_older_ingestion_gives_way_to_the_same_source_sent_again(system: Documents) -> None:
    older = system.send(FIRST)
    ids = system.workspace_id, older.ingestion_id
    system.steps.parse(*ids)
    system.steps.chunk(*ids)
    system.ingest(CHANGED)
    with pytest.raises(Conflict) as refused:
        system.steps.store(*ids)
    assert refused.value.reason == "superseded-ingestion"
    assert "There are fourteen beds." in system.found()


def test_a_document_deleted_while_it_is_ingested_stays_deleted(system: Documents) -> None:
    accepted = system.send(FIRST)
    ids = system.workspace_id, accepted.ingestion_id
    system.steps.parse(*ids)
    system.steps.chunk(*ids)
    system.delete(system.principal, accepted.document_id)
    with pytest.raises(Conflict) as refused:
        system.steps.store(*ids)
    assert refused.value.reason == "deleted-meanwhile"
    assert not any(system.found(label) for label in Label)


def test_the_same_source_for_another_audience_is_another_document(system: Documents) -> None:
    one = system.send(FIRST)
    assert system.send(FIRST).document_id == one.document_id
    others = [{"client_id": "acme"}, {"agents": ("cook",)}, {"data_subjects": ("ada",)}]
    documents = {system.send(FIRST, **changes).document_id for changes in others}
    assert len({one.document_id, *documents}) == 4


def test_a_repeat_under_an_idempotency_key_starts_one_ingestion(system: Documents) -> None:
    document = NewDocument(
        source_uri=URI,
        client_id="global",
        scope=Scope.ADMIN,
        content=FIRST.encode(),
    )
    key = IdempotencyKey(key="k", body_hash=b"1")
    first = system.accept(system.principal, document, idempotency=key)
    again = system.accept(system.principal, document, idempotency=key)
    assert (again.ingestion_id, again.replayed) == (first.ingestion_id, True)
    assert len(system.tables.ingestions) == 1


def test_a_finished_ingestion_is_ready_and_ending_it_again_changes_nothing(
    system: Documents,
) -> None:
    accepted = system.send(FIRST)
    system.run(accepted)
    entries = len(system.tables.entries)
    system.finish.succeed(system.workspace_id, accepted.ingestion_id)
    system.finish.fail(system.workspace_id, accepted.ingestion_id, error="x", cause="")
    assert len(system.tables.entries) == entries
    assert system.tables.ingestions[accepted.ingestion_id].status is DocumentStatus.READY


def test_a_failed_ingestion_keeps_the_reason_a_function_gave(system: Documents) -> None:
    accepted = system.send(FIRST)
    cause = '{"errorMessage": "encrypted-pdf: The PDF is encrypted.", "errorType": "x"}'
    ids = system.workspace_id, accepted.ingestion_id
    system.finish.fail(*ids, error="ValidationFailed", cause=cause)
    failed = system.tables.ingestions[accepted.ingestion_id]
    assert failed.status is DocumentStatus.FAILED
    assert failed.error == {
        "error": "ValidationFailed",
        "reason": "encrypted-pdf",
        "detail": "The PDF is encrypted.",
    }
    last = system.tables.entries[-1]
    assert (last.type, last.meta["reason"]) == ("ingestion.failed", "encrypted-pdf")
    assert not system.tables.outbox


@pytest.mark.parametrize("cause", ["", "Execution timed out", "[]", "{}", '{"errorMessage": null}'])
def test_a_cause_that_says_nothing_ends_an_ingestion_all_the_same(
    system: Documents, cause: str
) -> None:
    accepted = system.send(FIRST)
    ids = system.workspace_id, accepted.ingestion_id
    system.finish.fail(*ids, error="States.Timeout", cause=cause)
    error = system.tables.ingestions[accepted.ingestion_id].error or {}
    assert error["reason"] == "States.Timeout"
    assert error["detail"]


def test_ending_an_unknown_ingestion_is_not_found(system: Documents) -> None:
    with pytest.raises(NotFound):
        system.finish.succeed(system.workspace_id, new_id())


def test_a_document_is_embedded_when_the_embedder_is_back(system: Documents) -> None:
    accepted = system.send(FIRST)
    ids = system.workspace_id, accepted.ingestion_id
    system.steps.parse(*ids)
    system.steps.chunk(*ids)
    batches = system.steps.store(*ids)["batches"]
    system.embedder.failures = [Unavailable("The embedder is down.")]
    with pytest.raises(Unavailable):
        system.enrich.batch(*ids, batches[0])
    assert set(system.tables.failed.values()) == {"unavailable"}
    assert system.steps.store(*ids)["batches"] == batches
    assert all(system.enrich.batch(*ids, batch) for batch in batches)
    assert [system.enrich.batch(*ids, batch) for batch in batches] == [0] * len(batches)


def test_what_is_no_document_is_refused_before_anything_is_kept(system: Documents) -> None:
    with pytest.raises(ValidationFailed):
        system.send("not a PDF", media_type="application/pdf")
    with pytest.raises(ValidationFailed):
        system.send(FIRST, source_uri="no-extension")
    assert not system.tables.entries
    assert not system.objects.held


def test_a_public_key_ingests_nothing(system: Documents) -> None:
    public = replace(system.principal, role=Role.PUBLIC)
    document = NewDocument(source_uri=URI, client_id="global", scope=Scope.ADMIN, content=b"x")
    with pytest.raises(Denied):
        system.accept(public, document)
