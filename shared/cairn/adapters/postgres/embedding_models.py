"""Which embedding models the database knows, as the functions' role may ask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.adapters.postgres.sql import query
from cairn.kernel.errors import Unavailable

if TYPE_CHECKING:
    from cairn.adapters.postgres.database import Database
    from cairn.embedding.port import EmbeddingModel

HOW = "On a laptop cairn up registers it, on AWS a deployment with the same setting."


@dataclass(frozen=True)
class CheckRegistered:
    """Refuses a model whose vectors have no rows to be in and no index to be found by."""

    database: Database

    def __call__(self, model: EmbeddingModel) -> None:
        """Raise Unavailable unless the database knows the model with its dimensions."""
        with self.database.connection() as connection:
            parameters = {"id": model.id}
            row = connection.execute(query("embedding_model.named"), parameters).fetchone()
        if row != (model.name, model.dimensions):
            raise Unavailable(
                f"The embedding model {model.name} of {model.dimensions} dimensions is not "
                f"registered in the database. {HOW}",
                reason="model-not-registered",
            )
