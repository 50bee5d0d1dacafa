"""The indexes of nodes: made, written to, compared, switched and dropped. Not searched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.adapters.opensearch.client import TIMEOUT_SECONDS, TOO_MANY, translated
from cairn.adapters.opensearch.documents import (
    ALIAS,
    ANY_VERSION,
    BODY,
    NAME,
    PREFIX,
    WRITING,
    action,
    document_id,
    is_current,
)
from cairn.kernel.errors import Unavailable
from cairn.search_index.sync import Bucket, LiveIndex, SyncResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cairn.adapters.opensearch.client import Connection
    from cairn.kernel.ids import IdSource
    from cairn.search_index.sync import IndexDocument

BULK_DOCUMENTS = 500
BULK_BYTES = 5_000_000
PAGE = 1_000
BUCKETS = 256
NOT_FOUND, CONFLICT, SERVER_ERROR = 404, 409, 500


def live_index(
    connection: Connection, *, timeout_seconds: float = TIMEOUT_SECONDS
) -> LiveIndex | None:
    """Return the index behind the alias, None when there is no alias.

    Raises Unavailable `wrong-alias` when it leads to several indexes, or to one that is not ours.
    """
    try:
        with translated():
            aliases: dict[str, Any] = connection.client.indices.get_alias(
                name=ALIAS, params={"request_timeout": timeout_seconds}
            )
    except Unavailable as error:
        if error.reason == "no-index":
            return None
        raise
    names = list(aliases)
    if len(names) != 1 or not NAME.fullmatch(names[0]):
        raise Unavailable(
            f"The alias {ALIAS} leads to {', '.join(sorted(names))}.", reason="wrong-alias"
        )
    return LiveIndex(names[0], is_current(names[0]))


@dataclass(frozen=True)
class OpenSearchIndexes:
    """Implements `SearchIndex`."""

    connection: Connection
    new_id: IdSource

    def live(self) -> LiveIndex | None:
        """Return the index behind the alias."""
        return live_index(self.connection)

    def building(self) -> str | None:
        """Return the newest index of the current mapping that is not live."""
        with translated():
            aliases: dict[str, Any] = self.connection.client.indices.get_alias(index=f"{PREFIX}*")
        begun = [name for name, each in aliases.items() if ALIAS not in each["aliases"]]
        return max(begun, default=None)

    def create(self) -> str:
        """Make an empty index of the current mapping; names of later ones sort later."""
        name = f"{PREFIX}{self.new_id().hex}"
        body: dict[str, Any] = {**BODY, "aliases": {f"{name}{WRITING}": {}}}
        with translated():
            self.connection.client.indices.create(index=name, body=body)
        return name

    def go_live(self, name: str) -> Sequence[str]:
        """Move the alias to `name` in one step and drop every other index of ours."""
        actions = [
            {"remove": {"index": "*", "alias": ALIAS, "must_exist": False}},
            {"add": {"index": name, "alias": ALIAS}},
        ]
        with translated():
            indices = self.connection.client.indices
            indices.update_aliases(body={"actions": actions})
            indexes: dict[str, Any] = indices.get(index=ANY_VERSION)
            others = sorted(item for item in indexes if item != name and NAME.fullmatch(item))
            for other in others:
                indices.delete(index=other, params={"ignore_unavailable": "true"})
        return others

    def write(self, name: str, documents: Sequence[IndexDocument]) -> SyncResult:
        """Write in bulk requests of bounded size; what is newer in the index stays."""
        counts = {"indexed": 0, "removed": 0, "newer": 0}
        refused: dict[UUID, str] = {}
        ids = {
            document_id(document.workspace_id, document.node_id): document.node_id
            for document in documents
        }
        for done, item in self._bulk(
            [action(f"{name}{WRITING}", document) for document in documents]
        ):
            (operation, outcome), *_ = item.items()
            if operation == "delete" and _was_absent(outcome):
                continue
            if done:
                counts["removed" if operation == "delete" else "indexed"] += 1
            elif outcome["status"] == CONFLICT:
                counts["newer"] += 1
            else:
                refused[ids[outcome["_id"]]] = _final_reason(outcome)
        return SyncResult(**counts, refused=refused)

    def remove(self, name: str, workspace_id: UUID, positions: Mapping[UUID, int]) -> int:
        """Take documents out at the versions seen."""
        actions = [
            {
                "_op_type": "delete",
                "_index": f"{name}{WRITING}",
                "_id": document_id(workspace_id, node_id),
                "routing": str(workspace_id),
                "version": position,
                "version_type": "external_gte",
            }
            for node_id, position in positions.items()
        ]
        return sum(done for done, _ in self._bulk(actions))

    def refresh(self, name: str) -> None:
        """Let everything written so far be found."""
        with translated():
            self.connection.client.indices.refresh(index=name)

    def buckets(self, name: str, workspace_id: UUID) -> Mapping[str, Bucket]:
        """Return the workspace's documents by bucket, counted in the index."""
        marks = {"marks": {"sum": {"field": "mark"}}}
        by_bucket = {"terms": {"field": "bucket", "size": BUCKETS}, "aggs": marks}
        body = {"size": 0, "query": _of(workspace_id), "aggs": {"buckets": by_bucket}}
        answer = self._search(name, workspace_id, body)
        return {
            each["key"]: Bucket(each["doc_count"], int(each["marks"]["value"]))
            for each in answer["aggregations"]["buckets"]["buckets"]
        }

    def positions(self, name: str, workspace_id: UUID, bucket: str) -> Mapping[UUID, int]:
        """Return the documents of one bucket, page by page."""
        positions: dict[UUID, int] = {}
        body: dict[str, Any] = {
            "size": PAGE,
            "query": _of(workspace_id, {"term": {"bucket": bucket}}),
            "_source": False,
            "docvalue_fields": ["node_id", "position"],
            "sort": [{"node_id": "asc"}],
        }
        while hits := self._search(name, workspace_id, body)["hits"]["hits"]:
            for hit in hits:
                fields = hit["fields"]
                positions[UUID(fields["node_id"][0])] = fields["position"][0]
            body["search_after"] = hits[-1]["sort"]
        return positions

    def _search(self, name: str, workspace_id: UUID, body: Any) -> Any:
        with translated():
            return self.connection.client.search(
                body=body, index=name, params={"routing": str(workspace_id)}
            )

    def _bulk(self, actions: list[dict[str, Any]]) -> list[tuple[bool, dict[str, Any]]]:
        """Send actions; Unavailable when one of them should be tried again."""
        from opensearchpy.helpers import streaming_bulk

        with translated():
            answers: list[tuple[bool, dict[str, Any]]] = list(
                streaming_bulk(
                    self.connection.client,
                    actions,
                    chunk_size=BULK_DOCUMENTS,
                    max_chunk_bytes=BULK_BYTES,
                    raise_on_error=False,
                    require_alias=True,
                )
            )
        for _, item in answers:
            for outcome in item.values():
                _refuse_what_may_work_later(outcome)
        return answers


def _refuse_what_may_work_later(outcome: dict[str, Any]) -> None:
    status = outcome["status"]
    if status == TOO_MANY or status >= SERVER_ERROR:
        raise Unavailable("OpenSearch took a part of the documents only.", reason="busy")
    if status == NOT_FOUND and "error" in outcome:
        raise Unavailable("The index is gone.", reason="no-index")


def _was_absent(outcome: dict[str, Any]) -> bool:
    return outcome["status"] == NOT_FOUND


def _final_reason(outcome: dict[str, Any]) -> str:
    error: dict[str, Any] = outcome.get("error") or {}
    return str(error.get("type", "unknown"))


def _of(workspace_id: UUID, *more: dict[str, Any]) -> dict[str, Any]:
    return {"bool": {"filter": [{"term": {"workspace_id": str(workspace_id)}}, *more]}}
