"""Rows of members, their networks, and who is in which. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID


class JoinPolicy(StrEnum):
    """Who may join a network by themselves."""

    ANYONE = "anyone"
    INVITE_ONLY = "invite_only"


class NetworkRole(StrEnum):
    """What a member is in a network."""

    OWNER = "owner"
    MEMBER = "member"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRow:
    """A person of networks; `id` is the data subject that their client is.

    A ghost was named by somebody else and was never here themselves.
    """

    id: UUID
    client_id: str
    ghost: bool
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkRow:
    """A network. `prompt` says what belongs there; empty, everything does."""

    id: UUID
    name: str
    prompt: str
    join_policy: JoinPolicy
    owner_id: UUID | None
    version: int
    created_at: datetime
    changed_at: datetime
    removed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceRow:
    """A member's place in a network. `prompt` says what of theirs belongs there."""

    network_id: UUID
    member_id: UUID
    role: NetworkRole
    prompt: str
    joined_at: datetime
    left_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingPlace(PlaceRow):
    """A place whose member's intents are to be judged anew."""

    judge_since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentText:
    """What an intent says, and whose it is."""

    id: UUID
    member_id: UUID
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentRow:
    """An intent that belongs to a network; `direct` when somebody said so."""

    network_id: UUID
    intent_id: UUID
    member_id: UUID
    score: float
    direct: bool
    assigned_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownMember:
    """What a shared network shows of a member; nothing but the id without a profile."""

    id: UUID
    name: str | None
    text: str | None
    face: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownIntent:
    """An active intent in shared networks."""

    id: UUID
    member_id: UUID
    side: str
    text: str
    networks: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InviteRow:
    """An invite: it lets one person in, once. Its token is nowhere but in its link."""

    id: UUID
    network_id: UUID
    made_by: UUID | None
    ghost_id: UUID | None
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None
    used_at: datetime | None
    used_by: UUID | None
