"""`cairn consolidate`: asked for, waited for, only planned, and started as the schedule does."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.unit.api.fakes import World
from tests.unit.cli.fakes import Shell

ARN = "arn:aws:states:eu-central-1:000000000000:stateMachine:cairn-local-consolidation"


@dataclass
class Machines:
    """Step Functions and EventBridge: one rule, and executions that end after some looks."""

    ends: str = "SUCCEEDED"
    looks: int = 2
    started: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def list_targets_by_rule(self, *, Rule: str) -> dict[str, Any]:
        assert Rule == "cairn-local-consolidation"
        return {"Targets": [{"Arn": ARN, "Input": '{"trigger":"schedule"}'}]}

    def start_execution(self, *, stateMachineArn: str, input: str) -> dict[str, Any]:
        self.started.append((stateMachineArn, input))
        return {"executionArn": f"{ARN}:one"}

    def describe_execution(self, *, executionArn: str) -> dict[str, Any]:
        self.looks -= 1
        return {"status": "RUNNING" if self.looks > 0 else self.ends}


def scheduled(machines: Machines) -> Shell:
    return Shell(
        settings={"consolidation_machine_arn": ARN},
        aws={"stepfunctions": machines, "events": machines},
    )


def test_a_run_is_asked_for_and_named() -> None:
    shell = Shell()
    shown = shell.run("consolidate", "--client", "acme")
    assert shown.exit_code == 0
    assert shell.world.runs.clients == ["acme"]
    assert "is waiting" in shown.stdout


def test_waiting_shows_what_was_done_what_it_cost_and_what_is_left() -> None:
    shell = Shell()
    shell.world.runs.states = ["waiting", "running", "finished"]
    shown = shell.run("consolidate", "--wait")
    assert shown.exit_code == 0
    assert len(shell.slept) == 2
    for expected in ("merged into one", "superseded by a merge", "0.0000 USD", "insights"):
        assert expected in shown.stdout


def test_a_run_that_failed_is_an_exit_status() -> None:
    shell = Shell()
    shell.world.runs.states = ["failed"]
    shown = shell.run("consolidate", "--wait", "--json")
    assert (shown.exit_code, json.loads(shown.stdout)["state"]) == (1, "failed")


def test_waiting_ends_when_nobody_is_at_work() -> None:
    shell = Shell(world=World(remaining=6_000))
    shell.world.runs.states = ["waiting"]
    shown = shell.run("consolidate", "--wait")
    assert shown.exit_code == 1
    assert "the run is waiting" in shown.stderr


def test_a_dry_run_shows_the_plan() -> None:
    shell = Shell()
    shown = shell.run("consolidate", "--dry-run")
    assert shown.exit_code == 0
    assert "nothing was changed" in shown.stdout
    assert "merge" in shown.stdout
    assert shell.world.runs.made == {}


def test_what_the_schedule_starts_is_started_with_its_input() -> None:
    machines = Machines()
    shown = scheduled(machines).run("consolidate", "--scheduled", "--wait", "--json")
    assert shown.exit_code == 0
    assert machines.started == [(ARN, '{"trigger":"schedule"}')]
    assert json.loads(shown.stdout)["status"] == "SUCCEEDED"


def test_an_execution_that_failed_is_an_exit_status() -> None:
    shown = scheduled(Machines(ends="FAILED")).run("consolidate", "--scheduled", "--wait")
    assert shown.exit_code == 1


@pytest.mark.parametrize("option", [("--client", "acme"), ("--dry-run",)])
def test_the_schedule_takes_no_choice(option: tuple[str, ...]) -> None:
    assert scheduled(Machines()).run("consolidate", "--scheduled", *option).exit_code == 2


def test_without_the_machine_it_says_what_is_missing() -> None:
    shown = Shell(world=World()).run("consolidate", "--scheduled")
    assert (shown.exit_code, "CAIRN_CONSOLIDATION_MACHINE_ARN" in shown.stderr) == (1, True)
