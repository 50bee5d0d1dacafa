"""Gives an embedding model its row and its indexes. Runs as the owner, as migrations do.

An index is built in every partition, without a lock that writers wait for, and the row comes last:
a model that is registered has its indexes. Whoever dies in the middle leaves indexes of nothing,
which the next run goes on with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from psycopg import sql
from psycopg.rows import scalar_row

from cairn.adapters.postgres.migrate import Connection, Migration, Run, alone
from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import scalar
from cairn.kernel.errors import ValidationFailed

if TYPE_CHECKING:
    from cairn.embedding.port import EmbeddingModel


def register_model(owner_url: str, model: EmbeddingModel, *, seconds: float | None = None) -> bool:
    """Return whether the model is new to the database; safe to repeat, and from two places at once.

    Raises ValidationFailed when its name stands for other dimensions or its id for another name,
    MigrationsBusy while another session migrates, MigrationsLeft when the seconds are over.
    """
    with alone(owner_url) as session:
        if _is_registered(session, model):
            return False
        _drop_of_other_dimensions(session, model)
        Run(session, seconds).build(_indexes(session, model))
        session.execute(query("embedding_model.register"), _parameters(model))
        return True


def _is_registered(session: Connection, model: EmbeddingModel) -> bool:
    row = session.execute(query("embedding_model.named"), _parameters(model)).fetchone()
    if row is None or row == (model.name, model.dimensions):
        return row is not None
    name, dimensions = row
    if name == model.name:
        raise ValidationFailed(
            f"{name} is registered with {dimensions} dimensions, not {model.dimensions}; "
            "give the other one another name.",
            reason="another-model",
        )
    raise ValidationFailed(
        f"{model.name} would have the id of {name} ({model.id}); give it another name.",
        reason="another-model",
    )


def _drop_of_other_dimensions(session: Connection, model: EmbeddingModel) -> None:
    """Drop what a run began that was told otherwise; the model has no rows yet."""
    names = session.cursor(row_factory=scalar_row).execute(
        query("embedding_model.of_other_dimensions"), _parameters(model)
    )
    for name in names.fetchall():
        drop = sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}")
        session.execute(drop.format(sql.Identifier(name)))


def _indexes(session: Connection, model: EmbeddingModel) -> Migration:
    text = scalar(session, "embedding_model.indexes", _parameters(model)) or ""
    return Migration(id=f"model {model.name}", text=text, transactional=False)


def _parameters(model: EmbeddingModel) -> dict[str, int | str]:
    return {"id": model.id, "name": model.name, "dimensions": model.dimensions}
