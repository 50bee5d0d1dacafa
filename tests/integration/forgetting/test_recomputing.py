"""After a forgetting the rows are those of a ledger in which the forgotten never was readable."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.support.forgetting import CANARY, Stand, open_stand
from tests.support.platform import platform_of

from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.ledger.replay import PostgresReplays
from cairn.forgetting.forget import Target
from cairn.rebuild.rebuild import Rebuild, Rebuilt
from cairn.rebuild.restore import RecomputeByReplay

if TYPE_CHECKING:
    from uuid import UUID

    from tests.plugins.postgres import Database


@pytest.fixture
def pool(database: "Database") -> Iterator[Pool]:
    pool = Pool(database.app_url, size=4)
    yield pool
    pool.close()


@pytest.fixture
def stand(database: "Database", pool: Pool) -> Stand:
    return open_stand(database, pool)


def rebuild_of(stand: Stand) -> Rebuild:
    return Rebuild(
        platform=platform_of(None, keys=stand.keys, dispatcher=stand.system.sent),
        replays=PostgresReplays(stand.pool),
    )


def differing(checked: Rebuilt) -> set[str]:
    """The tables whose rows a rebuild would change."""
    return {name for name in checked.before if checked.before[name] != checked.after[name]}


def shared(stand: Stand) -> None:
    """Two clients whose texts name the same things, so that the graph joins them."""
    stand.tell(f"{CANARY} runs Redis beside PostgreSQL")
    stand.tell("Redis feeds PostgreSQL and Kafka", client="other")
    stand.tell("Kafka feeds Redis, says acme")
    stand.tell("Redis is fast", client="other", key="fast")
    stand.tell("Redis is slow", client="other", key="fast")
    stand.documents.ingest("# Plan\n\nMove from Redis to Kafka.", client_id="acme")
    stand.embed()


def test_a_rebuild_brings_nothing_back_and_changes_nothing(stand: Stand) -> None:
    shared(stand)
    stand.forget = stand.forgetting(recompute=RecomputeByReplay(rebuild=rebuild_of(stand)))
    done = stand.forgets()
    assert done.forgetting.status == "done"
    assert stand.proof(done).clean
    checked = rebuild_of(stand)(stand.workspace_id, only_check=True)
    assert differing(checked) == set()
    rebuild_of(stand)(stand.workspace_id)
    assert stand.proof(done).clean


def test_without_what_is_shared_the_purge_alone_gives_the_same_rows(stand: Stand) -> None:
    stand.tell(f"{CANARY} was here", key="here", source_agent="scout")
    stand.tell(f"{CANARY} went away", key="here", source_agent="scout")
    stand.tell("nothing in common", client="other", source_agent="clerk")
    stand.embed()
    stand.forgets()
    checked = rebuild_of(stand)(stand.workspace_id, only_check=True)
    assert differing(checked) == set()


def test_a_rebuild_under_way_is_begun_again(stand: Stand) -> None:
    shared(stand)
    rebuild = rebuild_of(stand)
    rebuild.advance(stand.workspace_id, seconds=0)
    done = stand.forgets()
    assert stand.proof(done).clean
    rebuild(stand.workspace_id)
    assert stand.proof(done).clean


def test_while_a_key_of_somebody_else_is_missing_the_rest_waits(stand: Stand) -> None:
    shared(stand)
    others = stand.forget.plan(stand.principal, Target(owner=("client", "other"))).subject_id
    stand.keys.destroy(stand.workspace_id, others)
    stand.forget = stand.forgetting(recompute=RecomputeByReplay(rebuild=rebuild_of(stand)))
    assert stand.forgets().forgetting.status == "purged"


def test_a_recomputation_that_takes_longer_is_taken_up_again(stand: Stand) -> None:
    parts = iter([False, False, True])

    def recompute(workspace_id: "UUID", seconds: float) -> bool:
        return next(parts)

    stand.forget = stand.forgetting(recompute=recompute)
    stand.tell("one")
    assert [stand.forgets().forgetting.status for _ in range(4)] == [
        "purged",
        "purged",
        "done",
        "done",
    ]
