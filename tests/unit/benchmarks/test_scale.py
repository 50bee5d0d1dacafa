"""The scale benchmark's own arithmetic: sizes, shares, summaries, growth, and the made-up rows."""

import numpy as np
import pytest

from benchmarks.scale.command import sizes_of
from benchmarks.scale.corpus import motifs, questions, rows
from benchmarks.scale.load import BIG, SMALL, shares
from benchmarks.scale.measure import ExactSearch, summary
from benchmarks.scale.run import growth
from cairn.cli.client import Failure


def test_sizes_are_read_ascending_and_once() -> None:
    assert sizes_of("100000, 10000,10000") == [10_000, 100_000]


@pytest.mark.parametrize("text", ["", "ten", "999", "1000,x", "-5", "99999999999"])
def test_sizes_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(Failure, match="--rows takes"):
        sizes_of(text)


def test_the_workspaces_share_all_rows_a_fifth_and_a_five_hundredth_to_the_measured() -> None:
    found = shares(100_000)
    assert (found[BIG], found[SMALL], sum(found.values())) == (20_000, 200, 100_000)


def test_the_rows_are_the_same_each_time_and_their_vectors_have_length_one() -> None:
    vectors = np.eye(4, dtype="float32")
    once, again = list(rows(5, vectors, seed=1)), list(rows(5, vectors, seed=1))
    assert [item.text for item in once] == [item.text for item in again]
    assert [item.text for item in once] != [row.text for row in rows(5, vectors, seed=2)]
    assert np.linalg.norm([item.vector for item in once], axis=1) == pytest.approx(1.0, abs=1e-5)
    assert motifs(3) == motifs(3)
    assert len(set(questions(50))) == 50


def test_exact_search_returns_the_rows_with_the_highest_cosine() -> None:
    from uuid import UUID

    ids = [UUID(int=number) for number in range(3)]
    vectors = np.array([[1, 0], [0.6, 0.8], [0, 1]], dtype="float32")
    exact = ExactSearch(ids=ids, vectors=vectors)
    assert exact.nearest(np.array([1, 0], dtype="float32"), 2) == {ids[0], ids[1]}


def test_times_are_summed_up_and_compared_with_a_usual_floor() -> None:
    times = [{"floor": 2.0, "recall": 4.0}, {"floor": 2.0, "recall": 9.0}]
    found = summary(times)
    assert (found["recall_ms_p50"], found["recall_ms_p95"]) == (4.0, 9.0)
    assert (found["recall_to_floor_p50"], found["recall_to_floor_p95"]) == (2.0, 4.5)


def test_growth_compares_the_largest_with_the_smallest_size() -> None:
    def at(ms: float) -> dict[str, object]:
        return {"workspaces": {BIG: {"rows": 1, "recall_ms_p50": ms}}}

    assert growth({10: at(2.0), 100: at(3.0)}) == {BIG: {"recall_ms_p50": 1.5}}
    assert growth({10: at(2.0)}) == {}
