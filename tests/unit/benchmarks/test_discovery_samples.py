"""The invented community: what its files name exists, and what they call possible is."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.samples import SAMPLES

NETWORK: dict[str, Any] = json.loads((SAMPLES / "discovery" / "network.json").read_bytes())
PEOPLE = {person["id"]: person for person in NETWORK["people"]}
INTENTS = {intent["id"]: intent for intent in NETWORK["intents"]}
ABOUT_TWO = (*NETWORK["pairs"], *NETWORK["ungraded"], *NETWORK["negatives"])


def _share_a_network(intent: str, person: str) -> bool:
    return not set(INTENTS[intent]["networks"]).isdisjoint(PEOPLE[person]["networks"])


def test_every_id_of_the_community_is_of_something_in_it() -> None:
    assert all(row["source_intent"] in INTENTS and row["target"] in PEOPLE for row in ABOUT_TWO)
    assert all(
        PEOPLE[intent["person"]]["networks"] == intent["networks"] for intent in INTENTS.values()
    )
    for network in NETWORK["networks"]:
        members = {id for id, person in PEOPLE.items() if network["id"] in person["networks"]}
        assert set(network["members"]) == members


def test_nobody_is_right_and_wrong_for_one_intent() -> None:
    judged = [(row["source_intent"], row["target"]) for row in ABOUT_TWO]
    assert len(judged) == len(set(judged))


def test_who_should_meet_can_and_who_shares_no_network_does_not() -> None:
    for pair in NETWORK["pairs"]:
        source = INTENTS[pair["source_intent"]]["person"]
        assert source != pair["target"]
        assert _share_a_network(pair["source_intent"], pair["target"])
    for negative in NETWORK["negatives"]:
        apart = negative["kind"] == "no_shared_network"
        assert _share_a_network(negative["source_intent"], negative["target"]) is not apart
