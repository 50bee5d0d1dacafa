"""What models cost: one table of US dollars a million tokens. Not a bill: lists change.

A model that is not in the table has no price; its calls cost None and are budgeted by tokens.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

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
