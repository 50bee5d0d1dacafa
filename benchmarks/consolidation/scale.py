"""`cairn bench consolidation-scale`: how long one workspace takes, and whether memory stays flat.

Made-up facts with repeats and contradictions among them, remembered and embedded as the product
does, then consolidated by rules in a database of their own. Not how good the rules are: that is
`bench consolidation`.
"""

from __future__ import annotations

import os
import random
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from benchmarks.scratch import analyse, scratch_database
from cairn.cli.options import table
from cairn.enrichment.ports import NewEmbedding
from cairn.kernel.access import ALL_SCOPES, Principal, Role, Scope
from cairn.kernel.ids import new_id
from cairn.memories.items import NewMemory
from cairn.memories.kinds import MemoryKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rich.console import Console

    from benchmarks.locomo.run import Progress
    from cairn.adapters.postgres.database import Database
    from cairn.embedding.port import Embedder
    from cairn.writing.platform import Platform
    from cairn.writing.ports import OutboxRow

BATCH = 500
SLICE_SECONDS = 5.0
"""Memory is looked at so often."""

LIMIT_SECONDS = 300
"""What 10,000 memories may take on two cores."""

SEED = 20_260_501
_WHO = ("Ada", "Bo", "Carla", "Dev", "Elif", "Femi", "Greta", "Hugo", "Ines", "Jun", "Kofi", "Lena")
_DID = ("moved", "repaired", "ordered", "cancelled", "reviewed", "shipped", "refused", "tested")
_WHAT = (
    "invoices", "pumps", "contracts", "server racks", "water heaters", "travel budgets", "ladders",
    "login pages", "search indexes", "payment terminals", "meters", "folders", "desks", "cables",
)  # fmt: skip
_WHERE = (
    "Leeds", "York", "Berlin", "Lyon", "Turin", "Porto", "Ghent", "Basel", "Graz", "Malmo", "Oulu",
    "Tartu", "Riga", "Brno", "Split", "Varna", "Patras", "Cork", "Derby", "Hull",
)  # fmt: skip


@dataclass
class Unsent:
    """A dispatcher for nobody: the vectors are made here."""

    def send(self, rows: Sequence[OutboxRow]) -> None:
        """Send nothing."""


def facts(number: int) -> Iterator[str]:
    """Yield facts: seven of ten new, two said before in other words, one with another number."""
    chance = random.Random(SEED)
    said: list[tuple[str, ...]] = []
    for at in range(number):
        kind = chance.random()
        if kind < 0.7 or not said:
            parts = (
                chance.choice(_WHO), chance.choice(_DID), str(chance.randint(2, 9_000)),
                chance.choice(_WHAT), chance.choice(_WHERE), f"order {at}",
            )  # fmt: skip
            said.append(parts)
            yield _fact(parts)
            continue
        who, did, many, what, where, order = chance.choice(said)
        if kind < 0.9:
            yield f"{who} {did} {many} {what} for {order} in {where}."
        else:
            yield _fact((who, did, str(int(many) + 1), what, where, order))


def _fact(parts: tuple[str, ...]) -> str:
    who, did, many, what, where, order = parts
    return f"{who} {did} {many} {what} in {where} for {order}."


def resident_mb() -> float:
    """Return this process's resident memory now, in MB (Linux)."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 1e6


@dataclass(frozen=True, kw_only=True)
class ConsolidationScale:
    """Measures over the configured server, in a database of its own that is dropped afterwards."""

    owner_url: str
    app_url: str
    embedder: Embedder
    open_workspace: Callable[[str, str], tuple[UUID, str]]
    progress: Progress
    stopwatch: Callable[[], float]

    def run(self, rows: int) -> dict[str, Any]:
        """Return seconds, memory and counts."""
        from cairn.adapters.postgres.database import Database

        with (
            scratch_database(self.owner_url, self.app_url) as (owner_url, app_url),
            closing(Database(app_url, size=2)) as database,
            tempfile.TemporaryDirectory() as folder,
        ):
            workspace_id, _ = self.open_workspace(owner_url, "bench consolidation")
            loaded = self._load(database, Path(folder), workspace_id, rows)
            analyse(owner_url)
            return {"rows": rows, "loaded_s": loaded} | self._consolidate(
                database, Path(folder), workspace_id, rows
            )

    def _platform(self, database: Database, folder: Path) -> Platform:
        from cairn.adapters.files.keys import FileKeyStore
        from cairn.bootstrap.parts import logger, platform

        return platform(
            database,
            keys=FileKeyStore(folder / "keys.sqlite"),
            dispatcher=Unsent(),
            log=logger("bench", "CRITICAL"),
        )

    def _load(self, database: Database, folder: Path, workspace_id: UUID, rows: int) -> float:
        from cairn.memories.remember import Remember

        start = self.stopwatch()
        shared = self._platform(database, folder)
        transactions = shared.transactions
        remember = Remember(shared)
        admin = Principal(
            workspace_id=workspace_id,
            principal_id=new_id(),
            role=Role.ADMIN,
            allowed_scopes=ALL_SCOPES,
            name="bench",
        )
        texts = list(facts(rows))
        with self.progress("remember and embed", rows) as done:
            for first in range(0, rows, BATCH):
                part = texts[first : first + BATCH]
                told = remember(admin, [_memory(text) for text in part]).outcomes
                vectors = self.embedder.embed(part)
                made = {one.id: vectors[at] for at, one in enumerate(told) if one.id}
                with transactions.writing(admin) as stores:
                    stores.embeddings.store(
                        [NewEmbedding(node_id=one, vectors=[v]) for one, v in made.items()],
                        self.embedder.model.id,
                        stores.ledger.head().position,
                    )
                done(len(part))
        return round(self.stopwatch() - start, 1)

    def _consolidate(
        self, database: Database, folder: Path, workspace_id: UUID, rows: int
    ) -> dict[str, Any]:
        from cairn.bootstrap.consolidate import consolidate_client
        from cairn.consolidation.control import BeginRuns

        shared = self._platform(database, folder)
        transactions = shared.transactions
        consolidate = consolidate_client(shared, self.embedder)
        begin = BeginRuns(platform=shared, workspaces=lambda: [workspace_id])
        begun = begin(workspace_id=None, run_id=None, execution="bench")
        start, memory = self.stopwatch(), [resident_mb()]
        worked = sum(os.times()[:2])
        with self.progress("consolidate", rows) as done:
            for item in begun["clients"]:
                ids = [UUID(item[name]) for name in ("workspace_id", "run_id", "client_id")]
                found: Mapping[str, Any] = {"more": True}
                while found["more"]:
                    found = consolidate(ids[0], ids[1], ids[2], seconds=SLICE_SECONDS)
                    memory.append(resident_mb())
                    done(found.get("memories", 0))
        seconds = self.stopwatch() - start
        with transactions.reading(_system(workspace_id)) as stores:
            [run] = stores.runs.page(before=None, limit=1)
        return {
            "seconds": round(seconds, 1),
            "cpu_s": round(sum(os.times()[:2]) - worked, 1),  # of this process, not the database
            "memories_per_s": round(run.counts.get("memories", 0) / seconds, 1),
            "rss_mb": [round(item, 1) for item in memory],
            "rss_growth_mb": round(memory[-1] - memory[len(memory) // 4], 1),
            "counts": dict(run.counts),
            "within_limit": seconds * 10_000 / max(rows, 1) <= LIMIT_SECONDS,
        }


def _memory(text: str) -> NewMemory:
    return NewMemory(
        text=text, type=MemoryKind.FACT, client_id="global", importance=5, scope=Scope.ADMIN
    )


def _system(workspace_id: UUID) -> Principal:
    from cairn.kernel.access.system import system_principal

    return system_principal(workspace_id)


def show(console: Console, measured: Mapping[str, Any]) -> None:
    """Print the seconds, the memory over time and the counts."""
    console.print(
        f"[bold]{measured['rows']:,} memories[/] consolidated in {measured['seconds']} s "
        f"({measured['memories_per_s']} a second), loaded in {measured['loaded_s']} s"
    )
    trail = measured["rss_mb"]
    console.print(
        f"resident memory: {trail[0]} MB at first, {max(trail)} MB at most, {trail[-1]} MB at last"
    )
    shown = table("what", "how many")
    for name, number in sorted(measured["counts"].items()):
        shown.add_row(name.replace("_", " "), str(number))
    console.print(shown)
