"""Taints over a workspace with one of everything: replayed the same, and gone from every search."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from tests.support.everything import Everything, open_everything
from tests.support.remembering import Remembering, fact
from tests.support.tainting import Tainting

from cairn.adapters.postgres.ledger.replay import PostgresReplays
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.kernel.access.system import system_principal
from cairn.kernel.ids import new_id
from cairn.writing.projectors import project

if TYPE_CHECKING:
    from tests.plugins.postgres import Database


@pytest.fixture(scope="module")
def full(database: "Database") -> Iterator[Everything]:
    everything = open_everything(database)
    everything.fill()
    yield everything
    everything.pool.close()


def tainting(full: Everything) -> Tainting:
    system = Remembering(
        transactions=full.transactions, principal=full.admin, keys=full.keys, sent=full.sent
    )
    return Tainting(system)


def sums(full: Everything) -> dict[str, Any]:
    with PostgresReplays(full.pool).comparing(full.admin) as stores:
        return dict(stores.replica.live_checksums())


def states(full: Everything, document: UUID) -> set[str]:
    """The states of a document and its parts, but for those that were deleted."""
    found = full.rows(
        "SELECT DISTINCT state FROM node WHERE workspace_id = $w AND state <> 'deleted'"
        " AND (id = %s OR document_id = %s)",
        document,
        document,
    )
    return {state for (state,) in found}


def test_a_rebuild_gives_the_same_rows_with_taints_standing_and_lifted(full: Everything) -> None:
    work = tainting(full)
    lifted = work.taint_id("agent", "ranger")
    work.taint_id("agent", "scout", causes=True)
    work.taint_id("session", "talk")
    work.system.tell(fact("Kafka is on fire.", source_agent="scout"))
    work.lift(lifted)
    before = sums(full)
    assert before["taint"].rows == 3 and before["taint_node"].rows >= 5
    done = full.rebuild(full.workspace_id)
    assert [name for name in done.before if done.before[name] != done.after[name]] == []
    assert sums(full) == before


def test_what_is_in_quarantine_is_embedded_no_more_and_again_when_it_is_back(
    full: Everything,
) -> None:
    work = tainting(full)
    taint_id = work.taint_id("agent", "diver")
    told = work.outcome("Corals are animals.", "diver")
    full.embed()
    vectors = "SELECT count(*) FROM embedding WHERE workspace_id = $w AND node_id = %s"
    assert full.rows(vectors, told.id) == [(0,)]
    assert work.lift(taint_id) == 1
    full.embed()
    assert full.rows(vectors, told.id) == [(1,)]


def test_the_past_is_as_it_was(full: Everything) -> None:
    work = tainting(full)
    node = work.tell("Lead floats.", "liar")
    work.taint("agent", "liar")
    found = full.rows(
        "SELECT state, to_position IS NULL FROM node_version WHERE workspace_id = $w AND id = %s"
        " ORDER BY from_position",
        node,
    )
    assert found == [("active", False), ("quarantined", True)]


def test_a_sources_document_goes_out_with_all_its_parts(full: Everything) -> None:
    work = tainting(full)
    [(uri,)] = full.rows(
        "SELECT DISTINCT source_uri FROM node WHERE workspace_id = $w AND label = 'Document'"
        " AND state = 'active' AND source_uri IS NOT NULL ORDER BY source_uri LIMIT 1"
    )
    taint_id = work.taint_id("source", uri)
    [document] = work.taints.get(work.admin, taint_id).taint.roots
    assert states(full, document) == {"quarantined"}
    work.lift(taint_id)
    assert "quarantined" not in states(full, document)


def test_every_entry_of_a_taint_projects_from_itself_alone(full: Everything) -> None:
    work = tainting(full)
    work.tell("Tin is gold.", "faker")
    work.lift(work.taint_id("agent", "faker"))
    with StoreTransactions(full.pool).reading(system_principal(full.workspace_id)) as stores:
        entries = stores.ledger.page(after=0, limit=10_000, type_="taint")
    assert {entry.type for entry in entries} == {"taint.applied", "taint.extended", "taint.lifted"}
    for entry in entries:
        assert project(entry, {}, {}).taints
        assert "faker" not in entry.meta_text and "forged" not in entry.meta_text


def test_another_workspaces_ids_are_not_found(full: Everything, database: "Database") -> None:
    other = open_everything(database)
    try:
        stranger, own = tainting(other), tainting(full)
        node = own.tell("Ours.", "owner")
        taint_id = own.taint_id("node", node)
        for call in (
            lambda: stranger.taint("node", node),
            lambda: stranger.lift(taint_id),
            lambda: stranger.taints.get(stranger.admin, taint_id),
        ):
            with pytest.raises(Exception, match="There is no such"):
                call()
        assert stranger.taints.page(stranger.admin, limit=10, after=None).items == ()
        assert own.states(node) == ["quarantined"]
    finally:
        other.pool.close()


def test_searches_that_returned_tainted_nodes_are_listed(full: Everything) -> None:
    work = tainting(full)
    node, run = work.tell("Sand is sweet.", "sweet"), new_id()
    full.rows(
        "INSERT INTO search_run (workspace_id, id, principal_id, recipe, recorded_at, returned,"
        " candidates, signals, degraded, duration_ms, counts_as_access)"
        " VALUES ($w, %s, %s, 'r', now(), ARRAY[%s]::uuid[], '{}', '{}', '{}', 1, true)",
        run,
        full.admin.principal_id,
        node,
    )
    [seen] = work.taint("agent", "sweet").searches
    assert (seen.search_id, seen.principal_id, seen.node_ids) == (
        run,
        full.admin.principal_id,
        (node,),
    )
