"""A search that was made: why its results are where they are, and what readers say of them.

Looking is never an access. Feedback is counted by recipe, reason and signal; a signal of proactive
nodes that is mostly of no use is muted (`proactive`). It changes no ranking.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from cairn.kernel.access import Role
from cairn.kernel.errors import NotFound
from cairn.recall.records import Filters
from cairn.recall.searches.explain import explain, explained_json

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Clock
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.recall.ports import Report
    from cairn.recall.records import SearchRun
    from cairn.recall.searches.explain import Explained


DIRECT = "direct"
PROACTIVE = "proactive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """Whether a node was of use. `retrieval_reason` is direct or proactive, as the answer said.

    `signal` is the answer's `proactive_signal`, of a proactive node.
    """

    search_id: UUID
    node_id: UUID
    useful: bool
    retrieval_reason: str = DIRECT
    signal: str | None = None


class FeedbackStore(Protocol):
    """Where feedback is kept, each call in a transaction of its own."""

    def returned(self, principal: Principal, search_id: UUID, node_id: UUID) -> bool | None:
        """Return whether a search returned a node; None for a search the principal may not see."""
        ...

    def keep(self, principal: Principal, feedback: Feedback, now: datetime) -> str | None:
        """Keep the principal's last word on a node of a search; return the search's recipe."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveFeedback:
    """The use case."""

    store: FeedbackStore
    clock: Clock
    note: Report | None = None

    def __call__(self, principal: Principal, feedback: Feedback) -> Feedback:
        """Keep `feedback` and return it. NotFound for a search or a node of it that is not there.

        A direct result must be among those the search returned; proactive ones are shown beside
        them and are taken at the caller's word.
        """
        returned = self.store.returned(principal, feedback.search_id, feedback.node_id)
        if returned is None or (feedback.retrieval_reason == DIRECT and not returned):
            raise NotFound(
                "No search of yours returned this node.", search_id=str(feedback.search_id)
            )
        recipe = self.store.keep(principal, feedback, self.clock())
        if self.note is not None:
            self.note("recall.feedback", _line_of(principal, feedback, recipe))
        return feedback


def _line_of(principal: Principal, feedback: Feedback, recipe: str | None) -> dict[str, Any]:
    return {
        "workspace_id": str(principal.workspace_id),
        "search_id": str(feedback.search_id),
        "recipe": recipe,
        "retrieval_reason": feedback.retrieval_reason,
        "signal": feedback.signal,
        "useful": int(feedback.useful),  # a share is its average
    }


MAX_READ = 400
SHOWN_CHARS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchView:
    """A search in a list: who asked it when, how many were returned, and `rank` of the node that
    the list is about. `asked_by` is the name of a key or a person; None for the deployment itself.
    """

    id: UUID
    asked_at: datetime
    principal_id: UUID
    asked_by: str | None
    session_id: str | None
    recipe: str
    returned: int
    rank: int | None
    duration_ms: float
    as_of_position: int | None


class KeptRuns(Protocol):
    """Searches of a workspace."""

    def find(self, principal: Principal, run_id: UUID) -> SearchRun | None:
        """Return one search of the principal's workspace; None when there is none."""
        ...

    def asked_by(self, principal: Principal, principal_id: UUID) -> str | None:
        """Return the name of the key or the person who searched; None where there is none."""
        ...

    def page(
        self,
        principal: Principal,
        *,
        node_id: UUID | None,
        of: UUID | None,
        before: UUID | None,
        limit: int,
    ) -> Sequence[SearchView]:
        """Return searches before one, the newest first: `of` a principal, that gave a node."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSearches:
    """Explains searches to whoever asked them, and to administrators."""

    runs: KeptRuns
    transactions: Transactions[Stores]

    def __call__(self, principal: Principal, search_id: UUID, /) -> dict[str, Any]:
        """Return the JSON form of the explanation, with the beginnings of texts the reader may see.

        `nodes` are those of the graph leg's walk. A text that is gone or hidden by now is left
        out; the numbers stay. Raises NotFound for a search of somebody else, and for none at all.
        """
        explained = self.explained(principal, search_id)
        shown = explained_json(explained)
        shown["asked_by"] = self.runs.asked_by(principal, explained.run.principal_id)
        rows: Sequence[dict[str, Any]] = (*shown["results"], *shown["others"])
        ids = [result.node_id for result in (*explained.results, *explained.others)]
        walked = [end for edge in explained.run.edges for end in (edge.source_id, edge.target_id)]
        node_ids = list(dict.fromkeys((*ids, *explained.run.seeds, *walked)))[:MAX_READ]
        texts = self._texts(principal, node_ids, explained.run.as_of_position)
        for row, node_id in zip(rows, ids, strict=True):
            if node_id in texts:
                row["type"], row["text"] = texts[node_id]
        shown["nodes"] = [
            {"node_id": str(fromkey), "type": texts[fromkey][0], "text": texts[fromkey][1]}
            for fromkey in dict.fromkeys((*explained.run.seeds, *walked))
            if fromkey in texts
        ]
        return shown

    def page(
        self,
        principal: Principal,
        *,
        node_id: UUID | None = None,
        before: UUID | None = None,
        limit: int,
    ) -> Sequence[SearchView]:
        """Return the principal's searches, an admin every one, the newest first.

        With a `node_id` those that returned it.
        """
        of = None if principal.role is Role.ADMIN else principal.principal_id
        return self.runs.page(principal, node_id=node_id, of=of, before=before, limit=limit)

    def explained(self, principal: Principal, search_id: UUID) -> Explained:
        """Return why each result is where it is; NotFound as above."""
        run = self.runs.find(principal, search_id)
        own = run is not None and run.principal_id == principal.principal_id
        if run is None or not (own or principal.role is Role.ADMIN):
            raise NotFound("There is no such search.", search_id=str(search_id))
        return explain(run)

    def _texts(
        self, principal: Principal, ids: Collection[UUID], as_of: int | None
    ) -> Mapping[UUID, tuple[str, str]]:
        if not ids:
            return {}
        with self.transactions.reading(principal) as stores:
            nodes = stores.node_reader.read(list(ids), Filters(as_of_position=as_of))
        return {node.id: (node.label, node.text[:SHOWN_CHARS]) for node in nodes}
