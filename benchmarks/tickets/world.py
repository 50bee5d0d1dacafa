"""The stage of the benchmark: the product's own parts in one process, over two real databases.

One is Cairn's, made for the run; the other a made-up customer's, made anew before each ticket.
The loop, the safety rules, the connectors and the stores are the product's; only queues and
machines are left out: whatever is to be sent stays where it is.
"""

from __future__ import annotations

import tempfile
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import SecretStr

from benchmarks.endpoints import NOBODY, customers_endpoints
from benchmarks.samples import SAMPLES
from benchmarks.tickets.library import Library
from cairn.bootstrap.investigations import InvestigationParts
from cairn.kernel.access import ALL_SCOPES, Principal, Role
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from uuid import UUID

    from benchmarks.sample_customer import SampleCustomer
    from cairn.adapters.postgres.database import Database
    from cairn.bootstrap.dispatch import Wakes
    from cairn.connectors.host import Host
    from cairn.embedding.onnx import OnnxEmbedder
    from cairn.investigations.ports import Planner, StepFunction
    from cairn.investigations.run.resume import Loop
    from cairn.ledger.keys import KeyStore
    from cairn.tickets.gateway import TakeTicket
    from cairn.writing.ports import OutboxRow

DATABASE = "harbourlane_bench"
LOGINS = {"harbourlane_bench_desk": "accounts_connector", "harbourlane_bench_shop": "shop_reader"}
"""Logins of the customer's database, by the roles its scripts make."""

SCOPES: Mapping[str, str] = {
    "accounts": 'read: {allow: ["*", "users/{id}/sign_ins"]}\n'
    'write: {allow: ["users/{id}/unlock", "users/{id}/lock", "users/{id}/delete"]}',
    "postgres": 'read: {allow: ["*"]}',
    "http": 'read: {allow: ["*"]}',
}
"""What agents may do. Deleting is in scope on purpose: the rules of its tool have to hold it."""


NOWHERE = SecretStr("")


@dataclass
class Unsent:
    """A dispatcher for nobody: the loop runs here."""

    def send(self, rows: Sequence[OutboxRow]) -> None:
        """Send nothing."""

    def sweep(self) -> int:
        """Send nothing."""
        return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HereSettings:
    """What the parts read of a function's environment; there is none here."""

    stage: Literal["local", "prod"] = "local"
    app_database_url: SecretStr = NOWHERE
    database_auth: str = "password"
    database_wait_seconds: float = 5.0
    key_store: str = ""
    kms_key_arn: str | None = None
    embed_queue_url: str = ""
    webhook_queue_url: str = ""
    ticket_queue_url: str = ""
    escalation_queue_url: str = ""
    channel_queue_url: str = ""
    investigation_machine_arn: str = ""
    investigations: int = 8
    degraded_above: int = 50
    webhooks: Literal["off", "public", "private"] = "private"
    connector_commands: Path | None = None


@dataclass(frozen=True, kw_only=True)
class HereParts(InvestigationParts):
    """The parts of investigations with keys and messages that stay in this process."""

    kept: KeyStore

    @cached_property
    def keys(self) -> KeyStore:
        """The keys of this run."""
        return self.kept

    @cached_property
    def wake(self) -> Wakes:
        """Nobody is woken."""
        return Unsent()


@dataclass(frozen=True, kw_only=True)
class World:
    """A workspace with runbooks, connectors and a planner, ready for tickets."""

    parts: HereParts
    host: Host
    planner: Planner
    recall: Any
    admin: Principal
    customer: SampleCustomer
    people: str
    endpoints: str

    @cached_property
    def loop(self) -> Loop:
        """The loop that works an investigation to its end."""
        from cairn.investigations.run.resume import Loop

        return Loop(enter=self.parts.enter, run=self.parts.run, close=self.parts.close)

    @cached_property
    def take(self) -> TakeTicket:
        """What screens a ticket and takes it up."""
        return self.parts.helpdesk.take(None, lambda workspace_id, text: text, self.parts.admit)

    def fresh(self) -> None:
        """Put the customer's users and sign-ins back as they were."""
        self.customer.run(
            f"TRUNCATE accounts.users, accounts.sign_ins, accounts.action_keys;\n{self.people}"
        )


def steps_of(
    parts: Callable[[], HereParts], host: Host, planner: Planner, recall: Any
) -> Mapping[str, Callable[[], StepFunction]]:
    """Return the steps of every state, made of the product's own parts."""
    from cairn.bootstrap.plan import bounds, recent, surrounds
    from cairn.investigations.outcomes import CallTool
    from cairn.investigations.planning.surrounds import History, KnowledgeRecaller
    from cairn.investigations.steps.act import Act, WriteBack
    from cairn.investigations.steps.check import CheckSafety
    from cairn.investigations.steps.plan import MakePlan, observe
    from cairn.investigations.steps.retrieve import Retrieve
    from cairn.investigations.steps.verdict import GiveVerdict, Triage

    call = CallTool(host=host)
    return {
        "CREATED": lambda: Triage(
            desk=parts().helpdesk.desk,
            hiding=parts().hiding,
            surrounds=surrounds(parts()),
            recent=recent(parts()),
            earlier=History(journal=parts().journal),
            planner=planner,
            degraded=lambda workspace_id: False,
        ),
        "PLANNING": lambda: MakePlan(planner=planner, connectors=parts().connectors),
        "RETRIEVING": lambda: Retrieve(
            recall=KnowledgeRecaller(recall=recall),
            hiding=parts().hiding,
            bounds=bounds(parts().opened),
        ),
        "SAFETY_CHECK": lambda: CheckSafety(
            journal=parts().journal,
            pipeline=parts().pipeline,
            call=call,
            clock=utc_now,
            new_id=new_id,
        ),
        "ACTING": lambda: Act(
            journal=parts().journal,
            pipeline=parts().pipeline,
            call=call,
            connectors=parts().connectors,
        ),
        "OBSERVING": lambda: observe,
        "VERDICT": lambda: GiveVerdict(planner=planner),
        "WRITING_BACK": lambda: WriteBack(desk=parts().helpdesk.desk, hiding=parts().hiding),
    }


@contextmanager
def world_over(
    owner_url: str,
    app_url: str,
    *,
    embedder: OnnxEmbedder,
    open_workspace: Callable[[str, str], tuple[UUID, str]],
    planner_over: Callable[[Database], Planner],
) -> Generator[World]:
    """Yield the stage over a server; both databases are gone afterwards."""
    from benchmarks.sample_customer import passing_customer
    from benchmarks.scratch import scratch_database
    from cairn.adapters.files.keys import FileKeyStore
    from cairn.adapters.postgres.database import Database

    people = (SAMPLES / "accounts" / "demo.sql").read_text(encoding="utf-8")
    shop = (SAMPLES / "tickets" / "shop.sql").read_text(encoding="utf-8")
    more = (SAMPLES / "tickets" / "people.sql").read_text(encoding="utf-8")
    schema = (SAMPLES / "accounts" / "schema.sql").read_text(encoding="utf-8")
    with (
        customers_endpoints() as endpoints,
        scratch_database(owner_url, app_url) as (owner, app),
        passing_customer(
            owner_url, DATABASE, [schema, people, more, shop.replace(NOBODY, endpoints)], LOGINS
        ) as customer,
        closing(Database(app, size=3)) as opened,
        tempfile.TemporaryDirectory() as folder,
    ):
        workspace_id, _ = open_workspace(owner, "bench tickets")
        keys = FileKeyStore(Path(folder) / "keys.sqlite")
        yield _made(
            opened,
            keys,
            embedder=embedder,
            workspace_id=workspace_id,
            customer=customer,
            planner=planner_over(opened),
            people=people + more,
            endpoints=endpoints,
        )


def _made(
    opened: Database,
    keys: KeyStore,
    *,
    embedder: OnnxEmbedder,
    workspace_id: UUID,
    customer: SampleCustomer,
    planner: Planner,
    people: str,
    endpoints: str,
) -> World:
    from cairn.bootstrap.connectors import connector_host
    from cairn.bootstrap.parts import logger
    from cairn.bootstrap.recall import recall as recall_over

    recall = recall_over(opened, embedder)
    box: list[HereParts] = []
    settings = HereSettings()
    first = HereParts(
        settings=settings, opened=opened, log=logger("bench", "CRITICAL"), steps={}, kept=keys
    )
    host = connector_host(settings, opened, first.platform)
    steps = steps_of(lambda: box[0], host, planner, recall)
    box.append(HereParts(settings=settings, opened=opened, log=first.log, steps=steps, kept=keys))
    admin = Principal(
        workspace_id=workspace_id,
        principal_id=new_id(),
        role=Role.ADMIN,
        allowed_scopes=ALL_SCOPES,
        name="bench",
    )
    world = World(
        parts=box[0],
        host=host,
        planner=planner,
        recall=recall,
        admin=admin,
        customer=customer,
        people=people,
        endpoints=endpoints,
    )
    _furnish(world, embedder)
    return world


def _furnish(world: World, embedder: OnnxEmbedder) -> None:
    """Put the runbooks in, register the connectors, and let agents act."""
    parts, admin = world.parts, world.admin
    library = Library(opened=parts.opened, keys=parts.keys, wake=parts.wake, embedder=embedder)
    library.take(admin, sorted((SAMPLES / "tickets" / "runbooks").glob("*.md")))
    _register(world)
    _let_act(world)


def _register(world: World) -> None:
    from cairn.bootstrap.connectors import connector_registry
    from cairn.connectors.connector import Transport
    from cairn.connectors.requests import NewConnector
    from cairn.safety.tools import Autonomy

    parts = world.parts
    registry = connector_registry(HereSettings(), world.host, parts.platform)
    desk, shop = (world.customer.logins[login] for login in LOGINS)
    given: Mapping[str, tuple[dict[str, Any], dict[str, str]]] = {
        "accounts": ({}, {"dsn": desk}),
        "postgres": ({"schemas": ["shop"]}, {"dsn": shop}),
        "http": ({"rules": [{"url": f"{world.endpoints}/*"}], "allow_private": True}, {}),
    }
    for name, (config, secrets) in given.items():
        registry.register(
            world.admin,
            NewConnector(
                name=name,
                transport=Transport.IN_PROCESS,
                builtin=name,
                config=config,
                secrets=secrets,
                scopes=SCOPES[name],
                autonomy=Autonomy.ACT,
            ),
        )


def _let_act(world: World) -> None:
    """Give the default persona full autonomy: mistakes of a planner are to be seen."""
    from cairn.safety.tools import Autonomy
    from cairn.tickets.personas import DEFAULT

    world.parts.helpdesk.personas.put(world.admin, replace(DEFAULT, autonomy=Autonomy.ACT))
