"""Messages of conversations as they come in: what a caller sends, checked and scrubbed. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from cairn.inbound.labels import by_rules
from cairn.kernel.text.canonical import format_timestamp, parse_timestamp
from cairn.kernel.text.checks import clean_text
from cairn.kernel.text.hashes import content_hash, sha256
from cairn.kernel.text.scrub import scrub
from cairn.writing.audience import GLOBAL_CLIENT, Audience
from cairn.writing.checks import (
    MAX_TEXT_CHARS,
    Owner,
    clean_metadata,
    clean_name,
    moment,
    owners,
    refuse,
    source_agent,
    tagged_agents,
)

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal, Scope
    from cairn.kernel.text.json_value import JsonValue

Json = Mapping[str, Any]


class Channel(StrEnum):
    """Where a conversation takes place."""

    WEBCHAT = "webchat"
    WHATSAPP = "whatsapp"
    TELEGRAM = "telegram"
    SLACK = "slack"
    EMAIL = "email"
    API = "api"
    TEAMS = "teams"

    @classmethod
    def of_door(cls, door: str) -> Channel:
        """Return where a chat that came by a door takes place: the widget is the web's."""
        return cls(door) if door in (cls.SLACK, cls.TEAMS) else cls.WEBCHAT


DEFERRED = frozenset({Channel.WEBCHAT})
"""Channels whose conversations are kept from the user's second message on; the others at once."""


OWN_METADATA = "cairn"
"""The name in a message's metadata under which Cairn keeps channel, sender and gate."""


class MessageRole(StrEnum):
    """Who speaks."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


class GateReason(StrEnum):
    """Why a message was let in to the records and not to an agent."""

    SENDER_NOT_ALLOWED = "sender-not-allowed"
    AGENT_INACTIVE = "agent-inactive"
    NOT_ADDRESSED = "not-addressed"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """One message as the caller wrote it; not yet scrubbed.

    `sender` is who wrote it (a phone number, an address): the person is a data subject of what a
    user says. `accepted` False means that access control turned it away; it is stored all the same.
    `infer` False keeps it a message: no memories are drawn from it. `labels` are the gateway's,
    where somebody asked it before; None asks its rules.
    """

    channel: Channel
    session_id: str
    role: MessageRole
    text: str
    occurred_at: datetime | None = None
    sender: str | None = None
    accepted: bool = True
    gate_reason: GateReason | None = None
    client_id: str = GLOBAL_CLIENT
    scope: Scope | None = None
    agents: tuple[str, ...] = ()
    data_subjects: tuple[str, ...] = ()
    metadata: Json = field(default_factory=dict[str, Any])
    infer: bool = True
    labels: Json | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDraft:
    """A message checked and scrubbed; its audience has no data subjects until they are resolved.

    `utc_offset` is how many minutes the clock was ahead of UTC where it was written.
    """

    channel: Channel
    session_id: str
    role: MessageRole
    text: str
    content_hash: str
    occurred_at: datetime
    sender: str | None
    source_agent: str
    accepted: bool
    gate_reason: GateReason | None
    client_id: str
    audience: Audience
    labels: Json
    metadata: Json
    infer: bool = True
    utc_offset: int = 0
    apart: bool = False  # its session is its client's own

    def identity(self) -> str:
        """Return the identity of the conversation: 32 hex characters.

        Audience, channel and session: whoever may not see a conversation cannot come upon it. A key
        bound to a client has sessions of its own.
        """
        agents = self.audience.agents
        parts = [
            "conversation",
            self.audience.scope,
            sorted(agents) if agents is not None else None,
            self.channel,
            self.session_id,
            *([self.client_id] if self.apart else []),
        ]
        return sha256(json.dumps(parts).encode()).hex()[:32]

    def owned_by(self, data_subjects: tuple[UUID, ...]) -> MessageDraft:
        """Return the draft with its data subjects."""
        return replace(self, audience=replace(self.audience, data_subjects=data_subjects))

    @property
    def screening(self) -> str:
        """Return the verdict, as nodes keep it."""
        return str(self.labels["verdict"]).lower()

    def warnings(self) -> tuple[str, ...]:
        """Name what the writer should know."""
        if self.screening == "clean":
            return ()
        return ("This text reads like an instruction to a model; it is kept as data, marked.",)


def draft_message(new: NewMessage, principal: Principal, now: datetime) -> MessageDraft:
    """Return the draft of a message.

    Raises ValidationFailed or TooLarge naming the field, Denied for a scope or an agent the
    principal may not write for.
    """
    scope = principal.writing_scope(new.scope)
    if new.accepted and new.gate_reason is not None:
        refuse("gate_reason", "is for messages with accepted: false")
    if OWN_METADATA in new.metadata:
        refuse(f"metadata.{OWN_METADATA}", "is a name Cairn uses itself")
    text = scrub(clean_text(new.text, field="text", max_chars=MAX_TEXT_CHARS)).text
    agents = tagged_agents(new.agents, principal)
    return MessageDraft(
        channel=new.channel,
        session_id=clean_name(new.session_id, "session_id") or "",
        role=new.role,
        text=text,
        content_hash=content_hash(text),
        occurred_at=moment(new.occurred_at, "occurred_at") or now,
        sender=clean_name(new.sender, "sender"),
        source_agent=source_agent(None, principal),
        accepted=new.accepted,
        gate_reason=new.gate_reason if new.accepted else new.gate_reason or GateReason.OTHER,
        client_id=principal.writing_client(clean_name(new.client_id, "client_id") or GLOBAL_CLIENT),
        audience=Audience(scope=scope, agents=agents, data_subjects=()),
        labels=dict(new.labels) if new.labels else by_rules(text).of_message(),
        metadata=clean_metadata(new.metadata),
        infer=new.infer,
        utc_offset=_utc_offset(new.occurred_at),
        apart=principal.client_id is not None,
    )


def _utc_offset(at: datetime | None) -> int:
    offset = at.utcoffset() if at else None
    return round(offset.total_seconds() / 60) if offset else 0


def message_owners(draft: MessageDraft, data_subjects: tuple[str, ...]) -> tuple[Owner, ...]:
    """Return whose data a message is: its client, the persons named, and the user who wrote it."""
    wrote = (draft.sender,) if draft.role is MessageRole.USER and draft.sender else ()
    return owners(draft.client_id, (*data_subjects, *wrote))


def to_body(draft: MessageDraft) -> dict[str, JsonValue]:
    """Return the draft as the JSON that is encrypted while it waits."""
    body = asdict(draft)
    body["occurred_at"] = format_timestamp(draft.occurred_at)
    body["audience"] = {
        "scope": draft.audience.scope,
        "agents": list(draft.audience.agents) if draft.audience.agents is not None else None,
    }
    return body


def from_body(body: Json, data_subjects: tuple[UUID, ...]) -> MessageDraft:
    """Return the draft that `to_body` wrote."""
    audience: Json = body["audience"]
    agents = audience["agents"]
    fields: dict[str, Any] = {
        **{name: value for name, value in body.items() if name != "screening"},
        "labels": body.get("labels") or {"verdict": body["screening"].upper()},
        "channel": Channel(body["channel"]),
        "role": MessageRole(body["role"]),
        "gate_reason": GateReason(body["gate_reason"]) if body["gate_reason"] else None,
        "occurred_at": parse_timestamp(body["occurred_at"]),
        "audience": Audience(
            scope=audience["scope"],
            agents=tuple(agents) if agents is not None else None,
            data_subjects=data_subjects,
        ),
    }
    return MessageDraft(**fields)
