"""What a million operations cost at list prices: counted parts times prices. Not a bill.

What an operation is made of stands in `OPERATIONS`; docs/operate/observability.md has where each
number comes from. Prices of AWS are in `aws_prices.json`, those of models in
`cairn.llm.configuration`.
What is paid whether or not anything is asked (endpoints, an awake database) is not in it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cairn.llm.configuration import BIG, SMALL, cost_of, price_of
from cairn.llm.port import Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

MILLION = 1_000_000
FILE = Path(__file__).with_name("aws_prices.json")
LARGE_MB, SMALL_MB = 1769, 512
"""Memory of the functions: those that embed or plan in Python at length, and the others."""

ACU_A_CPU = 4
"""Aurora capacity units that have about the work of one processor."""

BIG_MODEL, SMALL_MODEL = BIG[0].model, SMALL[0].model


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation: `units` of each price, and what models read and write for it."""

    name: str
    what: str
    units: Mapping[str, Decimal]
    usages: Mapping[str, Usage] = field(default_factory=dict[str, Usage])


@dataclass(frozen=True, slots=True, kw_only=True)
class MillionCost:
    """US dollars for a million of an operation, by part; `models` only where models are asked."""

    name: str
    what: str
    aws: Decimal
    models: Decimal
    parts: Mapping[str, Decimal]


def _units(
    *,
    calls: int = 0,
    seconds: str = "0",
    memory_mb: int = SMALL_MB,
    database_ms: int = 0,
    log_bytes: int = 850,
    **others: int | str,
) -> dict[str, Decimal]:
    """Return the units of so many calls of functions that take `seconds` each."""
    busy = Decimal(seconds) * calls
    return {
        "lambda_request": Decimal(calls),
        "lambda_gb_second": busy * memory_mb / 1024,
        "acu_second": Decimal(database_ms) / 1000 * ACU_A_CPU,
        "log_gb": Decimal(log_bytes) * max(1, calls) / 1_000_000_000,
        **{name: Decimal(value) for name, value in others.items()},
    }


def _request(
    seconds: str, *, database_ms: int, aurora_io: int, **others: int | str
) -> dict[str, Decimal]:
    """Return the units of one request to the API."""
    return _units(
        calls=1,
        seconds=seconds,
        memory_mb=LARGE_MB,
        database_ms=database_ms,
        log_bytes=1200,
        http_api_request=1,
        aurora_io=aurora_io,
        **others,
    )


def _added(*parts: Mapping[str, Decimal]) -> dict[str, Decimal]:
    total: dict[str, Decimal] = {}
    for part in parts:
        for name, value in part.items():
            total[name] = total.get(name, Decimal(0)) + value
    return total


_STEP = _units(calls=1, seconds="0.15", database_ms=12, aurora_io=6, state_transition=2)
"""One step of an investigation: a Task and the Choice after it."""

_PLAN = Usage(input_tokens=1_200, output_tokens=250, cache_read_tokens=2_800)
_SUMMARY = Usage(input_tokens=4_000, output_tokens=350)
_VERDICT = Usage(input_tokens=2_500, output_tokens=60)


_KEYS_OPEN = {"dynamodb_read": "2.2", "kms_request": "0.09"}
"""Keys of a write where a workspace has a million a month: a client's in the API and in embed."""

_KEYS_COLD = {"dynamodb_read": 6, "kms_request": 2}
"""Those of a write whose minute has no other: the workspace's key is opened in each, too."""

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        name="memory written",
        what="POST /v1/memories, embedded and indexed in batches of ten; one busy workspace",
        units=_added(
            _request("0.065", database_ms=20, aurora_io=5, sqs_request="1.2", **_KEYS_OPEN),
            _units(
                calls=1,
                seconds="0.012",
                memory_mb=LARGE_MB,
                database_ms=14,
                aurora_io=3,
                log_bytes=85,
                lambda_request="0.1",
            ),
        ),
    ),
    Operation(
        name="memory written alone",
        what="the same with nothing else in its minute: no batch, no key open",
        units=_added(
            _request("0.065", database_ms=20, aurora_io=5, sqs_request=3, **_KEYS_COLD),
            _units(calls=1, seconds="0.06", memory_mb=LARGE_MB, database_ms=14, aurora_io=3),
        ),
    ),
    Operation(
        name="search",
        what="POST /v1/search with the default recipe, no model asked",
        units=_request("0.028", database_ms=15, aurora_io=5),
    ),
    Operation(
        name="loop iteration",
        what="plan, safety check, act, observe: four steps of an investigation",
        units=_added(*[_STEP] * 4),
        usages={BIG_MODEL: _PLAN},
    ),
    Operation(
        name="investigation",
        what="a ticket from intake to write-back in four iterations, one search, one approval",
        units=_added(
            *[_STEP] * 23,
            _units(calls=2, seconds="0.1", http_api_request=2, sqs_request=6, kms_request=4),
        ),
        usages={
            BIG_MODEL: sum([_PLAN] * 4, start=_SUMMARY),
            SMALL_MODEL: _VERDICT,
        },
    ),
    Operation(
        name="poll of the steps",
        what="GET /v1/investigations/{id}/steps",
        units=_request("0.015", database_ms=3, aurora_io=1),
    ),
)


@cache
def price_list() -> Mapping[str, Any]:
    """Return the committed list prices of AWS with their date, region and sources."""
    return json.loads(FILE.read_text(encoding="utf-8"))


def millions() -> tuple[MillionCost, ...]:
    """Return what a million of each operation costs."""
    return tuple(map(cost_of_million, OPERATIONS))


def cost_of_million(operation: Operation) -> MillionCost:
    """Return what a million of one operation costs; KeyError for a part without a price."""
    prices = price_list()["prices"]
    parts = {
        name: units * Decimal(prices[name]["usd"]) * MILLION
        for name, units in operation.units.items()
        if units
    }
    models = {
        model: (cost_of(price_of(model), usage) or Decimal(0)) * MILLION
        for model, usage in operation.usages.items()
    }
    return MillionCost(
        name=operation.name,
        what=operation.what,
        aws=sum(parts.values(), Decimal(0)),
        models=sum(models.values(), Decimal(0)),
        parts={**parts, **models},
    )
