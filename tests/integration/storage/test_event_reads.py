"""Reading events over PostgreSQL: filters, pages, and nothing that the key may not see."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.observing import Observing, event
from tests.support.remembering import Remembering
from tests.support.world import World, memory, open_world

from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.events.read import BrowseEvents, EventFilter
from cairn.kernel.access import Role, Scope
from cairn.kernel.errors import NotFound
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from tests.plugins.postgres import Database


@pytest.fixture
def world(database: "Database") -> Iterator[World]:
    world = open_world(database.owner_url, database.app_url, f"events-{new_id()}")
    yield world
    world.pool.close()


@pytest.fixture
def seeing(world: World) -> Observing:
    return Observing(Remembering(transactions=StoreTransactions(world.pool), principal=world.admin))


@pytest.fixture
def browse(world: World) -> BrowseEvents:
    return BrowseEvents(transactions=StoreTransactions(world.pool))


def test_an_event_is_read_back_as_it_was_sent(
    world: World, seeing: Observing, browse: BrowseEvents
) -> None:
    parent = seeing.see_one(event())
    one = seeing.see_one(
        event(
            "tool.execute",
            at=2.5,
            agent_id="deployer",
            trace_id="t",
            sequence=4,
            parent_id=parent,
            tool_name="kubectl",
            status="failed",
            payload={"service": "billing", "tries": 3, "took": 1.5},
            client_id="acme",
        )
    )
    found = browse.get(world.admin, one)
    assert (found.type, found.agent_id, found.session_id) == ("tool.execute", "deployer", "s")
    assert (found.sequence, found.trace_id, found.parent_id) == (4, "t", parent)
    assert (found.tool_name, found.status, found.client_id) == ("kubectl", "failed", "acme")
    assert found.payload == {"service": "billing", "tries": 3, "took": 1.5}
    assert found.importance_band == "medium"
    assert not found.embedded


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ({}, [2, 1, 0]),
        ({"type": "tool"}, [1, 0]),
        ({"type": "tool.execute"}, [0]),
        ({"type": "too"}, []),
        ({"type": "tool_"}, []),
        ({"session_id": "other"}, [2]),
        ({"agent_id": "deployer"}, [1]),
        ({"trace_id": "t"}, [0]),
        ({"client_id": "acme"}, [2]),
        ({"type": "tool", "trace_id": "t"}, [0]),
        ({"session_id": "' OR true --"}, []),
    ],
    ids=str,
)
def test_a_list_shows_what_fits_every_filter(
    world: World, seeing: Observing, browse: BrowseEvents, where: Any, found: list[int]
) -> None:
    ids = [
        seeing.see_one(item)
        for item in (
            event("tool.execute", trace_id="t"),
            event("tool.error", at=1, agent_id="deployer"),
            event("agent.invoke", at=2, session_id="other", client_id="acme"),
        )
    ]
    page = browse.page(world.admin, EventFilter(**where), limit=10, after=None)
    assert [item.id for item in page.items] == [ids[at] for at in found]


def test_pages_follow_each_other_by_the_order_of_the_ledger(
    world: World, seeing: Observing, browse: BrowseEvents
) -> None:
    ids = [seeing.see_one(event(at=-at)) for at in range(5)]
    seen: list[Any] = []
    after = None
    while True:
        page = browse.page(world.admin, EventFilter(), limit=2, after=after)
        seen += [item.id for item in page.items]
        after = page.next_after
        if after is None:
            break
    assert seen == ids[::-1]


@pytest.mark.parametrize(
    ("reader", "sees"),
    [
        ({"role": Role.ADMIN}, True),
        ({"agent_slug": "bot"}, True),
        ({}, False),  # a key of no agent finds what is tagged for nobody
        ({"agent_slug": "other"}, False),
        ({"allowed_scopes": frozenset({Scope.PUBLIC})}, False),
    ],
    ids=str,
)
def test_an_event_is_shown_to_its_audience_only(
    world: World, seeing: Observing, browse: BrowseEvents, reader: Any, sees: bool
) -> None:
    one = seeing.see_one(event(agents=("bot",)))
    principal = world.as_other(**reader)
    page = browse.page(principal, EventFilter(), limit=10, after=None)
    assert bool(page.items) is sees
    if sees:
        assert browse.get(principal, one).id == one
    else:
        with pytest.raises(NotFound):
            browse.get(principal, one)


def test_another_workspace_sees_nothing(
    database: "Database", seeing: Observing, browse: BrowseEvents
) -> None:
    one = seeing.see_one(event())
    stranger = open_world(database.owner_url, database.app_url, f"stranger-{new_id()}")
    with pytest.raises(NotFound):
        browse.get(stranger.admin, one)
    assert browse.page(stranger.admin, EventFilter(), limit=10, after=None).items == ()
    stranger.pool.close()


def test_a_memory_is_no_event(world: World, seeing: Observing, browse: BrowseEvents) -> None:
    told = world.tell(memory("x")).outcomes[0].id
    assert told
    with pytest.raises(NotFound):
        browse.get(world.admin, told)
