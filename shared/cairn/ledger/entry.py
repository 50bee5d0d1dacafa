"""The records of the ledger: an entry before and after sealing, and the head. Not their storage."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from uuid import UUID

from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.kernel.text.canonical import check_characters, parse_canonical
from cairn.kernel.text.json_value import JsonValue

ENTRY_TYPE = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)+")
"""A type is a dot-namespaced name, such as `memory.created`; matched with `fullmatch`."""


class ActorKind(StrEnum):
    """Who may act."""

    AGENT = "agent"
    USER = "user"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who made an entry; `id` is an opaque id or slug, never a person's name."""

    kind: ActorKind
    id: str


SYSTEM = Actor(kind=ActorKind.SYSTEM, id="cairn")
"""Cairn itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntry:
    """What a use case wants to append.

    `occurred_at` is the world's time (aware). `meta` is stored in clear: enums and random ids only.
    `body` is ciphertext from `BodyCipher.seal`, or b"" when there is none. `data_subjects` are the
    random ids of whom the body is about. Raises ValidationFailed when a field is malformed.
    """

    id: UUID
    workspace_id: UUID
    type: str
    actor: Actor
    occurred_at: datetime
    data_subjects: tuple[UUID, ...] = ()
    meta: Mapping[str, JsonValue]
    body: bytes = b""
    session_id: str | None = None
    trace_id: str | None = None
    parent_id: UUID | None = None

    def __post_init__(self) -> None:
        """Refuse what could not be read back as it was written."""
        if not ENTRY_TYPE.fullmatch(self.type) or len(self.type) > 100:
            _refuse("type", "must be a dot-namespaced name such as memory.created")
        if self.occurred_at.utcoffset() is None:
            _refuse("occurred_at", "needs a time zone")
        for name in ("session_id", "trace_id"):
            check_characters(getattr(self, name) or "", name)
        check_characters(self.actor.id, "actor.id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A sealed entry, exactly as stored. Positions start at 1 and have no gaps in a workspace.

    `meta_text` is the canonical JSON of `meta`, kept as text; `body_hash` is SHA-256 of `body`.
    `recorded_at` is the ledger's time and never goes back along the chain.
    """

    id: UUID
    workspace_id: UUID
    position: int
    type: str
    actor: Actor
    occurred_at: datetime
    recorded_at: datetime
    data_subjects: tuple[UUID, ...]
    meta_text: str
    body: bytes
    body_hash: bytes
    session_id: str | None
    trace_id: str | None
    parent_id: UUID | None
    prev_hash: bytes
    hash: bytes

    @property
    def meta(self) -> dict[str, JsonValue]:
        """Return the decoded `meta_text`; ValidationFailed when it is not a canonical object."""
        return dict(_decoded(self.meta_text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Where a workspace's chain ends; position 0 is the empty chain and `hash` its genesis."""

    workspace_id: UUID
    position: int
    hash: bytes
    recorded_at: datetime


@lru_cache(maxsize=1_024)
def _decoded(meta_text: str) -> dict[str, JsonValue]:
    """Decode once what several readers of an entry ask for one after the other."""
    value = parse_canonical(meta_text)
    if not isinstance(value, dict):
        raise ValidationFailed("meta is not an object.", reason="not-canonical")
    return value


def _refuse(field: str, message: str) -> None:
    raise ValidationFailed(f"{field} {message}.", errors=[FieldError(field, message)])
