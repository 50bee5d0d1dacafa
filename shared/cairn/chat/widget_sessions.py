"""Sessions of a widget's customers: opened, counted, challenged, ended. Not what is answered.

    created ──a message──▶ active ──solved, or idle──▶ resolved
                             └──a person is wanted──▶ handoff_pending
                                       └──an operator accepts──▶ handoff_active ──▶ closed

Everything is counted in the transaction that begins a turn, one at a time of those who are counted
together: a limit holds however many come at once, and before any model or embedder is asked.
"""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING, Any, Protocol

from cairn.accounts.tokens import TrustedIssuer, issuer_named
from cairn.chat.challenges import make_challenge, solves
from cairn.chat.widget import ChallengeKind, Widget, WidgetLimits, WidgetSettings
from cairn.kernel.access import Principal, Role, Scope
from cairn.kernel.access.keys import secret_hash
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import (
    Conflict,
    Denied,
    NotFound,
    RateLimited,
    Unauthenticated,
    Unavailable,
    ValidationFailed,
)
from cairn.kernel.metrics import Metric, Metrics, untold
from cairn.kernel.text.hashes import sha256
from cairn.ledger.keys import BodyUnreadable
from cairn.writing.checks import clean_name
from cairn.writing.sealing import client_subjects
from cairn.writing.secrets import Secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Mapping
    from decimal import Decimal
    from uuid import UUID

    from cairn.accounts.tokens import IssuerKeys
    from cairn.chat.rows import NewTurn
    from cairn.chat.widget import WidgetHandOff
    from cairn.kernel.stores import Stores
    from cairn.writing.platform import Platform

PREFIX = "cairnw_"
MAX_TOKEN_CHARS = 200
KEEP = timedelta(days=30)
KEEP_UNUSED = timedelta(days=1)
LONGEST_HOST_TOKEN = timedelta(hours=24)
BROWSER_ACTION = "cairn-chat"
"""What a page says that it wants a browser checked for; a check for anything else is none."""

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
WAIT_MINUTE, WAIT_DAY = 60, 3_600
MOST_CHECKS = 10
"""Answers of a session that a challenge's service is asked about."""


class SessionKind(StrEnum):
    """Who talks."""

    ANONYMOUS = "anonymous"  # whoever opened the page
    SIGNED = "signed"  # whom the host's signed token names
    LOGIN = "login"  # whom the host's own login names
    CHANNEL = "channel"  # whom a messaging channel names


class SessionState(StrEnum):
    """How far a session is."""

    CREATED = "created"  # -> active, by the first message
    ACTIVE = "active"  # -> resolved, handoff_pending
    RESOLVED = "resolved"  # the end: the customer said so, or went
    HANDOFF_PENDING = "handoff_pending"  # -> handoff_active
    HANDOFF_ACTIVE = "handoff_active"  # -> closed
    CLOSED = "closed"  # the end: the operator closed it


WITH_PERSON = frozenset({SessionState.HANDOFF_PENDING, SessionState.HANDOFF_ACTIVE})


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSession:
    """A session as it begins."""

    id: UUID
    token_hash: bytes = field(repr=False)
    kind: SessionKind
    client_id: str | None
    data_subjects: tuple[UUID, ...]
    counted: bytes
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """A session as it is kept."""

    id: UUID
    kind: SessionKind
    state: SessionState
    client_id: str | None
    counted: bytes
    messages: int
    passed: bool
    created_at: datetime
    seen_at: datetime


class CustomerSession(Protocol):
    """A session of a customer, by whatever door: the widget, or a thread of a channel.

    `channel` is what the door is called, `name` what its turns call the session. Its `principal`
    is the public, of this session alone.
    """

    @property
    def row(self) -> SessionRow: ...
    @property
    def workspace_id(self) -> UUID: ...
    @property
    def channel(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def limits(self) -> WidgetLimits: ...
    @property
    def busy(self) -> str: ...
    @property
    def day_usd(self) -> Decimal: ...
    @property
    def hand_off(self) -> WidgetHandOff | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WidgetSession:
    """A session that a token opened, of a widget. Implements `CustomerSession`."""

    widget: Widget
    row: SessionRow
    channel: str = "widget"
    name: str = "widget"

    @property
    def workspace_id(self) -> UUID:
        """Return whose it is."""
        return self.widget.workspace_id

    @property
    def busy(self) -> str:
        """Return what is said when there are too many messages."""
        return self.widget.settings.texts.busy

    @property
    def day_usd(self) -> Decimal:
        """Return what chats of the workspace may cost in a day."""
        return self.widget.settings.day_usd

    @property
    def hand_off(self) -> WidgetHandOff | None:
        """Return when a person is called; None: never."""
        return self.widget.settings.hand_off

    @property
    def limits(self) -> WidgetLimits:
        """Return what it may say."""
        return _limits(self.widget.settings, self.row.kind)

    @property
    def principal(self) -> Principal:
        """Return who asks: the public, of this session alone; no two sessions see each other."""
        return Principal(
            workspace_id=self.widget.workspace_id,
            principal_id=self.row.id,
            role=Role.PUBLIC,
            allowed_scopes=frozenset({Scope.PUBLIC}),
            agent_slug=self.widget.settings.agent,
            tools=frozenset(),
            name="widget",
        )

    @property
    def challenge_due(self) -> bool:
        """Return whether the next message has to wait for a challenge."""
        return _challenge_due(self.limits, self.row.messages + 1, passed=self.row.passed)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOpened:
    """A new session with its token, which is in this answer only."""

    token: str = field(repr=False)
    session: WidgetSession


class SolvedElsewhere(Protocol):
    """Asks a service whether a browser solved its challenge; Unavailable when it does not say.

    `hosts` are those whose pages may have asked for it, for `BROWSER_ACTION`.
    """

    def __call__(
        self, secret: str, answer: str, address: str | None, hosts: Collection[str]
    ) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Widgets:
    """Finds widgets and opens their sessions. `workspace_of` says whose a widget is.

    `issuer_keys` finds the keys that an issuer publishes.
    """

    platform: Platform
    workspace_of: Callable[[UUID], UUID | None]
    elsewhere: SolvedElsewhere
    issuer_keys: Callable[[str], IssuerKeys]
    make_token: Callable[[int], str] = secrets.token_urlsafe
    metrics: Metrics = field(default=untold)

    def find(self, widget_id: UUID) -> Widget:
        """Return a widget; NotFound when there is none."""
        workspace_id = self.workspace_of(widget_id)
        row = None
        if workspace_id is not None:
            with self.platform.transactions.reading(system_principal(workspace_id)) as stores:
                row = stores.widgets.find()
        if workspace_id is None or row is None or row.id != widget_id:
            raise NotFound("There is no such widget.")
        settings = WidgetSettings.model_validate(row.settings)
        return Widget(workspace_id=workspace_id, row=row, settings=settings)

    def open(
        self, widget: Widget, *, host_token: str | None = None, address: str | None = None
    ) -> SessionOpened:
        """Open a session: of whom a token of the host names, else of whoever it is.

        Raises Unauthenticated for a token that does not hold, Denied where nobody talks without
        one, RateLimited when too many were opened.
        """
        now, settings = self.platform.clock(), widget.settings
        kind, client = SessionKind.ANONYMOUS, None
        if host_token is not None:
            kind, client = self._signed_in(widget, host_token, now)
        if client is None and settings.anonymous is None:
            raise Denied("Sign in on this page to chat.", reason="sign-in")
        system = system_principal(widget.workspace_id)
        token = PREFIX + self.make_token(32)
        new = NewSession(
            id=self.platform.new_id(),
            token_hash=secret_hash(token),
            kind=kind,
            client_id=client,
            data_subjects=client_subjects(self.platform, system, client) if client else (),
            counted=counted_as(widget, client, address),
            created_at=now,
        )
        limits = _limits(settings, kind)
        with self.platform.transactions.preparing(system) as (stores, _):
            idle = stores.chat_sessions.tidy(
                kind,
                now,
                idle_before=now - timedelta(minutes=limits.idle_minutes),
                unused_before=now - KEEP_UNUSED,
                before=now - KEEP,
            )
            lately, today = stores.chat_sessions.opened(
                new.counted, minute=now - MINUTE, day=now - DAY
            )
            _require_room(settings.texts.busy, limits, lately + 1, today + 1)
            stores.chat_sessions.open(new)
        if idle:
            self.metrics(Metric.CHAT_SESSIONS, idle, channel="widget", outcome="idle")
        row = SessionRow(
            id=new.id,
            kind=kind,
            state=SessionState.CREATED,
            client_id=client,
            counted=new.counted,
            messages=0,
            passed=False,
            created_at=now,
            seen_at=now,
        )
        return SessionOpened(token=token, session=WidgetSession(widget=widget, row=row))

    def admit(self, widget: Widget, token: str) -> WidgetSession:
        """Return the session of a token; Unauthenticated when it is over, or never was."""
        row = None
        if token.startswith(PREFIX) and len(token) <= MAX_TOKEN_CHARS and token.isascii():
            system = system_principal(widget.workspace_id)
            with self.platform.transactions.reading(system) as stores:
                row = stores.chat_sessions.find(secret_hash(token))
        if row is None:
            raise Unauthenticated("This chat is over; begin another.", reason="session")
        session = WidgetSession(widget=widget, row=row)
        idle = self.platform.clock() - row.seen_at
        if _may_idle_out(row) and idle >= timedelta(minutes=session.limits.idle_minutes):
            raise Unauthenticated("This chat is over; begin another.", reason="session-idle")
        return session

    def spend(self, session: WidgetSession, turn_id: UUID) -> None:
        """Add what a turn has cost to the day of its widget."""
        day = self.platform.clock().astimezone(UTC).date()
        with self._writing(session.widget) as stores:
            stores.widgets.spend(turn_id, day)

    def challenge(self, session: WidgetSession) -> str | None:
        """Return what the session is to solve, new; None where another service says."""
        if session.widget.settings.challenge is not ChallengeKind.WORK:
            return None
        challenge = make_challenge(self.make_token)
        with self._writing(session.widget) as stores:
            stores.chat_sessions.keep_challenge(session.row.id, challenge)
        return challenge

    def solve(self, session: WidgetSession, answer: str, address: str | None) -> None:
        """Take an answer to the session's challenge; Denied for one that does not solve it.

        Each challenge takes one answer: the same again, or in another session, is refused. Of
        answers that a service is asked about a session has `MOST_CHECKS`; then RateLimited.
        """
        widget = session.widget
        if widget.settings.challenge is ChallengeKind.WORK:
            with self._writing(widget) as stores:
                challenge = stores.chat_sessions.take_challenge(session.row.id)
            good = challenge is not None and solves(challenge, answer)
        else:
            good = self._checked(session, answer, address)
        if not good:
            raise Denied("This does not solve the challenge; ask for another.", reason="challenge")
        with self._writing(session.widget) as stores:
            stores.chat_sessions.pass_challenge(session.row.id)

    def _checked(self, session: WidgetSession, answer: str, address: str | None) -> bool:
        """Return what the challenge's service says of an answer, asked so often at the most."""
        widget, id_ = session.widget, session.row.id
        secret = self._secret(widget)
        with self._writing(widget) as stores:
            asks = stores.chat_sessions.check(id_, MOST_CHECKS)
        if not asks:
            raise RateLimited(
                "This chat's browser was checked too often; begin another chat.",
                retry_after=WAIT_MINUTE,
                reason="challenge-checks",
            )
        try:
            return self.elsewhere(secret, answer, address, widget.hosts)
        except Unavailable:  # it says nothing of the browser
            with self._writing(widget) as stores:
                stores.chat_sessions.unchecked(id_)
            raise

    def resolve(self, session: WidgetSession) -> SessionState:
        """End a session whose customer has what they wanted; Conflict for one that cannot end."""
        if session.row.state is SessionState.RESOLVED:
            return SessionState.RESOLVED
        now = self.platform.clock()
        with self._writing(session.widget) as stores:
            moved = stores.chat_sessions.move(
                session.row.id, (SessionState.ACTIVE,), SessionState.RESOLVED, now, ended=True
            )
        if not moved:
            raise Conflict("Nothing was said in this chat, or it is over.", reason="session-state")
        self.metrics(Metric.CHAT_SESSIONS, 1, channel="widget", outcome="resolved")
        return SessionState.RESOLVED

    def _signed_in(self, widget: Widget, token: str, now: datetime) -> tuple[SessionKind, str]:
        """Return whom a token names: the host's own, or one of the login that the host has."""
        kind, issuer = self._trusted(widget, token)
        claims = issuer.claims(token, now)
        if kind is SessionKind.LOGIN and claims.get("token_use", "id") != "id":
            raise Unauthenticated("This token is no id token.", reason="token-use")
        if float(claims["exp"]) > (now + LONGEST_HOST_TOKEN).timestamp() + 60:
            raise Unauthenticated("This token lasts for more than a day.", reason="token-lifetime")
        subject = claims["sub"]
        try:
            name = clean_name(subject if isinstance(subject, str) else "", "sub")
        except ValidationFailed:
            name = None
        if not name or name == "global":
            raise Unauthenticated("This token names no subject.", reason="token-claims")
        return kind, name

    def _trusted(self, widget: Widget, token: str) -> tuple[SessionKind, TrustedIssuer]:
        """Return who is to have signed a token, by the issuer that it names."""
        host, login = widget.settings.host, widget.settings.login
        if login is not None and (host is None or issuer_named(token) == login.issuer):
            keys, audiences = self.issuer_keys(login.issuer), tuple(login.audiences)
            issuer = TrustedIssuer(issuer=login.issuer, audiences=audiences, keys=keys)
            return SessionKind.LOGIN, issuer
        if host is None:
            raise Unauthenticated("This widget takes no tokens of its page.", reason="token-host")
        own: Mapping[str, Mapping[str, Any]] = {str(key["kid"]): key for key in host.keys}
        audience = str(widget.id)
        issuer = TrustedIssuer(issuer=host.issuer, audiences=(audience,), keys=own.get)
        return SessionKind.SIGNED, issuer

    def _secret(self, widget: Widget) -> str:
        opened = Secrets.of(self.platform).opened
        try:
            if widget.row.secret is not None:
                return opened(widget.workspace_id, widget.id, widget.row.secret)["secret"]
        except BodyUnreadable:
            pass
        raise Unavailable("The challenge's service has no secret here.", reason="challenge-secret")

    @contextmanager
    def _writing(self, widget: Widget) -> Generator[Stores]:
        """Open a transaction that appends nothing to the ledger."""
        system = system_principal(widget.workspace_id)
        with self.platform.transactions.preparing(system) as (stores, _):
            yield stores


def counted_as(widget: Widget, client: str | None, address: str | None) -> bytes:
    """Return whose messages are counted together: whom the host signed in, else an address.

    Of IPv6 the first 64 bits count: whoever has one address has all the others below them.
    """
    name = f"client {client}" if client is not None else f"address {network_of(address)}"
    return sha256(f"{widget.workspace_id} {name}".encode())


def network_of(address: str | None) -> str:
    """Return what of an address is counted; those without one are counted together."""
    try:
        parsed = ip_address((address or "").partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(IPv6Address(int(parsed) >> 64 << 64))
    return str(parsed)


def until_tomorrow(now: datetime) -> int:
    """Return the seconds until the next day (UTC)."""
    utc = now.astimezone(UTC)
    tomorrow = datetime.combine(utc.date() + DAY, time(), UTC)
    return max(1, int((tomorrow - utc).total_seconds()))


def _limits(settings: WidgetSettings, kind: SessionKind) -> WidgetLimits:
    if kind is SessionKind.LOGIN:
        return settings.login.limits if settings.login else settings.signed
    return settings.signed if kind is SessionKind.SIGNED else settings.anonymous or WidgetLimits()


def _challenge_due(limits: WidgetLimits, messages: int, *, passed: bool) -> bool:
    after = limits.challenge_after
    return after is not None and not passed and messages > after


def _may_idle_out(row: SessionRow) -> bool:
    """Return whether silence ends a session: not while a person is wanted, or there."""
    return row.state not in (SessionState.HANDOFF_PENDING, SessionState.HANDOFF_ACTIVE)


def count(session: CustomerSession, stores: Stores, new: NewTurn) -> None:
    """Count a turn that begins, in its transaction; refuse it when that is too many.

    While a person has the chat no model is asked: the limits of a minute and a day hold alone.

    Raises Unauthenticated for a session that is over, Denied (challenge) when it has to show a
    browser first, RateLimited for too many messages, or when the day's money is spent.
    """
    now, limits = new.created_at, session.limits
    counts = stores.chat_sessions.say(session.row.id, now)
    if counts is None:
        raise Unauthenticated("This chat is over; begin another.", reason="session")
    messages, passed = counts
    with_person = session.row.state in WITH_PERSON
    if messages > limits.per_session and not with_person:
        raise _busy(session.busy, WAIT_MINUTE, "chat-session")
    lately, today = stores.chat_sessions.said(
        session.row.counted, minute=now - MINUTE, day=now - DAY
    )
    _require_room(session.busy, limits, lately, today)
    if with_person:
        return
    if stores.chat_sessions.spent(now.astimezone(UTC).date()) >= session.day_usd:
        raise _busy(session.busy, until_tomorrow(now), "chat-budget")
    if _challenge_due(limits, messages, passed=passed):
        raise Denied("Show that a person is there: solve the challenge.", reason="challenge")


def _require_room(busy: str, limits: WidgetLimits, lately: int, today: int) -> None:
    if today > limits.per_day:
        raise _busy(busy, WAIT_DAY, "chat-address")
    if lately > limits.per_minute:
        raise _busy(busy, WAIT_MINUTE, "chat-address")


def _busy(text: str, wait: int, reason: str) -> RateLimited:
    return RateLimited(text, retry_after=wait, reason=reason)
