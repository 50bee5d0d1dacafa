"""What the other side of a negotiation may read, over every route that reads, with real ids."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.integration.discovery import test_negotiations
from tests.integration.discovery.test_negotiations import begin
from tests.support.openapi import document

if TYPE_CHECKING:
    from tests.support.negotiating import Member, Scene

scene, pair = test_negotiations.scene, test_negotiations.pair
SECRET = "marabou"
"""A word of everything that is one member's alone."""

SEARCHES: dict[str, dict[str, Any]] = {
    "POST /v1/search": {"query": f"larch planking {SECRET}"},
    "POST /v1/context": {"query": f"larch planking {SECRET}"},
    "POST /v1/conversations/search": {"query": SECRET},
    "POST /v1/contacts/search": {"query": SECRET},
    "POST /v1/query/nodes": {"labels": ["Intent"]},
    "POST /v1/discover": {"query": f"somebody who does larch planking, {SECRET}", "minimum": 0},
    "POST /v1/chat": {"message": f"What do you know of {SECRET}?"},
}


def test_the_other_side_reads_nothing_that_is_a_members_alone_at_any_route(
    scene: Scene, pair: tuple[Member, Member]
) -> None:
    source, target = pair
    wish = source.seek("Larch planking wanted for a pilot boat", "seeking")
    offer = target.seek("Larch planking for wooden boats", "offering")
    ids = everything_of(target) | {"intent_id": offer}
    hidden = f"/v1/intents/{ids['hidden_intent']}/networks/{scene.network_id}"
    target.call("DELETE", hidden)  # of no network that both are in
    talk = begin(source, scene.meet(source, target, intents=(wish, offer)))
    assert len(talk["turns"]) >= 2  # both sides have spoken
    ids |= {
        "member_id": str(target.id),
        "network_id": str(scene.network_id),
        "negotiation_id": talk["id"],
        "opportunity_id": talk["opportunity_id"],
        "agent": target.agent,
    }
    reading = [f"GET {path}" for path, methods in document()["paths"].items() if "get" in methods]
    walked = 0
    for route in (*reading, *SEARCHES):
        method, path = route.split(" ")
        places = {place for name in re.findall(r"{(\w+)}", path) for place in _ids(ids, name)}
        for place in places or {""}:
            answer = ask(source, method, re.sub(r"{\w+}", place, path), SEARCHES.get(route))
            assert SECRET not in said_by(answer, SEARCHES.get(route)), (route, answer.text)
            walked += 1
    assert walked > len(reading)
    own = target.call("GET", "/v1/memories")["items"]
    assert SECRET in str(own)  # it is there, for whose it is


def everything_of(member: Member) -> dict[str, str]:
    """Let a member say, seek and keep things of their own; return their ids."""
    memory = {"type": "fact", "text": f"Larch planking never below {SECRET} an hour."}
    message = {"channel": "api", "session_id": "talk", "role": "user"}
    premise = {"text": f"I am behind with the {SECRET} rent."}
    said = member.call(
        "POST", "/v1/conversations/messages", json={**message, "text": f"My {SECRET} is at stake."}
    )
    chatted = {"message": f"Please remember: the {SECRET} is mine.", "session_id": "chat"}
    return {
        "memory_id": member.call("POST", "/v1/memories", json=memory)["id"],
        "conversation_id": said["conversation_id"],
        "premise_id": member.call("POST", "/v1/profiles/me/premises", json=premise)["items"][0][
            "id"
        ],
        "contact_id": member.call("POST", "/v1/contacts", json={"name": f"{SECRET} Ltd"})["id"],
        "hidden_intent": member.seek(f"Somebody who buys a {SECRET}", "seeking"),
        "turn_id": member.call("POST", "/v1/chat", json=chatted)["id"],
    }


def _ids(ids: dict[str, str], name: str) -> set[str]:
    """Every id that a route might take for another: one that names its own, else all."""
    return {ids[name], ids["hidden_intent"]} if name in ids else set(ids.values())


def ask(member: Member, method: str, path: str, body: dict[str, Any] | None) -> Any:
    headers = {"authorization": f"Bearer {member.key}"}
    sent: dict[str, Any] = {"json": body} if body is not None else {}
    return member.scene.front.answer(method, path, headers=headers, **sent)


def said_by(answer: Any, body: dict[str, Any] | None) -> str:
    """What an answer says beyond the question, which it may repeat."""
    text: str = answer.text
    for words in (body or {}).values():
        text = text.replace(str(words), "")
    return text
