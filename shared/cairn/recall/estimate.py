"""What relevance is taken to be for an embedder that nobody fitted constants for.

Models differ in the cosine of texts with nothing in common and of a question with its answer. Both
are measured on pairs of ours; between them, cosines are read as those of the default embedder,
whose constants then hold. That tells an order of size and no more, so nothing is left out by it
unless a least relevance is asked for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cairn.embedding.models import BGE_SMALL
from cairn.recall.relevance import CALIBRATIONS, USUAL_LATE

if TYPE_CHECKING:
    from cairn.embedding.port import Embedder
    from cairn.recall.relevance import Calibration

PAIRS = (
    ("Where does Jonas keep the spare key?", "Jonas hangs the spare key behind the cellar door."),
    ("Which shop sells the blue lamp?", "We saw that blue lamp in the shop on Harbour Street."),
    ("When is the rent due?", "The rent is paid on the third of each month."),
    ("What does Mira drink in the morning?", "Mira starts her day with a pot of green tea."),
    ("How was the boat repaired?", "They mended the boat's hull with resin and new planks."),
    ("Who teaches the violin class?", "Mr Okafor gives the violin lessons on Tuesdays."),
    ("Why was the flight late?", "Fog at the airport held our plane back for two hours."),
    ("Which database does the shop use?", "The web shop stores its orders in PostgreSQL."),
    ("What did the doctor advise?", "The doctor told him to rest his knee for a week."),
    ("How many hens live on the farm?", "There are fourteen hens and a rooster on our farm."),
    ("Which film did they watch?", "On Saturday they went to see the old western again."),
    ("What grows on the balcony?", "Tomatoes and basil do well in the pots on the balcony."),
    ("Where was the ring lost?", "She thinks her ring slipped off while swimming in the lake."),
    ("What broke in the kitchen?", "The dishwasher in the kitchen leaks and will not start."),
    ("How did the election end?", "The mayor was voted out by a handful of ballots."),
    ("Which mountain did Tomas climb?", "Tomas reached the top of the Matterhorn in August."),
)
"""Questions with their answers, in our own words; each question is unlike the others' answers."""

UNLIKE, ALIKE = 0.344, 0.675
"""The mean cosines of the default embedder: of a question and another's answer, and its own."""

LEAST_APART = 0.05
"""Models that keep alike and unlike nearer together than this tell nothing here."""


def estimated(embedder: Embedder) -> Calibration | None:
    """Return constants for an embedder from those of the default one; None where none fit.

    Raises Unavailable when the model does not answer.
    """
    vectors = embedder.embed([text for column in zip(*PAIRS, strict=True) for text in column])
    cosines = vectors[: len(PAIRS)] @ vectors[len(PAIRS) :].T
    own, count = float(cosines.trace()), len(PAIRS)
    alike = own / count
    unlike = (float(cosines.sum()) - own) / (count * (count - 1))
    if not alike - unlike >= LEAST_APART:
        return None
    base = CALIBRATIONS[BGE_SMALL.name]
    usual, by_cosine = USUAL_LATE
    slope = base.cosine + base.late * by_cosine
    scale = (ALIKE - UNLIKE) / (alike - unlike)
    return replace(
        base,
        model=embedder.model.name,
        intercept=base.intercept + base.late * usual + slope * (UNLIKE - scale * unlike),
        cosine=slope * scale,
        late=0.0,
        estimated=True,
    )
