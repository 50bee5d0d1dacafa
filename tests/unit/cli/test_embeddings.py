"""`cairn reembed`: what is asked of the operator's side, and when the laptop is switched."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.unit.cli.fakes import FakeOperator, Shell

from cairn.cli.deps import Deps

ONE, TWO = UUID(int=1), UUID(int=2)


def compared(present: float, target: float) -> dict[str, Any]:
    def score(model: str, recall: float) -> dict[str, Any]:
        return {"model": model, "recall_at_1": recall, "recall_at_10": recall, "mrr": recall}

    return {
        "asked": 200,
        "present": score("old", present),
        "target": score("new", target),
        "overlap_at_10": 0.75,
        "hnsw_recall_at_10": None,
        "loss": present - target,
    }


@dataclass
class FakeChange:
    comparison: dict[str, Any] | None = field(default_factory=lambda: compared(0.9, 0.95))
    left: int = 0
    done: list[str] = field(default_factory=list)

    def workspaces(self) -> list[UUID]:
        return [ONE, TWO]

    def fill(self, workspace_id: UUID, report: Any = None) -> dict[str, Any]:
        self.done.append(f"fill {workspace_id.int}")
        report(1, 2)
        return {"model": "new", "nodes": 7, "embedded": 5, "passes": 2, "left": self.left}

    def compare(self, workspace_id: UUID, *, sample: int) -> dict[str, Any] | None:
        self.done.append(f"compare {workspace_id.int} with {sample}")
        return self.comparison

    def drop_others(self, workspace_id: UUID) -> int:
        self.done.append(f"drop {workspace_id.int}")
        return 14


@dataclass
class Changing(FakeOperator):
    change: FakeChange = field(default_factory=FakeChange)
    asked: list[Any] = field(default_factory=list)

    def reembedding(
        self,
        settings: Any,
        to: str,
        *,
        model_dir: Path | None,
        base_url: str | None,
        register: Any,
    ) -> FakeChange:
        self.asked.append((to, model_dir, base_url))
        return self.change


@dataclass(frozen=True)
class FakeDeployment:
    stage: str = "local"


@pytest.fixture(autouse=True)
def deployment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Deps, "deployment", lambda _: FakeDeployment())


def shell(**changes: Any) -> tuple[Shell, FakeChange]:
    change = FakeChange(**changes)
    return Shell(operator=Changing(change=change)), change


def test_every_workspace_is_filled_and_compared_and_nothing_is_switched() -> None:
    using, change = shell()
    shown = using.run("reembed", "--to", "new", "--sample", "50", "--json")
    assert shown.exit_code == 0
    told = json.loads(shown.stdout)
    assert [workspace["workspace_id"] for workspace in told["workspaces"]] == [str(ONE), str(TWO)]
    assert told["switched"] is False
    assert told["workspaces"][0]["comparison"]["target"]["recall_at_10"] == 0.95
    assert change.done == ["fill 1", "compare 1 with 50", "fill 2", "compare 2 with 50"]
    assert using.stack.calls == []


def test_the_two_models_stand_in_one_table() -> None:
    shown = shell()[0].run("reembed", "--to", "new", "--workspace", str(ONE))
    assert "7 nodes got vectors of new, 5 texts embedded, 0 left" in shown.stdout
    assert "0.900" in shown.stdout
    assert "0.950" in shown.stdout
    assert "no index" in shown.stdout


def test_a_switch_restarts_the_laptop_and_fills_once_more(tmp_path: Path) -> None:
    using, change = shell()
    shown = using.run("reembed", "--to", "new", "--model-dir", str(tmp_path), "--switch")
    assert shown.exit_code == 0
    assert using.stack.calls == [
        f"use {{'CAIRN_EMBEDDER': 'onnx', 'CAIRN_MODEL_DIR': '{tmp_path}', "
        "'CAIRN_ONNX_EMBEDDING_MODEL': 'new'}"
    ]
    assert change.done[-2:] == ["fill 1", "fill 2"]
    assert "switched" in shown.stdout


def test_a_switch_to_a_server_names_server_and_model() -> None:
    using, _ = shell()
    using.run("reembed", "--to", "new", "--base-url", "http://127.0.0.1:1/v1", "--switch")
    assert "'CAIRN_OPENAI_EMBEDDING_MODEL': 'new'" in using.stack.calls[0]
    assert "'CAIRN_OPENAI_BASE_URL': 'http://127.0.0.1:1/v1'" in using.stack.calls[0]


@pytest.mark.parametrize("changes", [{"comparison": compared(0.9, 0.8)}, {"left": 3}])
def test_a_model_that_finds_less_or_is_not_filled_is_not_switched_to(
    changes: dict[str, Any], tmp_path: Path
) -> None:
    using, _ = shell(**changes)
    shown = using.run("reembed", "--to", "new", "--model-dir", str(tmp_path), "--switch")
    assert shown.exit_code == 1
    assert using.stack.calls == []


def test_a_loss_may_be_accepted(tmp_path: Path) -> None:
    using, _ = shell(comparison=compared(0.9, 0.8))
    asked = ("reembed", "--to", "new", "--model-dir", str(tmp_path), "--switch")
    assert using.run(*asked, "--accept-loss", "0.2").exit_code == 0
    assert len(using.stack.calls) == 1


@pytest.mark.parametrize("other", [("--drop-old",), ("--workspace", str(ONE))])
def test_a_switch_is_the_whole_deployments_and_leaves_a_way_back(other: tuple[str, ...]) -> None:
    using, change = shell()
    shown = using.run("reembed", "--to", "new", "--switch", *other)
    assert shown.exit_code == 1
    assert "A deployment has one model" in shown.stderr
    assert change.done == []


def test_only_the_laptop_is_switched_by_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Deps, "deployment", lambda _: FakeDeployment(stage="prod"))
    using, change = shell()
    shown = using.run("reembed", "--to", "new", "--switch")
    assert (shown.exit_code, change.done) == (1, [])
    assert "docs/operate/models.md" in shown.stderr


def test_old_vectors_are_dropped_when_asked(tmp_path: Path) -> None:
    using, change = shell()
    shown = using.run("reembed", "--to", "new", "--drop-old")
    assert change.done[2] == "drop 1"
    assert "14 vectors of other models removed" in shown.stdout
