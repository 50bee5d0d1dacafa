"""Which model answers which purpose, and how: one table. Not a router, and no key is in it.

A workspace lays its own rows over the deployment's, and both over the table here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl

from cairn.kernel.errors import ValidationFailed
from cairn.llm.port import Effort, Purpose

if TYPE_CHECKING:
    from cairn.llm.port import Usage


MILLION = Decimal(1_000_000)
_DATE = re.compile(r"-(?:20\d{6}|20\d\d-\d\d-\d\d)$")
_BEDROCK = re.compile(r"(?:(?P<where>[a-z-]+)\.)?anthropic\.(?P<model>.+?)(?:-v\d+)?(?::\d+\w*)?")
_PLACED = re.compile(r"(?:us|eu|apac|au|ca|jp|us-gov)\.(?=amazon\.|openai\.)")
REGIONAL: Decimal = Decimal("1.1")
"""What Claude costs on Bedrock where requests stay in a region or continent, by that of global."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars for a million tokens of each sort."""

    input: Decimal
    output: Decimal
    cache_read: Decimal
    cache_write: Decimal


def anthropic_price(input_usd: str, output_usd: str) -> Price:
    """Return a price with the cache at its usual share: reads a tenth, 5-minute writes 1.25."""
    base = Decimal(input_usd)
    return Price(
        input=base,
        output=Decimal(output_usd),
        cache_read=base / 10,
        cache_write=base * Decimal("1.25"),
    )


def openai_price(input_usd: str, output_usd: str, cached_usd: str) -> Price:
    """Return a price with its own rate for cached input; writing the cache costs nothing extra."""
    base = Decimal(input_usd)
    return Price(
        input=base, output=Decimal(output_usd), cache_read=Decimal(cached_usd), cache_write=base
    )


def nova_price(input_usd: str, output_usd: str) -> Price:
    """Return a price with the cache at Nova's share: reads a quarter, writes nothing extra."""
    base = Decimal(input_usd)
    return Price(input=base, output=Decimal(output_usd), cache_read=base / 4, cache_write=base)


FREE = Price(input=Decimal(0), output=Decimal(0), cache_read=Decimal(0), cache_write=Decimal(0))

PRICES: Mapping[str, Price] = {
    "claude-haiku-4-5": anthropic_price("1", "5"),
    "claude-sonnet-4-5": anthropic_price("3", "15"),
    "claude-sonnet-4-6": anthropic_price("3", "15"),
    "claude-opus-4-5": anthropic_price("5", "25"),
    "gpt-4.1": openai_price("2", "8", "0.50"),
    "gpt-4.1-mini": openai_price("0.40", "1.60", "0.10"),
    "gpt-4.1-nano": openai_price("0.10", "0.40", "0.025"),
    "gpt-4o": openai_price("2.50", "10", "1.25"),
    "gpt-4o-mini": openai_price("0.15", "0.60", "0.075"),
    "gpt-5": openai_price("1.25", "10", "0.125"),
    "gpt-5-mini": openai_price("0.25", "2", "0.025"),
    "gpt-5-nano": openai_price("0.05", "0.40", "0.005"),
    "amazon.nova-micro-v1:0": nova_price("0.035", "0.14"),
    "amazon.nova-lite-v1:0": nova_price("0.06", "0.24"),
    "amazon.nova-pro-v1:0": nova_price("0.80", "3.20"),
    "openai.gpt-oss-20b-1:0": openai_price("0.07", "0.30", "0.07"),
    "openai.gpt-oss-120b-1:0": openai_price("0.15", "0.60", "0.15"),
    "text-embedding-3-small": openai_price("0.02", "0", "0.02"),
    "text-embedding-3-large": openai_price("0.13", "0", "0.13"),
    "extractive-1": FREE,
}


WINDOWS: Mapping[str, int] = {
    "claude": 200_000,
    "gpt-4.1": 1_000_000,
    "gpt-4o": 128_000,
    "gpt-5": 272_000,
    "amazon.nova-micro": 128_000,
    "amazon.nova": 300_000,
    "openai.gpt-oss": 128_000,
}
"""Tokens that models read at once, by how their names begin; the first that fits."""

UNKNOWN_WINDOW = 32_000
"""Of a model that nobody knows here."""

LEAST_WINDOW, MOST_WINDOW = 4_000, 10_000_000


def window_of(model: str) -> int:
    """Return how many tokens a model reads at once, by its name, or its profile's on Bedrock."""
    claude = _BEDROCK.fullmatch(model)
    name = claude["model"] if claude else _PLACED.sub("", model)
    return next((size for start, size in WINDOWS.items() if name.startswith(start)), UNKNOWN_WINDOW)


def price_of(model: str, overrides: Mapping[str, Price] | None = None) -> Price | None:
    """Return the price of `model`, a workspace's own rate first.

    A date in the name is ignored, and where Bedrock answers from counts by its price only.
    """
    for table in (overrides or {}, PRICES):
        for name in (model, _DATE.sub("", model)):
            if name in table:
                return table[name]
    return _bedrock_price(model)


def _bedrock_price(model: str) -> Price | None:
    """Return the price of a model or inference profile of Bedrock; Claude's is its maker's."""
    claude = _BEDROCK.fullmatch(model)
    if claude is None:
        return PRICES.get(_PLACED.sub("", model))
    price = PRICES.get(_DATE.sub("", claude["model"]))
    if price is None or claude["where"] == "global":
        return price
    return Price(
        input=price.input * REGIONAL,
        output=price.output * REGIONAL,
        cache_read=price.cache_read * REGIONAL,
        cache_write=price.cache_write * REGIONAL,
    )


def cost_of(price: Price | None, usage: Usage) -> Decimal | None:
    """Return what `usage` costs in US dollars, None when the price is unknown."""
    if price is None:
        return None
    return (
        price.input * usage.input_tokens
        + price.output * usage.output_tokens
        + price.cache_read * usage.cache_read_tokens
        + price.cache_write * usage.cache_write_tokens
    ) / MILLION


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One model of one provider."""

    provider: str
    model: str


HEURISTIC: Final = Route(provider="heuristic", model="extractive-1")
SMALL: Final = (
    Route(provider="anthropic", model="claude-haiku-4-5"),
    Route(provider="openai", model="gpt-4.1-mini"),
)
BIG: Final = (
    Route(provider="anthropic", model="claude-sonnet-4-6"),
    Route(provider="openai", model="gpt-4.1"),
)
PROVIDERS: Final = frozenset({"anthropic", "bedrock", "openai"})
MOST_TOKENS: Final = 64_000
HOTTEST: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A row: models, tried from left to right, and what requests leave open.

    `temperature` and `effort` None are not sent: some models take neither. `window` None is the
    model's own, as far as it is known.
    """

    routes: tuple[Route, ...]
    max_tokens: int
    temperature: float | None = None
    effort: Effort | None = None
    window: int | None = None


Configuration = Mapping[Purpose, Choice]

CONFIGURATION: Configuration = MappingProxyType(
    {
        Purpose.SUMMARY: Choice(routes=(*SMALL, HEURISTIC), max_tokens=200),
        Purpose.CLASSIFIER: Choice(routes=(*SMALL, HEURISTIC), max_tokens=200),
        Purpose.REWRITE: Choice(routes=(*SMALL, HEURISTIC), max_tokens=200),
        Purpose.EXPANSION: Choice(routes=(*SMALL, HEURISTIC), max_tokens=300),
        Purpose.RERANK: Choice(routes=(*SMALL, HEURISTIC), max_tokens=600),
        Purpose.PLANNER: Choice(routes=(*BIG, HEURISTIC), max_tokens=2000),
        Purpose.TOOL_SELECTOR: Choice(routes=(*BIG, HEURISTIC), max_tokens=1000),
        Purpose.VERDICT: Choice(routes=(*SMALL, HEURISTIC), max_tokens=500),
        Purpose.SUMMARIZER: Choice(routes=(*BIG, HEURISTIC), max_tokens=1000),
        Purpose.EXTRACTION: Choice(routes=(*SMALL, HEURISTIC), max_tokens=2000),
        Purpose.PROFILE: Choice(routes=(*SMALL, HEURISTIC), max_tokens=2000),
        Purpose.CONSOLIDATION: Choice(routes=(*BIG, HEURISTIC), max_tokens=8000),
        Purpose.SESSION_SUMMARY: Choice(routes=(*SMALL, HEURISTIC), max_tokens=400),
        Purpose.CHAT: Choice(routes=(*BIG, HEURISTIC), max_tokens=8192),
        Purpose.TITLE: Choice(routes=(*SMALL, HEURISTIC), max_tokens=32, temperature=0.3),
        Purpose.SUGGESTION: Choice(routes=(*SMALL, HEURISTIC), max_tokens=512, temperature=0.4),
        Purpose.COMPACTION: Choice(routes=(*SMALL, HEURISTIC), max_tokens=2000),
        Purpose.WORKFLOW: Choice(routes=(*BIG, HEURISTIC), max_tokens=4000),
        Purpose.INTENT_INFERRER: Choice(routes=(*SMALL, HEURISTIC), max_tokens=2000),
        Purpose.INTENT_VERIFIER: Choice(routes=(*SMALL, HEURISTIC), max_tokens=500),
        Purpose.INTENT_RECONCILER: Choice(routes=(*SMALL, HEURISTIC), max_tokens=2000),
        Purpose.PROFILE_GENERATOR: Choice(routes=(*SMALL, HEURISTIC), max_tokens=2000),
        Purpose.OPPORTUNITY_EVALUATOR: Choice(routes=(*SMALL, HEURISTIC), max_tokens=4000),
        Purpose.HYDE_GENERATOR: Choice(routes=(*SMALL, HEURISTIC), max_tokens=1500),
        Purpose.NEGOTIATOR: Choice(routes=(*SMALL, HEURISTIC), max_tokens=500),
        Purpose.FEED: Choice(routes=(*SMALL, HEURISTIC), max_tokens=4000),
        Purpose.COMPILED_TRUTH: Choice(routes=(*SMALL, HEURISTIC), max_tokens=400),
    }
)

_CHOICE = re.compile(
    r"(?:(?P<purpose>[a-z_]+)=)?(?P<provider>[a-z]+):(?P<model>[^\s?]+)(?:\?(?P<options>\S*))?"
)
_OPTIONS = frozenset({"max_tokens", "temperature", "effort", "window"})


def configured(choices: str, base: Configuration = CONFIGURATION) -> Configuration:
    """Return `base` with the models `choices` names, the heuristic after them.

    `provider:model` is for every purpose, `purpose=provider:model` for one; several are separated
    by commas, and the last word on a purpose holds. `?max_tokens=2000&temperature=0.2&effort=low`
    may follow a model; a model that comes without takes neither temperature nor effort from the
    row it replaces. Raises ValidationFailed for what is none.
    """
    rows = dict(base)
    for choice in filter(None, (part.strip() for part in choices.split(","))):
        match = _CHOICE.fullmatch(choice)
        purpose = match and match["purpose"]
        if not match or match["provider"] not in PROVIDERS or purpose not in {None, *Purpose}:
            raise _no_model(choice)
        route = Route(provider=match["provider"], model=match["model"])
        options = dict(parse_qsl(match["options"] or "", keep_blank_values=True))
        for each in [Purpose(purpose)] if purpose else Purpose:
            row = Choice(routes=(route, HEURISTIC), max_tokens=rows[each].max_tokens)
            rows[each] = changed(row, options)
    return MappingProxyType(rows)


def changed(row: Choice, options: Mapping[str, object]) -> Choice:
    """Return `row` with other options; ValidationFailed for what is none."""
    unknown = sorted(set(options) - _OPTIONS)
    if unknown:
        raise _no_option(unknown[0])
    if "max_tokens" in options:
        row = replace(row, max_tokens=int(_number(options, "max_tokens", 1, MOST_TOKENS)))
    if "window" in options:
        size = int(_number(options, "window", LEAST_WINDOW, MOST_WINDOW))
        row = replace(row, window=size)
    if "temperature" in options:
        row = replace(row, temperature=_number(options, "temperature", 0, HOTTEST))
    if "effort" in options:
        if options["effort"] not in set(Effort):
            raise _no_option("effort")
        row = replace(row, effort=Effort(str(options["effort"])))
    return row


def _number(options: Mapping[str, object], name: str, least: float, most: float) -> float:
    try:
        value = float(str(options[name]))
    except ValueError:
        raise _no_option(name) from None
    if not least <= value <= most:
        raise _no_option(name)
    return value


def _no_model(choice: str) -> ValidationFailed:
    return ValidationFailed(
        f"{choice!r} is not provider:model or purpose=provider:model, with a provider of "
        f"{', '.join(sorted(PROVIDERS))} and a purpose of {', '.join(Purpose)}.",
        reason="unknown-chat-model",
    )


def _no_option(name: str) -> ValidationFailed:
    return ValidationFailed(
        f"{name!r} is not an option of a model with this value: max_tokens from 1 to "
        f"{MOST_TOKENS}, window from {LEAST_WINDOW} to {MOST_WINDOW}, "
        f"temperature from 0 to {HOTTEST}, effort of {', '.join(Effort)}.",
        reason="unknown-chat-model",
    )
