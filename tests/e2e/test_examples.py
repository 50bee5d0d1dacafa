"""The adapters and every example, run by a Python that has what their pages install."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.e2e.tenant import Tenant, open_workspace
from tests.support.chat_wire import ChatServer, Say, chat_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.plugins.laptop import Laptop

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "python"
EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/README.md"))
CHECKS = Path(__file__).with_name("adapters")
MADE = ROOT / ".local" / "examples"
ALONE = {"crewai"}
"""Whose requirements fit no others."""


def uv(*command: str | Path) -> None:
    own = ROOT / ".local" / "uv" / "bin" / "uv"
    tool = str(own) if own.exists() else shutil.which("uv")
    assert tool, "uv, which `make setup` installs"
    subprocess.run([tool, *(str(part) for part in command)], check=True, timeout=600)


def commands_of(example: Path) -> list[str]:
    """What the page tells to run: what to install, then the example."""
    found = re.search(r"```sh\n(.*?)```", (example / "README.md").read_text("utf-8"), re.DOTALL)
    assert found, example.name
    return found.group(1).splitlines()


@pytest.fixture(scope="module")
def tenant(laptop: Laptop) -> Tenant:
    return open_workspace(laptop, "examples")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built client."""
    built = tmp_path_factory.mktemp("client")
    uv("build", "--wheel", "--out-dir", built, CLIENT)
    (wheel,) = built.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def python(wheel: Path) -> Path:
    """A Python with the client and what examples and checks need that fit one another."""
    needs = sorted((ROOT / "examples").glob("*/requirements.txt"))
    together = [path for path in needs if path.parent.name not in ALONE]
    return made([*together, CHECKS / "requirements.txt"], wheel)


def made(needs: list[Path], wheel: Path) -> Path:
    """Return a Python with what is needed, made once for these versions, and the client of now."""
    text = "\n".join([sys.version, *(path.read_text("utf-8") for path in needs)])
    folder = MADE / hashlib.sha256(text.encode()).hexdigest()[:16]
    python = folder / "bin" / "python"
    if not (folder / "made").exists():
        uv("venv", "--clear", "--python", sys.executable, folder)
        options = [part for path in needs for part in ("-r", path)]
        uv("pip", "install", "--python", python, "-e", CLIENT, *options)
        uv("pip", "uninstall", "--python", python, "cairn-memory")
        (folder / "made").touch()
    uv("pip", "install", "--python", python, "--reinstall-package", "cairn-memory", wheel)
    return python


@pytest.fixture(scope="module")
def model() -> Iterator[ChatServer]:
    with chat_server() as server:
        yield server


FACT = "They are allergic to peanuts."
ASKED = (
    Say(calls=(("remember", json.dumps({"text": FACT})),)),
    Say(text="Noted."),
    Say(calls=(("recall", json.dumps({"question": "What are they allergic to?"})),)),
    Say(text="You are allergic to peanuts."),
)
"""What a model says to an example that asks one: to an example's first message, then its second."""


def run(python: Path, script: Path, tenant: Tenant, **more: str) -> str:
    known = {
        "PATH": os.environ["PATH"],
        "CAIRN_URL": tenant.base,
        "CAIRN_API_KEY": tenant.key,
        "LANGSMITH_TRACING": "false",
        **more,
    }
    ran = subprocess.run(
        [str(python), str(script)],
        env=known,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-4000:]
    return ran.stdout


@pytest.mark.parametrize("check", sorted(path.name for path in CHECKS.glob("check_*.py")))
def test_an_adapter_does_what_its_framework_asks(python: Path, tenant: Tenant, check: str) -> None:
    assert run(python, CHECKS / check, tenant)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs_with_the_two_commands_of_its_page(
    python: Path, wheel: Path, tenant: Tenant, model: ChatServer, example: Path, tmp_path: Path
) -> None:
    install, command = commands_of(example)
    requirements = example / "requirements.txt"
    assert install.startswith(("pip install ./clients/python", "pip install './clients/python"))
    if requirements.exists():
        assert f"-r {requirements.relative_to(ROOT)}" in install
    name, script = command.split()
    assert name == "python"
    if example.name in ALONE:
        python = made([requirements], wheel)
    model.requests.clear()
    model.says.clear()
    model.says.extend(ASKED)
    wire = {"OPENAI_BASE_URL": f"{model.url}/v1", "OPENAI_API_KEY": "sk-example"}
    printed = run(python, ROOT / script, tenant, HOME=str(tmp_path), **wire)
    expected = (example / "expected.txt").read_text("utf-8").splitlines()
    assert [line for line in expected if line not in printed] == []
    if model.requests:
        assert FACT in json.dumps(model.requests[-1]["messages"][-1])  # recalled, not remembered
        assert not model.says


def test_the_list_of_examples_names_each() -> None:
    page = (ROOT / "examples" / "README.md").read_text("utf-8")
    linked = set(re.findall(r"\]\(([a-z0-9-]+)/README\.md\)", page))
    assert linked == {path.name for path in EXAMPLES}
