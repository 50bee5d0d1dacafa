"""Which texts of a node a model is given, and the node's vectors out of theirs. Pure.

The one place where this is decided: the embed stage and a change of models make the same of a node.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from cairn.embedding.port import PASSAGE_TOKENS
from cairn.enrichment.ports import Recipe
from cairn.enrichment.recipes import mixed
from cairn.graph.node import Label
from cairn.ledger.keys import SubjectForgotten, key_subjects

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.embedding.port import Embedder, TextWindows, Vectors
    from cairn.enrichment.ports import EnrichableNode, NewEmbedding
    from cairn.ledger.keys import KeyStore


def text_hash(text: str) -> bytes:
    """Return the SHA-256 under which a text's vector is cached."""
    return hashlib.sha256(text.encode()).digest()


def texts_of(nodes: Sequence[EnrichableNode], windows: TextWindows) -> list[str]:
    """Return every text whose vector is needed, once each."""
    needed: dict[str, None] = {}
    for node in nodes:
        needed |= dict.fromkeys(_windows(node, windows))
        needed |= dict.fromkeys(node.context)
    return list(needed)


def embedded(embedder: Embedder, texts: Sequence[str]) -> dict[bytes, Vectors]:
    """Return vectors by text, as exact as the cache keeps them: what is mixed can be mixed again.

    Raises Unavailable when the embedder does not answer.
    """
    if not texts:
        return {}
    vectors = embedder.embed(texts).astype("float16").astype("float32")
    return {text_hash(text): vectors[index] for index, text in enumerate(texts)}


def vectors_of(
    node: EnrichableNode, windows: TextWindows, vectors: Mapping[bytes, Vectors]
) -> NewEmbedding:
    """Return the node's vectors, made of those of its texts, which must all be there."""
    recipe = Recipe(
        windows=tuple(text_hash(text) for text in _windows(node, windows)),
        context=tuple(text_hash(text) for text in node.context),
    )
    made = mixed(node.id, recipe, vectors)
    if made is None:
        raise RuntimeError("a text that was just embedded has no vector")
    return made


def readable(
    keys: KeyStore, workspace_id: UUID, nodes: Sequence[EnrichableNode]
) -> tuple[list[EnrichableNode], dict[UUID, bytes]]:
    """Return the nodes whose data subjects have their keys still, and those keys."""
    owners = {node.id: key_subjects(workspace_id, node.data_subjects) for node in nodes}
    held: dict[UUID, bytes] = {}
    there: dict[tuple[UUID, ...], bool] = {}
    for subjects in dict.fromkeys(owners.values()):
        try:
            held |= keys.get_or_create(workspace_id, subjects)
            there[subjects] = True
        except SubjectForgotten:
            there[subjects] = False
    return [node for node in nodes if there[owners[node.id]]], held


def _windows(node: EnrichableNode, windows: TextWindows) -> list[str]:
    whole_up_to = PASSAGE_TOKENS if node.label == Label.CHUNK else None
    return windows.windows(node.text, whole_up_to=whole_up_to)
