"""The embedding models Cairn knows by name, and how a setting describes any other.

Ids are stored with every vector, so a line here may be added and never renumbered. A model that is
described has an id that follows from its name: entries and vectors mean the same in every database.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, get_args
from urllib.parse import parse_qsl, urlencode

from cairn.embedding.port import (
    EmbeddingModel,
    Pooling,
    embed_question,
    embed_tokens,
    gives_tokens,
)
from cairn.kernel.errors import ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from cairn.embedding.port import Embedder, TokenStates, Vectors


ALL_MINILM = EmbeddingModel(id=1, name="all-MiniLM-L6-v2-int8", dimensions=384, max_tokens=256)

BGE_SMALL = EmbeddingModel(id=6, name="bge-small-en-v1.5-int8", dimensions=384, max_tokens=256)
"""The default; reads 512 word pieces; windows are measured with 256 (docs/operate/models.md)."""

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


FIRST_DESCRIBED = 1000
"""Ids below are for the models above; the others share what else a smallint can be."""

MOST_DIMENSIONS = 4000  # an index of half-precision vectors takes no more
MAX_TOKENS = 512  # of a described model, unless it says otherwise
MOST_TOKENS = 1_000_000
LONGEST_PREFIX = 100

_NAME = re.compile(r"[!->@-~]{1,200}")  # printable ASCII without space and question mark
_OPTIONS = {"dimensions", "max_tokens", "pooling", "prefix", "query_prefix"}


def local_model(folder: str) -> EmbeddingModel:
    """Return the model in a folder of that name; the default in one of any other name."""
    return _LOCAL.get(folder, BGE_SMALL)


def is_known(model: EmbeddingModel) -> bool:
    """Return whether every database has the model; others are registered first."""
    return model in MODELS


def model_named(description: str) -> EmbeddingModel:
    """Return a model by name, or as described: `NAME?dimensions=1000&max_tokens=512`.

    `pooling` (of local models: mean, first or last) and `prefix` (put before every text) may
    follow, percent-encoded. They change what vectors mean, so they are part of the model's name;
    `query_prefix` (put before questions instead) changes no stored vector and is not.
    Raises ValidationFailed for a name that is not known and comes without dimensions.
    """
    name, _, rest = description.partition("?")
    model = _BY_NAME.get(name)
    if model is not None and not rest:
        return model
    options = _options(rest)
    if model is not None:
        raise _refused(f"{name} has {model.dimensions} dimensions and takes no options")
    if not _NAME.fullmatch(name):
        raise _refused("a name is 1 to 200 printable characters without space")
    if "dimensions" not in options:
        listed = ", ".join(sorted(_BY_NAME))
        raise _refused(
            f"there is no embedding model {name!r} with known dimensions, as of {listed}; "
            f"describe it: {name}?dimensions=768"
        )
    return _described(name, options)


def chosen_model(
    *, embedder: str, model_dir: Path, onnx_model: str | None, openai_model: str
) -> EmbeddingModel:
    """Return the model that a deployment's settings choose; ValidationFailed for none."""
    if embedder == "openai":
        model = model_named(openai_model)
        if model.pooling != "mean":
            raise _refused("how a server pools is its own: pooling is for a local model")
        return model
    return model_named(onnx_model) if onnx_model else local_model(model_dir.name)


def _described(name: str, options: Mapping[str, str]) -> EmbeddingModel:
    pooling, prefix = options.get("pooling", "mean"), options.get("prefix", "")
    if pooling not in get_args(Pooling):
        raise _refused(f"pooling is one of {', '.join(get_args(Pooling))}")
    query_prefix = options.get("query_prefix")
    if max(len(prefix), len(query_prefix or "")) > LONGEST_PREFIX:
        raise _refused(f"prefix has at most {LONGEST_PREFIX} characters")
    meaning = [("pooling", pooling)] if pooling != "mean" else []
    options_text = urlencode([*meaning, *([("prefix", prefix)] if prefix else [])])
    full = f"{name}?{options_text}" if options_text else name
    return EmbeddingModel(
        id=_id(full),
        name=full,
        dimensions=_number(options, "dimensions", 0, 1, MOST_DIMENSIONS),
        max_tokens=_number(options, "max_tokens", MAX_TOKENS, 32, MOST_TOKENS),
        pooling="mean" if pooling == "mean" else "first" if pooling == "first" else "last",
        prefix=prefix,
        query_prefix=query_prefix,
    )


def _id(name: str) -> int:
    digest = hashlib.sha256(name.encode()).digest()
    return FIRST_DESCRIBED + int.from_bytes(digest[:8]) % (2**15 - FIRST_DESCRIBED)


def _options(text: str) -> dict[str, str]:
    if not text:
        return {}
    try:
        pairs = parse_qsl(text, keep_blank_values=True, strict_parsing=True, errors="strict")
    except ValueError:
        raise _refused(f"{text!r} is not option=value&option=value") from None
    options = dict(pairs)
    if len(options) < len(pairs) or options.keys() - _OPTIONS:
        raise _refused(f"options are {', '.join(sorted(_OPTIONS))}, each once")
    return options


def _number(options: Mapping[str, str], name: str, default: int, least: int, most: int) -> int:
    text = options.get(name, str(default))
    if not re.fullmatch(r"[0-9]{1,7}", text) or not least <= int(text) <= most:
        raise _refused(f"{name} is a whole number from {least} to {most}")
    return int(text)


def _refused(why: str) -> ValidationFailed:
    return ValidationFailed(
        f"This is not an embedding model: {why}.", reason="unknown-embedding-model"
    )


class RegisteredEmbedder:
    """Asks once, with the first text: vectors of a model without an index would find nothing."""

    def __init__(self, embedder: Embedder, check: Callable[[EmbeddingModel], None]) -> None:
        self._embedder = embedder
        self._check = check
        self._checked = False

    @property
    def model(self) -> EmbeddingModel:
        """As `Embedder`."""
        return self._embedder.model

    def count_tokens(self, text: str) -> int:
        """As `Embedder`."""
        return self._embedder.count_tokens(text)

    def windows(self, text: str, *, whole_up_to: int | None = None) -> list[str]:
        """As `Embedder`."""
        return self._embedder.windows(text, whole_up_to=whole_up_to)

    def load(self) -> None:
        """As `Embedder`; the database is not asked."""
        self._embedder.load()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """As `Embedder`; Unavailable, too, when the model is not registered."""
        self._checked_once()
        return self._embedder.embed(texts)

    def embed_question(self, question: str) -> Vectors:
        """As `QuestionEmbedder`; Unavailable, too, when the model is not registered."""
        self._checked_once()
        return embed_question(self._embedder, question)[0][None, :]

    @property
    def gives_tokens(self) -> bool:
        """As `TokenEmbedder`."""
        return gives_tokens(self._embedder)

    def embed_tokens(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[TokenStates]]:
        """As `TokenEmbedder`; Unavailable, too, when the model is not registered."""
        self._checked_once()
        vectors, tokens = embed_tokens(self._embedder, texts)
        if tokens is None:
            raise RuntimeError("a model without token states was asked for them")
        return vectors, tokens

    def _checked_once(self) -> None:
        if not self._checked:
            self._check(self.model)
            self._checked = True
