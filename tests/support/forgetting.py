"""A workspace in a database with everything that writes, and forgetting beside it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.fakes.keys import InMemoryKeyStore
from tests.support.embedding import HASHING, HashingEmbedder
from tests.support.ingesting import Documents
from tests.support.platform import platform_of
from tests.support.remembering import Remembering, admin_of, fact
from tests.support.talking import talking_in

from benchmarks.objects import InMemoryObjects
from cairn.adapters.files.signing import make_signing_key
from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.ledger.proving import (
    PostgresDistinctive,
    PostgresPurgedNodes,
    PostgresSearcher,
)
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.ageing.cleanup import SweepEntities
from cairn.bootstrap import forgetting
from cairn.enrichment.enrich import Enrich
from cairn.forgetting.forget import Forget, Target
from cairn.forgetting.ports import Reason
from cairn.forgetting.prove import KeySearcher, Looked, Needles, Prove, Searcher
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.ids import new_id
from cairn.ledger.signing import ED25519, Signature, holds, key_id_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from uuid import UUID

    import pytest
    from tests.plugins.postgres import Database

    from cairn.adapters.postgres.database import Database as Pool
    from cairn.forgetting.forget import Forgotten
    from cairn.forgetting.prove import Proof
    from cairn.kernel.access import Principal

CANARY = "Zanzibarquokka"


@dataclass
class SigningKey:
    """Signs and verifies in memory."""

    private: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)

    def sign(self, content: bytes) -> Signature:
        public = self.private.public_key()
        return Signature(
            key_id=key_id_of(public), algorithm=ED25519, value=self.private.sign(content)
        )

    def verify(self, content: bytes, signature: Signature) -> bool:
        return holds(self.private.public_key(), content, signature)


@dataclass
class Tombstones:
    """A bucket that keeps every version."""

    held: list[tuple[str, bytes]] = field(default_factory=list[tuple[str, bytes]])

    def put(self, key: str, content: bytes) -> None:
        self.held.append((key, content))

    def versions(self, prefix: str) -> Sequence[tuple[str, bytes]]:
        return [item for item in self.held if item[0].startswith(prefix)]


@dataclass
class ErasableObjects(InMemoryObjects):
    """The object store of the ingestion machine, from which prefixes are erased."""

    def erase(self, prefix: str) -> int:
        gone = [key for key in self.held if key.startswith(prefix)]
        for key in gone:
            del self.held[key]
        return len(gone)


_SHARED = {"keys", "dispatcher", "new_id"}
"""Parts of the platform that tests change."""


def erase_in_memory(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let the API forget with a signing key of its own and buckets in memory."""
    make_signing_key(folder / "signing")
    stores = {"S3Erasing": ErasableObjects(), "S3Tombstones": Tombstones()}
    for name, store in stores.items():

        def opened(_: str, store: object = store) -> object:
            return store

        monkeypatch.setattr(forgetting, name, opened)
    monkeypatch.setattr(forgetting, "S3Searcher", _no_objects)


def _no_objects(_: str) -> Searcher:
    """A bucket with nothing in it."""

    def search(workspace_id: UUID, needles: Needles) -> list[Looked]:
        return [Looked(store="objects", place="objects")]

    return search


@dataclass
class Stand:
    """Everything over one workspace; the key store, the tombstones and the objects are fakes."""

    pool: Pool
    principal: Principal
    keys: Any = field(default_factory=InMemoryKeyStore)
    signing: SigningKey = field(default_factory=SigningKey)
    tombstones: Tombstones = field(default_factory=Tombstones)
    objects: ErasableObjects = field(default_factory=ErasableObjects)
    recomputed: list[UUID] = field(default_factory=list["UUID"])

    def __post_init__(self) -> None:
        transactions = StoreTransactions(self.pool)
        self.system = Remembering(
            transactions=transactions, principal=self.principal, keys=self.keys
        )
        self.documents = Documents(
            transactions=transactions,
            principal=self.principal,
            objects=self.objects,
            keys=self.keys,
            sent=self.system.sent,
        )
        self.talking = talking_in(self.pool, self.principal, keys=self.keys)
        self.forget_stores = StoreTransactions(self.pool)
        self.forget = self.forgetting()
        self.prove = Prove(
            transactions=self.forget_stores,
            purged=PostgresPurgedNodes(self.pool),
            searchers=[PostgresSearcher(self.pool), KeySearcher(keys=self.keys)],
            distinctive=PostgresDistinctive(self.pool),
        )

    @property
    def workspace_id(self) -> UUID:
        return self.principal.workspace_id

    def forgetting(self, **changes: Any) -> Forget:
        """The use case, some of its parts changed."""
        of_platform = {name: changes.pop(name) for name in _SHARED & changes.keys()}
        given: dict[str, Any] = {
            "platform": platform_of(
                self.forget_stores,
                **{"keys": self.keys, "dispatcher": self.system.sent, **of_platform},
            ),
            "signer": self.signing,
            "tombstones": self.tombstones,
            "objects": self.objects,
            "sweep": SweepEntities(platform_of(StoreTransactions(self.pool), stopwatch=monotonic)),
            "recompute": self._recompute,
        }
        return Forget(**{**given, **changes})

    def _recompute(self, workspace_id: UUID, seconds: float) -> bool:
        self.recomputed.append(workspace_id)
        return True

    def enrich(self) -> Enrich:
        """The embed stage."""
        return Enrich(
            platform=platform_of(self.system.transactions, keys=self.keys),
            embedder=HashingEmbedder(),
        )

    def embed(self) -> None:
        """Work off everything that waits."""
        rows = [row.id for row in (*self.system.sent.rows, *self.talking.sent.rows)]
        self.enrich().rows(self.workspace_id, rows)

    def tell(self, text: str, client: str = "acme", **changes: Any) -> UUID:
        """Remember a fact about a client."""
        told = self.system.tell_one(fact(text, client_id=client, **changes))
        assert told.id is not None, told
        return told.id

    def forgets(self, owner: str = "acme", kind: str = "client") -> Forgotten:
        """Forget a client or a person."""
        return self.forget(self.principal, Target(owner=(kind, owner)), Reason.REQUEST)

    def proof(self, forgotten: Forgotten, *canaries: str) -> Proof:
        """Search every store after a forgetting."""
        return self.prove(self.principal, forgotten.forgetting.id, canaries or (CANARY,))


def open_stand(database: Database, pool: Pool, **changes: Any) -> Stand:
    """A new workspace in the database."""
    name = f"forget-{os.urandom(6).hex()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    with database.connect_as_superuser() as root:
        root.execute(
            "INSERT INTO embedding_model (id, name, dimensions) VALUES (%s, %s, %s)"
            " ON CONFLICT DO NOTHING",
            (HASHING.id, HASHING.name, HASHING.dimensions),
        )
    return Stand(pool=pool, principal=admin_of(workspace_id), **changes)
