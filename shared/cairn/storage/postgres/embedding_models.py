"""Which embedding models the database knows, as the functions' role may ask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.errors import Unavailable
from cairn.storage.postgres.sql import query

if TYPE_CHECKING:
    from cairn.embedding.port import EmbeddingModel
    from cairn.storage.postgres.database import Database

HOW = "On a laptop cairn up registers it, on AWS a deployment with the same setting."


@dataclass(frozen=True)
class CheckRegistered:
    """Refuses a model whose vectors have no rows to be in and no index to be found by."""

    database: Database

    def __call__(self, model: EmbeddingModel) -> None:
        """Raise Unavailable unless the database knows the model with its dimensions."""
        with self.database.connection() as connection:
            asked = {"id": model.id}
            row = connection.execute(query("embedding_model.named"), asked).fetchone()
        if row != (model.name, model.dimensions):
            raise Unavailable(
                f"The embedding model {model.name} of {model.dimensions} dimensions is not "
                f"registered in the database. {HOW}",
                reason="model-not-registered",
            )
