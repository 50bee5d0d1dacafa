"""Which model answers which purpose, and how: one table. Not a router, and no key is in it.

A workspace lays its own rows over the deployment's, and both over the table here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final
from urllib.parse import parse_qsl

from cairn.kernel.errors import ValidationFailed
from cairn.llm.port import Effort, Purpose


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

    `temperature` and `effort` None are not sent: some models take neither.
    """

    routes: tuple[Route, ...]
    max_tokens: int
    temperature: float | None = None
    effort: Effort | None = None


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
        Purpose.CONSOLIDATION: Choice(routes=(*BIG, HEURISTIC), max_tokens=8000),
        Purpose.SESSION_SUMMARY: Choice(routes=(*SMALL, HEURISTIC), max_tokens=400),
        Purpose.COMPILED_TRUTH: Choice(routes=(*SMALL, HEURISTIC), max_tokens=400),
    }
)

_CHOICE = re.compile(
    r"(?:(?P<purpose>[a-z_]+)=)?(?P<provider>[a-z]+):(?P<model>[^\s?]+)(?:\?(?P<options>\S*))?"
)
_OPTIONS = frozenset({"max_tokens", "temperature", "effort"})


def configured(choices: str, base: Configuration = CONFIGURATION) -> Configuration:
    """Return `base` with the models `choices` names, the heuristic after them.

    `provider:model` is for every purpose, `purpose=provider:model` for one; several are separated
    by commas, and the last word on a purpose holds. `?max_tokens=2000&temperature=0.2&effort=low`
    may follow a model; a model that comes without takes neither temperature nor effort from the
    row it replaces. Raises ValidationFailed for what is none.
    """
    rows = dict(base)
    for choice in filter(None, (one.strip() for one in choices.split(","))):
        found = _CHOICE.fullmatch(choice)
        purpose = found and found["purpose"]
        if not found or found["provider"] not in PROVIDERS or purpose not in {None, *Purpose}:
            raise _no_model(choice)
        route = Route(provider=found["provider"], model=found["model"])
        options = dict(parse_qsl(found["options"] or "", keep_blank_values=True))
        for each in [Purpose(purpose)] if purpose else Purpose:
            row = Choice(routes=(route, HEURISTIC), max_tokens=rows[each].max_tokens)
            rows[each] = changed(row, options)
    return MappingProxyType(rows)


def changed(row: Choice, options: Mapping[str, object]) -> Choice:
    """Return `row` with other max_tokens, temperature or effort; ValidationFailed for others."""
    unknown = sorted(set(options) - _OPTIONS)
    if unknown:
        raise _no_option(unknown[0])
    if "max_tokens" in options:
        row = replace(row, max_tokens=int(_number(options, "max_tokens", 1, MOST_TOKENS)))
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
        f"{MOST_TOKENS}, temperature from 0 to {HOTTEST}, effort of {', '.join(Effort)}.",
        reason="unknown-chat-model",
    )
