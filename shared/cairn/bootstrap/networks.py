"""What networks are made of: for the API, and for the function that judges intents anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from cairn.discovery.networks.indexing import Indexer
    from cairn.embedding.port import Embedder
    from cairn.llm.gateway import Gateway
    from cairn.writing.platform import Platform


def indexer_of(
    platform: Platform, embedder: Embedder, gateway: Callable[[], Gateway | None]
) -> Indexer:
    """Return what assigns intents to networks."""
    from cairn.discovery.networks.belonging import Belonging
    from cairn.discovery.networks.indexing import Indexer
    from cairn.discovery.networks.judging import Judge

    judge = Judge(by_rules=Belonging(embedder), gateway=gateway, warn=platform.warn)
    return Indexer(platform=platform, judge=judge)
