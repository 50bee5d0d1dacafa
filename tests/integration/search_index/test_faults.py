"""OpenSearch as it fails: killed, red, silent, without alias, of another mapping."""

# pyright: basic

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.embedding import HashingEmbedder
from tests.support.search_index import Followed, followed
from tests.support.world import World, memory, open_world

from cairn.adapters.opensearch.client import Connection
from cairn.adapters.opensearch.documents import ALIAS, BODY
from cairn.adapters.opensearch.keyword import OpenSearchKeywordIndex
from cairn.adapters.postgres.memory.recall import PostgresKeywordLeg
from cairn.adapters.postgres.memory.search_index import PostgresGuard
from cairn.bootstrap.recall import recall
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.errors import Unavailable
from cairn.kernel.ids import new_id
from cairn.recall.keyword_index import FallbackKeywordLeg, IndexedKeywordLeg, NotedCandidates
from cairn.recall.query import SearchRequest
from cairn.recall.records import Filters

if TYPE_CHECKING:
    from tests.plugins.opensearch import OpenSearch
    from tests.plugins.postgres import Database


@pytest.fixture
def here(database: "Database", opensearch: "OpenSearch") -> Iterator[Followed]:
    world = open_world(database.owner_url, database.app_url, f"faults-{new_id()}")
    world.tell(memory("the harbour opens at six"))
    found = followed(world, opensearch.connection)
    opensearch.clear()
    found.catch_up()
    yield found
    world.pool.close()


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as pool:
        yield pool


def leg(world: World, url: str, pool: ThreadPoolExecutor) -> FallbackKeywordLeg:
    index = OpenSearchKeywordIndex(Connection(url), monotonic)
    guard = PostgresGuard(world.pool, utc_now)
    return FallbackKeywordLeg(
        primary=IndexedKeywordLeg(index=index, guard=guard, stopwatch=monotonic),
        secondary=PostgresKeywordLeg(world.pool),
        pool=pool,
        stopwatch=monotonic,
    )


def ask(world: World, asked: FallbackKeywordLeg, **filters: Any) -> tuple[int, str | None]:
    """How many were found, and the note."""
    found = asked.search(world.admin, ["harbour"], Filters(**filters), limit=5, timeout_ms=2000)
    return len(found), found.note if isinstance(found, NotedCandidates) else None


def test_a_healthy_index_answers_without_a_note(
    here: Followed, opensearch: "OpenSearch", threads: ThreadPoolExecutor
) -> None:
    assert ask(here.world, leg(here.world, opensearch.url, threads)) == (1, None)


def test_the_past_is_postgresqls_and_no_trouble(
    here: Followed, threads: ThreadPoolExecutor
) -> None:
    nowhere = leg(here.world, "http://127.0.0.1:9", threads)
    assert ask(here.world, nowhere, as_of_position=10**6) == (1, None)


def test_a_node_that_is_killed_is_answered_for_and_used_again_when_it_is_back(
    here: Followed, opensearch: "OpenSearch", threads: ThreadPoolExecutor
) -> None:
    asked = leg(here.world, opensearch.url, threads)
    assert ask(here.world, asked) == (1, None)
    opensearch.kill()
    said = "opensearch unreachable, answered by postgresql"
    assert ask(here.world, asked) == (1, said)
    assert ask(here.world, asked) == (1, said), "it rests a few seconds"
    opensearch.start()
    asked._rest_until = 0.0
    deadline = monotonic() + 30
    while ask(here.world, asked) != (1, None):  # its shard starts after the node
        asked._rest_until = 0.0
        assert monotonic() < deadline


def test_a_node_killed_while_it_is_asked_costs_no_answer(
    here: Followed, opensearch: "OpenSearch", threads: ThreadPoolExecutor
) -> None:
    asked = leg(here.world, opensearch.url, threads)

    def keep_asking(_: int) -> list[int]:
        until, found = monotonic() + 1.5, list[int]()
        while monotonic() < until:
            found.append(ask(here.world, asked)[0])
        return found

    with ThreadPoolExecutor(3) as clients:
        answers = clients.map(keep_asking, range(3))
        opensearch.kill()
        assert {item for each in answers for item in each} == {1}
    opensearch.start()


def test_a_red_index_is_half_an_answer_and_so_none(
    here: Followed, opensearch: "OpenSearch", threads: ThreadPoolExecutor
) -> None:
    client, name = opensearch.connection.client, here.follow.live()
    opensearch.clear()
    nowhere = {"index.routing.allocation.require._name": "nobody"}
    client.indices.create(
        index=name,
        body={**BODY, "settings": nowhere, "aliases": {ALIAS: {}}},
        params={"wait_for_active_shards": "0"},
    )
    assert client.cluster.health(index=name)["status"] == "red"
    told, note = ask(here.world, leg(here.world, opensearch.url, threads))
    assert (told, note) == (1, "opensearch red, answered by postgresql")


def test_without_an_alias_postgresql_answers(
    here: Followed, opensearch: "OpenSearch", threads: ThreadPoolExecutor
) -> None:
    opensearch.clear()
    said = "opensearch no-alias, answered by postgresql"
    assert ask(here.world, leg(here.world, opensearch.url, threads)) == (1, said)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (f"{ALIAS}-v999-{'0' * 32}", "stale-mapping"),
        (f"{ALIAS}-v999", "wrong-alias"),
        ("other-index", "wrong-alias"),
    ],
)
def test_an_alias_that_leads_elsewhere_is_not_followed(
    here: Followed,
    opensearch: "OpenSearch",
    threads: ThreadPoolExecutor,
    name: str,
    reason: str,
) -> None:
    opensearch.clear()
    opensearch.connection.client.indices.create(index=name, body={"aliases": {ALIAS: {}}})
    said = f"opensearch {reason}, answered by postgresql"
    assert ask(here.world, leg(here.world, opensearch.url, threads)) == (1, said)
    with pytest.raises(Unavailable) as refused:
        here.follow.live()
    assert refused.value.reason == reason


def test_an_alias_of_two_indexes_is_not_followed(
    here: Followed, opensearch: "OpenSearch", threads: ThreadPoolExecutor
) -> None:
    client = opensearch.connection.client
    client.indices.create(index="other-index", body={"aliases": {ALIAS: {}}})
    said = "opensearch wrong-alias, answered by postgresql"
    assert ask(here.world, leg(here.world, opensearch.url, threads)) == (1, said)


def test_an_index_with_other_fields_under_our_name_is_answered_for(
    here: Followed, opensearch: "OpenSearch", threads: ThreadPoolExecutor
) -> None:
    name = here.follow.live()
    client = opensearch.connection.client
    client.indices.delete(index=name)
    broken = {"aliases": {ALIAS: {}}, "mappings": {"properties": {"own": {"type": "long"}}}}
    client.indices.create(index=name, body=broken)
    told, note = ask(here.world, leg(here.world, opensearch.url, threads))
    assert told == 1
    assert note is not None and note.startswith("opensearch ")


def test_an_index_dropped_in_between_is_looked_up_again(
    here: Followed, opensearch: "OpenSearch", threads: ThreadPoolExecutor
) -> None:
    asked = leg(here.world, opensearch.url, threads)
    assert ask(here.world, asked) == (1, None)
    fresh = here.indexes.create()
    here.follow.catch_up(here.world.workspace_id, fresh)
    here.indexes.refresh(fresh)
    assert len(here.indexes.go_live(fresh)) == 1
    assert ask(here.world, asked) == (1, None)


def test_a_socket_that_never_answers_costs_its_share_once(
    here: Followed, threads: ThreadPoolExecutor
) -> None:
    with closing(socket.create_server(("127.0.0.1", 0), backlog=16)) as silent:
        asked = leg(here.world, f"http://127.0.0.1:{silent.getsockname()[1]}", threads)
        said = "opensearch timed-out, answered by postgresql"
        start = time.monotonic()
        assert ask(here.world, asked) == (1, said)
        first = time.monotonic() - start
        start = time.monotonic()
        assert ask(here.world, asked) == (1, said)
        second = time.monotonic() - start
    assert 0.9 < first < 1.9, "half of the leg's two seconds"
    assert second < first / 2, "the second does not wait"


def test_writing_goes_through_nothing_but_the_alias_of_its_own_index(
    here: Followed, opensearch: "OpenSearch"
) -> None:
    """A bulk request to an index that is gone must not make one, whose mapping would keep texts."""
    name = here.follow.live()
    opensearch.connection.client.indices.delete(index=name)
    documents = here.source.changed(here.world.workspace_id, (0, new_id()), 10)
    with pytest.raises(Unavailable) as refused:
        here.indexes.write(name, documents)
    assert refused.value.reason == "no-index"
    assert not opensearch.connection.client.indices.exists(index=name)


def test_no_text_is_stored(here: Followed, opensearch: "OpenSearch") -> None:
    name = here.follow.live()
    told = opensearch.connection.client.search(index=name, body={"stored_fields": ["*"]})
    (hit,) = told["hits"]["hits"]
    assert "_source" not in hit
    assert "harbour" not in str(hit)
    assert BODY["mappings"]["_source"] == {"enabled": False}


def test_a_search_says_who_answered_in_its_stead(
    here: Followed, opensearch: "OpenSearch", threads: ThreadPoolExecutor
) -> None:
    nowhere = leg(here.world, "http://127.0.0.1:9", threads)
    told = recall(here.world.pool, HashingEmbedder(), keyword=nowhere)(
        here.world.admin, SearchRequest(query="harbour opens")
    )
    assert [result.node.text for result in told.results] == ["the harbour opens at six"]
    assert "keyword: opensearch unreachable, answered by postgresql" in told.meta.degraded


def test_a_search_by_opensearch_is_not_degraded(
    here: Followed, opensearch: "OpenSearch", threads: ThreadPoolExecutor
) -> None:
    told = recall(
        here.world.pool, HashingEmbedder(), keyword=leg(here.world, opensearch.url, threads)
    )(here.world.admin, SearchRequest(query="harbour opens"))
    assert [result.node.text for result in told.results] == ["the harbour opens at six"]
    assert not [item for item in told.meta.degraded if item.startswith("keyword")]
