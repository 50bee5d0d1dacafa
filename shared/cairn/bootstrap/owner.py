"""What the owner of a deployment does beside its functions: one function each.

Each imports what it needs when it is called: the command line starts without.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import date
    from pathlib import Path
    from typing import Any
    from uuid import UUID

    from cairn.adapters.postgres.database import Database
    from cairn.bootstrap.api_parts import ApiParts
    from cairn.embedding.port import Embedder, EmbeddingModel
    from cairn.forgetting.workspaces import DeleteWorkspace
    from cairn.llm.costs import CostRow
    from cairn.reading.views import LedgerVerification
    from cairn.reembedding.reembed import Fill
    from cairn.search_index.check import KeepSearchIndex
    from cairn.settings import ApiSettings
    from cairn.writing.platform import Platform


def create_workspace(owner_url: str, name: str) -> tuple[UUID, str]:
    """Return the id of the workspace called `name`, made if missing, and a new admin key for it."""
    from cairn.adapters.postgres import accounts
    from cairn.kernel.clock import utc_now
    from cairn.kernel.ids import new_id

    return accounts.create_workspace(owner_url, name, clock=utc_now, new_id=new_id)


def list_workspaces(owner_url: str) -> list[dict[str, Any]]:
    """Return every workspace: id, name, when it was made, how many entries, when the last came."""
    from cairn.adapters.postgres import accounts

    return accounts.list_workspaces(owner_url)


def delete_workspace(settings: ApiSettings, owner_url: str) -> DeleteWorkspace:
    """Return what deletes a workspace from every store of the deployment."""
    from cairn.adapters.aws.erasing import S3Erasing, S3Tombstones
    from cairn.adapters.postgres.ledger.deleting import PostgresWorkspaceRows
    from cairn.bootstrap.parts import key_store, signing_key
    from cairn.bootstrap.search_index import endpoint
    from cairn.forgetting.workspaces import DeleteWorkspace
    from cairn.kernel.clock import utc_now

    index, search_endpoint = None, endpoint(settings)
    if search_endpoint is not None:
        from cairn.adapters.opensearch.client import Connection
        from cairn.adapters.opensearch.proving import OpenSearchEraser

        index = OpenSearchEraser(Connection(search_endpoint.url, auth=search_endpoint.auth))
    objects = S3Erasing(settings.uploads_bucket)
    return DeleteWorkspace(
        rows=PostgresWorkspaceRows(owner_url),
        keys=key_store(settings),
        signer=signing_key(settings),
        tombstones=S3Tombstones(settings.anchor_bucket),
        objects=objects,
        count_objects=objects.count,
        index=index,
        clock=utc_now,
    )


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
    from cairn.adapters.postgres.ledger.replay import PostgresReplays
    from cairn.discovery.beside import discovery_beside
    from cairn.rebuild.rebuild import Rebuild

    parts = _parts(settings)
    run = Rebuild(
        platform=parts.platform, replays=PostgresReplays(parts.opened), beside=discovery_beside()
    )
    return run(workspace_id, only_check=only_check).as_json()


def check_vectors(settings: ApiSettings, workspace_id: UUID, *, deep: bool) -> dict[str, Any]:
    """Compute vectors of a workspace again and return which are not what the model says."""
    from cairn.adapters.postgres.store_transactions import StoreTransactions
    from cairn.bootstrap.parts import database, embedder, registered
    from cairn.reembedding.compare import CheckVectors

    opened = database(settings)
    check = CheckVectors(
        transactions=StoreTransactions(opened), embedder=registered(embedder(settings), opened)
    )
    return check(workspace_id, deep=deep).as_json()


def restore(
    settings: ApiSettings, owner_url: str, lines: Iterable[str], *, name: str
) -> dict[str, Any]:
    """Import an export into an empty workspace called `name`, follow tombstones, make its rows."""
    from cairn.adapters.postgres.ledger.replay import PostgresReplays
    from cairn.adapters.postgres.ledger.whole import import_ledger
    from cairn.bootstrap.forgetting import apply_tombstones
    from cairn.bootstrap.parts import signing_key
    from cairn.discovery.beside import discovery_beside
    from cairn.kernel.clock import utc_now
    from cairn.ledger.importing import Export
    from cairn.rebuild.rebuild import Rebuild
    from cairn.rebuild.restore import Restore

    parts, export = _parts(settings), Export(lines)
    keys, signing = parts.platform.keys, signing_key(settings)
    run = Restore(
        write=lambda item: import_ledger(owner_url, item, name=name, now=utc_now()),
        tombstones=apply_tombstones(parts.forget, keys, signing, settings.anchor_bucket),
        rebuild=Rebuild(
            platform=parts.platform,
            replays=PostgresReplays(parts.opened),
            beside=discovery_beside(),
        ),
    )
    return run(export).as_json()


def _parts(settings: ApiSettings) -> ApiParts:
    from cairn.bootstrap.api_parts import ApiParts
    from cairn.bootstrap.parts import embedder, logger

    return ApiParts(settings, logger("cli", settings.log_level), embedder(settings))


def search_index(app_database_url: str, url: str, auth: str = "none") -> KeepSearchIndex:
    """Return what checks, repairs and rebuilds the search index, as the functions' role."""
    from cairn.adapters.postgres.database import Database
    from cairn.bootstrap.search_index import Endpoint, keep_search_index

    def report(event: str, fields: dict[str, object]) -> None:
        """Say nothing here: what failed is in the command's answer."""

    return keep_search_index(Endpoint(url, auth), Database(app_database_url), report)


def register_chosen(owner_url: str, values: Mapping[str, str]) -> EmbeddingModel:
    """Return the model that a stage's settings name, which the database knows from now on."""
    from cairn.bootstrap.parts import model_of
    from cairn.settings import EmbedderSettings

    chosen = {name: value for name, value in values.items() if value}
    model = model_of(EmbedderSettings.model_validate(chosen))
    register(owner_url, model)
    return model


def register(owner_url: str, model: EmbeddingModel) -> None:
    """Register a model unless a migration did.

    Raises ValidationFailed when its name or id stands for another one, Unavailable when the
    database cannot be had, or is migrated.
    """
    import psycopg

    from cairn.adapters.postgres.migrate import MigrationsBusy
    from cairn.adapters.postgres.register_model import register_model
    from cairn.embedding.models import is_known
    from cairn.kernel.errors import Unavailable

    if is_known(model):
        return
    try:
        register_model(owner_url, model)
    except (psycopg.OperationalError, MigrationsBusy) as problem:
        raise Unavailable(
            f"The embedding model {model.name} could not be registered: {problem}",
            reason="model-not-registered",
        ) from problem


@dataclass(frozen=True)
class Reembedding:
    """A change of models in one deployment, from the one it uses to `target`."""

    settings: ApiSettings
    target: Embedder

    def workspaces(self) -> Iterable[UUID]:
        """Return every workspace of the deployment."""
        from cairn.adapters.postgres.sweeping import ListWorkspaces

        return ListWorkspaces(self._database)()

    def fill(
        self, workspace_id: UUID, report: Callable[[int, int], None] | None = None
    ) -> dict[str, Any]:
        """Give every node of a workspace vectors of the target."""
        return asdict(self._fill(workspace_id, report=report))

    def compare(self, workspace_id: UUID, *, sample: int) -> dict[str, Any] | None:
        """Ask for a sample with both models; None when there is nothing, or they are one."""
        from cairn.adapters.postgres.memory.recall import PostgresVectorLeg
        from cairn.reembedding.compare import Compare

        comparison = Compare(
            transactions=self._platform.transactions,
            vectors=PostgresVectorLeg(self._database),
            present=self._present,
            target=self.target,
        )(workspace_id, sample=sample)
        return comparison.as_json() if comparison else None

    def drop_others(self, workspace_id: UUID) -> int:
        """Remove the vectors of all other models; ValidationFailed unless the target is in use."""
        from cairn.reembedding.reembed import DropOthers

        drop = DropOthers(
            transactions=self._platform.transactions,
            fill=self._fill,
            present=self._present.model,
        )
        return drop(workspace_id)

    @cached_property
    def _present(self) -> Embedder:
        from cairn.bootstrap.parts import embedder

        return embedder(self.settings)

    @cached_property
    def _database(self) -> Database:
        from cairn.bootstrap.parts import CONNECTIONS, database

        return database(self.settings, size=CONNECTIONS)

    @cached_property
    def _platform(self) -> Platform:
        from cairn.adapters.postgres.store_transactions import StoreTransactions
        from cairn.bootstrap.dispatch import dispatcher
        from cairn.bootstrap.parts import key_store, logger, platform, warn

        log, transactions = logger("cli", "WARNING"), StoreTransactions(self._database)
        wakes_nobody = dispatcher({}, {}, self._database, transactions, warn(log))
        keys = key_store(self.settings)
        return platform(self._database, keys=keys, dispatcher=wakes_nobody, log=log)

    @cached_property
    def _fill(self) -> Fill:
        from cairn.bootstrap.parts import registered
        from cairn.reembedding.reembed import Fill

        return Fill(platform=self._platform, embedder=registered(self.target, self._database))


def reembedding(
    settings: ApiSettings,
    to: str,
    *,
    model_dir: Path | None,
    base_url: str | None,
    register: Callable[[EmbeddingModel], None] | None = None,
) -> Reembedding:
    """Return the change to the model `to` names or describes, of a folder or a server.

    Without either, the deployment's own embedder must be that model, as after a switch.
    `register` lets the database know the model, as its owner.
    Raises ValidationFailed when there is no such model, or the folder has another one.
    """
    from cairn.bootstrap.parts import embedder
    from cairn.embedding.models import model_named

    present = embedder(settings)
    model = present.model if to == present.model.name else model_named(to)
    target = _embedder(settings, model, model_dir, base_url, present)
    if register:
        register(model)
    return Reembedding(settings, target)


def _embedder(
    settings: ApiSettings,
    model: EmbeddingModel,
    model_dir: Path | None,
    base_url: str | None,
    present: Embedder,
) -> Embedder:
    from cairn.embedding.models import is_known, local_model
    from cairn.kernel.errors import ValidationFailed

    if base_url:
        from cairn.embedding.openai import OpenAIEmbedder

        key = settings.openai_api_key
        secret = key.get_secret_value() if key else ""
        return OpenAIEmbedder(model, api_key=secret, base_url=base_url)
    if model_dir:
        from cairn.embedding.onnx import OnnxEmbedder

        if is_known(model) and local_model(model_dir.name) != model:
            raise ValidationFailed(
                f"The folder {model_dir.name} holds {local_model(model_dir.name).name}.",
                reason="another-model",
            )
        return OnnxEmbedder(model_dir, model)
    if present.model != model:
        raise ValidationFailed(
            f"Where is {model.name}? Name its folder (--model-dir) or its server (--base-url).",
            reason="model-not-found",
        )
    return present
