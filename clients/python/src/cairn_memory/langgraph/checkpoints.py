# pyright: basic, reportMissingImports=false
# LangGraph is no package of this project; where it is installed, tests run this module.
"""A LangGraph checkpoint saver over Cairn: a graph goes on where it stopped, in any process."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, cast

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from cairn_memory import models, operations
from cairn_memory._call import Call
from cairn_memory.langgraph._clients import Clients, Steps

PAGE = 50
WRITES = 200
SNAPSHOTS = "counters_since_delta_snapshot"
"""What the metadata name the channels by whose value is made of what was written since one."""


class CairnSaver(BaseCheckpointSaver[int]):
    """LangGraph's checkpoints, kept in Cairn: sealed, found by no search, forgotten with a client.

    `url`, `key` and `client_id` are those of `Memory`; threads of different clients do not meet. A
    checkpoint, and what tasks write after it, may each be about 1.8 MB long as `serde` writes them.
    `ttl_seconds` is how long a thread lasts after it was last written to.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        client_id: str | None = None,
        timeout: float = 60.0,
        ttl_seconds: int | None = None,
        serde: SerializerProtocol | None = None,
    ) -> None:
        super().__init__(serde=serde)
        self._clients = Clients(url, key, client_id, timeout)
        self._client_id = client_id
        self._ttl_seconds = ttl_seconds

    def close(self) -> None:
        """Close the connections of the saver without `await`."""
        self._clients.close()

    async def aclose(self) -> None:
        """Close those of the saver with `await`, and the others."""
        await self._clients.aclose()

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint that a config names, or its thread's newest."""
        return self._clients.run(self._get(config))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Do the same with `await`."""
        return await self._clients.arun(self._get(config))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Yield checkpoints, the newest first: of a thread, or of all."""
        filters, cursor, left = _filters(config, before), None, limit
        while left is None or left > 0:
            page, cursor = self._clients.run(self._page(filters, cursor, filter))
            yield from page[:left]
            left = None if left is None else left - len(page)
            if cursor is None:
                return

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Do the same with `await`."""
        filters, cursor, left = _filters(config, before), None, limit
        while left is None or left > 0:
            page, cursor = await self._clients.arun(self._page(filters, cursor, filter))
            for each in page[:left]:
                yield each
            left = None if left is None else left - len(page)
            if cursor is None:
                return

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Keep a checkpoint, and return the config that names it."""
        return self._clients.run(self._put(config, checkpoint, metadata))

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Do the same with `await`."""
        return await self._clients.arun(self._put(config, checkpoint, metadata))

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Keep what a task wrote, so that it is not done again."""
        self._clients.run(self._put_writes(config, writes, task_id, task_path))

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Do the same with `await`."""
        await self._clients.arun(self._put_writes(config, writes, task_id, task_path))

    def delete_thread(self, thread_id: str) -> None:
        """Take a thread away, for good."""
        self._clients.run(self._remove(thread_id=thread_id))

    async def adelete_thread(self, thread_id: str) -> None:
        """Do the same with `await`."""
        await self._clients.arun(self._remove(thread_id=thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Take away what runs came to, in every thread."""
        for run_id in run_ids:
            self._clients.run(self._remove(run_id=run_id))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Do the same with `await`."""
        for run_id in run_ids:
            await self._clients.arun(self._remove(run_id=run_id))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Put all checkpoints of a thread into another one, with what tasks wrote."""
        self._clients.run(self._copy(source_thread_id, target_thread_id))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Do the same with `await`."""
        await self._clients.arun(self._copy(source_thread_id, target_thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Take away all but the newest checkpoint of each graph, and what that one is made of."""
        for thread_id in thread_ids:
            self._clients.run(self._prune(thread_id, strategy))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Do the same with `await`."""
        for thread_id in thread_ids:
            await self._clients.arun(self._prune(thread_id, strategy))

    def _get(self, config: RunnableConfig) -> Steps[CheckpointTuple | None]:
        configurable = config["configurable"]
        page = yield self._listing(
            thread_id=str(configurable["thread_id"]),
            namespace=configurable.get("checkpoint_ns", ""),
            checkpoint_id=get_checkpoint_id(config),
            limit=1,
        )
        return self._tuple_of(page.items[0]) if page.items else None

    def _page(
        self, filters: dict[str, Any], cursor: str | None, filter: dict[str, Any] | None
    ) -> Steps[tuple[list[CheckpointTuple], str | None]]:
        page = yield self._listing(**filters, limit=PAGE, cursor=cursor)
        tuples = [self._tuple_of(item) for item in page.items]
        equal = (filter or {}).items()
        matching = [
            each for each in tuples if all(each.metadata.get(key) == value for key, value in equal)
        ]
        return matching, page.next_cursor

    def _items(self, thread_id: str) -> Steps[list[models.CheckpointItem]]:
        items: list[models.CheckpointItem] = []
        cursor = None
        while True:
            page = yield self._listing(thread_id=thread_id, limit=PAGE, cursor=cursor)
            items += page.items
            cursor = page.next_cursor
            if cursor is None:
                return items

    def _listing(self, **filters: Any) -> Call[Any]:
        return operations.list_checkpoints(**filters, client_id=self._client_id)

    def _put(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata
    ) -> Steps[RunnableConfig]:
        configurable = config["configurable"]
        thread_id, namespace = str(configurable["thread_id"]), configurable.get("checkpoint_ns", "")
        whole = get_checkpoint_metadata(config, metadata)
        state = [*self._dumped(checkpoint), *self._dumped(whole)]
        run_id = whole.get("run_id")
        yield self._putting(
            thread_id=thread_id,
            namespace=namespace,
            checkpoint_id=checkpoint["id"],
            parent_id=get_checkpoint_id(config),
            run_id=None if run_id is None else str(run_id),
            data=json.dumps(state),
        )
        return _config(thread_id, namespace, checkpoint["id"])

    def _putting(self, **fields: Any) -> Call[Any]:
        fields["ttl_seconds"] = self._ttl_seconds
        present = {name: value for name, value in fields.items() if value is not None}
        body = models.CheckpointIn.model_validate(self._owned(present))
        return operations.put_checkpoint(body)

    def _put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str,
    ) -> Steps[None]:
        configurable = config["configurable"]
        place = {
            "thread_id": str(configurable["thread_id"]),
            "namespace": configurable.get("checkpoint_ns", ""),
            "checkpoint_id": configurable["checkpoint_id"],
            "task_id": task_id,
            "task_path": task_path,
        }
        rows = [
            {
                "idx": WRITES_IDX_MAP.get(channel, number),
                "channel": channel,
                "data": json.dumps(self._dumped(value)),
            }
            for number, (channel, value) in enumerate(writes)
        ]
        yield from self._put_rows(place, rows)

    def _put_rows(self, place: dict[str, Any], rows: list[dict[str, Any]]) -> Steps[None]:
        for start in range(0, len(rows), WRITES):
            body = self._owned({**place, "writes": rows[start : start + WRITES]})
            yield operations.put_checkpoint_writes(models.CheckpointWritesIn.model_validate(body))

    def _owned(self, body: dict[str, Any]) -> dict[str, Any]:
        return {**body, **({"client_id": self._client_id} if self._client_id else {})}

    def _remove(self, **which: Any) -> Steps[None]:
        yield operations.remove_checkpoints(**which, client_id=self._client_id)

    def _copy(self, source: str, target: str) -> Steps[None]:
        items = yield from self._items(source)
        for item in items:
            place = {
                "thread_id": target,
                "namespace": item.namespace,
                "checkpoint_id": item.checkpoint_id,
            }
            yield self._putting(
                **place, parent_id=item.parent_id, run_id=item.run_id, data=item.data
            )
            for (task_id, task_path), group in groupby(
                item.writes, key=lambda write: (write.task_id, write.task_path)
            ):
                rows = [write.model_dump(include={"idx", "channel", "data"}) for write in group]
                yield from self._put_rows(
                    {**place, "task_id": task_id, "task_path": task_path}, rows
                )

    def _prune(self, thread_id: str, strategy: str) -> Steps[None]:
        if strategy == "delete":
            yield from self._remove(thread_id=thread_id)
            return
        if strategy != "keep_latest":
            raise ValueError(f"There is no strategy {strategy}; there are keep_latest and delete")
        items = yield from self._items(thread_id)
        for namespace in {item.namespace for item in items}:
            tuples = [self._tuple_of(item) for item in items if item.namespace == namespace]
            needed = _needed(tuples)
            for each in tuples:
                checkpoint_id = each.checkpoint["id"]
                if checkpoint_id not in needed:
                    yield from self._remove(
                        thread_id=thread_id, namespace=namespace, checkpoint_id=checkpoint_id
                    )

    def _dumped(self, value: Any) -> tuple[str, str]:
        kind, data = self.serde.dumps_typed(value)
        return kind, base64.b64encode(data).decode("ascii")

    def _loaded(self, kind: str, data: str) -> Any:
        return self.serde.loads_typed((kind, base64.b64decode(data)))

    def _tuple_of(self, item: models.CheckpointItem) -> CheckpointTuple:
        kind, checkpoint, other_kind, metadata = json.loads(item.data)
        parent = item.parent_id
        return CheckpointTuple(
            config=_config(item.thread_id, item.namespace, item.checkpoint_id),
            checkpoint=self._loaded(kind, checkpoint),
            metadata=self._loaded(other_kind, metadata),
            parent_config=_config(item.thread_id, item.namespace, parent) if parent else None,
            pending_writes=[
                (write.task_id, write.channel, self._loaded(*json.loads(write.data)))
                for write in item.writes
            ],
        )


def _config(thread_id: str, namespace: str, checkpoint_id: str) -> RunnableConfig:
    return {
        "configurable": {
            "thread_id": thread_id,
            "checkpoint_ns": namespace,
            "checkpoint_id": checkpoint_id,
        }
    }


def _filters(config: RunnableConfig | None, before: RunnableConfig | None) -> dict[str, Any]:
    configurable = config["configurable"] if config else {}
    thread_id = configurable.get("thread_id")
    return {
        "thread_id": None if thread_id is None else str(thread_id),
        "namespace": configurable.get("checkpoint_ns"),
        "checkpoint_id": get_checkpoint_id(config) if config else None,
        "before": get_checkpoint_id(before) if before else None,
    }


def _needed(tuples: Iterable[CheckpointTuple]) -> set[str]:
    """Return the newest checkpoint, and those before it that its channels are made of."""
    by_id = {each.checkpoint["id"]: each for each in tuples}
    newest = by_id[max(by_id)]
    open_channels = set(cast("dict[str, Any]", newest.metadata.get(SNAPSHOTS) or {}))
    needed: set[str] = set()
    current: CheckpointTuple | None = newest
    while current is not None:
        needed.add(current.checkpoint["id"])
        open_channels -= current.checkpoint["channel_values"].keys()
        parent = current.parent_config
        current = by_id.get(parent["configurable"]["checkpoint_id"]) if parent else None
        if not open_channels:
            break
    return needed
