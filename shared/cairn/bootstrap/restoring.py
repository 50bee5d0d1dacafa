"""What the owner of a deployment runs beside its functions: rebuilds in place, and restores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.ledger.whole import import_ledger
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.bootstrap.api_parts import ApiParts
from cairn.bootstrap.forgetting import apply_tombstones
from cairn.bootstrap.logs import logger
from cairn.bootstrap.parts import database, embedder, registered
from cairn.bootstrap.rebuilding import rebuild
from cairn.bootstrap.signing import signing_key
from cairn.kernel.clock import utc_now
from cairn.ledger.importing import Export
from cairn.rebuild.restore import Restore, Restored
from cairn.reembedding.compare import CheckVectors, VectorsChecked

if TYPE_CHECKING:
    from collections.abc import Iterable
    from uuid import UUID

    from cairn.rebuild.rebuild import Rebuilt
    from cairn.settings import ApiSettings


def rebuild_here(settings: ApiSettings, workspace_id: UUID, *, only_check: bool) -> Rebuilt:
    """Rebuild or check a workspace in this process, with the deployment's own keys and database."""
    parts = _parts(settings)
    run = rebuild(parts.opened, parts.platform.keys, parts.wake)
    return run(workspace_id, only_check=only_check)


def check_vectors(settings: ApiSettings, workspace_id: UUID, *, deep: bool) -> VectorsChecked:
    """Embed texts of a workspace again and compare, with the deployment's own model and cache."""
    opened = database(settings)
    return CheckVectors(
        transactions=StoreTransactions(opened),
        embedder=registered(embedder(settings), opened),
    )(workspace_id, deep=deep)


def restore(settings: ApiSettings, owner_url: str, lines: Iterable[str], *, name: str) -> Restored:
    """Import an export into an empty workspace called `name`, follow tombstones, make its rows."""
    parts, export = _parts(settings), Export(lines)
    keys, signing = parts.platform.keys, signing_key(settings)
    return Restore(
        write=lambda item: import_ledger(owner_url, item, name=name, now=utc_now()),
        tombstones=apply_tombstones(parts.forget, keys, signing, settings.anchor_bucket),
        rebuild=rebuild(parts.opened, keys, parts.wake),
    )(export)


def _parts(settings: ApiSettings) -> ApiParts:
    return ApiParts(settings, logger("cli", settings.log_level), embedder(settings))
