"""What every search index promises, in memory and in OpenSearch alike."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from tests.fakes.search_index import InMemorySearchIndex
from tests.support.search_index import document

from cairn.adapters.opensearch.indexes import OpenSearchIndexes
from cairn.adapters.opensearch.keyword import OpenSearchKeywordIndex
from cairn.kernel.access import ALL_SCOPES, Principal, Role
from cairn.kernel.clock import monotonic
from cairn.kernel.errors import Unavailable
from cairn.kernel.ids import new_id
from cairn.recall.keyword_index import IndexAnswer, KeywordIndex
from cairn.recall.records import Filters
from cairn.search_index.sync import SearchIndex, bucket_of, mark_of

pytestmark = pytest.mark.xdist_group("opensearch")

if TYPE_CHECKING:
    from tests.plugins.opensearch import OpenSearch

Index = tuple[SearchIndex, KeywordIndex]


@pytest.fixture(params=["in memory", "opensearch"])
def index(request: pytest.FixtureRequest) -> Iterator[Index]:
    if request.param == "in memory":
        made = InMemorySearchIndex()
        yield made, made
        return
    opensearch: OpenSearch = request.getfixturevalue("opensearch")
    opensearch.clear()
    connection = opensearch.connection
    yield (
        OpenSearchIndexes(connection, new_id),
        OpenSearchKeywordIndex(connection, monotonic),
    )


@pytest.fixture
def workspace() -> UUID:
    return new_id()


def live(index: Index) -> str:
    name = index[0].create()
    index[0].go_live(name)
    return name


def asked(
    index: Index, workspace: UUID, *terms: str, limit: int = 10, filters: Filters | None = None
) -> IndexAnswer:
    who = Principal(
        workspace_id=workspace,
        principal_id=workspace,
        role=Role.ADMIN,
        allowed_scopes=ALL_SCOPES,
        name="admin",
    )
    return index[1].find(who, terms, filters or Filters(), limit=limit, timeout_ms=5000)


def found(index: Index, name: str, workspace: UUID, *terms: str, limit: int = 10) -> list[UUID]:
    index[0].refresh(name)
    told, candidates = asked(index, workspace, *terms, limit=limit)
    assert told == name
    return [candidate.node_id for candidate in candidates]


def test_there_is_none_until_one_goes_live(index: Index, workspace: UUID) -> None:
    indexes, _ = index
    assert indexes.live() is None
    assert indexes.building() is None
    with pytest.raises(Unavailable) as refused:
        asked(index, workspace, "harbour")
    assert refused.value.reason == "no-alias"
    name = indexes.create()
    assert indexes.live() is None
    assert indexes.building() == name
    assert indexes.go_live(name) == []
    told = indexes.live()
    assert told is not None
    assert (told.name, told.current) == (name, True)
    assert indexes.building() is None


def test_the_next_one_takes_over_and_the_last_one_goes(index: Index, workspace: UUID) -> None:
    indexes, _ = index
    first = live(index)
    indexes.write(first, [document(workspace, "harbour")])
    second = indexes.create()
    assert found(index, first, workspace, "harbour")
    assert list(indexes.go_live(second)) == [first]
    assert found(index, second, workspace, "harbour") == []
    with pytest.raises(Unavailable):
        indexes.write(first, [document(workspace, "harbour")])


def test_more_words_come_first_and_no_more_than_asked(index: Index, workspace: UUID) -> None:
    name = live(index)
    two = document(workspace, "Harbour lighthouse")
    one = document(workspace, "lighthouse tower")
    none = document(workspace, "elsewhere")
    index[0].write(name, [none, one, two])
    assert found(index, name, workspace, "harbour", "lighthouse") == [two.node_id, one.node_id]
    assert found(index, name, workspace, "harbour", "lighthouse", limit=1) == [two.node_id]


def test_the_words_around_count_too(index: Index, workspace: UUID) -> None:
    name = live(index)
    beside = document(workspace, "she returns", context="harbour")
    index[0].write(name, [beside])
    assert found(index, name, workspace, "harbour") == [beside.node_id]


def test_another_workspace_finds_nothing(index: Index, workspace: UUID) -> None:
    name = live(index)
    index[0].write(name, [document(workspace, "harbour")])
    assert found(index, name, new_id(), "harbour") == []
    assert index[0].buckets(name, new_id()) == {}


@pytest.mark.parametrize("state", ["deleted", "quarantined", "expired"])
def test_what_is_not_to_be_found_is_taken_out(index: Index, workspace: UUID, state: str) -> None:
    name = live(index)
    kept = document(workspace, "harbour")
    gone = document(workspace, "harbour")
    index[0].write(name, [kept, gone])
    written = index[0].write(name, [replace(gone, state=state, position=2)])
    assert (written.indexed, written.removed) == (0, 1)
    assert found(index, name, workspace, "harbour") == [kept.node_id]


@pytest.mark.parametrize("state", ["superseded", "archived"])
def test_what_held_once_is_found_by_who_asks_for_the_past(
    index: Index, workspace: UUID, state: str
) -> None:
    name = live(index)
    present, past = document(workspace, "harbour"), document(workspace, "harbour", state=state)
    index[0].write(name, [present, past])
    assert found(index, name, workspace, "harbour") == [present.node_id]
    _, both = asked(index, workspace, "harbour", filters=Filters(include_superseded=True))
    assert {item.node_id for item in both} == {present.node_id, past.node_id}


def test_older_ones_do_not_replace_newer_ones(index: Index, workspace: UUID) -> None:
    name = live(index)
    new = document(workspace, "harbour", position=9)
    old = replace(new, own="lighthouse", position=4)
    assert index[0].write(name, [new]).indexed == 1
    assert index[0].write(name, [old]).newer == 1
    assert found(index, name, workspace, "harbour", "lighthouse") == [new.node_id]
    assert index[0].write(name, [new]).indexed == 1
    index[0].write(name, [replace(new, state="deleted", position=10)])
    assert index[0].write(name, [new]).newer == 1
    assert found(index, name, workspace, "harbour") == []


def test_buckets_add_up_what_is_held(index: Index, workspace: UUID) -> None:
    name = live(index)
    documents = [document(workspace, "harbour", position=at) for at in range(1, 30)]
    index[0].write(name, documents)
    index[0].refresh(name)
    buckets = index[0].buckets(name, workspace)
    assert sum(bucket.nodes for bucket in buckets.values()) == 29
    for item in documents:
        bucket = bucket_of(item.node_id)
        positions = index[0].positions(name, workspace, bucket)
        assert positions[item.node_id] == item.position
        marks = sum(mark_of(node_id, at) for node_id, at in positions.items())
        assert buckets[bucket] == (len(positions), marks)


def test_what_changed_since_is_not_removed(index: Index, workspace: UUID) -> None:
    name = live(index)
    same, changed = (document(workspace, "harbour", position=5) for _ in range(2))
    index[0].write(name, [same, changed])
    index[0].refresh(name)
    seen = {same.node_id: 5, changed.node_id: 4}
    assert index[0].remove(name, workspace, seen) == 1
    assert found(index, name, workspace, "harbour") == [changed.node_id]


def test_nothing_is_written_for_nothing(index: Index) -> None:
    name = live(index)
    assert index[0].write(name, []).indexed == 0
    assert index[0].remove(name, new_id(), {}) == 0
