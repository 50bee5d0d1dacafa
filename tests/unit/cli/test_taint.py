"""`cairn taint` and `cairn taints`."""

import json

import pytest
from tests.unit.api.taint_fakes import TAINT
from tests.unit.cli.fakes import Shell


def test_a_taint_is_asked_for_until_it_is_complete() -> None:
    shell = Shell()
    shown = shell.run("taint", "--agent", "scout", "--reason", "forged", "--json")
    told = json.loads(shown.stdout)
    assert (shown.exit_code, told["held"], told["complete"]) == (0, 6, True)
    assert [new.value for new, _ in shell.world.tainting.asked] == ["scout", "scout"]


def test_a_dry_run_needs_no_reason_and_asks_once() -> None:
    shell = Shell()
    shown = shell.run("taint", "--agent", "scout", "--dry-run")
    assert (shown.exit_code, "3 nodes would go" in shown.stdout) == (0, True)
    assert [dry for _, dry in shell.world.tainting.asked] == [True]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--reason", "why"],
        ["--agent", "a"],
        ["--agent", "a", "--session", "s", "--reason", "why"],
        ["--node", "no-id", "--reason", "why"],
    ],
)
def test_what_and_why_are_needed(arguments: list[str]) -> None:
    shell = Shell()
    assert shell.run("taint", *arguments).exit_code == 2
    assert shell.world.tainting.asked == []


def test_taints_are_listed_shown_and_lifted() -> None:
    shell = Shell()
    assert "scout" in shell.run("taints", "list").stdout
    assert "3 in quarantine" in shell.run("taints", "show", str(TAINT)).stdout
    assert json.loads(shell.run("taints", "lift", str(TAINT), "--json").stdout)["restored"] == 3
