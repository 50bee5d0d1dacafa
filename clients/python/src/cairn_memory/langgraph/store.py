# pyright: basic, reportMissingImports=false
# LangGraph is no package of this project; where it is installed, tests run this module.
"""A LangGraph `BaseStore` over Cairn: each item is a memory in a namespace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, cast

from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    validate_op_namespace,
)
from langgraph.store.base.embed import get_text_at_path

from cairn_memory import models, operations
from cairn_memory.langgraph import _form as form
from cairn_memory.langgraph._clients import Clients, Steps

PAGE = 100
BATCH = 500


class CairnStore(BaseStore):
    """LangGraph's long-term memory, kept in Cairn.

    Items are found by their words right after `put`, and by meaning a moment later;
    `wait="embedded"` lets `put` return then. `url`, `key` and `client_id` are those of `Memory`.
    `index={"fields": [...]}` names what of a value is searched, all of it otherwise, and `ttl` is
    LangGraph's. What has expired is read by nobody, so `omit_expired` and sweeps are no choices.
    """

    supports_ttl = True

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        client_id: str | None = None,
        timeout: float = 60.0,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        wait: Literal["stored", "embedded"] = "stored",
    ) -> None:
        self._clients = Clients(url, key, client_id, timeout)
        self.memory = self._clients.memory
        self.ttl_config = ttl
        self._fields = list((index or {}).get("fields") or [])
        self._wait = wait

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the operations: what reads first, as things stood before, then what writes."""
        results, written = self._clients.run(self._all(list(ops)))
        if self._wait == "embedded":
            for memory_id in written:
                self.memory.wait_until_embedded(memory_id)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the same with `await`."""
        results, written = await self._clients.arun(self._all(list(ops)))
        if self._wait == "embedded":
            for memory_id in written:
                await self._clients.awaiting().wait_until_embedded(memory_id)
        return results

    def close(self) -> None:
        """Close the connections of the store without `await`."""
        self._clients.close()

    async def aclose(self) -> None:
        """Close those of the store with `await`, and the others."""
        await self._clients.aclose()

    def _all(self, ops: Sequence[Op]) -> Steps[tuple[list[Result], list[Any]]]:
        results: list[Result] = [None] * len(ops)
        puts: dict[tuple[tuple[str, ...], str], PutOp] = {}
        for place, op in enumerate(ops):
            validate_op_namespace(op)
            if isinstance(op, PutOp):
                puts[op.namespace, op.key] = op
            elif isinstance(op, GetOp):
                results[place] = yield from self._get(op)
            elif isinstance(op, SearchOp):
                results[place] = yield from self._search(op)
            else:
                results[place] = yield from self._namespaces(op)
        written = yield from self._put([op for op in puts.values() if op.value is not None])
        for op in puts.values():
            if op.value is None:
                yield from self._delete(op)
        return results, written

    def _find(self, namespace: tuple[str, ...], key: str) -> Steps[models.MemoryView | None]:
        page = yield operations.list_memories(
            namespace=form.path_of(namespace),
            key=key,
            state="active",
            limit=1,
            client_id=self.memory.client_id,
        )
        return next(iter(page.items), None)

    def _get(self, op: GetOp) -> Steps[Item | None]:
        found = yield from self._find(op.namespace, op.key)
        if found is None:
            return None
        if op.refresh_ttl:
            yield from self._refresh([found.id] if found.ttl_seconds else [])
        return Item(**form.item_of(found.namespace, found.key, found.metadata, found.recorded_at))

    def _put(self, ops: Sequence[PutOp]) -> Steps[list[Any]]:
        written: list[Any] = []
        for start in range(0, len(ops), BATCH):
            some = ops[start : start + BATCH]
            answer = yield operations.remember(
                models.MemoryBatch.model_validate({"items": [self._memory(op) for op in some]})
            )
            for op, result in zip(some, answer.results, strict=True):
                if isinstance(result, models.RejectedItem):
                    raise ValueError(f"{op.namespace} {op.key}: {result.error.detail}")
                written.append(result.id)
        return written

    def _memory(self, op: PutOp) -> dict[str, Any]:
        value = dict(cast("Mapping[str, Any]", op.value))
        fields = self._fields if op.index is None else op.index or []
        texts = [text for path in fields for text in get_text_at_path(value, path)]
        text = "\n".join(texts) if fields else form.text_of(value)
        seconds = max(1, round(op.ttl * 60)) if op.ttl is not None else None
        return {
            "text": text.strip() or op.key,
            "type": "fact",
            "namespace": form.path_of(op.namespace),
            "key": op.key,
            "metadata": form.metadata_of(value, indexed=op.index is not False, ttl=seconds),
            **({"ttl_seconds": seconds} if seconds else {}),
            **({"client_id": self.memory.client_id} if self.memory.client_id else {}),
        }

    def _delete(self, op: PutOp) -> Steps[None]:
        found = yield from self._find(op.namespace, op.key)
        if found is not None:
            yield operations.delete_memory(found.id)

    def _search(self, op: SearchOp) -> Steps[list[SearchItem]]:
        where = form.conditions_of(op.filter)
        found = yield from self._by_query(op, where) if op.query else self._listed(op, where)
        if op.refresh_ttl:
            lasting = [each[0] for each in found if form.lasts(each[1]["metadata"])]
            yield from self._refresh(lasting)
        return [SearchItem(**form.item_of(**fields), score=score) for _, fields, score in found]

    def _by_query(self, op: SearchOp, where: list[dict[str, Any]]) -> Steps[list[form.Found]]:
        answer = yield operations.search(
            models.SearchIn.model_validate(
                {
                    "query": op.query,
                    "limit": min(PAGE, op.offset + op.limit),
                    "labels": ["Memory"],
                    "where": [*where, form.INDEXED],
                    "neighbours": 0,
                    "gate": False,
                    "min_relevance": 0,
                    "expand_hops": 0,
                    "namespace_prefix": form.below(op.namespace_prefix),
                    **({"client_id": self.memory.client_id} if self.memory.client_id else {}),
                }
            )
        )
        return [form.found_of(each) for each in answer.results[op.offset :]]

    def _listed(self, op: SearchOp, where: list[dict[str, Any]]) -> Steps[list[form.Found]]:
        found: list[form.Found] = []
        cursor, wanted = None, op.offset + op.limit
        while len(found) < wanted:
            page = yield operations.list_memories(
                namespace_prefix=form.below(op.namespace_prefix),
                where=form.written(where),
                state="active",
                client_id=self.memory.client_id,
                limit=min(PAGE, wanted - len(found)),
                cursor=cursor,
            )
            found += [form.listed_of(each) for each in page.items]
            cursor = page.next_cursor
            if cursor is None:
                break
        return found[op.offset :]

    def _refresh(self, ids: Sequence[Any]) -> Steps[None]:
        for start in range(0, len(ids), PAGE):
            some = [str(each) for each in ids[start : start + PAGE]]
            yield operations.refresh_memories(models.RefreshIn.model_validate({"ids": some}))

    def _namespaces(self, op: ListNamespacesOp) -> Steps[list[tuple[str, ...]]]:
        asked: dict[str, str] = {}
        for condition in op.match_conditions or ():
            if condition.match_type in asked:
                raise ValueError(f"One {condition.match_type} at most can be asked for")
            asked[condition.match_type] = form.pattern_of(condition.path)
        found: list[str] = []
        more = True
        while more and len(found) < op.limit:
            answer = yield operations.list_namespaces(
                **asked,
                max_depth=op.max_depth,
                limit=min(PAGE, op.limit - len(found)),
                offset=op.offset + len(found),
                client_id=self.memory.client_id,
            )
            found += answer.namespaces
            more = answer.more
        return [form.labels_of(each) for each in found]
