"""What a node's vectors were made of: written into `node.enriched`, read again by a rebuild. Pure.

Texts stand in recipes as the SHA-256 under which the cache has their vectors; hashes of what people
wrote are in the entry's encrypted body only.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.enrichment.ports import NewEmbedding, Recipe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cairn.embedding.port import Vectors
    from cairn.kernel.text.json_value import JsonValue


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
            told: list[JsonValue] = [str(row.node_id)]
            told += [_texts(row.recipe.windows), _texts(row.recipe.context)]
            nodes.append([*told, own[row.node_id]] if row.node_id in own else told)
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
                windows=tuple(b64decode(one) for one in windows),
                context=tuple(b64decode(one) for one in context),
            ),
        )
        for node_id, windows, context, *own in vectors["nodes"]
    ]


def mixed(node_id: UUID, recipe: Recipe, vectors: Mapping[bytes, Vectors]) -> NewEmbedding | None:
    """Return the node's vectors, made of those of its texts; None when one of these is missing."""
    from cairn.embedding.pooling import pooled  # numpy is loaded only where vectors are made

    if any(one not in vectors for one in (*recipe.windows, *recipe.context)):
        return None
    own = [vectors[one] for one in recipe.windows]
    if recipe.context:
        context = [vectors[one] for one in recipe.context]
        own = [pooled(vector, context) for vector in own]
    return NewEmbedding(node_id=node_id, vectors=own, recipe=recipe)


def _texts(hashes: Sequence[bytes]) -> list[JsonValue]:
    return [b64encode(one).decode() for one in hashes]
