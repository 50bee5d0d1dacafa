"""Messaging channels as they are wired, over PostgreSQL, driven as Slack drives them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlencode

import mangum
import pytest
from tests.integration.chat import test_chat_front, test_widget_front
from tests.integration.chat.test_widget_front import GUIDE, ingest
from tests.support.console import Browser, add_person
from tests.support.deciding import TOOL, agents_of, question
from tests.support.embedding import HashingEmbedder
from tests.support.forgetting import erase_in_memory
from tests.support.front import Front, function
from tests.support.replaying import Asked, Fault
from tests.support.serving import serving
from tests.support.slack_replay import BOT_TOKEN, SIGNING_SECRET, TEAM
from tests.support.slack_team import (
    GENERAL,
    GUEST,
    KIM,
    LEE,
    OPERATORS,
    STRANGER,
    Member,
    SlackTeam,
    add_channel,
    slack_team,
)

from cairn.chat.widget import BUSY
from cairn.kernel.access import PersonRole, Scope
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.plugins.postgres import Database
    from tests.support.agent import Agents
    from tests.support.world import World

world = test_widget_front.world
HAND_OFF = {"wait_minutes": 5, "away_minutes": 5}
DIRECT = "D0DIRECT01"
COMMAND = str(Path(sys.executable).with_name("cairn"))
HOME = {name: os.environ[name] for name in ("PATH", "HOME")}


@pytest.fixture
def team() -> Iterator[SlackTeam]:
    with slack_team() as served:
        yield served


def _not_wrapped(app: Any, **_: Any) -> Any:
    return app


class Office:
    """A workspace with a Slack channel; its queue is worked when a test says so."""

    def __init__(
        self, front: Front, team: SlackTeam, cloud: Any, world: World, database: Database
    ) -> None:
        self.front, self.team, self.cloud, self.world = front, team, cloud, world
        self.database = database
        self.handler = function("api")
        self.handler.app.state.services = front.app.state.services
        self.channel: dict[str, Any] = {}

    def add(self, **settings: Any) -> Office:
        self.channel = add_channel(self.front, self.team, **settings)
        return self

    def member(self, user: str = KIM) -> Member:
        return Member(self.team, self.front, self.channel["id"], user)

    def work(self, *, fails: bool = False) -> None:
        """Let the function work at its queue until it is empty; what fails comes again once."""
        for _ in range(20):
            self.sweep()
            records = self.cloud.records("channel")
            if not records:
                return
            self.cloud.messages = [
                each for each in self.cloud.messages if not each["QueueUrl"].endswith("/channel")
            ]
            failed = self.handler.handler({"Records": records}, None)["batchItemFailures"]
            assert fails or not failed, records
            if failed:
                again = {each["itemIdentifier"] for each in failed}
                self.cloud.messages += [
                    {"QueueUrl": "https://queue/channel", "MessageBody": each["body"]}
                    for each in records
                    if each["messageId"] in again
                ]
                return
        raise AssertionError("the queue is never empty")

    def sweep(self) -> None:
        """Send what the agents of a test, who have no queue, left in the outbox."""
        with self.database.connect_as_superuser() as root:
            rows = root.execute(
                "SELECT id, reference FROM outbox WHERE workspace_id = %s AND topic = 'channel'",
                [self.world.workspace_id],
            ).fetchall()
        there = json.dumps(self.cloud.messages)
        for id_, about in rows:
            ids = {"workspace_id": self.world.workspace_id, "outbox_id": id_, "about_id": about}
            body = json.dumps({name: str(value) for name, value in ids.items()})
            if str(id_) not in there:
                self.cloud.messages.append({"QueueUrl": "https://queue/channel",
                                            "MessageBody": body})  # fmt: skip

    def person(self, user: str, name: str, role: PersonRole = PersonRole.OPERATOR) -> Member:
        """Add a person and tie them to a user of the team, as the guide says."""
        people, system = self.front.app.state.services.people, self.world.admin
        link = people.add(system, login=f"{name}-{new_id()}", name=name.title(), role=role)
        path = f"/v1/channels/{self.channel['id']}/codes"
        code = self.front.call("POST", path, json={"person_id": str(link.person.id)})["code"]
        member = self.member(user)
        member.says(f"tie {code}", channel=f"D0{user[2:]}")
        self.work()
        assert "You are" in self.team.words(f"D0{user[2:]}")[-1]
        return member

    def agents(self) -> Agents:
        services = self.front.app.state.services
        agents = agents_of(services, self.world)
        parts = cast("dict[str, Any]", vars(services))
        parts.pop("work_channel", None)  # it is made anew, with the agents' own approvals
        return agents

    def approval(self, id_: Any) -> dict[str, Any]:
        shown: dict[str, Any] = self.front.call("GET", f"/v1/approvals/{id_}")
        return shown

    def chats(self, state: str = "pending") -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self.front.call("GET", f"/v1/chats?state={state}")["items"]
        return items


@pytest.fixture
def office(
    database: Database,
    world: World,
    team: SlackTeam,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Office:
    for name, value in test_chat_front.environment(database.app_url, tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CAIRN_WEBHOOKS", "private")
    monkeypatch.setattr(mangum, "Mangum", _not_wrapped)  # it leaves an event loop open
    cloud = test_chat_front.Cloud()
    test_chat_front.stand_in_for_aws(monkeypatch, cloud)
    return Office(Front(world.key, embedder=HashingEmbedder()), team, cloud, world, database)


def test_an_admin_adds_checks_changes_and_removes_a_channel(office: Office) -> None:
    office.add()
    front, path = office.front, f"/v1/channels/{office.channel['id']}"
    assert "xoxb" not in json.dumps(front.call("GET", "/v1/channels"))
    assert front.call("POST", f"{path}/check") == {"app": "U0LAN0Z89"}
    taken = front.answer("POST", "/v1/channels", json={
        "name": "slack", "kind": "slack", "config": {"team_id": TEAM},
        "secrets": {"bot_token": "t", "signing_secret": "s"},
    })  # fmt: skip
    assert (taken.status_code, taken.json()["reason"]) == (409, "channel-exists")
    moved = front.answer("PATCH", path, json={"config": {"team_id": TEAM, "api_url": "http://x"}})
    assert moved.status_code == 422, moved.text  # secrets do not follow to another address
    changed = front.call("PATCH", path, json={"settings": {"limits": {"per_minute": 3}}})
    assert changed["settings"]["limits"]["per_minute"] == 3
    assert front.call("PATCH", path, json={"paused": True})["paused"]
    office.member().says("anybody?")
    office.work()
    assert office.team.words(GENERAL) == []
    for wrong in ({"team_id": "x y"}, {"team_id": TEAM, "nonsense": 1}, {}):
        body = {"name": "b", "kind": "slack", "config": wrong, "secrets": {}}
        assert front.answer("POST", "/v1/channels", json=body).status_code == 422
    assert front.call("DELETE", path) == {"id": office.channel["id"]}
    assert office.member().deliver(office.member().writes("gone")).status_code == 404
    entries = front.call("GET", "/v1/ledger", params={"type": "channel", "limit": 50})["items"]
    types = [each["type"] for each in entries]
    assert types == ["channel.added", "channel.changed", "channel.changed", "channel.removed"]


def test_a_thread_is_a_session_that_is_answered_from_public_documents(
    office: Office, tmp_path: Path
) -> None:
    ingest(office.world, tmp_path, GUIDE, "kb://gates.md", Scope.PUBLIC)
    ingest(office.world, tmp_path, "# Gates\n\nThe code is 4711.\n", "kb://code.md", Scope.ADMIN)
    office.add()
    kim = office.member()
    root = kim.says("When does the harbour gate open?")
    assert office.team.words(GENERAL) == []  # it is answered by who works at the queue
    office.work()
    (answer,) = office.team.words(GENERAL, root)
    assert "six in the morning" in answer
    assert "[doc:Gates#Gates" in answer
    assert "4711" not in answer
    kim.says("And the gate code?", thread=root, mention=False)  # goes on without a mention
    office.work()
    assert len(office.team.words(GENERAL, root)) == 2
    assert "4711" not in office.team.words(GENERAL, root)[1]
    kim.says("just talking", mention=False)  # to nobody
    office.member(LEE).says("me, too", thread=root, mention=False)  # not in Lee's session
    kim.says("hello there", channel=DIRECT)
    office.work()
    assert len(office.team.told(GENERAL)) == 2
    assert len(office.team.told(DIRECT)) == 1
    assert "thread_ts" not in office.team.told(DIRECT)[0]
    talks = office.front.call("GET", "/v1/conversations?channel=slack")["items"]
    assert {each["client_id"] for each in talks} == {f"{KIM}@{TEAM}.slack.invalid"}


def test_a_storm_of_retries_and_both_events_of_a_mention_are_one_message(office: Office) -> None:
    office.add()
    kim = office.member()
    event = kim.writes("When does it open?")
    same = json.loads(json.dumps(event))
    same["event"] |= {"type": "message", "channel_type": "channel"}
    same["event_id"] = "EvOTHER"

    def deliver(number: int) -> int:
        headers = {"x-slack-retry-num": str(number), "x-slack-retry-reason": "http_timeout"}
        return kim.deliver(event if number % 4 else same, **headers).status_code

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(deliver, range(100))) == {200}
    assert len(office.cloud.records("channel")) == 1
    office.cloud.messages *= 3  # a queue delivers at least once
    office.work()
    assert len(office.team.told(GENERAL)) == 1
    assert kim.deliver(event).status_code == 200
    office.work()
    assert len(office.team.told(GENERAL)) == 1


def test_what_is_unsigned_forged_old_or_of_another_team_is_refused(office: Office) -> None:
    office.add()
    kim = office.member()
    event = kim.writes("hello")
    path = f"/v1/channels/{office.channel['id']}/events"
    for document, more, status in (
        (event, {"secret": "other"}, 401),
        (event, {"x-slack-signature": ""}, 401),
        (event, {"x-slack-request-timestamp": "1700000000"}, 401),
        ({**event, "team_id": "T0OTHER001"}, {}, 403),
        (urlencode({"payload": json.dumps({"type": "block_actions"})}), {}, 403),
        (urlencode({"payload": "{" * 50_000}), {}, 422),
        ("payload=%00%ff", {}, 422),
    ):
        answer = kim.deliver(document, **more)
        assert answer.status_code == status, answer.text
    assert office.front.answer("POST", path, json=event).status_code == 401  # a key is no proof
    challenge = kim.deliver({"type": "url_verification", "challenge": "3eZbrw1aB"})
    assert challenge.json() == {"challenge": "3eZbrw1aB"}
    odd = kim.writes("a\u0000b \ud800")
    assert kim.deliver(odd).status_code == 200
    for more in ({"bot_id": "B1"}, {"subtype": "message_changed"}, {"ts": "x"}, {"user": ""}):
        quiet = kim.writes("hm")
        quiet["event"] |= more
        assert kim.deliver(quiet).status_code == 200
    office.work()
    assert len(office.team.told(GENERAL)) == 1


def test_limits_hold_however_many_come_and_are_said_once(office: Office) -> None:
    office.add(limits={"per_minute": 4, "per_session": 40}, day_usd=50)
    kim = office.member()
    root = kim.says("one")
    office.work()
    events = [kim.writes(f"more {n}", thread=root) for n in range(16)]

    def status_of(event: dict[str, Any]) -> int:
        return kim.deliver(event).status_code

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(status_of, events)) == {200}
    office.work()
    words = office.team.words(GENERAL, root)
    assert len(words) == 5, words
    assert words.count(BUSY) == 1
    assert words[-1] == BUSY
    refused = office.front.call("GET", "/v1/conversations?channel=slack")["items"]
    assert len(refused) == 2  # what was turned away stands by itself
    lee = office.member(LEE).says("hello")  # counted apart
    office.work()
    assert office.team.words(GENERAL, lee) != [BUSY]
    office.front.call("PATCH", f"/v1/channels/{office.channel['id']}",
                      json={"settings": {"day_usd": 0}})  # fmt: skip
    broke = office.member(LEE).says("and again")
    office.work()
    assert office.team.words(GENERAL, broke) == [BUSY]


def test_guests_and_people_of_other_organisations_are_told_once_that_they_may_not(
    office: Office,
) -> None:
    office.add()
    for user in (GUEST, STRANGER):
        root = office.member(user).says("let me in")
        office.work()
        office.member(user).says("please", thread=root)
        office.work()
        (words,) = office.team.words(GENERAL, root)
        assert "members of this organisation" in words
    path = f"/v1/channels/{office.channel['id']}"
    office.front.call("PATCH", path, json={"settings": {"outsiders": True}})
    root = office.member(GUEST).says("now?")
    office.work()
    assert "organisation" not in office.team.words(GENERAL, root)[0]
    office.front.call("PATCH", path, json={"settings": {"outsiders": False}})
    office.member(GUEST).says("and now?", thread=root)
    office.work()
    assert "members of this organisation" in office.team.words(GENERAL, root)[-1]


def test_what_slack_does_not_take_is_tried_again_and_never_said_twice(office: Office) -> None:
    office.add()
    root = office.member().says("one")

    def posts(asked: Asked) -> bool:
        return asked.path == "/chat.postMessage"

    office.team.faults.append(Fault(status=429, headers={"retry-after": "30"}, where=posts))
    office.work(fails=True)
    assert office.team.told(GENERAL) == []
    office.team.faults.append(Fault(done=True, cut=True, where=posts))  # it was said; nobody knows
    office.work(fails=True)
    assert len(office.team.told(GENERAL, root)) == 1
    office.work()
    assert len(office.team.told(GENERAL, root)) == 1
    office.team.token = "revoked"
    office.member().says("two")
    office.work(fails=True)
    assert office.front.call("GET", "/v1/channels")["items"][0]["error"] == "needs-auth"


def test_what_a_dead_worker_had_comes_again_and_what_kills_each_holds_up_nothing(
    office: Office,
) -> None:
    office.add()

    def held(attempts: int, seconds: int) -> None:
        """As a worker leaves it that was killed while it worked."""
        with office.database.connect_as_superuser() as root:
            root.execute(
                "UPDATE channel_inbound SET attempts = %s, leased_until = now() + %s * "
                "interval '1 s' WHERE workspace_id = %s AND state = 'pending'",
                [attempts, seconds, office.world.workspace_id],
            )
            root.commit()

    root = office.member().says("one")
    held(1, 30)
    office.work(fails=True)
    assert (office.team.told(GENERAL), len(office.cloud.records("channel"))) == ([], 1)
    held(1, -1)
    office.work()
    assert len(office.team.told(GENERAL, root)) == 1
    office.member().says("two", thread=root)
    held(5, -1)
    office.member().says("three", thread=root)
    office.work()
    assert len(office.team.told(GENERAL, root)) == 2  # of two nothing is said


def test_a_channel_that_is_switched_off_answers_no_thread_that_goes_on(office: Office) -> None:
    office.add()
    root = office.member().says("one")
    office.work()
    path = f"/v1/channels/{office.channel['id']}"
    office.front.call("PATCH", path, json={"settings": {"answers": False}})
    office.member().says("two", thread=root)
    office.work()
    assert len(office.team.told(GENERAL, root)) == 1


def test_a_channel_that_is_away_keeps_no_other_from_being_told(office: Office) -> None:
    office.add()
    add_channel(office.front, office.team, name="second", operators=GENERAL)

    def posts(asked: Asked) -> bool:
        return asked.path == "/chat.postMessage" and asked.body["channel"] == OPERATORS

    question(office.agents())
    office.team.faults.append(Fault(status=500, where=posts))
    office.work(fails=True)
    assert (len(office.team.told(OPERATORS)), len(office.team.told(GENERAL))) == (0, 1)
    office.work()
    assert (len(office.team.told(OPERATORS)), len(office.team.told(GENERAL))) == (1, 1)


def test_an_operator_decides_by_a_button_and_the_second_is_told(office: Office) -> None:
    office.add()
    ada, bo = office.person(KIM, "ada"), office.person(LEE, "bo")
    agents = office.agents()
    id_ = question(agents)
    office.work()
    (card,) = office.team.told(OPERATORS)
    shown = json.dumps(card["blocks"])
    for part in (TOOL, "Undo", "Evidence", "Approve", "Reject"):
        assert part in shown, part
    clicks = [who.click(card, "approve") for who in (ada, bo)]
    bodies = [urlencode({"payload": json.dumps(each)}) for each in clicks]
    for body in bodies * 3:  # replayed within the window
        assert ada.deliver(body).status_code == 200
    office.work()
    assert office.approval(id_)["state"] in ("granted", "used")
    card = office.team.message(OPERATORS, card["ts"]) or {}
    assert "Granted by Ada" in card["text"]
    assert "approve" not in json.dumps(card["blocks"])
    told = [each for each in office.team.words(OPERATORS, card["ts"]) if "decided before" in each]
    assert len(told) == 1 and told[0].startswith("Bo")


def test_nobody_decides_who_is_a_stranger_a_reader_or_saw_something_else(office: Office) -> None:
    office.add()
    agents = office.agents()
    id_ = question(agents)
    office.work()
    (card,) = office.team.told(OPERATORS)
    kim = office.member(KIM)
    for _ in range(3):
        assert kim.press(card, "approve").status_code == 200
    office.work()
    strangers = office.team.words(OPERATORS, card["ts"])[1:]
    assert len(strangers) == 1 and "tie CODE" in strangers[0]
    reader = office.person(LEE, "rita", PersonRole.READER)
    reader.press(card, "approve")
    office.work()
    assert "needs the role operator" in office.team.words(OPERATORS, card["ts"])[-1]
    ada = office.person(KIM, "ada")
    for changed in ({"value": "0" * 64}, {"value": ""}, {"action_id": "accept"}):
        click = ada.click(card, "approve")
        click["actions"][0] |= changed
        ada.deliver(urlencode({"payload": json.dumps(click)}))
    other = ada.click(card, "approve")
    other["container"]["message_ts"] = ada.says("not a card", channel=OPERATORS, mention=False)
    ada.deliver(urlencode({"payload": json.dumps(other)}))
    office.work()
    assert office.approval(id_)["state"] == "pending"
    ada.press(card, "reject")
    office.work()
    assert office.approval(id_)["state"] == "rejected"


def test_what_was_decided_elsewhere_is_shown_and_a_person_who_left_decides_nothing(
    office: Office,
) -> None:
    office.add()
    ada = office.person(KIM, "ada")
    agents = office.agents()
    first = question(agents)
    office.work()
    card = office.team.told(OPERATORS)[-1]
    binding = office.approval(first)["binding"]
    office.front.call("POST", f"/v1/approvals/{first}/approve", json={"binding": binding})
    office.work()
    shown = office.team.message(OPERATORS, card["ts"]) or {}
    assert "Granted by somebody with a key" in shown["text"]
    agents = office.agents()
    second = question(agents, "Bo cannot sign in.")
    office.work()
    card = office.team.told(OPERATORS)[-1]
    (tie,) = office.front.call("GET", f"/v1/channels/{office.channel['id']}/ties")["items"]
    office.front.call("PATCH", f"/v1/people/{tie['person_id']}", json={"disabled": True})
    ada.press(card, "approve")
    office.work()
    assert office.approval(second)["state"] == "pending"


def test_a_code_ties_once_and_only_who_sends_it_alone(office: Office) -> None:
    office.add()
    link = add_person(office.front.app, office.world.workspace_id, f"x-{new_id()}")
    path = f"/v1/channels/{office.channel['id']}"
    body = {"person_id": str(link.person.id)}
    first = office.front.call("POST", f"{path}/codes", json=body)["code"]
    code = office.front.call("POST", f"{path}/codes", json=body)["code"]
    kim = office.member(KIM)
    kim.says(f"tie {code}")  # where everybody reads it
    kim.says(f"tie {first}", channel=DIRECT)  # another took its place
    office.work()
    assert "not good" in office.team.words(DIRECT)[-1]
    assert office.front.call("GET", f"{path}/ties")["items"] == []
    kim.says(f"TIE {code.lower()}", channel=DIRECT)
    kim.says(f"tie {code}", channel=DIRECT)
    office.work()
    assert "You are" in office.team.words(DIRECT)[-2]
    assert "not good" in office.team.words(DIRECT)[-1]
    (tie,) = office.front.call("GET", f"{path}/ties")["items"]
    assert (tie["user_id"], tie["person_id"]) == (KIM, str(link.person.id))
    office.front.call("DELETE", f"{path}/ties/{link.person.id}")
    assert office.front.call("GET", f"{path}/ties")["items"] == []


def test_a_chat_of_a_thread_goes_to_an_operator_in_a_thread_and_nothing_is_lost(
    office: Office,
) -> None:
    office.add(hand_off=HAND_OFF)
    ada, bo = office.person(KIM, "ada"), office.person(LEE, "bo")
    customer = office.member(GUEST)
    office.team.users[GUEST]["is_restricted"] = False
    root = customer.says("My order 4711 is lost.")
    office.work()
    customer.says("Can I talk to a person, please?", thread=root)
    office.work()
    (card,) = office.team.told(OPERATORS)
    assert "4711" in json.dumps(card["blocks"])
    thread = card["ts"]
    customer.says("Hello?", thread=root, mention=False)
    office.work()
    assert office.team.words(OPERATORS, thread)[-1] == "Customer: Hello?"
    for who in (ada, bo):
        who.press(card, "accept")
    office.work()
    assert any("Ada has accepted" in each for each in office.team.words(OPERATORS, thread))
    assert office.team.words(GENERAL, root)[-1] == "Ada answers now."
    ada.says("Good morning, this is Ada.", channel=OPERATORS, thread=thread, mention=False)
    bo.says("I would say no.", channel=OPERATORS, thread=thread, mention=False)
    office.work()
    assert office.team.words(GENERAL, root)[-1] == "Ada: Good morning, this is Ada."
    assert "Ada has this chat" in office.team.words(OPERATORS, thread)[-1]
    customer.says("Where is it?", thread=root, mention=False)
    office.work()
    assert office.team.words(OPERATORS, thread)[-1] == "Customer: Where is it?"
    (chat,) = office.chats("active")
    assert (chat["channel"], chat["operator"]) == ("slack", "Ada")
    bundle = office.front.call("GET", f"/v1/chats/{chat['id']}")
    said = [each["text"] for each in bundle["transcript"] if each["text"]]
    for text in ("My order 4711 is lost.", "Hello?", "Good morning, this is Ada.", "Where is it?"):
        assert said.count(text) == 1, said
    card = office.team.message(OPERATORS, thread) or {}
    ada.press(card, "give-back")
    office.work()
    assert office.team.words(GENERAL, root)[-1] == "The agent answers again."
    customer.says("thank you", thread=root, mention=False)
    office.work()
    assert office.front.call("GET", f"/v1/chats/{chat['id']}")["state"] == "returned"
    assert len(office.team.words(GENERAL, root)) == 6


def test_a_chat_of_the_widget_is_taken_in_slack_answered_and_closed(office: Office) -> None:
    office.add()
    ada = office.person(KIM, "ada")
    shop = test_widget_front.page(
        office.front, hand_off=HAND_OFF, anonymous=test_widget_front.FOREVER
    )
    shop.answered("hello")
    assert shop.ask("POST", "/hand-off").status_code == 200
    office.work()
    (card,) = office.team.told(OPERATORS)
    ada.press(card, "accept")
    office.work()
    ada.says("I am here.", channel=OPERATORS, thread=card["ts"], mention=False)
    office.work()
    heard = shop.ask("GET", "/hand-off").json()
    assert heard["operator"] == "Ada"
    assert [each["text"] for each in heard["lines"] if each["text"]] == ["I am here."]
    shop.answered("Good.")
    office.work()
    assert office.team.words(OPERATORS, card["ts"])[-1] == "Customer: Good."
    ada.press(office.team.message(OPERATORS, card["ts"]) or {}, "close")
    office.work()
    assert shop.ask("GET", "/hand-off").json()["state"] == "closed"
    assert "closed" in json.dumps((office.team.message(OPERATORS, card["ts"]) or {})["blocks"])


def test_forgetting_a_user_takes_what_they_said_along(
    office: Office, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    erase_in_memory(monkeypatch, tmp_path)
    office.add(hand_off=HAND_OFF)
    kim = office.member()
    root = kim.says("My number is 0171 4711.")
    office.work()
    kim.says("I want to talk to a person", thread=root)
    office.work()
    client = f"{KIM}@{TEAM}.slack.invalid"
    subject = {"kind": "client", "natural_key": client}
    office.front.call("POST", "/v1/forget", json={"subject": subject})
    with database.connect_as_superuser() as root_connection:
        for table in ("channel_inbound", "chat_session", "handoff", "channel_post", "chat_turn"):
            sql = f"SELECT count(*) FROM {table} WHERE workspace_id = %s"  # noqa: S608
            count = root_connection.execute(sql, [office.world.workspace_id]).fetchone()
            assert count == (0,), table
    assert office.front.call("GET", "/v1/conversations?channel=slack")["items"] == []


def test_a_key_of_another_workspace_and_a_public_one_see_no_channel(
    office: Office, database: Database
) -> None:
    office.add()
    public = office.front.call(
        "POST",
        "/v1/keys",
        json={"name": "p", "role": "public", "scopes": ["public"], "agent_slug": "p"},
    )["secret"]
    path = f"/v1/channels/{office.channel['id']}"
    for method, where in (("GET", ""), ("POST", "/check"), ("GET", "/ties"), ("DELETE", "")):
        refused = office.front.answer(
            method, path + where, headers={"authorization": f"Bearer {public}"}
        )
        assert refused.status_code == 403, refused.text
    browser = Browser(office.front.app)
    assert browser.get("/console/channels").status_code in (303, 401, 404)
    assert SIGNING_SECRET not in office.front.answer("GET", path).text


def test_people_add_a_channel_on_its_page_and_operators_tie_themselves(office: Office) -> None:
    office.channel = {"id": ""}
    people, browsers = office.front.app.state.services.people, {}
    for role in (PersonRole.OWNER, PersonRole.OPERATOR):
        login = f"{role.value}-{new_id()}"
        link = people.add(office.world.admin, login=login, name=role.value.title(), role=role)
        browsers[role] = Browser(office.front.app)
        assert browsers[role].post("/console/link", token=link.token).status_code == 303
    owner, operator = browsers[PersonRole.OWNER], browsers[PersonRole.OPERATOR]
    page = "/console/channels"
    assert "Choose what it is" in owner.get(page).text
    form = {
        "kind": "slack", "name": "slack", "config.team_id": TEAM, "config.api_url": office.team.url,
        "config.operators": OPERATORS, "secrets.bot_token": BOT_TOKEN,
        "secrets.signing_secret": SIGNING_SECRET, "answers": "yes", "wait_minutes": "7",
    }  # fmt: skip
    assert "signing_secret" in owner.get(f"{page}?kind=slack").text
    wrong = owner.submit(page, **{**form, "config.team_id": "no team"})
    assert wrong.status_code == 422, wrong.text
    assert BOT_TOKEN not in wrong.text
    assert owner.submit(page, **form).status_code == 303
    (channel,) = office.front.call("GET", "/v1/channels")["items"]
    assert channel["settings"]["hand_off"]["wait_minutes"] == 7
    assert channel["settings"]["outsiders"] is False
    office.channel, path = channel, f"{page}/{channel['id']}"
    shown = owner.get(page).text
    assert channel["events_path"] in shown
    assert BOT_TOKEN not in shown
    assert "U0LAN0Z89" in owner.submit(f"{path}/check").text
    changed = owner.submit(f"{path}/change", **{**form, "outsiders": "yes", "per_minute": "9"})
    assert changed.status_code == 303, changed.text
    (channel,) = office.front.call("GET", "/v1/channels")["items"]
    assert (channel["settings"]["outsiders"], channel["settings"]["limits"]["per_minute"]) == (
        True,
        9,
    )
    theirs = operator.get(page)
    assert (theirs.status_code, OPERATORS in theirs.text) == (200, False)
    assert operator.submit(f"{path}/pause").status_code == 403
    code = re.search(r"tie ([A-Z0-9]{4}(?:-[A-Z0-9]{4}){2})", operator.submit(f"{path}/code").text)
    assert code is not None
    office.member().says(f"tie {code[1]}", channel=DIRECT)
    office.work()
    (tie,) = office.front.call("GET", f"/v1/channels/{channel['id']}/ties")["items"]
    assert tie["name"] == "Operator"
    assert "is Operator" in owner.get(page).text
    assert owner.submit(f"{path}/untie", person=tie["person_id"]).status_code == 303
    assert owner.submit(f"{path}/remove", meant="yes").status_code == 303
    assert office.front.call("GET", "/v1/channels")["items"] == []


def test_the_commands_of_the_guide_do_what_it_says(office: Office, tmp_path: Path) -> None:
    people = office.front.app.state.services.people
    login = f"ada-{new_id()}"
    people.add(office.world.admin, login=login, name="Ada", role=PersonRole.OPERATOR)
    config = {"team_id": TEAM, "operators": OPERATORS, "api_url": office.team.url}
    for name, text in (("slack.json", json.dumps(config)), ("token.txt", BOT_TOKEN),
                       ("signing.txt", SIGNING_SECRET)):  # fmt: skip
        (tmp_path / name).write_text(text)
    with serving(office.front.app) as url:

        def cairn(*words: str) -> str:
            done = subprocess.run(
                [COMMAND, "channels", *words],
                env={"CAIRN_URL": url, "CAIRN_API_KEY": office.front.key, **HOME},
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            return done.stdout

        secrets = ("--secret", "bot_token=@token.txt", "--secret", "signing_secret=@signing.txt")
        added = cairn("add", "slack", "--kind", "slack", "--config", "@slack.json", *secrets,
                      "--settings", '{"hand_off": {"wait_minutes": 10}}')  # fmt: skip
        assert "/v1/channels/" in added
        assert "U0LAN0Z89" in cairn("check", "slack")
        assert OPERATORS in cairn("list")
        office.channel = office.front.call("GET", "/v1/channels")["items"][0]
        code = re.search(r"tie ([A-Z0-9-]{14})", cairn("tie", "slack", login))
        assert code is not None
        office.member().says(f"tie {code[1]}", channel=DIRECT)
        office.work()
        assert "Ada" in cairn("ties", "slack")
        cairn("untie", "slack", login)
        assert "nobody is tied" in cairn("ties", "slack")
        cairn("set", "slack", "--pause")
        assert "paused" in cairn("list")
        cairn("remove", "slack")
        assert "there is no channel" in cairn("list")
