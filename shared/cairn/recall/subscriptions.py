"""What agents subscribe to: the use case behind `/v1/subscriptions`, and the leg of recall."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from cairn.kernel.access import Principal, Role
from cairn.kernel.errors import Denied
from cairn.kernel.text.checks import clean_text
from cairn.kernel.text.scrub import scrub
from cairn.recall.ranking import min_max
from cairn.recall.records import Candidate
from cairn.writing.checks import refuse, require_writer
from cairn.writing.subjects import resolve
from cairn.writing.writer import open_write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any
    from uuid import UUID

    from cairn.ledger.entry import Entry
    from cairn.recall.records import Filters
    from cairn.writing.platform import Platform


AGENT_SLUG = re.compile(r"[a-z0-9][a-z0-9._\-]{0,63}")
CHANGED = "subscription.changed"


@dataclass(frozen=True, slots=True)
class Subscriptions:
    """Reads and changes subscriptions. An agent's key has its own one; an admin names the agent."""

    platform: Platform

    def get(self, principal: Principal, agent: str | None = None) -> tuple[SubscriptionView, ...]:
        """Return one agent's subscription, or every agent's for an admin who names none."""
        require_writer(principal)
        everyone = agent is None and principal.agent_slug is None and principal.role is Role.ADMIN
        agent_slug = None if everyone else agent_of(principal, agent)
        with self.platform.transactions.reading(principal) as stores:
            if agent_slug is None:
                return tuple(stores.subscriptions.all())
            subscription = stores.subscriptions.of_agent(agent_slug)
        return (subscription,) if subscription else ()

    def put(
        self, principal: Principal, agent: str | None, keywords: Sequence[str]
    ) -> SubscriptionView:
        """Replace an agent's keywords by 1 to MAX_KEYWORDS others; the same again change nothing.

        Raises ValidationFailed naming the keyword at fault, Denied for another agent's.
        """
        return self._change(principal, agent, clean_keywords(keywords))

    def clear(self, principal: Principal, agent: str | None) -> SubscriptionView:
        """Let an agent subscribe to nothing."""
        return self._change(principal, agent, ())

    def _change(
        self, principal: Principal, agent: str | None, keywords: tuple[str, ...]
    ) -> SubscriptionView:
        require_writer(principal)
        agent_slug = agent_of(principal, agent)
        resolution = resolve(self.platform, principal, ())
        with open_write(self.platform, principal, keys=resolution.keys) as write:
            subscriptions = write.stores.subscriptions
            present = subscriptions.of_agent(agent_slug)
            if (present.keywords if present else ()) == keywords:
                position = present.position if present else write.entries.position
                return SubscriptionView(agent=agent_slug, keywords=keywords, position=position)
            body = {"agent": agent_slug, "keywords": list(keywords)}
            write.note(CHANGED, {"keywords": len(keywords)}, body)
            changed = changed_subscription(write.append()[-1], body)
            subscriptions.put(changed)
        return changed


def changed_subscription(entry: Entry, body: Mapping[str, Any]) -> SubscriptionView:
    """Return the row a `subscription.changed` entry projects to. Pure."""
    return SubscriptionView(
        agent=body["agent"], keywords=tuple(body["keywords"]), position=entry.position
    )


def clean_keywords(keywords: Sequence[str]) -> tuple[str, ...]:
    """Return keywords as they are compared: case folded, single spaces, each once, in order.

    Raises ValidationFailed for none, more than MAX_KEYWORDS, or one that is empty, unstorable or
    longer than MAX_KEYWORD_CHARS.
    """
    if not keywords:
        refuse("keywords", "must name at least one; delete the subscription to have none")
    cleaned = dict.fromkeys(
        clean_keyword(keyword, field=f"keywords.{number}")
        for number, keyword in enumerate(keywords)
    )
    if len(cleaned) > MAX_KEYWORDS:
        refuse("keywords", f"has {len(cleaned)} items; at most {MAX_KEYWORDS} are allowed")
    return tuple(cleaned)


def clean_keyword(keyword: str, *, field: str) -> str:
    """Return one keyword as it is stored and compared; ValidationFailed naming `field`."""
    text = clean_text(keyword, field=field, max_chars=MAX_KEYWORD_CHARS)
    folded = " ".join(scrub(text).text.casefold().split())
    if len(folded) > MAX_KEYWORD_CHARS:
        refuse(field, f"is longer than {MAX_KEYWORD_CHARS} characters")
    return folded


def agent_of(principal: Principal, agent: str | None) -> str:
    """Return the agent a subscription is about: the key's own, or the one an admin names."""
    if agent is not None and AGENT_SLUG.fullmatch(agent) is None:
        refuse("agent", "must be lower case letters, digits, dots, dashes, up to 64 of them")
    if principal.agent_slug is not None:
        if agent not in (None, principal.agent_slug):
            raise Denied("This key may subscribe for its own agent only.", reason="agent")
        return principal.agent_slug
    if principal.role is not Role.ADMIN:
        raise Denied("This key belongs to no agent.", reason="agent")
    if agent is None:
        refuse("agent", "must name the agent that subscribes")
    return agent or ""


MAX_KEYWORDS = 5
MAX_KEYWORD_CHARS = 64
TAGGED_SCORE = 1.0
"""A node that carries the keyword scores as the best match of the words does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionView:
    """What an agent subscribes to. `position` is that of the entry that said so."""

    agent: str
    keywords: tuple[str, ...]
    position: int


class KeywordMatch(NamedTuple):
    """One node for one keyword. `rank` is the text rank, None when only `tagged` holds."""

    node_id: UUID
    keyword: str
    rank: float | None
    tagged: bool


class SubscriptionLeg(Protocol):
    """Finds nodes by subscribed keywords, twice a keyword: in the text and in `node.keywords`."""

    def search(
        self,
        principal: Principal,
        keywords: Sequence[str],
        filters: Filters,
        *,
        limit: int,
        timeout_ms: int,
    ) -> Sequence[Candidate]:
        """Return at most `limit` nodes, best first, scores in [0, 1].

        `keywords` are those `SubscribedKeywords` gave; one that the principal's agent does not
        subscribe to finds nothing, so the leg cannot be used to pass the agent guard. A principal
        without an agent finds nothing. Runs in one short transaction of its own whose statement
        timeout is `timeout_ms`. Raises Unavailable when it cannot answer.
        """
        ...


SubscribedKeywords: TypeAlias = "Callable[[Principal, int], tuple[str, ...]]"
"""Returns at most MAX_KEYWORDS keywords of a principal's agent, () without an agent or keywords.

Within a number of milliseconds; raises Unavailable when it cannot answer."""


def scored(matches: Iterable[KeywordMatch], *, limit: int) -> tuple[Candidate, ...]:
    """Return the candidates of all keywords, best first, each node with its best score.

    Text ranks are stretched to [0, 1] within a keyword; carrying the keyword is TAGGED_SCORE.
    """
    by_keyword: defaultdict[str, list[KeywordMatch]] = defaultdict(list)
    for match in matches:
        by_keyword[match.keyword].append(match)
    best: dict[UUID, float] = {}
    for keyword_matches in by_keyword.values():
        for node_id, score in _scores(keyword_matches):
            best[node_id] = max(best.get(node_id, 0.0), score)
    ranked = sorted(best.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Candidate(node_id, score) for node_id, score in ranked[:limit])


def _scores(matches: Sequence[KeywordMatch]) -> Iterable[tuple[UUID, float]]:
    """Return (node, score) of one keyword's matches, each search apart."""
    by_text = [(match.node_id, match.rank) for match in matches if match.rank is not None]
    stretched = min_max([rank for _, rank in by_text])
    yield from zip((node_id for node_id, _ in by_text), stretched, strict=True)
    yield from ((match.node_id, TAGGED_SCORE) for match in matches if match.tagged)
