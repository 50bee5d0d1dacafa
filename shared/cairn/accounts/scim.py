"""Directories that bring people and groups by SCIM: their tokens, and what their groups may.

An admin's side. What a directory does with its token is `scim_people.py`; how it asks is not here.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from cairn.accounts.keys import record
from cairn.accounts.people import require_over
from cairn.kernel.access import ALL_SCOPES, PersonRole, Principal, Role
from cairn.kernel.access.keys import secret_hash
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import Denied, FieldError, NotFound, Unauthenticated, ValidationFailed
from cairn.writing.append import principal_actor
from cairn.writing.checks import clean_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.accounts.editions import Edition
    from cairn.accounts.people import People
    from cairn.kernel.stores import Stores
    from cairn.kernel.text.json_value import JsonValue
    from cairn.writing.platform import Platform

MAX_TOKENS, MAX_DAYS = 10, 3_650
SEEN_EVERY = timedelta(minutes=1)
PREFIX = "scim_"
MAX_TOKEN_CHARS = 100
MAX_PAGE = 200
STRONGEST_FIRST = tuple(PersonRole)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A part of a list."""

    limit: int = MAX_PAGE
    offset: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScimToken:
    """A directory's token. `used_at` is to the minute."""

    id: UUID
    name: str
    created_at: datetime
    expires_at: datetime | None = None
    used_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScimTokenMade:
    """A new token with its text, which is shown this once and never stored."""

    token: ScimToken
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupName:
    """A group that somebody is in."""

    id: UUID
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScimUser:
    """Somebody as a directory sees them. `external_id` is what the directory calls them."""

    id: UUID
    login: str
    name: str
    role: PersonRole
    active: bool
    created_at: datetime
    changed_at: datetime
    external_id: str | None = None
    groups: tuple[GroupName, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScimGroup:
    """A group that a directory brought, how many are in it, and the role that it gives."""

    id: UUID
    name: str
    created_at: datetime
    changed_at: datetime
    role: PersonRole | None = None
    external_id: str | None = None
    members: int = 0


class ScimFinder(Protocol):
    """What leads from a token to its workspace, before one is known."""

    def token(
        self, token_hash: bytes, now: datetime
    ) -> tuple[UUID, tuple[UUID, datetime | None]] | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Scim:
    """What owners and admins do about directories, and who holds a directory's token."""

    platform: Platform
    people: People
    find: ScimFinder
    edition: Edition
    limit: Callable[[UUID, datetime], None]
    make_token: Callable[[int], str] = secrets.token_urlsafe

    def require_offered(self) -> None:
        """Raise Denied where the deployment's edition has no SCIM."""
        if not self.edition.directory:
            raise Denied(
                f"The edition {self.edition.name} has no SCIM; the edition full has "
                "(CAIRN_EDITION).",
                reason="edition",
            )

    def admit(self, token: str) -> Principal:
        """Return who acts with a token: a directory, which decides about people and groups alone.

        Unauthenticated for a token that is none, or no more; RateLimited above its limit.
        """
        self.require_offered()
        now = self.platform.clock()
        row = None
        if token.startswith(PREFIX) and len(token) <= MAX_TOKEN_CHARS and token.isascii():
            row = self.find.token(secret_hash(token), now)
        if row is None:
            raise Unauthenticated(
                "This is no token of a directory, or it was revoked or is over; an owner makes one "
                "(cairn scim token make).",
                reason="scim-token",
            )
        workspace_id, (token_id, used_at) = row
        self.limit(token_id, now)
        if used_at is None or now - used_at > SEEN_EVERY:
            with self.platform.transactions.writing(system_principal(workspace_id)) as stores:
                stores.scim.see_token(token_id, now)
        return Principal(
            workspace_id=workspace_id,
            principal_id=token_id,
            role=Role.ADMIN,
            allowed_scopes=ALL_SCOPES,
            name="directory",
        )

    def make(self, principal: Principal, *, name: str, days: int | None = None) -> ScimTokenMade:
        """Make a token; only owners do, since who holds it may make owners."""
        self._require_owner(principal)
        now = self.platform.clock()
        token = ScimToken(
            id=self.platform.new_id(),
            name=clean_name(name, "name") or "",
            created_at=now,
            expires_at=now + timedelta(days=days) if days else None,
        )
        secret = PREFIX + self.make_token(32)
        with self.platform.transactions.writing(principal) as stores:
            if len(stores.scim.tokens()) >= MAX_TOKENS:
                wrong = f"is one too many: a workspace has at most {MAX_TOKENS} tokens of SCIM"
                raise ValidationFailed(f"name {wrong}.", errors=[FieldError("name", wrong)])
            stores.scim.add_token(token, secret_hash(secret))
            self.record(stores, principal, "scim.token_made", token_id=str(token.id))
        return ScimTokenMade(token=token, secret=secret)

    def tokens(self, principal: Principal) -> Sequence[ScimToken]:
        """Return every token, the newest first."""
        principal.require(Role.ADMIN)
        self.require_offered()
        with self.platform.transactions.reading(principal) as stores:
            return stores.scim.tokens()

    def revoke(self, principal: Principal, token_id: UUID) -> ScimToken:
        """Revoke a token at once; NotFound without it. People and groups stay as they are."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.writing(principal) as stores:
            token = next((each for each in stores.scim.tokens() if each.id == token_id), None)
            if token is None or not stores.scim.revoke_token(token_id):
                raise NotFound("There is no such token.", token_id=str(token_id))
            self.record(stores, principal, "scim.token_revoked", token_id=str(token_id))
            return token

    def groups(self, principal: Principal) -> Sequence[ScimGroup]:
        """Return the first groups by name, at most a page of them."""
        principal.require(Role.ADMIN)
        self.require_offered()
        with self.platform.transactions.reading(principal) as stores:
            groups, _ = stores.scim.groups(Page())
            return groups

    def give(self, principal: Principal, group_id: UUID, role: PersonRole | None) -> ScimGroup:
        """Let a group give a role, or none; its people have the strongest of theirs at once.

        Denied where an owner would be concerned and the principal is none.
        """
        principal.require(Role.ADMIN)
        self.require_offered()
        with self.platform.transactions.writing(principal) as stores:
            stores.people.lock()
            groups, _ = stores.scim.groups(Page(limit=1), id_=group_id)
            if not groups:
                raise NotFound("There is no such group.", group_id=str(group_id))
            for each in (groups[0].role, role):
                require_over(principal, each or PersonRole.READER)
            if groups[0].role is role:
                return groups[0]
            now = self.platform.clock()
            stores.scim.give_role(group_id, role, now)
            self.record(
                stores, principal, "scim.group_role_set",
                group_id=str(group_id), role=role.value if role else "",
            )  # fmt: skip
            self.settle(stores, principal, stores.scim.members([group_id])[group_id])
            return replace(groups[0], role=role, changed_at=now)

    def settle(self, stores: Stores, principal: Principal, people: Collection[UUID]) -> None:
        """Give people the strongest role of their groups; who has none of these is a reader."""
        roles = stores.scim.roles(people)
        self.people.give_roles(
            stores, principal, {each: strongest(roles.get(each, frozenset())) for each in people}
        )

    def record(self, stores: Stores, principal: Principal, type_: str, **meta: JsonValue) -> None:
        """Append what happened, without names."""
        record(
            stores,
            workspace_id=principal.workspace_id,
            type_=type_,
            meta=meta,
            actor=principal_actor(principal),
            now=self.platform.clock(),
            new_id=self.platform.new_id,
        )

    def _require_owner(self, principal: Principal) -> None:
        principal.require(Role.ADMIN)
        self.require_offered()
        require_over(principal, PersonRole.OWNER)


def strongest(roles: Collection[PersonRole]) -> PersonRole:
    """Return the role that may most; a reader's without any."""
    return next((role for role in STRONGEST_FIRST if role in roles), PersonRole.READER)
