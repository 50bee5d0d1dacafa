"""Stretches of a text that look like names: quoted, capitalised, or on a list. Not a judgement.

Every function here is O(characters) for any input: each pattern consumes what it looked at.
"""

import re
from collections.abc import Container, Iterator

from cairn.graph.entity_names import MAX_NAME_CHARS, name_key
from cairn.graph.prose import NOISE_STARTS

MIN_QUOTED, MAX_QUOTED = 3, 60
_LONGEST_QUOTE = 300  # a mark without its partner this near is none
_MAX_PHRASE_WORDS = 6
_LONGEST_KNOWN = 5  # words
_SHORTEST_KNOWN = 3  # characters

_QUOTED = re.compile(
    rf'(?<!\w)"([^"\n]{{0,{_LONGEST_QUOTE}}}+)"(?!\w)'
    rf"|`{{1,3}}+([^`\n]{{1,{_LONGEST_QUOTE}}}+)`{{1,3}}+"
    rf"|\u201c([^\u201c\u201d\n]{{0,{_LONGEST_QUOTE}}}+)\u201d"
    rf"|\u201e([^\u201e\u201c\n]{{0,{_LONGEST_QUOTE}}}+)\u201c"
    rf"|\u00ab\s?([^\u00ab\u00bb\n]{{0,{_LONGEST_QUOTE}}}+)\u00bb"
    rf"|(?<!\w)'([^'\n]{{3,{_LONGEST_QUOTE}}}+)'(?!\w)"
)
_WORD = re.compile(r"[^\W_](?>(?:[^\W_]|['\u2019&-](?=[^\W_]))*)")
_CONNECTORS = frozenset({"of", "de", "du", "des", "del", "la", "le", "di", "da", "van", "von"})
_APOSTROPHE = re.compile("['\u2019]")
_CODE_BEFORE, _CODE_AFTER = frozenset("</\\{=.@#$_"), frozenset(">/\\}=(_")


def find_quoted(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, name) of quoted and backticked texts of 3 to 60 characters."""
    for match in _QUOTED.finditer(text):
        inner = (match.group(match.lastindex or 0) or "").strip()
        if MIN_QUOTED <= len(inner) <= MAX_QUOTED:
            yield match.start(), match.end(), inner.rstrip(",")


def find_phrases(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, name) of two to six capitalised words in a row, in any script with cases.

    Small connecting words may stand between two capitalised ones (Bank of Montreal, Rio de
    Janeiro). Leading determiners and pronouns are left out, and a possessive 's at the end.
    """
    for run in _runs(text):
        while run and not _is_capitalised(run[-1].group()):
            run.pop()
        first = 0
        while first < len(run) and _begins_no_name(run[first].group()):
            first += 1
        if 2 <= len(run) - first <= _MAX_PHRASE_WORDS:
            start, end = run[first].start(), run[-1].end()
            if not _is_in_code(text, start, end):
                yield start, end, _without_possessive(text[start:end])


def _runs(text: str) -> Iterator[list[re.Match[str]]]:
    """Yield words in a row that are capitalised or connect capitalised ones."""
    run: list[re.Match[str]] = []
    for word in _WORD.finditer(text):
        if run and not _follows(text, run[-1], word):
            yield run
            run = []
        if _is_capitalised(word.group()) or (run and word.group() in _CONNECTORS):
            run.append(word)
        elif run:
            yield run
            run = []
    yield run


def find_known(text: str, known: Container[str]) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, key) of words in a row whose `name_key` is known; the longest wins."""
    words = list(_WORD.finditer(text))
    index = 0
    while index < len(words):
        count, key = _longest_known(text, words[index : index + _LONGEST_KNOWN], known)
        if count:
            yield words[index].start(), words[index + count - 1].end(), key
        index += max(1, count)


def _longest_known(text: str, words: list[re.Match[str]], known: Container[str]) -> tuple[int, str]:
    start = words[0].start()
    for count in range(len(words), 0, -1):
        end = words[count - 1].end()
        if _SHORTEST_KNOWN <= end - start <= MAX_NAME_CHARS:
            key = name_key(text[start:end])
            if key in known:
                return count, key
    return 0, ""


def _follows(text: str, one: re.Match[str], other: re.Match[str]) -> bool:
    between = text[one.end() : other.start()]
    initial = between == ". " and one.end() - one.start() == 1 and one.group().isupper()
    return (initial or between in {" ", "\u00a0"}) and len(other.group()) < MAX_NAME_CHARS


def _is_capitalised(word: str) -> bool:
    return word[0].isupper() or word[0].istitle()


def _begins_no_name(word: str) -> bool:
    first = _APOSTROPHE.split(word.casefold())[0]  # "it" of "it's"
    return first in NOISE_STARTS or word in _CONNECTORS


def _is_in_code(text: str, start: int, end: int) -> bool:
    return text[max(0, start - 1) : start] in _CODE_BEFORE or text[end : end + 1] in _CODE_AFTER


def _without_possessive(name: str) -> str:
    return name.removesuffix("'s").removesuffix("\u2019s")
