"""`cairn reindex`, and where the other commands say that it is due."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from tests.unit.api.fakes import AGENT_KEY, World
from tests.unit.api.vector_fakes import MODEL, VectorWorld
from tests.unit.cli.fakes import AppTransport, Shell

from cairn.kernel.access import Principal
from cairn.reading.views import Status


@dataclass
class Embedding(World):
    """Each look at its status shows the next of `states`, (waiting, failed); the last one stays."""

    states: Sequence[tuple[int, int]] = field(default_factory=lambda: [(0, 0)])
    looks: int = 0

    def get_status(self, principal: Principal, /) -> Status:
        waiting, failed = self.states[min(self.looks, len(self.states) - 1)]
        self.looks += 1
        found = super().get_status(principal)
        return replace(found, pending_embeddings=waiting, failed_embeddings=failed)


def lacking(*parts: int, waiting: int = 0, states: Sequence[tuple[int, int]] = ()) -> Embedding:
    vectors = VectorWorld(parts=list(parts), waiting=waiting)
    states = states or [(sum(parts), 0)]
    return Embedding(vectors=vectors, states=states, remaining=6_000)


def test_every_part_of_the_workspace_is_asked_for_in_turn() -> None:
    world = lacking(5_000, 5_000, 17)
    shown = Shell(world=world).run("reindex", "--json")
    assert shown.exit_code == 0
    assert json.loads(shown.stdout) == {
        "model": MODEL,
        "missing": 10_017,
        "queued": 10_017,
        "pending_embeddings": 10_017,
        "failed_embeddings": 0,
    }
    assert len(world.vectors.asked) == len(set(world.vectors.asked)) == 3


def test_without_wait_it_says_what_waits_and_returns() -> None:
    shell = Shell(world=lacking(3))
    assert "3 of them queued just now; 3 wait, 0 failed" in shell.run("reindex").stdout
    assert shell.slept == []


def test_with_wait_it_returns_when_nothing_waits() -> None:
    shell = Shell(world=lacking(200, states=[(200, 0), (200, 0), (100, 0), (0, 0)]))
    shown = shell.run("reindex", "--wait", "--json")
    assert (shown.exit_code, json.loads(shown.stdout)["pending_embeddings"]) == (0, 0)
    assert len(shell.slept) == 3


def test_waiting_ends_where_only_failed_work_is_left() -> None:
    shell = Shell(world=lacking(200, states=[(200, 0), (100, 100)]))
    shown = shell.run("reindex", "--wait")
    assert (shown.exit_code, "cairn redrive" in shown.stderr) == (1, True)


def test_waiting_goes_on_as_long_as_something_moves() -> None:
    slow = [(left, 0) for left in range(9, 0, -1) for _ in range(200)] + [(0, 0)]
    assert Shell(world=lacking(9, states=slow)).run("reindex", "--wait").exit_code == 0


def test_waiting_is_given_up_when_nothing_moves() -> None:
    shown = Shell(world=lacking(9, states=[(9, 0)])).run("reindex", "--wait")
    assert (shown.exit_code, "9 nodes wait for their vector" in shown.stderr) == (1, True)
    assert "cairn doctor" in shown.stderr


def test_a_key_of_an_agent_is_refused_in_one_line() -> None:
    world = lacking(9)
    shown = Shell(world=world, settings={"api_key": AGENT_KEY}).run("reindex")
    assert (shown.exit_code, len(shown.stderr.splitlines())) == (1, 1)
    assert world.vectors.asked == []


@pytest.mark.parametrize("command", ["status", "up"])
def test_nodes_that_nobody_embeds_are_told_with_the_command(command: str) -> None:
    shown = Shell(world=lacking(9, waiting=2)).run(command)
    assert shown.exit_code == 0
    assert f"7 nodes have no vector of {MODEL}: cairn reindex --wait" in shown.stdout
    assert "cairn reindex" not in Shell(world=lacking(2, waiting=2)).run(command).stdout


def test_doctor_names_them_and_what_to_do() -> None:
    def finding(world: World, **settings: str) -> dict[str, object]:
        shown = Shell(world=world, settings=dict(settings)).run("doctor", "--json")
        return next(
            check for check in json.loads(shown.stdout)["checks"] if check["name"] == "vectors"
        )

    bad = finding(lacking(1))
    assert (bad["ok"], bad["says"]) == (False, f"1 node has no vector of {MODEL}")
    assert bad["advice"] == "embed them: cairn reindex --wait"
    assert finding(lacking(2, waiting=2))["ok"] is True
    assert finding(lacking(1), api_key=AGENT_KEY)["ok"] is True


def test_a_stack_is_up_whatever_key_the_shell_has() -> None:
    world = lacking(1)
    shell = Shell(world=world, settings={"api_key": "cairn_gone.revoked"})
    assert shell.run("up").exit_code == 0
    agents = AppTransport(world)
    shown = Shell(world=world, settings={"api_key": AGENT_KEY}, transport=agents).run("status")
    assert (shown.exit_code, "GET /v1/reindex" in agents.seen) == (0, False)
