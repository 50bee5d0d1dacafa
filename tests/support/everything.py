"""A workspace with one of everything that writes the ledger, over a real database."""

# pyright: basic

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from tests.fakes.keys import InMemoryKeyStore
from tests.support.embedding import HASHING, HashingEmbedder
from tests.support.graph import Graphing
from tests.support.ingesting import Documents
from tests.support.observing import Observing, event
from tests.support.platform import platform_of
from tests.support.remembering import NOON, Remembering, Sent, admin_of, fact
from tests.support.talking import Talking

from cairn.accounts.keys import CreateKey
from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.ledger.replay import PostgresReplays
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.ageing.count_accesses import CountAccesses
from cairn.conversations.record import ChangeConversation
from cairn.kernel.access import Role, Scope
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.ids import new_id
from cairn.memories.delete import DeleteMemory
from cairn.memories.kinds import MemoryKind
from cairn.nodes.views import Split
from cairn.reading.views import NewKey
from cairn.rebuild.rebuild import Rebuild
from cairn.workspace.change import KeepSettings

if TYPE_CHECKING:
    from uuid import UUID

    from tests.plugins.postgres import Database

HUT = "# Hut\n\nWords about the hut and Redis.\n\n## Beds\n\nThere are twelve beds.\n"
HUT_LATER = "# Hut\n\nWords about the hut and Redis.\n\n## Stoves\n\nThere are two stoves.\n"
MODEL = replace(HASHING, id=1)
"""A model the database knows, with as many dimensions."""

BARRED = """INSERT INTO forgetting (workspace_id, id, subject_id, kind, mark, keyed, reason,
  principal_id, status, position, begun_at) VALUES ($w, gen_random_uuid(), %s, 'person',
  decode(repeat('00', 32), 'hex'), true, 'request', $w, 'barred', 1, now())"""


@dataclass
class Everything:
    """The use cases around one workspace, all with one store of keys."""

    database: Database
    workspace_id: UUID
    pool: Pool
    keys: Any = field(default_factory=InMemoryKeyStore)
    sent: Sent = field(default_factory=Sent)
    embedder: HashingEmbedder = field(default_factory=lambda: HashingEmbedder(MODEL))

    def __post_init__(self) -> None:
        self.transactions = StoreTransactions(self.pool)
        self.admin = admin_of(self.workspace_id)
        self.system = Remembering(
            transactions=self.transactions, principal=self.admin, keys=self.keys, sent=self.sent
        )
        self.observing = Observing(self.system)
        self.graph = Graphing(self.system)
        self.documents = Documents(
            transactions=self.transactions,
            principal=self.admin,
            keys=self.keys,
            sent=self.sent,  # pyright: ignore
            embedder=self.embedder,
        )
        self.enrich = self.documents.enrich

    def talking(self) -> Talking:
        """Conversations, reports or subscriptions, over their stores."""
        transactions = StoreTransactions(self.pool)
        return Talking(
            transactions=transactions,
            admin=self.admin,
            keys=self.keys,
            sent=self.sent,  # pyright: ignore
            now=NOON,
        )

    def embed(self, *, one_by_one: bool = False) -> None:
        """Run the embed stage over what was queued."""
        rows = [row.id for row in self.sent.rows if row.topic == "embed"]
        for some in [[row] for row in rows] if one_by_one else [rows]:
            self.enrich.rows(self.workspace_id, some)
        self.sent.rows.clear()

    @property
    def rebuild(self) -> Rebuild:
        """The use case under test."""
        return Rebuild(
            platform=platform_of(None, keys=self.keys, dispatcher=self.sent),
            replays=PostgresReplays(self.pool),
        )

    def rows(self, statement: str, *parameters: Any, table: str = "") -> list[Any]:
        """Look behind the policies; $w is the workspace, $t the table."""
        text = statement.replace("$w", f"'{self.workspace_id}'").replace("$t", table)
        with self.database.connect_as_superuser() as root:
            cursor = root.execute(text.encode(), parameters)
            return cursor.fetchall() if cursor.description else []

    def forgotten(self, natural_key: str) -> UUID:
        """Destroy somebody's key as a forgetting does once its tombstone is written."""
        [(subject,)] = self.rows(
            "SELECT id FROM data_subject WHERE workspace_id = $w AND natural_key = %s", natural_key
        )
        self.rows(BARRED, subject)
        self.keys.destroy(self.workspace_id, subject)
        return subject

    def fill(self) -> None:
        """Write one of everything, embedding now and then."""
        self.remember()
        self.embed(one_by_one=True)
        self.observe()
        self.state()
        self.embed()
        self.converse()
        self.ingest()
        self.embed(one_by_one=True)
        self.change()
        self.embed()
        self.search()

    def remember(self) -> None:
        """Facts, chains, corroborations, sessions out of order, data subjects."""
        tell = self.system.tell
        tell(fact("Redis feeds PostgreSQL.", client_id="acme", source_agent="scout"))
        tell(fact("Redis feeds PostgreSQL.", client_id="acme", source_agent="ranger"))
        for day, colour in enumerate(("red", "green", "blue")):
            at = NOON + timedelta(days=day)
            tell(fact(f"The door is {colour}.", key="door", valid_from=at, occurred_at=at))
        late = NOON + timedelta(hours=5)
        tell(fact("The door is yellow.", key="door", valid_from=late, occurred_at=late))
        talk = {"type": MemoryKind.EVENT, "session_id": "talk", "data_subjects": ("ana",)}
        for number in (1, 4, 2, 3):
            tell(fact(f"Ana said {number} things of Kafka.", sequence=number, **talk))
        tell(*(fact(f"Batch {n}.", sequence=n, **{**talk, "session_id": "b"}) for n in range(5)))
        status = {"type": MemoryKind.STATUS, "subject": "ship"}
        tell(fact("The ship is at sea.", status_value="sea", **status))
        tell(fact("The ship is in port.", status_value="port", **status))
        tell(fact("Only the bot knows of Redis.", agents=("bot",), scope=Scope.PUBLIC))

    def observe(self) -> None:
        """Events in order and late, with causes, in batches and one by one."""
        see = self.observing.see
        first = self.observing.see_one(event("tool.failed", at=1, payload={"text": "Redis died"}))
        see(*(event(at=at, parent_id=first, payload={"n": at}) for at in (5, 9, 7)))
        see(event(at=3, payload={"text": "late"}))
        see(*(event("agent.note", at=at, trace_id="t", payload={"n": at}) for at in (20, 21)))

    def state(self) -> None:
        """Nodes, edges and entities that callers state, correct, merge and part."""
        graph = self.graph
        acme, corp = graph.entity("Acme", "organisation"), graph.entity("Acme Corp", "organisation")
        tool = graph.entity("Redis", "technology")
        problem = graph.note("Logins fail.")
        graph.mention("Acme called.", acme)
        both = graph.mention("Both called.", acme, "about")
        graph.relate(both, "REFERENCES", corp, properties={"role": "mentioned"})
        for _ in range(2):
            graph.relate(acme, "USES", tool)
        graph.relate(corp, "USES", tool)
        graph.relate(graph.note("Clear the sessions."), "SOLVES", problem, weight=2.0)
        graph.correct.add_alias(self.admin, acme, "ACME Ltd")
        graph.correct.add_alias(self.admin, tool, "remote dictionary")
        graph.correct.remove_alias(self.admin, tool, "remote dictionary")
        graph.correct.merge(self.admin, acme, corp)
        graph.correct.split(self.admin, corp, Split(undo=acme))
        shop = Split(
            name="Shop", type="organisation", mentions=(graph.mention("The shop called.", corp),)
        )
        graph.correct.split(self.admin, corp, shop)
        graph.compile(self.admin, tool, "Redis is a store.")
        gone = graph.entity("Gone", "organisation")
        graph.delete(self.admin, gone)
        graph.entity("Gone", "organisation")
        graph.delete(self.admin, problem)

    def converse(self) -> None:
        """Conversations, a key bound to one, reports, subscriptions."""
        talk = self.talking()
        talk.say("Where is my parcel?")
        talk.later(seconds=5)
        said = talk.say("Hello? It is about Kafka.")
        talk.later(seconds=5)
        talk.say("Thank you.")
        talk.bind(self.admin, said.conversation_id, self.public_key())
        for text in ("We host on Heroku.", "We moved to Render.", "I live in Bern."):
            talk.later(seconds=5)
            talk.say(text)
        self.embed()
        talk.later(seconds=5)
        talk.say("Forget that.")
        ChangeConversation(platform_of(self.transactions))(
            self.admin, said.conversation_id, infer=False
        )
        reports = self.talking()
        reports.report("Parcels", conversation_id=said.conversation_id)
        reports.report("Weather")
        watched = self.talking().subscriptions
        watched.put(self.admin, "scout", ["redis", "kafka"])
        watched.put(self.admin, "ranger", ["tides"])
        watched.clear(self.admin, "ranger")
        settings = KeepSettings(platform=platform_of(self.transactions), deployment={})
        settings.change(self.admin, {"recall": {"rrf_k": 9}, "safety": {"redaction": "soc2"}})
        settings.change(self.admin, {"recall": {"rrf_k": None, "decay_factor": 0.9}})

    def public_key(self) -> UUID:
        """A public key of the workspace."""
        create = CreateKey(platform=platform_of(self.transactions))
        return create(self.admin, NewKey(name="visitor", role=Role.PUBLIC, agent_slug="bot")).key.id

    def ingest(self) -> None:
        """A document, its next version, and one that is deleted and comes back."""
        self.documents.ingest(HUT)
        self.documents.ingest(HUT_LATER)
        gone = self.documents.send(HUT, source_uri="https://example.org/gone.md")
        self.documents.run(gone)
        self.documents.delete(self.admin, gone.document_id)
        self.documents.ingest(HUT, source_uri="https://example.org/gone.md")
        other = self.documents.send(HUT_LATER, source_uri="https://example.org/other.md")
        self.documents.run(other)
        self.documents.delete(self.admin, other.document_id)

    def change(self) -> None:
        """Deletions whose neighbours get another context."""
        delete = DeleteMemory(
            platform_of(
                self.transactions, dispatcher=self.sent, clock=self.system.remember.platform.clock
            )
        )
        [(gone,)] = self.rows(
            "SELECT id FROM node WHERE workspace_id = $w AND session_id = 'talk' AND sequence = 3"
        )
        delete(self.admin, gone)

    def search(self) -> None:
        """Searches that are counted."""
        self.rows(
            """INSERT INTO search_run (workspace_id, id, principal_id, recipe, recorded_at,
                 returned, candidates, degraded, duration_ms, counts_as_access)
               SELECT $w, gen_random_uuid(), $w, 'default', now(), array_agg(id), '{}', '{}', 1,
                 true
                 FROM (SELECT id FROM node WHERE workspace_id = $w AND label = 'Memory'
                        ORDER BY id LIMIT 5) AS picked"""
        )
        CountAccesses(
            platform=platform_of(StoreTransactions(self.pool), stopwatch=monotonic),
            workspaces=lambda: [self.workspace_id],
        )(seconds=10.0)


def open_everything(database: Database, name: str | None = None, *, keys: Any = None) -> Everything:
    """An empty workspace; close its pool afterwards."""
    workspace_id, _ = create_workspace(
        database.owner_url, name or f"all-{new_id()}", clock=utc_now, new_id=new_id
    )
    return Everything(
        database=database,
        workspace_id=workspace_id,
        pool=Pool(database.app_url, size=3),
        keys=keys or InMemoryKeyStore(),
    )
