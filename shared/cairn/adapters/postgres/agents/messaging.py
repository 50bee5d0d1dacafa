"""Messaging channels in PostgreSQL, and the one question that is of every workspace."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from psycopg.types.json import Jsonb

from cairn.adapters.postgres.agents.widget import SESSION
from cairn.adapters.postgres.store import Store, record, scalar
from cairn.channels.channel import (
    ChannelKind,
    ChannelRow,
    InboundRow,
    InboundState,
    PostedAs,
    PostRow,
    TieRow,
)
from cairn.channels.port import Place
from cairn.kernel.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date, datetime
    from uuid import UUID

    from cairn.adapters.postgres.database import Database
    from cairn.chat.widget_sessions import NewSession, SessionRow

_CHANNEL = record(ChannelRow, kind=ChannelKind)
_INBOUND = record(InboundRow, state=InboundState)
_POST = record(PostRow, role=PostedAs, place=lambda stored: Place(**stored))


class PostgresMessaging(Store):
    """The messaging channels of the transaction's workspace."""

    def add(self, channel: ChannelRow, sealed_secrets: bytes) -> bool:
        """Keep a new one; False when its name is taken."""
        added = self.write(
            "channel.add",
            channel,
            called=channel.name,
            config=Jsonb(dict(channel.config)),
            settings=Jsonb(dict(channel.settings)),
            secrets=sealed_secrets,
        )
        return added.rowcount == 1

    def find(self, channel_id: UUID) -> ChannelRow | None:
        """Return one."""
        return self.first_of(_CHANNEL, "channel.find", id=channel_id)

    def all(self) -> Sequence[ChannelRow]:
        """Return every one, by name."""
        return self.all_of(_CHANNEL, "channel.all")

    def secrets(self, channel_id: UUID) -> bytes:
        """Return the sealed secrets; NotFound when there is no such channel."""
        sealed: bytes | None = self.value("channel.secrets", id=channel_id)
        if sealed is None:
            raise NotFound("There is no such channel.", channel_id=str(channel_id))
        return sealed

    def change(self, channel: ChannelRow, sealed_secrets: bytes | None) -> None:
        """Keep other settings; None leaves the secrets as they are."""
        self.write(
            "channel.change",
            channel,
            config=Jsonb(dict(channel.config)),
            settings=Jsonb(dict(channel.settings)),
            secrets=sealed_secrets,
        )

    def remove(self, channel_id: UUID) -> None:
        """Remove one with all that is its own."""
        self.run("channel.remove", id=channel_id)

    def any(self) -> bool:
        """Return whether there is a channel that works."""
        return self.value("channel.any")

    def failed(self, channel_id: UUID, error: str | None) -> None:
        """Keep why a channel could not be asked; None: it answered."""
        self.run("channel.failed", id=channel_id, error=error)

    def spend(self, channel_id: UUID, turn_id: UUID, day: date) -> None:
        """Add what a turn has cost to its day."""
        self.run("channel.spend", id=channel_id, turn_id=turn_id, day=day)

    # What came in

    def keep_inbound(self, row: InboundRow, *, before: datetime) -> bool:
        """Keep what came in; False when it did before. Those before a moment leave."""
        return self.write("channel.keep_inbound", row, before=before).rowcount == 1

    def inbound(self, inbound_id: UUID) -> InboundRow | None:
        """Return what came in."""
        return self.first_of(_INBOUND, "channel.inbound", id=inbound_id)

    def inbound_known(self, channel_id: UUID, known_as: str) -> bool:
        """Return whether something came in already."""
        return self.value("channel.inbound_known", channel_id=channel_id, known_as=known_as)

    def thread_known(self, channel_id: UUID, thread: bytes) -> bool:
        """Return whether something came in in a thread of somebody."""
        return self.value("channel.thread_known", channel_id=channel_id, thread=thread)

    def claim_inbound(self, thread: bytes, now: datetime, until: datetime) -> InboundRow | None:
        """Return the oldest that waits in a thread, for the caller alone until a moment.

        None when nothing waits, or while somebody works in the thread.
        """
        waiting = self.all_of(_INBOUND, "channel.waiting_in", thread=thread)
        if not waiting or any(row.leased_until and row.leased_until > now for row in waiting):
            return None
        self.run("channel.lease_inbound", id=waiting[0].id, until=until)
        return replace(waiting[0], attempts=waiting[0].attempts + 1, leased_until=until)

    def end_inbound(self, inbound_id: UUID, state: InboundState) -> None:
        """Keep what became of what came in."""
        self.run("channel.end_inbound", id=inbound_id, state=state.value)

    def free_inbound(self, inbound_id: UUID) -> None:
        """Let it be tried again."""
        self.run("channel.free_inbound", id=inbound_id)

    def refused_in(self, thread: bytes, since: datetime) -> int:
        """Return how often somebody was refused in a thread since a moment."""
        return self.value("channel.refused_in", thread=thread, since=since)

    # Sessions of threads

    def session(self, channel_id: UUID, thread: bytes) -> SessionRow | None:
        """Return the session of somebody in a thread, while it is not over."""
        return self.first_of(SESSION, "channel.session", channel_id=channel_id, thread=thread)

    def open_session(
        self, session: NewSession, *, channel_id: UUID, thread: bytes, place: Place
    ) -> None:
        """Keep a session that begins."""
        where = {"channel_id": channel_id, "thread": thread, "place": Jsonb(asdict(place))}
        self.write("channel.open_session", session, **where)

    def end_sessions(self, channel_id: UUID, now: datetime) -> None:
        """End the sessions of a channel in which no person answers."""
        self.run("channel.end_sessions", channel_id=channel_id, now=now)

    def place_of(self, session_id: UUID) -> tuple[UUID, Place] | None:
        """Return the channel of a session and where its thread is."""
        rows = self.rows("channel.place_of", id=session_id)
        return (rows[0]["channel_id"], Place(**rows[0]["place"])) if rows else None

    def is_busy(self, session_id: UUID) -> bool:
        """Return whether a session was told of too many messages."""
        return bool(self.value("channel.is_busy", id=session_id))

    def tell_busy(self, session_id: UUID, *, busy: bool) -> None:
        """Note whether a session was told of too many messages."""
        self.run("channel.tell_busy", id=session_id, busy=busy)

    # What we posted

    def begin_post(
        self, channel_id: UUID, about: UUID, role: PostedAs, place: Place, now: datetime
    ) -> None:
        """Keep that a message is to be posted; one that is known changes nothing."""
        self.run(
            "channel.begin_post",
            channel_id=channel_id,
            about=about,
            role=role.value,
            place=Jsonb(asdict(place)),
            now=now,
        )

    def posts_of(self, about: UUID) -> Sequence[PostRow]:
        """Return what we posted about something."""
        return self.all_of(_POST, "channel.posts_of", about=about)

    def post_of_message(self, channel_id: UUID, message_id: str) -> PostRow | None:
        """Return what a message of ours is about, that operators have."""
        return self.first_of(
            _POST, "channel.post_of_message", channel_id=channel_id, message_id=message_id
        )

    def hold_post(self, post: PostRow, now: datetime, until: datetime) -> bool | None:
        """Let the caller alone work at a message; whether somebody before left it unfinished.

        None while somebody else works at it, who is told to look again.
        """
        which = {"channel_id": post.channel_id, "about": post.about, "role": post.role.value}
        held = self.rows("channel.hold_post", **which, now=now, until=until)
        return None if not held or held[0]["busy"] else held[0]["again"]

    def keep_post(self, post: PostRow) -> None:
        """Keep what stands there now."""
        self.run(
            "channel.keep_post",
            channel_id=post.channel_id,
            about=post.about,
            role=post.role.value,
            message_id=post.message_id,
            shown=post.shown,
            seq=post.seq,
        )

    def free_post(self, post: PostRow) -> bool:
        """Let others work at a message; return whether somebody came meanwhile."""
        which = {"channel_id": post.channel_id, "about": post.about, "role": post.role.value}
        return bool(self.value("channel.free_post", **which))

    def expire_post(self, post: PostRow, now: datetime) -> None:
        """Let others work at a message that is unfinished."""
        which = {"channel_id": post.channel_id, "about": post.about, "role": post.role.value}
        self.run("channel.expire_post", **which, now=now)

    def wrote_line(self, channel_id: UUID, handoff_id: UUID, seq: int) -> bool:
        """Return whether a line of a chat was written in a channel."""
        return self.value(
            "channel.wrote_line", channel_id=channel_id, handoff_id=handoff_id, seq=seq
        )

    # Who is whom

    def keep_code(
        self, channel_id: UUID, person_id: UUID, code_hash: bytes, expires_at: datetime
    ) -> None:
        """Keep a one-time code of somebody, in the place of the one before."""
        self.run(
            "channel.keep_code",
            channel_id=channel_id,
            person_id=person_id,
            code_hash=code_hash,
            expires_at=expires_at,
        )

    def take_code(self, channel_id: UUID, code_hash: bytes, now: datetime) -> UUID | None:
        """Take a code away, and return whose it is."""
        return self.value("channel.take_code", channel_id=channel_id, code_hash=code_hash, now=now)

    def tie(self, row: TieRow) -> None:
        """Keep who somebody of the channel is."""
        self.write("channel.tie", row, now=row.tied_at)

    def person_of(self, channel_id: UUID, user_id: str) -> UUID | None:
        """Return who somebody of the channel is here."""
        return self.value("channel.person_of", channel_id=channel_id, user_id=user_id)

    def ties(self, channel_id: UUID) -> Sequence[TieRow]:
        """Return who is whom in a channel."""
        return self.all_of(record(TieRow), "channel.ties", channel_id=channel_id)

    def untie(self, channel_id: UUID, person_id: UUID) -> bool:
        """Remove a tie; False when there is none."""
        return self.run("channel.untie", channel_id=channel_id, person_id=person_id).rowcount == 1


@dataclass(frozen=True)
class WorkspaceOfChannel:
    """Calls the definer function that says whose a channel is."""

    database: Database

    def __call__(self, channel_id: UUID) -> UUID | None:
        """Return the workspace; None when there is no such channel."""
        with self.database.connection() as connection:
            return scalar(connection, "channel.workspace_of", {"id": channel_id})
