"""Making, listing and revoking API keys: each change is a ledger entry without names or secrets."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from cairn.kernel.access import ALL_SCOPES, Principal, Role, Scope
from cairn.kernel.access.keys import DEFAULT_SCOPES, KeySecret, make_key
from cairn.kernel.errors import Conflict, Denied, FieldError, NotFound, ValidationFailed
from cairn.kernel.ids import IdSource
from cairn.kernel.stores import Stores
from cairn.kernel.text.json_value import JsonValue
from cairn.ledger.entry import Actor
from cairn.reading.views import KeyCreated, KeyView, NewKey
from cairn.writing.append import append_unprojected, principal_actor
from cairn.writing.audience import GLOBAL_CLIENT
from cairn.writing.checks import clean_name
from cairn.writing.entries import plan_entry
from cairn.writing.platform import Platform

TOKEN_SUBJECT = re.compile(r"(sub|client):[^\x00-\x1f\x7f\ud800-\udfff]{1,250}")
"""The subject of an access token, or the client that asked for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateKey:
    """Make a key in the principal's workspace; Denied unless the principal is an admin."""

    platform: Platform
    random_bytes: Callable[[int], bytes] = os.urandom

    def __call__(self, principal: Principal, key: NewKey) -> KeyCreated:
        """Return the key with its secret, which is shown this once."""
        principal.require(Role.ADMIN)
        checked = check_new_key(principal, key, self.platform.clock())
        secret = make_key(self.random_bytes)
        with self.platform.transactions.writing(principal) as stores:
            view = add_key(
                stores,
                workspace_id=principal.workspace_id,
                actor=principal_actor(principal),
                new=checked,
                secret=secret,
                now=self.platform.clock(),
                new_id=self.platform.new_id,
            )
        return KeyCreated(key=view, secret=secret.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListKeys:
    """Return every key of the workspace, newest first, revoked ones too."""

    platform: Platform

    def __call__(self, principal: Principal) -> tuple[KeyView, ...]:
        """Return the keys; Denied unless the principal is an admin."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(principal) as stores:
            return tuple(stores.keys.all())


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeKey:
    """Revoke a key at once; a second time changes nothing. Conflict for the last admin key."""

    platform: Platform

    def __call__(self, principal: Principal, key_id: UUID) -> KeyView:
        """Return the revoked key; NotFound when the workspace has no such key."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.writing(principal) as stores:
            now = self.platform.clock()
            every = stores.keys.all()
            key = next((item for item in every if item.id == key_id), None)
            if key is None:
                raise NotFound("There is no such key.", key_id=str(key_id))
            if key.revoked_at is not None:
                return key
            if key.role is Role.ADMIN and not any(
                opens(other, now) for other in every if other.id != key_id
            ):
                raise Conflict("The last admin key cannot be revoked.", reason="last-admin-key")
            stores.keys.revoke(key_id, now)
            record(
                stores,
                workspace_id=principal.workspace_id,
                type_="key.revoked",
                meta={"key_id": str(key_id)},
                actor=principal_actor(principal),
                now=now,
                new_id=self.platform.new_id,
            )
            return replace(key, revoked_at=now)


def opens(key: KeyView, now: datetime) -> bool:
    """Return whether a key lets an admin in at `now`."""
    alive = key.revoked_at is None and (key.expires_at is None or key.expires_at > now)
    return alive and key.role is Role.ADMIN and key.tools is None


def check_new_key(principal: Principal, key: NewKey, now: datetime) -> NewKey:
    """Return the key with its scopes; refused when it would see more than its maker."""
    scopes = DEFAULT_SCOPES[key.role] & principal.allowed_scopes
    if key.scopes is not None:
        scopes = key.scopes
    if not scopes:
        _refuse("scopes", "needs at least one scope")
    for scope in sorted(scopes):
        principal.require_scope(scope)
    if principal.agent_slug is not None and key.agent_slug != principal.agent_slug:
        raise Denied("This key may make keys for its own agent only.", reason="agent")
    if key.role is Role.PUBLIC and key.agent_slug is None:
        _refuse("agent_slug", "is needed by a public key")
    if principal.tools is not None and not (key.tools and key.tools <= principal.tools):
        raise Denied("This key may make keys for its own tools only.", reason="tools")
    if key.tools is not None and not key.tools:
        _refuse("tools", "needs at least one tool")
    if key.expires_at is not None and key.expires_at <= now:
        _refuse("expires_at", "is in the past")
    _require_agent_of_tokens(key)
    return replace(key, scopes=scopes, client_id=_checked_client(key), agent=_checked_agent(key))


def _require_agent_of_tokens(key: NewKey) -> None:
    """Refuse to let tokens in as anybody but a registered agent."""
    if key.token_subject is None:
        return
    if TOKEN_SUBJECT.fullmatch(key.token_subject) is None:
        _refuse("token_subject", "is sub: or client: and a name, as tokens say it")
    if key.role is not Role.AGENT or not (key.agent or key.agent_slug):
        _refuse("token_subject", "is for keys of role agent that name their agent")


def _checked_agent(key: NewKey) -> str | None:
    """Return the registered agent that a key is to belong to."""
    if key.agent is not None and key.agent_slug not in (None, key.agent):
        _refuse("agent_slug", "is another agent than the key's own")
    agent = key.agent or key.agent_slug
    if agent is not None and key.person:
        _refuse("person", "is for keys of no agent")
    return agent


def _of_person(key: NewKey) -> bool:
    """Return whether a person holds a key, as admins do and the end user that it is bound to."""
    bound = key.role is Role.ADMIN or key.client_id is not None
    return bound and key.agent is None and key.agent_slug is None


def _checked_client(key: NewKey) -> str | None:
    """Return the client that a key is to be bound to."""
    client_id = clean_name(key.client_id, "client_id")
    if client_id is not None and key.role is Role.ADMIN:
        _refuse("client_id", "is for agents and public keys: an admin sees every client")
    if client_id == GLOBAL_CLIENT:
        _refuse("client_id", f"is {GLOBAL_CLIENT}, which is nobody's")
    return client_id


def add_key(
    stores: Stores,
    *,
    workspace_id: UUID,
    actor: Actor,
    new: NewKey,
    secret: KeySecret,
    now: datetime,
    new_id: IdSource,
) -> KeyView:
    """Store a checked key with its principal and record it; returns its view."""
    _require_agent(stores, workspace_id, actor, new, now, new_id)
    principal_id = new_id()
    scopes: tuple[Scope, ...] = tuple(sorted(new.scopes or DEFAULT_SCOPES[new.role]))
    view = KeyView(
        id=new_id(),
        name=new.name,
        prefix=secret.prefix,
        role=new.role,
        scopes=scopes,
        created_at=now,
        agent_slug=new.agent_slug,
        tools=None if new.tools is None else tuple(sorted(new.tools)),
        expires_at=new.expires_at,
        client_id=new.client_id,
        agent=new.agent or new.agent_slug,
        person=new.person or _of_person(new),
        token_subject=new.token_subject,
    )
    stores.keys.add(principal_id, view, secret.hash)
    record(
        stores,
        workspace_id=workspace_id,
        type_="key.created",
        meta={
            "key_id": str(view.id),
            "principal_id": str(principal_id),
            "role": view.role.value,
            "scopes": [scope.value for scope in scopes],
            **({} if view.tools is None else {"tools": list(view.tools)}),
            **({} if view.client_id is None else {"of_client": True}),
            **({} if view.token_subject is None else {"for_tokens": True}),
        },
        actor=actor,
        now=now,
        new_id=new_id,
    )
    return view


def _require_agent(
    stores: Stores, workspace_id: UUID, actor: Actor, key: NewKey, now: datetime, new_id: IdSource
) -> None:
    """Register the slug that a key is narrowed to; ValidationFailed for an `agent` there is not."""
    slug = key.agent or key.agent_slug
    if slug is None or stores.agents.find(slug) is not None:
        return
    if key.agent_slug is None:
        _refuse("agent", "is no registered agent; register it first")
    from cairn.accounts.agents import Agent  # which needs this module

    agent_id, scopes = new_id(), tuple(sorted(ALL_SCOPES))
    agent = Agent(
        slug=slug, name=slug, scopes=scopes, id=agent_id, registered_at=now, changed_at=now
    )
    stores.agents.keep(agent)
    record(
        stores,
        workspace_id=workspace_id,
        type_="agent.registered",
        meta={"agent_id": str(agent_id), "version": 1},
        actor=actor,
        now=now,
        new_id=new_id,
    )


def record(
    stores: Stores,
    *,
    workspace_id: UUID,
    type_: str,
    meta: Mapping[str, JsonValue],
    actor: Actor,
    now: datetime,
    new_id: IdSource,
) -> None:
    """Append one entry without a body."""
    entry = plan_entry(
        id=new_id(),
        workspace_id=workspace_id,
        type=type_,
        actor=actor,
        occurred_at=now,
        meta=dict(meta),
    )
    append_unprojected(stores, [entry], now)


def _refuse(field: str, message: str) -> None:
    raise ValidationFailed(f"{field} {message}.", errors=[FieldError(field, message)])
