"""`cairn forget`: what it asks for, what it prints, and its exit status."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.unit.api.fakes import World
from tests.unit.api.forget_fakes import FORGETTING
from tests.unit.cli.fakes import Shell

from cairn.forgetting.forget import Target


@dataclass
class Pages:
    """A paginator of one page."""

    page: dict[str, Any]

    def paginate(self, **_: Any) -> list[dict[str, Any]]:
        return [self.page]


@dataclass
class Cloud:
    """Queues and executions whose contents a test chooses."""

    bodies: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def clients(self) -> dict[str, Any]:
        return dict.fromkeys(("sqs", "stepfunctions", "logs"), self)

    def get_paginator(self, name: str) -> Pages:
        if name == "list_queues":
            return Pages({"QueueUrls": list(self.bodies)})
        return Pages({"events": self.events})

    def receive_message(self, *, QueueUrl: str, **_: Any) -> dict[str, Any]:
        found = self.bodies[QueueUrl]
        return {"Messages": [{"MessageId": item, "Body": item} for item in found]}

    def list_state_machines(self) -> dict[str, Any]:
        return {"stateMachines": [{"name": "cairn-local-ingestion", "stateMachineArn": "m"}]}

    def list_executions(self, **_: Any) -> dict[str, Any]:
        return {"executions": [{"executionArn": "e"}]}

    def describe_log_groups(self, **_: Any) -> dict[str, Any]:
        return {"logGroups": []}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_dry_run_only_lists() -> None:
    world = World()
    shown = Shell(world=world).run("forget", "--subject", "client:acme", "--dry-run", "--json")
    assert shown.exit_code == 0
    assert json.loads(shown.stdout)["plan"]["counts"] == {"node.Memory": 1}
    assert world.forgets.forgotten == []


def test_a_proof_is_made_before_and_after_and_looks_beside_the_api() -> None:
    world = World()
    shell = Shell(world=world, aws=Cloud().clients())
    shown = shell.run("forget", "--subject", "client:acme", "--prove", "--canary", "xyz", "--json")
    assert shown.exit_code == 0, shown.output
    told = json.loads(shown.stdout)
    assert told["after"]["clean"]
    assert {place["store"] for place in told["after"]["places"]} >= {
        "postgresql",
        "queues",
        "step-functions",
        "logs",
    }
    assert world.forgets.canaries == [("xyz", "acme"), ("xyz", "acme")]
    assert [target for target, _ in world.forgets.forgotten] == [Target(owner=("client", "acme"))]


@pytest.mark.parametrize(
    "cloud",
    [
        Cloud(bodies={"https://sqs/cairn-embed": ["about Acme"]}),
        Cloud(bodies={"https://sqs/cairn-embed-dlq": ["about Acme"]}),
        Cloud(events=[{"input": "about Acme"}]),
    ],
)
def test_what_is_left_in_a_queue_or_a_history_is_found(cloud: Cloud) -> None:
    shown = Shell(world=World(), aws=cloud.clients()).run(
        "forget", "--subject", "client:acme", "--prove"
    )
    assert shown.exit_code == 1
    assert "something is there" in shown.output


def test_what_is_left_in_a_log_is_found(elsewhere: Path) -> None:
    log = elsewhere / ".local" / "logs" / "api.log"
    log.parent.mkdir(parents=True)
    log.write_text("an ACME line\n", encoding="utf-8")
    shell = Shell(world=World(), aws=Cloud().clients())
    shown = shell.run("forget", "--subject", "client:acme", "--prove")
    assert shown.exit_code == 1
    assert "laptop files" in shown.output


def test_without_a_proof_it_says_what_was_done() -> None:
    shown = Shell(world=World()).run("forget", "--subject", "client:acme", "--yes")
    assert shown.exit_code == 0
    assert str(FORGETTING) in shown.output


@pytest.mark.parametrize(
    "given",
    [
        (),
        ("--subject", "acme"),
        ("--subject", "agent:x"),
        ("--subject", "client:"),
        ("--subject", "client:acme", "--source", "x"),
    ],
)
def test_what_names_nobody_or_two_is_a_usage_error(given: tuple[str, ...]) -> None:
    world = World()
    assert Shell(world=world).run("forget", *given).exit_code == 2
    assert world.forgets.forgotten == []


def test_nobody_unknown_is_a_failure() -> None:
    shown = Shell(world=World()).run("forget", "--subject", "person:nobody")
    assert shown.exit_code == 1
