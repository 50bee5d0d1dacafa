"""`cairn search-index`, and what doctor says of the index."""

import json
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest
from pydantic import SecretStr
from tests.fakes.search_index import InMemorySearchIndex
from tests.support.search_index import MemorySource, document, kept_in_memory
from tests.unit.cli.fakes import FakeOperator, FakeStack, Shell

from cairn.search_index.check import KeepSearchIndex

WORKSPACE, OTHER = UUID(int=3), UUID(int=4)
CONFIGURED = {
    "opensearch_url": SecretStr("http://search.example.org"),
    "app_database_url": "postgresql://cairn_app@/cairn",
}


@dataclass
class Operator(FakeOperator):
    source: MemorySource = field(default_factory=MemorySource)
    index: InMemorySearchIndex = field(default_factory=InMemorySearchIndex)
    asked: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])

    def search_index(self, *given: str) -> KeepSearchIndex:
        self.asked.append(given)
        return kept_in_memory(self.source, self.index, WORKSPACE, OTHER)


@pytest.fixture
def operator() -> Operator:
    made = Operator()
    made.source.put(
        *(document(WORKSPACE, "harbour", position=at) for at in (1, 2, 3)),
        document(OTHER, "harbour", position=4),
    )
    return made


@pytest.fixture
def shell(operator: Operator) -> Shell:
    return Shell(settings=dict(CONFIGURED), operator=operator)


def told(shell: Shell, *arguments: str, status: int = 0) -> Any:
    shown = shell.run("search-index", *arguments, "--json")
    assert shown.exit_code == status, shown.output
    return json.loads(shown.stdout)


def test_without_an_index_repair_makes_one_and_status_shows_it(
    shell: Shell, operator: Operator
) -> None:
    assert told(shell, "status")["live"] is None
    assert [workspace["caught_up"] for workspace in told(shell, "repair")["workspaces"]] == [3, 1]
    shown = told(shell, "status")
    assert shown["live"] == "memory-000001"
    assert [workspace["pending"] for workspace in shown["workspaces"]] == [0, 0]
    assert operator.asked[0] == (
        "postgresql://cairn_app@/cairn",
        "http://search.example.org",
        "none",
    )


def test_drift_is_exit_status_one_and_names_the_nodes(shell: Shell, operator: Operator) -> None:
    told(shell, "repair")
    assert told(shell, "check")["ok"] is True
    lost = next(iter(operator.index.indexes["memory-000001"]))
    del operator.index.indexes["memory-000001"][lost]
    shown = told(shell, "check", status=1)
    assert [item for each in shown["workspaces"] for item in each["missing"]] == [str(lost)]
    plain = shell.run("search-index", "check")
    assert plain.exit_code == 1
    assert f"missing {lost}" in plain.stdout
    assert told(shell, "repair")["ok"] is True
    assert told(shell, "check")["ok"] is True


def test_one_workspace_can_be_chosen(shell: Shell) -> None:
    told(shell, "repair", "--workspace", str(OTHER))
    (only,) = told(shell, "check", "--workspace", str(OTHER))["workspaces"]
    assert only["workspace_id"] == str(OTHER)
    again = told(shell, "reindex", "--workspace", str(OTHER))
    assert [workspace["caught_up"] for workspace in again["workspaces"]] == [1]


def test_a_new_index_is_built_and_the_old_dropped(shell: Shell) -> None:
    told(shell, "repair")
    built = told(shell, "reindex")
    assert built["live"] is True
    assert (built["nodes"], built["dropped"]) == (4, ["memory-000001"])
    assert "is live with" in shell.run("search-index", "reindex").stdout


@pytest.mark.parametrize("command", ["status", "check", "repair", "reindex"])
def test_without_an_endpoint_it_says_so(command: str) -> None:
    shown = Shell().run("search-index", command)
    assert shown.exit_code == 1
    assert "PostgreSQL finds words by itself" in shown.stderr
    assert "make up OPENSEARCH=1" in shown.stderr


@pytest.mark.parametrize("command", ["status", "check", "repair", "reindex"])
def test_an_endpoint_that_does_not_answer_is_one_line(
    shell: Shell, operator: Operator, command: str
) -> None:
    operator.index.reason = "unreachable"
    shown = shell.run("search-index", command)
    assert shown.exit_code == 1
    assert "does not answer" in shown.stderr
    assert "Traceback" not in shown.output


def finding(shell: Shell) -> dict[str, Any]:
    shown = shell.run("doctor", "--json")
    return {check["name"]: check for check in json.loads(shown.stdout)["checks"]}["opensearch"]


def test_doctor_says_what_is_wrong_with_the_index(shell: Shell, operator: Operator) -> None:
    assert "reindex" in finding(shell)["advice"]
    told(shell, "repair")
    assert finding(shell)["ok"] is True
    operator.source.fail(WORKSPACE, "memory-000001", "busy", None)  # type: ignore[arg-type]
    assert "repair" in finding(shell)["advice"]
    operator.index.reason = "unreachable"
    assert finding(shell)["ok"] is False


def test_doctor_says_what_a_laptop_lacks_for_one() -> None:
    class Bare(FakeStack):
        def opensearch_needs(self) -> str:
            return "OpenSearch needs Java 17 or newer and Maven: mvn not found on the PATH"

    local = {"aws_endpoint_url": "http://127.0.0.1:4566"}
    assert "OPENSEARCH=1" in finding(Shell(settings=local))["says"]
    without = finding(Shell(settings=local, stack=Bare()))
    assert without["ok"] is True
    assert "mvn not found" in without["says"]


def test_up_starts_a_search_node_when_asked() -> None:
    shell = Shell()
    assert shell.run("up", "--opensearch").exit_code == 0
    assert shell.stack.calls == ["up with opensearch"]
