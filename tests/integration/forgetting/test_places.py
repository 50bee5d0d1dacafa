"""docs/operate/forgetting.md has a row for each place there is, and no other."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.support.forgetting import Stand, open_stand

from cairn.adapters.aws.erasing import S3Searcher
from cairn.adapters.opensearch.documents import ANY_VERSION
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.ledger.proving import PostgresSearcher
from cairn.forgetting.prove import NOT_SEARCHED, OPENSEARCH, OPERATOR, Needles
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

GUIDE = Path(__file__).parents[3] / "docs" / "operate" / "forgetting.md"
ROW = re.compile(r"^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \|", re.MULTILINE)
FATES = ("erased now", "unreadable by key", "expires", "kept", "not ours", "nothing of it")


@pytest.fixture
def pool(database: "Database") -> Iterator[Pool]:
    pool = Pool(database.app_url, size=2)
    yield pool
    pool.close()


@pytest.fixture
def stand(database: "Database", pool: Pool) -> Stand:
    return open_stand(database, pool)


def test_the_guide_has_a_row_for_each_place_that_is_looked_at(stand: Stand) -> None:
    needles = Needles(texts=("nothing",), ids=(new_id(),))
    tables = PostgresSearcher(stand.pool)(stand.workspace_id, needles)
    there = {f"{table.store} {table.place}" for table in (*tables, *NOT_SEARCHED)}
    there |= {f"{store} {place}" for store, place in (("keys", "keys"), OPENSEARCH, *OPERATOR)}
    there |= {f"uploads {place}" for place in S3Searcher("b").prefixes}
    rows = ROW.findall(GUIDE.read_text(encoding="utf-8"))
    assert {name for name, _, _ in rows} == there
    assert len(rows) == len(there)


def test_each_row_says_what_becomes_of_it() -> None:
    for name, fate, _ in ROW.findall(GUIDE.read_text(encoding="utf-8")):
        assert fate.strip().startswith(FATES), name


def test_searchers_and_guide_call_places_the_same() -> None:
    assert OPENSEARCH[1] == ANY_VERSION
