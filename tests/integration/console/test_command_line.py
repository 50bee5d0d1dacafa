"""`cairn people`, `sign-in` and `widget` as somebody types them: a process, the API on a socket."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.support.front import Cloud, Front, environment, stand_in_for_aws
from tests.support.serving import serving
from tests.support.world import open_world

from cairn.api.app import create_app
from cairn.api.options import ApiOptions
from cairn.bootstrap.parts import logger
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.plugins.postgres import Database

    Run = Callable[..., subprocess.CompletedProcess[str]]

COMMAND = str(Path(sys.executable).with_name("cairn"))


@pytest.fixture
def run(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Run a command against a workspace of its own, with an admin's key."""
    for name, value in environment(database.app_url, tmp_path).items():
        monkeypatch.setenv(name, value)
    stand_in_for_aws(monkeypatch, Cloud())
    world = open_world(database.owner_url, database.app_url, f"people {new_id()}")
    front = Front(world.key)
    options = ApiOptions(mcp_hosts=("127.0.0.1:*",))
    app = create_app(front.app.state.services, options, log=logger("api", "CRITICAL"))
    with serving(app) as url:
        base = {name: os.environ[name] for name in ("HOME", "LANG", "PATH") if name in os.environ}

        def command(*arguments: str, key: str = world.key) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [COMMAND, *arguments],
                env={**base, "CAIRN_URL": url, "CAIRN_API_KEY": key},
                cwd=tmp_path,
                capture_output=True,
                encoding="utf-8",
                timeout=90,
                check=False,
            )

        yield command
    world.pool.close()


def good(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def opens(url: str) -> httpx.Response:
    """Press the button of the page that a link leads to."""
    link = httpx.URL(url)
    origin = f"{link.scheme}://{link.netloc.decode()}"
    path = f"{origin}{link.path}"
    return httpx.post(path, data={"token": link.params["token"]}, headers={"origin": origin})


def test_people_are_added_listed_changed_and_removed_at_the_command_line(run: Run) -> None:
    ada, bob = f"ada-{new_id()}@example.org", f"bob-{new_id()}"
    added = good(run("people", "add", ada, "--role", "operator", "--name", "Ada", "--json"))
    assert (added["person"]["role"], added["person"]["name"]) == ("operator", "Ada")
    assert opens(added["url"]).headers["location"] == "/console/account"
    shown = run("people", "add", bob)  # a reader, called as they sign in
    assert f"{bob} signs in once, within 15 minutes:" in shown.stdout
    assert opens(shown.stdout.split()[-1]).status_code == 303
    assert {each["login"] for each in good(run("people", "list", "--json"))} == {ada, bob}
    table = run("people", "list").stdout
    assert "operator" in table
    assert "Ada" in table
    changed = good(run("people", "change", ada, "--role", "reviewer", "--disable", "--json"))
    assert changed["role"] == "reviewer"
    assert changed["disabled_at"] is not None
    assert f"{ada}: reviewer, enabled" in run("people", "change", ada, "--enable").stdout
    assert f"{bob}: 1 ended" in run("people", "sign-out", bob).stdout
    assert good(run("people", "sign-out", bob, "--json"))["sessions"] == 0
    assert f"removed {bob}" in run("people", "remove", bob).stdout
    assert [each["login"] for each in good(run("people", "list", "--json"))] == [ada]


def test_sign_in_makes_the_first_owner_then_links_for_who_is_there(run: Run) -> None:
    first = run("sign-in", "--json")
    if first.returncode == 1:  # another workspace of this database has the login
        assert "signs in under this name already" in first.stderr
        login = f"owner-{new_id()}"
        run("people", "add", login, "--role", "owner")
        first = run("sign-in", "--json")
    link = good(first)
    assert link["person"]["role"] == "owner"
    again = good(run("sign-in", link["person"]["login"].upper(), "--json"))
    assert again["person"]["id"] == link["person"]["id"]
    assert opens(link["url"]).status_code == 401  # the newer one took its place
    assert opens(again["url"]).status_code == 303
    assert opens(again["url"]).status_code == 401
    kept = run("people", "change", link["person"]["login"], "--disable")
    assert kept.returncode == 1
    assert "The last owner stays an owner." in kept.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("sign-in", "nobody-here"), "nobody signs in under this name"),
        (("people", "change", "nobody-here", "--role", "admin"), "nobody signs in"),
        (("people", "remove", "nobody-here"), "nobody signs in"),
        (("people", "add", "not a login"), "login is 1 to 254 letters, digits"),
        (("people", "add", "x", "--role", "king"), "king"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    run: Run, arguments: tuple[str, ...], says: str
) -> None:
    done = run(*arguments)
    assert done.returncode in (1, 2)
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_key_that_is_no_admins_adds_nobody(run: Run) -> None:
    made = good(run("keys", "create", "an agent's", "--role", "agent", "--json"))
    done = run("people", "add", f"eve-{new_id()}", key=made["secret"])
    assert done.returncode == 1
    assert "admin" in done.stderr
    assert good(run("people", "list", "--json")) == []


def test_a_widget_is_set_changed_by_a_file_shown_and_removed(run: Run, tmp_path: Path) -> None:
    assert "has no widget" in run("widget", "show").stderr
    first = good(run("widget", "set", "--origin", "https://www.example.org", "--json"))
    assert (first["origins"], first["day_usd"]) == (["https://www.example.org"], 50)
    turnstile = {"challenge": "turnstile", "site_key": "0x1", "secret": "quiet", "day_usd": 9}
    (tmp_path / "widget.json").write_text(json.dumps(turnstile), encoding="utf-8")
    by_file = good(run("widget", "set", "--file", "widget.json", "--json"))
    assert (by_file["origins"], by_file["day_usd"]) == (first["origins"], 9)
    assert by_file["has_secret"]
    again = good(run("widget", "set", "--day-usd", "5", "--json"))  # what is not named stays
    assert (again["challenge"], again["has_secret"], again["day_usd"]) == ("turnstile", True, 5)
    assert "0.00 of 5.00 USD today" in run("widget", "show").stdout
    bad = run("widget", "set", "--file", "no-such.json")
    assert (bad.returncode, "cannot be read as JSON" in bad.stderr) == (1, True)
    assert good(run("widget", "remove", "--json"))["id"] == first["id"]
    assert run("widget", "show").returncode != 0
