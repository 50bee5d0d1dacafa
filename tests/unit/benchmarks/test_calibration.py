"""Constants are found again in results that were made with them, and drawn."""

import math
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from benchmarks.locomo.calibration import Candidates, calibrate, drawing

INTERCEPT, COSINE, WORDS, LATE, SIZE = -6.0, 4.0, 8.0, 2.4, -0.3


def asked(*, answerable: bool, conversation: int, draw: np.random.Generator) -> Candidates:
    cosines = draw.uniform(0.2, 0.9 if answerable else 0.4, 20)
    words = draw.uniform(0.0, 0.6 if answerable else 0.1, 20)
    late = draw.uniform(0.1, 0.8 if answerable else 0.3, 20)
    sizes = np.full(20, math.log(draw.choice([10, 100, 600])))
    logit = INTERCEPT + COSINE * cosines + WORDS * words + LATE * late + SIZE * sizes
    told = 1 / (1 + np.exp(-logit))
    relevant = (draw.uniform(0, 1, 20) < told).astype(float) if answerable else np.zeros(20)
    return Candidates(
        conversation=str(conversation),
        features=np.column_stack([cosines, words, late, sizes]),
        relevant=relevant,
        evidence=max(1, int(relevant.sum())) if answerable else 0,
        whole=True,
    )


@pytest.fixture(scope="module")
def questions() -> list[Candidates]:
    draw = np.random.default_rng(7)
    return [
        asked(answerable=number % 10 > 0, conversation=number % 4, draw=draw)
        for number in range(2000)
    ]


def test_constants_are_found_again_and_tell_what_is_seen(questions: list[Candidates]) -> None:
    fit = calibrate(questions)
    found = fit.constants("a-model")
    assert found["model"] == "a-model"
    made = {"cosine": COSINE, "words": WORDS, "late": LATE, "size": SIZE}
    for name, value in made.items():
        assert found[name] == pytest.approx(value, rel=0.25)
    assert all(each.told == pytest.approx(each.seen, abs=0.05) for each in fit.bins)
    assert fit.lost <= 0.01
    assert 0 < fit.least < fit.answerable < 1


def test_the_drawing_is_well_formed_and_has_every_bin(questions: list[Candidates]) -> None:
    fit = calibrate(questions)
    root = ET.fromstring(drawing(fit.bins, "a-model & more".replace("&", "and")))
    circles = root.findall("{http://www.w3.org/2000/svg}circle")
    assert len(circles) == len(fit.bins)
