"""What a batch size costs, as ratios of processor time: they hold on a busy machine too."""

import time
from collections.abc import Callable

import pytest
from tests.support.embedding import installed_model

from cairn.embedding.onnx import OnnxEmbedder

WORDS = [
    "harbour",
    "office",
    "keeps",
    "a",
    "log",
    "of",
    "every",
    "vessel",
    "with",
    "its",
    "draught",
]


def texts() -> list[str]:
    """Forty-eight texts of 4 to 99 words, in no order of length."""
    lengths = [4 + (n * 37) % 96 for n in range(48)]
    return [" ".join(WORDS[(n + i) % len(WORDS)] for i in range(m)) for n, m in enumerate(lengths)]


def cpu_seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


@pytest.fixture(scope="module")
def eight() -> OnnxEmbedder:
    return warm(OnnxEmbedder(installed_model(), batch=8))


def warm(embedder: OnnxEmbedder) -> OnnxEmbedder:
    embedder.embed(texts()[:8])
    return embedder


@pytest.mark.parametrize(("other", "least"), [(1, 0.8), (48, 1.2)])
def test_batches_of_eight_cost_less_than_one_large_one_and_no_more_than_single_texts(
    eight: OnnxEmbedder, other: int, least: float
) -> None:
    rival = warm(OnnxEmbedder(installed_model(), batch=other))
    corpus = texts()
    ratio = cpu_seconds(lambda: rival.embed(corpus)) / cpu_seconds(lambda: eight.embed(corpus))
    assert ratio >= least


def test_a_question_alone_costs_at_most_four_times_what_it_does_in_a_batch(
    eight: OnnxEmbedder,
) -> None:
    question = "Who replaced the seal of the harbour pump?"
    alone = cpu_seconds(lambda: [eight.embed([question]) for _ in range(32)])
    together = cpu_seconds(lambda: eight.embed([question] * 32))
    assert alone / together < 4
