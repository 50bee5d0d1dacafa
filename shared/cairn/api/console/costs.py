"""The page of costs: what a month of models has cost, by day as a plot, and what budgets leave.

Sums of calls that were kept, not a provider's bill.
"""

import re
from calendar import monthrange
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, timedelta
from typing import Any

from fastapi import APIRouter, Request, Response

from cairn.api.console.routes import ConsoleRoute, Reader, shown
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import ValidationFailed
from cairn.llm.budget import Allowance
from cairn.llm.costs import CostBy, CostRow, day_of

COSTS = "/console/costs"
TABLES = (CostBy.MODEL, CostBy.PURPOSE, CostBy.PERSONA, CostBy.INVESTIGATION)
WIDTH, HEIGHT = 20, 100
"""Of a day's bar in the plot, and of the dearest day's."""

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A day of the plot: where it stands, how high, what it has cost."""

    day: str
    x: int
    height: float
    usd: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A limit of what models may cost: what is spent of it where that is summed, and of what."""

    name: str
    most: float
    spent: float | None
    setting: str


@routes.get(COSTS)
def show_costs(request: Request, visitor: Reader, month: str = "") -> Response:
    """Show what a month has cost; the present one without a name."""
    today = utc_now().astimezone(UTC).date()
    first = _first_day(month, today)
    last = min(today, first.replace(day=monthrange(first.year, first.month)[1]))
    services, caller = visitor.services, visitor.principal
    reports = {
        by: services.costs(caller, by=by, since=first, until=last) for by in (CostBy.DAY, *TABLES)
    }
    days = reports[CostBy.DAY]
    now = services.costs(caller, by=CostBy.DAY, since=today, until=today).total
    budgets = services.keep_settings.show(caller).settings["models"]["budgets"]
    following = (first.replace(day=28) + timedelta(days=4)).replace(day=1)
    return shown(
        request,
        visitor,
        "costs.html",
        month=first.strftime("%Y-%m"),
        period=(first.isoformat(), last.isoformat()),
        before=(first - timedelta(days=1)).strftime("%Y-%m"),
        after=following.strftime("%Y-%m") if following <= today else "",
        total=days.total,
        bars=_bars(first, last, days.rows),
        days=days.rows,
        reports=[(by.value, reports[by]) for by in TABLES],
        limits=_limits(budgets, now),
    )


def _first_day(month: str, today: date) -> date:
    """Return the first day of `2026-03`; ValidationFailed for what is no month, or to come."""
    if not month:
        return today.replace(day=1)
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}", month):
        raise ValidationFailed("month is written as 2026-03.")
    first = day_of(f"{month}-01", today, "month")
    if first > today:
        raise ValidationFailed("This month is still to come.")
    return first


def _bars(first: date, last: date, rows: Sequence[CostRow]) -> list[Bar]:
    """Return a bar a day of the period, those without a call too."""
    costs = {row.name: row.usd for row in rows}
    dearest = max(costs.values(), default=0.0) or 1.0
    names = [(first + timedelta(days=each)).isoformat() for each in range((last - first).days + 1)]
    return [
        Bar(
            day=name,
            x=place * WIDTH,
            height=round(HEIGHT * costs.get(name, 0.0) / dearest, 2),
            usd=costs.get(name, 0.0),
        )
        for place, name in enumerate(names)
    ]


def _limits(budgets: Mapping[str, Any], today: CostRow) -> list[Limit]:
    """Return the limits that hold: what is set, or the default."""
    default = Allowance()
    rows = (
        ("US dollars a day", default.day.usd, "day_usd", today.usd),
        ("Tokens a day", default.day.tokens, "day_tokens", today.tokens),
        ("US dollars a run", default.run.usd, "run_usd", None),
        ("Tokens a run", default.run.tokens, "run_tokens", None),
    )
    return [
        Limit(
            name=name,
            most=float(budgets[setting] if budgets[setting] is not None else most or 0),
            spent=spent,
            setting=f"models.budgets.{setting}",
        )
        for name, most, setting, spent in rows
    ]
