"""Kinds, their lifecycles, and importance."""

import pytest

from cairn.memories.kinds import (
    DEFAULT_CATEGORY,
    IMPORTANCE_BANDS,
    LIFECYCLES,
    MemoryKind,
    importance_band,
    importance_number,
)


@pytest.mark.parametrize(
    ("kind", "expires", "decays", "superseded_by"),
    [
        (MemoryKind.EVENT, 30, False, None),
        (MemoryKind.FACT, None, True, "key"),
        (MemoryKind.DECISION, None, False, None),
        (MemoryKind.STATUS, None, True, "subject"),
    ],
)
def test_each_kind_has_its_lifecycle(
    kind: MemoryKind, expires: int | None, decays: bool, superseded_by: str | None
) -> None:
    life = LIFECYCLES[kind]
    assert (life.expires_after_days, life.decays, life.superseded_by) == (
        expires,
        decays,
        superseded_by,
    )


def test_every_kind_has_a_lifecycle_and_a_category() -> None:
    assert set(LIFECYCLES) == set(DEFAULT_CATEGORY) == set(MemoryKind)


def test_the_bands_cover_one_to_ten_once() -> None:
    assert sorted(n for band in IMPORTANCE_BANDS.values() for n in band) == list(range(1, 11))


@pytest.mark.parametrize(
    ("number", "band"),
    [
        (1, "low"),
        (3, "low"),
        (4, "medium"),
        (6, "medium"),
        (7, "high"),
        (8, "high"),
        (9, "critical"),
        (10, "critical"),
    ],
)
def test_a_number_falls_into_its_band(number: int, band: str) -> None:
    assert importance_band(number) == band


@pytest.mark.parametrize("band", IMPORTANCE_BANDS)
def test_a_word_is_stored_as_a_number_of_its_own_band(band: str) -> None:
    assert importance_band(importance_number(band)) == band


@pytest.mark.parametrize("wrong", ["urgent", "", 0, 11, -1])
def test_anything_else_is_refused(wrong: str | int) -> None:
    with pytest.raises(ValueError, match="importance is"):
        importance_number(wrong)
