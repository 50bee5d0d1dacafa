"""The index follows the database; drift is seen and mended; a new index takes over."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from tests.support.search_index import Followed, document, followed
from tests.support.world import World, memory, open_world
from typer.testing import CliRunner

from cairn.adapters.opensearch.client import Connection
from cairn.adapters.opensearch.documents import ALIAS
from cairn.adapters.opensearch.indexes import OpenSearchIndexes
from cairn.cli.deps import Deps
from cairn.cli.main import app
from cairn.kernel.clock import monotonic
from cairn.kernel.errors import Unavailable
from cairn.kernel.ids import new_id
from cairn.search_index.check import KeepSearchIndex
from cairn.search_index.sync import (
    EnrichAndIndex,
    FollowDatabase,
    IndexDocument,
    IndexState,
    SyncResult,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.plugins.opensearch import OpenSearch
    from tests.plugins.postgres import Database


@pytest.fixture
def here(database: "Database", opensearch: "OpenSearch") -> Iterator[Followed]:
    world = open_world(database.owner_url, database.app_url, f"keeping-{new_id()}")
    opensearch.clear()
    yield followed(world, opensearch.connection)
    world.pool.close()


@pytest.fixture
def keep(here: Followed) -> KeepSearchIndex:
    return KeepSearchIndex(
        follow=here.follow, workspaces=lambda: [here.world.workspace_id], stopwatch=monotonic
    )


def told(world: World, *texts: str) -> list[UUID]:
    ids = [outcome.id for outcome in world.tell(*(memory(text) for text in texts)).outcomes]
    return [id_ for id_ in ids if id_ is not None]


class Failing(OpenSearchIndexes):
    """An index that takes a number of batches and then nothing more, until it is well again."""

    left = 0

    def write(self, name: str, documents: "Sequence[IndexDocument]") -> SyncResult:
        if self.left == 0:
            raise Unavailable("full", reason="busy")
        object.__setattr__(self, "left", self.left - 1)
        return super().write(name, documents)


def test_what_is_new_is_indexed_once_and_nothing_is_left(here: Followed) -> None:
    told(here.world, "harbour one", "harbour two")
    assert here.catch_up() == 2
    assert here.catch_up() == 0
    told(here.world, "harbour three")
    assert here.catch_up() == 1
    assert len(here.found("harbour")) == 3


@pytest.mark.parametrize("batch", [1, 2, 3, 4])
def test_nodes_of_one_position_are_indexed_whatever_the_batch(
    here: Followed, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    """A document's chunks all change by one ledger position."""
    monkeypatch.setattr("cairn.search_index.sync.BATCH", batch)
    workspace, name = here.world.workspace_id, here.follow.live()
    told(here.world, "harbour a", "harbour b", "harbour c")
    documents = here.source.changed(workspace, (0, new_id()), 10)
    together = [replace(document, position=7) for document in documents]

    class Together:
        reached = 0

        def __getattr__(self, name: str) -> Any:
            return getattr(here.source, name)

        def state(self, *_: object) -> IndexState:
            return IndexState(position=self.reached)

        def changed(
            self, _: UUID, after: tuple[int, UUID], limit: int
        ) -> "Sequence[IndexDocument]":
            ordered = sorted(together, key=lambda item: item.node_id)
            return [item for item in ordered if (7, item.node_id) > after][:limit]

        def advance(self, _: UUID, __: str, position: int, **___: object) -> None:
            self.reached = max(self.reached, position)

    source = Together()
    follow = replace(here.follow, source=source)
    while follow.catch_up(workspace, name, limit=1):
        pass
    assert source.reached == 7
    here.indexes.refresh(name)
    assert sum(bucket.nodes for bucket in here.indexes.buckets(name, workspace).values()) == 3


def test_an_update_that_fails_is_kept_and_made_up_for(
    here: Followed, opensearch: "OpenSearch", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cairn.search_index.sync.BATCH", 3)
    told(here.world, *(f"harbour {number}" for number in range(10)))
    failing = Failing(opensearch.connection, new_id)
    failing.__dict__["left"] = 2
    reports: list[str] = []
    follow = FollowDatabase(
        source=here.source,
        index=failing,
        clock=here.follow.clock,
        stopwatch=monotonic,
        report=lambda name, _: reports.append(name),
    )
    follow.after_write(here.world.workspace_id)
    assert reports == ["search_index.behind"]
    state = here.source.state(here.world.workspace_id, here.follow.live())
    assert 0 < state.position < 10
    assert state.failure == "busy"
    follow.after_write(here.world.workspace_id)
    assert reports == ["search_index.behind"], "it rests"
    assert here.catch_up() > 0
    state = here.source.state(here.world.workspace_id, here.follow.live())
    assert state.failure is None
    assert len(here.found("harbour")) == 10


def test_the_embed_stage_indexes_also_when_it_cannot_embed(here: Followed) -> None:
    class Broken:
        def rows(self, workspace_id: UUID, outbox_ids: object) -> int:
            raise Unavailable("no model", reason="model")

        def batch(self, workspace_id: UUID, ingestion_id: UUID, batch: int) -> int:
            return 7

    told(here.world, "harbour")
    stage = EnrichAndIndex(enrich=Broken(), follow=here.follow)
    with pytest.raises(Unavailable):
        stage.rows(here.world.workspace_id, [])
    here.indexes.refresh(here.follow.live())
    assert len(here.found("harbour")) == 1
    assert stage.batch(here.world.workspace_id, new_id(), 0) == 7


def test_drift_is_listed_and_repaired(here: Followed, keep: KeepSearchIndex) -> None:
    missing, stale, fine = told(here.world, "harbour a", "harbour b", "harbour c")
    here.catch_up()
    workspace, name = here.world.workspace_id, here.follow.live()
    assert keep.check(workspace).ok
    by_id = {
        document.node_id: document
        for document in here.source.documents(workspace, [missing, stale, fine])
    }
    here.indexes.remove(name, workspace, {missing: by_id[missing].position})
    planted = document(workspace, "harbour of nobody", position=3)
    here.indexes.write(name, [planted])
    here.world.tell(memory("harbour b", source_agent="second"))  # observed again: b changed
    here.catch_up()
    here.indexes.remove(name, workspace, {stale: 10**6})
    drift = keep.check(workspace)
    assert not drift.ok
    assert set(drift.missing) == {missing, stale}
    assert drift.extra == {planted.node_id: 3}
    assert (drift.expected, drift.indexed) == (3, 2)


def test_a_repair_leaves_nothing_different(here: Followed, keep: KeepSearchIndex) -> None:
    first, second = told(here.world, "harbour a", "harbour b")
    here.catch_up()
    workspace, name = here.world.workspace_id, here.follow.live()
    (held,) = here.source.documents(workspace, [first])
    here.indexes.remove(name, workspace, {first: held.position})
    planted = document(workspace, "harbour of nobody", position=3)
    here.indexes.write(name, [planted])
    repaired = keep.repair(workspace)
    assert (repaired.indexed, repaired.removed, repaired.ok) == (1, 1, True)
    assert keep.check(workspace).ok
    here.indexes.refresh(name)
    assert set(here.found("harbour")) == {first, second}


def test_an_older_version_in_the_index_is_stale(here: Followed, keep: KeepSearchIndex) -> None:
    (node,) = told(here.world, "harbour")
    workspace = here.world.workspace_id
    (now,) = here.source.documents(workspace, [node])
    name = here.follow.live()
    here.indexes.write(name, [replace(now, position=now.position - 1, own="lighthouse")])
    here.source.advance(workspace, name, now.position, refused=0, now=here.follow.clock())
    assert keep.check(workspace).stale == (node,)
    assert keep.repair(workspace).ok
    here.indexes.refresh(name)
    assert here.found("harbour") == [node]


def test_what_waits_is_no_drift(here: Followed, keep: KeepSearchIndex) -> None:
    told(here.world, "harbour a")
    here.catch_up()
    told(here.world, "harbour b")
    drift = keep.check(here.world.workspace_id)
    assert (drift.ok, drift.pending) == (True, 1)


def test_a_late_write_changes_nothing_that_is_newer(here: Followed) -> None:
    workspace = here.world.workspace_id
    name = here.follow.live()
    new = document(workspace, "new harbour", position=9)
    old = replace(new, own="old harbour", position=4)
    gone = replace(new, state="deleted", position=5)
    assert here.indexes.write(name, [new]).indexed == 1
    assert here.indexes.write(name, [old]).newer == 1
    assert here.indexes.write(name, [gone]).newer == 1
    assert here.indexes.write(name, [new]).indexed == 1, "twice is as good as once"
    assert here.indexes.write(name, [replace(new, state="deleted", position=10)]).removed == 1
    assert here.indexes.write(name, [new]).newer == 1, "what is gone does not come back"


def test_a_document_the_index_will_never_take_is_reported_and_holds_up_nobody(
    here: Followed,
) -> None:
    workspace = here.world.workspace_id
    bad = document(workspace, "harbour", occurred_at=document(workspace, "x").occurred_at)
    broken = replace(bad, described="neither")  # type: ignore[arg-type]
    good = document(workspace, "harbour")
    written = here.indexes.write(here.follow.live(), [broken, good])
    assert written.indexed == 1
    assert list(written.refused) == [bad.node_id]


def test_a_new_index_takes_over_while_writes_go_on(
    here: Followed, keep: KeepSearchIndex, opensearch: "OpenSearch"
) -> None:
    told(here.world, "harbour one", "harbour two")
    here.catch_up()
    before = here.follow.live()

    def write_meanwhile(workspace_id: UUID, nodes: int) -> None:
        if nodes == 2:
            told(here.world, "harbour three")

    built = keep.rebuild(progress=write_meanwhile)
    assert built.live
    assert built.dropped == (before,)
    assert here.follow.live() == built.index_name != before
    assert keep.check(here.world.workspace_id).ok
    here.indexes.refresh(built.index_name)
    assert len(here.found("harbour")) == 3
    assert not opensearch.connection.client.indices.exists(index=before)


def test_a_rebuild_that_ran_out_of_time_goes_on_where_it_stopped(
    here: Followed, keep: KeepSearchIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cairn.search_index.check.SLICE", 1)
    monkeypatch.setattr("cairn.search_index.sync.BATCH", 1)
    told(here.world, "harbour one", "harbour two", "harbour three")
    here.catch_up()
    before = here.follow.live()
    first = keep.rebuild(seconds=0.0)
    assert not first.live
    assert here.follow.live() == before, "searches use the old one meanwhile"
    second = keep.rebuild()
    assert second.index_name == first.index_name
    assert second.live
    assert keep.check(here.world.workspace_id).ok


def test_an_index_of_another_mapping_is_replaced_by_the_schedule(
    here: Followed, keep: KeepSearchIndex, opensearch: "OpenSearch"
) -> None:
    told(here.world, "harbour")
    stale = f"{ALIAS}-v999-{'0' * 32}"
    opensearch.connection.client.indices.create(index=stale, body={"aliases": {ALIAS: {}}})
    with pytest.raises(Unavailable):
        keep.check(here.world.workspace_id)
    assert keep.maintain(seconds=60)["live"] is True
    assert not opensearch.connection.client.indices.exists(index=stale)
    here.indexes.refresh(here.follow.live())
    assert len(here.found("harbour")) == 1
    assert keep.maintain(seconds=60) == {
        "workspaces": 1,
        "caught_up": 0,
        "repaired": 0,
        "drifting": 0,
    }


def test_one_workspace_is_indexed_anew_in_place(here: Followed, keep: KeepSearchIndex) -> None:
    told(here.world, "harbour one", "harbour two")
    here.catch_up()
    name = here.follow.live()
    assert keep.rebuild_workspace(here.world.workspace_id).caught_up == 2
    assert here.follow.live() == name
    (status,) = keep.status().workspaces
    assert status.pending == 0


def test_an_endpoint_out_of_reach_is_unavailable_everywhere(here: Followed) -> None:
    nowhere = OpenSearchIndexes(Connection("http://127.0.0.1:9"), new_id)
    workspace = here.world.workspace_id
    for call in (
        nowhere.live,
        nowhere.building,
        nowhere.create,
        lambda: nowhere.go_live("x"),
        lambda: nowhere.write("x", [document(workspace, "harbour")]),
        lambda: nowhere.buckets("x", workspace),
        lambda: nowhere.positions("x", workspace, "00"),
        lambda: nowhere.refresh("x"),
    ):
        with pytest.raises(Unavailable) as refused:
            call()
        assert refused.value.reason == "unreachable"


def test_the_command_looks_compares_mends_and_builds_anew(
    here: Followed, database: "Database", opensearch: "OpenSearch"
) -> None:
    ids = told(here.world, "the harbour", "the mill")
    here.catch_up()

    def asked(*arguments: str) -> tuple[int, str]:
        where = {"CAIRN_APP_DATABASE_URL": database.app_url, "CAIRN_OPENSEARCH_URL": opensearch.url}
        done = CliRunner().invoke(app, ["search-index", *arguments], env=where, obj=Deps())
        return done.exit_code, done.stdout

    own = ("--workspace", str(here.world.workspace_id))
    assert asked("check", *own)[0] == 0
    [live] = opensearch.connection.client.indices.get_alias(name=ALIAS)
    [lost] = here.source.documents(here.world.workspace_id, ids[:1])
    here.indexes.remove(live, here.world.workspace_id, {lost.node_id: lost.position})
    opensearch.connection.client.indices.refresh(index=live)
    assert asked("check", *own)[0] == 1
    assert asked("repair", *own)[0] == 0
    opensearch.connection.client.indices.refresh(index=live)
    assert asked("check", *own)[0] == 0
    assert asked("reindex", *own)[0] == 0
    assert asked("reindex")[0] == 0
    [after] = opensearch.connection.client.indices.get_alias(name=ALIAS)
    assert after != live
    status, shown = asked("status", "--json")
    assert (status, json.loads(shown)["live"]) == (0, after)
