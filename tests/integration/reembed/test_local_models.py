"""From bge-small to all-MiniLM and back, as an operator's command does it: the two real models."""

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from layers.model import FOLDER, MINILM, build
from pydantic import SecretStr
from tests.support.embedding import installed_model
from tests.support.everything import Everything, open_everything
from tests.support.remembering import fact

from cairn.adapters.files.keys import FileKeyStore
from cairn.bootstrap.owner import reembedding
from cairn.embedding.models import ALL_MINILM, BGE_SMALL
from cairn.embedding.onnx import OnnxEmbedder
from cairn.kernel.errors import ValidationFailed

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

NOTES = (
    "The ferry to the island leaves at noon. Tickets are sold on board.",
    "Our backups are kept for ninety days. They are encrypted with the customer's key.",
    "The bakery opens before sunrise. Rye bread is sold out by eight.",
    "Deployments are frozen on Fridays. Only the on-call engineer may lift the freeze.",
    "The violin was built in Cremona. Its varnish has never been renewed.",
    "Invoices above ten thousand euros need two signatures. The second is the director's.",
)


def settings(database: "Database", keys: Path, model_dir: Path) -> Any:
    return SimpleNamespace(
        app_database_url=SecretStr(database.app_url),
        database_auth="password",
        database_wait_seconds=5.0,
        key_store=f"file:{keys}",
        kms_key_arn=None,
        embedder="onnx",
        model_dir=model_dir,
        onnx_embedding_model=None,
        openai_api_key=None,
        openai_embedding_model="text-embedding-3-small",
    )


def test_both_models_are_compared_switched_between_and_one_is_dropped(
    database: "Database", tmp_path: Path
) -> None:
    bge, minilm = installed_model(), build(FOLDER.parent / "all-minilm-l6-v2", MINILM)
    opened = open_everything(database)
    of = Everything(
        database=database,
        workspace_id=opened.workspace_id,
        pool=opened.pool,
        keys=FileKeyStore(tmp_path / "keys"),
        embedder=OnnxEmbedder(bge),  # pyright: ignore[reportArgumentType]
    )
    of.system.tell(*(fact(note) for note in NOTES))
    of.embed()
    deployed = settings(database, tmp_path / "keys", bge)

    change = reembedding(deployed, ALL_MINILM.name, model_dir=minilm, base_url=None)
    assert of.workspace_id in list(change.workspaces())
    assert change.compare(of.workspace_id, sample=6) is None
    assert change.fill(of.workspace_id)["nodes"] == len(NOTES)
    told = change.compare(of.workspace_id, sample=6)
    assert told is not None
    assert (told["present"]["model"], told["target"]["model"]) == (BGE_SMALL.name, ALL_MINILM.name)
    assert told["present"]["recall_at_1"] == told["target"]["recall_at_1"] == 1.0
    with pytest.raises(ValidationFailed, match="The deployment uses bge-small"):
        change.drop_others(of.workspace_id)

    switched = settings(database, tmp_path / "keys", minilm)
    back = reembedding(switched, BGE_SMALL.name, model_dir=bge, base_url=None)
    assert back.fill(of.workspace_id)["nodes"] == 0
    final = reembedding(switched, ALL_MINILM.name, model_dir=None, base_url=None)
    assert final.drop_others(of.workspace_id) > 0
    assert of.rebuild(of.workspace_id).equal
    of.pool.close()


def test_a_folder_of_another_model_or_none_at_all_is_refused(
    database: "Database", tmp_path: Path
) -> None:
    deployed = settings(database, tmp_path / "keys", installed_model())
    with pytest.raises(ValidationFailed, match="holds bge-small"):
        reembedding(deployed, ALL_MINILM.name, model_dir=installed_model(), base_url=None)
    with pytest.raises(ValidationFailed, match="Where is"):
        reembedding(deployed, ALL_MINILM.name, model_dir=None, base_url=None)
    with pytest.raises(ValidationFailed, match="there is no embedding model"):
        reembedding(deployed, "made-up", model_dir=None, base_url=None)
