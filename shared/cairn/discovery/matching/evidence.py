"""What speaks for two people meeting, measured of a batch of candidates. Pure; numpy inside.

Late interaction over token vectors in both directions, shares of words, and what is held against
it: sides, places, terms. What each is worth is `scoring`'s.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from cairn.discovery.matching.exchanges import is_one_sided
from cairn.discovery.matching.qualifiers import Checked, Words, check

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    import numpy as np
    from numpy.typing import NDArray

    from cairn.embedding.port import TokenStates

_ENDING = re.compile(r"(?:ings?|ed|ers?|es|s)$")
_WORD = re.compile(r"[^\W_]+")
SEEKING, OFFERING, BOTH = "seeking", "offering", "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Who looks, for what. `side` is None where a query does not say it."""

    text: str
    side: str | None
    tokens: TokenStates | None
    location: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One wish of another, with what a shared network shows of them; no wish: the profile alone.

    `shown_id` is the node that was come near to, `node_id` the wish's.
    """

    member_id: UUID
    shown_id: UUID
    node_id: UUID | None
    side: str | None
    text: str
    tokens: bytes | None
    cosine: float
    name: str = ""
    location: str = ""
    about: str = ""

    @property
    def wish(self) -> str:
        """Return what they say that they seek or offer."""
        return self.text if self.node_id is not None else ""


class Evidence(NamedTuple):
    """What was measured of one candidate; `z` is how far it stands out among all of them."""

    cosine: float
    late: float
    share: float
    z: float
    mixed: bool
    same_side: bool
    checked: Checked


def measure(asker: Asker, candidates: Sequence[Candidate]) -> list[Evidence]:
    """Return the evidence of each candidate, in order.

    What is rare and what stands out is measured among wishes: profiles speak of much else.
    """
    weights = _Weights.of(asker, [each for each in candidates if each.wish] or candidates)
    late = _late(asker, candidates, weights)
    mean, spread = _spread(
        [near for each, near in zip(candidates, late, strict=True) if each.wish] or late
    )
    places = {each.location for each in candidates} | {asker.location}
    places = {part.strip() for place in places for part in place.split(",")} - {""}
    says = Words(wish=asker.text, about=asker.about, location=asker.location)
    return [
        Evidence(
            cosine=each.cosine,
            late=near,
            share=weights.share(asker.text, f"{each.text} {each.about}"),
            z=(near - mean) / (spread + 1e-6) if spread > 1e-6 else 0.0,
            mixed=(asker.side == BOTH) != (each.side == BOTH),
            same_side=_is_same_side(asker, each),
            checked=check(
                says, Words(wish=each.text, about=each.about, location=each.location), places
            ),
        )
        for each, near in zip(candidates, late, strict=True)
    ]


def _spread(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and the standard deviation."""
    mean = sum(values) / len(values) if values else 0.0
    return mean, math.sqrt(sum((value - mean) ** 2 for value in values) / max(1, len(values)))


def _is_same_side(asker: Asker, other: Candidate) -> bool:
    """Return whether both want the same of each other; two that want a joint thing are peers."""
    if asker.side == other.side == BOTH:
        return is_one_sided(asker.text, other.text)
    return asker.side is not None and asker.side == other.side


def stems(text: str) -> list[str]:
    """Return the words of a text without their endings, casefolded."""
    return [_ENDING.sub("", word) or word for word in _WORD.findall(text.casefold())]


@dataclass(frozen=True, slots=True)
class _Weights:
    """How rare words are among the candidates: ln(1 + n / df)."""

    count: int
    often: Mapping[str, int]

    @classmethod
    def of(cls, asker: Asker, candidates: Sequence[Candidate]) -> _Weights:
        texts = [f"{asker.text} {asker.about}"]
        texts += [f"{each.text} {each.about}" for each in candidates]
        often = Counter(stem for text in texts for stem in set(stems(text)))
        return cls(len(texts), often)

    def weight(self, stem: str) -> float:
        return math.log(1 + self.count / max(1, self.often.get(stem, 0)))

    def share(self, question: str, text: str) -> float:
        own, others = set(stems(question)), set(stems(text))
        total = sum(self.weight(stem) for stem in own)
        return sum(self.weight(stem) for stem in own & others) / total if total else 0.0


def _late(asker: Asker, candidates: Sequence[Candidate], weights: _Weights) -> list[float]:
    """Return how near meanings come, both ways; the cosine where there are no token vectors."""
    tokens = asker.tokens
    if tokens is None or not tokens.words:
        return [each.cosine for each in candidates]
    import numpy as np

    states = tokens.states
    states = states / np.maximum(np.sqrt((states * states).sum(axis=1, keepdims=True)), 1e-9)
    rarity = np.array([sum(map(weights.weight, stems(word))) or 1.0 for word in tokens.words])
    return [
        _both_ways(states, rarity, each.tokens) if each.tokens else each.cosine
        for each in candidates
    ]


def _both_ways(states: NDArray[Any], rarity: NDArray[Any], packed: bytes) -> float:
    import numpy as np

    dimensions = states.shape[1]
    rows = np.array(bytearray(packed), dtype=np.uint8).reshape(-1, dimensions // 8)
    bits = np.unpackbits(rows, axis=1)
    signs = (2.0 * bits.astype(np.float32) - 1.0) / math.sqrt(dimensions)
    product = cast("NDArray[np.float64]", states @ signs.T)
    there = float(product.max(axis=1) @ rarity / rarity.sum())
    back = float(product.max(axis=0).mean())
    return (there + back) / 2
