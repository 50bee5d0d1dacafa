"""The day that "next Friday" means where it was said. English only; what is not sure has none."""

import re
from calendar import day_name, month_name
from datetime import date, datetime, timedelta

_DAYS = {name.lower(): at for at, name in enumerate(day_name)}
_MONTHS = {name.lower(): at for at, name in enumerate(month_name) if name}
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(_COUNTS)})"
_NEAR = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1}
_WORD = re.compile(rf"\b({'|'.join(_NEAR)})\b", re.I)
_WEEKDAY = re.compile(rf"\b(?:(?P<which>next|last|this) )?(?P<day>{'|'.join(_DAYS)})\b", re.I)
_AWAY = re.compile(rf"\bin {_COUNT} (?P<unit>day|week)s?\b", re.I)
_AGO = re.compile(rf"\b{_COUNT} (?P<unit>day|week)s? ago\b", re.I)
_SPAN = re.compile(r"\b(?P<which>next|last|this) (?P<unit>week|month|year)\b", re.I)
_DATE = re.compile(
    rf"\b(?:(?P<before>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? )?(?P<month>{'|'.join(_MONTHS)})"
    r"(?: (?P<after>\d{1,2})(?:st|nd|rd|th)?\b)?(?:,? (?P<year>(?:19|20)\d\d))?",
    re.I,
)
_REPEATED = re.compile(
    rf"\b(?:any|each|every|most) (?:(?:other|second) )?(?:{'|'.join((*_DAYS, *_MONTHS))})\b"
    r"|\b(?:anniversary|birthday) (?:is|was) .*"
    rf"|\b(?:{'|'.join(_DAYS)}) (?:morning|lunchtime|afternoon|evening|night)s\b",
    re.I,
)


def resolved(text: str, at: datetime, *, past: bool) -> str | None:
    """Return the day, month or year a clause names, seen from when it was said; None without one.

    A weekday or month alone is the next one, or the last one of what is `past`; what comes again
    ("every Monday") is none.
    """
    today, text = at.date(), _REPEATED.sub(" ", text)
    if word := _WORD.search(text):
        return _day(today + timedelta(days=_NEAR[word[1].lower()]))
    for form, sign in ((_AWAY, 1), (_AGO, -1)):
        if away := form.search(text):
            return _day(
                today + sign * timedelta(days=_count(away["count"]) * _length(away["unit"]))
            )
    if span := _SPAN.search(text):
        return _span(today, span["which"].lower(), span["unit"].lower())
    if weekday := _WEEKDAY.search(text):
        return _day(_weekday(today, weekday, past=past))
    match = next((each for each in _DATE.finditer(text) if _is_date(each, text)), None)
    return _date(today, match, past=past) if match else None


def _count(digits: str) -> int:
    return int(digits) if digits.isdigit() else _COUNTS[digits.lower()]


def _length(unit: str) -> int:
    return 7 if unit.lower() == "week" else 1


def _weekday(today: date, match: re.Match[str], *, past: bool) -> date:
    """Return the day; "next Friday" is that of the week after, unless this week's is over."""
    weekday, which = _DAYS[match["day"].lower()], (match["which"] or "").lower()
    if which == "last" or (past and not which):
        return today - timedelta(days=(today.weekday() - weekday - 1) % 7 + 1)
    ahead = (weekday - today.weekday() - 1) % 7 + 1
    same_week = weekday > today.weekday()
    return today + timedelta(days=ahead + (7 if which == "next" and same_week else 0))


def _span(today: date, which: str, unit: str) -> str:
    steps = {"next": 1, "last": -1, "this": 0}[which]
    if unit == "year":
        return str(today.year + steps)
    if unit == "month":
        month = today.year * 12 + today.month - 1 + steps
        return f"{month_name[month % 12 + 1]} {month // 12}"
    monday = today + timedelta(days=7 * steps - today.weekday())
    return f"the week of {_day(monday)}"


def _is_date(match: re.Match[str], text: str) -> bool:
    """Return whether a month is meant: "may" and "march" are verbs as well."""
    if match["before"] or match["after"] or match["year"]:
        return True
    verb = match["month"].lower() in {"may", "march"}
    return not verb or text[: match.start()].lower().endswith(("in ", "next ", "last ", "until "))


def _date(today: date, match: re.Match[str], *, past: bool) -> str | None:
    month, day = _MONTHS[match["month"].lower()], int(match["before"] or match["after"] or 0)
    try:
        first = date(int(match["year"] or today.year), month, day or 1)
        if not match["year"]:
            ahead = (first.month, first.day if day else 0) < (today.month, today.day if day else 0)
            behind = (first.month, first.day if day else 0) > (today.month, today.day if day else 0)
            first = first.replace(year=today.year + (ahead and not past) - (behind and past))
    except ValueError:
        return None  # no such day
    return _day(first) if day else f"{month_name[month]} {first.year}"


def _day(day: date) -> str:
    return f"{day.day} {month_name[day.month]} {day.year}"
