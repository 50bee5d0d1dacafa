"""Every question to a chat model goes through here: which model, how often, for how much, and kept.

Not the prompts, and not what to do without an answer: whoever asks has a rule for that. Circuits
are this process's own; what was spent is read from where all processes keep it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cairn.kernel.errors import CairnError, Unavailable
from cairn.kernel.resilience.breaker import Breaker
from cairn.kernel.resilience.retries import Retries
from cairn.llm.budget import Budget, Limits, estimate_tokens
from cairn.llm.configuration import HEURISTIC, cost_of, price_of, window_of
from cairn.llm.costs import ANSWERED, CallRecord
from cairn.llm.port import Finish, Usage
from cairn.llm.spans import chat_span, told_of
from cairn.llm.structured import WRONG_SHAPE, Structured, clarified, parsed
from cairn.llm.wire import TIMEOUT_SECONDS, is_fault, is_passing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from uuid import UUID

    from pydantic import BaseModel

    from cairn.kernel.clock import Clock, Stopwatch
    from cairn.kernel.ids import IdSource
    from cairn.llm.budget import Terms
    from cairn.llm.configuration import Choice, Price, Route
    from cairn.llm.costs import Call, CallLog
    from cairn.llm.port import ChatAnswer, ChatModel, ChatRequest, Chats, Purpose
    from cairn.llm.structured import Shape

UNLIMITED = Limits()
REFUSED = "chat-refused-to-answer"
CUT = "chat-cut"


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the gateway takes from outside: time, pauses, ids, and whom it tells of trouble.

    `terms` returns how models are asked for a workspace; it may raise Unavailable.
    """

    terms: Callable[[UUID], Terms]
    calls: CallLog
    clock: Clock
    stopwatch: Stopwatch
    pause: Callable[[float], None]
    new_id: IdSource
    report: Callable[[str, dict[str, Any]], None] = field(default=lambda event, fields: None)


@dataclass(frozen=True, slots=True)
class _Asking:
    """One question on its way: what is asked, on which terms, and until when."""

    request: ChatRequest
    call: Call
    budget: Budget
    terms: Terms
    deadline: float
    shape: type[BaseModel] | None


class Gateway:
    """Asks the models of a purpose in turn until one answers, within the budgets.

    Safe between threads.
    """

    def __init__(self, providers: Iterable[ChatModel], around: Surroundings) -> None:
        self._providers = {provider.provider: provider for provider in providers}
        self._around = around
        self._breakers = {
            name: Breaker(
                name, is_fault=is_fault, reason="chat-circuit-open", stopwatch=around.stopwatch
            )
            for name in self._providers
        }

    def answers(self, purpose: Purpose, workspace_id: UUID) -> bool:
        """Return whether any model is configured for `purpose`, whether or not it would answer."""
        return bool(self._usable(self._around.terms(workspace_id).configuration[purpose], purpose))

    def window(self, purpose: Purpose, workspace_id: UUID) -> int | None:
        """Return how many tokens each model of `purpose` reads at once; None where none answers."""
        choice = self._around.terms(workspace_id).configuration[purpose]
        usable = [route for route, _ in self._usable(choice, purpose)]
        return min((choice.window or window_of(route.model) for route in usable), default=None)

    def chat(self, request: ChatRequest, call: Call, budget: Budget | None = None) -> ChatAnswer:
        """Answer `request`, its cost included; every request sent is kept as a call.

        `budget` is the task's own, beside what the workspace may spend in a day and in a run; each
        is checked before a request is sent, against the most it can cost.

        Raises BudgetExceeded when it would pass one; Unavailable when no model of the purpose is
        configured (reason no-model), when none answered in time, or when what was spent cannot be
        read; ValidationFailed when a provider refuses the request as such.
        """
        return self._ask_routes(request, call, budget, None)

    def structured(
        self,
        request: ChatRequest,
        shape: type[Shape],
        call: Call,
        budget: Budget | None = None,
    ) -> Structured[Shape]:
        """Answer `request` as a `shape`; a model that misses it is told why and asked once more.

        Raises as `chat`, and Unavailable when the second answer is wrong or cut off too
        (chat-wrong-shape), or one is refused (chat-refused-to-answer).
        """
        chat_request = replace(request, schema=shape.model_json_schema())
        answer = self._ask_routes(chat_request, call, budget, shape)
        value, faults = parsed(answer, shape)
        if value is not None:
            return Structured(
                value=value, answer=answer, usage=answer.usage, cost_usd=answer.cost_usd, asked=1
            )
        if answer.finish is Finish.REFUSED:
            raise _useless(answer)
        second = self._ask_routes(clarified(chat_request, answer, faults), call, budget, shape)
        value, _ = parsed(second, shape)
        if value is None:
            raise _useless(second)
        return Structured(
            value=value,
            answer=second,
            usage=answer.usage + second.usage,
            cost_usd=_sum(answer.cost_usd, second.cost_usd),
            asked=2,
        )

    def of(self, call: Call) -> Chats:
        """Return the gateway as who asks for `call` sees it."""
        return _OnAccount(self, call)

    def circuits(self) -> Mapping[str, str]:
        """Return the state of each provider's circuit: closed, open or half_open."""
        return {name: breaker.state.value for name, breaker in self._breakers.items()}

    def _ask_routes(
        self,
        request: ChatRequest,
        call: Call,
        budget: Budget | None,
        shape: type[BaseModel] | None,
    ) -> ChatAnswer:
        terms = self._around.terms(call.workspace_id)
        choice = terms.configuration[request.purpose]
        asking = _Asking(
            request=_filled(request, choice),
            call=call,
            budget=budget or Budget(UNLIMITED, stopwatch=self._around.stopwatch),
            terms=terms,
            deadline=self._around.stopwatch() + call.seconds,
            shape=shape,
        )
        failure = Unavailable(
            "No model is configured for this.", reason="no-model", purpose=request.purpose
        )
        tried: list[str] = []
        for route, provider in self._usable(choice, request.purpose, schema=request.schema):
            try:
                return self._retried(asking, route, provider)
            except Unavailable as problem:
                failure = problem
                tried.append(f"{route.provider}: {problem.reason}")
        raise _exhausted(failure, tried, self.circuits()) if tried else failure

    def _usable(
        self, choice: Choice, purpose: Purpose, schema: object = None
    ) -> list[tuple[Route, ChatModel]]:
        """Return the models that can be asked; rules hold no answer to a schema."""
        return [
            (route, provider)
            for route in choice.routes
            if (provider := self._providers.get(route.provider)) is not None
            and provider.supports(purpose)
            and not (schema is not None and route.provider == HEURISTIC.provider)
        ]

    def _retried(self, asking: _Asking, route: Route, provider: ChatModel) -> ChatAnswer:
        retries = Retries(
            attempts=asking.call.attempts,
            is_passing=is_passing,
            deadline=asking.deadline,
            stopwatch=self._around.stopwatch,
            pause=self._around.pause,
        )
        return retries(lambda: self._sent(asking, route, provider))

    def _sent(self, asking: _Asking, route: Route, provider: ChatModel) -> ChatAnswer:
        """Send one request, if the budgets and the circuit let it, and keep the call."""
        if route.provider == HEURISTIC.provider:
            asking.budget.check()
            return replace(provider.chat(asking.request, model=route.model), cost_usd=Decimal(0))
        left = asking.deadline - self._around.stopwatch()
        if left <= 0:
            raise Unavailable("No model answered in time.", reason="chat-late")
        wait = asking.request.timeout_s or TIMEOUT_SECONDS
        request = replace(asking.request, timeout_s=min(left, wait))
        price = price_of(route.model, asking.terms.rates)
        self._check(asking, price)
        with (
            self._breakers[route.provider].guard(),
            chat_span(route.provider, route.model, request, asking.call.workspace_id) as measured,
        ):
            answer = self._record_call(asking, route, provider, request, price)
            measured.put(told_of(answer))
            return answer

    def _record_call(
        self,
        asking: _Asking,
        route: Route,
        provider: ChatModel,
        request: ChatRequest,
        price: Price | None,
    ) -> ChatAnswer:
        began, started_at = self._around.stopwatch(), self._around.clock()
        record = CallRecord(
            id=self._around.new_id(),
            workspace_id=asking.call.workspace_id,
            run_id=asking.call.run_id,
            purpose=request.purpose,
            provider=route.provider,
            model=route.model,
            started_at=started_at,
        )
        try:
            answer = provider.chat(request, model=route.model)
        except CairnError as problem:
            self._keep(record, began, outcome=problem.reason)
            raise
        cost = cost_of(price_of(answer.model, asking.terms.rates) or price, answer.usage)
        asking.budget.record(answer.usage, cost)
        answer = replace(answer, cost_usd=cost)
        call_record = replace(record, model=answer.model, usage=answer.usage, cost_usd=cost)
        self._keep(call_record, began, outcome=_outcome(answer, asking.shape))
        return answer

    def _check(self, asking: _Asking, price: Price | None) -> None:
        """Check the dearest this call can become: the whole prompt, and the longest answer."""
        most = Usage(
            input_tokens=estimate_tokens(asking.request), output_tokens=asking.request.longest
        )
        usd = cost_of(price, most)
        asking.budget.check(tokens=most.total, usd=usd)
        call = asking.call
        spending = self._around.calls.spent(call.workspace_id, call.run_id, self._around.clock())
        asking.terms.allowance.check(spending, tokens=most.total, usd=usd)

    def _keep(self, record: CallRecord, began: float, *, outcome: str) -> None:
        """Keep a call. An answer that is paid for is not lost because its row is."""
        ms = (self._around.stopwatch() - began) * 1000
        try:
            self._around.calls.record(replace(record, ms=ms, outcome=outcome))
        except Unavailable as problem:
            fields = {"workspace_id": str(record.workspace_id), "call_id": str(record.id)}
            self._around.report("llm.call_not_kept", {**fields, "reason": problem.reason})


@dataclass(frozen=True, slots=True)
class _OnAccount:
    """The gateway for one call's account."""

    gateway: Gateway
    call: Call

    def chat(self, request: ChatRequest, budget: Budget) -> ChatAnswer:
        """As `Chats`."""
        return self.gateway.chat(request, self.call, budget)


def _filled(request: ChatRequest, choice: Choice) -> ChatRequest:
    max_tokens = request.max_tokens
    return replace(
        request,
        max_tokens=choice.max_tokens if max_tokens is None else max_tokens,
        temperature=choice.temperature if request.temperature is None else request.temperature,
        effort=request.effort or choice.effort,
    )


def _outcome(answer: ChatAnswer, shape: type[BaseModel] | None) -> str:
    if shape is not None and answer.finish is Finish.COMPLETE:
        value, _ = parsed(answer, shape)
        return ANSWERED if value is not None else WRONG_SHAPE
    if answer.finish is Finish.REFUSED:
        return REFUSED
    return CUT if answer.finish is Finish.CUT else ANSWERED


def _useless(answer: ChatAnswer) -> Unavailable:
    """Return why an answer that should have a shape is none; asking the same again is no use."""
    if answer.finish is Finish.REFUSED:
        return Unavailable("The model would not answer.", reason=REFUSED)
    return Unavailable("The answer is not of the shape asked for.", reason=WRONG_SHAPE)


def _exhausted(
    failure: Unavailable, tried: Sequence[str], circuits: Mapping[str, str]
) -> Unavailable:
    """Return the last failure with what every provider said, and how each circuit stands."""
    fields = {**failure.fields, "tried": tuple(tried), "circuits": dict(circuits)}
    return Unavailable(
        failure.detail, reason=failure.reason, retry_after=failure.retry_after, **fields
    )


def _sum(first: Decimal | None, other: Decimal | None) -> Decimal | None:
    return None if first is None or other is None else first + other
