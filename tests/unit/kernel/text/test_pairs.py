"""What words of scripts without spaces are looked for by."""

import pytest

from cairn.kernel.text.pairs import searchable


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("harbour", ["harbour"]),
        ("häuser", ["häuser"]),
        ("猫", ["猫"]),
        ("東京", ["東", "東京", "京"]),
        ("猫はどこ", ["猫", "猫は"]),  # not of grammar alone
        ("どこ", ["どこ"]),  # unless there is nothing else
        ("か", []),
        ("iphoneの価格", ["iphone", "の価", "価", "価格", "格"]),
        ("ラーメン", ["ラー", "ーメ", "メン"]),
        ("부산에서", ["부산", "산에", "에서"]),
        ("🎉", ["🎉"]),
        ("\udce4", ["\udce4"]),
        ("", [""]),
    ],
)
def test_a_word_is_looked_for_by_itself_or_by_pairs_of_its_characters(
    word: str, parts: list[str]
) -> None:
    assert searchable(word) == parts
