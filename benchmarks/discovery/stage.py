"""Two people of a written negotiation, each with a key of their own, and how they come to meet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cairn.cli.client import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmarks.api import TimedApi
    from benchmarks.discovery.statements import Case

SIDES = ("source", "candidate")
OUTSIDER = "outsider"
OPPOSITE = {"seeking": "offering", "offering": "seeking", "both": "both"}
POLL_SECONDS = 0.25
PATIENCE_SECONDS = 120.0


@dataclass(slots=True)
class Person:
    """A person of a case; `answers` is everything that their key was ever told."""

    client: str
    api: TimedApi
    member_id: str = ""
    intents: list[str] = field(default_factory=list[str])
    answers: list[Any] = field(default_factory=list[Any])

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """POST and remember the answer, a refusal's words too."""
        try:
            answer, _ = self.api.post(path, body)
        except Failure as refused:
            self.answers.append(str(refused))
            raise
        self.answers.append(answer)
        return answer

    def get(self, path: str) -> Any:
        """GET and remember the answer, a refusal's words too."""
        try:
            answer = self.api.get(path)
        except Failure as refused:
            self.answers.append(str(refused))
            raise
        self.answers.append(answer)
        return answer

    @property
    def agent(self) -> str:
        """Return the name of the agent that speaks for them."""
        return f"agent-of-{self.client}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A network of its own for a case, and who is in it."""

    case: Case
    network_id: str
    people: Mapping[str, Person]


@dataclass(frozen=True, kw_only=True)
class Staging:
    """Loads cases over HTTP. `api` is the workspace's admin's."""

    api: TimedApi
    stopwatch: Callable[[], float]
    sleep: Callable[[float], None]

    def stage(self, case: Case, attempt: int) -> Stage:
        """Return a case with its people in a network, their notes kept and their wishes said."""
        name = f"{case['id']}-{attempt}"
        body = {"name": name, "prompt": case.get("network_prompt") or "", "join_policy": "anyone"}
        network, _ = self.api.post("/v1/networks", body)
        people: dict[str, Person] = {}
        speaks = {turn["speaker"] for turn in case.get("script", ())}
        for side in (*SIDES, *({OUTSIDER} & speaks)):
            written = case.get(side) or {"name": "Nobody in particular", "profile": ""}
            people[side] = self._person(f"{name}-{side}", network["id"], written)
        self._wait_until_embedded()
        self._name(network["id"], people)
        return Stage(case=case, network_id=network["id"], people=people)

    def _person(self, client: str, network_id: str, written: Mapping[str, Any]) -> Person:
        key = {"role": "agent", "client_id": client, "scopes": ["shared"], "name": client}
        secret, _ = self.api.post("/v1/keys", key)
        person = Person(client, self.api.keyed(secret["secret"]))
        profile = {"name": written["name"], "bio": written.get("profile") or ""}
        person.api.put("/v1/profiles/me", profile)
        person.api.post(f"/v1/networks/{network_id}/join", {})
        for note in written.get("private_notes") or ():
            person.api.post("/v1/memories", {"type": "fact", "text": note})
        for wish in written.get("intents") or ():
            text = wish if isinstance(wish, str) else wish["text"]
            body: dict[str, Any] = {"text": text, "infer": False, "networks": [network_id]}
            body["side"] = side_of(person.api, wish)
            person.intents.append(person.api.post("/v1/intents", body)[0]["intents"][0]["id"])
        return person

    def _name(self, network_id: str, people: Mapping[str, Person]) -> None:
        """Learn each one's member id: they joined one after the other."""
        items = self.api.get(f"/v1/networks/{network_id}/members?limit=50")["items"]
        for person, each in zip(people.values(), sorted(items, key=_joined), strict=True):
            person.member_id = each["id"]

    def _wait_until_embedded(self) -> None:
        deadline = self.stopwatch() + PATIENCE_SECONDS
        while int(self.api.get("/v1/status")["pending_embeddings"]):
            if self.stopwatch() > deadline:
                raise Failure("The intents were not embedded in time.")
            self.sleep(POLL_SECONDS)


def _joined(member: Mapping[str, Any]) -> tuple[str, str]:
    return member["joined_at"], member["id"]


def side_of(api: TimedApi, wish: Any) -> str:
    """Return the side of a written wish: as the file says, else as its words are read."""
    if not isinstance(wish, str) and wish.get("side"):
        return str(wish["side"])
    text = wish if isinstance(wish, str) else wish["text"]
    proposed, _ = api.post("/v1/intents", {"text": text, "mode": "propose"})
    sides = [each["side"] for each in proposed["statements"] if each["side"]]
    return sides[0] if sides else "both"


def proposed(stage: Stage) -> tuple[str, str] | None:
    """Return the id of the opportunity between the two, and what it was proposed by; None without.

    What the source seeks or offers proposes it, then its profile. Where neither does, a scripted
    negotiation, which is about turns and not about who fits, begins with what the candidate said.
    """
    source, candidate = (stage.people[side] for side in SIDES)
    ways: list[tuple[str, Mapping[str, Any]]] = [
        *(("intent", {"intent_id": intent}) for intent in source.intents),
        ("profile", {}),
    ]
    if stage.case["kind"] == "scripted":
        ways += [
            ("query", {"query": each["description"], "side": OPPOSITE[each["side"]]})
            for each in candidate.api.get("/v1/intents")["items"]
        ]
    for way, body in ways:
        try:
            created = source.post("/v1/opportunities", {**body, "members": [candidate.member_id]})
        except Failure:  # nothing to look with: a profile that says nothing
            continue
        if created["items"]:
            return created["items"][0]["id"], way
    return None
