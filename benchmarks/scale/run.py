"""The benchmark: for each size a database of its own, measured in a big and a small workspace."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.scale.corpus import MOTIFS, motifs, questions, rows
from benchmarks.scale.load import (
    BIG,
    SMALL,
    Loader,
    Workspace,
    shares,
    workspace_of,
)
from benchmarks.scratch import analyse, scratch_database

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from uuid import UUID

    from benchmarks.locomo.run import Progress
    from benchmarks.scale.measure import ExactSearch, Measure
    from cairn.embedding.port import Embedder, Vectors

MEASURED = (BIG, SMALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stand:
    """What stands over one scratch database: the loader, the measure and how to read it exactly.

    `index` fills OpenSearch with a workspace, where one is configured.
    """

    loader: Loader
    measure: Measure
    exact: Callable[[Workspace], ExactSearch]
    index: Callable[[Workspace], None] | None = None


@dataclass(frozen=True, kw_only=True)
class ScaleBench:
    """Measures. `stand` builds what works on a database; `open_workspace` makes one in it."""

    owner_url: str
    app_url: str
    embedder: Embedder
    open_workspace: Callable[[str, str], tuple[UUID, str]]
    stand: Callable[[str], AbstractContextManager[Stand]]
    progress: Progress
    stopwatch: Callable[[], float]
    motifs: int = MOTIFS

    def run(self, sizes: Sequence[int], *, asked: int) -> dict[str, Any]:
        """Return the report: by size and workspace, and how times grow from first to last size."""
        vectors = self._motifs()
        measured = {size: self._measured(size, vectors, asked) for size in sizes}
        return {
            "sizes": {str(size): found for size, found in measured.items()},
            "growth": growth(measured),
        }

    def _motifs(self) -> Vectors:
        texts = motifs(self.motifs)
        with self.progress("motifs", len(texts)) as done:
            vectors = self.embedder.embed(texts)
            done(len(texts))
        return vectors

    def _measured(self, size: int, vectors: Vectors, asked: int) -> dict[str, Any]:
        with (
            scratch_database(self.owner_url, self.app_url) as (owner_url, app_url),
            self.stand(app_url) as stand,
        ):
            start = self.stopwatch()
            workspaces = self._load(owner_url, stand, size, vectors)
            seconds = self.stopwatch() - start
            analyse(owner_url)
            found = {
                name: self._ask(stand, workspaces[name], questions(asked)) for name in MEASURED
            }
        return {"loaded_per_s": round(size / seconds, 1), "workspaces": found}

    def _load(
        self, owner_url: str, stand: Stand, size: int, vectors: Vectors
    ) -> Mapping[str, Workspace]:
        made: dict[str, Workspace] = {}
        with self.progress(f"load {size}", size) as done:
            for name, count in shares(size).items():
                workspace_id, key = self.open_workspace(owner_url, f"bench {name}")
                made[name] = workspace_of(name, workspace_id, key, count)
                texts = rows(count, vectors, seed=zlib.crc32(name.encode()))
                stand.loader.load(made[name], texts, done)
                if stand.index is not None:
                    stand.index(made[name])
        return made

    def _ask(self, stand: Stand, workspace: Workspace, asked: Sequence[str]) -> dict[str, Any]:
        exact = stand.exact(workspace)
        with self.progress(f"ask {workspace.name}", len(asked)) as done:
            return stand.measure.run(workspace, asked, exact, done)


def growth(measured: Mapping[int, Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """Return p50 at the largest size over p50 at the smallest, by workspace and part.

    Empty for one size: there is nothing to compare.
    """
    sizes = sorted(measured)
    if len(sizes) < 2:
        return {}
    first, last = measured[sizes[0]]["workspaces"], measured[sizes[-1]]["workspaces"]
    return {
        name: {
            part: round(last[name][part] / first[name][part], 2)
            for part in first[name]
            if part.endswith("_ms_p50") and first[name][part]
        }
        for name in first
    }
