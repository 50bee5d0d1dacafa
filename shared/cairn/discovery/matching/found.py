"""Rows of a search for others: who was hit, what is shown of them. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """An intent or a profile of another, in one network that is shared.

    `relevancy` is how far it belongs to that network, `score` how near it is, as a cosine.
    """

    node_id: UUID
    member_id: UUID
    network_id: UUID
    relevancy: float
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownText:
    """What a shared network shows of another: an intent, or a profile and what it names."""

    node_id: UUID
    member_id: UUID
    label: str
    side: str | None
    title: str | None
    text: str
    shown: Mapping[str, Any]
    tokens: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnText:
    """An intent or the profile of the one who looks."""

    id: UUID
    label: str
    side: str | None
    title: str | None
    text: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A network that an intent belongs to, and how far."""

    network_id: UUID
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HydeRow:
    """A hypothetical document, sealed for the member whose text it is made of."""

    source_id: UUID
    member_id: UUID
    lens: int
    corpus: str
    source_hash: bytes
    made_by: str
    body: bytes
    made_at: datetime
