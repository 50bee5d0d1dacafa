"""When a workflow is due, by the clocks of its place."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cairn.kernel.errors import ValidationFailed
from cairn.workflows.schedule import Schedule, check_schedule, next_due

BERLIN = "Europe/Berlin"


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


@pytest.mark.parametrize(
    ("schedule", "after", "due"),
    [
        # the same time of day, in summer and in winter
        (Schedule(at="07:00", timezone=BERLIN), "2026-07-01T05:00:00+00:00", "2026-07-02T05:00Z"),
        (Schedule(at="07:00", timezone=BERLIN), "2026-12-01T05:59:59+00:00", "2026-12-01T06:00Z"),
        # 02:30 is left out on 29 March 2026: due when the clocks jump to 03:00
        (Schedule(at="02:30", timezone=BERLIN), "2026-03-28T12:00:00+00:00", "2026-03-29T01:00Z"),
        (Schedule(at="02:30", timezone=BERLIN), "2026-03-29T01:00:00+00:00", "2026-03-30T00:30Z"),
        # 02:30 comes twice on 25 October 2026: due the first time, and not the second
        (Schedule(at="02:30", timezone=BERLIN), "2026-10-24T12:00:00+00:00", "2026-10-25T00:30Z"),
        (Schedule(at="02:30", timezone=BERLIN), "2026-10-25T00:30:00+00:00", "2026-10-26T01:30Z"),
        # a jump of half an hour, and one by which a day is left out
        (
            Schedule(at="02:15", timezone="Australia/Lord_Howe"),
            "2026-10-03T12:00:00+00:00",
            "2026-10-03T15:30Z",
        ),
        (
            Schedule(at="12:00", timezone="Pacific/Apia"),
            "2011-12-29T23:00:00+00:00",
            "2011-12-30T10:00Z",
        ),
        # some days only
        (Schedule(at="09:00", days=("mon",)), "2026-11-23T09:00:00+00:00", "2026-11-30T09:00Z"),
    ],
)
def test_it_is_due_at_the_next_such_time_by_the_clocks_there(
    schedule: Schedule, after: str, due: str
) -> None:
    assert next_due(schedule, at(after)) == at(due.replace("Z", "+00:00"))


@pytest.mark.parametrize(
    ("schedule", "place"),
    [
        (Schedule(at="24:00"), "schedule.at"),
        (Schedule(at="7:00"), "schedule.at"),
        (Schedule(at="07:00", timezone="Europe/Atlantis"), "schedule.timezone"),
        (Schedule(at="07:00", timezone="../etc/passwd"), "schedule.timezone"),
        (Schedule(at="07:00", timezone=""), "schedule.timezone"),
        (Schedule(at="07:00", days=("funday",)), "schedule.days.0"),
        (Schedule(at="07:00", days=("mon", "mon")), "schedule.days.1"),
    ],
)
def test_a_bad_schedule_is_refused_with_its_place(schedule: Schedule, place: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        check_schedule(schedule)
    assert refused.value.errors[0].location == place
