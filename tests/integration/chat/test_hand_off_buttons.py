"""The buttons of a hand-off, in Slack and in Teams: who may, who may not, twice and at once."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, ClassVar, Protocol
from urllib.parse import urlencode

import pytest
from tests.integration.chat import test_channels_front, test_teams_front
from tests.integration.chat.test_channels_front import HAND_OFF
from tests.support.slack_team import GENERAL, GUEST, KIM, LEE, OPERATORS, STRANGER
from tests.support.teams_replay import MEGAN, OLE, Member
from tests.support.teams_replay import OPERATORS as TEAMS_OPERATORS

from cairn.kernel.access import PersonRole

if TYPE_CHECKING:
    from collections.abc import Sequence

    import httpx

world = test_channels_front.world
team = test_channels_front.team
slack_office = test_channels_front.office
teams = test_teams_front.teams
teams_office = test_teams_front.office

LABELS = {
    "accept": "Accept", "take-over": "Take over", "release": "Leave it to others",
    "give-back": "Give back to the agent", "close": "Close", "ticket": "Make a ticket",
}  # fmt: skip
RITA = Member(
    id="29:1RITA", object_id="0f9a4b1c-4a53-4b55-9f64-6f2b7a5be001", name="Rita", mail="r@x.example"
)
BO = Member(
    id="29:1BO", object_id="0f9a4b1c-4a53-4b55-9f64-6f2b7a5be002", name="Bo", mail="b@x.example"
)


class Desk(Protocol):
    """Operators in a conversation of theirs, and a customer whose chat came to it."""

    office: Any

    def tie(self, who: str, role: PersonRole = PersonRole.OPERATOR) -> None: ...
    def ask_for_a_person(self) -> None: ...
    def click(self, who: str, button: str) -> Any: ...
    def deliver(self, who: str, click: Any) -> httpx.Response: ...
    def writes(self, who: str, text: str) -> None: ...
    def customer(self) -> list[str]: ...
    def thread(self) -> list[str]: ...
    def card(self) -> str: ...


class SlackDesk:
    """The same in Slack; Ada, Bo, Rita and a stranger are its users."""

    users: ClassVar[dict[str, Any]] = {
        "ada": KIM,
        "bo": LEE,
        "rita": STRANGER,
        "stranger": "U0NOBODY01",
    }

    def __init__(self, office: test_channels_front.Office) -> None:
        self.office = office.add(hand_off=HAND_OFF)
        self.root = ""

    def tie(self, who: str, role: PersonRole = PersonRole.OPERATOR) -> None:
        self.office.person(self.users[who], who, role)

    def ask_for_a_person(self) -> None:
        self.office.team.users[GUEST]["is_restricted"] = False
        customer = self.office.member(GUEST)
        self.root = customer.says("My order 4711 is lost.")
        self.office.work()
        customer.says("Can I talk to a person, please?", thread=self.root)
        self.office.work()

    def _card(self) -> Any:
        return next(each for each in self.office.team.told(OPERATORS) if "thread_ts" not in each)

    def click(self, who: str, button: str) -> Any:
        assert button in json.dumps(self._card()["blocks"])
        return self.office.member(self.users[who]).click(self._card(), button)

    def deliver(self, who: str, click: Any) -> httpx.Response:
        form = urlencode({"payload": json.dumps(click)})
        return self.office.member(self.users[who]).deliver(form)

    def writes(self, who: str, text: str) -> None:
        member = self.office.member(self.users[who])
        member.says(text, channel=OPERATORS, thread=self._card()["ts"], mention=False)
        self.office.work()

    def customer(self) -> list[str]:
        words: list[str] = self.office.team.words(GENERAL, self.root)
        return words

    def thread(self) -> list[str]:
        words: list[str] = self.office.team.words(OPERATORS, self._card()["ts"])
        return words[1:]

    def card(self) -> str:
        return json.dumps(self._card()["blocks"])


class TeamsDesk:
    """The same in Teams."""

    users: ClassVar[dict[str, Any]] = {"ada": OLE, "bo": BO, "rita": RITA, "stranger": MEGAN}

    def __init__(self, office: test_teams_front.Office) -> None:
        self.office = office.add(hand_off=HAND_OFF)
        office.teams.members = (*office.teams.members, BO, RITA)

    def tie(self, who: str, role: PersonRole = PersonRole.OPERATOR) -> None:
        self.office.tie(self.users[who], who, role)

    def ask_for_a_person(self) -> None:
        self.office.says("My order 4711 is lost.")
        self.office.says("Can I talk to a person, please?")

    def click(self, who: str, button: str) -> Any:
        where = TEAMS_OPERATORS
        return self.office.teams.press(LABELS[button], by=self.users[who], where=where)

    def deliver(self, who: str, click: Any) -> httpx.Response:
        return self.office.deliver(click)

    def writes(self, who: str, text: str) -> None:
        root = next(each for each in self.office.teams.said if each.startswith(TEAMS_OPERATORS))
        thread = root.partition("=")[2]
        by = self.users[who]
        self.office.says(text, by=by, conversation=TEAMS_OPERATORS, thread=thread)

    def customer(self) -> list[str]:
        return self.office.teams.texts()

    def thread(self) -> list[str]:
        return self.office.teams.texts(TEAMS_OPERATORS)[1:]

    def card(self) -> str:
        return self.office.teams.texts(TEAMS_OPERATORS)[0]


@pytest.fixture(params=["slack", "teams"])
def desk(request: pytest.FixtureRequest) -> Desk:
    kind = SlackDesk if request.param == "slack" else TeamsDesk
    desk: Desk = kind(request.getfixturevalue(f"{request.param}_office"))
    desk.ask_for_a_person()
    return desk


def press(desk: Desk, who: str, button: str) -> str:
    """Let somebody press a button; return what was said in the thread for it, at the end."""
    before = len(desk.thread())
    assert desk.deliver(who, desk.click(who, button)).status_code == 200
    desk.office.work()
    return "\n".join(desk.thread()[before:])


def at_once(desk: Desk, clicks: Sequence[tuple[str, Any]]) -> None:
    """Deliver presses, and let as many workers as there are work at them at the same time.

    What one of them holds comes again to the next, as the queue has it, once they are done.
    """
    for who, click in clicks:
        assert desk.deliver(who, click).status_code == 200
    office = desk.office
    records = office.cloud.records("channel")
    assert len(records) == len(clicks)
    office.cloud.messages.clear()

    def failed(record: dict[str, Any]) -> bool:
        return bool(office.handler.handler({"Records": [record]}, None)["batchItemFailures"])

    with ThreadPoolExecutor(len(records)) as pool:
        held = list(pool.map(failed, records))
    assert not any(failed(record) for record, again in zip(records, held, strict=True) if again)
    office.work()


def chat(desk: Desk) -> dict[str, Any]:
    every = [each for state in ("pending", "active", "returned", "closed", "ticket")
             for each in desk.office.chats(state)]  # fmt: skip
    (found,) = every
    shown: dict[str, Any] = desk.office.front.call("GET", f"/v1/chats/{found['id']}")
    return shown


def state(desk: Desk) -> tuple[str, str | None]:
    shown = chat(desk)
    return shown["state"], shown["operator"]


def entries(desk: Desk) -> list[str]:
    items = desk.office.front.call("GET", "/v1/ledger?type=handoff&limit=100")["items"]
    return [each["type"].removeprefix("handoff.") for each in items]


def test_strangers_and_readers_press_every_button_and_nothing_moves(desk: Desk) -> None:
    desk.tie("ada")
    desk.tie("rita", PersonRole.READER)
    for button in ("accept", "ticket"):
        press(desk, "stranger", button)
        assert "needs the role operator" in press(desk, "rita", button)
    assert state(desk) == ("pending", None)
    press(desk, "ada", "accept")
    for button in ("close", "give-back", "release", "ticket", "take-over"):
        press(desk, "stranger", button)
        assert "needs the role operator" in press(desk, "rita", button)
    desk.writes("rita", "I read along.")
    desk.writes("stranger", "Me, too.")
    assert state(desk) == ("active", "Ada")
    strangers = [each for each in desk.thread() if "tie CODE" in each]
    assert 1 <= len(strangers) <= 3  # a button is answered once an hour, not each press
    assert desk.customer()[-1] == "Ada answers now."
    assert entries(desk) == ["requested", "accepted"]


def test_of_two_who_accept_at_once_one_has_it_and_the_other_takes_it_over(desk: Desk) -> None:
    desk.tie("ada")
    desk.tie("bo")
    at_once(desk, [(who, desk.click(who, "accept")) for who in ("ada", "bo") * 4])
    moved, first = state(desk)
    assert moved == "active" and first in ("Ada", "Bo")
    second = "Bo" if first == "Ada" else "Ada"
    assert entries(desk) == ["requested", "accepted"]
    told = [each for each in desk.thread() if each.startswith(f"{second}: {first} has accepted")]
    assert 1 <= len(told) <= 4
    desk.writes(first.lower(), "Good morning.")
    desk.writes(second.lower(), "I would say no.")
    assert desk.customer()[-2:] == [f"{first} answers now.", f"{first}: Good morning."]
    assert f"{first} has this chat; take it over first." in desk.thread()[-1]
    for button in ("close", "give-back", "release", "ticket"):
        assert "take it over first" in press(desk, second.lower(), button), button
    again = desk.click(second.lower(), "take-over")
    at_once(desk, [(second.lower(), desk.click(second.lower(), "take-over")) for _ in range(4)])
    assert state(desk) == ("active", second)
    assert entries(desk) == ["requested", "accepted", "accepted"]
    desk.deliver(second.lower(), again)
    desk.deliver(second.lower(), again)  # the channel sends it again
    desk.office.work()
    assert state(desk) == ("active", second)
    desk.writes(second.lower(), "I have looked at it.")
    desk.writes(first.lower(), "Still here.")
    assert desk.customer()[-2:] == [f"{second} answers now.", f"{second}: I have looked at it."]
    assert desk.customer().count(f"{second} answers now.") == 1
    assert f"{second} answers a chat" in desk.card()


def test_who_leaves_a_chat_leaves_it_once_and_the_next_one_has_all_that_was_said(
    desk: Desk,
) -> None:
    desk.tie("ada")
    desk.tie("bo")
    press(desk, "ada", "accept")
    desk.writes("ada", "Which order?")
    stale = desk.click("ada", "close")
    at_once(desk, [("ada", desk.click("ada", "release")) for _ in range(4)])
    assert state(desk) == ("pending", None)
    assert entries(desk) == ["requested", "accepted", "released"]
    assert desk.customer()[-1] == "Ada has left; somebody else is waited for."
    assert [each for each in desk.thread() if "has left" in each]
    assert "Accept" in desk.card() and "Leave it" not in desk.card()
    assert "Which order?" in desk.card()
    desk.deliver("ada", stale)
    desk.office.work()
    assert "Nobody has this chat" in desk.thread()[-1]
    desk.writes("ada", "One more thing.")
    assert state(desk) == ("pending", None)
    assert desk.customer()[-1] == "Ada has left; somebody else is waited for."
    press(desk, "bo", "accept")
    assert state(desk) == ("active", "Bo")
    desk.writes("bo", "I go on.")
    assert desk.customer()[-2:] == ["Bo answers now.", "Bo: I go on."]
    said = [each["text"] for each in chat(desk)["transcript"] if each["text"]]
    assert (said.count("Which order?"), said.count("I go on."), "One more thing." in said) == (
        1, 1, False)  # fmt: skip


@pytest.mark.parametrize("accepted", [False, True], ids=["pending", "active"])
def test_a_chat_becomes_one_ticket_however_many_press_it(desk: Desk, accepted: bool) -> None:
    desk.tie("ada")
    desk.tie("bo")
    if accepted:
        press(desk, "ada", "accept")
        desk.writes("ada", "I look into it.")
        assert "take it over first" in press(desk, "bo", "ticket")
        assert state(desk) == ("active", "Ada")
    stale = desk.click("bo", "take-over" if accepted else "accept")
    by = ("ada",) * 8 if accepted else ("ada", "bo") * 4
    at_once(desk, [(who, desk.click(who, "ticket")) for who in by])
    shown = chat(desk)
    assert shown["state"] == "ticket"
    assert entries(desk).count("ticketed") == 1
    (ticket,) = desk.office.front.call("GET", "/v1/tickets")["items"]
    assert ticket["id"] == shown["ticket_id"]
    body = desk.office.front.call("GET", f"/v1/tickets/{ticket['id']}")["body"]
    assert "My order 4711 is lost." in body
    assert ("I look into it." in body) is accepted
    number = f"This chat became a ticket. Its number is {ticket['id']}."
    assert desk.customer().count(number) == 1
    assert desk.thread().count(number) == 1
    assert not any(label in desk.card() for label in LABELS.values())
    desk.deliver("bo", stale)
    desk.office.work()
    assert "it became a ticket" in desk.thread()[-1]
    desk.writes("ada", "Too late.")
    assert desk.customer()[-1] == number
