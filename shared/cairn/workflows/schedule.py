"""When a workflow is due: a time of day in a time zone, on some days of the week. Pure.

A time that a change of clocks leaves out is due when the clocks have changed; one that comes twice
is due the first time only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.kernel.zones import zone_of

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_TIME = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """`at` as HH:MM by the clocks of `timezone`, an IANA name; no `days` are all."""

    at: str
    timezone: str = "UTC"
    days: tuple[str, ...] = ()


def check_schedule(schedule: Schedule, place: str = "schedule") -> None:
    """Raise ValidationFailed naming what is wrong."""
    if not _TIME.fullmatch(schedule.at):
        _refuse(f"{place}.at", "is a time of day such as 07:30", "schedule")
    if zone_of(schedule.timezone) is None:
        _refuse(f"{place}.timezone", "is an IANA time zone such as Europe/Berlin", "unknown-zone")
    for number, day in enumerate(schedule.days):
        if day not in DAYS or day in schedule.days[:number]:
            _refuse(f"{place}.days.{number}", f"is one of {', '.join(DAYS)}, each once", "schedule")


def next_due(schedule: Schedule, after: datetime) -> datetime:
    """Return the first moment after `after` at which it is due, in UTC."""
    zone = ZoneInfo(schedule.timezone)
    needed = schedule.days or DAYS
    day = after.astimezone(zone).date() - timedelta(days=1)
    while True:
        if DAYS[day.weekday()] in needed:
            hour, minute = schedule.at.split(":")
            local = datetime.combine(day, time(int(hour), int(minute)), tzinfo=zone)
            moment = _moment(local)
            if moment > after:
                return moment
        day += timedelta(days=1)


def _moment(local: datetime) -> datetime:
    """Return when clocks show a time, the first time; where they never do, when they jump."""
    moment = local.astimezone(UTC)
    shown = moment.astimezone(local.tzinfo)
    if shown.replace(tzinfo=None) == local.replace(tzinfo=None):
        return moment
    before, later = moment - timedelta(days=1), moment + timedelta(days=1)
    offset = before.astimezone(local.tzinfo).utcoffset()
    while later - before > timedelta(seconds=1):  # halves the time until the clocks jump
        middle = before + (later - before) / 2
        if middle.astimezone(local.tzinfo).utcoffset() == offset:
            before = middle
        else:
            later = middle
    return later.replace(microsecond=0)


def _refuse(place: str, message: str, reason: str) -> None:
    raise ValidationFailed(
        f"{place} {message}.", reason=reason, errors=[FieldError(place, message)]
    )
