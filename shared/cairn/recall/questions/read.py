"""A message taken apart once, for every stage after it: the one result of all its classifiers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from cairn.recall.questions.intents import InferredIntents, by_rules, overridden
from cairn.recall.questions.understanding import understand

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.graph.intent_weights import Intent
    from cairn.recall.questions.gate import Gate, GateVerdict, Turn
    from cairn.recall.questions.intents import IntentClassifier
    from cairn.recall.questions.model_calls import ModelCalls
    from cairn.recall.questions.understanding import RetrievalClass, Understanding


class Expander(Protocol):
    """Paraphrases a question. Never fails: without a model there are simply none."""

    def __call__(
        self, workspace_id: UUID, query: str, retrieval_class: RetrievalClass, *, calls: ModelCalls
    ) -> Sequence[str]:
        """Return up to five paraphrases, none equal to `query`, or none at all."""
        ...


def no_expansion(
    workspace_id: UUID, query: str, retrieval_class: RetrievalClass, *, calls: ModelCalls
) -> Sequence[str]:
    """Return no paraphrases: rules make none that are worth a search."""
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedQuestion:
    """What is to be searched for, and everything that was made of the message.

    `question` is the message, or its rewriting when the gate made one; `understanding` is of
    `question`. `verdict.search` False means that nothing needs to be looked up. `intent_override`
    says that the caller named the intent.
    """

    message: str
    question: str
    verdict: GateVerdict
    understanding: Understanding
    intents: InferredIntents
    intent_override: Intent | None = None

    @property
    def retrieval_class(self) -> RetrievalClass:
        """Return what kind of answer is wanted; a model's opinion, if there is one, first."""
        return self.understanding.retrieval_class

    def by(self, client_id: str | None) -> ParsedQuestion:
        """Return the same, asked by this client."""
        return replace(self, understanding=replace(self.understanding, client_id=client_id))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """The first stage of a search: gate and rewrite, then intents, in at most one model call.

    Nothing to search for needs no intents, and a model that failed the gate is not waited for
    again.
    """

    gate: Gate
    intents: IntentClassifier

    def __call__(
        self,
        message: str,
        history: Sequence[Turn] = (),
        *,
        admin: bool,
        asked_at: datetime,
        calls: ModelCalls,
        intent: Intent | None = None,
    ) -> ParsedQuestion:
        """Take `message` apart. `intent` overrides the inference. Never fails."""
        verdict = self.gate(message, history, admin=admin, calls=calls)
        question = verdict.query or message
        understanding = understand(question, asked_at)
        if verdict.retrieval_class is not None:
            understanding = replace(understanding, retrieval_class=verdict.retrieval_class)
        return ParsedQuestion(
            message=message,
            question=question,
            verdict=verdict,
            understanding=understanding,
            intents=self._inferred(question, verdict, understanding, calls, intent),
            intent_override=intent,
        )

    def _inferred(
        self,
        question: str,
        verdict: GateVerdict,
        understanding: Understanding,
        calls: ModelCalls,
        intent: Intent | None,
    ) -> InferredIntents:
        if intent is not None:
            return overridden(intent)
        if verdict.intents:
            return InferredIntents(
                confidence=verdict.intents, source=verdict.source, provider=verdict.provider
            )
        if not verdict.search or any(use.failure for use in calls.uses):
            return by_rules(question, understanding=understanding, calls=calls)
        return self.intents(question, understanding=understanding, calls=calls)
