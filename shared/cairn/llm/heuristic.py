"""The provider that needs no key: rules instead of a model, and its answers say so.

It summarises. What it does not support has a rule of its own in the area that would have asked.
"""

from dataclasses import replace
from decimal import Decimal

from cairn.kernel.errors import Unavailable
from cairn.llm.budget import Budget
from cairn.llm.configuration import HEURISTIC
from cairn.llm.extract import extract
from cairn.llm.port import ChatAnswer, ChatRequest, Purpose, Usage

WORDS_A_TOKEN = 0.75


class HeuristicModel:
    """Answers summary requests with an extract of the last message; the same one every time."""

    provider = "heuristic"

    def supports(self, purpose: Purpose) -> bool:
        """Return True for summaries only."""
        return purpose is Purpose.SUMMARY

    def chat(self, request: ChatRequest, *, model: str) -> ChatAnswer:
        """Return the extract, at most three quarters of `max_tokens` in words; it costs nothing."""
        words = max(1, int(request.longest * WORDS_A_TOKEN))
        text = extract(request.messages[-1].text, max_words=words)
        return ChatAnswer(text=text, model=model, provider=self.provider, usage=Usage())


class Rules:
    """The rules as whoever answers; implements `Chats` where nothing else is configured."""

    def __init__(self) -> None:
        self._model = HeuristicModel()

    def chat(self, request: ChatRequest, budget: Budget) -> ChatAnswer:
        """As `Chats`; it costs nothing but time."""
        budget.check()
        if not self._model.supports(request.purpose):
            raise Unavailable(
                "No model is configured for this.", reason="no-model", purpose=request.purpose
            )
        answer = self._model.chat(request, model=HEURISTIC.model)
        return replace(answer, cost_usd=Decimal(0))
