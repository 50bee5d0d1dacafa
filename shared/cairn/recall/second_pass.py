"""What the second pass measures of the best candidates, in [0, 1] or near it. Pure; numpy inside.

Words by what they weigh and how long the text is, late interaction, a document's title and
beginning, and the messages beside a candidate. What each is worth is `scoring`'s and the recipe's.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from cairn.recall.recipes import KEYWORD, VECTOR

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    import numpy as np
    from numpy.typing import NDArray

    from cairn.embedding.port import TokenStates, Vectors
    from cairn.kernel.stores import Stores
    from cairn.recall.legs import LegOutcome
    from cairn.recall.query import Search
    from cairn.recall.questions.understanding import Understanding

    Floats = NDArray[np.float64]

BEFORE = 0.85
"""What a word met in the message before counts, of the same word met in the message itself."""
BEST, WHOLE, TITLE = 0.5, 0.25, 0.25
"""Of what a passage's cosine is made: its own, its document's beginning, and its title."""
ALONE = 2**18
"""Up to so many multiplications numpy takes no other thread, which may have to be waited for."""
SHORT, LONG = 0.25, 0.75
"""Half of a word's most is reached at rank SHORT + LONG x length / mean length (as in BM25)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadQuestion:
    """A question as the embedder read it; `tokens` is None where its model gives none."""

    vector: Vectors
    tokens: TokenStates | None


class Evidence(NamedTuple):
    """What is read of a candidate. A tuple, because hundreds are; in the order of the columns.

    `ranks` are ts_rank by term of the question, `words` is how many distinct words it has. Cosines
    and tokens are None where there is no vector. `before_tokens` is None, too, where the message
    before is a candidate itself.
    """

    id: UUID
    ranks: Sequence[float]
    words: int
    cosine: float | None = None
    tokens: bytes | None = None
    title: float | None = None
    beginning: float | None = None
    before_id: UUID | None = None
    before_asks: bool = False
    before_tokens: bytes | None = None


class Measured(NamedTuple):
    """What was measured of one candidate. A tuple, because hundreds are.

    `share` is the part of the question's weight its words have, `late` how near its words' meanings
    come to the question's, as a cosine: None without token vectors. `whole` is what title and
    beginning add to its cosine, `after_id` the message after it among the candidates. `time_share`
    is the part of the question's weight that names its time, the same for every candidate.
    """

    share: float = 0.0
    late: float | None = None
    cosine: float | None = None
    whole: float = 0.0
    answers: float = 0.0
    after_id: UUID | None = None
    ranks: Sequence[float] = ()
    time_share: float = 0.0


def measuring(
    stores: Stores, search: Search, outcomes: Mapping[str, LegOutcome], model_id: int
) -> Callable[[Sequence[UUID]], Mapping[UUID, Measured]]:
    """Return what reads of candidates what is measured, in one statement, and measures it."""
    vector, keyword = outcomes.get(VECTOR), outcomes.get(KEYWORD)
    question = vector.question if vector else None
    understanding = search.asked.understanding
    by_keyword = (
        {candidate.node_id: candidate.score for candidate in keyword.candidates} if keyword else {}
    )

    def measure(node_ids: Sequence[UUID]) -> Mapping[UUID, Measured]:
        rows = stores.node_reader.evidence(
            node_ids,
            understanding.terms,
            search.filters,
            vector=question.vector if question else None,
            model_id=model_id,
        )
        return measured(rows, by_keyword, understanding, question)

    return measure


def measured(
    rows: Sequence[Evidence],
    keyword: Mapping[UUID, float],
    understanding: Understanding,
    question: ReadQuestion | None,
) -> dict[UUID, Measured]:
    """Return what was measured of each candidate; `keyword` are the keyword leg's scores."""
    import numpy as np

    if not rows:
        return {}
    ranks = np.array([row.ranks for row in rows], dtype=np.float64).reshape(len(rows), -1)
    weights = word_weights(ranks, [keyword.get(row.id) for row in rows])
    shares = _shares(ranks, weights, np.array([row.words for row in rows], dtype=np.float64))
    by_word = dict(zip(understanding.terms, weights.tolist(), strict=False))
    tokens = question.tokens if question else None
    after = {row.before_id.int: row.id for row in rows if row.before_id}
    elsewhere = understanding.names | understanding.time_terms
    late = late_interaction(rows, tokens, by_word, elsewhere) if tokens else [None] * len(rows)
    time_share = sum(by_word.get(term, 0.0) for term in understanding.time_terms)
    return {
        row.id: Measured(
            share,
            near,
            row.cosine,
            _whole(row),
            float(row.before_asks),
            after.get(row.id.int),
            row.ranks,
            time_share,
        )
        for row, share, near in zip(rows, shares.tolist(), late, strict=True)
    }


def word_weights(ranks: Floats, scores: Sequence[float | None]) -> Floats:
    """Return the share each word has of the question's weight, as the keyword leg weighed them.

    The leg's score is the mean of the ranks by these weights, so they are what explains its scores
    best (least squares). What is left to 1 belongs to the words that no candidate has, in equal
    parts, as all of them are equally rare. Without scores all words weigh the same.
    """
    import numpy as np

    places = [at for at, score in enumerate(scores) if score is not None]
    terms = ranks.shape[1]
    if not places or not terms:
        return np.full(terms, 1.0 / max(1, terms))
    targets = np.array([scores[at] for at in places], dtype=np.float64)
    weights = np.maximum(np.linalg.lstsq(ranks[places], targets, rcond=1e-6)[0], 0.0)
    weights /= max(1.0, float(weights.sum()))
    unmet = ~ranks.any(axis=0)
    if unmet.any():
        weights[unmet] = (1.0 - float(weights[~unmet].sum())) / int(unmet.sum())
    return weights


def _shares(ranks: Floats, weights: Floats, lengths: Floats) -> Floats:
    relative = lengths / max(1.0, float(lengths.mean()))
    half = SHORT + LONG * relative[:, None]
    return (2.0 * ranks / (ranks + half)) @ weights


def late_interaction(
    rows: Sequence[Evidence],
    question: TokenStates,
    by_word: Mapping[str, float],
    elsewhere: frozenset[str],
) -> Sequence[float | None]:
    """Return for each candidate the mean over the question's words of the nearest word it has.

    A word of the message before counts too, a little less. Words count by their weight, but for
    those looked for `elsewhere`: who is named, which vectors and speaker say, and when. None
    without token vectors.
    """
    import numpy as np

    texts: list[bytes] = []
    place: dict[int, int] = {}  # by the number of an id, which is looked up faster
    for row in rows:
        for node_id, tokens in ((row.id, row.tokens), (row.before_id, row.before_tokens)):
            if node_id and tokens and node_id.int not in place:
                place[node_id.int] = len(texts)
                texts.append(tokens)
    values: list[float | None] = [None] * len(rows)
    if not texts or not question.words:
        return values
    weights = _token_weights(question.words, by_word, elsewhere)
    counted = weights > 0.0
    nearest = _nearest(question.states[counted], texts)
    has = [at for at, row in enumerate(rows) if row.tokens]
    own = nearest[[place[rows[at].id.int] for at in has]]
    before = [
        place.get(before_id.int, -1) if (before_id := rows[at].before_id) else -1 for at in has
    ]
    led = np.array(before) >= 0
    own[led] = np.maximum(own[led], BEFORE * nearest[[at for at in before if at >= 0]])
    for at, value in zip(has, (own @ weights[counted]).tolist(), strict=True):
        values[at] = value
    return values


def _nearest(states: Vectors, texts: Sequence[bytes]) -> NDArray[np.float32]:
    """Return for each text and word of the question the cosine of the nearest word of the text."""
    import numpy as np

    normalised = states / np.maximum(np.sqrt((states * states).sum(axis=1, keepdims=True)), 1e-9)
    dimensions = states.shape[1]
    width = dimensions // 8
    packed = np.array(bytearray(b"".join(texts)), dtype=np.uint8).reshape(-1, width)
    bits = np.unpackbits(packed, axis=1).astype(np.float32)
    size = max(1, ALONE // normalised.size)
    product = np.empty((len(bits), len(normalised)), dtype=np.float32)
    for at in range(0, len(bits), size):
        product[at : at + size] = bits[at : at + size] @ normalised.T
    # a sign is 2 bit - 1, so the product with the signs is twice that with the bits, less the sum
    product = (2.0 * product - normalised.sum(axis=1)) / np.sqrt(dimensions)
    lengths = [len(text) // width for text in texts]
    starts = [0, *accumulate(lengths[:-1])]
    most: NDArray[np.float32] = cast("Any", np.maximum).reduceat(product, starts, axis=0)
    return most


def _token_weights(
    words: Sequence[str], by_word: Mapping[str, float], elsewhere: frozenset[str]
) -> Floats:
    import numpy as np

    weights = np.array([0.0 if word in elsewhere else by_word.get(word, 0.0) for word in words])
    if not weights.any():
        weights = np.ones(len(words))
    return weights / weights.sum()


def _whole(row: Evidence) -> float:
    """Return what a document's title and beginning change of a candidate's cosine."""
    if row.cosine is None or row.title is None:
        return 0.0
    beginning = row.title if row.beginning is None else row.beginning
    return BEST * row.cosine + WHOLE * beginning + TITLE * row.title - row.cosine
