"""`cairn bench rebuild`: how many ledger entries a second are replayed, vectors from the cache.

In a database of its own. Memories are remembered and embedded through the use cases, by a stand-in
for the model (hashed words): what is measured asks no model.
"""

from __future__ import annotations

import random
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cairn.embedding.port import unit_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from cairn.embedding.port import EmbeddingModel, Vectors
    from cairn.rebuild.rebuild import Rebuild
    from cairn.writing.ports import OutboxRow

BATCH = 100
WORDS, SAID = 2_000, 16
NAMES = ("Redis", "PostgreSQL", "Kafka", "Kubernetes", "Terraform", "Grafana", "Python", "Docker")
DIMENSIONS = 384


@dataclass
class _HashedWords:
    """Texts that share words are near each other."""

    model: EmbeddingModel

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def load(self) -> None:
        """Nothing is to be read."""

    def windows(self, text: str, *, whole_up_to: int | None = None) -> list[str]:
        return [text]

    def embed(self, texts: Sequence[str]) -> Vectors:
        import zlib

        import numpy as np

        vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.split():
                vectors[row, zlib.crc32(word.encode()) % DIMENSIONS] += 1.0
        return unit_rows(vectors)


class _Kept:
    """A dispatcher that keeps what it was given."""

    def __init__(self) -> None:
        self.rows: list[OutboxRow] = []

    def send(self, rows: Sequence[OutboxRow]) -> None:
        self.rows.extend(rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildBench:
    """Fills a workspace of a scratch database, then replays it with and without damage."""

    owner_url: str
    app_url: str
    stopwatch: Callable[[], float]
    progress: Callable[[str], None]

    def __call__(self, entries: int) -> dict[str, Any]:
        """Return entries, seconds and rates of replaying, and of putting the rows in place."""
        from benchmarks.scratch import analyse, scratch_database
        from cairn.adapters.postgres.database import Database

        with (
            scratch_database(self.owner_url, self.app_url) as (owner_url, app_url),
            tempfile.TemporaryDirectory() as folder,
        ):
            opened = Database(app_url, size=2)
            try:
                workspace_id, rebuild = self._fill(owner_url, opened, Path(folder), entries)
                analyse(owner_url)
                return self._measure(workspace_id, rebuild)
            finally:
                opened.close()

    def _measure(self, workspace_id: UUID, rebuild: Rebuild) -> dict[str, Any]:
        self.progress("replaying …")
        began = self.stopwatch()
        while rebuild.advance(workspace_id, seconds=3600.0)["more"]:
            pass
        replayed = self.stopwatch()
        done = rebuild.finish(workspace_id)
        ended = self.stopwatch()
        if done is None:
            raise RuntimeError("nobody writes to a scratch database")
        return {
            "equal": done.equal,
            "entries": done.entries,
            "rows": sum(item.rows for item in done.after.values()),
            "replay_s": replayed - began,
            "finish_s": ended - replayed,
            "entries_per_s": done.entries / (ended - began),
        }

    def _fill(
        self, owner_url: str, opened: Any, folder: Path, entries: int
    ) -> tuple[UUID, Rebuild]:

        from cairn.adapters.files.keys import FileKeyStore
        from cairn.adapters.postgres.accounts import create_workspace
        from cairn.bootstrap.parts import logger, platform
        from cairn.embedding.models import BGE_SMALL
        from cairn.enrichment.enrich import Enrich
        from cairn.kernel.access.system import system_principal
        from cairn.kernel.clock import utc_now
        from cairn.kernel.ids import new_id
        from cairn.memories.remember import Remember

        workspace_id, _ = create_workspace(owner_url, "bench", clock=utc_now, new_id=new_id)
        keys, kept = FileKeyStore(folder / "keys.sqlite"), _Kept()
        log = logger("bench", "CRITICAL")
        from cairn.adapters.postgres.ledger.replay import PostgresReplays
        from cairn.rebuild.rebuild import Rebuild

        shared = platform(opened, keys=keys, dispatcher=kept, log=log)
        remember = Remember(shared)
        enrich = Enrich(platform=shared, embedder=_HashedWords(BGE_SMALL))
        for start in range(0, entries, BATCH):
            remember(system_principal(workspace_id), _memories(start))
            enrich.rows(workspace_id, [row.id for row in kept.rows])
            kept.rows.clear()
            self.progress(f"{start + BATCH} memories …")
        return workspace_id, Rebuild(platform=shared, replays=PostgresReplays(opened))


def _memories(start: int) -> list[Any]:
    from cairn.kernel.access import Scope
    from cairn.memories.items import NewMemory
    from cairn.memories.kinds import MemoryKind

    chance = random.Random(start)
    return [
        NewMemory(
            text=f"{chance.choice(NAMES)} "
            + " ".join(f"word{chance.randrange(WORDS)}" for _ in range(SAID)),
            type=MemoryKind.EVENT,
            client_id="bench",
            importance=5,
            scope=Scope.ADMIN,
            session_id=f"s{number // 20}",
            sequence=number % 20,
        )
        for number in range(start, start + BATCH)
    ]
