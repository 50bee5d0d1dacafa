"""Who finds summaries, and that nobody does who did not ask for them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
import pytest
from tests.support.summarising import Summarising, summarising_in_postgres
from tests.support.talking import public_of, talking_in

from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.memory.recall import PostgresKeywordLeg, PostgresVectorLeg
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.conversations.messages import Channel
from cairn.kernel.access import Principal, Scope
from cairn.kernel.errors import NotFound
from cairn.recall.recipes import DEFAULT, MEMORY
from cairn.recall.records import Filters
from cairn.summaries.read import ReadSummaries, SummaryFilter

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

TOLD = ("The boiler leaks.", "A plumber mended the boiler.", "The boiler is warm again.")
PUBLIC: dict[str, Any] = {"channel": Channel.API, "scope": Scope.PUBLIC, "agents": ("bot",)}


@pytest.fixture
def summing(database: "Database") -> Iterator[Summarising]:
    yield from summarising_in_postgres(database)


@pytest.fixture
def pool(database: "Database") -> Iterator[Pool]:
    opened = Pool(database.app_url, size=2)
    yield opened
    opened.close()


def embed(database: "Database", workspace_id: UUID) -> None:
    """Give every node of a workspace the same vector."""
    with database.connect_as_superuser() as root:
        root.execute(
            """INSERT INTO embedding (workspace_id, node_id, model_id, v, position, label, kind,
                 scope, agents, client_id, state, occurred_at, valid_from)
               SELECT workspace_id, id, 1, (SELECT array_agg((g = 1)::int::real ORDER BY g)
                   FROM generate_series(1, 384) g)::vector::halfvec,
                 position, label, kind, scope, agents, client_id, state, occurred_at, valid_from
                 FROM node WHERE workspace_id = %s""",
            [workspace_id],
        )


def labels_found(
    database: "Database", pool: Pool, principal: Principal, filters: Filters
) -> set[str]:
    """Return the labels of what the two text legs find."""
    axis = np.zeros(384, dtype=np.float32)
    axis[0] = 1.0
    given: dict[str, Any] = {"limit": 50, "timeout_ms": 5_000}
    words = PostgresKeywordLeg(pool).search(principal, ["boiler"], filters, **given)
    near = PostgresVectorLeg(pool).search(
        principal, axis, filters, model_id=1, minimum=0.1, **given
    )
    with database.connect_as_superuser() as root:
        asked = [word.node_id for word in (*words, *near)]
        rows = root.execute("SELECT label FROM node WHERE id = ANY (%s)", [asked]).fetchall()
    assert {word.node_id for word in words} == {item.node_id for item in near}
    return {label for (label,) in rows}


def test_no_search_finds_a_summary_unless_it_asks_for_the_label(
    database: "Database", pool: Pool, summing: Summarising
) -> None:
    summing.say(*TOLD)
    summing.run()
    principal = summing.system.principal
    embed(database, principal.workspace_id)
    with summing.system.transactions.reading(principal) as stores:
        position = stores.ledger.head().position
    for past in (None, position):
        plain = Filters(labels=DEFAULT.labels, as_of_position=past)
        assert labels_found(database, pool, principal, plain) == {"Memory"}
        asked = Filters(labels=("Summary",), as_of_position=past)
        assert labels_found(database, pool, principal, asked) == {"Summary"}
        memory = Filters(labels=MEMORY.labels, as_of_position=past)
        assert labels_found(database, pool, principal, memory) == {"Memory", "Summary"}


def test_the_graph_leg_takes_a_summary_for_no_result(pool: Pool, summing: Summarising) -> None:
    summing.say(*TOLD)
    summing.run()
    ids = [summary.id for summary in summing.summaries()]
    with StoreTransactions(pool).reading(summing.system.principal) as stores:
        assert stores.graph.eligible(ids, Filters()) == frozenset()
        assert stores.graph.eligible(ids, Filters(labels=("Summary",))) == set(ids)


def test_a_visitor_sees_the_summary_of_no_other_conversation(
    database: "Database", pool: Pool, summing: Summarising
) -> None:
    admin = summing.system.principal
    talk = talking_in(pool, admin, keys=summing.system.keys)
    said = {
        session: [talk.say(text, **PUBLIC, session_id=session) for text in TOLD][-1]
        for session in ("mine", "yours")
    }
    assert summing.run()["sessions"] == 2
    visitor = public_of(admin)
    with database.connect_as_superuser() as root:
        root.execute(
            "INSERT INTO key_conversation VALUES (%s, %s, %s, 1)",
            [admin.workspace_id, visitor.key_id, said["mine"].conversation_id],
        )
    read = ReadSummaries(transactions=StoreTransactions(pool))
    everything = read.page(admin, SummaryFilter(), limit=50)
    mine = {item.id for item in everything if item.session_id == "mine"}
    assert len(everything) == 5  # two episodes, two sessions, and who spoke in both
    assert {item.id for item in read.page(visitor, SummaryFilter(), limit=50)} == mine
    for item in everything:
        if item.id not in mine:
            with pytest.raises(NotFound):
                read.tree(visitor, item.id)
    stranger = public_of(admin)
    assert list(read.page(stranger, SummaryFilter(), limit=50)) == []


def test_the_tree_goes_down_to_the_messages_and_back_in_time(
    pool: Pool, summing: Summarising
) -> None:
    summing.say(*TOLD)
    summing.run()
    principal = summing.system.principal
    with summing.system.transactions.reading(principal) as stores:
        before = stores.ledger.head().position
    summing.say("It leaks again.", at=4)
    summing.run()
    read = ReadSummaries(transactions=StoreTransactions(pool))
    (session,) = read.page(principal, SummaryFilter(scope="session", scope_id="s"), limit=5)
    now = read.tree(principal, session.id)
    then = read.tree(principal, session.id, as_of=before)
    (episode,) = now.root.children
    assert len(episode.children) == 4
    assert len(then.root.children[0].children) == 3
    assert (then.as_of_position, then.truncated) == (before, False)
    early = read.page(principal, SummaryFilter(scope="session", as_of=0), limit=5)
    assert list(early) == []
