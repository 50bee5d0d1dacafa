"""The targets that a newcomer and the continuous integration rely on are there."""

import os
import subprocess

import pytest
from infra.local.layout import PROJECT

TARGETS = ["run", "test", "stop", "status", "logs", "reset", "check", "synth", "deploy"]
TARGETS += ["migrate", "help"]


def make(*arguments: str) -> str:
    done = subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_make_alone_lists_every_target_with_a_line_about_it() -> None:
    listed = dict(line.split(maxsplit=1) for line in make().splitlines())
    assert set(TARGETS) <= set(listed)
    assert all(len(line) > 10 for line in listed.values())


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_makes_the_environment_first(target: str) -> None:
    planned = make("--dry-run", target)
    assert target == "help" or planned.splitlines()[0].endswith("infra/local/bootstrap.py")


def test_continuous_integration_runs_check_then_test() -> None:
    script = PROJECT / ".ci" / "run"
    lines = script.read_text(encoding="utf-8").splitlines()
    assert os.access(script, os.X_OK)
    assert [line for line in lines if line.startswith("make ")] == ["make check", "make test"]


def test_reset_without_a_terminal_deletes_nothing() -> None:
    done = subprocess.run(
        [PROJECT / ".venv" / "bin" / "python", "-m", "infra.local", "reset"],
        cwd=PROJECT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "nothing was deleted" in done.stdout
