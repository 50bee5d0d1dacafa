"""A chat that outgrows its model's window, over HTTP and PostgreSQL, its models on the wire."""

from __future__ import annotations

import json
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.chat.test_chat_front import answered, asked_of_chat, front, led, model, say
from tests.plugins.waiting import eventually
from tests.support.chat_wire import Say

from cairn.api.chat_tools import described
from cairn.api.mcp.catalogue import TOOLS
from cairn.chat.loop import SYSTEM as LED_BY
from cairn.chat.window import FULL, room_of
from cairn.chat.wording import phrase
from cairn.compaction import chats
from cairn.compaction.model import SYSTEM
from cairn.compaction.session import KeepBriefing
from cairn.kernel.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.chat_wire import ChatServer
    from tests.support.front import Front

__all__ = ["front", "led", "model"]

ROOM = 10_000
"""Tokens that a conversation may take in these tests, beside the tools and the instructions."""
MARA = "My daughter Mara is allergic to walnuts."
MOVE = "Please move the Acme shop to Hetzner before 3 May."
BRIEFING: dict[str, Any] = {
    "asked": [{"text": "Move the Acme shop to Hetzner before 3 May.", "turns": [2]}],
    "done": [],
    "decided": [],
    "in_progress": [],
    "shared": [{"text": "The daughter Mara is allergic to walnuts.", "turns": [0]}],
}


def long(text: str) -> str:
    """A message of four tenths of the room."""
    return f"{text} " + "And so on, as I told you before, until all is told. " * (ROOM * 3 // 130)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, model: ChatServer) -> None:
    tools = [described(tool) for tool in TOOLS]
    beside = 1_000_000 - room_of(round(1_000_000 / FULL), LED_BY, tools)
    window = round((beside + ROOM) / FULL)
    chat = f"chat=anthropic:claude-haiku-4-5?window={window}"
    monkeypatch.setenv("CAIRN_CHAT_MODEL", f"{chat},compaction=anthropic:claude-haiku-4-5")
    model.answers = answering


def answering(asked: dict[str, Any]) -> str:
    return json.dumps(BRIEFING) if compacts(asked) else answered(asked)


def compacts(asked: dict[str, Any]) -> bool:
    return SYSTEM[:60] in str(asked.get("system"))


def earlier(led: Front, turn: dict[str, Any]) -> str:
    body = {"conversation_id": turn["conversation_id"]}
    kept: str | None = led.call("POST", "/v1/context/session", json=body)["earlier"]
    return kept or ""


def outgrown(model: ChatServer, led: Front) -> dict[str, Any]:
    for text in (MARA, MOVE, "It rains."):
        turn = say(led, long(text))
        assert (turn["state"], turn["source"]) == ("done", "model")
        assert text in shown(model)
    return turn


def shown(model: ChatServer) -> str:
    return json.dumps(asked_of_chat(model)[-1]["messages"])


def test_a_chat_compacts_itself_at_three_quarters_of_the_window_and_goes_on_with_what_is_kept(
    model: ChatServer, led: Front
) -> None:
    turn = outgrown(model, led)
    kept = eventually(lambda: earlier(led, turn), what="the briefing")
    assert "Mara is allergic to walnuts" in kept and "Acme shop to Hetzner before 3 May" in kept
    assert say(led, "Go on!")["state"] == "done"
    told = shown(model)
    assert "<briefing>" in told and "The daughter Mara is allergic to walnuts." in told
    assert long(MARA) not in told and long(MOVE) not in told
    (entry,) = led.call("GET", "/v1/ledger", params={"type": "summary.written"})["items"]
    assert entry["meta"]["node_ids"]
    found = led.call("POST", "/v1/search", json={"query": "daughter allergic to walnuts"})
    assert any(MARA in each["text"] for each in found["results"])


def test_the_briefing_is_of_this_session_and_made_anew_when_it_grows_again(
    model: ChatServer, led: Front
) -> None:
    turn = outgrown(model, led)
    first = eventually(lambda: earlier(led, turn), what="the briefing")
    say(led, "Hi chap!", "another")
    assert "walnuts" not in shown(model)
    model.answers = lambda asked: "no" if compacts(asked) else answered(asked)
    for text in ("We decided to go with Helsinki.", "It snows.", "It is cold."):
        say(led, long(text))
    again = eventually(lambda: (kept := earlier(led, turn)) != first and kept, what="another")
    assert "Helsinki" in str(again) and "walnuts" in str(again)


def hang(model: ChatServer, monkeypatch: pytest.MonkeyPatch) -> Event:
    monkeypatch.setattr(chats, "SECONDS", 0.2)
    return saying(model, Say(text="late", hang=True))


def refuse(model: ChatServer, monkeypatch: pytest.MonkeyPatch) -> Event:
    return saying(model, Say(status=401, text="no"))


def half(model: ChatServer, monkeypatch: pytest.MonkeyPatch) -> Event:
    return saying(model, Say(text='{"asked": [', cut=True))


def saying(model: ChatServer, answer: Say) -> Event:
    def heard(asked: dict[str, Any]) -> str:
        return "A title" if not compacts(asked) else answered(asked)

    model.answers, following, reached = heard, model.next, Event()

    def following_one(asked: dict[str, Any]) -> Say:
        if not compacts(asked):
            return following(asked)
        reached.set()
        if answer.hang:
            model.released.wait(30)
        return answer

    model.next = following_one  # type: ignore[method-assign]
    return reached


@pytest.mark.parametrize("model_fails", [hang, refuse, half])
def test_a_model_that_does_not_compact_leaves_it_to_rules(
    model: ChatServer,
    led: Front,
    monkeypatch: pytest.MonkeyPatch,
    model_fails: Callable[[ChatServer, pytest.MonkeyPatch], Event],
) -> None:
    reached = model_fails(model, monkeypatch)
    turn = outgrown(model, led)
    assert reached.wait(20)
    assert MARA in eventually(lambda: earlier(led, turn), what="the briefing")
    assert say(led, "Go on!")["answer"] == "A title"
    assert MARA in shown(model)


@pytest.mark.parametrize("problem", [RuntimeError("no memory"), Unavailable("It is down.")])
def test_a_compaction_that_crashes_or_fails_costs_no_turn_and_nothing_is_dropped(
    model: ChatServer, led: Front, monkeypatch: pytest.MonkeyPatch, problem: Exception
) -> None:
    tried = Event()

    def keep(*_: object, **__: object) -> None:
        tried.set()
        raise problem

    monkeypatch.setattr(KeepBriefing, "__call__", keep)
    turn = outgrown(model, led)
    assert tried.wait(20)
    assert say(led, "Go on!")["state"] == "done"
    assert "It rains." in shown(model) and MOVE in shown(model)
    monkeypatch.undo()
    assert earlier(led, turn) == ""


def test_a_briefing_that_cannot_be_read_costs_no_turn(
    model: ChatServer, led: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*_: object) -> None:
        raise RuntimeError("gone")

    monkeypatch.setattr(chats.CompactChat, "briefing", down)
    assert say(led, MARA)["source"] == "model"
    assert say(led, "Go on!")["source"] == "model"
    assert MARA in shown(model)


def test_without_a_model_nothing_is_compacted(front: Front, model: ChatServer) -> None:
    model.next = lambda asked: Say(status=503, text="ill")  # type: ignore[method-assign]
    turn = say(front, "harbour?")
    assert turn["answer"].startswith(phrase("fallback", "en"))
    assert earlier(front, turn) == ""
