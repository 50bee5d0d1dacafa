"""The local reranker runs a real ONNX file: a tiny one whose scores are worked out by hand."""

from concurrent.futures import ThreadPoolExecutor
from math import exp
from pathlib import Path

import pytest
from tests.support.thinking import model_calls
from tests.support.tiny_onnx import BIAS, WEIGHTS, cross_encoder

from cairn.kernel.errors import Unavailable
from cairn.recall.rerank import MAX_TEXTS, CrossEncoder

QUERY = "who repaired the pump"


def expected(*words: str, bias: float = BIAS) -> float:
    logit = sum(WEIGHTS.get(word, WEIGHTS["[UNK]"]) for word in words) - bias
    return 1 / (1 + exp(-logit))


@pytest.fixture
def reranker(tmp_path: Path) -> CrossEncoder:
    return CrossEncoder(cross_encoder(tmp_path / "tiny-encoder"))


def test_a_text_scores_the_sigmoid_of_its_logit(reranker: CrossEncoder) -> None:
    calls = model_calls()
    found = reranker(QUERY, ["lunch", "Ines repaired the pump", "pump"], calls=calls)
    assert found == pytest.approx(
        [expected("lunch"), expected("ines", "repaired", "the", "pump"), expected("pump")]
    )
    assert calls.uses == ()


def test_scores_stay_in_the_order_of_the_texts_over_several_batches(
    reranker: CrossEncoder,
) -> None:
    texts = ["pump " * (number % 5 + 1) for number in range(MAX_TEXTS)]
    found = reranker(QUERY, texts, calls=model_calls())
    assert found == pytest.approx([expected(*text.split()) for text in texts])


def test_a_text_scores_the_same_in_any_company(reranker: CrossEncoder) -> None:
    [alone] = reranker(QUERY, ["pump"], calls=model_calls())
    [_, beside] = reranker(QUERY, ["lunch " * 50, "pump"], calls=model_calls())
    assert alone == pytest.approx(beside)


def test_a_model_without_token_types_is_not_given_any(tmp_path: Path) -> None:
    reranker = CrossEncoder(cross_encoder(tmp_path, token_types=False))
    [found] = reranker("pump", ["lunch"], calls=model_calls())
    assert found == pytest.approx(expected("[CLS]", "pump", "[SEP]", "lunch"))


@pytest.mark.parametrize("text", ["", " ", "\ud800", "pump " * 50_000, "🙂", "\x00"])
def test_awkward_texts_have_a_score(reranker: CrossEncoder, text: str) -> None:
    [found] = reranker(text, [text], calls=model_calls())
    assert 0.0 <= found <= 1.0


def test_no_texts_need_no_model_and_too_many_are_a_mistake(tmp_path: Path) -> None:
    reranker = CrossEncoder(tmp_path / "nothing-here")
    assert list(reranker(QUERY, [], calls=model_calls())) == []
    with pytest.raises(ValueError, match="at most 20"):
        reranker(QUERY, ["text"] * (MAX_TEXTS + 1), calls=model_calls())


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json"])
def test_a_model_that_is_not_installed_is_unavailable(tmp_path: Path, missing: str) -> None:
    (cross_encoder(tmp_path) / missing).unlink()
    with pytest.raises(Unavailable) as absent:
        CrossEncoder(tmp_path)(QUERY, ["text"], calls=model_calls())
    assert absent.value.reason == "reranker-missing"
    assert missing in str(absent.value.fields["path"])


@pytest.mark.parametrize("broken", ["model.onnx", "tokenizer.json"])
def test_a_model_that_cannot_be_read_is_unavailable(tmp_path: Path, broken: str) -> None:
    (cross_encoder(tmp_path) / broken).write_bytes(b"not a model")
    with pytest.raises(Unavailable) as unreadable:
        CrossEncoder(tmp_path)(QUERY, ["text"], calls=model_calls())
    assert unreadable.value.reason == "reranker-unreadable"


def test_one_model_serves_several_threads(reranker: CrossEncoder) -> None:
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(
            lambda count: reranker(QUERY, ["pump " * count], calls=model_calls())[0], range(1, 9)
        )
        assert list(found) == pytest.approx([expected(*["pump"] * n) for n in range(1, 9)])


def test_the_name_is_the_folders(reranker: CrossEncoder) -> None:
    assert reranker.name == "tiny-encoder"
