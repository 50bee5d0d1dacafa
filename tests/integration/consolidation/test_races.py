"""What happens to memories while they are consolidated; several at once; whose batch it is."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from threading import Barrier
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from tests.support.consolidate_and_die import stand_in
from tests.support.consolidating import Consolidating
from tests.support.embedding import HASHING
from tests.support.platform import platform_of
from tests.support.remembering import NOON, fact

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.sql import query
from cairn.consolidation import control
from cairn.consolidation.heuristic import HeuristicPlanner
from cairn.consolidation.plan import Add, Batch, Clash, Flag, Pair, Plan, Supersede
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import NotFound
from cairn.kernel.ids import new_id
from cairn.ledger.verify import verify
from cairn.llm.budget import Budget
from cairn.memories.delete import DeleteMemory

if TYPE_CHECKING:
    from tests.plugins.postgres import Database


@dataclass
class Interrupted:
    """Plans by rules, and lets something happen before the plan is applied, once."""

    meanwhile: Callable[[], object]
    planner: Any = field(default_factory=HeuristicPlanner)
    done: bool = False

    def plan(self, batch: Batch, neighbours: Sequence[Pair], budget: Budget | None = None) -> Plan:
        plan = self.planner.plan(batch, neighbours)
        if not self.done:
            self.done = True
            self.meanwhile()
        return plan


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
def opened(database: "Database", pool: Pool, tmp_path: Path) -> Callable[..., Consolidating]:
    """Makes workspaces of their own, whose keys are in one file."""

    def make(**given: Any) -> Consolidating:
        workspace_id, _ = create_workspace(
            database.owner_url, f"race-{new_id()}", clock=utc_now, new_id=new_id
        )
        return stand_in(tmp_path, pool, workspace_id, **given)

    return make


PAIR = (
    "The lift in the Leeds office is serviced every May.",
    "The lift in the Leeds office is serviced every May",
)


def told_pair(world: Consolidating, **changes: Any) -> list[UUID]:
    return world.tell(*(fact(item, **changes) for item in PAIR))


def applied(world: Consolidating) -> list[dict[str, Any]]:
    return [entry.meta for entry in world.entries() if entry.type == "consolidation.applied"]


def states(world: Consolidating) -> Counter[str]:
    with world.system.transactions.writing(world.system.principal) as stores:  # sees deleted ones
        rows = stores.connection.execute(
            "SELECT state FROM node WHERE workspace_id = %s AND label = 'Memory'",
            [world.workspace_id],
        ).fetchall()
    return Counter(state for (state,) in rows)


def test_a_merge_supersedes_its_sources_and_says_where_it_comes_from(
    opened: Callable[..., Consolidating],
) -> None:
    world = opened()
    told = told_pair(world)
    ended = world.run()
    assert (ended["merged"], ended["superseded"], ended["memories"]) == (1, 2, 2)
    assert states(world) == {"superseded": 2, "active": 1}
    [merged] = [row for row in world.rows().values() if row.source_agent]
    with world.system.transactions.reading(world.system.principal) as stores:
        edges = stores.connection.execute(
            "SELECT relation, target_id FROM edge WHERE source_id = %s AND view <> 'semantic'",
            [merged.id],
        ).fetchall()
    named = {(relation, target) for relation, target in edges if target in told}
    assert named == {(each, item) for each in ("DERIVED_FROM", "SUPERSEDES") for item in told}
    assert {entry.type for entry in world.entries()} >= {
        "consolidation.started",
        "consolidation.applied",
        "consolidation.finished",
    }
    waiting = [row for row in world.system.sent.rows if merged.id in row.node_ids]
    assert waiting, "the embed stage is to look at what was merged"


def test_two_at_once_do_each_batch_once(opened: Callable[..., Consolidating]) -> None:
    world = opened()
    texts = [f"Shelf {n} of the archive in York holds folder {n}." for n in range(60)]
    told = world.tell(*(fact(text) for text in (*texts, *(f"{text} " + "Yes." for text in texts))))
    both = Barrier(2)
    with ThreadPoolExecutor(2) as threads:

        def run() -> dict[str, Any]:
            both.wait()
            return world.run()

        ended = [each.result() for each in [threads.submit(run), threads.submit(run)]]
    taken = [memory for meta in applied(world) for memory in meta["memories"]]
    assert Counter(taken) == Counter(str(item) for item in told)
    assert sum(item.get("memories", 0) for item in ended) == len(told)
    assert all(item.get("state", "finished") == "finished" for item in ended)
    with world.system.transactions.reading(world.system.principal) as stores:
        head = stores.ledger.head()
    assert verify(world.entries(), workspace_id=world.workspace_id, expected=head).ok


def test_a_consolidation_that_was_faster_leaves_the_other_nothing(
    opened: Callable[..., Consolidating],
) -> None:
    world = opened()
    told_pair(world)
    slow = Consolidating(world.system, planner=Interrupted(world.run), clock=world.clock)
    ended = slow.run()
    assert ended["overtaken"] == 2
    assert not {"merged", "memories"} & set(ended)
    assert len(applied(world)) == 1


def test_a_memory_deleted_meanwhile_takes_its_merge_with_it(
    opened: Callable[..., Consolidating],
) -> None:
    world = opened()
    kept, deleted = told_pair(world)
    delete = DeleteMemory(
        platform_of(world.system.transactions, dispatcher=world.system.sent, clock=world.clock)
    )
    world.planner = Interrupted(lambda: delete(world.system.principal, deleted))
    ended = world.run()
    assert ended["overtaken"] == 1
    assert "merged" not in ended
    assert states(world) == {"active": 1, "deleted": 1}
    assert str(kept) not in [memory for meta in applied(world) for memory in meta["memories"]]
    world.run()
    assert [meta["memories"] for meta in applied(world)] == [[str(kept)]]


def test_a_subject_forgotten_meanwhile_is_skipped_and_counted(
    opened: Callable[..., Consolidating],
) -> None:
    world = opened()
    told_pair(world, data_subjects=("Ann",))
    others = told_pair(world)
    with world.system.transactions.reading(world.system.principal) as stores:
        [ann] = stores.subjects.find([("person", "Ann")]).values()
    keys = world.system.keys
    world.planner = Interrupted(lambda: keys.destroy(world.workspace_id, ann))
    ended = world.run()
    assert (ended["forgotten"], ended["merged"], ended["memories"]) == (2, 1, 2)
    assert {memory for meta in applied(world) for memory in meta["memories"]} == {
        str(other) for other in others
    }
    assert ann not in {
        subject
        for entry in world.entries()
        for subject in entry.data_subjects
        if entry.type == "consolidation.applied"
    }


def test_clocks_that_go_back_break_nothing(opened: Callable[..., Consolidating]) -> None:
    late = NOON + timedelta(days=400)
    past = iter(NOON - timedelta(days=n) for n in range(10_000))
    world = opened(clock=lambda: next(past))
    world.tell(*(fact(item, occurred_at=late) for item in PAIR))
    assert world.run()["merged"] == 1
    entries = world.entries()
    moments = [entry.recorded_at for entry in entries]
    assert moments == sorted(moments)
    with world.system.transactions.reading(world.system.principal) as stores:
        head = stores.ledger.head()
    assert verify(entries, workspace_id=world.workspace_id, expected=head).ok


@dataclass(frozen=True)
class Naming:
    """A planner that was told lies: it merges and flags memories of somebody else."""

    theirs: tuple[UUID, UUID]

    def plan(self, batch: Batch, neighbours: Sequence[Pair], budget: Budget | None = None) -> Plan:
        mine, (one, other) = batch.memories[0].id, self.theirs
        operations = (
            Add(ref="a", text=PAIR[0], sources=(one, other)),
            Supersede(by="a", sources=(one, other)),
            Add(ref="b", text=PAIR[0], sources=(mine, other)),
            Supersede(by="b", sources=(mine, other)),
            Flag(one=mine, other=one, clash=Clash.MEANING, why="so they say"),
        )
        return Plan(operations=operations, provider="model", model="m", cost_usd=None)


def test_memories_of_another_workspace_are_never_touched(
    opened: Callable[..., Consolidating],
) -> None:
    other = opened()
    one, two = told_pair(other)
    world = opened(planner=Naming((one, two)))
    told_pair(world)
    ended = world.run()
    assert ended["refused_unknown-id"] >= 3
    assert not {"merged", "flagged"} & set(ended)
    assert states(other) == {"active": 2}
    assert not [entry for entry in other.entries() if entry.type == "consolidation.applied"]
    [run] = world.browse.page(world.system.principal, before=None, limit=5)
    assert run.cost_usd is None  # nobody knows what that model costs
    with pytest.raises(NotFound):
        other.browse.show(other.system.principal, run.id)
    with pytest.raises(NotFound):
        other.begin(workspace_id=other.workspace_id, run_id=run.id, execution="e")


def test_a_dry_run_plans_and_writes_nothing_to_the_ledger(
    opened: Callable[..., Consolidating],
) -> None:
    world = opened()
    told = told_pair(world)
    before = world.position()
    plan = world.preview(world.system.principal)
    [merge] = [operation for operation in plan.operations if operation["operation"] == "merge"]
    assert {memory["id"] for memory in merge["memories"]} == {str(item) for item in told}
    assert (plan.run.counts["merged"], plan.run.cost_usd, plan.run.dry_run) == (1, 0.0, True)
    assert world.position() == before
    assert states(world) == {"active": 2}
    assert world.run()["merged"] == 1


def test_a_run_asked_for_takes_its_client_only_and_wakes_its_machine_once(
    opened: Callable[..., Consolidating],
) -> None:
    world = opened()
    told_pair(world, client_id="acme")
    told_pair(world, client_id="umbrella")
    asked = world.start(world.system.principal, client_id="acme")
    [row] = [row for row in world.system.sent.rows if row.topic == "consolidation"]
    assert row.reference == asked.id
    first, begun = (  # the machine's first step may come twice
        world.begin(workspace_id=world.workspace_id, run_id=asked.id, execution="e")
        for _ in range(2)
    )
    assert first == begun
    [item] = begun["clients"]
    ids = [UUID(item[name]) for name in ("workspace_id", "run_id", "client_id")]
    assert world.consolidate(ids[0], ids[1], ids[2], seconds=1.0)["memories"] == 2
    assert world.end.finish(ids[0], ids[1])["state"] == "finished"
    assert world.end.finish(ids[0], ids[1])["state"] == "finished"
    types = Counter(entry.type for entry in world.entries())
    assert (types["consolidation.started"], types["consolidation.finished"]) == (1, 1)
    with pytest.raises(NotFound):
        world.start(world.system.principal, client_id="nobody")


def test_a_schedule_takes_a_page_of_workspaces_and_says_where_the_next_one_begins(
    opened: Callable[..., Consolidating], monkeypatch: pytest.MonkeyPatch
) -> None:
    worlds = [opened() for _ in range(3)]
    for world in worlds:
        told_pair(world, client_id="acme")
        told_pair(world, client_id="umbrella")
    ids = sorted(world.workspace_id for world in worlds)
    begin = replace(worlds[0].begin, workspaces=lambda: ids)
    monkeypatch.setattr(control, "MAX_WORKSPACES", 2)
    first = begin(workspace_id=None, run_id=None, execution="e")
    assert [workspace["workspace_id"] for workspace in first["workspaces"]] == [
        str(id_) for id_ in ids[:2]
    ]
    assert (len(first["clients"]), first["next"]) == (4, str(ids[1]))
    monkeypatch.setattr(control, "MAX_CLIENTS", 1)
    last = begin(workspace_id=None, run_id=None, execution="f", after=UUID(first["next"]))
    assert [workspace["workspace_id"] for workspace in last["workspaces"]] == [str(ids[2])]
    assert (len(last["clients"]), last["wait"], last["next"]) == (1, 1, None)
    full = begin(workspace_id=None, run_id=None, execution="g")
    assert (len(full["workspaces"]), full["next"]) == (1, str(ids[0]))


def test_a_part_that_failed_is_kept_and_fails_the_run(
    opened: Callable[..., Consolidating],
) -> None:
    world = opened()
    told_pair(world)
    begun = world.begin(workspace_id=None, run_id=None, execution="e")
    again = world.begin(workspace_id=None, run_id=None, execution="e")
    assert again == begun  # a step that is tried again goes on with its run
    run_id = UUID(begun["workspaces"][0]["run_id"])
    cause = '{"errorMessage": "budget-usd: The budget of 1 usd is spent."}'
    failed = world.end.fail(
        world.workspace_id, run_id, error="BudgetExceeded", cause=cause, ends=False
    )
    assert failed["reason"] == "budget-usd"
    assert world.end.finish(world.workspace_id, run_id)["state"] == "failed"
    shown = world.browse.show(world.system.principal, run_id)
    assert (shown.state, shown.counts["failures"]) == ("failed", 1)
    assert shown.error is not None
    assert shown.error["detail"] == "The budget of 1 usd is spent."
    assert world.run()["merged"] == 1


def test_the_next_batch_is_found_by_its_index(
    database: "Database", opened: Callable[..., Consolidating]
) -> None:
    world = opened()
    world.tell(*(fact(f"Locker {n} is in corridor {n}.") for n in range(400)))
    with database.connect_as_superuser() as root:
        root.execute("ANALYZE node")
        root.execute("ANALYZE embedding")
    given: dict[str, Any] = {
        "workspace_id": world.workspace_id,
        "client_id": "global",
        "model_id": HASHING.id,
        "without": [],
        "limit": 50,
    }
    with world.system.transactions.reading(world.system.principal) as stores:
        rows = stores.connection.execute(
            b"EXPLAIN (ANALYZE) " + query("consolidation.next"), given
        ).fetchall()
    plan = "\n".join(line for (line,) in rows)
    of_batch = re.search(
        r"Index Scan using node_p\d+_workspace_id_client_id_scope.*rows=(\d+)", plan
    )
    assert of_batch, plan
    assert int(of_batch[1]) <= 50, plan  # it stops at a batch, however many wait
    assert "Seq Scan on node" not in plan, plan
