"""BM25 search in the live index. Finds ids only; the guard behind it decides what is shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cairn.adapters.opensearch.client import translated
from cairn.adapters.opensearch.documents import node_id_of, search_body
from cairn.adapters.opensearch.indexes import live_index
from cairn.kernel.errors import Unavailable
from cairn.recall.keyword_index import IndexAnswer
from cairn.recall.records import Candidate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cairn.adapters.opensearch.client import Connection
    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Stopwatch
    from cairn.recall.records import Filters

REMEMBER_SECONDS = 30.0
"""How long the name behind the alias is believed; a switch before that costs one more request."""


@dataclass
class OpenSearchKeywordIndex:
    """Implements `KeywordIndex`. One a process."""

    connection: Connection
    stopwatch: Stopwatch
    _name: str | None = field(default=None, init=False)
    _believed_until: float = field(default=0.0, init=False)

    def find(
        self,
        principal: Principal,
        terms: Sequence[str],
        filters: Filters,
        *,
        limit: int,
        timeout_ms: int,
    ) -> IndexAnswer:
        """Return the best nodes by BM25 over own text and, weaker, context.

        Raises Unavailable when shards are missing or late: half an answer is none.
        """
        body = search_body(principal, terms, filters, limit=limit, timeout_ms=timeout_ms)
        name, fresh = self._live(timeout_ms)
        try:
            answer = self._search(name, body, str(principal.workspace_id), timeout_ms)
        except Unavailable as error:
            self._believed_until = 0.0
            if error.reason != "no-index" or fresh:
                raise
            name, _ = self._live(timeout_ms)  # it was switched a moment ago
            answer = self._search(name, body, str(principal.workspace_id), timeout_ms)
        return IndexAnswer(name, _candidates(answer, principal))

    def _search(self, name: str, body: Any, routing: str, timeout_ms: int) -> Any:
        with translated():
            return self.connection.client.search(
                body=body,
                index=name,
                params={
                    "routing": routing,
                    "allow_partial_search_results": "false",
                    "request_timeout": timeout_ms / 1000,
                },
            )

    def _live(self, timeout_ms: int) -> tuple[str, bool]:
        """Return the live index's name, and whether it was asked for just now."""
        now = self.stopwatch()
        if self._name and now < self._believed_until:
            return self._name, False
        live = live_index(self.connection, timeout_seconds=timeout_ms / 1000)
        if live is None:
            raise Unavailable("There is no search index yet.", reason="no-alias")
        if not live.current:
            raise Unavailable("The search index has another mapping.", reason="stale-mapping")
        self._name, self._believed_until = live.name, now + REMEMBER_SECONDS
        return live.name, True


def _candidates(answer: Any, principal: Principal) -> tuple[Candidate, ...]:
    try:
        if answer["timed_out"]:
            raise Unavailable("OpenSearch did not finish in time.", reason="timed-out")
        scored = [
            (node_id_of(hit, principal.workspace_id), float(hit["_score"]))
            for hit in answer["hits"]["hits"]
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise Unavailable("OpenSearch's answer is unreadable.", reason="unreadable") from error
    return tuple(
        Candidate(node_id=node_id, score=score) for node_id, score in scored if node_id is not None
    )
