"""The embedding models Cairn knows by name, with the ids their vectors are stored under.

Not settings: which one is used is decided at the composition root. Ids are stored with every
vector, so a line here may be added and never renumbered.
"""

from cairn.embedding.port import EmbeddingModel
from cairn.errors import ValidationFailed

ALL_MINILM = EmbeddingModel(id=1, name="all-MiniLM-L6-v2-int8", dimensions=384, max_tokens=256)

BGE_SMALL = EmbeddingModel(id=6, name="bge-small-en-v1.5-int8", dimensions=384, max_tokens=256)
"""The default. It can read 512 word pieces; the windows were measured with 256 (docs/models.md)."""

MODELS = (
    ALL_MINILM,
    EmbeddingModel(id=2, name="text-embedding-3-small", dimensions=1536, max_tokens=8191),
    EmbeddingModel(id=3, name="text-embedding-3-large", dimensions=3072, max_tokens=8191),
    EmbeddingModel(id=4, name="nomic-embed-text", dimensions=768, max_tokens=2048),
    EmbeddingModel(id=5, name="mxbai-embed-large", dimensions=1024, max_tokens=512),
    BGE_SMALL,
)

_LOCAL = {"all-minilm-l6-v2": ALL_MINILM, "bge-small-en-v1.5": BGE_SMALL}
"""By the name of the folder `layers/model.py` makes of each."""

_BY_NAME = {model.name: model for model in MODELS}


def local_model(folder: str) -> EmbeddingModel:
    """Return the model in a folder of that name; the default in one of any other name."""
    return _LOCAL.get(folder, BGE_SMALL)


def model_named(name: str) -> EmbeddingModel:
    """Return the model called `name`; ValidationFailed lists the known ones for any other."""
    model = _BY_NAME.get(name)
    if model is None:
        known = ", ".join(sorted(_BY_NAME))
        raise ValidationFailed(
            f"There is no embedding model {name!r}; Cairn knows {known}.",
            reason="unknown-embedding-model",
        )
    return model
