"""A community of ten people at the demo's end: one found pair, its negotiation, its cards."""

import json
from typing import Any

from benchmarks.samples import SAMPLES
from cairn.cli.deps import Deps
from cairn.cli.documents import wait_until

FILE = SAMPLES / "community.json"
EXPECTED = "benno"
"""Whom the one who asks should meet."""


def community(deps: Deps) -> dict[str, Any]:
    """Let ten people in, look for one of them, negotiate, and read both cards.

    Safe to repeat: who is in stays, and the same two have one opportunity.
    """
    world = json.loads(FILE.read_text(encoding="utf-8"))
    network_id = _network(deps, world["network"], world["owner"])
    with deps.err.status(f"{len(world['people'])} people say what they seek and offer …"):
        intents = {each["id"]: _let_in(deps, network_id, each) for each in world["people"]}
    _embed(deps)
    asker = world["asks"]
    question = {"intent_id": intents[asker], "client_id": asker}
    matches = deps.client.post("/v1/discover", question)["matches"]
    report: dict[str, Any] = {
        "network_id": network_id,
        "people": {each["id"]: each["name"] for each in world["people"]},
        "asks": asker,
        "text": next(each["text"] for each in world["people"] if each["id"] == asker),
    }
    if not matches:
        return {**report, "match": None, "negotiation": None, "cards": {}}
    return {**report, **_meet(deps, asker, question, matches[0])}


def community_well(report: dict[str, Any]) -> bool:
    """Return whether the right one was found, the agents came to an end, and both have a card."""
    names, match, negotiation = report["people"], report["match"], report["negotiation"]
    return (
        match is not None
        and match["name"] == names[EXPECTED]
        and negotiation is not None
        and negotiation["outcome"] is not None
        and set(report["cards"]) == {report["asks"], EXPECTED}
    )


def show_community(deps: Deps, report: dict[str, Any]) -> None:
    """Draw what came of it."""
    out, names = deps.out, report["people"]
    out.print(f"\n[bold]A community[/] of {len(names)} people")
    out.print(f"  {names[report['asks']]}: {report['text']}", markup=False, highlight=False)
    match, negotiation = report["match"], report["negotiation"]
    if match is None:
        return out.print("  [yellow]nobody was found[/]")
    out.print(f"  {match['score']}  {match['name']}: {match['intent']}", markup=False)
    out.print(f"      {match['reason']}", markup=False, highlight=False)
    speakers = {"source": names[report["asks"]], "candidate": match["name"]}
    for turn in negotiation["turns"] if negotiation else ():
        line = f"  {speakers[turn['speaker']]}'s agent ({turn['action']}): {turn['message']}"
        out.print(line, markup=False, highlight=False)
    for who, card in report["cards"].items():
        out.print(f"  [cyan]card of {names[who]}[/] {card['headline']}", highlight=False)
        for name in ("summary", "why_you", "suggested_action"):
            out.print(f"      {card[name]}", markup=False, highlight=False)


def _network(deps: Deps, network: dict[str, str], owner: str) -> str:
    """Return the id of the network, made unless its owner has it."""
    there = deps.client.get("/v1/networks", client_id=owner)["items"]
    same = [each["id"] for each in there if each["name"] == network["name"]]
    if same:
        return str(same[0])
    body = {**network, "join_policy": "anyone", "client_id": owner}
    return str(deps.client.post("/v1/networks", body)["id"])


def _let_in(deps: Deps, network_id: str, person: dict[str, Any]) -> str:
    """Let one in, and return the id of what they seek or offer."""
    client = {"client_id": person["id"]}
    open_intents = deps.client.get("/v1/intents", state="active", **client)["items"]
    for intent in open_intents:
        if intent["description"] == person["text"]:
            return str(intent["id"])
    profile = {name: person[name] for name in ("name", "bio", "location", "skills")}
    deps.client.put("/v1/profiles/me", {**profile, **client})
    deps.client.post(f"/v1/networks/{network_id}/join", client)
    words = {"text": person["text"], "side": person["side"], "infer": False}
    body = {**words, "networks": [network_id], **client}
    return str(deps.client.post("/v1/intents", body)["intents"][0]["id"])


def _embed(deps: Deps) -> None:
    left: list[int] = [0]

    def ended() -> bool:
        left[0] = deps.client.get("/v1/status")["pending_embeddings"]
        return left[0] == 0

    wait_until(deps, ended, lambda: f"{left[0]} texts wait for their embedding")


def _meet(
    deps: Deps, asker: str, question: dict[str, str], match: dict[str, Any]
) -> dict[str, Any]:
    """Let both agents speak, send it, and return the negotiation and both cards."""
    client = {"client_id": asker}
    body = {**question, "members": [match["member_id"]]}
    created = deps.client.post("/v1/opportunities", body)
    opportunity = (created["items"] or created["already_accepted"])[0]
    negotiation = deps.client.post(
        "/v1/negotiations", {"opportunity_id": opportunity["id"], **client}
    )
    now = deps.client.get(f"/v1/opportunities/{opportunity['id']}", **client)
    if "send" in now["can"]:
        deps.client.post(f"/v1/opportunities/{opportunity['id']}/send", client)
    cards = {who: _card(deps, who, opportunity["id"]) for who in (asker, EXPECTED)}
    return {
        "match": match,
        "negotiation": negotiation,
        "cards": {who: card for who, card in cards.items() if card},
    }


def _card(deps: Deps, who: str, opportunity_id: str) -> dict[str, Any] | None:
    feed = deps.client.get("/v1/feed", client_id=who)
    cards = [card for section in feed["sections"] for card in section["cards"]]
    return next((card for card in cards if card["opportunity_id"] == opportunity_id), None)
