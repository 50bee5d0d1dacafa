"""A written network: people, what they seek and offer, and who should meet whom."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.cli.client import Failure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

FORBIDDEN = frozenset({"no_shared_network", "self", "already_known"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """One file. `pairs` and `negatives` are by the intent that asks, then by person."""

    networks: Sequence[Mapping[str, Any]]
    people: Mapping[str, Mapping[str, Any]]
    intents: Mapping[str, Mapping[str, Any]]
    pairs: Mapping[str, Mapping[str, Mapping[str, Any]]]
    ungraded: Mapping[str, frozenset[str]]
    negatives: Mapping[str, Mapping[str, str]]

    def about(self, person: str) -> str:
        """Return what a person's profile says."""
        profile = self.people[person]
        skills = ", ".join(profile.get("skills", ()))
        return f"{profile.get('profile', '')} {skills} {profile.get('location', '')}".strip()


def read_network(path: Path) -> Corpus:
    """Return a network of a file; Failure where it is none."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        pairs: dict[str, dict[str, Any]] = defaultdict(dict)
        for pair in values["pairs"]:
            pairs[pair["source_intent"]][pair["target"]] = pair
        ungraded: dict[str, set[str]] = defaultdict(set)
        for each in values.get("ungraded", ()):
            ungraded[each["source_intent"]].add(each["target"])
        negatives: dict[str, dict[str, str]] = defaultdict(dict)
        for each in values.get("negatives", ()):
            negatives[each["source_intent"]][each["target"]] = each["kind"]
        return Corpus(
            networks=values["networks"],
            people={person["id"]: person for person in values["people"]},
            intents={intent["id"]: intent for intent in values["intents"]},
            pairs=dict(pairs),
            ungraded={intent: frozenset(people) for intent, people in ungraded.items()},
            negatives=dict(negatives),
        )
    except (ValueError, KeyError, TypeError) as wrong:
        raise Failure(f"{path} is no network: {wrong}.") from wrong
