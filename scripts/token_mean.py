"""Makes the constant mean token state of a local embedding model, of texts of this project.

The mean is what the last states of all content words share whatever they say; late interaction
compares what is left. Usage: python scripts/token_mean.py MODEL_FOLDER FILE; a model that had no
mean so far begins with a file of zeros.
"""

import json
import sys
from base64 import b64encode
from pathlib import Path

import numpy as np

from cairn.embedding.models import local_model
from cairn.embedding.onnx import OnnxEmbedder, mean_state
from cairn.kernel.text.words import sentences

ROOT = Path(__file__).parents[1]
WIDTH = 76


def texts() -> list[str]:
    """Return what was said in the samples, and the sentences of the guides' prose."""
    found: list[str] = []
    for line in (ROOT / "samples" / "conversation.ndjson").read_text(encoding="utf-8").splitlines():
        message = json.loads(line)
        found.append(f"{message['speaker']}: {message['text']}")
    for page in sorted((ROOT / "docs").glob("*/*.md")):
        for block in page.read_text(encoding="utf-8").split("\n\n"):
            if block[:1].isalpha():
                found += sentences(" ".join(block.split()))
    return [text for text in found if any(map(str.isalnum, text))]


def main(folder: Path, file: Path) -> None:
    """Write the mean of all content word pieces' last states, in half precision."""
    model = local_model(folder.name)
    embedder = OnnxEmbedder(folder)
    embedder.load()
    read = texts()
    states = [tokens.states for tokens in embedder.embed_tokens(read)[1]]
    number = sum(map(len, states))
    total = sum((each.sum(axis=0, dtype=np.float64) for each in states), np.zeros(model.dimensions))
    mean = mean_state(model) + total / number
    packed = b64encode(mean.astype("<f2").tobytes()).decode()
    lines = [packed[at : at + WIDTH] for at in range(0, len(packed), WIDTH)]
    file.write_text("\n".join(lines) + "\n", encoding="ascii")
    sys.stdout.write(f"{number} word pieces of {len(read)} texts: {file}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
