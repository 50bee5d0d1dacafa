"""Webhooks from a write to their receiver: the same over the fake and PostgreSQL."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from standardwebhooks.webhooks import Webhook as StandardWebhook
from tests.support.remembering import NOON, Remembering, admin_of, fact, in_memory

from cairn.adapters.http.webhooks import HttpWebhookSender
from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.kernel.access import Role
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import Denied, NotFound, Unavailable, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.webhooks.webhooks import (
    MAX_ATTEMPTS,
    MAX_WEBHOOKS,
    DeliverWebhook,
    DeliveryView,
    NewWebhook,
    Webhooks,
)
from cairn.writing.ports import Topic
from cairn.writing.webhook_events import WebhookEvent, happenings

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

ADDRESS = "https://hooks.example.org/cairn"


@dataclass
class Receiver:
    """Stands for the receivers: answers with the next of `answers`, and keeps what it was sent."""

    answers: list[int | Exception] = field(default_factory=list[int | Exception])
    got: list[tuple[str, bytes, dict[str, str]]] = field(
        default_factory=list[tuple[str, bytes, dict[str, str]]]
    )

    def check(self, url: str) -> None:
        HttpWebhookSender().check(url)

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> int:
        self.got.append((url, body, dict(headers)))
        said = self.answers.pop(0) if self.answers else 200
        if isinstance(said, Exception):
            raise said
        return said


@dataclass
class Telling:
    """Remembering, and what tells of it."""

    system: Remembering
    receiver: Receiver = field(default_factory=Receiver)

    def __post_init__(self) -> None:
        remember = self.system.remember
        shared: dict[str, Any] = {
            "transactions": self.system.transactions,
            "keys": self.system.keys,
            "cipher": remember.platform.cipher,
            "sender": self.receiver,
            "clock": lambda: NOON,
        }
        self.hooks = Webhooks(**shared, new_id=new_id, random_bytes=lambda size: b"s" * size)
        self.deliver = DeliverWebhook(**shared)

    def hook(self, *events: WebhookEvent) -> tuple[UUID, str]:
        wanted = events or tuple(WebhookEvent)
        made = self.hooks.create(self.system.principal, NewWebhook(url=ADDRESS, events=wanted))
        return made.webhook.id, made.secret

    def supersede(self) -> None:
        for text in ("The site runs on Next.js.", "The site runs on Astro."):
            self.system.tell_one(fact(text, key="stack"))

    def waiting(self) -> list[UUID]:
        return [row.id for row in self.system.sent.rows if row.topic == Topic.WEBHOOK]

    def deliveries(self, hook: UUID) -> list[DeliveryView]:
        return list(self.hooks.deliveries(self.system.principal, hook))

    def outbox(self) -> set[UUID]:
        with self.system.transactions.reading(self.system.principal) as stores:
            return {item.id for item in stores.outbox.find(self.waiting())}


@pytest.fixture(params=["in memory", "postgres"])
def telling(request: pytest.FixtureRequest) -> Iterator[Telling]:
    if request.param == "in memory":
        yield Telling(in_memory())
        return
    yield from in_postgres(request.getfixturevalue("database"))


def in_postgres(database: "Database") -> Iterator[Telling]:
    name = f"hooks-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    pool = Pool(database.app_url, size=2)
    system = Remembering(transactions=StoreTransactions(pool), principal=admin_of(workspace_id))
    yield Telling(system)
    pool.close()


def test_a_superseded_memory_is_told_with_ids_and_no_text(telling: Telling) -> None:
    hook, secret = telling.hook()
    telling.supersede()
    (delivery,) = telling.waiting()
    assert telling.deliver(telling.system.principal.workspace_id, delivery) == "delivered"
    ((url, body, headers),) = telling.receiver.got
    told = json.loads(body)
    assert (url, told["type"]) == (ADDRESS, "memory_superseded")
    assert [set(item) for item in told["data"]["superseded"]] == [{"id", "superseded_by"}]
    assert b"Astro" not in body
    assert b"stack" not in body
    assert headers["webhook-id"] == str(delivery)
    assert secret.startswith("whsec_")
    (shown,) = telling.deliveries(hook)
    assert (shown.state, shown.attempts, shown.status) == ("delivered", 1, 200)
    assert telling.outbox() == set()


def test_a_receiver_can_check_the_signature_with_its_own_library(telling: Telling) -> None:
    _, secret = telling.hook()
    telling.hooks = replace(telling.hooks, clock=utc_now)
    telling.deliver = replace(telling.deliver, clock=utc_now)
    telling.supersede()
    telling.deliver(telling.system.principal.workspace_id, telling.waiting()[0])
    ((_, body, headers),) = telling.receiver.got
    assert StandardWebhook(secret).verify(body, headers)["type"] == "memory_superseded"


def test_what_was_delivered_is_not_sent_again(telling: Telling) -> None:
    telling.hook()
    telling.supersede()
    workspace, (delivery,) = telling.system.principal.workspace_id, telling.waiting()
    telling.deliver(workspace, delivery)
    assert telling.deliver(workspace, delivery) == "nothing"
    assert len(telling.receiver.got) == 1


@pytest.mark.parametrize("answer", [500, 404, 302, Unavailable("Late.", reason="timeout")])
def test_what_was_not_taken_waits_and_is_sent_again_under_the_same_id(
    telling: Telling, answer: int | Exception
) -> None:
    hook, _ = telling.hook()
    telling.supersede()
    telling.receiver.answers = [answer]
    workspace, (delivery,) = telling.system.principal.workspace_id, telling.waiting()
    with pytest.raises(Unavailable):
        telling.deliver(workspace, delivery)
    assert telling.deliveries(hook)[0].state == "waiting"
    assert telling.outbox() == {delivery}
    assert telling.deliver(workspace, delivery) == "delivered"
    first, second = (headers["webhook-id"] for _, _, headers in telling.receiver.got)
    assert first == second


def test_after_the_last_try_a_delivery_has_failed(telling: Telling) -> None:
    hook, _ = telling.hook()
    telling.supersede()
    telling.receiver.answers = [500] * MAX_ATTEMPTS
    workspace, (delivery,) = telling.system.principal.workspace_id, telling.waiting()
    for _ in range(MAX_ATTEMPTS - 1):
        with pytest.raises(Unavailable):
            telling.deliver(workspace, delivery)
    assert telling.deliver(workspace, delivery) == "failed"
    assert telling.deliveries(hook)[0].error == "refused"
    assert telling.outbox() == set()


def test_a_receiver_that_is_gone_is_told_nothing_more(telling: Telling) -> None:
    telling.hook()
    telling.supersede()
    telling.receiver.answers = [410]
    workspace, (delivery,) = telling.system.principal.workspace_id, telling.waiting()
    assert telling.deliver(workspace, delivery) == "disabled"
    (shown,) = telling.hooks.all(telling.system.principal)
    assert shown.disabled_at is not None
    telling.system.tell_one(fact("The site runs on Hugo.", key="stack"))
    assert telling.waiting() == [delivery]


def test_each_webhook_is_told_of_what_it_asked_for(telling: Telling) -> None:
    telling.hook(WebhookEvent.CONSOLIDATION_DONE)
    one, _ = telling.hook(WebhookEvent.MEMORY_SUPERSEDED)
    two, _ = telling.hook()
    telling.supersede()
    assert len(telling.waiting()) == 2
    assert [len(telling.deliveries(hook)) for hook in (one, two)] == [1, 1]


def test_a_write_that_fails_tells_nobody(telling: Telling) -> None:
    telling.hook()
    telling.system.tell_one(fact("The site runs on Next.js.", key="stack"))
    telling.system.tell_one(fact("The site runs on Next.js.", key="stack"))
    with pytest.raises(ValidationFailed):
        telling.system.tell()
    assert telling.waiting() == []


def test_a_removed_webhook_takes_its_deliveries_along(telling: Telling) -> None:
    hook, _ = telling.hook()
    telling.supersede()
    telling.hooks.remove(telling.system.principal, hook)
    workspace, (delivery,) = telling.system.principal.workspace_id, telling.waiting()
    assert telling.deliver(workspace, delivery) == "nothing"
    for asked in (telling.hooks.remove, telling.hooks.deliveries):
        with pytest.raises(NotFound):
            asked(telling.system.principal, hook)


def test_a_webhook_is_an_admins_and_there_are_not_too_many(telling: Telling) -> None:
    agent = replace(telling.system.principal, role=Role.AGENT)
    with pytest.raises(Denied):
        telling.hooks.create(agent, NewWebhook(url=ADDRESS))
    with pytest.raises(Denied):
        telling.hooks.all(agent)
    for _ in range(MAX_WEBHOOKS):
        telling.hook()
    with pytest.raises(ValidationFailed, match="at most"):
        telling.hook()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ftp://example.org",
        "http://example.org",
        "https://",
        "https://user:secret@example.org/",
        "https://127.0.0.1/",
        "https://169.254.169.254/latest/meta-data",
        "https://10.0.0.5/",
        "https://[::1]/",
        "https://[fe80::1]/",
        "https://exam\x00ple.org",
        "https://example.org:99999/",
        "https://" + "x" * 3000,
    ],
)
def test_a_bad_address_is_refused(telling: Telling, url: str) -> None:
    with pytest.raises(ValidationFailed):
        telling.hooks.create(telling.system.principal, NewWebhook(url=url))
    assert list(telling.hooks.all(telling.system.principal)) == []


def test_making_and_removing_are_entries_without_address_or_secret(telling: Telling) -> None:
    hook, secret = telling.hook()
    telling.hooks.remove(telling.system.principal, hook)
    with telling.system.transactions.reading(telling.system.principal) as stores:
        entries = stores.ledger.page(after=0, limit=10)
    kinds = [entry.type for entry in entries if entry.type.startswith("webhook.")]
    assert kinds == ["webhook.created", "webhook.removed"]
    texts = "".join(entry.meta_text + repr(entry.body) for entry in entries)
    assert secret not in texts
    assert "example.org" not in texts


def test_most_entries_tell_nothing(telling: Telling) -> None:
    telling.supersede()
    with telling.system.transactions.reading(telling.system.principal) as stores:
        entries = stores.ledger.page(after=0, limit=10)
    assert [len(happenings(entry)) for entry in entries if entry.type == "memory.remembered"] == [
        0,
        1,
    ]
