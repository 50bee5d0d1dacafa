"""Discovery: prep, scope, resolve, search, evaluate, rank. It writes nothing.

What it finds is kept by `opportunities`, for whoever picks it, or by the ambient run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cairn.discovery.matching.evidence import measure
from cairn.discovery.matching.rows import OpportunityRow, OpportunityState
from cairn.discovery.matching.scoring import SHOULD_MEET, judge
from cairn.discovery.matching.searching import Ask, gather, looking
from cairn.discovery.matching.stages import Stages
from cairn.discovery.networks.acting import acting, client_of
from cairn.embedding.port import embed_tokens
from cairn.kernel.text.checks import clean_text
from cairn.writing.checks import refuse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.discovery.matching.evaluator import Evaluator
    from cairn.discovery.matching.evidence import Candidate
    from cairn.discovery.matching.hyde import HypotheticalDocuments
    from cairn.discovery.matching.lenses import Lens
    from cairn.discovery.matching.scoring import Judgement
    from cairn.discovery.matching.searching import Batch, Looking
    from cairn.embedding.port import Embedder, TokenStates, Vectors
    from cairn.kernel.access import Principal
    from cairn.writing.platform import Platform

MOST_QUERY_CHARS = 2_000
MOST_FOUND = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscoveryRequest:
    """What to look for. `minimum` is the least score of what is returned.

    One of `intent_id`, `query` and neither (the profile); `members` named instead of searched for.
    `lenses` looks through hypothetical documents also where only rules make them; `profiles` in
    profiles beside intents.
    """

    client_id: str | None = None
    intent_id: UUID | None = None
    query: str | None = None
    side: str | None = None
    members: tuple[UUID, ...] | None = None
    networks: tuple[UUID, ...] | None = None
    limit: int = 20
    minimum: int = SHOULD_MEET
    lenses: bool = False
    profiles: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Somebody whom it may be worth to meet, judged; `opportunity` is one there is already."""

    judgement: Judgement
    candidate: Candidate
    network_id: UUID
    opportunity: OpportunityRow | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovered:
    """What a discovery found, best first. `already_accepted` are those that were met before.

    `by` is model where a model judged any of them, else rules; each judgement says its own.
    `stages_ms` are milliseconds by stage, in order.
    """

    look: Looking
    by: str
    judged: int
    matches: Sequence[Match]
    lenses: Sequence[Lens] = ()
    already_accepted: Sequence[OpportunityRow] = ()
    stages_ms: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """Finds and judges who fits, for one member at a time."""

    platform: Platform
    embedder: Embedder
    evaluator: Evaluator
    documents: HypotheticalDocuments

    def __call__(self, principal: Principal, request: DiscoveryRequest) -> Discovered:
        """Return who fits, best first.

        Raises Denied, ValidationFailed, and NotFound for what is not theirs.
        """
        stages = Stages(self.platform.stopwatch)
        me = acting(principal, request.client_id)
        ask = _checked(request)
        with self.platform.transactions.reading(me) as stores:
            member = stores.members.of_client(client_of(me))
            if member is None:
                refuse("client_id", "is no member yet: join a network first")
                raise AssertionError
            look = looking(stores, member.id, ask)
        if not look.text.strip():
            refuse("intent_id", "or a query is needed: there is no profile to look with")
        stages.end("scope")
        lenses = self.documents(me, look, by_rules=request.lenses)
        vectors, profile_vectors, tokens = self._embedded(look, lenses, profiles=request.profiles)
        stages.end("embed")
        with self.platform.transactions.reading(me) as stores:
            batch = gather(
                stores, look, vectors, profile_vectors, self.embedder.model.id, ask.members
            )
            accepted = stores.opportunities.of(
                member.id, states=[OpportunityState.ACCEPTED], limit=1000
            )
        stages.end("search")
        judgements = self._judged(me, look, batch.candidates, tokens)
        stages.end("evaluate")
        met = _others(accepted, member.id)
        matches = _ranked(batch, judgements, frozenset(met), request)
        stages.end("rank")
        return Discovered(
            look=look,
            by="model" if any(each.by == "model" for each in judgements) else "rules",
            judged=len(batch.candidates),
            matches=matches,
            lenses=lenses,
            already_accepted=[
                row
                for other, row in met.items()
                if any(each.member_id == other for each in batch.candidates)
            ],
            stages_ms=stages.ms,
        )

    def _judged(
        self,
        me: Principal,
        look: Looking,
        candidates: Sequence[Candidate],
        tokens: TokenStates | None,
    ) -> Sequence[Judgement]:
        """Return what the rules say of candidates, or a model as far as they allow it."""
        asker = look.asker(tokens)
        by_rules = judge(asker, look.name, candidates, measure(asker, candidates))
        return self.evaluator(me.workspace_id, asker, look.name, candidates, by_rules)

    def _embedded(
        self, look: Looking, lenses: Sequence[Lens], *, profiles: bool
    ) -> tuple[list[Vectors], list[Vectors], TokenStates | None]:
        """Return the vectors to look for in intents and in profiles, and the words' meanings."""
        vectors, tokens = embed_tokens(
            self.embedder, [look.text, *(lens.document for lens in lenses)]
        )
        by_corpus: dict[str, list[Vectors]] = {"intents": [vectors[0]], "profiles": [vectors[0]]}
        for lens, vector in zip(lenses, vectors[1:], strict=True):
            by_corpus[lens.corpus].append(vector)
        in_profiles = by_corpus["profiles"] if profiles else []
        return by_corpus["intents"], in_profiles, tokens[0] if tokens else None


def _checked(request: DiscoveryRequest) -> Ask:
    if request.intent_id is not None and request.query is not None:
        refuse("query", "or an intent: one of them")
    query = request.query
    if query is not None:
        query = clean_text(query, field="query", max_chars=MOST_QUERY_CHARS)
    return Ask(
        intent_id=request.intent_id,
        query=query,
        side=request.side,
        members=request.members,
        networks=request.networks,
    )


def _others(rows: Sequence[OpportunityRow], member_id: UUID) -> Mapping[UUID, OpportunityRow]:
    return {
        row.target_id if row.source_id == member_id else row.source_id: row
        for row in rows
        if member_id in (row.source_id, row.target_id)
    }


def _ranked(
    batch: Batch,
    judgements: Sequence[Judgement],
    met: frozenset[UUID],
    request: DiscoveryRequest,
) -> list[Match]:
    """Return the best of each person, best first, above the least score."""
    best: dict[UUID, Match] = {}
    for candidate, judgement in zip(batch.candidates, judgements, strict=True):
        if candidate.member_id in met or judgement.score < request.minimum:
            continue
        network_id = batch.network_of[candidate.shown_id]
        match = Match(judgement=judgement, candidate=candidate, network_id=network_id)
        before = best.get(candidate.member_id)
        if before is None or _place(match) < _place(before):
            best[candidate.member_id] = match
    return sorted(best.values(), key=_place)[: request.limit]


def _place(match: Match) -> tuple[float, bool, float, str]:
    wish = match.candidate.node_id is None
    return (-match.judgement.score, wish, -match.candidate.cosine, str(match.candidate.member_id))
