"""How much one task may spend on models, checked before each call. Not a quota over time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from cairn.kernel.errors import BudgetExceeded, ValidationFailed
from cairn.llm.configuration import CONFIGURATION, Price, changed, configured
from cairn.llm.port import Purpose

if TYPE_CHECKING:
    from cairn.kernel.clock import Stopwatch
    from cairn.llm.configuration import Choice, Configuration
    from cairn.llm.costs import Spending
    from cairn.llm.port import ChatRequest, Usage


SPANS = ("day", "run")
UNITS = ("usd", "tokens")
RATES = ("input", "output", "cache_read", "cache_write")


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """What one workspace may spend in a day (UTC) and in one run, whatever task asks.

    Tokens count every call; US dollars those whose price is known.
    """

    day: Limits = field(default_factory=lambda: Limits(usd=Decimal(50), tokens=20_000_000))
    run: Limits = field(default_factory=lambda: Limits(usd=Decimal(5), tokens=2_000_000))

    def check(self, spending: Spending, *, tokens: int, usd: Decimal | None) -> None:
        """Raise BudgetExceeded if a call of this size would pass what a day or a run may cost."""
        _check("day", self.day, spending.day, tokens, usd)
        _check("run", self.run, spending.run, tokens, usd)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How models are asked for one workspace: which, at what rates, and how much of them."""

    configuration: Configuration = field(default_factory=lambda: CONFIGURATION)
    allowance: Allowance = field(default_factory=Allowance)
    rates: Mapping[str, Price] = field(default_factory=lambda: MappingProxyType({}))


def allowance_of(limits: str, base: Allowance | None = None) -> Allowance:
    """Return `base` with what `limits` says: `day_usd=50,run_tokens=100000`, separated by commas.

    Raises ValidationFailed for what is no limit.
    """
    allowance = base or Allowance()
    for limit in filter(None, (part.strip() for part in limits.split(","))):
        name, _, value = limit.partition("=")
        allowance = _limited(allowance, name, value)
    return allowance


def terms_for(base: Terms, settings: Mapping[str, Any]) -> tuple[Terms, tuple[str, ...]]:
    """Return the deployment's terms as `workspace.settings` changes them under `models`.

    `chat` is as CAIRN_CHAT_MODEL, `budgets` a limit by name (`day_usd`), `rates` a price by model
    (US dollars a million tokens: input, output, cache_read, cache_write), `options` a row's
    max_tokens, temperature, effort and window by purpose. What nobody can use must not stop every
    call of a workspace: it is left out, and named in the second value.
    """
    models = settings.get("models", {})
    if not isinstance(models, Mapping):
        return base, ("models",)
    entries = cast("Mapping[str, Any]", models)
    wrong = [f"models.{name}" for name in entries if name not in _READERS]
    terms = base
    for name, reader in _READERS.items():
        for key, value in _entries(entries.get(name, {})):
            try:
                terms = reader(terms, key, value)
            except ValidationFailed:
                wrong.append(f"models.{name}.{key}" if key else f"models.{name}")
    return terms, tuple(wrong)


def _entries(value: Any) -> list[tuple[str, Any]]:
    """Return the entries of a table, or the one value that is none, under the name ''."""
    if isinstance(value, Mapping):
        return [(str(key), each) for key, each in cast("Mapping[Any, Any]", value).items()]
    return [("", value)]


def _chat(terms: Terms, key: str, value: Any) -> Terms:
    if key or not isinstance(value, str):
        raise ValidationFailed("not a list of models")
    return replace(terms, configuration=configured(value, terms.configuration))


def _budget(terms: Terms, key: str, value: Any) -> Terms:
    return replace(terms, allowance=_limited(terms.allowance, key, value))


def _rate(terms: Terms, key: str, value: Any) -> Terms:
    if not key or not isinstance(value, Mapping) or set(cast("Any", value)) - set(RATES):
        raise ValidationFailed("not a rate")
    fields = cast("Mapping[str, Any]", value)
    rate = {name: _amount(fields[name]) for name in RATES if name in fields}
    if not {"input", "output"} <= set(rate):
        raise ValidationFailed("not a rate")
    cached = {"cache_read": rate["input"], "cache_write": rate["input"]}
    price = Price(**{**cached, **rate})
    return replace(terms, rates=MappingProxyType({**terms.rates, key: price}))


def _options(terms: Terms, key: str, value: Any) -> Terms:
    if key not in set(Purpose) or not isinstance(value, Mapping):
        raise ValidationFailed("not the options of a purpose")
    rows: dict[Purpose, Choice] = dict(terms.configuration)
    rows[Purpose(key)] = changed(rows[Purpose(key)], cast("Mapping[str, object]", value))
    return replace(terms, configuration=MappingProxyType(rows))


_READERS = {"chat": _chat, "budgets": _budget, "rates": _rate, "options": _options}


def _limited(allowance: Allowance, name: str, value: Any) -> Allowance:
    span, _, unit = name.partition("_")
    if span not in SPANS or unit not in UNITS:
        raise _no_limit(name)
    amount = _amount(value)
    limits: Limits = getattr(allowance, span)
    change = replace(limits, usd=amount) if unit == "usd" else replace(limits, tokens=int(amount))
    return replace(allowance, day=change) if span == "day" else replace(allowance, run=change)


def _amount(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _no_limit(str(value)[:40])
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        raise _no_limit(str(value)[:40]) from None
    if not amount.is_finite() or amount < 0:
        raise _no_limit(str(value)[:40])
    return amount


def _no_limit(name: str) -> ValidationFailed:
    return ValidationFailed(
        f"{name!r} is not a limit: {', '.join(f'{s}_{u}' for s in SPANS for u in UNITS)}, "
        "each a number that is not negative.",
        reason="unknown-model-budget",
    )


def _check(span: str, limits: Limits, spent: Spent, tokens: int, usd: Decimal | None) -> None:
    _refuse_period(span, "usd", limits.usd, spent.usd + (usd or Decimal(0)))
    _refuse_period(span, "tokens", limits.tokens, spent.tokens + tokens)


def _refuse_period(
    span: str, unit: str, limit: Decimal | int | None, would_be: Decimal | int
) -> None:
    if limit is not None and would_be > limit:
        raise BudgetExceeded(
            f"The budget of {limit} {unit} a {span} for models is spent.",
            reason=f"budget-{span}-{unit}",
            limit=str(limit),
            would_be=str(would_be),
        )


BYTES_A_TOKEN = 3  # of a prompt, fewer than any text has, so that the estimate is rather high


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a task may spend in all; None is no limit of that sort."""

    tokens: int | None = None
    usd: Decimal | None = None
    seconds: float | None = None
    iterations: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What a task has spent; `unpriced_calls` cost money nobody knows the amount of."""

    tokens: int = 0
    usd: Decimal = Decimal(0)
    seconds: float = 0.0
    iterations: int = 0
    unpriced_calls: int = 0


class Budget:
    """Counts one task's spending; `spent` of an earlier run is carried on after a resume.

    A check reserves nothing: calls made at the same time may together pass a limit, the next
    cannot.
    """

    def __init__(self, limits: Limits, *, stopwatch: Stopwatch, spent: Spent | None = None) -> None:
        self._limits = limits
        self._stopwatch = stopwatch
        self._spent = spent or Spent()
        self._began = stopwatch()
        self._lock = Lock()

    @property
    def spent(self) -> Spent:
        """Return what has been spent so far, the time since this budget was made included."""
        with self._lock:
            elapsed = self._stopwatch() - self._began
            return replace(self._spent, seconds=self._spent.seconds + elapsed)

    def check(self, *, tokens: int = 0, usd: Decimal | None = None) -> None:
        """Raise BudgetExceeded if a call of this size would pass a limit, or time has run out.

        `usd` is None for a model without a price: then tokens alone decide.
        """
        spent, limits = self.spent, self._limits
        _refuse("tokens", limits.tokens, spent.tokens + tokens)
        _refuse("usd", limits.usd, spent.usd + (usd or Decimal(0)))
        _refuse("seconds", limits.seconds, spent.seconds)

    def iterate(self) -> None:
        """Count one round of a loop; BudgetExceeded, and not counted, when none is left."""
        with self._lock:
            _refuse("iterations", self._limits.iterations, self._spent.iterations + 1)
            self._spent = replace(self._spent, iterations=self._spent.iterations + 1)

    def record(self, usage: Usage, cost_usd: Decimal | None) -> None:
        """Add a call that was made, whether or not it passed a limit."""
        with self._lock:
            self._spent = replace(
                self._spent,
                tokens=self._spent.tokens + usage.total,
                usd=self._spent.usd + (cost_usd or Decimal(0)),
                unpriced_calls=self._spent.unpriced_calls + (cost_usd is None),
            )


def estimate_tokens(request: ChatRequest) -> int:
    """Return the prompt's tokens, rather too many: a third of its UTF-8 bytes, rounded up."""
    texts = [request.system, request.context, *(message.text for message in request.messages)]
    for tool in request.tools:
        texts += [tool.name, tool.description, json.dumps(tool.schema)]
    if request.schema is not None:
        texts.append(json.dumps(request.schema))
    size = sum(len(text.encode("utf-8", errors="replace")) for text in texts)
    return -(-size // BYTES_A_TOKEN)


def _refuse(kind: str, limit: Decimal | float | None, would_be: Decimal | float) -> None:
    if limit is not None and would_be > limit:
        raise BudgetExceeded(
            f"The budget of {limit} {kind} is spent.",
            reason=f"budget-{kind}",
            limit=str(limit),
            would_be=str(would_be),
        )
