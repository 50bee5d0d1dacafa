"""`cairn connectors test`, run as people run it: against a command, and against an address."""

from __future__ import annotations

import json
import socket
import sys
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from typer.testing import CliRunner, Result

import cairn
from cairn.bundled.examination import NAMES
from cairn.cli.main import app

if TYPE_CHECKING:
    from collections.abc import Iterator

RULES = '[{"url": "https://127.0.0.1/*"}]'
COMMAND = ["python", "-m", "cairn.bundled.http"]


@pytest.fixture(autouse=True)
def _variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(cairn.__file__).parents[1]))
    monkeypatch.setenv("HTTP_CONNECTOR_RULES", RULES)
    monkeypatch.setenv("HTTP_CONNECTOR_ALLOW_PRIVATE", "true")
    monkeypatch.setenv("CAIRN_API_KEY", "cairn_secret_of_the_owner")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["connectors", "test", "--seconds", "30", *arguments])


def test_a_good_connector_ends_with_status_0_and_a_table() -> None:
    shown = run(*COMMAND)
    assert shown.exit_code == 0, shown.output
    assert "every promise kept, 2 not asked: see --samples" in shown.output
    for name in NAMES:
        assert name in shown.output


def test_json_is_one_value_and_status_1_says_that_a_promise_is_broken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_CONNECTOR_RULES", '[{"url": "https://127.0.0.1/*"}')
    shown = run("--json", *COMMAND)
    assert shown.exit_code == 1
    told = json.loads(shown.stdout)
    assert told["passed"] is False
    assert [check["name"] for check in told["checks"]] == list(NAMES)
    assert {check["status"] for check in told["checks"]} == {"failed"}


def test_options_after_the_command_are_the_commands_own() -> None:
    script = "import sys; sys.exit(sys.argv[1:] != ['--json', '--url'])"
    shown = run("--json", sys.executable, "-c", script, "--json", "--url")
    assert json.loads(shown.stdout)["passed"] is False
    assert "Connection closed" in json.loads(shown.stdout)["checks"][0]["detail"]


def test_the_keys_of_cairn_are_not_handed_to_a_strangers_command(tmp_path: Path) -> None:
    seen = tmp_path / "seen.json"
    script = f"import json, os; open({str(seen)!r}, 'w').write(json.dumps(dict(os.environ)))"
    run(sys.executable, "-c", script)
    variables = json.loads(seen.read_text())
    assert "HTTP_CONNECTOR_RULES" in variables
    assert not [name for name in variables if name.startswith(("CAIRN_", "AWS_"))]


@pytest.mark.parametrize("arguments", [[], ["--url", "http://127.0.0.1:9/mcp", "cat"]])
def test_one_of_command_and_url_is_needed(arguments: list[str]) -> None:
    shown = run(*arguments)
    assert shown.exit_code == 1
    assert "Give either a command or --url." in shown.output


def test_samples_that_cannot_be_read_are_said_to_be(tmp_path: Path) -> None:
    samples = tmp_path / "samples.json"
    samples.write_text('{"large": {"tool": 5}}')
    shown = run("--samples", str(samples), *COMMAND)
    assert shown.exit_code == 1
    assert "large.tool" in shown.output


def test_an_address_is_asked_over_streamable_http() -> None:
    with served_over_http() as url:
        shown = run("--json", "--url", url)
    assert json.loads(shown.stdout)["passed"] is True, shown.output


@contextmanager
def served_over_http() -> Iterator[str]:
    """Serve the connector `http` over streamable HTTP on loopback."""
    import uvicorn

    from cairn.bundled.http import server

    made = server({"rules": json.loads(RULES), "allow_private": True}, {})
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    config: Any = uvicorn.Config(made.streamable_http_app(), log_level="error", lifespan="on")
    web = uvicorn.Server(config)
    thread = Thread(target=lambda: anyio.run(web.serve, [listening]), daemon=True)
    thread.start()
    ends = monotonic() + 20
    while not web.started and monotonic() < ends:
        thread.join(0.02)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    finally:
        web.should_exit = True
        thread.join(10)
        listening.close()
