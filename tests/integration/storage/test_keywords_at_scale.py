"""The bounded keyword leg: what the whole ranking finds, from few rows and no hidden ones."""

import json
import math
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

import psycopg
import pytest
from tests.support.world import World, open_world

from cairn.adapters.postgres.memory.recall import PostgresKeywordLeg
from cairn.kernel.access import Scope
from cairn.kernel.ids import new_id
from cairn.recall.records import Filters

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

Connection = psycopg.Connection[Any]
Ranked = list[tuple[UUID, float]]

ROWS = 6_000
WORDS = [f"w{at}x" for at in range(300)]
ODDS = [1 / (at + 1) for at in range(len(WORDS))]  # a few words often, most of them rarely
WANTED, REACH = 40, 500
COLUMNS = """workspace_id, id, label, text, context_text, content_hash, data_subjects, state, scope,
  occurred_at, valid_from, recorded_at, entry_id, created_position, position, metadata"""


@pytest.fixture(scope="module")
def root(database: "Database") -> Iterator[Connection]:
    with database.connect_as_superuser() as connection:
        connection.autocommit = True
        yield connection


@pytest.fixture(scope="module")
def crowd(database: "Database", root: Connection) -> Iterator[World]:
    """A workspace whose partition has more pages than are scored whole."""
    world = open_world(database.owner_url, database.app_url, "crowd")
    fill(root, world, random.Random(7), ROWS, "admin")
    root.execute("ANALYZE node")
    yield world
    world.pool.close()


def fill(root: Connection, world: World, chance: random.Random, count: int, scope: str) -> None:
    """Write nodes of 2 to 30 words, some of them said by others; half of a page each or so."""
    with root.cursor() as cursor, root.transaction():
        cursor.execute("SET LOCAL cairn.in_place = 'on'")  # without their history
        with cursor.copy(f"COPY node ({COLUMNS}) FROM STDIN") as rows:
            for at in range(count):
                said = chance.choices(WORDS, ODDS, k=chance.randint(1, 24))
                before = chance.choices(WORDS, ODDS, k=chance.randint(1, 6))
                metadata = json.dumps({"pad": chance.randbytes(600).hex()})
                rows.write_row(
                    (world.workspace_id, new_id(), "Memory", " ".join(said), " ".join(before), "",
                     "{}", "active", scope, "now", "now", "now", new_id(), at, at, metadata)
                )  # fmt: skip


def questions(count: int) -> list[list[str]]:
    chance = random.Random(11)
    return [
        sorted(set(chance.choices(WORDS, ODDS, k=size % 12 + 1)) | {f"nobody{size}"})
        for size in range(count)
    ]


def ranking(root: Connection, world: World, terms: Sequence[str], how: str) -> str:
    """The statement of one of the two rankings over the workspace, as the finders have it made."""
    visible = f"node n WHERE n.workspace_id = '{world.workspace_id}'"
    made = root.execute(f"SELECT {how}".encode(), {"terms": terms, "visible": visible}).fetchone()
    assert made is not None
    return made[0].replace("$1", str(WANTED))


WHOLE = "ranked_whole(lexemes_of(%(terms)s, NULL), %(visible)s)"
BOUNDED = f"ranked_bounded(lexemes_of(%(terms)s, NULL), %(visible)s, 1.0, {REACH})"


def test_the_best_their_scores_and_ties_are_those_of_the_whole_ranking(
    crowd: World, root: Connection
) -> None:
    """With a sample of all pages the counts are exact: the rest must be so, too, within reach."""
    rows = root.execute(
        "SELECT tsvector_to_array(search_tsv) FROM node WHERE workspace_id = %s",
        [crowd.workspace_id],
    ).fetchall()
    exact = ties = 0
    for terms in questions(48):
        whole: Ranked = root.execute(ranking(root, crowd, terms, WHOLE).encode()).fetchall()
        bounded: Ranked = root.execute(ranking(root, crowd, terms, BOUNDED).encode()).fetchall()
        assert len(bounded) == len(whole)
        if may_matter(rows, terms, whole[-1][1]) <= REACH:
            assert bounded == whole
            exact += 1
            ties += len({score for _, score in whole}) < len(whole)
        else:
            assert bounded[0][1] >= 0.8 * whole[0][1]
    assert exact >= 24
    assert ties >= 5


def may_matter(rows: Sequence[tuple[list[str]]], terms: Sequence[str], last: float) -> int:
    """How many rows would be among the best if each of their words had the rank 1."""
    having = [set(terms).intersection(words) for (words,) in rows]
    having = [found for found in having if found]
    counts = Counter(word for found in having for word in found)
    weights = {word: math.log(1 + len(having) / max(1, counts[word])) for word in terms}
    total = sum(weights.values())
    return sum(sum(weights[word] for word in found) >= last * total for found in having)


def test_one_partition_is_sampled_and_its_index_walked(crowd: World, root: Connection) -> None:
    statement = ranking(root, crowd, ["w1x", "w2x", "w200x"], BOUNDED)
    with root.transaction():
        root.execute("SET LOCAL ROLE cairn_finder")
        plan = "\n".join(line for (line,) in root.execute(f"EXPLAIN {statement}".encode()))
    assert len(set(re.findall(r"Scan on (node_p\d+)", plan))) == 1
    assert len(re.findall(r"Sample Scan on node_p\d+", plan)) == 1
    assert len(re.findall(r"Bitmap Index Scan on node_p\d+_search_tsv_idx", plan)) == 3
    assert "Seq Scan" not in plan


def find(world: World, terms: Sequence[str], **who: Any) -> list[tuple[UUID, float]]:
    leg = PostgresKeywordLeg(world.pool)
    principal = replace(world.admin, **who)
    found = leg.search(principal, terms, Filters(), limit=WANTED, timeout_ms=20_000)
    return [(node_id, score) for node_id, score in found]


def test_the_leg_finds_nearly_what_the_whole_ranking_finds(crowd: World, root: Connection) -> None:
    shares: list[float] = []
    for terms in questions(24):
        whole: Ranked = root.execute(ranking(root, crowd, terms, WHOLE).encode()).fetchall()
        found = find(crowd, terms)
        assert found == sorted(found, key=lambda each: (-each[1], each[0]))
        same = {one for one, _ in whole}.intersection(one for one, _ in found)
        shares.append(len(same) / len(whole))
    assert sum(shares) / len(shares) >= 0.95


def test_what_one_may_not_see_changes_no_score(crowd: World, root: Connection) -> None:
    """Words are counted among visible rows: those of others weigh nothing."""
    chance = random.Random(13)
    fill(root, crowd, chance, 300, "public")
    asked = questions(12)
    public = {"allowed_scopes": frozenset({Scope.PUBLIC})}
    before = [find(crowd, terms, **public) for terms in asked]
    assert all(before)
    fill(root, crowd, chance, 600, "admin")
    assert [find(crowd, terms, **public) for terms in asked] == before


@pytest.fixture(scope="module")
def beside(crowd: World, root: Connection) -> World:
    """A small workspace in the same partition."""
    near = """INSERT INTO workspace (id, name, created_at) SELECT id, 'beside', now()
      FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, 2000)) AS drawn, (
        SELECT part FROM generate_series(0, 15) AS part
         WHERE satisfies_hash_partition('node'::regclass, 16, part, %s)) AS mine
     WHERE satisfies_hash_partition('node'::regclass, 16, mine.part, id) LIMIT 1 RETURNING id"""
    found = root.execute(near, [crowd.workspace_id]).fetchone()
    assert found is not None
    admin = replace(crowd.admin, workspace_id=found[0])
    world = replace(crowd, workspace_id=found[0], admin=admin)
    fill(root, world, random.Random(17), 454, "admin")
    make_all_visible(root)
    return world


def make_all_visible(root: Connection) -> None:
    """Vacuum until an index alone answers: an ANALYZE of autovacuum's holds a run of it back."""
    unseen = """SELECT EXISTS (
      SELECT FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
       WHERE inhparent = 'node'::regclass AND relallvisible < relpages)"""
    deadline = time.monotonic() + 60
    while True:
        root.execute("VACUUM ANALYZE node")
        if root.execute(unseen).fetchone() == (False,):
            return
        assert time.monotonic() < deadline, "some transaction holds a snapshot of this database"


def as_finder(root: Connection, world: World, statement: str) -> list[Any]:
    """Run a statement as the owner of the finders, for a workspace."""
    with root.transaction():
        root.execute("SELECT set_config('cairn.workspace_id', %s, true)", [str(world.workspace_id)])
        root.execute("SET LOCAL ROLE cairn_finder")
        return root.execute(statement.encode()).fetchall()


def test_a_small_workspace_beside_a_large_one_is_scored_whole(
    crowd: World, beside: World, root: Connection
) -> None:
    rarity = "SELECT ranked_by_rarity(ARRAY['w1x', 'w2x']::tsquery[], 'node n WHERE true')"
    made = [as_finder(root, world, rarity)[0][0] for world in (crowd, beside)]
    assert ["TABLESAMPLE" in each for each in made] == [True, False]
    for terms in questions(24):
        whole: Ranked = root.execute(ranking(root, beside, terms, WHOLE).encode()).fetchall()
        assert find(beside, terms) == [(id_, pytest.approx(score)) for id_, score in whole]


def test_rows_of_a_workspace_are_counted_in_its_index_and_no_further_than_needed(
    crowd: World, beside: World, root: Connection
) -> None:
    for world, rows in ((beside, 454), (crowd, 4001)):
        own = f"SELECT FROM node WHERE workspace_id = '{world.workspace_id}' OFFSET 4000"
        explain = f"EXPLAIN (ANALYZE, TIMING off, SUMMARY off) SELECT EXISTS ({own})"
        with root.transaction():
            root.execute("SET LOCAL enable_seqscan TO off")  # as the function has it
            told = as_finder(root, world, explain)
        plan = "\n".join(line for (line,) in told)
        scanned = re.findall(r"Index Only Scan using node_p\d+_\w+ .*actual rows=(\d+)", plan)
        assert [int(each) for each in scanned] == [rows], plan


def test_words_weigh_enough_together_or_are_left_out(root: Connection) -> None:
    def asked(level: float, *weights: float) -> str | None:
        words = [f"'{chr(97 + at)}'" for at in range(len(weights))]
        row = root.execute(
            "SELECT weighing_at_least(%s, %s::tsquery[], %s::float8[])::text",
            [level, words, list(weights)],
        ).fetchone()
        assert row is not None
        return row[0]

    assert asked(0.9, 0.5, 0.3) is None
    assert asked(0.8, 0.5, 0.3) == "'a' & 'b'"
    assert asked(0.5, 0.5, 0.25, 0.25) == "'a' | 'b' & 'c'"
    assert asked(0.0, 0.5, 0.3) == "'a' | 'b'"
    assert asked(0.5, *[0.2] * 8, 0.1, 0.1) == asked(
        0.3, *[0.2] * 8
    )  # what is light counts for all
    assert asked(0.25, *[0.2] * 8, 0.2, 0.2) == asked(0.2, *[0.2] * 8)  # in proportion
