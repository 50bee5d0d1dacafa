"""What may be asked of a chat model, and what comes back. Not a provider."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from decimal import Decimal

    from cairn.llm.budget import Budget


MAX_TOKENS = 1024
"""Of an answer, where neither the request nor the configuration says how many."""


class Purpose(StrEnum):
    """Why a model is asked; the configuration names the model by it and costs are counted by it."""

    SUMMARY = "summary"  # of a document, section or chunk
    CLASSIFIER = "classifier"  # intent, verdict on a message, yes or no
    REWRITE = "rewrite"  # a question made fit for search
    EXPANSION = "expansion"  # other wordings of a question
    RERANK = "rerank"  # which of the found texts answers best
    PLANNER = "planner"  # the next step of an investigation
    TOOL_SELECTOR = "tool_selector"  # which tool, which arguments
    VERDICT = "verdict"  # how an investigation ended
    SUMMARIZER = "summarizer"  # what an investigation found
    EXTRACTION = "extraction"  # what people state in messages
    PROFILE = "profile"  # what a person's memories say of them together
    CONSOLIDATION = "consolidation"  # what to do with a batch of memories
    SESSION_SUMMARY = "session_summary"  # of episodes, a session, or an agent
    CHAT = "chat"  # the next words or tool calls of a chat's answer
    TITLE = "title"  # of a chat
    SUGGESTION = "suggestion"  # what a person may want to ask next
    COMPACTION = "compaction"  # what was said in a conversation that grew too long
    WORKFLOW = "workflow"  # a step of a workflow
    INTENT_INFERRER = "intent_inferrer"  # what a text seeks and offers
    INTENT_VERIFIER = "intent_verifier"  # how far an intent holds, and what is meant by a vague one
    INTENT_RECONCILER = "intent_reconciler"  # what it changes in those that are open
    PROFILE_GENERATOR = "profile_generator"  # what sources say of a member
    OPPORTUNITY_EVALUATOR = "opportunity_evaluator"  # who of those that come near should be met
    HYDE_GENERATOR = "hyde_generator"  # what an ideal match would say, through one to five lenses
    NEGOTIATOR = "negotiator"  # the next turn of a side's advocate
    FEED = "feed"  # cards of people worth meeting, and their sections
    COMPILED_TRUTH = "compiled_truth"  # what is known of an entity, in a few sentences


class Effort(StrEnum):
    """How long a model that reasons may think. A provider without one of them takes the next."""

    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"


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
class Tool:
    """What a model may ask to have called; `schema` is the JSON Schema of the arguments."""

    name: str
    description: str
    schema: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """What a model asks to have called, with arguments nobody has checked."""

    id: str
    name: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One question. `schema` is the JSON Schema the answer's text must satisfy, None for prose.

    Every property of every object in it is required, none else is allowed, and it has no bounds of
    numbers or lengths: what providers that hold answers to a schema accept. Whoever asks checks
    the answer all the same. `timeout_s` None leaves the wait to the provider's adapter.

    A provider that caches prompts by their beginning reads `tools`, `system`, `context` and
    `messages` in this order, and is told where each of them ends. `context` is what stays the same
    while `messages` grow: data, so it stands before the first message and not in `system`.
    `goes_on` says that a later request will repeat these messages and add to them.

    `hear` is given the text piece by piece as the model writes it, by providers that can; what it
    raises ends the call. An answer that failed after some pieces may be asked for again: the caller
    drops what it heard.

    What is None of `max_tokens`, `temperature` and `effort` is taken from the configuration.
    """

    purpose: Purpose
    system: str
    messages: tuple[Message, ...]
    max_tokens: int | None = None
    schema: Mapping[str, object] | None = None
    timeout_s: float | None = None
    tools: tuple[Tool, ...] = ()
    context: str = ""
    goes_on: bool = False
    temperature: float | None = None
    effort: Effort | None = None
    hear: Callable[[str], None] | None = field(default=None, compare=False, repr=False)

    @property
    def longest(self) -> int:
        """Return how many tokens the answer may have."""
        return MAX_TOKENS if self.max_tokens is None else self.max_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one call as the provider counted them; `input_tokens` leaves the cached out."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        """Return the tokens of both."""
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
        )

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
    TOOLS = "tools"  # with calls of tools, whose results it waits for


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
    tool_calls: tuple[ToolCall, ...] = ()


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
        """Answer with `model`; the gateway adds the cost.

        Raises Unavailable when the provider does not answer (with its retry_after), answers
        nonsense or does not accept the key, ValidationFailed when it refuses the request as such.
        No error carries the prompt, the key or the server's own words.
        """
        ...


class Chats(Protocol):
    """Answers requests on somebody's account: the gateway for one call, or rules."""

    def chat(self, request: ChatRequest, budget: Budget) -> ChatAnswer:
        """Answer `request`, cost included, and count it in `budget`.

        Raises BudgetExceeded before the call that would pass a limit, and Unavailable when no
        model of the purpose is configured (reason no-model) or the last of them did not answer.
        """
        ...
