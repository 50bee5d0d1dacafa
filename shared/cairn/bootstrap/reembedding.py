"""What changing the embedding model needs: an operator's command beside the database.

Which model a deployment uses is its setting, and so is the switch; nothing here changes it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.memory.recall import PostgresVectorLeg
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.adapters.postgres.sweeping import ListWorkspaces
from cairn.bootstrap.parts import CONNECTIONS, database, embedder, key_store, registered
from cairn.embedding.models import is_known, local_model, model_named
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import ValidationFailed
from cairn.kernel.ids import new_id
from cairn.ledger.keys import BodyCipher
from cairn.reembedding.compare import Compare
from cairn.reembedding.reembed import DropOthers, Fill

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path
    from uuid import UUID

    from cairn.adapters.postgres.database import Database
    from cairn.embedding.port import Embedder, EmbeddingModel
    from cairn.settings import ApiSettings


@dataclass(frozen=True)
class Reembedding:
    """A change of models in one deployment, from the one it uses to `target`."""

    settings: ApiSettings
    target: Embedder

    @property
    def present_name(self) -> str:
        """Return the model the deployment uses."""
        return self._present.model.name

    def workspaces(self) -> Iterable[UUID]:
        """Return every workspace of the deployment."""
        return ListWorkspaces(self._database)()

    def fill(
        self, workspace_id: UUID, report: Callable[[int, int], None] | None = None
    ) -> dict[str, Any]:
        """Give every node of a workspace vectors of the target."""
        return asdict(self._fill(workspace_id, report=report))

    def compare(self, workspace_id: UUID, *, sample: int) -> dict[str, Any] | None:
        """Ask for a sample with both models; None when there is nothing, or they are one."""
        if self._present.model == self.target.model:
            return None
        found = Compare(
            transactions=self._transactions,
            vectors=PostgresVectorLeg(self._database),
            present=self._present,
            target=self.target,
        )(workspace_id, sample=sample)
        return found.as_json() if found else None

    def drop_others(self, workspace_id: UUID) -> int:
        """Remove the vectors of all other models; ValidationFailed unless the target is in use."""
        if self._present.model != self.target.model:
            raise ValidationFailed(
                f"The deployment uses {self.present_name}, not {self.target.model.name}.",
                reason="model-not-in-use",
            )
        return DropOthers(transactions=self._transactions, fill=self._fill)(workspace_id)

    @cached_property
    def _present(self) -> Embedder:
        return embedder(self.settings)

    @cached_property
    def _database(self) -> Database:
        return database(self.settings, size=CONNECTIONS)

    @cached_property
    def _transactions(self) -> StoreTransactions:
        return StoreTransactions(self._database)

    @cached_property
    def _fill(self) -> Fill:
        return Fill(
            transactions=self._transactions,
            embedder=registered(self.target, self._database),
            keys=key_store(self.settings),
            cipher=BodyCipher(),
            clock=utc_now,
            new_id=new_id,
        )


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
