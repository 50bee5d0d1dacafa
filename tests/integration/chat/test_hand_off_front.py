"""Chats that go to people, over HTTP, as they are wired, over PostgreSQL."""

from __future__ import annotations

import json
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.chat import test_chat_front, test_widget_front
from tests.support.chat_wire import Say
from tests.support.forgetting import erase_in_memory
from tests.support.widget import Host, Page, page

from cairn.chat.handoff import MOST_LINE_CHARS
from cairn.kernel.access import Scope
from cairn.kernel.ids import new_id
from cairn.kernel.metrics import Metric

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx
    from tests.plugins.postgres import Database
    from tests.support.chat_wire import ChatServer
    from tests.support.front import Front
    from tests.support.world import World

front, led, model, world = (
    test_widget_front.front,
    test_widget_front.led,
    test_chat_front.model,
    test_widget_front.world,
)
HAND_OFF = {"wait_minutes": 5, "away_minutes": 5}
SECRET = "My order is number 4711."


class Desk:
    """An operator with a key."""

    def __init__(self, front: Front, name: str = "Ada", key: str | None = None) -> None:
        self.front, self.name, self.key = front, name, key

    def ask(self, method: str, path: str = "", **given: Any) -> httpx.Response:
        if self.key:
            given["headers"] = {"authorization": f"Bearer {self.key}"}
        return self.front.answer(method, f"/v1/chats{path}", **given)

    def done(self, method: str, path: str = "", **given: Any) -> dict[str, Any]:
        answer = self.ask(method, path, **given)
        assert answer.status_code in (200, 201), answer.text
        shown: dict[str, Any] = answer.json()
        return shown

    def waiting(self) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self.done("GET", "?state=pending")["items"]
        return items

    def accept(self, chat: str, **body: Any) -> httpx.Response:
        return self.ask("POST", f"/{chat}/accept", json={"name": self.name, **body})

    def say(self, chat: str, text: str, **body: Any) -> httpx.Response:
        return self.ask("POST", f"/{chat}/say", json={"text": text, **body})


@pytest.fixture
def second(front: Front) -> Iterator[Desk]:
    made = front.call(
        "POST", "/v1/keys", json={"name": "bo", "role": "admin", "scopes": ["admin", "public"]}
    )
    yield Desk(front, "Bo", made["secret"])


def chats(model: ChatServer) -> list[dict[str, Any]]:
    """Return what was asked of the model to answer a chat, not to screen it."""
    return [each for each in model.requests if "documents_search" in json.dumps(each.get("tools"))]


def plays(model: ChatServer, monkeypatch: pytest.MonkeyPatch, *says: Say) -> None:
    """Let the model say this in the chat; it screens nothing."""
    left = deque(says)

    def following(asked: dict[str, Any]) -> Say:
        in_chat = "documents_search" in json.dumps(asked.get("tools"))
        return left.popleft() if in_chat and left else Say(text="yes")

    monkeypatch.setattr(model, "next", following)


def customer(front: Front, **settings: Any) -> Page:
    return page(front, **{"hand_off": HAND_OFF, "anonymous": test_widget_front.FOREVER, **settings})


def pending(front: Front, message: str = SECRET) -> tuple[Page, str]:
    """Return a page whose customer has asked for a person, and the chat's id."""
    opened = customer(front)
    opened.answered(message)
    answer = opened.ask("POST", "/hand-off")
    assert answer.status_code == 200, answer.text
    assert answer.json()["state"] == "pending"
    assert opened.session()["state"] == "handoff_pending"
    return opened, Desk(front).waiting()[0]["id"]


def later(database: Database, minutes: int = 60) -> None:
    """Let time pass for every hand-off."""
    with database.connect_as_superuser() as root:
        for column in ("moved_at", "heard_at", "unanswered_since"):
            root.execute(
                f"UPDATE handoff SET {column} = {column} - %s::interval",  # noqa: S608
                [f"{minutes} minutes"],
            )


def spoken(of: dict[str, Any]) -> list[tuple[str, str]]:
    lines = of.get("transcript") or of.get("items") or of.get("lines") or []
    return [(each.get("speaker", each.get("by")), each["text"]) for each in lines if each["text"]]


def test_a_chat_goes_to_a_person_and_both_ways_and_is_closed(
    led: Front, model: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    plays(model, monkeypatch, Say(text="Let me see."))
    shop, chat = pending(led)
    calls = len(model.requests)
    assert chats(model)
    desk = Desk(led)
    assert shop.answered("Is anybody there?")["state"] == "passed"
    accepted = desk.accept(chat)
    assert accepted.status_code == 200, accepted.text
    assert (accepted.json()["state"], accepted.json()["operator"]) == ("active", "Ada")
    assert shop.session()["state"] == "handoff_active"
    assert desk.say(chat, "Hello, I am Ada.").status_code == 201
    turn = shop.answered("Where is it?")
    assert (turn["state"], turn["answer"]) == ("passed", None)
    assert desk.say(chat, "On its way.").status_code == 201
    heard = shop.ask("GET", "/hand-off").json()
    assert heard["operator"] == "Ada"
    assert spoken(heard) == [
        ("customer", "Is anybody there?"),
        ("operator", "Hello, I am Ada."),
        ("customer", "Where is it?"),
        ("operator", "On its way."),
    ]
    assert [each["kind"] for each in heard["lines"] if each["kind"] != "said"] == [
        "requested",
        "accepted",
    ]
    assert [
        each["text"]
        for each in shop.ask("GET", f"/hand-off?after={heard['after'] - 1}").json()["lines"]
    ] == ["On its way."]
    closed = desk.done("POST", f"/{chat}/close", json={"resolution": "It was sent again."})
    assert closed["state"] == "closed"
    assert shop.session()["state"] == "closed"
    assert shop.say("One more").status_code == 401
    assert shop.ask("GET", "/hand-off").json()["state"] == "closed"
    assert len(model.requests) == calls, "no model is asked while a person answers"
    assert desk.done("GET", f"/{chat}")["resolution"] == "It was sent again."


def test_who_takes_over_gets_all_that_was_said_and_done_and_why(
    led: Front,
    model: ChatServer,
    monkeypatch: pytest.MonkeyPatch,
    world: World,
    tmp_path: Path,
) -> None:
    guide = "# Gates\n\nThe harbour gate opens at six; the guard is ilse.brandt@example.org.\n"
    test_widget_front.ingest(world, tmp_path, guide, "kb://gates.md", Scope.PUBLIC)
    reason = "The documents say nothing of single orders."
    query = {"query": "When does the harbour gate open, for ada@example.org?"}
    search = Say(calls=(("documents_search", json.dumps(query)),))
    person = Say(calls=(("ask_a_person", json.dumps({"reason": reason})),))
    plays(model, monkeypatch, search, Say(text="At six."), search, person, Say(text="I called."))
    shop = customer(led)
    first = shop.answered("When does the gate open?")
    second = shop.answered(SECRET)
    chat = Desk(led).waiting()[0]
    assert (chat["cause"], chat["why"]) == ("agent", reason)
    bundle = Desk(led).done("GET", f"/{chat['id']}")
    assert [(each["by"], each["kind"], each["text"]) for each in bundle["transcript"]] == [
        ("customer", "said", "When does the gate open?"),
        ("agent", "said", first["answer"]),
        ("customer", "said", SECRET),
        ("cairn", "requested", None),
        ("agent", "said", second["answer"]),
    ]
    assert [each["turn_id"] for each in bundle["tool_calls"]] == [
        first["turn_id"],
        *[second["turn_id"]] * 2,
    ]
    calls = {each["tool"]: each for each in bundle["tool_calls"]}
    assert calls["documents_search"]["arguments"].keys() == {"query"}
    assert "opens at six" in calls["documents_search"]["result"]
    assert calls["ask_a_person"]["arguments"] == {"reason": reason}
    assert "@example.org" not in json.dumps(bundle["tool_calls"])
    assert first["citations"] and bundle["citations"] == first["citations"]
    assert bundle["memory"]["sources"] == second["citations"]
    assert bundle["memory"]["turns"] == 2 and bundle["memory"]["labels"]["intent"]
    assert bundle["why"] == reason


def test_what_a_call_of_a_tool_holds_deep_inside_is_hidden_too(
    led: Front, model: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = {"items": [{"type": "fact", "text": "Ada's mail is ada.lovelace@example.org."}]}

    def following(asked: dict[str, Any]) -> Say:
        in_chat = "memory_remember" in json.dumps(asked.get("tools")) and not model_called
        model_called.append(in_chat)
        calls = (("memory_remember", json.dumps(items)),) if in_chat else ()
        return Say(calls=calls) if calls else Say(text="Done.")

    model_called: list[bool] = []
    monkeypatch.setattr(model, "next", following)
    said = led.call("POST", "/v1/chat", json={"message": "Keep Ada's mail.", "session_id": "s"})
    taken = Desk(led).done("POST", json={"turn_id": said["id"], "name": "Ada"})
    bundle = Desk(led).done("GET", f"/{taken['id']}")
    assert [each["tool"] for each in bundle["tool_calls"]] == ["memory_remember"]
    assert "ada.lovelace" not in json.dumps(bundle["tool_calls"][0]["arguments"])


@pytest.mark.parametrize(
    "message", ["I want to talk to a human", "Kann ich mit einem Menschen sprechen?"]
)
def test_words_that_ask_for_a_person_call_one_without_a_model(
    led: Front, model: ChatServer, message: str
) -> None:
    shop = customer(led)
    assert shop.answered(message)["state"] == "done"
    assert (chats(model), Desk(led).waiting()[0]["cause"]) == ([], "rules")


def test_answers_that_find_nothing_call_a_person_when_the_widget_says_so(front: Front) -> None:
    shop = page(front, hand_off={**HAND_OFF, "after_unanswered": 2})
    shop.answered("What of the moon?")
    assert Desk(front).waiting() == []
    shop.answered("And of mars?")
    assert Desk(front).waiting()[0]["why"].startswith("2 answers in a row")


def test_without_the_setting_nobody_is_called(front: Front) -> None:
    shop = page(front)
    assert shop.ask("GET").json()["person"] is False
    shop.answered("I want to talk to a human")
    refused = shop.ask("POST", "/hand-off")
    assert (refused.status_code, refused.json()["reason"]) == (403, "hand-off")
    assert shop.ask("GET", "/hand-off").status_code == 404
    assert Desk(front).waiting() == []


def test_before_anything_was_said_nobody_is_called(front: Front) -> None:
    refused = customer(front).ask("POST", "/hand-off")
    assert (refused.status_code, refused.json()["reason"]) == (409, "session-state")


def test_asking_again_changes_nothing(front: Front) -> None:
    shop, chat = pending(front)
    assert shop.ask("POST", "/hand-off").status_code == 200
    assert [each["id"] for each in Desk(front).waiting()] == [chat]


def test_of_two_who_accept_at_once_one_is_told_who_was_quicker(front: Front, second: Desk) -> None:
    shop, chat = pending(front)
    desks = [Desk(front), second]
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda desk: desk.accept(chat), desks))
    winner = next(desk for desk, answer in zip(desks, answers, strict=True) if answer.is_success)
    loser = next(answer for answer in answers if not answer.is_success)
    assert (loser.status_code, loser.json()["reason"]) == (409, "accepted")
    assert f"{winner.name} has accepted this chat" in loser.json()["detail"]
    kinds = [each["kind"] for each in shop.ask("GET", "/hand-off").json()["lines"]]
    assert kinds.count("accepted") == 1
    entries = front.call("GET", "/v1/ledger", params={"type": "handoff", "limit": 50})["items"]
    assert [each["type"] for each in entries] == ["handoff.requested", "handoff.accepted"]


def test_another_operator_takes_over_when_they_say_so(front: Front, second: Desk) -> None:
    shop, chat = pending(front)
    desk = Desk(front)
    desk.accept(chat)
    refused = second.say(chat, "Me too")
    assert (refused.status_code, refused.json()["reason"]) == (409, "not-yours")
    assert second.accept(chat).status_code == 409
    assert second.accept(chat, take_over=True).json()["operator"] == "Bo"
    assert desk.say(chat, "Still me").status_code == 409
    assert second.say(chat, "Hello, Bo here.").status_code == 201
    assert shop.ask("GET", "/hand-off").json()["operator"] == "Bo"


def test_an_operator_who_leaves_or_falls_silent_lets_it_wait_for_another(
    front: Front, second: Desk, database: Database
) -> None:
    shop, chat = pending(front)
    desk = Desk(front)
    desk.accept(chat)
    assert desk.done("POST", f"/{chat}/release")["state"] == "pending"
    assert shop.session()["state"] == "handoff_pending"
    shop.answered("Hello?")
    assert second.accept(chat).status_code == 200
    later(database)
    heard = shop.ask("GET", "/hand-off").json()
    assert (heard["state"], heard["operator"]) == ("pending", None)
    assert [each["name"] for each in heard["lines"] if each["kind"] == "left"] == ["Ada", "Bo"]
    assert desk.accept(chat).status_code == 200
    desk.say(chat, "Here I am.")
    assert ("customer", "Hello?") in spoken(desk.done("GET", f"/{chat}"))


def test_nobody_in_time_makes_a_ticket_with_all_of_it_and_the_customer_is_told(
    front: Front, database: Database
) -> None:
    shop, chat = pending(front)
    shop.answered("Hello? Is somebody there?")
    later(database)
    shop.answered("I go now.")
    heard = shop.ask("GET", "/hand-off").json()
    assert (heard["state"], heard["lines"][-1]["kind"]) == ("ticket", "ticket")
    ticket = front.call("GET", f"/v1/tickets/{heard['ticket_id']}")
    for text in (SECRET, "Hello? Is somebody there?", "I go now."):
        assert text in ticket["body"]
    assert len(front.call("GET", "/v1/tickets")["items"]) == 1
    assert shop.session()["state"] == "closed"
    late = Desk(front).accept(chat)
    assert (late.status_code, late.json()["reason"]) == (409, "hand-off-over")
    assert "ticket" in late.json()["detail"]
    assert Desk(front).done("GET", "/numbers")["tickets"] == 1


def test_who_looks_at_once_when_time_is_up_makes_one_ticket(
    front: Front, database: Database
) -> None:
    shop, _ = pending(front)
    later(database)
    with ThreadPoolExecutor(6) as pool:
        heard = list(pool.map(lambda _: shop.ask("GET", "/hand-off").json(), range(6)))
    assert {each["state"] for each in heard} == {"ticket"}
    assert len(front.call("GET", "/v1/tickets")["items"]) == 1


def test_the_sweep_makes_the_ticket_of_a_customer_who_is_gone(
    front: Front, database: Database, world: World
) -> None:
    _, chat = pending(front)
    later(database)
    front.app.state.services.hand_offs.sweep(world.workspace_id)
    assert Desk(front).done("GET", f"/{chat}")["ticket_id"]


def test_what_is_said_while_somebody_accepts_or_time_is_up_is_never_lost(
    front: Front, database: Database
) -> None:
    shop, chat = pending(front)
    later(database)
    words = [f"word {number}" for number in range(8)]
    with ThreadPoolExecutor(4) as pool:
        looks = [pool.submit(shop.ask, "GET", "/hand-off") for _ in range(2)]
        answers = list(pool.map(shop.say, words))
        for each in looks:
            each.result()
    bundle = Desk(front).done("GET", f"/{chat}")
    texts = [text for _, text in spoken(bundle)]
    body = front.call("GET", f"/v1/tickets/{bundle['ticket_id']}")["body"]
    for word, answer in zip(words, answers, strict=True):
        if answer.status_code == 200:
            assert word in texts and word in body
        else:  # the page opens a session, and says it there
            assert answer.status_code == 401


def test_the_agent_gets_a_chat_back_and_knows_what_was_said(
    led: Front, model: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    plays(model, monkeypatch, Say(text="Let me see."), Say(text="As Ada said: tomorrow."))
    shop, chat = pending(led)
    desk = Desk(led)
    desk.accept(chat)
    shop.answered("When does it come?")
    desk.say(chat, "It comes tomorrow.")
    assert desk.done("POST", f"/{chat}/return")["state"] == "returned"
    assert shop.session()["state"] == "active"
    assert shop.answered("When again?")["answer"] == "As Ada said: tomorrow."
    assert "It comes tomorrow." in json.dumps(chats(model)[-1])


def test_an_operator_makes_a_ticket_and_the_chat_is_over(front: Front) -> None:
    shop, chat = pending(front)
    desk = Desk(front)
    desk.accept(chat)
    done = desk.done("POST", f"/{chat}/ticket")
    assert (done["state"], shop.session()["state"]) == ("ticket", "closed")
    assert SECRET in front.call("GET", f"/v1/tickets/{done['ticket_id']}")["body"]


def test_a_chat_of_a_widget_that_was_removed_stays_the_widgets(front: Front) -> None:
    shop = page(front)
    turn = shop.answered(SECRET)
    front.call("DELETE", "/v1/widget")
    desk = Desk(front)
    assert [each["channel"] for each in desk.done("GET", "/live")["items"]] == ["widget"]
    assert (
        desk.done("POST", json={"turn_id": turn["turn_id"], "name": "Ada"})["channel"] == "widget"
    )


def test_a_chat_that_the_agent_answers_is_taken_over(front: Front) -> None:
    shop = page(front)
    turn = shop.answered(SECRET)
    live = Desk(front).done("GET", "/live")["items"]
    assert [(each["turn_id"], each["question"]) for each in live] == [(turn["turn_id"], SECRET)]
    taken = Desk(front).done("POST", json={"turn_id": turn["turn_id"], "name": "Ada"})
    assert (taken["state"], taken["cause"]) == ("active", "operator")
    assert shop.session()["state"] == "handoff_active"
    assert Desk(front).done("GET", "/live")["items"] == []
    assert shop.answered("Hm?")["state"] == "passed"


def test_a_chat_of_a_key_is_taken_over_and_its_caller_hears_the_person(front: Front) -> None:
    said = front.call("POST", "/v1/chat", json={"message": "hello", "session_id": "desk-7"})
    taken = Desk(front).done("POST", json={"turn_id": said["id"], "name": "Ada"})
    turn = front.call("POST", "/v1/chat", json={"message": "Who is it?", "session_id": "desk-7"})
    assert (turn["state"], turn["answer"]) == ("passed", None)
    assert Desk(front).say(taken["id"], "It is Ada.").status_code == 201
    shown = front.call("GET", f"/v1/chat/{turn['id']}")
    assert (shown["source"], shown["answer"]) == ("person", "It is Ada.")
    lines = front.call("GET", f"/v1/chat/{said['id']}/lines")
    assert spoken(lines) == [("customer", "Who is it?"), ("operator", "It is Ada.")]
    Desk(front).done("POST", f"/{taken['id']}/return")
    assert (
        front.call("POST", "/v1/chat", json={"message": "hi", "session_id": "desk-7"})["state"]
        == "done"
    )


def test_the_conversation_has_what_was_said_to_the_person_and_by_them(front: Front) -> None:
    shop, chat = pending(front)
    shop.answered("Are you there?")
    desk = Desk(front)
    desk.accept(chat)
    desk.say(chat, "I am Ada.")
    listed = front.call("GET", "/v1/conversations")["items"]
    assert len(listed) == 1
    messages = front.call("GET", f"/v1/conversations/{listed[0]['id']}")["items"]
    texts = [each["content"] for each in messages]
    assert [text for text in texts if text in ("Are you there?", "I am Ada.")] == [
        "Are you there?",
        "I am Ada.",
    ]


def test_what_a_process_did_not_live_to_record_the_sweep_records(
    front: Front, database: Database, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, _ = pending(front)
    services = front.app.state.services
    monkeypatch.setattr(type(services.record_lines), "__call__", lambda self, row: None)
    shop.answered("Said before it died.")
    monkeypatch.undo()
    with database.connect_as_superuser() as root:
        root.execute("UPDATE handoff_line SET at = at - interval '5 minutes'")
    for _ in range(2):
        services.hand_offs.sweep(world.workspace_id)
    conversation = front.call("GET", "/v1/conversations")["items"][0]["id"]
    messages = front.call("GET", f"/v1/conversations/{conversation}")["items"]
    assert [each["content"] for each in messages].count("Said before it died.") == 1


def test_the_person_is_heard_by_a_stream_that_ends_with_the_chat(front: Front) -> None:
    shop, chat = pending(front)
    desk = Desk(front)
    desk.accept(chat)
    desk.say(chat, "Hello.")
    desk.done("POST", f"/{chat}/close", json={"resolution": "Done."})
    streamed = shop.ask("GET", "/hand-off/events?after=2").text
    data = [json.loads(line[6:]) for line in streamed.splitlines() if line.startswith("data: ")]
    assert [each.get("text") for each in data] == ["Hello.", None, None]
    assert data[-1] == {"state": "closed"}


def test_a_page_that_says_the_same_again_says_it_once(front: Front) -> None:
    shop, chat = pending(front)
    body = {"message": "Twice", "turn_id": str(new_id())}
    for _ in range(2):
        assert shop.ask("POST", "/messages", json=body).json()["state"] == "passed"
    desk = Desk(front)
    desk.accept(chat)
    line = str(new_id())
    first, again = desk.say(chat, "Once", line_id=line), desk.say(chat, "Once", line_id=line)
    assert first.json()["seq"] == again.json()["seq"]
    assert desk.say(chat, "Other", line_id=line).json()["reason"] == "line-id"
    assert [text for _, text in spoken(shop.ask("GET", "/hand-off").json())] == ["Twice", "Once"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"text": ""}, 422),
        ({"text": "   "}, 422),
        ({"text": "a\u0000b"}, 422),
        ({"text": "x" * (MOST_LINE_CHARS + 1)}, 413),
        ({"text": 7}, 422),
        ({}, 422),
        ({"text": "x", "line_id": "no"}, 422),
        ({"text": "x", "extra": 1}, 422),
    ],
)
def test_what_an_operator_cannot_say_is_refused_and_said_to_nobody(
    front: Front, body: dict[str, Any], status: int
) -> None:
    shop, chat = pending(front)
    desk = Desk(front)
    desk.accept(chat)
    refused = desk.ask("POST", f"/{chat}/say", json=body)
    assert refused.status_code == status, refused.text
    assert spoken(shop.ask("GET", "/hand-off").json()) == []


def test_half_a_character_is_refused_on_both_sides(front: Front) -> None:
    shop, chat = pending(front)
    Desk(front).accept(chat)
    json_type = {"content-type": "application/json"}
    raw = b'{"text": "\\ud800", "message": "\\ud800"}'
    said = front.answer("POST", f"/v1/chats/{chat}/say", content=raw, headers=json_type)
    assert said.status_code == 422
    assert shop.ask("POST", "/messages", content=raw, headers=json_type).status_code == 422


def test_customers_and_strangers_see_nothing_of_anothers_hand_off(
    front: Front, world: World
) -> None:
    shop, chat = pending(front)
    other = Page(front.app, shop.widget_id)
    other.open()
    assert other.ask("GET", "/hand-off").status_code == 404
    assert other.ask("GET", "/hand-off/events").status_code == 404
    assert (
        Page(front.app, shop.widget_id, token="cairnw_nobody").ask("GET", "/hand-off").status_code
        == 401
    )
    for method, path in (
        ("GET", f"/{new_id()}"),
        ("POST", f"/{new_id()}/release"),
        ("POST", f"/{new_id()}/ticket"),
    ):
        assert Desk(front).ask(method, path).status_code == 404
    token = Desk(front, key=shop.token)
    assert token.ask("GET", f"/{chat}").status_code == 401
    made = front.call(
        "POST", "/v1/keys", json={"name": "agent", "role": "agent", "scopes": ["public"]}
    )
    agent = Desk(front, key=made["secret"])
    assert agent.ask("GET").status_code == 403
    assert agent.accept(chat).status_code == 403


def test_limits_hold_while_a_person_answers(front: Front) -> None:
    limits = {"per_minute": 3, "challenge_after": None}
    shop = page(front, hand_off=HAND_OFF, anonymous=limits)
    shop.answered("one")
    shop.ask("POST", "/hand-off")
    shop.answered("two")
    shop.answered("three")
    refused = shop.say("four")
    assert refused.status_code == 429 and "retry-after" in refused.headers
    assert ("customer", "four") not in spoken(shop.ask("GET", "/hand-off").json())


def test_forgetting_a_customer_forgets_what_they_said_to_a_person(
    front: Front, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    erase_in_memory(monkeypatch, tmp_path)
    host = Host()
    shop = customer(front, host=host.settings)
    shop.open(host_token=host.token(shop.widget_id))
    shop.answered(SECRET)
    shop.ask("POST", "/hand-off")
    shop.answered("And my street is Elm 7.")
    desk = Desk(front)
    chat = desk.waiting()[0]["id"]
    desk.accept(chat)
    desk.say(chat, "Ada, we know Elm 7.")
    entries = json.dumps(front.call("GET", "/v1/ledger", params={"type": "handoff", "limit": 50}))
    assert not {words for words in ("Elm 7", "number 4711", '"ada"', '"Ada"') if words in entries}
    ada = {"subject": {"kind": "client", "natural_key": "ada"}}
    forgotten = front.call("POST", "/v1/forget", json=ada)
    proof = front.call("POST", f"/v1/forget/{forgotten['id']}/proof", json={})
    assert proof["clean"], proof
    with database.connect_as_superuser() as root:
        rows = root.execute("SELECT count(*) FROM handoff WHERE id = %s", [chat]).fetchone()
    assert rows == (0,)


def test_webhooks_are_told_of_a_chat_that_waits_by_ids_alone(
    front: Front, database: Database
) -> None:
    _, chat = pending(front)
    with database.connect_as_superuser() as root:
        assert root.execute("SELECT count(*) FROM handoff WHERE id = %s", [chat]).fetchone() == (1,)


def test_numbers_say_how_long_customers_waited(front: Front) -> None:
    _, chat = pending(front)
    numbers = Desk(front).done("GET", "/numbers")
    assert (numbers["pending"], numbers["active"], numbers["accepted"]) == (1, 0, 0)
    Desk(front).accept(chat)
    numbers = Desk(front).done("GET", "/numbers")
    assert (numbers["pending"], numbers["active"], numbers["accepted"]) == (0, 1, 1)
    assert numbers["median_wait_seconds"] is not None


def test_a_customer_is_heard_by_a_person_though_the_day_is_spent_and_the_session_is_full(
    led: Front, model: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    plays(model, monkeypatch, Say(text="Let me see."))
    shop, chat = pending(led)
    full = {**test_widget_front.FOREVER, "per_session": 1, "challenge_after": 0}
    test_widget_front.set_widget(led, hand_off=HAND_OFF, anonymous=full, day_usd=0)

    assert shop.answered("Is anybody there?")["state"] == "passed"
    assert Desk(led).accept(chat).status_code == 200
    assert shop.answered("I am in a hurry.")["state"] == "passed"

    Desk(led).done("POST", f"/{chat}/return")
    refused = shop.say("And now?")
    assert (refused.status_code, refused.json()["reason"]) == (429, "chat-session")


def test_every_session_that_ends_is_counted_once_by_how_it_did(
    front: Front, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, str]] = []

    def tell(metric: Metric, value: float = 1, /, **labels: Any) -> None:
        if metric in (Metric.CHAT_SESSIONS, Metric.CHAT_HANDOFFS):
            told.extend([(labels["channel"], labels.get("outcome", "person"))] * int(value))

    monkeypatch.setattr("cairn.bootstrap.parts.metrics", lambda _: tell)
    happy = customer(front)
    happy.answered()
    for _ in range(2):
        assert happy.ask("POST", "/resolve").status_code == 200
    assert told == [("widget", "resolved")]
    shop, chat = pending(front)
    Desk(front).accept(chat)
    Desk(front).done("POST", f"/{chat}/close", json={"resolution": "Sent again."})
    assert told[1:] == [("widget", "person"), ("widget", "closed")]
    shop, _ = pending(front)
    later(database)
    for _ in range(2):
        shop.ask("GET", "/hand-off")
    assert told[3:] == [("widget", "person"), ("widget", "ticket")]
    customer(front).answered()
    with database.connect_as_superuser() as root:
        root.execute("UPDATE chat_session SET seen_at = seen_at - interval '16 minutes'")
    for _ in range(2):
        customer(front)
    assert told[5:] == [("widget", "idle")]
