"""The texts a node is embedded by, and the recipe of its vectors in `node.enriched`. Pure.

Texts stand in recipes as the SHA-256 under which the cache has their vectors; hashes of what people
wrote are in the entry's encrypted body only.
"""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.embedding.port import PASSAGE_TOKENS, embed_tokens, gives_tokens
from cairn.enrichment.ports import NewEmbedding, Recipe, TextVectors
from cairn.graph.node import Label
from cairn.ledger.keys import SubjectForgotten, key_subjects

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cairn.embedding.port import Embedder, TextWindows
    from cairn.enrichment.ports import EnrichableNode
    from cairn.kernel.text.json_value import JsonValue
    from cairn.ledger.keys import KeyStore
    from cairn.writing.writer import Write


def note_enriched(
    write: Write,
    body: Mapping[str, JsonValue],
    *,
    model: str,
    node_ids: Iterable[UUID],
    data_subjects: tuple[UUID, ...],
) -> None:
    """Plan the entry of nodes that are about the same data subjects."""
    meta = {"model": model, "node_ids": [str(id_) for id_ in node_ids]}
    write.entries.add(
        "node.enriched", meta, body, data_subjects=data_subjects, occurred_at=write.now
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRecipe:
    """A node's recipe as an entry gives it; `position` is that of the work that asked for it."""

    node_id: UUID
    model_id: int
    position: int
    recipe: Recipe


def written(
    rows: Sequence[NewEmbedding],
    model_id: int,
    position: int,
    own: Mapping[UUID, int] = MappingProxyType({}),
) -> dict[str, JsonValue]:
    """Return the recipes of vectors as a part of an entry's body; rows without one are left out.

    Nodes in `own` have a position of their own.
    """
    nodes: list[JsonValue] = []
    for row in rows:
        if row.recipe is not None:
            values: list[JsonValue] = [str(row.node_id)]
            values += [_texts(row.recipe.windows), _texts(row.recipe.context)]
            nodes.append([*values, own[row.node_id]] if row.node_id in own else values)
    return {"model": model_id, "position": position, "nodes": nodes}


def read(body: Mapping[str, Any]) -> list[NodeRecipe]:
    """Return the recipes in a body; none in one that was destroyed or tells of no vectors."""
    vectors = body.get("vectors")
    if not vectors:
        return []
    return [
        NodeRecipe(
            node_id=UUID(node_id),
            model_id=vectors["model"],
            position=own[0] if own else vectors["position"],
            recipe=Recipe(
                windows=tuple(b64decode(window) for window in windows),
                context=tuple(b64decode(item) for item in context),
            ),
        )
        for node_id, windows, context, *own in vectors["nodes"]
    ]


def mixed(node_id: UUID, recipe: Recipe, texts: TextVectors) -> NewEmbedding | None:
    """Return the node's vectors, made of those of its texts; None when one of these is missing."""
    from cairn.embedding.port import pooled  # numpy is loaded only where vectors are made

    vectors = texts.vectors
    if any(window not in vectors for window in (*recipe.windows, *recipe.context)):
        return None
    own = [vectors[window] for window in recipe.windows]
    if recipe.context:
        context = [vectors[item] for item in recipe.context]
        own = [pooled(vector, context) for vector in own]
    tokens = [texts.tokens.get(window) for window in recipe.windows]
    return NewEmbedding(node_id=node_id, vectors=own, recipe=recipe, tokens=tokens)


def _texts(hashes: Sequence[bytes]) -> list[JsonValue]:
    return [b64encode(hash_).decode() for hash_ in hashes]


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


def lacking(texts: Sequence[str], stored: TextVectors, embedder: Embedder) -> list[str]:
    """Return the texts to be read: without vector, or without tokens where the model gives some."""
    digests = stored.tokens if gives_tokens(embedder) else stored.vectors
    return [text for text in texts if text_hash(text) not in digests]


def embedded(embedder: Embedder, texts: Sequence[str]) -> TextVectors:
    """Return vectors by text, as exact as the cache keeps them: what is mixed can be mixed again.

    Raises Unavailable when the embedder does not answer.
    """
    if not texts:
        return TextVectors()
    computed, tokens = embed_tokens(embedder, texts)
    vectors = computed.astype("float16").astype("float32")
    hashes = [text_hash(text) for text in texts]
    return TextVectors(
        {digest: vectors[index] for index, digest in enumerate(hashes)},
        {digest: each.signs() for digest, each in zip(hashes, tokens or (), strict=False)},
    )


def vectors_of(node: EnrichableNode, windows: TextWindows, texts: TextVectors) -> NewEmbedding:
    """Return the node's vectors, made of those of its texts, which must all be there."""
    recipe = Recipe(
        windows=tuple(text_hash(text) for text in _windows(node, windows)),
        context=tuple(text_hash(text) for text in node.context),
    )
    embedding = mixed(node.id, recipe, texts)
    if embedding is None:
        raise RuntimeError("a text that was just embedded has no vector")
    return embedding


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
    return [*node.wholes, *windows.windows(node.text, whole_up_to=whole_up_to)]
