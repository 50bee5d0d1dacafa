"""Vectors swapped together with their cache: every checksum agrees, and their texts do not."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.support.everything import Everything, open_everything

from cairn.reembedding.compare import CheckVectors

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

SWAP = """
UPDATE {table} AS t SET v = o.v FROM {table} AS o
 WHERE t.workspace_id = $w AND o.workspace_id = $w AND t.{key} <> o.{key}
   AND t.{key} IN ({two}) AND o.{key} IN ({two})"""


@pytest.fixture
def some(database: "Database") -> Iterator[Everything]:
    everything = open_everything(database)
    everything.remember()
    everything.embed(one_by_one=True)
    yield everything
    everything.pool.close()


def checking(of: Everything) -> CheckVectors:
    return CheckVectors(transactions=of.transactions, embedder=of.embedder)


def swapped(of: Everything) -> set[str]:
    """Exchange the cached vectors of two texts, then make the rows anew of the cache."""
    hashes = """SELECT c.text_hash FROM embedding_cache c JOIN node n ON n.id = c.node_id
        WHERE c.workspace_id = $w AND n.state = 'active' AND n.label = 'Memory'
          AND sha256(convert_to(n.text, 'UTF8')) = c.text_hash ORDER BY c.text_hash LIMIT 2"""
    of.rows(SWAP.format(table="embedding_cache", key="text_hash", two=hashes))
    done = of.rebuild(of.workspace_id)
    assert not done.equal
    named = of.rows(
        f"SELECT node_id FROM embedding_cache WHERE workspace_id = $w AND text_hash IN ({hashes})"  # noqa: S608
    )
    return {str(one) for (one,) in named if one}


@pytest.mark.parametrize("deep", [False, True])
def test_they_are_found_by_computing_them_again(some: Everything, deep: bool) -> None:
    clean = checking(some)(some.workspace_id, deep=deep)
    assert (clean.wrong, clean.nodes > 5, clean.texts > 5) == ((), True, True)
    whose = swapped(some)
    assert some.rebuild(some.workspace_id, only_check=True).equal
    found = checking(some)(some.workspace_id, deep=deep)
    assert whose <= {str(item) for item in found.wrong}
    assert found.as_json()["wrong"] == len(found.wrong) > 0


def test_all_are_looked_at_however_many_pages_there_are(
    some: Everything, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cairn.reembedding.compare.PAGE", 2)
    monkeypatch.setattr("cairn.reembedding.compare.SAMPLE", 3)
    [(having,)] = some.rows(
        """SELECT count(DISTINCT node_id) FROM embedding WHERE workspace_id = $w
            AND state IN ('active', 'provisional', 'superseded')"""
    )
    assert checking(some)(some.workspace_id, deep=True).nodes == having
    assert checking(some)(some.workspace_id).nodes <= 3
