"""Token states: which word pieces are kept, and that they are of the same pass as the vector."""

from pathlib import Path

from cairn.embedding.models import RegisteredEmbedder
from cairn.embedding.onnx import OnnxEmbedder
from cairn.embedding.port import embed_tokens, gives_tokens

ROOT = Path(__file__).parents[3]
TEXTS = ["What didn't Priya's whippersnapper do?", "Yes, it is. And so?!", "The kiln cracked."]


def test_states_are_of_content_words_only_and_vectors_are_those_without_them() -> None:
    plain = OnnxEmbedder(ROOT / "build" / "model" / "bge-small-en-v1.5")
    embedder = RegisteredEmbedder(plain, lambda _: None)
    vectors, tokens = embed_tokens(embedder, TEXTS)
    assert tokens is not None
    assert (vectors == plain.embed(TEXTS)).all()
    assert sorted(set(tokens[0].words)) == ["priya", "whippersnapper"]
    assert tokens[1].words == ("yes",)
    assert tokens[2].words[0] == "kiln"
    for each in tokens:
        assert each.states.shape == (len(each.words), 384)
        assert len(each.signs()) == 48 * len(each.words)


def test_a_model_without_a_mean_gives_none() -> None:
    embedder = OnnxEmbedder(ROOT / "build" / "model" / "all-minilm-l6-v2")
    assert not gives_tokens(RegisteredEmbedder(embedder, lambda _: None))
