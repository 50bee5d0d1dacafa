"""Pairs of characters, for scripts that write no spaces between words. Pure.

The database makes the same of texts: `character_pairs` in `0063.languages.sql`.
"""

import re

# hiragana, katakana, their marks, Chinese characters, Korean syllables
_RUN = re.compile("[\u3005\u3007\u3041-\u30fa\u30fc-\u30ff\u3400-\u9fff\uac00-\ud7a3]+")
_CHINESE = re.compile("[\u3400-\u9fff]")
_HIRAGANA = re.compile("[\u3041-\u309f]+")


def searchable(word: str) -> list[str]:
    """Return what `word` is looked for by: itself, or the pairs of its characters.

    Each Chinese character counts by itself as well. Pairs of hiragana alone are mostly endings and
    particles: they are left out where there are others.
    """
    if word.isascii() or not _RUN.search(word):
        return [word]
    others = [part for part in _RUN.sub(" ", word).split() if part]
    pairs = [pair for run in _RUN.findall(word) for pair in _pairs(run)]
    return others + ([pair for pair in pairs if not _HIRAGANA.fullmatch(pair)] or pairs)


def _pairs(run: str) -> list[str]:
    pairs: list[str] = []
    for at, letter in enumerate(run):
        if _CHINESE.match(letter):
            pairs.append(letter)
        if len(run) > at + 1:
            pairs.append(run[at : at + 2])
    return pairs
