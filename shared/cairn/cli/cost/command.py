"""`cairn cost`: a table, bars, and the price of a million operations."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from cairn.cli.cost.bill import Line, monthly, templates_in
from cairn.cli.cost.million import MillionCost, millions, price_list
from cairn.cli.deps import Deps
from cairn.cli.operations import bar
from cairn.cli.options import Json, deps_of, escape, print_json, table


class By(StrEnum):
    """What a row is."""

    model = "model"
    purpose = "purpose"
    day = "day"
    workspace = "workspace"
    investigation = "investigation"
    persona = "persona"


def cost(
    ctx: typer.Context,
    since: Annotated[
        str, typer.Option(help="The first day, such as 2026-03-01, or 7d: the last seven.")
    ] = "30d",
    until: Annotated[str | None, typer.Option(help="The last day; today without.")] = None,
    by: Annotated[By, typer.Option(help="What a row is.")] = By.model,
    million: Annotated[
        bool, typer.Option(help="Also what a million operations cost at list prices.")
    ] = True,
    templates: Annotated[
        Path | None,
        typer.Option(help="Only what a deployment of these templates costs while nobody asks."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Report what models have cost, and what a million operations cost.

    By workspace, the owner's database URL shows all of them; without it, the key's own.
    """
    deps = deps_of(ctx)
    if templates is not None:
        _idle(deps, monthly(templates_in(templates)), as_json=as_json)
        return
    first, last = _period(since, until)
    period = {"since": first.isoformat(), "until": last.isoformat()}
    fields = _report(deps, by, first, last) | period
    if as_json:
        print_json({**fields, **({"million": _as_json(millions())} if million else {})})
        return
    _show(deps, fields)
    if million:
        _show_millions(deps, millions())


def _idle(deps: Deps, lines: Sequence[Line], *, as_json: bool) -> None:
    prices, total = price_list(), sum(float(line.usd) for line in lines)
    if as_json:
        rows = [
            {"name": line.name, "units": float(line.units), "usd": float(round(line.usd, 4))}
            for line in lines
        ]
        fields = {"region": prices["region"], "as_of": prices["as_of"]}
        print_json({**fields, "month_usd": round(total, 2), "rows": rows})
        return
    shown = table("a month, idle", "USD", "units", "a unit is a")
    for item in lines:
        unit = prices["prices"][item.name]["unit"]
        shown.add_row(item.name.replace("_", " "), f"{item.usd:,.2f}", f"{item.units:,.0f}", unit)
    deps.out.print(shown)
    deps.out.print(
        f"[bold]{total:,.2f} USD[/] a month [dim]at list prices of {prices['region']}, "
        f"{prices['as_of']}, before anybody asks[/]"
    )


def _period(since: str, until: str | None) -> tuple[date, date]:
    from cairn.kernel.clock import utc_now
    from cairn.llm.costs import day_of

    last = day_of(until or "1d", utc_now().date(), "until")
    return day_of(since, last), last


def _report(deps: Deps, by: By, first: date, last: date) -> dict[str, Any]:
    if last < first:
        raise typer.BadParameter("--until is before --since.")
    if by is By.workspace and deps.owner_url:
        rows = [asdict(row) for row in deps.load_operator().costs(deps.owner_url, first, last)]
        names = ("calls", "tokens", "usd", "unpriced_calls")
        total = {name: sum(row[name] for row in rows) for name in names}
        return {"by": by.value, "rows": rows, "total": total, "dropped_calls": 0}
    return deps.client.get("/v1/costs", by=by.value, since=str(first), until=str(last))


def _show(deps: Deps, answer: Mapping[str, Any]) -> None:
    total = answer["total"]
    deps.out.print(
        f"{answer['since']} to {answer['until']}: [bold]{total['usd']:.4f} USD[/], "
        f"{total['tokens']} tokens in {total['calls']} calls"
    )
    rows: Sequence[Mapping[str, Any]] = answer["rows"]
    most = max((row["usd"] for row in rows), default=0)
    shown = table(answer["by"], "USD", "tokens", "from cache", "calls", "")
    for row in rows:
        cached = row["cache_read_tokens"]
        shown.add_row(
            escape(row["name"]),
            f"{row['usd']:.4f}",
            str(row["tokens"]),
            "" if cached is None else str(cached),
            str(row["calls"]),
            bar(row["usd"], most),
        )
    if rows:
        deps.out.print(shown)
    if total["unpriced_calls"]:
        text = f"{total['unpriced_calls']} calls of models without a known price are not in it"
        deps.out.print(f"[yellow]→ {text}[/]")
    if answer["dropped_calls"]:
        text = f"the details of {answer['dropped_calls']} older calls are gone; --by day has them"
        deps.out.print(f"[yellow]→ {text}[/]")


def _show_millions(deps: Deps, costs: Sequence[MillionCost]) -> None:
    prices = price_list()
    most = float(max(cost.aws + cost.models for cost in costs))
    shown = table("a million of", "AWS", "models", "dearest part", "")
    for cost in costs:
        dearest = max(cost.parts, key=lambda name: cost.parts[name])
        share = cost.parts[dearest] / (cost.aws + cost.models)
        shown.add_row(
            f"{cost.name}\n[dim]{cost.what}[/]",
            f"{cost.aws:,.2f}",
            f"{cost.models:,.2f}" if cost.models else "-",
            f"{dearest.replace('_', ' ')} {share:.0%}",
            bar(float(cost.aws + cost.models), most),
        )
    deps.out.print(shown)
    deps.out.print(
        f"[dim]USD at list prices of {prices['region']}, {prices['as_of']}; by rules alone models "
        "cost nothing. How it is counted: docs/operate/observability.md[/]"
    )


def _as_json(costs: Sequence[MillionCost]) -> dict[str, Any]:
    prices = price_list()
    return {
        "region": prices["region"],
        "as_of": prices["as_of"],
        "operations": [
            {
                "name": cost.name,
                "what": cost.what,
                "aws_usd": float(round(cost.aws, 4)),
                "models_usd": float(round(cost.models, 4)),
                "parts": {name: float(round(usd, 4)) for name, usd in cost.parts.items()},
            }
            for cost in costs
        ],
    }
