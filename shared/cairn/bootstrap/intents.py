"""What intents of members are made of: for the API, and for the hourly sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from uuid import UUID

    from cairn.discovery.intents.intents import Intents
    from cairn.discovery.intents.sweeping import SweepIntents
    from cairn.discovery.networks.indexing import Indexer
    from cairn.embedding.port import Embedder
    from cairn.llm.gateway import Gateway
    from cairn.writing.platform import Platform


def intents_of(
    platform: Platform, embedder: Embedder, gateway: Gateway | None, indexer: Indexer
) -> Intents:
    """Return the use cases of intents."""
    from cairn.discovery.intents.intents import Intents
    from cairn.discovery.intents.models import AskOfIntents
    from cairn.discovery.intents.planning import Planner
    from cairn.discovery.intents.speech import Speech

    return Intents(
        platform=platform,
        planner=Planner(AskOfIntents(gateway), Speech(embedder).judged),
        place=indexer.assign,
        gone=cleaning(platform),
    )


def intent_sweep(platform: Platform, workspaces: Callable[[], Iterable[UUID]]) -> SweepIntents:
    """Return what ends intents whose time is over."""
    from cairn.discovery.intents.sweeping import SweepIntents

    return SweepIntents(platform=platform, workspaces=workspaces, gone=cleaning(platform))


def cleaning(platform: Platform) -> Callable[[UUID, Sequence[UUID]], None]:
    """Return what ends the open opportunities of intents that are over."""

    def gone(workspace_id: UUID, intent_ids: Sequence[UUID]) -> None:
        from cairn.discovery.matching.ending import end_with

        end_with(platform, workspace_id, intent_ids)

    return gone
