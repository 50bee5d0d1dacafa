"""A chat model for tests: it says what it was told to say and remembers what it was asked."""

from collections import deque

from cairn.kernel.errors import Unavailable
from cairn.llm.port import ChatAnswer, ChatRequest, Purpose, Usage


class ScriptedModel:
    """Answers with `answers` in turn; an Unavailable among them is raised."""

    def __init__(self, *answers: str | Unavailable, provider: str = "anthropic") -> None:
        self.provider = provider
        self.usage = Usage(input_tokens=1000, output_tokens=100)
        self.asked: list[tuple[str, ChatRequest]] = []
        self._answers = deque(answers)

    def supports(self, purpose: Purpose) -> bool:
        return True

    def chat(self, request: ChatRequest, *, model: str) -> ChatAnswer:
        self.asked.append((model, request))
        answer = self._answers.popleft()
        if isinstance(answer, Unavailable):
            raise answer
        return ChatAnswer(text=answer, model=model, provider=self.provider, usage=self.usage)
