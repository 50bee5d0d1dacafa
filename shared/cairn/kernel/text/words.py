"""Words and sentences by plain rules. Not a stemmer; scripts without spaces stay whole."""

import re
import unicodedata

_STOP = """
    a about above after again against all also am an and any are aren't as at be because been before
    being below between both but by can cannot can't could couldn't did didn't do does doesn't doing
    don't down during each few for from further had hadn't has hasn't have haven't having he her
    here hers herself him himself his i i'd if i'll i'm in into is isn't it its itself i've just me
    more most my myself no nor not of off on once only or other our ours ourselves out over own same
    she should shouldn't so some such than that the their theirs them themselves then there these
    they they'd they'll they're they've this those through to too under until up us very was wasn't
    we we'd we'll were we're weren't we've while will with won't would wouldn't you you'd you'll
    your you're yours yourself yourselves you've let
"""
_QUESTION = """
    who whom whose what when where why which how does did do is are was were can could would should
    tell show give please
"""
_ABBREVIATED = """
    mr. mrs. ms. dr. prof. st. jr. sr. e.g. i.e. etc. vs. no. fig. approx. inc. ltd. co.
"""

STOP_WORDS = frozenset(_STOP.split())
"""Words that carry grammar, not content, as `words` returns them."""

QUESTION_WORDS = frozenset(_QUESTION.split())
"""Words that make a question or a request, and match any text by accident."""

_ABBREVIATIONS = frozenset(_ABBREVIATED.split())
_LONGEST_ABBREVIATION = max(map(len, _ABBREVIATIONS))
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
# . ! ? or an ellipsis, closing quotes and brackets, then space; the full-width marks need no space
_SENTENCE_END = re.compile(
    r"(?<=[.!?\u2026])[\"'\u201d\u2019)\]]{0,2}\s+|(?<=[\u3002\uff01\uff1f])|\n+"
)


def words(text: str) -> list[str]:
    """Return runs of letters and digits, casefolded, in order; a possessive 's is dropped."""
    folded = unicodedata.normalize("NFC", text).replace("\u2019", "'").casefold()
    return [match.removesuffix("'s") for match in _WORD.findall(folded)]


def content_words(text: str) -> list[str]:
    """Return `words` without stop words and question words, in order, repeats kept."""
    return [word for word in words(text) if word not in STOP_WORDS and word not in QUESTION_WORDS]


def sentences(text: str) -> list[str]:
    """Split at sentence ends and line breaks; parts are stripped, never empty, in order.

    Common abbreviations (Dr., e.g.) do not end a sentence.
    """
    results: list[str] = []
    start = 0
    for end in _SENTENCE_END.finditer(text):
        before = text[max(start, end.start() - _LONGEST_ABBREVIATION - 1) : end.start()]
        last = (before.split() or [""])[-1].casefold()
        if last in _ABBREVIATIONS and "\n" not in end.group():
            continue
        results.append(text[start : end.end()].strip())
        start = end.end()
    results.append(text[start:].strip())
    return [part for part in results if part]
