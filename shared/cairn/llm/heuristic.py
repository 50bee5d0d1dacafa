"""The provider that needs no key: rules instead of a model, and its answers say so.

It summarises. What it does not support has a rule of its own in the area that would have asked.
"""

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
        words = max(1, int(request.max_tokens * WORDS_A_TOKEN))
        text = extract(request.messages[-1].text, max_words=words)
        return ChatAnswer(text=text, model=model, provider=self.provider, usage=Usage())
