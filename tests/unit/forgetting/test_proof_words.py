"""What is looked for: canaries are checked, words are chosen, and compared as stores hold them."""

import pytest

from cairn.forgetting.prove import MOST_CANARIES, Needles, checked, distinctive_words
from cairn.kernel.errors import ValidationFailed


def test_canaries_are_stripped_and_told_once() -> None:
    assert checked([" Ada Lovelace ", "Ada Lovelace", "acme"]) == ("Ada Lovelace", "acme")
    assert checked([]) == ()


@pytest.mark.parametrize(
    "canaries",
    [["ab"], ["x" * 501], ["a\x00b"], [f"canary {n}" for n in range(MOST_CANARIES + 1)]],
)
def test_bad_canaries_are_refused(canaries: list[str]) -> None:
    with pytest.raises(ValidationFailed):
        checked(canaries)


def test_texts_are_looked_for_without_case_and_as_json_has_them() -> None:
    assert Needles(texts=("Ada",)).folded() == ["ada"]
    assert 'say \\"hi\\"' in Needles(texts=('Say "Hi"',)).folded()
    assert "stra\\u00dfe" in Needles(texts=("Straße",)).folded()


def test_distinctive_words_are_long_and_marked_and_no_types() -> None:
    texts = ["Quokkaville runs tool.execute on host-17x", "the harbour is in Oslo"]
    assert distinctive_words(texts, most=10) == ("Quokkaville", "host-17x")
    assert distinctive_words(texts, most=1) == ("Quokkaville",)
    cited = "Wombatton runs PostgreSQL [memory:01a2088e-ba57-70f1-8665-dcecea654e16]"
    assert distinctive_words([cited], most=10) == ("Wombatton",)
