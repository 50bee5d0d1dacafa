"""`cairn memory export|import` of memories over a real ledger: out, in, and out again the same."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.consolidate_and_die import stand_in
from tests.support.embedding import HASHING
from tests.support.platform import platform_of
from tests.support.remembering import NOON, Remembering, admin_of, fact
from tests.unit.api.fakes import World
from tests.unit.cli.fakes import Shell

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.kernel.access import Principal, Scope
from cairn.kernel.access.allowances import NO_LOAD, Load
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id
from cairn.memories.delete import DeleteMemory
from cairn.memories.items import NewMemory, Remembered
from cairn.memories.kinds import MemoryKind
from cairn.reading.browse import Browse
from cairn.reading.views import Admission, MemoryFilter, MemoryView, Page, RateDecision
from cairn.writing.items import IdempotencyKey

if TYPE_CHECKING:
    from tests.plugins.postgres import Database


@dataclass
class Deployment(World):
    """The API whose memories are in PostgreSQL."""

    system: Any = None
    browse: Any = None
    sizes: list[int] = field(default_factory=list[int])

    def admit(self, key: str, load: Load = NO_LOAD, /) -> Admission:
        rate = RateDecision(allowed=True, limit=600, remaining=600, retry_after=0.0)
        return Admission(principal=self.system.principal, rate=rate)

    def remember(
        self,
        principal: Principal,
        memories: tuple[NewMemory, ...],
        *,
        idempotency: IdempotencyKey | None,
    ) -> Remembered:
        self.sizes.append(len(memories))
        return self.system.remember(principal, memories, idempotency=idempotency)

    def list_memories(
        self, principal: Principal, where: MemoryFilter, *, limit: int, after: int | None
    ) -> Page[MemoryView]:
        return self.browse.list_memories(principal, where, limit=limit, after=after)


@dataclass
class Place:
    """A workspace with a command line."""

    database: "Database"
    pool: Pool
    folder: Path
    system: Any = None

    def __post_init__(self) -> None:
        if self.system is None:
            name = f"memories-{new_id()}"
            found, _ = create_workspace(self.database.owner_url, name, clock=utc_now, new_id=new_id)
            self.system = Remembering(
                transactions=StoreTransactions(self.pool),
                principal=admin_of(found),
            )
        browse = Browse(transactions=StoreTransactions(self.pool))
        self.world = Deployment(system=self.system, browse=browse)
        self.shell = Shell(world=self.world)

    def exported(self, name: str = "out.ndjson") -> bytes:
        path = self.folder / name
        shown = self.shell.run("memory", "export", "--out", str(path), "--json")
        assert shown.exit_code == 0, shown.output
        return path.read_bytes()

    def imported(self, content: bytes, *more: str) -> dict[str, Any]:
        path = self.folder / "in.ndjson"
        path.write_bytes(content)
        shown = self.shell.run("memory", "import", str(path), "--json", *more)
        assert shown.exit_code == 0, shown.output
        return json.loads(shown.stdout)

    def entries(self) -> int:
        with self.system.transactions.reading(self.system.principal) as stores:
            return stores.ledger.head().position


@pytest.fixture(scope="module")
def pool(database: "Database") -> Iterator[Pool]:
    with database.connect_as_superuser() as root:
        root.execute(
            """INSERT INTO embedding_model (id, name, dimensions) VALUES (%s, %s, %s)
               ON CONFLICT DO NOTHING""",
            (HASHING.id, HASHING.name, HASHING.dimensions),
        )
    opened = Pool(database.app_url, size=4)
    yield opened
    opened.close()


@pytest.fixture
def places(database: "Database", pool: Pool, tmp_path: Path) -> tuple[Place, Place]:
    return Place(database, pool, tmp_path), Place(database, pool, tmp_path)


def at(hours: float) -> dict[str, Any]:
    return {"occurred_at": NOON + timedelta(hours=hours)}


def lived() -> list[NewMemory]:
    """Chains that came in order and late, a fact that holds again, messages, all that can be."""
    stack = {"key": "stack", "client_id": "acme"}
    ticket = {"type": MemoryKind.STATUS, "subject": "ZD-1"}
    talk = {"type": MemoryKind.EVENT, "session_id": "standup", "trace_id": "t-1"}
    return [
        fact("Acme runs on Next.js.", **stack, **at(3)),
        fact("Acme runs on Rails.", **stack, **at(1)),  # late: takes its place before
        fact("Acme runs on Rails.", **stack, occurred_at=NOON, valid_from=NOON + timedelta(days=9)),
        fact("Both began at once.", key="tie", **at(5)),
        fact("Only this holds.", key="tie", occurred_at=NOON, valid_from=NOON + timedelta(hours=5)),
        fact("The ticket is open.", status_value="open", **{**ticket, **at(1)}),
        fact("The ticket is closed.", status_value="closed", **{**ticket, **at(2)}),
        *(fact(f"Dana said {n} 🏔.", sequence=n, **{**talk, **at(7)}) for n in (2, 1, 3)),
        fact(
            "All that can be said.",
            agents=("scout", "clerk"),
            scope=Scope.PUBLIC,
            category="procedural",
            knowledge_category="meeting",
            source_agent="scout",
            importance=9,
            confidence=0.35,
            valid_to=NOON + timedelta(days=30),
            metadata={"a": 0.5, "b": [2**60, {"$number": "7"}], "ü": None, "c": 1e300},
            **at(8),
        ),
    ]


def test_an_export_goes_into_an_empty_workspace_and_comes_out_the_same(
    places: tuple[Place, Place],
) -> None:
    here, there = places
    for item in lived():
        here.system.tell_one(item)
    whole = here.exported()
    assert whole.count(b'"kind":"memory"') == len(lived())
    assert whole.count(b'"state":"superseded"') == 4
    empty = there.entries()
    tried = there.imported(whole, "--dry-run")
    assert (tried["memories"], tried["changed"], there.entries()) == (11, 0, empty)
    done = there.imported(whole)
    assert (done["changed"], done["refused"]) == (11, [])
    assert there.exported("again.ndjson") == whole
    before = there.entries()
    assert there.imported(whole)["changed"] == 0
    assert there.entries() == before


def test_many_memories_go_page_by_page(places: tuple[Place, Place]) -> None:
    here, there = places
    here.system.tell(*(fact(f"Fact number {n:04}.", **at(n % 3)) for n in range(250)))
    whole = here.exported()
    assert there.imported(whole)["changed"] == 250
    assert there.world.sizes == [100, 100, 50]
    assert there.exported("again.ndjson") == whole


def test_no_id_of_the_deployment_and_nothing_hidden_is_in_the_file(
    places: tuple[Place, Place],
) -> None:
    here, _ = places
    kept = here.system.tell_one(fact("The hut has twelve beds.", data_subjects=("ada@x.org",)))
    gone = here.system.tell_one(fact("The hut burned down."))
    delete = DeleteMemory(platform_of(here.system.transactions, dispatcher=here.system.sent))
    delete(here.system.principal, gone.id)
    whole = here.exported().decode()
    assert "twelve beds" in whole
    for hidden in (str(kept.id), "ada@x.org", "burned", str(here.system.principal.workspace_id)):
        assert hidden not in whole


def test_memories_that_differ_in_whose_data_they_are_become_one(
    places: tuple[Place, Place],
) -> None:
    here, there = places
    for name in ("ada", "bob"):
        here.system.tell_one(fact("The hut has twelve beds.", data_subjects=(name,), **at(1)))
    whole = here.exported()
    assert whole.count(b'"kind":"memory"') == 1
    assert there.imported(whole)["changed"] == 1
    assert there.exported("again.ndjson") == whole


def test_merged_memories_come_back_beside_the_fact_they_were_merged_into(
    database: "Database", pool: Pool, tmp_path: Path
) -> None:
    found, _ = create_workspace(
        database.owner_url, f"merged-{new_id()}", clock=utc_now, new_id=new_id
    )
    world = stand_in(tmp_path, pool, found)
    world.tell(
        fact("The lift in the Leeds office is serviced every May.", **at(1)),
        fact("The lift in the Leeds office is serviced every May", **at(2)),
    )
    world.run()
    here, there = (
        Place(database, pool, tmp_path, system=world.system),
        Place(database, pool, tmp_path),
    )
    whole = here.exported()
    assert whole.count(b'"state":"superseded"') >= 1
    there.imported(whole)
    again = there.exported("again.ndjson")
    assert b'"state":"superseded"' not in again
    assert {_text(line) for line in again.splitlines()} == {
        _text(line) for line in whole.splitlines()
    }
    assert there.imported(whole)["changed"] == 0


def _text(line: bytes) -> str | None:
    return json.loads(line).get("text")
