"""Lenses are kept in memory for an hour, and the newest thousand of them."""

from __future__ import annotations

from uuid import UUID

from cairn.discovery.matching.hyde import HOUR, MOST_KEPT, RecentLenses
from cairn.discovery.matching.lenses import lenses_of

LENSES = lenses_of("Looking for a glazier", "seeking")


def key(number: int) -> tuple[UUID, UUID, bytes]:
    return UUID(int=1), UUID(int=number), b"text"


def test_what_is_older_than_an_hour_is_out_of_memory() -> None:
    now = [0.0]
    recent = RecentLenses(lambda: now[0])
    recent.put(key(1), LENSES)
    now[0] = HOUR - 1
    recent.put(key(2), LENSES)
    assert recent.get(key(1)) == LENSES
    now[0] = HOUR
    assert (recent.get(key(1)), recent.get(key(2))) == (None, LENSES)
    assert recent.get((UUID(int=1), UUID(int=2), b"another text")) is None


def test_the_oldest_of_too_many_go() -> None:
    recent = RecentLenses(lambda: 0.0)
    for number in range(MOST_KEPT + 1):
        recent.put(key(number), LENSES)
    assert (recent.get(key(0)), recent.get(key(1))) == (None, LENSES)
