"""Reports in the database: written once a minute, hung under what produced them, listed."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.talking import PostgresTalking, public_of, talking_in
from tests.support.world import MORNING, World, open_world

from cairn.adapters.postgres.database import bound
from cairn.conversations.messages import Channel
from cairn.kernel.access import Principal, Scope
from cairn.kernel.errors import Denied, NotFound, TooLarge, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.reports.read import ReportFilter

if TYPE_CHECKING:
    from tests.plugins.postgres import Database


@pytest.fixture
def world(database: "Database") -> Iterator[World]:
    world = open_world(database.owner_url, database.app_url, f"reports-{new_id()}")
    yield world
    world.pool.close()


@pytest.fixture
def talk(world: World) -> PostgresTalking:
    return talking_in(world.pool, world.admin)


def rows(world: World, statement: str) -> list[Any]:
    with bound(world.pool, world.admin) as connection:
        return connection.execute(statement.encode()).fetchall()


def titles(talk: PostgresTalking, principal: Principal | None = None, **where: Any) -> list[str]:
    asked = ReportFilter(**where)
    found = talk.reports.list(principal or talk.admin, asked, limit=100, after=None)
    assert found.total == len(found.page.items)
    return [item.title for item in found.page.items]


def test_the_same_title_in_the_same_minute_is_the_same_report(
    world: World, talk: PostgresTalking
) -> None:
    first = talk.report("Daily briefing")
    again = talk.report("Daily  briefing", occurred_at=MORNING + timedelta(seconds=59), body="new")
    next_minute = talk.report("Daily briefing", occurred_at=MORNING + timedelta(seconds=60))
    other = talk.report("Weekly briefing")
    assert (first.created, again.created) == (True, False)
    assert (again.id, again.position) == (first.id, first.position)
    assert len({first.id, next_minute.id, other.id}) == 3
    assert len(rows(world, "SELECT 1 FROM ledger WHERE type = 'report.written'")) == 3


def test_two_at_once_are_one(world: World, talk: PostgresTalking) -> None:
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(talk.report, ["Briefing"] * 3))
    assert len({item.id for item in done}) == 1
    assert [item.created for item in done].count(True) == 1
    assert len(rows(world, "SELECT 1 FROM node WHERE label = 'Report'")) == 1


def test_a_report_hangs_under_the_conversation_it_came_of(
    world: World, talk: PostgresTalking
) -> None:
    said = talk.say("Brief me", channel=Channel.API, sender="ada@example.org")
    by_id = talk.report("A", conversation_id=said.conversation_id)
    by_session = talk.report("B", session_id="s1")
    assert by_id.parent_id == by_session.parent_id == said.conversation_id
    edges = rows(world, "SELECT view, source_id, target_id FROM edge WHERE relation = 'PRODUCED'")
    assert set(edges) == {
        ("provenance", said.conversation_id, item.id) for item in (by_id, by_session)
    }
    subjects = rows(world, "SELECT DISTINCT data_subjects FROM node WHERE label = 'Report'")
    assert subjects == rows(world, "SELECT data_subjects FROM node WHERE label = 'Conversation'"), (
        "whom the conversation is about, the report is about"
    )


def test_a_report_without_a_conversation_hangs_under_the_admin(
    world: World, talk: PostgresTalking
) -> None:
    first, second = talk.report("A"), talk.report("B", session_id="no such session")
    assert first.parent_id == second.parent_id
    admins = rows(world, "SELECT id, kind, canonical_name FROM node WHERE label = 'Entity'")
    assert admins == [(first.parent_id, "user", "admin")]


def test_a_conversation_that_is_not_visible_is_no_parent(
    world: World, talk: PostgresTalking
) -> None:
    said = talk.say("x", channel=Channel.API)
    agent = world.as_other(agent_slug="bot")
    with pytest.raises(NotFound):
        talk.report("A", agent, conversation_id=said.conversation_id)
    assert talk.report("A", agent, session_id="s1").parent_id != said.conversation_id


def test_the_latest_report_about_something_comes_with_its_body(talk: PostgresTalking) -> None:
    talk.report("Monday", keywords=("Daily-Briefing",), occurred_at=MORNING)
    talk.report("Tuesday", keywords=("daily-briefing",), occurred_at=MORNING + timedelta(days=1))
    talk.report("Ad hoc", occurred_at=MORNING + timedelta(days=2))
    (latest,) = talk.reports.latest(talk.admin, keyword="DAILY-briefing")
    assert (latest.report.title, latest.body) == ("Tuesday", "All of Tuesday.")
    both = talk.reports.latest(talk.admin, keyword="daily-briefing", limit=5)
    assert [item.report.title for item in both] == ["Tuesday", "Monday"]
    assert talk.reports.latest(talk.admin, keyword="nothing") == ()


def test_a_report_that_is_late_is_listed_by_the_time_it_is_about(talk: PostgresTalking) -> None:
    talk.report("new", occurred_at=MORNING + timedelta(days=1))
    talk.report("old", occurred_at=MORNING)
    assert titles(talk) == ["new", "old"]


def test_the_catalogue_is_filtered_and_paged(talk: PostgresTalking) -> None:
    for day in range(5):
        talk.report(
            f"R{day}",
            occurred_at=MORNING + timedelta(days=day),
            keywords=("even",) if day % 2 == 0 else (),
            source_workflow="dream" if day == 3 else None,
        )
    assert titles(talk, keyword="even") == ["R4", "R2", "R0"]
    assert titles(talk, source_workflow="dream") == ["R3"]
    first = talk.reports.list(talk.admin, ReportFilter(), limit=3, after=None)
    rest = talk.reports.list(talk.admin, ReportFilter(), limit=3, after=first.page.next_after)
    listed = [item.title for item in (*first.page.items, *rest.page.items)]
    assert listed == ["R4", "R3", "R2", "R1", "R0"]
    assert (first.total, rest.page.next_after) == (5, None)


def test_each_operation_logs_one_line_without_texts(talk: PostgresTalking) -> None:
    talk.report("Secret title", keywords=("secret",))
    talk.report("Secret title", keywords=("secret",))
    talk.reports.latest(talk.admin, keyword="secret")
    talk.reports.list(talk.admin, ReportFilter(), limit=9, after=None)
    assert [item["op"] for item in talk.logged] == ["write", "write", "read-latest", "list"]
    assert [item.get("idempotent") for item in talk.logged[:2]] == [0, 1]
    assert (talk.logged[2]["hits"], talk.logged[3]["total"]) == (1, 1)
    assert all("ms" in item for item in talk.logged)
    assert "ecret" not in str(talk.logged)


def test_nothing_of_a_report_stands_in_the_clear_part_of_the_ledger(
    world: World, talk: PostgresTalking
) -> None:
    talk.report("Secret title", keywords=("hidden",), source_workflow="covert")
    entries = str(rows(world, "SELECT type, session_id, meta, body FROM ledger"))
    assert not [word for word in ("Secret", "hidden", "covert") if word in entries]


def test_readers_see_what_is_tagged_and_in_scope(
    database: "Database", world: World, talk: PostgresTalking
) -> None:
    talk.report("ours")
    talk.report("the bot's", agents=("bot",))
    talk.report("shared", scope=Scope.SHARED)
    bot = world.as_other(agent_slug="bot")
    assert titles(talk, bot) == ["the bot's"]
    narrow = world.as_other(allowed_scopes=frozenset({Scope.ADMIN}))
    assert titles(talk, narrow) == ["ours"]  # a key of no agent: what is tagged for nobody
    assert sorted(titles(talk, world.admin)) == ["ours", "shared", "the bot's"]
    other = open_world(database.owner_url, database.app_url, "elsewhere")
    try:
        assert titles(talk, other.admin) == []
        assert talk.reports.latest(other.admin) == ()
    finally:
        other.pool.close()


def test_an_agents_report_is_not_taken_for_another_audiences(
    world: World, talk: PostgresTalking
) -> None:
    ours = talk.report("Briefing")
    theirs = talk.report("Briefing", world.as_other(agent_slug="bot"))
    assert theirs.created
    assert theirs.id != ours.id


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"title": ""}, ValidationFailed),
        ({"title": "x" * 257}, TooLarge),
        ({"body": " "}, ValidationFailed),
        ({"body": "x" * 10_001}, TooLarge),
        ({"body": "a\x00b"}, ValidationFailed),
        ({"title": "\ud800"}, ValidationFailed),
        ({"keywords": ("",)}, ValidationFailed),
        ({"keywords": ("x" * 65,)}, TooLarge),
        ({"keywords": tuple(str(n) for n in range(21))}, ValidationFailed),
        ({"occurred_at": MORNING.replace(tzinfo=None)}, ValidationFailed),
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(
    world: World, talk: PostgresTalking, changes: dict[str, Any], error: type[Exception]
) -> None:
    changes = dict(changes)
    with pytest.raises(error):
        talk.report(changes.pop("title", "T"), **changes)
    assert rows(world, "SELECT 1 FROM node") == []


def test_a_public_key_writes_none(talk: PostgresTalking) -> None:
    with pytest.raises(Denied):
        talk.report("A", public_of(talk.admin))


def test_a_body_of_ten_thousand_characters_is_taken(talk: PostgresTalking) -> None:
    assert talk.report("A", body="x" * 10_000).created
