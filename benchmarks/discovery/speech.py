"""Train the model of speech acts on the written sentences, and say how well it does on unread ones.

python -m benchmarks.discovery.speech            five folds: each judged by the other four
python -m benchmarks.discovery.speech --write    writes the model that Cairn ships
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from cairn.discovery.intents import speech
from cairn.discovery.intents.speech import KINDS, Kind, features, grams
from cairn.discovery.intents.statements import forms
from cairn.embedding.onnx import OnnxEmbedder
from cairn.settings.cli import CliSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

ROOT = Path(__file__).parents[2]
SENTENCES = ROOT / "samples" / "discovery" / "sentences.txt"
LEAST_SENTENCES = 4
"""That a word occurs in, to be a feature."""

PENALTY = 3e-3
STEPS = 400
MOMENTUM = 0.9
FOLDS = 5
DIGITS = 3


def read_sentences(path: Path = SENTENCES) -> tuple[list[str], list[Kind]]:
    """Return the sentences and their kinds; `# kind` stands above the sentences of a kind."""
    texts: list[str] = []
    kinds: list[Kind] = []
    kind = Kind.FACT
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            kind = Kind(line[2:].strip())
        elif line.strip():
            texts.append(line.strip())
            kinds.append(kind)
    return texts, kinds


def vocabulary_of(texts: Sequence[str]) -> list[str]:
    """Return the words and pairs that are in at least LEAST_SENTENCES of `texts`, sorted."""
    counts = Counter(gram for text in texts for gram in grams(text))
    return sorted(gram for gram, count in counts.items() if count >= LEAST_SENTENCES)


def trained(rows: NDArray[np.float64], kinds: Sequence[Kind]) -> NDArray[np.float64]:
    """Return weights (features, kinds): the cross entropy's least, by gradient with momentum."""
    target = np.eye(len(KINDS))[[KINDS.index(kind) for kind in kinds]]
    weights = np.zeros((rows.shape[1], len(KINDS)))
    speed = np.zeros_like(weights)
    for _ in range(STEPS):
        scores = rows @ weights
        likely = np.exp(scores - scores.max(axis=1, keepdims=True))
        likely /= likely.sum(axis=1, keepdims=True)
        slope = rows.T @ (likely - target) / len(rows)
        slope[:-1] += PENALTY * weights[:-1]
        speed = MOMENTUM * speed - slope
        weights += speed
    return weights


def cross_validated(
    texts: Sequence[str], kinds: Sequence[Kind], vectors: NDArray[np.float32]
) -> dict[str, float]:
    """Return how often kinds, and sides, of sentences are right that training did not see."""
    order = list(range(len(texts)))
    Random(0).shuffle(order)
    right = sides = 0
    for fold in range(FOLDS):
        unread = order[fold::FOLDS]
        read = [at for at in order if at not in unread]
        vocabulary = vocabulary_of([texts[at] for at in read])
        rows = features(texts, vectors, vocabulary)
        weights = trained(rows[read], [kinds[at] for at in read])
        likeliest: list[int] = (rows[unread] @ weights).argmax(axis=1).tolist()
        for at, best in zip(unread, likeliest, strict=True):
            right += KINDS[best] is kinds[at]
            sides += _side(KINDS[best]) == _side(kinds[at])
    return {"kinds": round(right / len(texts), 3), "sides": round(sides / len(texts), 3)}


def model_of(
    texts: Sequence[str], kinds: Sequence[Kind], vectors: NDArray[np.float32], name: str
) -> dict[str, Any]:
    """Return the model as it is stored."""
    vocabulary = vocabulary_of(texts)
    weights = trained(features(texts, vectors, vocabulary), kinds)
    rows = [[round(float(each), DIGITS) for each in row] for row in weights]
    return {"model": name, "sentences": digest(), "grams": vocabulary, "weights": rows}


def digest(path: Path = SENTENCES) -> str:
    """Return the SHA-256 of the sentences, their kinds and what the rules make of each."""
    read = [[text, kind, *forms(text)] for text, kind in zip(*read_sentences(path), strict=True)]
    return sha256(json.dumps(read).encode()).hexdigest()


def _side(kind: Kind) -> str:
    return kind if kind in (Kind.SEEKING, Kind.OFFERING) else "none"


def main() -> None:
    """Print the shares of five folds, or write the model."""
    model_dir = CliSettings().model_dir
    if model_dir is None:
        sys.exit("There is no CAIRN_MODEL_DIR: it names the folder of the default embedding model.")
    embedder = OnnxEmbedder(model_dir)
    texts, kinds = read_sentences()
    vectors = embedder.embed(texts)
    if "--write" in sys.argv:
        model = model_of(texts, kinds, vectors, embedder.model.name)
        path = Path(speech.__file__).with_name(speech.FILE)
        path.write_text(json.dumps(model, separators=(",", ":")) + "\n", encoding="utf-8")
        return
    shares = cross_validated(texts, kinds, vectors)
    sys.stdout.write(json.dumps({"sentences": len(texts), **shares}) + "\n")


if __name__ == "__main__":
    main()
