"""The benchmarks of what members say: intents of words, and what words change, over HTTP."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cairn.kernel.text.stems import stem
from cairn.kernel.text.words import content_words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from uuid import UUID

    from benchmarks.api import TimedApi
    from benchmarks.locomo.run import Progress

Case = dict[str, Any]


def read_cases(path: Path) -> list[Case]:
    """Return the cases of a file."""
    cases: list[Case] = json.loads(path.read_text(encoding="utf-8"))["cases"]
    return cases


@dataclass(slots=True)
class Tally:
    """How many of how many were right, by measure, and what was wrong."""

    right: dict[str, int] = field(default_factory=dict[str, int])
    total: dict[str, int] = field(default_factory=dict[str, int])
    wrong: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    def count(self, measure: str, case: str, *, is_right: bool) -> None:
        """Count one answer."""
        self.total[measure] = self.total.get(measure, 0) + 1
        self.right[measure] = self.right.get(measure, 0) + is_right
        if not is_right:
            self.wrong.append({"case": case, "measure": measure})

    def shares(self) -> dict[str, Any]:
        """Return the share that was right, by measure, and the cases that were not."""
        shares: dict[str, Any] = {
            name: round(self.right[name] / total, 3) for name, total in self.total.items()
        }
        return {**shares, "wrong": self.wrong}


@dataclass(frozen=True, kw_only=True)
class StatementsBench:
    """Measures. `open_workspace` makes one and returns its id and API."""

    open_workspace: Callable[[str], tuple[UUID, TimedApi]]
    progress: Progress

    def intents(self, cases: Sequence[Case]) -> dict[str, Any]:
        """Return how often sides, acts and what is kept are right; each case has its own member."""
        _, api = self.open_workspace("intents")
        tally = Tally()
        with self.progress("intents", len(cases)) as done:
            for case in cases:
                if profile := case.get("profile"):
                    body = {"text": profile, "client_id": case["id"]}
                    api.patch("/v1/profiles/me", body)
                body = {"text": case["text"], "client_id": case["id"]}
                answer, _ = api.post("/v1/intents", body)
                judge_intents(case, answer, tally)
                done(1)
        return {"cases": len(cases), **tally.shares()}

    def reconcile(self, cases: Sequence[Case]) -> dict[str, Any]:
        """Return how often words change open intents as they should."""
        _, api = self.open_workspace("reconcile")
        tally = Tally()
        with self.progress("reconcile", len(cases)) as done:
            for case in cases:
                names = {
                    self._open(api, case["id"], intent): intent["id"] for intent in case["active"]
                }
                body = {"text": case["utterance"], "client_id": case["id"]}
                answer, _ = api.post("/v1/intents", body)
                judge_changes(case, answer, names, tally)
                done(1)
        return {"cases": len(cases), **tally.shares()}

    @staticmethod
    def _open(api: TimedApi, client_id: str, intent: Mapping[str, Any]) -> str:
        """Keep an open intent; its side is read from its words where the file names none."""
        body = {"text": intent["text"], "client_id": client_id, "infer": False}
        side = intent.get("side")
        if side is None:
            proposal = {"text": intent["text"], "client_id": client_id, "mode": "propose"}
            proposed, _ = api.post("/v1/intents", proposal)
            sides = [each["side"] for each in proposed["statements"] if each["side"]]
            side = sides[0] if sides else "seeking"
        answer, _ = api.post("/v1/intents", {**body, "side": side})
        return str(answer["intents"][0]["id"])


def judge_intents(case: Case, answer: Mapping[str, Any], tally: Tally) -> None:
    """Count what a text came to."""
    name, expected = case["id"], case["expected"]
    stored = answer["intents"]
    low, high = expected.get("count_range", [expected.get("count")] * 2)
    tally.count("kept_or_dropped", name, is_right=low <= len(stored) <= high)
    left = list(answer["statements"])
    for act in expected["acts"]:
        match = _matching(act, left)
        accepted = {act["act"], *act.get("also_accepted_acts", ())}
        tally.count("acts", name, is_right=match is not None and match["act"] in accepted)
        if act["kept"]:
            is_side = match is not None and match["kept"] and match["side"] == act["side"]
            tally.count("sides", name, is_right=is_side)
            was_vague = match is not None and (match["vague"] or match["original"] is not None)
            tally.count("vague", name, is_right=was_vague == act["vague"])
        if match is not None:
            left.remove(match)
    if enrichment := expected.get("enrichment"):
        words = _stems(" ".join(each["description"] for each in stored))
        needed = enrichment["must_mention_any_of"]
        has_all = all(any(_stems(word) <= words for word in words_) for words_ in needed)
        barred = any(_stems(word) <= words for word in enrichment.get("must_not_mention", ()))
        tally.count("enriched", name, is_right=has_all and not barred)


def judge_changes(
    case: Case, answer: Mapping[str, Any], names: Mapping[str, str], tally: Tally
) -> None:
    """Count what words changed: exactly the changes that are expected, or accepted."""
    actions = answer["actions"]
    changes = sorted((each["type"], names.get(each["id"], "")) for each in actions)
    right = [case["expected"], *case.get("also_accepted", ())]
    sets = [sorted((each["type"], each.get("id", "")) for each in each_set) for each_set in right]
    text = " ".join(each["description"] or "" for each in actions).casefold()
    mentions = all(word.casefold() in text for word in case.get("payload_must_mention", ()))
    barred = any(word.casefold() in text for word in case.get("payload_must_not_mention", ()))
    tally.count("changes", case["id"], is_right=changes in sets)
    tally.count("payloads", case["id"], is_right=mentions and not barred)


def _matching(act: Mapping[str, Any], statements: Sequence[Any]) -> Any:
    """Return the statement that has an act's words; without words the first of the same sort."""
    mentions = [word.casefold() for word in act["mentions"]]
    for each in statements:
        text = f"{each['text']} {each['original'] or ''}".casefold()
        if mentions and all(word in text for word in mentions):
            return each
    alike = [each for each in statements if each["kept"] == act["kept"]]
    return next(iter([] if mentions else alike or statements), None)


def _stems(text: str) -> set[str]:
    return {stem(word) for word in content_words(text)}
