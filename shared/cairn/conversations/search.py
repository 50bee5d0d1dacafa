"""Search what was said: the legs of recall over messages. Not recall over memory and documents.

An admin or agent searches every conversation it may see, or one. A public key searches the one
conversation it is bound to in the database, whatever its request says.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from cairn.embedding.port import embed_question
from cairn.graph.node import Label
from cairn.kernel.access import Principal, Role
from cairn.kernel.errors import Denied, NotFound, Unavailable, ValidationFailed
from cairn.kernel.text.checks import clean_text
from cairn.recall.legs import LegOutcome, run_legs
from cairn.recall.questions.understanding import Understanding, understand
from cairn.recall.ranking import best_fused, fuse
from cairn.recall.recipes import DEFAULT, KEYWORD, VECTOR
from cairn.recall.records import Filters
from cairn.recall.scoring import score_all

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Executor
    from datetime import datetime
    from uuid import UUID

    from cairn.conversations.read import ConversationMessage
    from cairn.embedding.port import Embedder, Vectors
    from cairn.kernel.clock import Clock, Stopwatch
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.recall.legs import Leg
    from cairn.recall.ports import KeywordLeg, VectorLeg
    from cairn.recall.records import Candidate

MAX_QUERY_CHARS = 4000
MAX_RESULTS = 50
LEG_TIMEOUT_MS = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationQuery:
    """What to look for; None means any. `occurred_from` is inclusive, `occurred_to` exclusive."""

    query: str
    limit: int = 10
    conversation_id: UUID | None = None
    role: str | None = None
    occurred_from: datetime | None = None
    occurred_to: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundMessage:
    """A message and how well it answers."""

    message: ConversationMessage
    relevance_score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationAnswer:
    """Messages, best first, and what happened. `degraded` names each leg that failed, and why."""

    messages: tuple[FoundMessage, ...]
    conversation_id: UUID | None
    query_ms: float
    legs: Mapping[str, LegOutcome]
    degraded: tuple[str, ...]


class OneConversation(Protocol):
    """The two legs inside one conversation, with the promises of `VectorLeg` and `KeywordLeg`."""

    def by_vector(
        self,
        principal: Principal,
        vector: Vectors,
        filters: Filters,
        *,
        model_id: int,
        minimum: float,
        limit: int,
        timeout_ms: int,
    ) -> Sequence[Candidate]: ...

    def by_keyword(
        self,
        principal: Principal,
        terms: Sequence[str],
        filters: Filters,
        *,
        limit: int,
        timeout_ms: int,
    ) -> Sequence[Candidate]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchConversations:
    """The use case behind `POST /v1/conversations/search`. `pool` runs the legs."""

    embedder: Embedder
    vector_leg: VectorLeg
    keyword_leg: KeywordLeg
    one: Callable[[UUID], OneConversation]
    transactions: Transactions[Stores]
    pool: Executor
    clock: Clock
    stopwatch: Stopwatch
    timeout_ms: int = LEG_TIMEOUT_MS

    def __call__(self, principal: Principal, query: ConversationQuery) -> ConversationAnswer:
        """Return messages the principal may see.

        Raises ValidationFailed for a bad query, NotFound for a conversation that is not visible,
        Denied (`no-conversation`) for a public key that is bound to none, Unavailable when both
        legs failed.
        """
        _check(query)
        start = self.stopwatch()
        within = self._within(principal, query)
        understood = understand(query.query, self.clock())
        outcomes = self._run_legs(principal, query, understood, within)
        fused = fuse({name: outcome.candidates for name, outcome in outcomes.items()}, DEFAULT)
        messages = self._ranked(principal, query, understood, fused)
        return ConversationAnswer(
            messages=messages,
            conversation_id=within,
            query_ms=(self.stopwatch() - start) * 1000,
            legs=outcomes,
            degraded=tuple(
                f"{name}: {outcome.failure}"
                for name, outcome in outcomes.items()
                if outcome.failure
            ),
        )

    def _within(self, principal: Principal, query: ConversationQuery) -> UUID | None:
        """Return the one conversation to search, None for all. A public key does not choose."""
        with self.transactions.reading(principal, timeout_ms=self.timeout_ms) as stores:
            if principal.role is Role.PUBLIC:
                own = stores.conversation_views.own()
                if own is None:
                    raise Denied(
                        "This public key is bound to no conversation.", reason="no-conversation"
                    )
                if query.conversation_id not in (None, own):
                    raise NotFound("There is no such conversation.")
                return own
            conversation_id = query.conversation_id
            if (
                conversation_id is not None
                and stores.conversation_views.conversation(conversation_id) is None
            ):
                raise NotFound("There is no such conversation.")
            return conversation_id

    def _run_legs(
        self,
        principal: Principal,
        query: ConversationQuery,
        understood: Understanding,
        within: UUID | None,
    ) -> dict[str, LegOutcome]:
        with suppress(Unavailable):  # a missing model is the vector leg's to report
            self.embedder.load()
        by_vector, by_keyword = self.vector_leg.search, self.keyword_leg.search
        if within is not None:
            conversation = self.one(within)
            by_vector, by_keyword = conversation.by_vector, conversation.by_keyword
        filters = replace(_filters(query), language=understood.language)
        common: dict[str, Any] = {"limit": DEFAULT.candidates, "timeout_ms": self.timeout_ms}
        legs: dict[str, Leg] = {
            KEYWORD: lambda: by_keyword(principal, understood.terms, filters, **common),
            VECTOR: lambda: by_vector(
                principal,
                embed_question(self.embedder, query.query)[0],
                filters,
                model_id=self.embedder.model.id,
                minimum=DEFAULT.minimum_cosine,
                **common,
            ),
        }
        outcomes = run_legs(
            legs, pool=self.pool, deadline_s=self.timeout_ms / 1000, stopwatch=self.stopwatch
        )
        if all(outcome.failure for outcome in outcomes.values()):
            raise Unavailable("No leg of the search answered.", reason="all-legs-failed")
        return outcomes

    def _ranked(
        self,
        principal: Principal,
        query: ConversationQuery,
        understood: Understanding,
        fused: Mapping[UUID, float],
    ) -> tuple[FoundMessage, ...]:
        if not fused:
            return ()
        best = best_fused(fused, DEFAULT, query.limit)
        with self.transactions.reading(principal, timeout_ms=self.timeout_ms) as stores:
            sketches = stores.node_reader.sketch(best, _filters(query))
            every = score_all(sketches, fused, understood, DEFAULT, self.clock())
            scored = every[: query.limit]
            read = stores.conversation_views.messages_by_id([item.sketch.id for item in scored])
        by_id = {message.id: message for message in read}
        return tuple(
            FoundMessage(message=by_id[item.sketch.id], relevance_score=item.score)
            for item in scored
            if item.sketch.id in by_id
        )


def _check(query: ConversationQuery) -> None:
    clean_text(query.query, field="query", max_chars=MAX_QUERY_CHARS)
    if not 1 <= query.limit <= MAX_RESULTS:
        raise ValidationFailed(f"limit must be from 1 to {MAX_RESULTS}.")


def _filters(query: ConversationQuery) -> Filters:
    return Filters(
        labels=(Label.MESSAGE,),
        kinds=(query.role,) if query.role else (),
        occurred_from=query.occurred_from,
        occurred_to=query.occurred_to,
    )
