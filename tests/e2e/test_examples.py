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
from tests.support.chat_wire import ChatServer, Say, chat_server, written

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.plugins.laptop import Laptop

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "python"
EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/README.md"))
CHECKS = Path(__file__).with_name("adapters")
MADE = ROOT / ".local" / "examples"


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
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with the built client and what all examples need, made once for these versions."""
    needs = sorted((ROOT / "examples").glob("*/requirements.txt"))
    needs.append(CHECKS / "requirements.txt")
    told = "\n".join([sys.version, *(path.read_text("utf-8") for path in needs)])
    folder = MADE / hashlib.sha256(told.encode()).hexdigest()[:16]
    python = folder / "bin" / "python"
    if not (folder / "made").exists():
        uv("venv", "--clear", "--python", sys.executable, folder)
        options = [part for path in needs for part in ("-r", path)]
        uv("pip", "install", "--python", python, "-e", CLIENT, *options)
        uv("pip", "uninstall", "--python", python, "cairn-memory")
        (folder / "made").touch()
    built = tmp_path_factory.mktemp("client")
    uv("build", "--wheel", "--out-dir", built, CLIENT)
    (wheel,) = built.glob("*.whl")
    uv("pip", "install", "--python", python, "--reinstall-package", "cairn-memory", wheel)
    return python


@pytest.fixture(scope="module")
def model() -> Iterator[ChatServer]:
    with chat_server() as server:
        yield server


def called(name: str, **arguments: str) -> Say:
    """A model that wants a tool called, in the completions API's form."""
    call = {
        "id": "call_0123",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }
    message = {"role": "assistant", "content": None, "refusal": None, "tool_calls": [call]}
    answer = json.loads(written("/chat/completions", {"model": "gpt-5-mini"}, Say()))
    answer["choices"][0] |= {"message": message, "finish_reason": "tool_calls"}
    return Say(body=json.dumps(answer).encode())


REMEMBERS = (
    called("remember", text="They are allergic to peanuts."),
    Say(text="Noted."),
    called("recall", question="What are they allergic to?"),
    Say(text="You are allergic to peanuts."),
)


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
    python: Path, tenant: Tenant, model: ChatServer, example: Path
) -> None:
    install, command = commands_of(example)
    requirements = example / "requirements.txt"
    assert install.startswith("pip install ./clients/python") or "'./clients/python" in install
    if requirements.exists():
        assert f"-r {requirements.relative_to(ROOT)}" in install
    name, script = command.split()
    assert name == "python"
    model.says.clear()
    model.says.extend(REMEMBERS)
    wire = {"OPENAI_BASE_URL": f"{model.url}/v1", "OPENAI_API_KEY": "sk-example"}
    printed = run(python, ROOT / script, tenant, **wire)
    expected = (example / "expected.txt").read_text("utf-8").splitlines()
    assert [line for line in expected if line not in printed] == []
