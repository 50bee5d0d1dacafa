"""What may be asked of a chat model, and what comes back. Not a provider."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal


class Purpose(StrEnum):
    """Why a model is asked; the router picks the model by it and costs are counted by it."""

    SUMMARY = "summary"  # of a document, section or chunk
    CLASSIFIER = "classifier"  # intent, verdict on a message, yes or no
    REWRITE = "rewrite"  # a question made fit for search
    EXPANSION = "expansion"  # other wordings of a question
    RERANK = "rerank"  # which of the found texts answers best
    PLANNER = "planner"  # the next step of an investigation
    TOOL_SELECTOR = "tool_selector"  # which tool, which arguments
    VERDICT = "verdict"  # how an investigation ended
    SUMMARIZER = "summarizer"  # what an investigation found


class Role(StrEnum):
    """Who said a message."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of the conversation a model continues."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One question. `schema` is the JSON Schema the answer's text must satisfy, None for prose.

    Every property of every object in it is required, none else is allowed, and it has no bounds of
    numbers or lengths: what providers that hold answers to a schema accept. Whoever asks checks
    the answer all the same. `timeout_s` None leaves the wait to the provider's adapter.
    """

    purpose: Purpose
    system: str
    messages: tuple[Message, ...]
    max_tokens: int
    schema: Mapping[str, object] | None = None
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one call as the provider counted them; `input_tokens` leaves the cached out."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    @property
    def total(self) -> int:
        """Return all tokens, cached ones included."""
        return (
            self.input_tokens + self.output_tokens + self.cache_read_tokens
        ) + self.cache_write_tokens


class Finish(StrEnum):
    """How an answer ended."""

    COMPLETE = "complete"
    CUT = "cut"  # at `max_tokens`; JSON is not whole then
    REFUSED = "refused"  # the model or its provider would not answer


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAnswer:
    """What a model said, and who it was. `cost_usd` is None when the model has no known price.

    `provider` is "heuristic" when rules answered instead of a model.
    """

    text: str
    model: str
    provider: str
    usage: Usage
    cost_usd: Decimal | None = None
    finish: Finish = Finish.COMPLETE


class ChatModel(Protocol):
    """A provider of chat models. Safe to share between threads."""

    @property
    def provider(self) -> str:
        """Return the name routes call it by, such as anthropic or heuristic."""
        ...

    def supports(self, purpose: Purpose) -> bool:
        """Return whether it can answer requests of this purpose at all."""
        ...

    def chat(self, request: ChatRequest, *, model: str) -> ChatAnswer:
        """Answer with `model`; the router adds the cost.

        Raises Unavailable when the provider does not answer (with its retry_after), answers
        nonsense or does not accept the key, ValidationFailed when it refuses the request as such.
        No error carries the prompt, the key or the server's own words.
        """
        ...
