"""The items of one session as a framework keeps them: whole, in their order, found by no search.

Each row is what one call added, kept as a checkpoint. `Memory.say` is for what people say, of which
memories are drawn.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from time import time_ns
from typing import Any
from uuid import uuid4

from cairn_memory import models, operations
from cairn_memory._sync import Memory

PAGE = 50


class Turns:
    """The items of a session of a framework, each a mapping of JSON values."""

    def __init__(self, memory: Memory, framework: str, session_id: str) -> None:
        if not session_id.strip():
            raise ValueError("A session needs a name")
        self.memory = memory
        self._of: dict[str, Any] = {"thread_id": f"session/{session_id}", "namespace": framework}
        self._last = 0

    def add(self, items: Sequence[Mapping[str, Any]]) -> None:
        """Put items at the end: all of them or, with `errors.TooLarge`, none."""
        if items:
            self._put(self._next(), list(items))

    def replace(self, items: Sequence[Mapping[str, Any]]) -> None:
        """Put items in the place of all; those before stay until these are kept."""
        key = self._next()
        self._put(key, list(items))
        self._remove(before=key)

    def read(self, limit: int | None = None) -> list[Any]:
        """Return the last `limit` items, or all, in their order."""
        rows: list[list[Any]] = []
        count = 0
        for _, items in self._newest_first():
            if limit is not None and count >= limit:
                break
            rows.insert(0, items)
            count += len(items)
        whole = [item for row in rows for item in row]
        return whole if limit is None else whole[max(0, len(whole) - limit) :]

    def pop(self) -> Any:
        """Take away the last item and return it; None when there is none."""
        for key, items in self._newest_first():
            if not items:
                continue
            last = items.pop()
            if items:
                self._put(key, items)
            else:
                self._remove(checkpoint_id=key)
            return last
        return None

    def clear(self) -> None:
        """Take away all items."""
        self._remove()

    def _next(self) -> str:
        self._last = max(time_ns(), self._last + 1)
        return f"{self._last:020d}-{uuid4().hex[:8]}"

    def _put(self, key: str, items: Sequence[Any]) -> None:
        owner = {"client_id": self.memory.client_id} if self.memory.client_id else {}
        data = json.dumps(items, ensure_ascii=False, allow_nan=False)
        body = {**self._of, **owner, "checkpoint_id": key, "data": data}
        self.memory.call(operations.put_checkpoint(models.CheckpointIn.model_validate(body)))

    def _remove(self, **which: Any) -> None:
        client = self.memory.client_id
        self.memory.call(operations.remove_checkpoints(**self._of, **which, client_id=client))

    def _newest_first(self) -> Iterator[tuple[str, list[Any]]]:
        client, cursor = self.memory.client_id, None
        while True:
            page = self.memory.call(
                operations.list_checkpoints(**self._of, client_id=client, limit=PAGE, cursor=cursor)
            )
            for row in page.items:
                yield row.checkpoint_id, json.loads(row.data)
            cursor = page.next_cursor
            if cursor is None:
                return
