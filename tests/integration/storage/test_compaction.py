"""`POST /v1/context/compact` as it is wired, over PostgreSQL."""

# pyright: basic

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.storage.test_search_front import door
from tests.support.front import mcp

from cairn.api.dependencies import API_KEY

if TYPE_CHECKING:
    from tests.integration.storage.test_search_front import Door


__all__ = ["door"]

PATH = "/v1/context/compact"
SESSION = {"session_id": "support-4711"}


def turn(role: str, text: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "text": text, **more}


def talk(turns: int = 40) -> list[dict[str, Any]]:
    """A long chat about little, with a few turns that say something."""
    said = [
        turn("user", "Please move the Acme shop to Hetzner before 3 May.", sender="Ines Roth"),
        turn("assistant", "I look at what runs there today.", tool_calls=[CALL]),
        turn("tool", "acme-web-1 has 8 GB and stands in Frankfurt."),
        turn("user", "We decided to go with the 16 GB machine in Helsinki.", sender="Ines Roth"),
        turn("user", "My daughter Mara is allergic to walnuts.", sender="Ines Roth"),
    ]
    for number in range(turns):
        said.append(
            turn("user", f"Well, go on then, that is fine by me {number}", sender="Ines Roth")
        )
        said.append(turn("assistant", f"All right, I go on with the same as before {number}"))
    return [*said, turn("user", "What is left to do?", sender="Ines Roth")]


CALL = {"name": "list_servers", "arguments": {"site": "acme", "password": "Sommer-2031-Regen"}}


def compact(door: Door, messages: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = door.api.call(
        "POST", PATH, json={**SESSION, "messages": messages, **more}
    )
    return made


def recorded(door: Door, conversation_id: str) -> list[dict[str, Any]]:
    found = door.api.call("GET", f"/v1/conversations/{conversation_id}", params={"limit": 200})
    items: list[dict[str, Any]] = found["items"]
    return items


def test_a_transcript_comes_back_shorter_and_what_was_left_out_is_recalled(door: Door) -> None:
    made = compact(door, talk(), share=0.2)
    assert made["tokens"]["after"] <= made["tokens"]["target"] < made["tokens"]["before"] * 0.21
    assert (made["method"], made["failure"]) == ("rules", None)
    assert made["kept"][-1]["text"] == "What is left to do?"
    parts = {name: " ".join(one["text"] for one in items) for name, items in made["parts"].items()}
    assert list(parts) == ["asked", "done", "decided", "in_progress", "shared"]
    assert "Hetzner before 3 May" in parts["asked"]
    assert "16 GB machine in Helsinki" in parts["decided"]
    assert "allergic to walnuts" in parts["shared"]
    assert "acme-web-1" in parts["done"]
    messages = recorded(door, made["conversation_id"])
    texts = {one["id"]: one["content"] for one in messages}
    assert [one["id"] for one in messages] == made["message_ids"] == made["stored"]
    for brief in (one for items in made["parts"].values() for one in items):
        assert not brief["reworded"]
        assert all(brief["text"] in texts[item] for item in brief["message_ids"])
    left_out = next(one for one in messages if one["content"].endswith("by me 7"))
    assert left_out["content"] not in made["context"]
    door.enrich()
    assert left_out["content"] in {r["text"] for r in door.search("fine by me 7")["results"]}


def test_the_same_transcript_again_records_nothing_and_a_longer_one_what_is_new(door: Door) -> None:
    said = [turn("user", "Yes."), turn("assistant", "Done."), turn("user", "Yes.")]
    first = compact(door, said)
    assert len(set(first["stored"])) == 3  # said twice is two messages
    again = compact(door, said)
    assert (again["stored"], again["message_ids"]) == ([], first["message_ids"])
    more = compact(door, [*said, turn("assistant", "Done.")])
    assert len(more["stored"]) == 1
    assert more["message_ids"][:3] == first["message_ids"]
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: compact(door, talk(3)), range(2)))
    assert both[0]["message_ids"] == both[1]["message_ids"]
    assert sorted(len(one["stored"]) for one in both) == [0, len(talk(3))]


def test_a_message_that_was_recorded_before_is_the_same_when_its_time_is(door: Door) -> None:
    at = "2026-05-01T12:00:00.000000Z"
    message = {**turn("user", "The hut is open.", sender="Ines Roth", occurred_at=at), **SESSION}
    known = door.api.call("POST", "/v1/conversations/messages", json={"channel": "api", **message})
    said = [turn("user", "The hut is open.", sender="Ines Roth", occurred_at=at)]
    later = {**said[0], "occurred_at": "2026-05-02T12:00:00.000000Z"}
    made = compact(door, [*said, later])
    assert made["message_ids"][0] == known["message_id"]
    assert made["stored"] == made["message_ids"][1:]


def test_what_was_left_out_before_is_summed_up_with_what_came_since(door: Door) -> None:
    first = compact(door, talk(), share=0.2)
    assert "allergic to walnuts" in first["context"]
    since = [*first["kept"], turn("assistant", "The backup runs, then the move to Helsinki.")]
    shown = [
        {name: one[name] for name in ("role", "text", "sender") if one.get(name)} for one in since
    ]
    second = compact(door, shown, target_tokens=150)
    assert len(second["stored"]) == 1
    assert "allergic to walnuts" in second["context"]


def test_secrets_go_before_anything_is_stored_or_given_back(door: Door) -> None:
    key = "cairn_abcdefgh.Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4"
    assert API_KEY.fullmatch(key)
    made = compact(door, [*talk(2), turn("assistant", f"It is set: api_key={key}")], share=1.0)
    kept = str(made) + str(recorded(door, made["conversation_id"]))
    assert "Sommer-2031-Regen" not in kept
    assert key not in kept


def test_a_kept_summary_is_one_node_and_each_version_an_entry(door: Door) -> None:
    first = compact(door, talk(), share=0.2, keep=True)
    node = door.api.call("GET", f"/v1/nodes/{first['summary_id']}")
    assert (node["text"], node["kind"]) == (first["summary"], "compaction")
    again = compact(
        door, [*talk(), turn("user", "Mara moves to Oslo on 9 May.")], share=0.2, keep=True
    )
    assert again["summary_id"] == first["summary_id"]
    assert door.api.call("GET", f"/v1/nodes/{first['summary_id']}")["text"] == again["summary"]
    entries = door.api.call("GET", "/v1/ledger", params={"type": "summary.written"})["items"]
    assert len(entries) == 2


def test_a_tool_that_returned_much_is_recorded_whole_and_kept_in_part(door: Door) -> None:
    log = "\n".join(f"line {number}: nothing to see" for number in range(4_000))
    much = f"{log}\nThe disk /dev/sdb of acme-web-1 failed at 03:14."
    made = compact(
        door, [turn("user", "Look at the log."), turn("tool", much), turn("user", "And?")]
    )
    messages = recorded(door, made["conversation_id"])
    assert len(messages) == len(made["message_ids"]) > 3
    assert "".join(one["content"] for one in messages[1:-1]).count("\n") >= 3_990
    assert made["tokens"]["after"] <= made["tokens"]["target"]


def test_over_mcp_the_text_is_what_to_go_on_with(door: Door) -> None:
    said = [f"{one.get('sender', one['role'])}: {one['text']}" for one in talk()]
    answer = mcp(
        door.api,
        door.world.key,
        "tools/call",
        name="context_compact",
        arguments={**SESSION, "messages": said, "target_tokens": 200},
    )["result"]
    assert answer["content"][0]["text"] == answer["structuredContent"]["context"]
    assert answer["structuredContent"]["dropped"] > 0


@pytest.mark.parametrize(
    ("wrong", "status", "told"),
    [
        ({"messages": []}, 422, "messages"),
        ({"messages": [turn("user", " ")]}, 422, "messages[0]"),
        ({"messages": [turn("nobody", "x")]}, 422, "role"),
        ({"messages": [turn("user", "nul\0")]}, 422, "messages.0.text"),
        ({"messages": [turn("user", "x")] * 2001}, 422, "messages"),
        ({"messages": [turn("user", "x" * 1_000_001)]}, 413, "text"),
        ({"messages": [turn("user", "x")], "target_tokens": 10}, 422, "target_tokens"),
        ({"messages": [turn("user", "x")], "share": 0}, 422, "share"),
        ({"messages": [turn("user", "x")], "share": 0.5, "target_tokens": 90}, 422, "share"),
        ({"messages": [turn("user", "x")], "method": "magic"}, 422, "method"),
    ],
)
def test_a_transcript_that_is_none_is_refused_by_name_and_nothing_is_stored(
    door: Door, wrong: dict[str, Any], status: int, told: str
) -> None:
    refused = door.api.post(PATH, {**SESSION, **wrong})
    assert (refused.status_code, told in refused.text) == (status, True), refused.text
    assert door.api.call("GET", "/v1/conversations")["items"] == []
