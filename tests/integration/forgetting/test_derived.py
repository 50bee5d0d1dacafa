"""What was derived of the forgotten goes or is cleared; what it had replaced stands again."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from tests.support.forgetting import CANARY, Stand, open_stand
from tests.support.graph import Graphing
from tests.support.platform import platform_of

from cairn.adapters.postgres.database import Database as Pool
from cairn.compaction.compact import Compact
from cairn.compaction.compact import Target as Length
from cairn.compaction.session import KeepBriefing
from cairn.conversations.messages import MessageRole
from cairn.conversations.transcript import NewTranscript, NewTurn, RecordTranscript
from cairn.forgetting.forget import Target
from cairn.forgetting.ports import Reason
from cairn.graph.edge import Edge, Relation, View
from cairn.graph.node import NodeChange, State
from cairn.graph.projection import Projection
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def pool(database: "Database") -> Iterator[Pool]:
    pool = Pool(database.app_url, size=4)
    yield pool
    pool.close()


@pytest.fixture
def stand(database: "Database", pool: Pool) -> Stand:
    return open_stand(database, pool)


def derive(stand: Stand, made: UUID, *sources: UUID) -> None:
    """Say that a node was made of others, as merges and summaries do."""
    with stand.forget_stores.writing(stand.principal) as stores:
        position = stores.ledger.head().position
        edges = tuple(
            Edge(
                workspace_id=stand.workspace_id,
                id=new_id(),
                view=View.PROVENANCE,
                relation=Relation.DERIVED_FROM,
                source_id=made,
                target_id=source,
                valid_from=NOON,
                recorded_at=NOON,
                position=position,
            )
            for source in sources
        )
        stores.nodes.apply([Projection(edges=edges)])


def supersede(stand: Stand, old: UUID, by: UUID) -> None:
    with stand.forget_stores.writing(stand.principal) as stores:
        change = NodeChange(
            workspace_id=stand.workspace_id,
            id=old,
            position=stores.ledger.head().position,
            state=State.SUPERSEDED,
            superseded_by=by,
            superseded_at=NOON,
            consolidated=True,
        )
        stores.nodes.apply([Projection(nodes=(change,))])


def state_of(stand: Stand, node_id: UUID) -> str | None:
    with stand.forget_stores.writing(stand.principal) as stores:
        found = stores.graph_nodes.find([node_id]).get(node_id)
    return found.state if found else None


def test_a_kept_briefing_goes_with_anybody_who_was_in_the_conversation(stand: Stand) -> None:
    platform = platform_of(stand.forget_stores, keys=stand.keys)
    compact = Compact(record=RecordTranscript(platform), count_tokens=lambda text: len(text))
    said = [
        NewTurn(role=MessageRole.USER, sender=sender, text=f"My tent {number} stands in {CANARY}.")
        for number, sender in enumerate(["Ines", "Mara"] * 20)
    ]
    transcript = NewTranscript(session_id="hut", messages=tuple(said))
    made = compact(stand.principal, transcript, Length(tokens=300))
    kept = KeepBriefing(platform)(stand.principal, made)
    assert kept is not None

    def shown() -> str | None:
        with stand.forget_stores.reading(stand.principal) as stores:
            node = stores.node_views.node(kept)
        return node.text if node else None

    assert shown() == made.summary
    stand.forgets("Mara", "person")
    assert shown() is None


def test_summaries_of_summaries_go_with_what_they_are_of(stand: Stand) -> None:
    graph = Graphing(stand.system)
    told = stand.tell(f"{CANARY} said so")
    summary = graph.note(f"In short: {CANARY}")
    above = graph.note(f"Shorter: {CANARY}")
    derive(stand, summary, told)
    derive(stand, above, summary)
    done = stand.forgets()
    assert stand.proof(done).clean
    assert {state_of(stand, item) for item in (told, summary, above)} == {None}


def test_what_a_dropped_merge_had_replaced_stands_again_and_may_be_merged_anew(
    stand: Stand, database: "Database"
) -> None:
    graph = Graphing(stand.system)
    source = f"https://example.org/{CANARY}.md"
    document = UUID(stand.documents.ingest("# A\n\nText.", source_uri=source)["document_id"])
    kept = stand.tell("kept", client="other")
    merged = graph.note(f"{CANARY} merged")
    derive(stand, merged, document, kept)
    supersede(stand, kept, merged)
    stand.forget(stand.principal, Target(source=source), Reason.REQUEST)
    assert (state_of(stand, merged), state_of(stand, kept)) == (None, "active")
    with database.connect_as_superuser() as connection:
        merging = connection.execute("SELECT consolidated FROM node WHERE id = %s", (kept,))
        assert merging.fetchone() == (False,)


def test_what_was_compiled_about_an_entity_is_cleared_in_the_past_too(stand: Stand) -> None:
    graph = Graphing(stand.system)
    told = stand.tell(f"{CANARY} owns the Redis cluster")
    entity = graph.entity("Redis", "technology")
    graph.compile(stand.principal, entity, f"Owned by {CANARY}.")
    graph.compile(stand.principal, entity, f"Owned by {CANARY} for long.")
    derive(stand, entity, told)
    done = stand.forgets()
    found = {place.place for place in stand.proof(done).places if place.found}
    assert found == set()
    assert state_of(stand, entity) == "active"
