"""Looking at a search that was made: why its results are where they are. Never an access."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from cairn.kernel.access import Role
from cairn.kernel.errors import NotFound
from cairn.recall.records import Filters
from cairn.recall.searches.explain import explain, explained_json

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.transaction import Transactions
    from cairn.recall.ports import RecallStores
    from cairn.recall.records import SearchRun
    from cairn.recall.searches.explain import Explained

MAX_READ = 400
SHOWN_CHARS = 200


class KeptRuns(Protocol):
    """Searches of a workspace."""

    def find(self, principal: Principal, run_id: UUID) -> SearchRun | None:
        """Return one search of the principal's workspace; None when there is none."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSearches:
    """Explains searches to whoever asked them, and to administrators."""

    runs: KeptRuns
    transactions: Transactions[RecallStores]

    def __call__(self, principal: Principal, search_id: UUID, /) -> dict[str, Any]:
        """Return the JSON form of the explanation, with the beginnings of texts the reader may see.

        `nodes` are those of the graph leg's walk. A text that is gone or hidden by now is left
        out; the numbers stay. Raises NotFound for a search of somebody else, and for none at all.
        """
        told = self.explained(principal, search_id)
        shown = explained_json(told)
        rows: Sequence[dict[str, Any]] = (*shown["results"], *shown["others"])
        ids = [one.node_id for one in (*told.results, *told.others)]
        walked = [end for edge in told.run.edges for end in (edge.source_id, edge.target_id)]
        wanted = list(dict.fromkeys((*ids, *told.run.seeds, *walked)))[:MAX_READ]
        texts = self._texts(principal, wanted, told.run.as_of_position)
        for row, node_id in zip(rows, ids, strict=True):
            if node_id in texts:
                row["type"], row["text"] = texts[node_id]
        shown["nodes"] = [
            {"node_id": str(one), "type": texts[one][0], "text": texts[one][1]}
            for one in dict.fromkeys((*told.run.seeds, *walked))
            if one in texts
        ]
        return shown

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
            nodes = stores.nodes.read(list(ids), Filters(as_of_position=as_of))
        return {node.id: (node.label, node.text[:SHOWN_CHARS]) for node in nodes}
