"""The hourly sweep: its parts, its batches and its end."""

from datetime import UTC, datetime, timedelta

from cairn.operations.sweep import ROWS_A_BATCH, KeepForDays, Sweep

NOON = datetime(2026, 5, 31, 12, tzinfo=UTC)


class Kept:
    """Searches of some workspaces, all old; each removal takes a second."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.asked: list[tuple[datetime, int]] = []

    def drop(self, before: datetime, limit: int) -> int:
        self.asked.append((before, limit))
        gone = min(self.count, limit)
        self.count -= gone
        return gone

    def seconds(self) -> float:
        return float(len(self.asked))


def forgetting(kept: Kept, *, seconds: float = 60.0) -> KeepForDays:
    return KeepForDays(
        drop=kept.drop,
        age=timedelta(days=30),
        clock=lambda: NOON,
        stopwatch=kept.seconds,
        seconds=seconds,
    )


def test_old_searches_go_in_batches_until_there_are_none() -> None:
    kept = Kept(2 * ROWS_A_BATCH + 7)
    assert forgetting(kept)() == 2 * ROWS_A_BATCH + 7
    assert kept.asked == [(NOON - timedelta(days=30), ROWS_A_BATCH)] * 3


def test_what_the_time_does_not_reach_waits_for_the_next_sweep() -> None:
    kept = Kept(10 * ROWS_A_BATCH)
    assert forgetting(kept, seconds=3)() == 3 * ROWS_A_BATCH
    assert kept.count == 7 * ROWS_A_BATCH


def test_nothing_old_is_one_question() -> None:
    kept = Kept(0)
    assert forgetting(kept)() == 0
    assert len(kept.asked) == 1


def test_a_sweep_sends_before_it_forgets_and_counts_each() -> None:
    order: list[str] = []

    def part(name: str, count: int) -> int:
        order.append(name)
        return count

    sweep = Sweep(
        oldest=lambda: part("oldest", 7),
        send=lambda: part("send", 1),
        expire=lambda: part("expire", 2),
        forget=lambda: part("forget", 3),
        deliveries=lambda: part("deliveries", 5),
        model_calls=lambda: part("model calls", 6),
        remove_expired=lambda: part("expired", 8),
        finish_forgettings=lambda: part("finish", 4),
        end_intents=lambda: part("intents", 9),
    )
    assert sweep() == {
        "oldest_waiting_seconds": 7,
        "sent": 1,
        "expired_messages": 2,
        "forgotten_searches": 3,
        "forgotten_deliveries": 5,
        "forgotten_model_calls": 6,
        "expired_memories": 8,
        "finished_forgettings": 4,
        "expired_intents": 9,
    }
    assert order == [
        "oldest",
        "send",
        "expire",
        "forget",
        "deliveries",
        "model calls",
        "expired",
        "finish",
        "intents",
    ]
