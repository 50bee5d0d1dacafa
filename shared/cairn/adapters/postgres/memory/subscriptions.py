"""Subscriptions in PostgreSQL: the leg that follows them, and the rows they are.

The leg calls `find_by_subscription`, which looks past the agent's tag and checks for itself that
the agent of the transaction subscribes to what is asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.database import Database, bound
from cairn.adapters.postgres.memory.recall import matches
from cairn.adapters.postgres.store import Store, record
from cairn.recall.subscriptions import KeywordMatch, SubscriptionView, scored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cairn.kernel.access import Principal
    from cairn.recall.records import Candidate, Filters

BY_SUBSCRIPTION = ("subscription.by_subscription", "subscription.by_subscription_as_of")


class PostgresSubscriptionLeg:
    """Implements `SubscriptionLeg`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def search(
        self,
        principal: Principal,
        keywords: Sequence[str],
        filters: Filters,
        *,
        limit: int,
        timeout_ms: int,
    ) -> Sequence[Candidate]:
        """Return what the keywords find, up to `limit` a keyword before they are merged."""
        if not keywords or principal.agent_slug is None:
            return ()
        parameters = {"keywords": list(keywords), "limit": limit}
        with bound(self._database, principal, timeout_ms=timeout_ms) as connection:
            rows = matches(connection, BY_SUBSCRIPTION, parameters, filters)
        return scored((KeywordMatch(*row) for row in rows), limit=limit)


class PostgresSubscribedKeywords:
    """Implements `SubscribedKeywords`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __call__(self, principal: Principal, timeout_ms: int) -> tuple[str, ...]:
        """Return what the principal's agent subscribes to."""
        if principal.agent_slug is None:
            return ()
        with bound(self._database, principal, timeout_ms=timeout_ms) as connection:
            subscription = PostgresSubscriptions(connection, principal).of_agent(
                principal.agent_slug
            )
        return subscription.keywords if subscription else ()


class PostgresSubscriptions(Store):
    """What agents subscribe to."""

    def of_agent(self, agent: str) -> SubscriptionView | None:
        """Return an agent's subscription, None when it has no keywords."""
        return self.first_of(record(SubscriptionView), "subscription.of_agent", agent=agent)

    def all(self) -> Sequence[SubscriptionView]:
        """Return every agent's, by name."""
        return self.all_of(record(SubscriptionView), "subscription.all")

    def put(self, subscription: SubscriptionView) -> None:
        """Keep an agent's keywords; an older change does nothing."""
        self.run(
            "subscription.put",
            agent=subscription.agent,
            keywords=list(subscription.keywords),
            position=subscription.position,
        )
