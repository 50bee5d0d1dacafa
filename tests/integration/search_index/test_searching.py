"""Keyword search over a real node and a real database: what is found, and by whom."""

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from tests.support.platform import platform_of
from tests.support.search_index import Followed, document, followed, later
from tests.support.world import MORNING, World, memory, open_world

from cairn.kernel.access import ALL_SCOPES, Scope
from cairn.kernel.errors import Unavailable
from cairn.kernel.ids import new_id
from cairn.memories.delete import DeleteMemory
from cairn.memories.kinds import MemoryKind
from cairn.nodes.changes import DeleteNode, GraphWriting, LabelNode
from cairn.nodes.draft import NewNode
from cairn.nodes.write import WriteNodes
from cairn.recall.records import Filters

if TYPE_CHECKING:
    from tests.plugins.opensearch import OpenSearch
    from tests.plugins.postgres import Database


@pytest.fixture
def world(database: "Database") -> Iterator[World]:
    world = open_world(database.owner_url, database.app_url, f"search-{new_id()}")
    yield world
    world.pool.close()


@pytest.fixture
def here(world: World, opensearch: "OpenSearch") -> Followed:
    return followed(world, opensearch.connection)


def told(world: World, *memories: object) -> list[UUID]:
    return [outcome.id for outcome in world.tell(*memories).outcomes]  # type: ignore[arg-type]


def test_stems_find_each_other_and_the_better_match_comes_first(here: Followed) -> None:
    both, one, _ = told(
        here.world,
        memory("databases are running on the harbour server"),
        memory("a database"),
        memory("nothing of that kind"),
    )
    here.catch_up()
    assert here.found("database", "running") == [both, one]


def test_context_counts_less_than_own_words(here: Followed) -> None:
    said, after = told(
        here.world,
        memory("the lighthouse keeper sails", session_id="s", sequence=1, type=MemoryKind.EVENT),
        memory("she returns tomorrow", session_id="s", sequence=2, type=MemoryKind.EVENT),
    )
    here.catch_up()
    assert here.found("lighthouse") == [said, after]


@pytest.mark.parametrize(
    "term",
    [
        "harbour AND NOT *:*",
        'own:"harbour" OR scope:admin',
        "harbour~2 ^9 [a TO z] {}",
        "(((harbour",
        "harbour/..\\ \x00 && || ! <script>",
        "🌊harbour🌊",
        '{"match_all": {}} harbour',
        "harbour " * 13_000,
    ],
)
def test_operators_are_words(here: Followed, term: str) -> None:
    (node,) = told(here.world, memory("the harbour"))
    here.catch_up()
    assert here.found(term) == [node]


@pytest.mark.parametrize(
    "term", ["", "the of and", "🌊", "*", "*:*", "_exists_:own", "(((", "\x00"]
)
def test_what_has_no_words_finds_nothing(here: Followed, term: str) -> None:
    told(here.world, memory("the harbour"))
    here.catch_up()
    assert here.found(term) == []


@pytest.mark.parametrize(
    "text", ["港口在六点开放", "гавань открывается", "ميناء السفن", "λιμάνι", "Häfen"]
)
def test_other_scripts_are_found(here: Followed, text: str) -> None:
    (node,) = told(here.world, memory(text))
    here.catch_up()
    assert here.found(*text.split()) == [node]
    assert here.found("港口" * 50_000) == ([node] if text.startswith("港口") else [])


def test_filters_narrow(here: Followed) -> None:
    fact, event, other = told(
        here.world,
        memory("harbour", key="one"),
        memory("harbour", type=MemoryKind.EVENT, occurred_at=MORNING + timedelta(days=2)),
        memory("harbour", client_id="acme", scope=Scope.PUBLIC),
    )
    here.catch_up()
    assert set(here.found("harbour")) == {fact, event, other}
    assert here.found("harbour", kinds=("event",)) == [event]
    assert here.found("harbour", client_id="acme") == [other]
    assert here.found("harbour", scopes=(Scope.PUBLIC,)) == [other]
    assert here.found("harbour", labels=("Chunk",)) == []
    assert here.found("harbour", occurred_from=MORNING + timedelta(days=1)) == [event]
    assert set(here.found("harbour", occurred_to=MORNING + timedelta(days=1))) == {fact, other}


def test_a_node_of_several_labels_is_found_by_each_it_has_now_and_leaves_when_it_is_deleted(
    here: Followed,
) -> None:
    world = here.world
    platform = world.remember.platform
    writing = GraphWriting(platform)
    new = NewNode(
        label="Runbook",
        labels=("Procedure", "Reviewed"),
        properties={"text": "restart the harbour mail"},
        scope=None,
    )
    node = WriteNodes(platform)(world.admin, [new]).outcomes[0].id
    assert node is not None
    told(world, memory("the harbour"))
    here.catch_up()
    for label in ("Runbook", "Procedure", "Reviewed"):
        assert here.found("harbour", labels=(label,)) == [node]
    assert here.found("harbour", labels=("Retired",)) == []
    LabelNode(writing=writing)(world.admin, node, ["Retired"])
    assert here.found("harbour", labels=("Procedure",)) == [], "before the index hears of it"
    here.catch_up()
    assert here.found("harbour", labels=("Procedure",)) == []
    assert here.found("harbour", labels=("Retired",)) == [node]
    DeleteNode(writing=writing)(world.admin, node)
    for _ in range(2):
        assert here.found("harbour", labels=("Retired",)) == []
        here.catch_up()


def test_superseded_ones_are_found_when_asked_for_and_at_their_time(here: Followed) -> None:
    old, new = told(here.world, memory("harbour at six", key="opening")) + told(
        here.world,
        memory("harbour at seven", key="opening", occurred_at=MORNING + timedelta(days=1)),
    )
    here.catch_up()
    assert here.found("harbour") == [new]
    assert set(here.found("harbour", include_superseded=True)) == {old, new}
    assert here.found("harbour", valid_at=MORNING + timedelta(hours=1)) == [old]
    assert here.found("harbour", valid_at=MORNING + timedelta(days=1)) == [new]


def test_agents_and_scopes_see_their_own(here: Followed) -> None:
    public, bots = told(
        here.world,
        memory("harbour", scope=Scope.PUBLIC),
        memory("harbour", agents=("bot",), scope=Scope.PUBLIC, client_id="acme"),
    )
    told(here.world, memory("harbour", type=MemoryKind.EVENT))
    here.catch_up()
    as_other = here.world.as_other
    assert here.found("harbour", who=as_other(agent_slug="bot")) == [bots]
    assert here.found("harbour", who=as_other(agent_slug="rob")) == []
    seen = here.found("harbour", who=as_other(allowed_scopes=frozenset({Scope.PUBLIC})))
    assert seen == [public]  # a key of no agent finds what is tagged for nobody


def test_planted_documents_show_nothing(here: Followed, database: "Database") -> None:
    """The index says that all of these are for everybody; the database knows better."""
    neighbour = open_world(database.owner_url, database.app_url, f"neighbour-{new_id()}")
    theirs = told(neighbour, memory("harbour of the neighbour"))
    admins, bots = told(
        here.world,
        memory("harbour of the admin"),
        memory("harbour of bot", agents=("bot",), scope=Scope.PUBLIC),
    )
    here.catch_up()
    workspace = here.world.workspace_id
    lies = [
        document(
            workspace, "harbour", node_id=their, position=10**6, scope="public", agents=["eve"]
        )
        for their in (*theirs, admins, bots, new_id())
    ]
    name = here.follow.live()
    here.indexes.write(name, lies)
    here.indexes.refresh(name)
    eve = here.world.as_other(agent_slug="eve", allowed_scopes=frozenset({Scope.PUBLIC}))
    assert here.found("harbour", who=eve) == []
    assert here.found("harbour", who=here.world.as_other(agent_slug="eve")) == []
    assert set(here.found("harbour", scopes=(Scope.PUBLIC,))) <= {bots}
    neighbour.pool.close()


def test_what_is_deleted_is_hidden_before_the_index_hears_of_it_and_then_leaves_it(
    here: Followed,
) -> None:
    kept, gone = told(here.world, memory("harbour"), memory("harbour gone"))
    here.catch_up()
    delete(here.world, gone)
    assert here.found("harbour") == [kept]
    name = here.follow.live()
    workspace = here.world.workspace_id
    assert sum(bucket.nodes for bucket in here.indexes.buckets(name, workspace).values()) == 2
    here.catch_up()
    assert sum(bucket.nodes for bucket in here.indexes.buckets(name, workspace).values()) == 1


def delete(world: World, node_id: UUID) -> None:
    remember = world.remember
    DeleteMemory(
        platform_of(
            remember.platform.transactions,
            dispatcher=remember.platform.dispatcher,
            clock=remember.platform.clock,
            new_id=remember.platform.new_id,
        )
    )(world.admin, node_id)


def test_an_index_that_lacks_what_is_a_minute_old_does_not_answer(here: Followed) -> None:
    told(here.world, memory("harbour"))
    here.catch_up()
    told(here.world, memory("a second harbour"))
    asked = (here.world.admin, ["harbour"], Filters())
    assert len(here.leg().search(*asked, limit=10, timeout_ms=5000)) == 1
    with pytest.raises(Unavailable) as refused:
        here.leg(clock=later(seconds=90)).search(*asked, limit=10, timeout_ms=5000)
    assert refused.value.reason == "behind"
    here.catch_up()
    assert len(here.leg(clock=later(seconds=90)).search(*asked, limit=10, timeout_ms=5000)) == 2


def test_nobody_sees_more_than_all_scopes(here: Followed) -> None:
    assert here.found("harbour", who=here.world.as_other(allowed_scopes=ALL_SCOPES)) == []
