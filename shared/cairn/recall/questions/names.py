"""What a question may call entities by: extracted names first, then its runs of words.

Looking a name up costs little, so every run is tried that neither begins nor ends with a small
word. Not the lookup.
"""

from __future__ import annotations

from cairn.graph.entities import extract_entities
from cairn.kernel.text.words import QUESTION_WORDS, STOP_WORDS

MAX_NAMES = 64
RUNS = (2, 1, 3, 4)
"""Words in a row that may be a name; a pair is rarely one by accident, so pairs are first."""
_READ = 80  # words of a question
_AROUND = "\"'`.,;:!?()[]{}<>\u00ab\u00bb\u201c\u201d\u2018\u2019\u2026-"
_SMALL = STOP_WORDS | QUESTION_WORDS


def question_names(question: str) -> tuple[str, ...]:
    """Return at most 64 distinct names in lower case, the likeliest first."""
    found = extract_entities(question, client_id=None, source_agent=None)
    names = dict.fromkeys(entity.name.lower() for entity in found)
    words = [word.strip(_AROUND).lower() for word in question.split()[:_READ]]
    for length in RUNS:
        for start in range(len(words) - length + 1):
            run = words[start : start + length]
            if all(run) and run[0] not in _SMALL and run[-1] not in _SMALL:
                names.setdefault(" ".join(run))
    return tuple(names)[:MAX_NAMES]
