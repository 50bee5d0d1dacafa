"""How far an intent belongs to a network, by rules. Pure but for the embedder.

A prompt is compared with the intent beside thirty-two other communities: what stands out among them
belongs, however alike all texts are to a model. Words that both have count beside.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from cairn.kernel.text.stems import stem
from cairn.kernel.text.words import content_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cairn.embedding.port import Embedder

THRESHOLD: Final = 0.7
NETWORK_WEIGHT: Final = 0.6
MEMBER_WEIGHT: Final = 0.4
STANDS_OUT: Final = 0.9
"""Deviations above the other communities at which an intent just belongs."""

STEEPNESS: Final = 2.2
PER_WORD: Final = 0.3
MOST_WORDS: Final = 2
AT_ONCE: Final = 100

OTHERS: Final = (
    "People who grow vegetables, keep animals and run small farms.",
    "Cooks, bakers and people who run restaurants and cafes.",
    "Software developers and people who build websites and apps.",
    "Founders and investors of young companies.",
    "Musicians, bands and choirs.",
    "Painters, sculptors and people who make things by hand.",
    "Runners, cyclists and people who do sport together.",
    "Parents of small children and those who look after them.",
    "Teachers, tutors and people who learn something new.",
    "Doctors, nurses and carers.",
    "People who repair cars, bicycles and machines.",
    "Builders, carpenters and electricians.",
    "Lawyers, accountants and tax advisers.",
    "Writers, editors and translators.",
    "Film makers and photographers.",
    "People who sail, row and build boats.",
    "Hikers and climbers.",
    "Owners of dogs, cats and other pets.",
    "People who look for flats and houses, or let them.",
    "Researchers of the natural sciences.",
    "People who work with data and statistics.",
    "Gardeners and lovers of plants.",
    "Players of board games and video games.",
    "Volunteers of charities and clubs.",
    "People who buy, sell and lend things they no longer need.",
    "Travellers and people who exchange homes.",
    "Dancers and actors.",
    "People who speak and learn foreign languages.",
    "Makers of clothes, shoes and jewellery.",
    "Those who care for the climate and clean energy.",
    "People who want to meet others: dates and friends.",
    "Recruiters and people who look for work.",
)
"""Communities that a prompt is compared with: what people seek and offer, far and wide."""


def weighed(network: float | None, member: float | None) -> float:
    """Return the score of an intent: what has no prompt takes every intent and weighs nothing."""
    if network is None:
        return 1.0 if member is None else member
    return network if member is None else NETWORK_WEIGHT * network + MEMBER_WEIGHT * member


@dataclass(frozen=True)
class Belonging:
    """Scores intents against prompts; one a process, which embeds `OTHERS` once."""

    embedder: Embedder
    vectors: dict[str, Any] = field(default_factory=dict[str, Any])

    def __call__(self, prompt: str, intents: Sequence[str]) -> list[float]:
        """Return for each intent how far it belongs to what a prompt says: 0 to 1."""
        import numpy as np

        if not intents:
            return []
        own = self._embedded([prompt])[0]
        shares: list[float] = []
        for start in range(0, len(intents), AT_ONCE):
            texts = intents[start : start + AT_ONCE]
            vectors = self._embedded(texts)
            among = vectors @ self._others.T
            deviation = np.maximum(among.std(axis=1), 1e-6)
            above = (vectors @ own - among.mean(axis=1)) / deviation
            shares += [
                _share(float(value), prompt, text) for value, text in zip(above, texts, strict=True)
            ]
        return shares

    @cached_property
    def _others(self) -> Any:
        return self._embedded(OTHERS)

    def _embedded(self, texts: Sequence[str]) -> Any:
        from cairn.embedding.port import unit_rows

        return unit_rows(self.embedder.embed([text or "-" for text in texts]))


def _share(above: float, prompt: str, text: str) -> float:
    common = min(MOST_WORDS, len(_stems(prompt) & _stems(text)))
    reached = STEEPNESS * (above + PER_WORD * common - STANDS_OUT)
    bend = math.log(THRESHOLD / (1 - THRESHOLD))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, reached + bend))))


def _stems(text: str) -> set[str]:
    return {stem(word) for word in content_words(text)}
