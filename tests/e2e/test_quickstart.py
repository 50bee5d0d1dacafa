"""docs/use/quickstart.md does what it says: each of its commands, one after the other."""

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.e2e.cli import COMMAND, environment
from tests.e2e.tenant import Tenant, open_workspace

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "use" / "quickstart.md"


@pytest.fixture(scope="module")
def tenant(laptop: "Laptop") -> Tenant:
    return open_workspace(laptop, "quickstart")


def commands() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [line for line in lines if line.startswith(("cairn ", "curl "))]


def test_the_quickstart_works_as_written(tenant: Tenant) -> None:
    known = environment(tenant)
    path = f"{Path(COMMAND).parent}:{known['PATH']}"
    said: dict[str, str] = {}
    for command in commands():
        ran = subprocess.run(
            command,
            shell=True,
            cwd=ROOT,
            env={**known, "PATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
        assert ran.returncode == 0, (command, ran.stdout, ran.stderr)
        said[command] = ran.stdout
    recalled = next(out for command, out in said.items() if command.startswith("cairn recall"))
    assert "Render" in recalled and "Heroku" not in recalled
    assert len(said) == len(commands()) >= 10
