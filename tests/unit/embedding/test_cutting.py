"""Windows cover the text, fit, overlap, and end where words end."""

import re
import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.embedding.cutting import Word, cut
from cairn.embedding.models import ALL_MINILM, MODELS, model_named
from cairn.kernel.errors import ValidationFailed


def words_of(text: str, pattern: str = r"\S+") -> list[Word]:
    return [Word(start=m.start(), end=m.end(), cost=len(m[0])) for m in re.finditer(pattern, text)]


def cost(text: str) -> int:
    return sum(len(word) for word in text.split())


def test_a_text_that_fits_is_returned_as_it_is() -> None:
    assert cut(" one  two ", words_of(" one  two "), limit=6, overlap=2) == [" one  two "]


def test_a_text_without_words_is_returned_as_it_is() -> None:
    assert cut("   ", [], limit=6, overlap=2) == ["   "]


def test_a_text_one_token_too_long_becomes_two_balanced_windows() -> None:
    text = " ".join(f"w{n:03}" for n in range(64))
    assert [cost(piece) for piece in cut(text, words_of(text), limit=254, overlap=32)] == [144, 144]


def test_neighbouring_windows_share_about_the_overlap() -> None:
    text = " ".join(f"w{n:03}" for n in range(500))
    pieces = cut(text, words_of(text), limit=254, overlap=32)
    for left, right in pairwise(pieces):
        shared = set(left.split()) & set(right.split())
        assert 32 <= sum(map(len, shared)) <= 40


def test_a_cut_prefers_a_space_to_the_middle_of_a_hyphenated_word() -> None:
    text = "alpha beta-gamma " * 12
    pieces = cut(text, words_of(text, r"\w+|-"), limit=40, overlap=10)
    assert len(pieces) > 2
    assert all(piece.split()[0] in {"alpha", "beta-gamma"} for piece in pieces)
    assert all(piece.split()[-1] in {"alpha", "beta-gamma"} for piece in pieces)


def test_text_without_spaces_is_cut_between_its_words() -> None:
    text = "".join(chr(0x4E00 + n) for n in range(100))
    pieces = cut(text, words_of(text, r"."), limit=30, overlap=5)
    assert all(len(piece) <= 30 for piece in pieces)
    assert set("".join(pieces)) == set(text)


@given(st.lists(st.text("ab-", min_size=1, max_size=12), max_size=200), st.integers(24, 60))
def test_every_word_is_in_a_window_and_every_window_fits(parts: list[str], limit: int) -> None:
    text = " ".join(f"{part}{n}" for n, part in enumerate(parts))
    words = words_of(text, r"\w{1,11}|-")
    pieces = cut(text, words, limit=limit, overlap=limit // 8)
    assert all(cost(piece) <= limit for piece in pieces)
    position = 0
    for piece in pieces:
        found = text.index(piece, 0 if position == 0 else max(0, position - limit * 3))
        assert found <= position or not text[position:found].strip()
        position = max(position, found + len(piece))
    assert not text[position:].strip()


def test_the_port_can_be_imported_without_numpy() -> None:
    script = (
        "import sys; import cairn.embedding.port, cairn.embedding.onnx, cairn.embedding.openai;"
        "print([m for m in ('numpy', 'onnxruntime', 'openai', 'tokenizers') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_a_model_is_found_by_its_name_and_an_unknown_name_is_refused() -> None:
    assert model_named("all-MiniLM-L6-v2-int8") is ALL_MINILM
    with pytest.raises(ValidationFailed, match="all-MiniLM-L6-v2-int8"):
        model_named("word2vec")


def test_no_two_models_share_an_id() -> None:
    assert len({model.id for model in MODELS}) == len(MODELS)
