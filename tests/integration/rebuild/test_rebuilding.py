"""A workspace with one of everything, made anew from its ledger: the same, row for row."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.everything import Everything, open_everything
from tests.support.remembering import NOON, fact

from cairn.adapters.postgres.ledger.replay import PostgresReplays
from cairn.adapters.postgres.projections import BESIDE, NO_PROJECTIONS, PROJECTIONS
from cairn.kernel.errors import CairnError, Conflict
from cairn.kernel.ids import new_id
from cairn.ledger.chain import seal
from cairn.ledger.entry import NewEntry
from cairn.rebuild import rebuild
from cairn.writing.append import SYSTEM

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

MAY_BE_EMPTY = {"purged_node", "taint", "taint_node"}


@pytest.fixture(scope="module")
def full(database: "Database") -> Iterator[Everything]:
    everything = open_everything(database)
    everything.fill()
    yield everything
    everything.pool.close()


@pytest.fixture
def some(database: "Database") -> Iterator[Everything]:
    everything = open_everything(database)
    everything.remember()
    everything.embed(one_by_one=True)
    yield everything
    everything.pool.close()


def sums(of: Everything) -> dict[str, Any]:
    """The checksums of the rows in use."""
    with PostgresReplays(of.pool).comparing(of.admin) as stores:
        return dict(stores.replica.live_checksums())


def left_over(of: Everything) -> dict[str, int]:
    """How many rows of a replay are still there, by table."""
    names = [*PROJECTIONS, *BESIDE, "progress", "lacking", "keyless"]
    counted = {
        name: of.rows("SELECT count(*) FROM replay.$t WHERE workspace_id = $w", table=name)[0][0]
        for name in names
    }
    return {name: count for name, count in counted.items() if count}


def head(of: Everything) -> int:
    return of.rows("SELECT position FROM ledger_head WHERE workspace_id = $w")[0][0]


def test_every_table_is_said_to_be_a_projection_or_not(full: Everything) -> None:
    public, second = (
        {
            name
            for (name,) in full.rows(
                """SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace
                    AND relkind IN ('r', 'p') AND NOT relispartition AND relname !~ '^_?yoyo'""",
                schema,
            )
        }
        for schema in ("public", "replay")
    )
    assert public == {*PROJECTIONS, *NO_PROJECTIONS}
    assert second == {*PROJECTIONS, *BESIDE, "progress", "lacking", "keyless"}
    assert {*BESIDE} <= {*NO_PROJECTIONS}


def test_the_second_set_has_the_columns_and_triggers_of_the_first(full: Everything) -> None:
    def shape(schema: str) -> list[Any]:
        columns = full.rows(
            """SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attgenerated
                 FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
                WHERE c.relnamespace = %s::regnamespace AND c.relname = ANY (%s)
                  AND a.attnum > 0 AND NOT a.attisdropped
                ORDER BY c.relname, a.attnum""",
            schema,
            [*PROJECTIONS, *BESIDE],
        )
        triggers = full.rows(
            """SELECT c.relname, t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
                WHERE c.relnamespace = %s::regnamespace AND NOT t.tgisinternal
                  AND c.relname = ANY (%s) ORDER BY 1, 2""",
            schema,
            [*PROJECTIONS, *BESIDE],
        )
        return [columns, triggers]

    columns, triggers = shape("public")
    of_many = ("node", "node_keeps_changed_versions")  # there a statement's versions together
    assert shape("replay") == [columns, sorted([*triggers, of_many])]


def test_the_second_set_is_guarded_like_the_first(full: Everything) -> None:
    loose = full.rows(
        """SELECT relname FROM pg_class WHERE relnamespace = 'replay'::regnamespace
           AND relkind = 'r' AND NOT (relrowsecurity AND relforcerowsecurity)"""
    )
    assert loose == []


def test_every_table_is_as_the_ledger_says(full: Everything) -> None:
    before = head(full)
    done = full.rebuild(full.workspace_id)
    assert [name for name in done.before if done.before[name] != done.after[name]] == []
    assert (done.equal, done.replaced.rows, done.queued) == (True, 0, 0)
    assert (done.entries, done.unreadable) == (before, 0)
    assert {name for name, one in done.after.items() if not one.rows} <= MAY_BE_EMPTY
    assert left_over(full) == {}
    assert head(full) == before + 1


def test_it_says_table_by_table_what_it_found(full: Everything) -> None:
    told = full.rebuild(full.workspace_id, only_check=True).as_json()
    assert told["equal"] is True
    assert set(told["tables"]) == set(PROJECTIONS)
    assert all(table["before"] == table["after"] for table in told["tables"].values())


def test_without_any_projection_the_same_comes_back(some: Everything) -> None:
    before = sums(some)
    for name in PROJECTIONS:
        some.rows("DELETE FROM $t WHERE workspace_id = $w", table=name)
    done = some.rebuild(some.workspace_id)
    assert not done.equal
    assert done.after == before
    assert sums(some) == before


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE node SET text = text || '!' WHERE workspace_id = $w AND label = 'Memory'",
        "UPDATE node_version SET text = 'x' WHERE workspace_id = $w",
        "DELETE FROM edge_version WHERE workspace_id = $w",
        "DELETE FROM node WHERE workspace_id = $w AND label = 'Entity'",
        "UPDATE node SET backlink_count = 7, position = position + 9 WHERE workspace_id = $w",
        "UPDATE edge SET superseded_at = now() WHERE workspace_id = $w",
        "UPDATE embedding SET state = 'deleted', ordinal = ordinal + 1 WHERE workspace_id = $w",
        "UPDATE data_subject SET natural_key = 'eve' WHERE workspace_id = $w",
        "INSERT INTO entity_alias VALUES ($w, 'acme', 'Acme', 'concept', 'manual', 1)",
        "INSERT INTO subscription VALUES ($w, 'intruder', '{redis}', 1)",
    ],
)
def test_what_was_changed_behind_the_ledgers_back_is_seen_and_mended(
    some: Everything, damage: str
) -> None:
    before = sums(some)
    some.rows(damage)
    damaged = sums(some)
    seen = some.rebuild(some.workspace_id, only_check=True)
    assert not seen.equal
    assert (dict(seen.before), dict(seen.after)) == (damaged, before)
    assert sums(some) == damaged
    assert left_over(some) == {}
    done = some.rebuild(some.workspace_id)
    assert done.replaced.rows > 0
    assert sums(some) == before


def test_a_check_changes_nothing_and_writes_no_entry(some: Everything) -> None:
    before = head(some), sums(some)
    assert some.rebuild(some.workspace_id, only_check=True).equal
    assert (head(some), sums(some)) == before


def test_the_ledger_says_that_it_was_rebuilt(some: Everything) -> None:
    some.rebuild(some.workspace_id)
    [(kind, meta)] = some.rows(
        """SELECT type, meta::jsonb FROM ledger WHERE workspace_id = $w
            ORDER BY position DESC LIMIT 1"""
    )
    assert kind == "rebuild.completed"
    assert (meta["equal"], meta["changed_rows"]) == (True, 0)


def test_rows_whose_key_was_destroyed_do_not_come_back(some: Everything) -> None:
    of_ana = "SELECT count(*) FROM node WHERE workspace_id = $w AND %s = ANY (data_subjects)"
    ana = some.forgotten("ana")
    assert some.rows(of_ana, ana)[0][0] > 0
    done = some.rebuild(some.workspace_id)
    assert done.unreadable > 0
    assert some.rows(of_ana, ana) == [(0,)]
    assert some.rows("SELECT natural_key FROM data_subject WHERE workspace_id = $w") == [("acme",)]
    assert some.rebuild(some.workspace_id).equal


def test_vectors_the_cache_lost_are_queued_and_come_back(some: Everything) -> None:
    before = sums(some)
    lost = some.rows("SELECT count(DISTINCT node_id) FROM embedding WHERE workspace_id = $w")[0][0]
    some.rows("DELETE FROM embedding_cache WHERE workspace_id = $w")
    calls = len(some.embedder.calls)
    done = some.rebuild(some.workspace_id)
    assert (done.queued, len(some.embedder.calls)) == (lost, calls)
    assert done.after["embedding"].rows == 0
    assert {name for name in before if done.after[name] != before[name]} == {"embedding"}
    some.embed()
    assert sums(some)["embedding"].rows == before["embedding"].rows
    assert some.rebuild(some.workspace_id).equal


def test_an_altered_body_or_entry_is_refused_and_nothing_changes(some: Everything) -> None:
    before = sums(some)
    some.rows("ALTER TABLE ledger DISABLE TRIGGER ledger_is_append_only")
    some.rows("""UPDATE ledger SET meta = '{}' WHERE workspace_id = $w AND position = 5""")
    with pytest.raises(Conflict, match="position 5") as refused:
        some.rebuild(some.workspace_id)
    assert refused.value.reason == "ledger-broken"
    assert sums(some) == before


def test_what_is_written_meanwhile_is_there_afterwards(some: Everything) -> None:
    use = some.rebuild
    assert not use.advance(some.workspace_id, seconds=60)["more"]
    some.system.tell(fact("Written meanwhile."))
    some.embed()
    some.rows("UPDATE node SET text = 'damaged' WHERE workspace_id = $w AND label = 'Entity'")
    done = use.finish(some.workspace_id)
    assert done is not None
    assert some.rows("SELECT count(*) FROM node WHERE workspace_id = $w AND text = 'damaged'") == [
        (0,)
    ]
    assert some.rows(
        "SELECT state FROM node WHERE workspace_id = $w AND text = 'Written meanwhile.'"
    ) == [("active",)]
    assert some.rebuild(some.workspace_id).equal


def test_a_replay_goes_on_page_by_page_and_gives_the_same(
    some: Everything, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sums(some)
    monkeypatch.setattr(rebuild, "PAGE", 1)
    monkeypatch.setattr(rebuild, "LAST_ENTRIES", 0)
    told = [some.rebuild.advance(some.workspace_id, seconds=0) for _ in range(4)]
    assert [item["entries"] for item in told] == [1, 2, 3, 4]
    assert all(item["more"] for item in told)
    assert some.rebuild(some.workspace_id).equal
    assert sums(some) == before


def test_two_at_once_do_not_disturb_each_other(
    some: Everything, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sums(some)
    some.rows("UPDATE node SET text = 'damaged' WHERE workspace_id = $w")
    monkeypatch.setattr(rebuild, "PAGE", 3)

    def run(_: int) -> bool:
        try:
            some.rebuild(some.workspace_id)
        except CairnError as error:
            return error.reason in ("ledger-busy", "rebuild-ended")
        return True

    with ThreadPoolExecutor(2) as threads:
        assert all(threads.map(run, range(2)))
    assert sums(some) == before


def test_what_other_code_began_is_begun_again(
    some: Everything, monkeypatch: pytest.MonkeyPatch
) -> None:
    some.rebuild.advance(some.workspace_id, seconds=60)
    some.rows("UPDATE replay.node_version SET text = 'of older code' WHERE workspace_id = $w")
    some.rows("UPDATE replay.progress SET version = 'older' WHERE workspace_id = $w")
    done = some.rebuild(some.workspace_id)
    assert [name for name in done.before if done.before[name] != done.after[name]] == []


def test_a_rebuild_under_way_can_be_forgotten_with_all_it_made(some: Everything) -> None:
    some.rebuild.advance(some.workspace_id, seconds=60)
    assert left_over(some)["node"] > 0
    some.rebuild.discard(some.workspace_id)
    assert left_over(some) == {}


def test_a_forgetting_during_a_rebuild_lets_it_begin_again(some: Everything) -> None:
    """What was replayed while the key was there must not be put in place after a forgetting."""
    some.rebuild.advance(some.workspace_id, seconds=60)
    [(ana,)] = some.rows(
        "SELECT id FROM data_subject WHERE workspace_id = $w AND natural_key = 'ana'"
    )
    some.keys.destroy(some.workspace_id, ana)
    with some.transactions.writing(some.admin) as stores:
        entry = NewEntry(
            id=new_id(),
            workspace_id=some.workspace_id,
            type="subject.forgotten",
            actor=SYSTEM,
            occurred_at=NOON,
            meta={"subject_id": str(ana), "node_ids": [], "cleared": [], "revived": []},
        )
        stores.ledger.append(seal(stores.ledger.head(), [entry], NOON))
    some.rebuild(some.workspace_id)
    assert some.rows(
        "SELECT count(*) FROM node WHERE workspace_id = $w AND %s = ANY (data_subjects)", ana
    ) == [(0,)]


def test_the_past_reads_as_before(full: Everything) -> None:
    def past() -> list[Any]:
        return full.rows(
            """SELECT v.id, v.text, v.state, v.backlink_count, p.at
                 FROM generate_series(1, (SELECT max(from_position) FROM node_version
                                           WHERE workspace_id = $w), 7) AS p (at)
                 JOIN node_version v ON v.workspace_id = $w AND v.from_position <= p.at
                  AND p.at < coalesce(v.to_position, 9223372036854775807)
                ORDER BY p.at, v.id"""
        )

    before = past()
    full.rows("DELETE FROM node_version WHERE workspace_id = $w")
    full.rows("DELETE FROM node WHERE workspace_id = $w")
    full.rebuild(full.workspace_id)
    assert past() == before
    assert len(before) > 100


def test_another_workspace_is_not_touched(database: "Database", some: Everything) -> None:
    other = open_everything(database)
    other.system.tell(fact("Of another workspace.", occurred_at=NOON))
    before = sums(other)
    some.rows("DELETE FROM node WHERE workspace_id = $w")
    some.rebuild(some.workspace_id)
    assert sums(other) == before
    assert other.rebuild(other.workspace_id).equal
    other.pool.close()
