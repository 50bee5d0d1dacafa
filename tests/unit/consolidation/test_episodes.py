"""Where a session's run is cut, and that a cut depends on what is near it alone."""

from datetime import timedelta
from random import Random
from uuid import UUID

from tests.support.remembering import NOON

from cairn.summaries.ports import ENOUGH, GAP, MOST, Source, episodes, fingerprint

PUMPS = "pump seal bearing motor shaft gasket valve pressure leak oil rotor coupling"
MUSIC = "violin cello concert rehearsal score conductor melody rhythm tempo choir soprano alto"


def source(
    number: int, *, minutes: float = 0, text: str = "same old", trace: str | None = None
) -> Source:
    return Source(
        id=UUID(int=number),
        text=text,
        content_hash=str(number),
        occurred_at=NOON + timedelta(minutes=minutes),
        trace_id=trace,
    )


def numbers(*sources: Source) -> list[list[int]]:
    return [[item.id.int for item in each] for each in episodes(sources)]


def test_nothing_is_no_episode() -> None:
    assert numbers() == []


def test_a_gap_begins_an_episode_and_less_does_not() -> None:
    at = GAP.total_seconds() / 60
    assert numbers(source(1), source(2, minutes=at), source(3, minutes=2 * at + 0.1)) == [
        [1, 2],
        [3],
    ]


def test_a_trace_is_one_episode_over_any_gap() -> None:
    traced = [source(n, minutes=n * 600, trace="t") for n in (3, 4)]
    assert numbers(source(1), source(2), *traced, source(5, trace="u")) == [[1, 2], [3, 4], [5]]


def test_an_episode_ends_where_the_topic_changes() -> None:
    words = PUMPS.split(), MUSIC.split()
    said = [
        source(1 + 2 * n, minutes=n, text=" ".join(words[n >= 6]) + f" part{n} word{n}")
        for n in range(12)
    ]
    shared = [
        source(one.id.int, minutes=n, text=one.text + " " + PUMPS) for n, one in enumerate(said)
    ]
    assert [len(number) for number in numbers(*said)] == [6, 6]
    assert [len(number) for number in numbers(*shared)] == [12]


def test_few_words_are_no_topic() -> None:
    said = [source(1 + 2 * n, minutes=n, text="yes" if n < 6 else "no") for n in range(12)]
    assert [len(number) for number in numbers(*said)] == [12]


def test_an_episode_is_never_longer_than_the_most() -> None:
    odd = [source(2 * n + 1) for n in range(2 * MOST)]
    assert [len(number) for number in numbers(*odd)] == [MOST, MOST]


def test_past_enough_an_id_says_where_it_ends() -> None:
    said = [source(2 * n + 1) for n in range(ENOUGH + 3)]
    said.insert(ENOUGH, source(8 * 1000))
    assert [len(number) for number in numbers(*said)] == [ENOUGH, 4]


def test_a_late_item_moves_the_cuts_around_it_and_no_others() -> None:
    random = Random(7)
    said = [source(random.getrandbits(100), minutes=n) for n in range(2_000)]
    late = source(random.getrandbits(100), minutes=700.5)
    before = {tuple(number) for number in numbers(*said)}
    after = {
        tuple(number) for number in numbers(*sorted([*said, late], key=lambda item: item.place))
    }
    assert len(before) > 60
    assert len(after - before) <= 5


def test_the_fingerprint_knows_no_order_and_every_content() -> None:
    one, other = (UUID(int=1), "a"), (UUID(int=2), "b")
    assert fingerprint([one, other]) == fingerprint([other, one])
    assert fingerprint([one]) != fingerprint([(one[0], "b")])
    assert fingerprint([one, other, other]) != fingerprint([one])
    assert fingerprint([]) == "0:0000000000000000"
