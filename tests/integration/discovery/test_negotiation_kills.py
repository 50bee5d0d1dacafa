"""Kill -9 of the processes that go on with negotiations: each ends once, in one outcome.

`NEGOTIATIONS=1000` opens a thousand of them instead of twenty-four, and prints how it went.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.discovery.test_negotiations import CLONED, begin
from tests.plugins.waiting import eventually
from tests.support.front import Cloud, Front, environment, stand_in_for_aws
from tests.support.negotiating import Scene, scene_of
from tests.support.world import open_world

from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.plugins.postgres import Database

ROOT = Path(__file__).parents[3]
MANY = int(os.environ.get("NEGOTIATIONS", "24"))
WORKERS = 2
KILLS = 2 if MANY < 500 else 20
RUN = "import handler; handler.handler({'step': 'start_workflows'}, None)"
"""What the schedule sends, to the function as it is deployed."""


@dataclass
class Workers:
    """Processes that each run the schedule once; those killed are replaced."""

    env: dict[str, str]
    alive: list[subprocess.Popen[bytes]] = field(default_factory=list[subprocess.Popen[bytes]])
    killed: int = 0

    def fill(self) -> None:
        self.alive = [each for each in self.alive if each.poll() is None]
        while len(self.alive) < WORKERS:
            self.alive.append(
                subprocess.Popen(
                    [sys.executable, "-c", RUN],
                    env=self.env,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            )

    def kill(self) -> None:
        """Kill one that is at it."""
        victim = self.alive.pop(0)
        victim.kill()
        victim.wait()
        self.killed += 1

    def stop(self) -> None:
        for each in self.alive:
            each.kill()
            each.wait()


pytestmark = pytest.mark.timeout(1_200)


@pytest.fixture
def scene(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    for name, value in environment(database.app_url, tmp_path).items():
        monkeypatch.setenv(name, value)
    stand_in_for_aws(monkeypatch, Cloud())
    world = open_world(database.owner_url, database.app_url, f"kills {new_id()}")
    yield scene_of(Front(world.key), database)
    world.pool.close()


@pytest.fixture
def workers(scene: Scene) -> Iterator[Workers]:
    folders = [str(ROOT / "functions" / "audit"), str(ROOT / "shared")]
    workers = Workers(env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)})
    yield workers
    workers.stop()


def count(scene: Scene, statement: str) -> int:
    return scene.sql(statement)[0][0]


ENDED = "SELECT count(*) FROM negotiation WHERE workspace_id = %(w)s AND state = 'ended'"
CONNECTIONS = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'cairn_app'"


def opened(scene: Scene) -> None:
    """As many at once as are wanted, each parked for its side's own agent, which is there."""
    source, target = scene.join("ingunn"), scene.join("tor")
    source.here()
    begin(source, scene.meet(source, target))
    before = count(scene, CONNECTIONS)
    scene.sql(CLONED, count=MANY)
    scene.sql("UPDATE negotiation SET deadline = now() + interval '1 minute'")
    parked = "SELECT count(*) FROM negotiation WHERE workspace_id = %(w)s AND state = 'open'"
    assert count(scene, parked) == MANY
    assert count(scene, CONNECTIONS) == before  # what waits holds none


def go_through(scene: Scene, workers: Workers) -> None:
    """Let workers go on until each has ended, and kill one again and again on the way.

    With each, all claims pass at once, those of who still works too: two may be at the same one.
    """
    marks = [MANY * (place + 1) // (KILLS + 1) for place in range(KILLS)]
    window = time.monotonic() + 900

    def over() -> bool:
        ended = count(scene, ENDED)
        if marks and ended >= marks[0]:
            marks.pop(0)
            workers.kill()
            scene.sql("UPDATE negotiation SET retry_at = now() WHERE retry_at > now()")
        if ended == MANY:
            return True
        workers.fill()
        return False

    eventually(over, seconds=window - time.monotonic(), what="the end of each")


def test_each_of_many_open_at_once_ends_once_though_workers_are_killed_in_the_middle(
    scene: Scene, workers: Workers, capsys: pytest.CaptureFixture[str]
) -> None:
    opened(scene)
    scene.sql("UPDATE negotiation SET deadline = now()")  # their windows pass together
    began = time.monotonic()
    workers.fill()
    go_through(scene, workers)
    took = time.monotonic() - began
    assert workers.killed == KILLS
    outcomes = scene.sql(
        "SELECT n.outcome, o.state, n.seq, count(*) FROM negotiation n JOIN opportunity o"
        " ON o.id = n.opportunity_id WHERE n.workspace_id = %(w)s GROUP BY 1, 2, 3"
    )
    assert sorted(outcomes) == expected(outcomes)
    assert sum(row[3] for row in outcomes) == MANY
    assert ledger(scene, "negotiation.ended") == (MANY, MANY)
    assert ledger(scene, "negotiation.turn") == (2 * MANY, MANY)
    turns = "SELECT count(*), count(DISTINCT (negotiation_id, seq)) FROM negotiation_turn"
    assert scene.sql(turns) == [(2 * MANY, 2 * MANY)]
    moved = (
        "SELECT count(*), count(DISTINCT meta::jsonb ->> 'opportunity_id') FROM ledger"
        " WHERE workspace_id = %(w)s AND type = 'opportunity.moved'"
        " AND meta::jsonb ->> 'from' = 'negotiating'"
    )
    assert scene.sql(moved) == [(MANY, MANY)]
    with capsys.disabled():
        if "NEGOTIATIONS" in os.environ:
            told = f"\n{MANY} negotiations, {workers.killed} kills, {took:.0f} s: {outcomes}\n"
            sys.stdout.write(told)


def expected(outcomes: list[Any]) -> list[Any]:
    """All accepted, and proposed: to its beginner, or to both."""
    return sorted(
        row for row in outcomes if row[:3] in {("accepted", "draft", 2), ("accepted", "pending", 2)}
    )


def ledger(scene: Scene, type_: str) -> tuple[int, int]:
    """How many entries of a type there are, and of how many negotiations."""
    statement = (
        "SELECT count(*), count(DISTINCT meta::jsonb ->> 'negotiation_id') FROM ledger"
        " WHERE workspace_id = %(w)s AND type = %(type)s"
    )
    return scene.sql(statement, type=type_)[0]
