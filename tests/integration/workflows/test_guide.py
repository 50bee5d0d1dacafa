"""The commands of docs/use/workflows.md, on the command line, over the API as wired."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Any

import httpx
from tests.support.front import ROOT, function
from typer.testing import CliRunner

from cairn.cli.deps import Deps
from cairn.cli.main import app
from cairn.settings.cli import CliSettings

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from tests.support.front import Front
    from tests.support.workflows import Machine

GUIDE = (ROOT / "docs" / "use" / "workflows.md").read_text(encoding="utf-8")
SHELL = re.compile(r"```sh\n(.*?)```", re.DOTALL)
FILE = re.compile(r"cat > news\.json <<'END'\n(.*?)\nEND\n", re.DOTALL)


def over(front: Front, machine: Machine) -> Deps:
    """The command line's way to the API; while it waits, the machine works."""

    def answer(request: httpx.Request) -> httpx.Response:
        target = request.url.raw_path.decode()
        headers = {name: request.headers[name] for name in request.headers}
        heard = front.answer(
            request.method, target, content=request.read() or None, headers=headers
        )
        return httpx.Response(heard.status_code, headers=heard.headers, content=heard.content)

    settings = CliSettings.model_validate({"url": "http://cairn", "api_key": front.key})
    return Deps(
        read_settings=lambda: settings,
        transport=httpx.MockTransport(answer),
        sleep=lambda _: (machine.work(), None)[1],
        width=200,
    )


def test_the_guides_commands_do_what_it_says(
    front: Front, machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, briefing = SHELL.findall(GUIDE)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "news.json").write_text(FILE.findall(first)[0], encoding="utf-8")
    deps, ran = over(front, machine), list[str]()

    def run(line: str) -> str:
        words = [front_run(front) if word == "RUN" else word for word in shlex.split(line, True)]
        done = CliRunner().invoke(app, words[1:], obj=deps)
        assert done.exit_code == 0, (line, done.output)
        machine.work()
        ran.append(words[2] if words[1] == "workflow" else words[1])
        return done.output

    shown: dict[str, Any] = {}
    for line in FILE.sub("", first).splitlines():
        shown[line.split(" --")[0]] = run(line)
    assert "waits: May this be kept?" in shown["cairn workflow run news"]
    assert "News of" in shown["cairn reports latest news"]
    assert ran == ["set", "run", "runs", "approve", "reports"]
    setting, show, start, latest = briefing.splitlines()
    run(setting)
    function("audit").handler({"step": "start_workflows"}, None)
    assert "runs by itself: 07:00 Europe/Berlin" in run(show)
    assert "done" in run(start)
    assert "Daily briefing" in run(latest)


def front_run(front: Front) -> str:
    """The id of the run that waits."""
    [run] = front.call("GET", "/v1/workflow-runs", params={"state": "waiting"})["items"]
    return str(run["id"])


def test_the_rest_of_the_command_line(front: Front, machine: Machine, tmp_path: Path) -> None:
    deps = over(front, machine)
    body = {"name": "ask", "steps": [{"name": "yes", "kind": "wait", "message": "Go on?"}]}
    (tmp_path / "ask.json").write_text(json.dumps(body), encoding="utf-8")
    (tmp_path / "bad.json").write_text("[]", encoding="utf-8")

    def run(*words: str, code: int = 0) -> str:
        done = CliRunner().invoke(app, ["workflow", *words], obj=deps)
        assert done.exit_code == code, done.output
        machine.work()
        return done.output

    run("set", str(tmp_path / "ask.json"))
    run("set", str(tmp_path / "bad.json"), code=2)
    assert "Go on?" in run("show", "ask")
    assert "ask" in run("list")
    began = json.loads(run("run", "ask", "--json"))["id"]
    assert "waits: Go on?" in run("result", began)
    assert "rejected" in run("reject", began, "--comment", "No.")
    second = json.loads(run("run", "ask", "--json"))["id"]
    assert "cancelled" in run("cancel", second)
    run("resume", second, code=1)
    assert "1" in run("history", "ask")
    run("remove", "ask")
    run("show", "ask", code=1)
    run("run", "ask", "--input", "nothing", code=2)
