"""The composition root: settings to adapters to one services object an edge.

Each function has a module of its own here, so that importing one function's does not import what
the others need. The functions below are the owner's: they take the owner's database URL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import date
    from pathlib import Path
    from typing import Any
    from uuid import UUID

    from cairn.bootstrap.reembedding import Reembedding
    from cairn.embedding.port import EmbeddingModel
    from cairn.llm.costs import CostRow
    from cairn.reading.views import LedgerVerification
    from cairn.search_index.check import KeepSearchIndex
    from cairn.settings import ApiSettings


def create_workspace(owner_url: str, name: str) -> tuple[UUID, str]:
    """Return the id of the workspace called `name`, made if missing, and a new admin key for it."""
    from cairn.adapters.postgres import accounts
    from cairn.kernel.clock import utc_now
    from cairn.kernel.ids import new_id

    return accounts.create_workspace(owner_url, name, clock=utc_now, new_id=new_id)


def verify_ledgers(
    owner_url: str, workspace_id: UUID | None = None, settings: ApiSettings | None = None
) -> Iterable[LedgerVerification]:
    """Verify one workspace's chain or all of them, one result each; with settings, keys too."""
    from cairn.adapters.postgres.ledger.whole import verify_ledgers
    from cairn.bootstrap.parts import key_store

    return verify_ledgers(owner_url, workspace_id, key_store(settings) if settings else None)


def export_ledger(owner_url: str, workspace_id: UUID) -> Iterable[str]:
    """Yield the lines of an export that the offline verifier reads."""
    from cairn.adapters.postgres.ledger.whole import export_ledger

    return export_ledger(owner_url, workspace_id)


def costs(owner_url: str, since: date, until: date) -> Iterable[CostRow]:
    """Return what the models of each workspace have cost in a period."""
    from cairn.adapters.postgres.agents.model_calls import costs_by_workspace

    return costs_by_workspace(owner_url, since, until)


def rebuild(settings: ApiSettings, workspace_id: UUID, *, only_check: bool) -> dict[str, Any]:
    """Rebuild or check a workspace in this process and return what was found."""
    from cairn.bootstrap.restoring import rebuild_here

    return rebuild_here(settings, workspace_id, only_check=only_check).as_json()


def check_vectors(settings: ApiSettings, workspace_id: UUID, *, deep: bool) -> dict[str, Any]:
    """Compute vectors of a workspace again and return which are not what the model says."""
    from cairn.bootstrap.restoring import check_vectors

    return check_vectors(settings, workspace_id, deep=deep).as_json()


def reembedding(
    settings: ApiSettings,
    to: str,
    *,
    model_dir: Path | None,
    base_url: str | None,
    register: Callable[[EmbeddingModel], None] | None,
) -> Reembedding:
    """Return the change of a deployment's embedding model to the one `to` names or describes."""
    from cairn.bootstrap.reembedding import reembedding

    return reembedding(settings, to, model_dir=model_dir, base_url=base_url, register=register)


def restore(
    settings: ApiSettings, owner_url: str, lines: Iterable[str], *, name: str
) -> dict[str, Any]:
    """Import an export into an empty workspace and make its rows; return what was done."""
    from cairn.bootstrap.restoring import restore

    return restore(settings, owner_url, lines, name=name).as_json()


def search_index(app_database_url: str, url: str, auth: str = "none") -> KeepSearchIndex:
    """Return what checks, repairs and rebuilds the search index, as the functions' role."""
    from cairn.adapters.postgres.database import Database
    from cairn.bootstrap.search_index import Endpoint, keep_search_index

    def report(event: str, fields: dict[str, object]) -> None:
        """Say nothing here: what failed is in the command's answer."""

    return keep_search_index(Endpoint(url, auth), Database(app_database_url), report)
