"""Runs workflows as their machine does, in this process: its states, the deployed functions."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import jsonata
from tests.support.embedding import HashingEmbedder
from tests.support.front import ROOT, Cloud, Front, function

from cairn.bootstrap import retrieve

if TYPE_CHECKING:
    from types import ModuleType

    import pytest

FILE = ROOT / "statemachines" / "workflow.asl.json"
FUNCTIONS = {"${PlanFunctionArn}": "plan", "${RetrieveFunctionArn}": "retrieve"}
FUNCTIONS["${ActFunctionArn}"] = "act"
MOST_STATES = 200


class Died(Exception):
    """The process was killed; the machine calls the step again."""


def embed_by_hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the retrieve function embed without a model."""
    monkeypatch.setattr(retrieve, "embedder", lambda _: HashingEmbedder())


@dataclass
class Machine:
    """The state machine over the functions; `calls` are the steps that it asked for."""

    cloud: Cloud
    calls: list[str] = field(default_factory=list[str])
    loaded: dict[str, ModuleType] = field(default_factory=dict[str, "ModuleType"])

    def work(self) -> list[str]:
        """Run every execution that was started; return the states they ended in."""
        ended: list[str] = []
        while self.cloud.executions:
            execution = self.cloud.executions.pop(0)
            assert execution["stateMachineArn"] == "arn:workflow"
            ended.append(self.run(json.loads(execution["input"])))
        return ended

    def run(self, given: dict[str, Any]) -> str:
        """Walk the states of one execution."""
        states = json.loads(FILE.read_text(encoding="utf-8"))["States"]
        ids = {name: given[name] for name in ("workspace_id", "workflow_run_id", "run")}
        name, answer = states["Accept"]["Next"], dict[str, Any]()
        for _ in range(MOST_STATES):
            state = states[name]
            if state["Type"] == "Choice":
                name = self._chosen(state, answer)
            elif state["Type"] == "Task":
                payload = state["Arguments"]["Payload"]
                step = payload["step"] if "{%" not in payload["step"] else answer["next"]
                caller = FUNCTIONS[state["Arguments"]["FunctionName"]]
                answer = self.call(caller, {"step": step, **ids})
                name = state["Next"]
            else:
                return str(answer["next"])
        raise AssertionError("the machine goes in circles")

    def call(self, caller: str, event: dict[str, Any]) -> dict[str, Any]:
        """Call a function; one that died is called again, as the machine does."""
        if caller not in self.loaded:
            self.loaded[caller] = function(caller)
        self.calls.append(event["step"])
        try:
            return self.loaded[caller].handler(event, None)
        except Exception as error:
            if type(error).__name__ != Died.__name__:  # a function tells no more of it
                raise
            return self.call(caller, event)

    @staticmethod
    def _chosen(state: dict[str, Any], answer: dict[str, Any]) -> str:
        for choice in state["Choices"]:
            condition = choice["Condition"].strip("{}% ")
            holds = jsonata.Jsonata(condition.replace("$states.input.", "")).evaluate(answer)
            if holds:
                return choice["Next"]
        return state["Default"]


def make(front: Front, *steps: dict[str, Any], name: str = "flow") -> dict[str, Any]:
    """Make a workflow of steps."""
    body = {"name": name, "description": "", "steps": list(steps)}
    made: dict[str, Any] = front.call("POST", "/v1/workflows", json=body)
    return made


def begin(front: Front, name: str = "flow", **given: str) -> str:
    """Begin a run and return its id."""
    run = front.call("POST", f"/v1/workflows/{name}/runs", json={"input": given})
    return str(run["id"])


def shown(front: Front, run_id: str) -> dict[str, Any]:
    run: dict[str, Any] = front.call("GET", f"/v1/workflow-runs/{run_id}")
    return run
