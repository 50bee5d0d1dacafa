"""Which word pieces of a text are kept for late interaction, and what all of them share. Pure.

Mean states are constants of a model, made of texts of this project by `scripts/token_mean.py`.
"""

from __future__ import annotations

import struct
from base64 import b64decode
from pathlib import Path
from typing import TYPE_CHECKING

from cairn.embedding.models import BGE_SMALL
from cairn.embedding.port import TokenStates
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
    kept = content[np.array(ids, dtype=np.int64)].nonzero()[0]
    return TokenStates(words=tuple(words[at] for at in kept), states=states[kept])
