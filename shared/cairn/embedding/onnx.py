"""The local embedders: bge-small-en-v1.5 or all-MiniLM-L6-v2, int8, in this process.

Not a general ONNX runner: pooling (mean), normalisation (L2) and the inputs are these models'.
numpy and onnxruntime are imported with the first text, so importing this module is cheap.
"""

from __future__ import annotations

import importlib
import struct
from base64 import b64decode
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol, cast

from cairn.embedding.cutting import WordPieces
from cairn.embedding.models import ALL_MINILM, BGE_SMALL, local_model
from cairn.embedding.port import TokenStates, refuse_blank, unit_rows
from cairn.embedding.spans import embedding_span
from cairn.kernel.errors import Unavailable
from cairn.kernel.text.words import QUESTION_WORDS, STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from cairn.embedding.port import EmbeddingModel, Vectors


_MEANS = {BGE_SMALL.id: Path(__file__).with_name("token_mean_bge_small.txt")}
_CONTINUED = "##"
_WITHOUT_CONTENT = frozenset(
    part for word in STOP_WORDS | QUESTION_WORDS for part in word.split("'")
).union("sdm")  # what is left of a word at its apostrophe is a piece of its own


def has_mean(model: EmbeddingModel) -> bool:
    """Return whether the mean token state of the model is known: without it there are no tokens."""
    return model.id in _MEANS


def mean_state(model: EmbeddingModel) -> Vectors:
    """Return what all token states of a model have in common: (dimensions,)."""
    import numpy as np

    packed = b64decode(_MEANS[model.id].read_text(encoding="ascii"))
    return np.array(struct.unpack(f"<{model.dimensions}e", packed), dtype=np.float32)


def is_content(piece: str) -> bool:
    """Return whether a word piece is no special token, mark, stop or question word."""
    if piece.startswith("[") and piece.endswith("]") and len(piece) > 2:
        return False
    if piece.startswith(_CONTINUED):
        return any(map(str.isalnum, piece))
    return any(map(str.isalnum, piece)) and piece not in _WITHOUT_CONTENT


def token_states(
    ids: Sequence[int], states: Vectors, pieces: Sequence[str], content: NDArray[np.bool_]
) -> TokenStates:
    """Return the states of the content pieces among `ids`, by the vocabulary's pieces."""
    import numpy as np

    words: list[str] = []
    word = ""
    for id_ in reversed(ids):  # a word is whole at its first piece
        piece = pieces[id_]
        words.append(piece.removeprefix(_CONTINUED) + word)
        word = words[-1] if piece.startswith(_CONTINUED) else ""
    words.reverse()
    for at in range(1, len(words)):
        if pieces[ids[at]].startswith(_CONTINUED):
            words[at] = words[at - 1]
    places = content[np.array(ids, dtype=np.int64)].nonzero()[0]
    return TokenStates(words=tuple(words[at] for at in places), states=states[places])


if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from cairn.embedding.port import EmbeddingModel, Pooling, Vectors

    _Keep = Callable[[int, Sequence[int], Vectors], None]

BATCHES = {
    ALL_MINILM.id: 8
}  # a larger one loses more to padding than it gains: docs/operate/models.md
ALONE = 1  # where activations are quantised too, a text's company would change its vector
THREADS = 2
INPUTS = ("input_ids", "attention_mask", "token_type_ids", "position_ids")
"""What a model may ask for; one that is no encoder asks for more."""


class OnnxEmbedder:
    """Embeds with `model.onnx` and `tokenizer.json` in `model_dir`, both read on first use.

    Unless it is told, the folder's name says which model it is. Texts are sorted by length into
    batches of `batch`, by default the largest with which a vector does not depend on the company it
    was embedded in.
    """

    def __init__(
        self,
        model_dir: Path,
        model: EmbeddingModel | None = None,
        *,
        threads: int = THREADS,
        batch: int | None = None,
    ) -> None:
        self._model = model or local_model(model_dir.name)
        self._file = model_dir / "model.onnx"
        self._threads = threads
        self._batch = batch or BATCHES.get(self._model.id, ALONE)
        self._tokens = WordPieces(
            model_dir, max_tokens=self._model.max_tokens, prefix=self._model.prefix
        )
        self._lock = Lock()
        self._session: _Session | None = None

    @property
    def model(self) -> EmbeddingModel:
        """Return the model of the folder."""
        return self._model

    def count_tokens(self, text: str) -> int:
        """Return the number of word pieces of `text`, special tokens left out."""
        return self._tokens.count_tokens(text)

    def windows(self, text: str, *, whole_up_to: int | None = None) -> list[str]:
        """Return `text` alone if the model reads it whole, else its passages of 64 tokens."""
        return self._tokens.windows(text, whole_up_to=whole_up_to)

    def load(self) -> None:
        """Read the model now, so that the first text does not wait; Unavailable if missing."""
        self._tokens.load()
        self._ready()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of `texts`, (len(texts), dimensions), in order, rows of length 1.

        Raises ValidationFailed for a blank text, Unavailable when the model is not installed,
        cannot be read, or makes vectors of another size.
        """
        return self._read(texts)

    def embed_question(self, question: str) -> Vectors:
        """Return the vector of a question, (1, dimensions), read with the prefix of questions."""
        return self._read([question], prefix=self._model.query_prefix)

    @property
    def gives_tokens(self) -> bool:
        """Return whether the mean token state of the model is known."""
        return has_mean(self._model)

    def embed_tokens(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[TokenStates]]:
        """Return the vectors of `texts` and the token states of each, of one pass."""
        states_by_index: dict[int, TokenStates] = {}
        mean, content = self._content

        def keep(index: int, ids: Sequence[int], states: Vectors) -> None:
            states_by_index[index] = token_states(
                ids, states - mean, self._tokens.vocabulary, content
            )

        vectors = self._read(texts, keep)
        return vectors, [states_by_index[index] for index in range(len(texts))]

    def _read(
        self, texts: Sequence[str], keep: _Keep | None = None, prefix: str | None = None
    ) -> Vectors:
        """Return the vectors; `keep` gets place, ids and last states of each text."""
        import numpy as np

        refuse_blank(texts)
        session = self._ready()
        encoded = self._tokens.encode(texts, prefix)
        shortest_first = sorted(range(len(encoded)), key=lambda index: len(encoded[index]))
        vectors = np.empty((len(encoded), self._model.dimensions), dtype=np.float32)
        with embedding_span(self._model, "onnx", len(texts)) as measured:
            measured.put({"gen_ai.usage.input_tokens": sum(map(len, encoded))})
            for at in range(0, len(encoded), self._batch):
                chosen = shortest_first[at : at + self._batch]
                states, mask = _run(session, [encoded[index] for index in chosen], self._model)
                pooled = _pooled(states, mask, self._model.pooling) if states.ndim == 3 else states
                vectors[chosen] = unit_rows(pooled)
                if keep is not None:
                    for row, index in enumerate(chosen):
                        keep(index, encoded[index], states[row])
        return vectors

    @cached_property
    def _content(self) -> tuple[Vectors, NDArray[np.bool_]]:
        """Return the mean token state, and which pieces of the vocabulary carry content."""
        import numpy as np

        return mean_state(self._model), np.array(list(map(is_content, self._tokens.vocabulary)))

    def _ready(self) -> _Session:
        with self._lock:
            if self._session is None:
                self._session = _open(self._file, self._threads)
            return self._session


class _Input(Protocol):
    @property
    def name(self) -> str: ...


class _Session(Protocol):
    """The part of onnxruntime's untyped InferenceSession that is used."""

    def get_inputs(self) -> Sequence[_Input]: ...
    def run(
        self, output_names: None, input_feed: Mapping[str, NDArray[np.int64]]
    ) -> list[NDArray[np.float32]]: ...


def _open(file: Path, threads: int) -> _Session:
    """Open the model. Spinning is off: waiting threads would take the cores the rest needs."""
    if not file.is_file():
        raise Unavailable(
            "The embedding model is not installed.", reason="model-missing", path=str(file)
        )
    runtime = cast("Any", importlib.import_module("onnxruntime"))
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        session: _Session = runtime.InferenceSession(
            str(file), options, providers=["CPUExecutionProvider"]
        )
    except Exception as problem:  # its exceptions have no common class but this
        raise _unusable("model.onnx cannot be read.", "model-unreadable") from problem
    unknown = {input_.name for input_ in session.get_inputs()} - set(INPUTS)
    if unknown:
        raise _unusable(f"It asks for {', '.join(sorted(unknown))}.", "model-inputs")
    return session


def _unusable(why: str, reason: str) -> Unavailable:
    return Unavailable(f"This is no embedding model that can be used: {why}", reason=reason)


def _run(
    session: _Session, batch: Sequence[Sequence[int]], model: EmbeddingModel
) -> tuple[Vectors, NDArray[np.int64]]:
    """Pad and run; return the tokens' last states, or one vector a text, and what is no padding."""
    import numpy as np

    width = max(len(ids) for ids in batch)
    ids = np.zeros((len(batch), width), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, tokens in enumerate(batch):
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    places = np.arange(width, dtype=np.int64)[None, :].repeat(len(batch), axis=0)
    arrays = (ids, mask, np.zeros_like(ids), places)
    input_names = {input_.name for input_ in session.get_inputs()}
    feed = {name: array for name, array in zip(INPUTS, arrays, strict=True) if name in input_names}
    states = session.run(None, feed)[0]
    if states.ndim not in (2, 3):
        raise _unusable("Its first output is neither tokens nor vectors.", "malformed-vectors")
    if states.shape[-1] != model.dimensions:
        raise Unavailable(
            "The embedding model makes vectors of another size.",
            reason="wrong-dimensions",
            expected=model.dimensions,
            received=states.shape[-1],
        )
    return states, mask


def _pooled(states: NDArray[np.float32], mask: NDArray[np.int64], pooling: Pooling) -> Vectors:
    import numpy as np

    if pooling == "first":
        return states[:, 0]
    if pooling == "last":
        return states[np.arange(len(states)), mask.sum(axis=1) - 1]
    weights = mask.astype(np.float32)[:, :, None]
    return (states * weights).sum(axis=1) / weights.sum(axis=1)
