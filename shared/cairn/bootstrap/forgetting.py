"""Forgetting and proving it, over the stores that are configured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.aws.erasing import S3Erasing, S3Searcher, S3Tombstones
from cairn.adapters.postgres.ledger.proving import (
    PostgresDistinctive,
    PostgresPurgedNodes,
    PostgresSearcher,
)
from cairn.adapters.postgres.ledger.replay import PostgresReplays
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.ageing.cleanup import SweepEntities
from cairn.bootstrap.search_index import endpoint
from cairn.discovery.beside import discovery_beside
from cairn.forgetting.forget import Forget
from cairn.forgetting.prove import NOT_SEARCHED, KeySearcher, Prove, Searcher
from cairn.forgetting.tombstones import ApplyTombstones
from cairn.rebuild.rebuild import Rebuild
from cairn.rebuild.restore import RecomputeByReplay

if TYPE_CHECKING:
    from typing import Protocol

    from cairn.adapters.postgres.database import Database
    from cairn.bootstrap.parts import SigningKey
    from cairn.bootstrap.search_index import SearchIndexSettings
    from cairn.ledger.keys import KeyStore
    from cairn.writing.platform import Platform

    class ForgetSettings(SearchIndexSettings, Protocol):
        """Which buckets there are."""

        @property
        def uploads_bucket(self) -> str: ...
        @property
        def anchor_bucket(self) -> str: ...


def forget_use_case(
    settings: ForgetSettings,
    opened: Database,
    platform: Platform,
    signing: SigningKey,
) -> Forget:
    """Build the use case; nothing connects yet."""
    return Forget(
        platform=platform,
        signer=signing,
        tombstones=S3Tombstones(settings.anchor_bucket),
        objects=S3Erasing(settings.uploads_bucket),
        sweep=SweepEntities(platform),
        recompute=RecomputeByReplay(
            rebuild=Rebuild(
                platform=platform, replays=PostgresReplays(opened), beside=discovery_beside()
            )
        ),
    )


def prove(settings: ForgetSettings, opened: Database, keys: KeyStore) -> Prove:
    """Build what looks for what was forgotten in every store."""
    searchers: list[Searcher] = [
        PostgresSearcher(opened),
        KeySearcher(keys=keys),
        S3Searcher(settings.uploads_bucket),
    ]
    search_endpoint = endpoint(settings)
    if search_endpoint is not None:
        from cairn.adapters.opensearch.client import Connection
        from cairn.adapters.opensearch.proving import OpenSearchSearcher

        searchers.append(
            OpenSearchSearcher(Connection(search_endpoint.url, auth=search_endpoint.auth))
        )
    return Prove(
        transactions=StoreTransactions(opened),
        purged=PostgresPurgedNodes(opened),
        searchers=searchers,
        distinctive=PostgresDistinctive(opened),
        not_searched=NOT_SEARCHED,
    )


def apply_tombstones(
    forget: Forget, keys: KeyStore, signing: SigningKey, anchor_bucket: str
) -> ApplyTombstones:
    """Build what follows the tombstones before a restored database serves."""
    store = S3Tombstones(anchor_bucket)
    return ApplyTombstones(store=store, verifier=signing, keys=keys, forget=forget)
