"""Look for texts and ids in every index of nodes.

Texts are indexed there word by word, without their places, and not stored: a document that has
every word of a text counts as found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.adapters.opensearch.client import translated
from cairn.adapters.opensearch.documents import ANY_VERSION
from cairn.forgetting.prove import Looked

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from cairn.adapters.opensearch.client import Connection
    from cairn.forgetting.prove import Needles

_IDS = 10_000
_PAGE = 1_000


@dataclass(frozen=True)
class OpenSearchSearcher:
    """Implements `Searcher`: words of the indexed texts, and node ids."""

    connection: Connection

    def __call__(self, workspace_id: UUID, needles: Needles, /) -> Iterable[Looked]:
        """Count documents of the workspace that have any of it, in live and other indexes."""
        clauses: list[dict[str, Any]] = [
            {"multi_match": {"query": text, "operator": "and", "fields": ["own", "context"]}}
            for text in needles.texts
        ]
        ids = [str(id_) for id_ in needles.ids]
        clauses += [{"terms": {"node_id": ids[at : at + _IDS]}} for at in range(0, len(ids), _IDS)]
        here = [{"term": {"workspace_id": str(workspace_id)}}]
        with translated():
            client, name = self.connection.client, ANY_VERSION
            client.indices.refresh(index=name)
            query = {"bool": {"filter": here, "should": clauses, "minimum_should_match": 1}}
            count = client.count(index=name, body={"query": query})["count"] if clauses else 0
            items = client.count(index=name, body={"query": {"bool": {"filter": here}}})["count"]
        yield Looked(store="opensearch", place=name, items=items, found=count)


@dataclass(frozen=True)
class OpenSearchEraser:
    """Implements `IndexEraser`: every document of a workspace, in every index of nodes."""

    connection: Connection

    def erase(self, workspace_id: UUID, /) -> int:
        """Remove the documents and return how many there were.

        Page by page, not by query: the node of a laptop is built without that module.
        """
        removed = 0
        with translated():
            while hits := self._page(workspace_id):
                done = self._delete(hits)
                if not done:
                    break  # what is left is looked for, and told
                removed += done
        return removed

    def _page(self, workspace_id: UUID) -> list[dict[str, Any]]:
        client = self.connection.client
        client.indices.refresh(index=ANY_VERSION)
        query = {"term": {"workspace_id": str(workspace_id)}}
        body = {"size": _PAGE, "query": query, "_source": False}
        hits: list[dict[str, Any]] = client.search(body=body, index=ANY_VERSION)["hits"]["hits"]
        return hits

    def _delete(self, hits: Iterable[dict[str, Any]]) -> int:
        actions = [
            {"delete": {"_index": hit["_index"], "_id": hit["_id"], "routing": hit["_routing"]}}
            for hit in hits
        ]
        outcomes = self.connection.client.bulk(body=actions)["items"]
        return sum(each["delete"].get("result") == "deleted" for each in outcomes)

    def look(self, workspace_id: UUID, /) -> Looked:
        """Count the documents that are left."""
        query = {"query": {"term": {"workspace_id": str(workspace_id)}}}
        with translated():
            left = self.connection.client.count(index=ANY_VERSION, body=query)["count"]
        return Looked(store="opensearch", place=ANY_VERSION, items=left, found=left)
