"""What discovery reads stays small however many members there are: rows, as the functions' role."""

from __future__ import annotations

from contextlib import closing, nullcontext
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from infra.local.layout import PROJECT
from tests.integration.benchmarks.test_scale import quiet

from benchmarks.discovery.scale import DiscoveryScale
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.bootstrap.owner import create_workspace
from cairn.discovery.matching.searching import profile_of
from cairn.embedding.onnx import OnnxEmbedder
from cairn.kernel.access.system import system_principal
from cairn.kernel.clock import monotonic, utc_now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from uuid import UUID

    from tests.plugins.postgres import Database

    from benchmarks.discovery.scale import Community
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores

MODEL = PROJECT / "build" / "model" / "bge-small-en-v1.5"
MEMBERS = 12_000
"""So many that reading them all costs more than asking the index of vectors."""

FEW = 4_000
"""Rows that a read of a hundred may touch, over all tables; reading a table whole is more."""

READ = """
SELECT relname, seq_tup_read, coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables
 WHERE seq_tup_read + coalesce(idx_tup_fetch, 0) > 0
"""
OPPORTUNITIES = """
INSERT INTO opportunity (workspace_id, id, pair, network_id, source_id, target_id, source_role,
  target_role, score, trigger, state, data_subjects, body, created_at, changed_at, expires_at)
SELECT a.workspace_id, gen_random_uuid(), a.n || ' ' || b.n, a.network_id, a.member_id, b.member_id,
  'patient', 'agent', 80, 'ambient', 'pending', ARRAY[a.member_id, b.member_id], '', now(), now(),
  now() + interval '30 days'
  FROM bench_member a JOIN bench_member b ON b.workspace_id = a.workspace_id
   AND b.n IN ((a.n + 1) % 12000, (a.n + 7) % 12000) AND b.n <> a.n
"""


class Town:
    """A network of some thousand members, each with a profile and an intent."""

    def __init__(self, pool: Pool, community: Community, people: list[tuple[UUID, UUID]]) -> None:
        self.pool, self.community, self.people = pool, community, people
        (self.network_id,) = {network for _, network in people}
        self.vector = OnnxEmbedder(MODEL).embed(["a shipwright for rotten planks"])[0]
        self.faces = {member: profile_of(member) for member, _ in people[100:120]}

    def read(self, principal: Principal, do: Callable[[Stores], Any]) -> tuple[int, dict[str, int]]:
        """How much came of it, and how many rows of each table it read."""
        with StoreTransactions(self.pool).reading(principal) as stores:
            before = self._read_so_far(stores)
            answer = do(stores)
            after = self._read_so_far(stores)
        return len(answer), {name: rows - before.get(name, 0) for name, rows in after.items()}

    @staticmethod
    def _read_so_far(stores: Stores) -> dict[str, int]:
        rows = stores.matches.connection.execute(READ.encode()).fetchall()
        return {name: seq + fetched for name, seq, fetched in rows}


@pytest.fixture(scope="module")
def town(database: Database) -> Iterator[Town]:
    bench = DiscoveryScale(
        owner_url=database.owner_url,
        app_url=database.app_url,
        embedder=OnnxEmbedder(MODEL),
        open_workspace=create_workspace,
        uses=lambda _: nullcontext(),  # pyright: ignore[reportArgumentType] - nothing is timed
        progress=quiet,
        stopwatch=monotonic,
        motifs=100,
    )
    (community,) = bench.fill(database.owner_url, database.app_url, [MEMBERS])
    with database.connect_as_superuser() as root:
        root.execute(OPPORTUNITIES.encode())
        root.execute(b"ANALYZE opportunity")
        people = root.execute(b"SELECT member_id, network_id FROM bench_member ORDER BY n")
        listed = people.fetchall()
    with closing(Pool(database.app_url)) as pool:
        yield Town(pool, community, listed)


READS: dict[str, Callable[[Town, Stores], Any]] = {
    "wishes near": lambda town, stores: stores.matches.near(
        town.vector, 6, sides=["offering"], networks=[town.network_id], minimum=0, limit=100
    ),
    "profiles near": lambda town, stores: stores.matches.profiles_near(
        town.vector, 6, networks=[town.network_id], minimum=0, limit=100
    ),
    "those named": lambda town, stores: stores.matches.named_near(
        town.vector, 6, faces=town.faces, networks=[town.network_id]
    ),
    "opportunities of one's own": lambda town, stores: stores.opportunities.of(town.people[5][0]),
    "texts": lambda town, stores: stores.matches.shown(list(town.faces.values()), 6),
}


@pytest.mark.parametrize("name", READS)
def test_what_a_member_reads_of_thousands_is_a_few_rows(town: Town, name: str) -> None:
    found, rows = town.read(town.community.member(5), lambda stores: READS[name](town, stores))
    assert found > 0
    assert sum(rows.values()) <= FEW, rows


DUE: dict[str, Callable[[Stores], Any]] = {
    "intents to look for": lambda stores: stores.matches.due(utc_now(), 50),
    "opportunities that are over": lambda stores: stores.opportunities.due(utc_now(), 50),
    "negotiations that go on": lambda stores: stores.negotiations.due(utc_now(), 50),
}


@pytest.mark.parametrize("name", DUE)
def test_a_sweep_with_nothing_to_do_reads_next_to_nothing(town: Town, name: str) -> None:
    everything = system_principal(town.community.workspace_id)
    found, rows = town.read(everything, DUE[name])
    assert (found, sum(rows.values()) <= 10) == (0, True), rows


def test_the_few_that_are_due_are_read_and_nothing_else(town: Town) -> None:
    everything = system_principal(town.community.workspace_id)
    changed = (utc_now() + timedelta(seconds=1), town.community.intents[:3])
    with StoreTransactions(town.pool).writing(everything) as stores:
        statement = b"UPDATE intent SET changed_at = %s WHERE id = ANY (%s)"
        stores.matches.connection.execute(statement, changed)
    found, rows = town.read(everything, DUE["intents to look for"])
    assert found == 3
    assert sum(rows.values()) <= 50, rows
