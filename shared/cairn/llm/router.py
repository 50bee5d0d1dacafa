"""Which model answers which purpose: a table, tried from left to right. Not a load balancer.

A provider without a key is simply not among the providers, so with no key at all the heuristic
one answers what it can, and says so in `ChatAnswer.provider`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from cairn.errors import Unavailable, ValidationFailed
from cairn.llm.budget import estimate_tokens
from cairn.llm.port import Purpose, Usage
from cairn.llm.pricing import cost_of, price_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cairn.llm.budget import Budget
    from cairn.llm.port import ChatAnswer, ChatModel, ChatRequest
    from cairn.llm.pricing import Price


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One model of one provider."""

    provider: str
    model: str


HEURISTIC = Route(provider="heuristic", model="extractive-1")
SMALL = (
    Route(provider="anthropic", model="claude-haiku-4-5"),
    Route(provider="openai", model="gpt-4.1-mini"),
)
BIG = (
    Route(provider="anthropic", model="claude-sonnet-4-6"),
    Route(provider="openai", model="gpt-4.1"),
)
PROVIDERS = frozenset({"anthropic", "openai"})

Routes = Mapping[Purpose, Sequence[Route]]
ROUTES: Routes = MappingProxyType(
    {
        Purpose.SUMMARY: (*SMALL, HEURISTIC),
        Purpose.CLASSIFIER: (*SMALL, HEURISTIC),
        Purpose.REWRITE: (*SMALL, HEURISTIC),
        Purpose.EXPANSION: (*SMALL, HEURISTIC),
        Purpose.RERANK: (*SMALL, HEURISTIC),
        Purpose.PLANNER: (*BIG, HEURISTIC),
        Purpose.TOOL_SELECTOR: (*BIG, HEURISTIC),
        Purpose.VERDICT: (*SMALL, HEURISTIC),
        Purpose.SUMMARIZER: (*BIG, HEURISTIC),
    }
)

_CHOICE = re.compile(r"(?:(?P<purpose>[a-z_]+)=)?(?P<provider>[a-z]+):(?P<model>\S+)")


def routes_of(choices: str) -> Routes:
    """Return `ROUTES` with the models `choices` names, the heuristic after them.

    `provider:model` is for every purpose, `purpose=provider:model` for one; several are separated
    by commas, and the last word on a purpose holds. Raises ValidationFailed for what is none.
    """
    routes = dict(ROUTES)
    for choice in filter(None, (one.strip() for one in choices.split(","))):
        found = _CHOICE.fullmatch(choice)
        purpose = found and found["purpose"]
        if not found or found["provider"] not in PROVIDERS or purpose not in {None, *Purpose}:
            raise ValidationFailed(
                f"{choice!r} is not provider:model or purpose=provider:model, with a provider of "
                f"{', '.join(sorted(PROVIDERS))} and a purpose of {', '.join(Purpose)}.",
                reason="unknown-chat-model",
            )
        route = Route(provider=found["provider"], model=found["model"])
        for each in [Purpose(purpose)] if purpose else Purpose:
            routes[each] = (route, HEURISTIC)
    return MappingProxyType(routes)


class Router:
    """Sends a request to the first model of its purpose that answers, within a budget."""

    def __init__(
        self,
        providers: Iterable[ChatModel],
        *,
        routes: Routes = ROUTES,
        rates: Mapping[str, Price] | None = None,
    ) -> None:
        self._providers = {provider.provider: provider for provider in providers}
        self._routes = routes
        self._rates = rates

    def answers(self, purpose: Purpose) -> bool:
        """Return whether anyone here can answer; callers have their own rule for when not."""
        return bool(self._usable(purpose))

    def chat(self, request: ChatRequest, budget: Budget) -> ChatAnswer:
        """Answer `request`, cost included, and count it in `budget`.

        Raises BudgetExceeded before the call that would pass a limit, and Unavailable when no
        model of the purpose is configured (reason no-model) or the last of them did not answer.
        """
        failure = Unavailable(
            "No model is configured for this.", reason="no-model", purpose=request.purpose
        )
        for route, provider in self._usable(request.purpose):
            self._check(request, route, budget)
            try:
                answer = provider.chat(request, model=route.model)
            except Unavailable as problem:
                failure = problem
                continue
            cost = cost_of(price_of(answer.model, self._rates), answer.usage)
            budget.record(answer.usage, cost)
            return replace(answer, cost_usd=cost)
        raise failure

    def _usable(self, purpose: Purpose) -> list[tuple[Route, ChatModel]]:
        return [
            (route, provider)
            for route in self._routes.get(purpose, ())
            if (provider := self._providers.get(route.provider)) is not None
            and provider.supports(purpose)
        ]

    def _check(self, request: ChatRequest, route: Route, budget: Budget) -> None:
        """Check the dearest this call can become: the whole prompt, and the longest answer."""
        if route.provider == HEURISTIC.provider:
            budget.check()
            return
        most = Usage(input_tokens=estimate_tokens(request), output_tokens=request.max_tokens)
        price = price_of(route.model, self._rates)
        budget.check(tokens=most.total, usd=cost_of(price, most))
