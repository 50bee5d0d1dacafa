"""Ordering found texts by reading them beside the question: here by a local cross-encoder.

Any sequence-classification export with one logit will do (the ms-marco MiniLM models, the bge
rerankers): `model.onnx` and `tokenizer.json` in one folder, read with the first question. Cairn
downloads none. By a chat model: `questions/model_stages.py`.
"""

from __future__ import annotations

import importlib
from math import exp
from threading import Lock
from typing import TYPE_CHECKING, Protocol, cast

from cairn.kernel.errors import Unavailable
from cairn.recall.questions.gate import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Encoding, Tokenizer

    from cairn.recall.questions.model_calls import ModelCalls


MAX_TEXTS = 20


class Reranker(Protocol):
    """Reads each text beside the question. Optional: there is no version by rules."""

    @property
    def name(self) -> str:
        """Return who reads, such as `llm` or the name of a local model."""
        ...

    def __call__(self, query: str, texts: Sequence[str], *, calls: ModelCalls) -> Sequence[float]:
        """Return one score in [0, 1] a text, in their order: how well it answers `query`.

        At most `MAX_TEXTS` texts, ValueError beyond. Raises Unavailable when it cannot answer;
        the caller keeps its own order then, and says so.
        """
        ...


def refuse_too_many(texts: Sequence[str]) -> None:
    """Raise ValueError beyond `MAX_TEXTS`: that many was the caller's to know."""
    if len(texts) > MAX_TEXTS:
        raise ValueError(f"at most {MAX_TEXTS} texts can be reranked, not {len(texts)}")


MAX_TOKENS = 256  # of question and text together; what is beyond is not read
MAX_CHARS = 4000
BATCH = 8
THREADS = 2
LARGEST_LOGIT = 60.0


class CrossEncoder:
    """Reads question and text together; a `Reranker`, safe between threads."""

    def __init__(self, folder: Path, *, threads: int = THREADS) -> None:
        self._folder = folder
        self._threads = threads
        self._lock = Lock()
        self._loaded: tuple[Tokenizer, _Session] | None = None

    @property
    def name(self) -> str:
        """Return the folder's name, which is the model's."""
        return self._folder.name

    def __call__(self, query: str, texts: Sequence[str], *, calls: ModelCalls) -> Sequence[float]:
        """As `Reranker`; the score is the logit's sigmoid. Costs processor time and no money."""
        refuse_too_many(texts)
        if not texts:
            return ()
        tokenizer, session = self._ready()
        question = printable(query, MAX_CHARS)
        pairs = [(question, printable(text, MAX_CHARS)) for text in texts]
        encoded = tokenizer.encode_batch(pairs)
        shortest_first = sorted(range(len(encoded)), key=lambda index: len(encoded[index].ids))
        scores = [0.0] * len(texts)
        for at in range(0, len(encoded), BATCH):
            chosen = shortest_first[at : at + BATCH]
            batch_scores = _run(session, [encoded[index] for index in chosen])
            for index, score in zip(chosen, batch_scores, strict=True):
                scores[index] = score
        return scores

    def _ready(self) -> tuple[Tokenizer, _Session]:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load(self._folder, self._threads)
            return self._loaded


class _Input(Protocol):
    """The part of onnxruntime's description of an input that is used."""

    name: str


class _Session(Protocol):
    """The part of onnxruntime's untyped InferenceSession that is used."""

    def get_inputs(self) -> list[_Input]: ...
    def run(
        self, output_names: None, input_feed: Mapping[str, NDArray[np.int64]]
    ) -> list[NDArray[np.float32]]: ...


def _load(folder: Path, threads: int) -> tuple[Tokenizer, _Session]:
    for file in (folder / "model.onnx", folder / "tokenizer.json"):
        if not file.is_file():
            raise Unavailable(
                "The reranking model is not installed.", reason="reranker-missing", path=str(file)
            )
    try:
        return _tokenizer(folder / "tokenizer.json"), _open(folder / "model.onnx", threads)
    except Exception as problem:
        raise Unavailable(
            "The reranking model cannot be read.", reason="reranker-unreadable", path=str(folder)
        ) from problem


def _tokenizer(file: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    cast("Any", tokenizer).enable_truncation(MAX_TOKENS)  # half its signature is untyped
    tokenizer.no_padding()
    return tokenizer


def _open(file: Path, threads: int) -> _Session:
    runtime = cast("Any", importlib.import_module("onnxruntime"))
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return cast(
        "_Session",
        runtime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"]),
    )


def _run(session: _Session, batch: Sequence[Encoding]) -> list[float]:
    """Pad, run, and return the sigmoid of each row's first logit."""
    import numpy as np

    width = max(len(encoding.ids) for encoding in batch)
    feed: dict[str, NDArray[np.int64]] = {
        name: np.zeros((len(batch), width), dtype=np.int64)
        for name in ("input_ids", "attention_mask", "token_type_ids")
    }
    for row, encoding in enumerate(batch):
        feed["input_ids"][row, : len(encoding.ids)] = encoding.ids
        feed["attention_mask"][row, : len(encoding.ids)] = 1
        feed["token_type_ids"][row, : len(encoding.ids)] = encoding.type_ids
    input_names = {
        each.name for each in session.get_inputs()
    }  # some models have no types of tokens
    logits = session.run(None, {name: feed[name] for name in feed if name in input_names})[0]
    first = logits.reshape(len(batch), -1)[:, 0]
    return [_sigmoid(float(item)) for item in first]


def _sigmoid(logit: float) -> float:
    return 1.0 / (1.0 + exp(-max(-LARGEST_LOGIT, min(LARGEST_LOGIT, logit))))
