"""The benchmark of negotiations: written ones over HTTP, each side by a key of its own.

It measures turns, ends, and what each side can read; not who should meet whom.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from benchmarks.discovery.leaks import leaked
from benchmarks.discovery.stage import OUTSIDER, SIDES, Staging, proposed
from benchmarks.discovery.statements import Tally
from cairn.cli.client import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from uuid import UUID

    from benchmarks.api import TimedApi
    from benchmarks.discovery.stage import Person, Stage
    from benchmarks.discovery.statements import Case
    from benchmarks.locomo.run import Progress
    from cairn.kernel.clock import Clock

TURN_CAP = 6
"""What the product allows where not both sides bring agents: a case with more has no cap."""

MOST_STEPS = 40
ATTEMPTS = 3
"""Of a case that Cairn's own search began before its script could."""

NOT_PROPOSED = "not_proposed"
"""Nothing of the two fits: their agents never talk, which is a no before it begins."""

PRESENTED = frozenset({"draft", "pending", "accepted"})
READ_BY_A_SIDE = (
    "/v1/opportunities",
    "/v1/negotiations",
    "/v1/feed",
    "/v1/feed/health",
    "/v1/intents",
    "/v1/networks",
    "/v1/profiles/me",
    "/v1/memories",
    "/v1/conversations",
    "/v1/documents",
    "/v1/events",
    "/v1/contacts",
    "/v1/logs",
)


class BegunBeforeError(Exception):
    """Cairn's own search made the two negotiate before the script began."""


@dataclass(slots=True)
class Talk:
    """A negotiation as it goes; `views` of the source's key."""

    stage: Stage
    id: str
    opportunity_id: str
    sleep: Callable[[float], None]
    clock: Clock
    was_silent: bool = False
    wrong: list[str] = field(default_factory=list[str])

    @property
    def source(self) -> Person:
        """Return who looked."""
        return self.stage.people["source"]

    def view(self) -> dict[str, Any]:
        """Return how it stands."""
        return self.source.get(f"/v1/negotiations/{self.id}")

    def say(self, turn: Mapping[str, Any]) -> bool:
        """Post a turn of somebody's agent; False where it was refused."""
        person = self.stage.people[turn["speaker"]]
        body = {"action": turn["action"], "message": turn["message"]}
        if roles := turn.get("suggested_roles"):
            body["suggested_roles"] = roles
        path = f"/v1/agents/{quote(person.agent)}/negotiations/{self.id}/respond"
        try:
            person.post(path, body)
        except Failure:
            return False
        return True

    def play(self, turn: Mapping[str, Any]) -> None:
        """Do what a line of a script says, and note where it went as it should not."""
        person, action = self.stage.people[turn["speaker"]], turn["action"]
        if action == "silence":
            self.was_silent = True
            self.let_time_pass()
        elif action == "leave_network":
            person.post(f"/v1/networks/{self.stage.network_id}/leave", {})
        elif action == "expire_intent":
            for intent in person.intents:
                person.api.delete(f"/v1/intents/{intent}")
        else:
            before = _standing(self.view()) if turn.get("expect") else None
            taken = self.say(turn)
            reason = _unexpected(turn.get("expect"), before, self.view, taken=taken)
            if reason is not None:
                self.wrong.append(f"{turn['speaker']} {action}: {reason}")

    def let_time_pass(self) -> None:
        """Wait until the time for the turn is over, as the sweep would find it."""
        view = self.view()
        if view["state"] == "open" and view["deadline"]:
            left = (_moment(view["deadline"]) - self.clock()).total_seconds()
            self.sleep(max(0.0, left) + 0.5)
        self.go_on()

    def go_on(self) -> None:
        """Let Cairn go on where nobody is waited for; who has left may not ask for it."""
        for side in SIDES:
            try:
                self.stage.people[side].post(f"/v1/negotiations/{self.id}/advance", {})
            except Failure:
                continue
            return


@dataclass(frozen=True, kw_only=True)
class NegotiationBench:
    """Measures. `open_workspace` makes one and returns its id and API."""

    open_workspace: Callable[[str], tuple[UUID, TimedApi]]
    progress: Progress
    stopwatch: Callable[[], float]
    sleep: Callable[[float], None]
    clock: Clock

    def run(self, cases: Sequence[Case]) -> dict[str, Any]:
        """Return how often cases end as they should, what leaked, and how easily agents agree."""
        _, api = self.open_workspace("negotiation")
        staging = Staging(api=api, stopwatch=self.stopwatch, sleep=self.sleep)
        tally, results = Tally(), list[dict[str, Any]]()
        with self.progress("negotiations", len(cases)) as done:
            for case in cases:
                results.append(self._case(staging, case, tally))
                done(1)
        return {"cases": len(cases), "of": tally.total, **tally.shares(), **_summary(api, results)}

    def _case(self, staging: Staging, case: Case, tally: Tally) -> dict[str, Any]:
        for attempt in range(1, ATTEMPTS + 1):
            stage = staging.stage(case, attempt)
            try:
                return self._played(stage, tally)
            except BegunBeforeError:
                continue
        raise Failure(f"{case['id']}: Cairn's own search was first {ATTEMPTS} times.")

    def _played(self, stage: Stage, tally: Tally) -> dict[str, Any]:
        case, meeting = stage.case, proposed(stage)
        if meeting is None:
            result: dict[str, Any] = {"outcome": NOT_PROPOSED, "presented": False}
            result |= {"by": None, "view": None}
            wrong, silent = list[str](), False
        else:
            talk = self._begun(stage, meeting[0])
            for turn in _lines(case, talk):
                talk.play(turn)
            view = _ended(talk)
            result = {
                "outcome": view["outcome"],
                "presented": _presented(talk),
                "by": meeting[1],
                "view": view,
            }
            wrong, silent = talk.wrong, talk.was_silent
        result["leaks"] = _leaks(stage, result["view"])
        judge(case, result, wrong, tally, was_silent=silent)
        return {"case": case["id"], "kind": case["kind"], **result}

    def _begun(self, stage: Stage, opportunity_id: str) -> Talk:
        """Begin; agents that speak are there before, so that nobody else speaks for them.

        A negotiation is capped unless both are there when it begins.
        """
        case, source = stage.case, stage.people["source"]
        there = [side for side in SIDES if _has_agent(case, side)]
        capped = (case.get("max_turns") or MOST_STEPS) <= TURN_CAP
        late = there[1:] if capped else []
        for side in there:
            if side not in late:
                _ask_for_turn(stage.people[side])
        try:
            view = source.post("/v1/negotiations", {"opportunity_id": opportunity_id})
        except Failure as refused:
            raise BegunBeforeError from refused
        for side in late:
            _ask_for_turn(stage.people[side])
        if case["kind"] == "scripted" and view["turns"]:
            raise BegunBeforeError
        return Talk(
            stage=stage,
            id=view["id"],
            opportunity_id=opportunity_id,
            sleep=self.sleep,
            clock=self.clock,
        )


def _has_agent(case: Case, side: str) -> bool:
    return case["kind"] == "scripted" or any(
        turn["speaker"] == side for turn in case.get("script", ())
    )


def _ask_for_turn(person: Person) -> None:
    """Let an agent be there; nobody speaks in its place."""
    person.post(f"/v1/agents/{quote(person.agent)}/negotiations/pickup", {"takeover": False})


def _lines(case: Case, talk: Talk) -> Iterator[Mapping[str, Any]]:
    """Yield what is played: the script as it stands, or the turns that replace an agent's."""
    script: Sequence[Mapping[str, Any]] = case.get("script", ())
    if case["kind"] == "scripted":
        yield from script
        return
    left = {side: [turn for turn in script if turn["speaker"] == side] for side in SIDES}
    yield from (turn for turn in script if turn["speaker"] == OUTSIDER)
    for _ in range(MOST_STEPS):
        view = talk.view()
        waiting = left.get(view["speaker"] or "", [])
        if view["state"] != "open" or not waiting:
            return
        yield waiting.pop(0) if len(waiting) > 1 else waiting[0]
        if talk.view()["turn_count"] == view["turn_count"]:
            return  # a turn that was refused would be refused for ever


def _ended(talk: Talk) -> dict[str, Any]:
    """Return how it stands at the end of its script; who still is to speak stays silent."""
    talk.go_on()
    view = talk.view()
    if view["state"] == "open":
        talk.was_silent = True
        talk.let_time_pass()
        view = talk.view()
    return view


def _presented(talk: Talk) -> bool:
    opportunity = talk.source.get(f"/v1/opportunities/{talk.opportunity_id}")
    return opportunity["state"] in PRESENTED


def _standing(view: Mapping[str, Any]) -> tuple[int, str | None]:
    return view["turn_count"], view["outcome"]


def _unexpected(
    expect: str | None,
    before: tuple[int, str | None] | None,
    view: Callable[[], Mapping[str, Any]],
    *,
    taken: bool,
) -> str | None:
    """Return what went otherwise than a script says; None where it went so."""
    if expect is None:
        return None if taken else "refused"
    if not taken:
        return None
    if expect == "refused":
        return "was not refused"
    return None if _standing(view()) == before else "changed something"


def _leaks(stage: Stage, view: Mapping[str, Any] | None) -> dict[str, list[str]]:
    """Return what each side could read of what it may never read, by side."""
    barred: Mapping[str, Sequence[str]] = stage.case.get("must_never_appear") or {}
    for side in (*SIDES, *({OUTSIDER} & stage.people.keys())):
        _read_everything(stage, side, view)
    texts = {
        side: leaked(barred.get(side, ()), person.answers) for side, person in stage.people.items()
    }
    return {side: those for side, those in texts.items() if those}


def _read_everything(stage: Stage, side: str, view: Mapping[str, Any] | None) -> None:
    """Read all that a side's key opens, and search for what it may not know."""
    person = stage.people[side]
    paths = list(READ_BY_A_SIDE)
    paths += [f"/v1/networks/{stage.network_id}/members"]
    paths += [f"/v1/members/{other.member_id}" for other in stage.people.values()]
    if view is not None:
        path = f"/v1/negotiations/{view['id']}"
        paths += [path, f"{path}/events", f"{path}/export", f"{path}/inputs"]
        paths.append(f"/v1/opportunities/{view['opportunity_id']}")
    for path in paths:
        try:
            person.get(path)
        except Failure:  # not for this key: its words were kept
            continue
    barred: Mapping[str, Sequence[str]] = stage.case.get("must_never_appear") or {}
    for text in barred.get(side, ()):
        answer, _ = person.api.post("/v1/search", {"query": text})
        person.answers.append(answer["results"])


def judge(
    case: Case, result: Mapping[str, Any], wrong: Sequence[str], tally: Tally, *, was_silent: bool
) -> None:
    """Count how a case came out, held against what is expected of it."""
    name, expected, outcome = case["id"], case["expected"], result["outcome"]
    accepted = {expected["outcome"], *expected.get("outcome_also_accepted", ())}
    if was_silent and case.get("takeover_allowed"):
        accepted.add("accepted")
    if case["kind"] != "scripted" and not expected["opportunity"]:
        accepted.add(NOT_PROPOSED)
    is_right = outcome in accepted
    tally.count("outcomes", name, is_right=is_right)
    tally.count(case["kind"], name, is_right=is_right)
    as_written = outcome == expected["outcome"]
    presented = expected["opportunity"] if as_written else outcome == "accepted"
    tally.count("opportunities", name, is_right=result["presented"] == presented)
    tally.count("turns", name, is_right=not wrong)
    tally.count("private", name, is_right=not result["leaks"])
    view = result["view"]
    if as_written and view is not None:
        if roles := expected.get("agreed_roles"):
            tally.count("agreed_roles", name, is_right=view["agreed_roles"] == roles)
        if count := expected.get("turn_count"):
            tally.count("turn_counts", name, is_right=view["turn_count"] == count)


def _summary(api: TimedApi, results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return leaks, how often each outcome came, and how many yeses came at once."""
    outcomes: dict[str, int] = {}
    for result in results:
        outcomes[result["outcome"]] = outcomes.get(result["outcome"], 0) + 1
    yeses = [
        result["view"]["turn_count"] == len(SIDES)
        for result in results
        if result["kind"] != "scripted" and result["outcome"] == "accepted"
    ]
    return {
        "leaks": [
            {"case": result["case"], "side": side, "texts": texts}
            for result in results
            for side, texts in result["leaks"].items()
        ],
        "outcomes_seen": dict(sorted(outcomes.items())),
        "proposed_by_query": [r["case"] for r in results if r["by"] == "query"],
        "instant_accepts": round(sum(yeses) / len(yeses), 3) if yeses else None,
        "measures": api.get("/v1/negotiations/measures"),
    }


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
