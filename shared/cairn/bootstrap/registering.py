"""Registering an embedding model, for the laptop's launcher and the operator's commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg

from cairn.adapters.postgres.migrate import MigrationsBusy
from cairn.adapters.postgres.register_model import register_model
from cairn.bootstrap.parts import model_of
from cairn.embedding.models import is_known
from cairn.kernel.errors import Unavailable
from cairn.settings import EmbedderSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.embedding.port import EmbeddingModel


def register_chosen(owner_url: str, values: Mapping[str, str]) -> EmbeddingModel:
    """Return the model that a stage's settings name, which the database knows from now on."""
    given = {name: value for name, value in values.items() if value}
    model = model_of(EmbedderSettings.model_validate(given))
    register(owner_url, model)
    return model


def register(owner_url: str, model: EmbeddingModel) -> None:
    """Register a model unless a migration did.

    Raises ValidationFailed when its name or id stands for another one, Unavailable when the
    database cannot be had, or is migrated.
    """
    if is_known(model):
        return
    try:
        register_model(owner_url, model)
    except (psycopg.OperationalError, MigrationsBusy) as problem:
        raise Unavailable(
            f"The embedding model {model.name} could not be registered: {problem}",
            reason="model-not-registered",
        ) from problem
