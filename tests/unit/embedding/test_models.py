"""How a setting names an embedding model, or describes one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.support.tiny_onnx import cross_encoder, sentence_encoder

from cairn.embedding.models import FIRST_DESCRIBED, MODELS, is_known, model_named
from cairn.embedding.onnx import OnnxEmbedder
from cairn.embedding.port import embed_question
from cairn.kernel.errors import Unavailable, ValidationFailed

if TYPE_CHECKING:
    from pathlib import Path

WORDS = (["car", "vehicle"], ["boat"])


def test_a_described_model_has_an_id_of_its_own_that_follows_from_its_name() -> None:
    first = model_named("acme/e5:1?dimensions=1000")
    again = model_named("acme/e5:1?dimensions=1000&max_tokens=99")
    assert (first.id, first.name, first.dimensions) == (again.id, "acme/e5:1", 1000)
    assert (first.max_tokens, again.max_tokens) == (512, 99)
    assert FIRST_DESCRIBED <= first.id < 2**15
    assert all(model.id < FIRST_DESCRIBED for model in MODELS)
    assert not is_known(first)


def test_what_changes_a_vectors_meaning_makes_another_model() -> None:
    given = ("", "&pooling=first", "&pooling=last", "&prefix=query:%20", "&prefix=mean")
    models = [model_named(f"e5?dimensions=10{item}") for item in given]
    assert (
        len({model.id for model in models}) == len({model.name for model in models}) == len(given)
    )
    assert model_named("e5?prefix=query:%20&dimensions=10") == models[3]
    assert models[3].prefix == "query: "


@pytest.mark.parametrize(
    ("description", "says"),
    [
        ("word2vec", "word2vec[?]dimensions=768"),
        ("", "a name is"),
        ("?dimensions=3", "a name is"),
        ("two words?dimensions=3", "a name is"),
        ("nul\0?dimensions=3", "a name is"),
        ("\udce4?dimensions=3", "a name is"),
        ("x" * 201 + "?dimensions=3", "a name is"),
        ("acme?dimensions=0", "from 1 to 4000"),
        ("acme?dimensions=4001", "from 1 to 4000"),
        ("acme?dimensions=-3", "from 1 to 4000"),
        ("acme?dimensions=" + "9" * 5000, "from 1 to 4000"),
        ("acme?dimensions=", "from 1 to 4000"),
        ("acme?dimensions=3&dimensions=4", "each once"),
        ("acme?dimensions=3&size=4", "options are"),
        ("acme?dimensions", "option=value"),
        ("acme?dimensions=3&prefix=%ff", "option=value"),
        ("acme?dimensions=3&max_tokens=31", "from 32"),
        ("acme?dimensions=3&pooling=max", "pooling is one of"),
        ("acme?dimensions=3&prefix=" + "p" * 101, "at most 100"),
        ("acme?dimensions=3&query_prefix=" + "p" * 101, "at most 100"),
        ("nomic-embed-text?dimensions=512", "has 768 dimensions"),
    ],
)
def test_what_describes_no_model_is_refused_with_what_would(description: str, says: str) -> None:
    with pytest.raises(ValidationFailed, match=says) as refused:
        model_named(description)
    assert refused.value.reason == "unknown-embedding-model"


def test_pooling_and_prefix_change_what_a_local_model_makes(tmp_path: Path) -> None:
    folder = sentence_encoder(tmp_path, WORDS, 3)

    def embed(options: str) -> list[list[float]]:
        model = model_named(f"tiny?dimensions=3{options}")
        rows = OnnxEmbedder(folder, model).embed(["car boat"]).astype(np.float64)
        return [[abs(round(value, 1)) for value in row] for row in rows.tolist()]

    assert embed("") == [[0.0, 0.7, 0.7]]
    assert embed("&pooling=first") == embed("&pooling=last") == [[1.0, 0.0, 0.0]]  # <s> and </s>
    assert embed("&prefix=car%20car%20") == [[0.0, 0.9, 0.3]]


def test_a_question_may_have_another_prefix_than_texts_and_the_model_stays_the_same(
    tmp_path: Path,
) -> None:
    folder = sentence_encoder(tmp_path, WORDS, 3)

    def asked(options: str) -> list[float]:
        embedder = OnnxEmbedder(folder, model_named(f"tiny?dimensions=3{options}"))
        vector, tokens = embed_question(embedder, "boat")
        assert tokens is None
        return [abs(round(float(value), 1)) for value in vector]

    assert asked("") == asked("&prefix=car%20&query_prefix=") == [0.0, 0.0, 1.0]
    assert asked("&prefix=car%20") == asked("&query_prefix=car%20") == [0.0, 0.7, 0.7]
    one, other = (model_named(f"e5?dimensions=3{item}") for item in ("", "&query_prefix=q"))
    assert (one.id, one.name) == (other.id, other.name)


def test_a_long_text_is_cut_into_windows_that_fit_beside_special_tokens_and_prefix(
    tmp_path: Path,
) -> None:
    folder = sentence_encoder(tmp_path, WORDS, 3)
    model = model_named("tiny?dimensions=3&max_tokens=40&prefix=car%20boat%20")
    made = OnnxEmbedder(folder, model)
    assert made.windows("car " * 36) == ["car " * 36]
    windows = made.windows("car " * 100)
    assert len(windows) > 1
    assert max(made.count_tokens(window) for window in windows) <= 36


def test_a_folder_that_is_no_such_model_is_unavailable_with_the_reason(tmp_path: Path) -> None:
    folder = sentence_encoder(tmp_path / "sentences", WORDS, 3)
    with pytest.raises(Unavailable, match="another size") as refused:
        OnnxEmbedder(folder, model_named("tiny?dimensions=4")).embed(["car"])
    assert refused.value.fields == {"expected": 4, "received": 3}
    other = cross_encoder(tmp_path / "pairs")
    with pytest.raises(Unavailable, match="another size"):
        OnnxEmbedder(other, model_named("tiny?dimensions=3")).embed(["lunch"])
    (folder / "model.onnx").write_bytes(json.dumps({"not": "ONNX"}).encode())
    with pytest.raises(Unavailable, match="cannot be read"):
        OnnxEmbedder(folder, model_named("tiny?dimensions=3")).embed(["car"])
