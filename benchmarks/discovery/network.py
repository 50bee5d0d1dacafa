"""The benchmark of a network: load it over HTTP, discover for each intent that has a pair."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from benchmarks.discovery.comparison import compared
from benchmarks.discovery.scores import Ranked, shown_of, summed_up
from benchmarks.metrics import percentile
from cairn.cli.client import Failure
from cairn.discovery.matching.scoring import SHOULD_MEET

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from uuid import UUID

    from benchmarks.api import TimedApi
    from benchmarks.discovery.corpus import Corpus
    from benchmarks.locomo.run import Progress
    from cairn.embedding.port import Embedder

POLL_SECONDS = 0.25
PATIENCE_SECONDS = 300.0
MOST = 100
ANYONE = "anyone"


@dataclass(slots=True)
class Loaded:
    """What ids of the file became, and what is found back: people by intent and by name."""

    networks: dict[str, str] = field(default_factory=dict[str, str])
    closed: set[str] = field(default_factory=set[str])
    """Networks that one joins by an invite."""

    intents: dict[str, str] = field(default_factory=dict[str, str])
    owners: dict[str, str] = field(default_factory=dict[str, str])
    names: dict[str, str] = field(default_factory=dict[str, str])
    members: dict[str, str] = field(default_factory=dict[str, str])

    def person(self, match: Mapping[str, Any]) -> str:
        """Return whom of the file was found; who said nothing is known by the name."""
        by_name = self.names.get(match["name"]) or str(match["member_id"])
        person = self.owners.get(match["intent_id"] or "", by_name)
        self.members[person] = match["member_id"]
        return person


@dataclass(frozen=True, kw_only=True)
class DiscoveryBench:
    """Measures. `open_workspace` makes one and returns its id and API."""

    open_workspace: Callable[[str], tuple[UUID, TimedApi]]
    embedder: Embedder
    progress: Progress
    stopwatch: Callable[[], float]
    sleep: Callable[[float], None]

    def run(self, corpus: Corpus, *, lenses: bool = False) -> dict[str, Any]:
        """Return how good the answers are, beside what simpler ways would find."""
        _, api = self.open_workspace("discovery")
        loaded = self._load(api, corpus)
        self._wait_until_embedded(api)
        self._introduce_known(api, corpus, loaded)
        rankings = self._ask(api, corpus, loaded, lenses=lenses)
        again = self._keep(api, corpus, loaded, rankings)
        shown = shown_of(corpus, rankings)
        shown["forbidden"] += again
        return {
            **summed_up(corpus, rankings),
            **shown,
            "discover_ms_p50": percentile([ranked.ms for ranked in rankings], 0.5),
            "search_ms_p50": self._search_ms(api, corpus),
            "people": len(corpus.people),
            "intents": len(corpus.intents),
            "comparison": compared(corpus, self.embedder),
        }

    def _load(self, api: TimedApi, corpus: Corpus) -> Loaded:
        """Make networks, and everybody in them with what they seek and offer."""
        loaded = Loaded()
        for network in corpus.networks:
            body = {"name": network["name"], "prompt": network.get("prompt", "")}
            policy = network.get("join_policy", ANYONE)
            made, _ = api.post("/v1/networks", {**body, "join_policy": policy})
            loaded.networks[network["id"]] = made["id"]
            if policy != ANYONE:
                loaded.closed.add(network["id"])
        with self.progress("people", len(corpus.people)) as done:
            for name, person in corpus.people.items():
                self._person(api, loaded, name, person)
                done(1)
        with self.progress("intents", len(corpus.intents)) as done:
            for name, intent in corpus.intents.items():
                body = {
                    "text": intent["text"],
                    "side": intent["side"],
                    "infer": False,
                    "networks": [loaded.networks[each] for each in intent["networks"]],
                    "client_id": intent["person"],
                }
                made, _ = api.post("/v1/intents", body)
                loaded.intents[name] = made["intents"][0]["id"]
                loaded.owners[loaded.intents[name]] = intent["person"]
                done(1)
        return loaded

    def _person(self, api: TimedApi, loaded: Loaded, name: str, person: Mapping[str, Any]) -> None:
        profile = {
            "name": person["name"],
            "bio": person.get("profile", ""),
            "location": person.get("location", ""),
            "skills": person.get("skills", []),
            "client_id": name,
        }
        api.put("/v1/profiles/me", profile)
        for network in person["networks"]:
            path = f"/v1/networks/{loaded.networks[network]}"
            if network in loaded.closed:
                invite, _ = api.post(f"{path}/invites", {})
                api.post("/v1/networks/join", {"token": invite["token"], "client_id": name})
            else:
                api.post(f"{path}/join", {"client_id": name})
        loaded.names[person["name"]] = name

    def _wait_until_embedded(self, api: TimedApi) -> None:
        deadline = self.stopwatch() + PATIENCE_SECONDS
        while int(api.get("/v1/status")["pending_embeddings"]):
            if self.stopwatch() > deadline:
                raise Failure("The intents were not embedded in time.")
            self.sleep(POLL_SECONDS)

    def _introduce_known(self, api: TimedApi, corpus: Corpus, loaded: Loaded) -> None:
        """Let those who know each other have met: an opportunity that both accepted."""
        for name, people in corpus.negatives.items():
            for person, kind in people.items():
                if kind == "already_known":
                    self._meet(api, corpus, loaded, name, person)

    def _meet(self, api: TimedApi, corpus: Corpus, loaded: Loaded, name: str, person: str) -> None:
        body = {"intent_id": loaded.intents[name], "client_id": corpus.intents[name]["person"]}
        answer, _ = api.post("/v1/discover", {**body, "minimum": 0, "limit": MOST})
        found = {loaded.person(match): match["member_id"] for match in answer["matches"]}
        if person not in found:
            return
        made, _ = api.post("/v1/opportunities", {**body, "members": [found[person]]})
        for item in made["items"]:
            path = f"/v1/opportunities/{item['id']}"
            api.post(f"{path}/send", {"client_id": body["client_id"]})
            api.post(f"{path}/accept", {"client_id": person})

    def _ask(self, api: TimedApi, corpus: Corpus, loaded: Loaded, *, lenses: bool) -> list[Ranked]:
        rankings: list[Ranked] = []
        with self.progress("discover", len(corpus.pairs)) as done:
            for name in corpus.pairs:
                body = {
                    "intent_id": loaded.intents[name],
                    "client_id": corpus.intents[name]["person"],
                    "minimum": 0,
                    "limit": MOST,
                    "lenses": lenses,
                }
                answer, ms = api.post("/v1/discover", body)
                found = [(loaded.person(match), match) for match in answer["matches"]]
                rankings.append(
                    Ranked(
                        intent=name,
                        people=[person for person, _ in found],
                        shown=frozenset(
                            person for person, match in found if match["score"] >= SHOULD_MEET
                        ),
                        roles={person: match["role"] for person, match in found},
                        ms=ms,
                    )
                )
                done(1)
        return rankings

    def _keep(self, api: TimedApi, corpus: Corpus, loaded: Loaded, rankings: list[Ranked]) -> int:
        """Keep what is shown, twice; return how many second opportunities of a pair came of it."""
        members, again = loaded.members, 0
        for ranked in rankings:
            picked = [members[person] for person in sorted(ranked.shown)[:20]]
            if not picked:
                continue
            body = {
                "intent_id": loaded.intents[ranked.intent],
                "members": picked,
                "client_id": corpus.intents[ranked.intent]["person"],
            }
            api.post("/v1/opportunities", body)
            again += api.post("/v1/opportunities", body)[0]["new"]
        return again

    def _search_ms(self, api: TimedApi, corpus: Corpus) -> float:
        times = [
            api.post(
                "/v1/search",
                {
                    "query": corpus.intents[name]["text"],
                    "client_id": corpus.intents[name]["person"],
                },
            )[1]
            for name in corpus.pairs
        ]
        return percentile(times, 0.5)
