"""`cairn conversations`, `cairn reports` and `cairn subscriptions` over the real API."""

import json
from pathlib import Path
from uuid import UUID

import pytest
from tests.unit.api.fakes import World
from tests.unit.api.talk_fakes import TALK
from tests.unit.cli.fakes import Shell


def test_a_message_is_said_and_waits_or_is_recorded() -> None:
    world = World()
    shell = Shell(world=world)
    assert "recorded" in shell.run("conversations", "say", "Hello", "--session", "s1").stdout
    assert (world.talk.said[0].channel, world.talk.said[0].session_id) == ("api", "s1")
    world.talk.persisted = False
    told = shell.run("conversations", "say", "Hi", "--session", "s1", "--channel", "webchat")
    assert "waits" in told.stdout


def test_conversations_are_listed_and_shown() -> None:
    world = World()
    shell = Shell(world=world)
    assert "webchat" in shell.run("conversations", "list", "--channel", "webchat").stdout
    assert world.talk.listed[0].channel == "webchat"
    shown = shell.run("conversations", "show", str(TALK))
    assert shown.stdout.count("Is the hut open?") == 3
    in_json = json.loads(shell.run("conversations", "show", str(TALK), "--json").stdout)
    assert len(in_json["items"]) == 3


def test_a_search_says_which_leg_failed() -> None:
    world = World()
    shown = Shell(world=world).run("conversations", "search", "hut", "--role", "user")
    assert "Is the hut open?" in shown.stdout
    assert "vector: late" in shown.stderr
    assert world.talk.searched[0].role == "user"


def test_a_key_is_bound_to_a_conversation() -> None:
    world = World()
    Shell(world=world).run("conversations", "bind", str(TALK), str(UUID(int=5)))
    assert world.talk.bound == [(TALK, UUID(int=5))]


def test_a_report_is_written_read_and_listed(tmp_path: Path) -> None:
    world = World()
    shell = Shell(world=world)
    body = tmp_path / "briefing.md"
    body.write_text("All is well.", encoding="utf-8")
    arguments = ["reports", "write", "Daily", "--file", str(body), "--keyword", "daily"]
    assert "written" in shell.run(*arguments).stdout
    assert world.talk.reported[0].body == "All is well."
    world.talk.created = False
    assert "there already" in shell.run(*arguments).stdout
    assert "All is well." in shell.run("reports", "latest", "daily").stdout
    assert world.talk.asked == [("daily", 1)]
    assert "Daily briefing" in shell.run("reports", "list").stdout


def test_subscriptions_are_set_listed_and_cleared() -> None:
    world = World()
    shell = Shell(world=world)
    assert "solar, roof" in shell.run("subscriptions", "set", "bot", "solar", "roof").stdout
    assert "bot" in shell.run("subscriptions", "list").stdout
    assert "nothing" in shell.run("subscriptions", "clear", "bot").stdout
    assert world.talk.subscribed == {"bot": ()}


@pytest.mark.parametrize(
    "arguments",
    [["conversations", "say", "x"], ["reports", "write"], ["subscriptions", "set", "x"]],
)
def test_what_is_missing_is_a_usage_error(arguments: list[str]) -> None:
    assert Shell().run(*arguments).exit_code == 2
