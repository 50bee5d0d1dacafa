"""The labelled pairs through the rules with the installed model: what is asked of consolidation."""

from typing import Any

import pytest
from tests.support.embedding import installed_model

from benchmarks.consolidation.corpus import read_pairs
from benchmarks.consolidation.run import PRECISION_ASKED, RECALL_ASKED, ConsolidationBench
from benchmarks.samples import SAMPLES
from cairn.embedding.onnx import OnnxEmbedder


@pytest.fixture(scope="module")
def measured() -> dict[str, Any]:
    bench = ConsolidationBench(embedder=OnnxEmbedder(installed_model()))
    return bench.run(read_pairs(SAMPLES / "consolidation" / "pairs.json"))


def test_each_class_has_fifty_pairs(measured: dict[str, Any]) -> None:
    assert set(measured["pairs"].values()) == {50}


def test_duplicates_are_found_and_hardly_anything_else(measured: dict[str, Any]) -> None:
    assert measured["duplicates"]["precision"] >= PRECISION_ASKED
    assert measured["duplicates"]["recall"] >= RECALL_ASKED


def test_nothing_is_superseded_wrongly_alone_or_in_a_batch(measured: dict[str, Any]) -> None:
    assert measured["wrong"] == []
    assert measured["wrong_in_batches"] == 0


def test_most_contradictions_are_flagged_and_near_misses_are_not(measured: dict[str, Any]) -> None:
    assert measured["contradictions"]["recall"] >= 0.8
    assert measured["contradictions"]["precision"] >= 0.9
