"""`cairn bench discovery-scale`: what one discovery costs as a community grows, beside one search.

Made-up members, one network a workspace, each with a profile and an intent. Not how well it finds:
that is `bench discovery`.
"""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from benchmarks.metrics import percentile
from benchmarks.scale.corpus import motifs
from benchmarks.scratch import analyse, scratch_database
from benchmarks.sql import query
from cairn.cli.options import table
from cairn.discovery.matching.discovery import DiscoveryRequest
from cairn.discovery.matching.searching import profile_of
from cairn.embedding.port import embed_tokens
from cairn.kernel.access import Principal, Role, Scope
from cairn.kernel.ids import new_id
from cairn.recall.query import SearchRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from uuid import UUID

    from rich.console import Console

    from benchmarks.locomo.run import Progress
    from cairn.adapters.postgres.database import Database
    from cairn.embedding.port import Embedder

MOTIFS = 1_500
BATCH = 5_000
WARM = 5
"""Questions that are asked first and not counted."""

MOST_GROWTH, MOST_SEARCHES = 1.5, 4.0
"""What the largest community may cost of the smallest, and a discovery of a search."""

_PARTS = (
    "discovery_scale.members",
    "discovery_scale.places",
    "discovery_scale.nodes",
    "discovery_scale.vectors",
    "discovery_scale.intents",
    "discovery_scale.assigned",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Community:
    """A workspace with a network of so many members; each has an intent."""

    workspace_id: UUID
    size: int
    intents: Sequence[UUID]

    def member(self, number: int) -> Principal:
        """Return the member of a number as their own agent's key."""
        return Principal(
            workspace_id=self.workspace_id,
            principal_id=self.workspace_id,
            role=Role.AGENT,
            allowed_scopes=frozenset({Scope.PUBLIC, Scope.SHARED}),
            client_id=f"m{number}",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Uses:
    """The use cases that are timed, in this process."""

    discover: Callable[[Principal, DiscoveryRequest], Any]
    search: Callable[[Principal, SearchRequest], Any]


@dataclass(frozen=True, kw_only=True)
class DiscoveryScale:
    """Measures in a database of its own. `uses` builds what is timed over the functions' URL."""

    owner_url: str
    app_url: str
    embedder: Embedder
    open_workspace: Callable[[str, str], tuple[UUID, str]]
    uses: Callable[[str], AbstractContextManager[Uses]]
    progress: Progress
    stopwatch: Callable[[], float]
    motifs: int = MOTIFS

    def run(self, sizes: Sequence[int], *, asked: int) -> dict[str, Any]:
        """Return times by size, how they grow, and what a discovery is of a search.

        Communities are asked in turn, so that a busy machine slows all of them.
        """
        with scratch_database(self.owner_url, self.app_url) as (owner_url, app_url):
            communities = self.fill(owner_url, app_url, sizes)
            with self.uses(app_url) as uses:
                times = self._ask(uses, communities, asked)
        measured = {
            str(community.size): _summary(times[community.size]) for community in communities
        }
        first, last = measured[str(sizes[0])], measured[str(sizes[-1])]
        growth = round(last["discover_ms_p50"] / first["discover_ms_p50"], 2)
        searches = max(each["discover_to_search"] for each in measured.values())
        return {
            "members": measured,
            "growth": growth,
            "discover_to_search": searches,
            "within_limits": growth <= MOST_GROWTH and searches <= MOST_SEARCHES,
        }

    def fill(self, owner_url: str, app_url: str, sizes: Sequence[int]) -> list[Community]:
        """Make a workspace of each size in a database, and let the planner know them."""
        self._copy_motifs(owner_url)
        with without_vector_indexes(owner_url, self.embedder.model.id):
            communities = [self._community(owner_url, app_url, size) for size in sizes]
        analyse(owner_url)
        return communities

    def _copy_motifs(self, owner_url: str) -> None:
        sentences = motifs(self.motifs)
        with self.progress("sentences", len(sentences)) as done:
            vectors, tokens = embed_tokens(self.embedder, sentences)
            done(len(sentences))
        with psycopg.connect(owner_url, autocommit=True) as owner:
            owner.execute(query("discovery_scale.tables"))
            with owner.cursor().copy(query("discovery_scale.copy_motifs")) as copy:
                for at, (text, vector) in enumerate(zip(sentences, vectors, strict=True)):
                    signs = tokens[at].signs() if tokens is not None else None
                    copy.write_row((at, text, f"[{','.join(map(str, vector))}]", signs))

    def _community(self, owner_url: str, app_url: str, size: int) -> Community:
        """Fill a workspace through the functions' role, which may write into this one alone."""
        from cairn.adapters.postgres.database import Database

        workspace_id, _ = self.open_workspace(owner_url, f"bench {size}")
        network_id, intents = new_id(), [new_id() for _ in range(size)]
        with (
            psycopg.connect(owner_url, autocommit=True) as owner,
            owner.cursor().copy(query("discovery_scale.copy_members")) as copy,
        ):
            for number, intent_id in enumerate(intents):
                member_id = new_id()
                profile_id = profile_of(member_id)
                copy.write_row((workspace_id, number, member_id, profile_id, intent_id, network_id))
        community = Community(workspace_id=workspace_id, size=size, intents=intents)
        with closing(Database(app_url)) as database:
            self._fill(database, community)
        return community

    def _fill(self, database: Database, community: Community) -> None:
        values = {
            "workspace_id": community.workspace_id,
            "motifs": self.motifs,
            "model_id": self.embedder.model.id,
        }
        self._write(database, community, ["discovery_scale.networks"], values)
        with self.progress(f"{community.size} members", community.size) as done:
            for first in range(0, community.size, BATCH):
                last = min(first + BATCH, community.size) - 1
                self._write(database, community, _PARTS, {**values, "first": first, "last": last})
                done(last - first + 1)

    @staticmethod
    def _write(
        database: Database, community: Community, names: Sequence[str], values: Mapping[str, Any]
    ) -> None:
        from cairn.adapters.postgres.database import bound
        from cairn.kernel.access.system import system_principal

        writer = system_principal(community.workspace_id)
        with bound(database, writer, read_only=False) as connection:
            for name in names:
                connection.execute(query(name), dict(values))

    def _ask(
        self, uses: Uses, communities: Sequence[Community], asked: int
    ) -> dict[int, list[dict[str, float]]]:
        """Return the milliseconds of each question, by size."""
        times: dict[int, list[dict[str, float]]] = {each.size: [] for each in communities}
        with self.progress("questions", asked + WARM) as done:
            for number in range(asked + WARM):
                for community in communities:
                    question = self._question(uses, community, number * 37 % community.size)
                    if number >= WARM:
                        times[community.size].append(question)
                done(1)
        return times

    def _question(self, uses: Uses, community: Community, place: int) -> dict[str, float]:
        """Return what a discovery of a member's intent took, and a search for its text."""
        member = community.member(place)
        text = motifs(self.motifs)[place * 7919 % self.motifs]
        request = DiscoveryRequest(intent_id=community.intents[place], minimum=0)
        search = SearchRequest(query=f"{text} {place}", stages={"cache": False})
        return {
            "discover": self._timed(lambda: uses.discover(member, request)),
            "search": self._timed(lambda: uses.search(member, search)),
        }

    def _timed(self, call: Callable[[], object]) -> float:
        start = self.stopwatch()
        call()
        return (self.stopwatch() - start) * 1000


@contextmanager
def without_vector_indexes(owner_url: str, model_id: int) -> Generator[None]:
    """Take a model's vector indexes away and make them again: a fill is several times faster."""
    with psycopg.connect(owner_url, autocommit=True) as owner:
        rows = owner.execute(query("discovery_scale.vector_indexes"), {"model_id": model_id})
        indexes = rows.fetchall()
        for name, _ in indexes:
            owner.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(name)))
    yield
    with psycopg.connect(owner_url, autocommit=True) as owner:
        owner.execute("SET maintenance_work_mem = '512MB'")
        for _, definition in indexes:
            owner.execute(definition)


def _summary(times: Sequence[Mapping[str, float]]) -> dict[str, float]:
    shown: dict[str, float] = {}
    for part in ("discover", "search"):
        for share, name in ((0.5, "p50"), (0.95, "p95")):
            shown[f"{part}_ms_{name}"] = round(percentile([each[part] for each in times], share), 2)
    ratio = shown["discover_ms_p50"] / shown["search_ms_p50"]
    return {**shown, "discover_to_search": round(ratio, 2)}


def show(console: Console, measured: Mapping[str, Any]) -> None:
    """Print a row a size, then the two ratios that have limits."""
    shown = table("members", "discover p50 / p95", "search p50 / p95", "discover/search")
    for size, each in measured["members"].items():
        shown.add_row(
            f"{int(size):,}",
            f"{each['discover_ms_p50']:.1f} / {each['discover_ms_p95']:.1f}",
            f"{each['search_ms_p50']:.1f} / {each['search_ms_p95']:.1f}",
            f"{each['discover_to_search']:.2f}",
        )
    shown.caption = "milliseconds, warm, in one process, without models"
    console.print(shown)
    console.print(
        f"the largest is {measured['growth']:.2f} of the smallest (at most {MOST_GROWTH}); a"
        f" discovery {measured['discover_to_search']:.2f} of a search (at most {MOST_SEARCHES})",
        highlight=False,
    )
