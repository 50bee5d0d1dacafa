"""Accounts in PostgreSQL: keys and who holds them, rate limits, the first workspace."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import psycopg
from psycopg.rows import dict_row, kwargs_row

from cairn.accounts.editions import FULL, Edition
from cairn.accounts.keys import add_key, record
from cairn.adapters.postgres.database import (
    Connection,
    Database,
    bound,
    session_options,
    translated,
)
from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import Store, scalar
from cairn.adapters.postgres.store_transactions import PostgresStores
from cairn.kernel.access import ALL_SCOPES, Principal, Role, Scope
from cairn.kernel.access.allowances import KINDS, NO_LOAD, USUAL, Allowances, Load, Refusal
from cairn.kernel.access.keys import make_key, read_key, secret_hash
from cairn.kernel.errors import Conflict, Unauthenticated
from cairn.ledger.chain import EMPTY_CHAIN_TIME, genesis
from cairn.reading.views import Admission, KeyCreated, KeyView, NewKey, RateDecision
from cairn.writing.append import SYSTEM

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access.principal import Barred
    from cairn.kernel.clock import Clock
    from cairn.kernel.ids import IdSource

REQUESTS_A_MINUTE = 6_000
FIRST_KEY = "admin"


class PostgresKeys(Store):
    """API keys and who holds them."""

    def add(self, principal_id: UUID, key: KeyView, secret_hash: bytes) -> None:
        """Store a principal and its key."""
        self.run(
            "account.add_principal",
            id=principal_id,
            holder=key.name,
            role=key.role.value,
            agent_slug=key.agent_slug,
            scopes=[scope.value for scope in key.scopes],
            tools=None if key.tools is None else list(key.tools),
            client_id=key.client_id,
            agent=key.agent,
            person=key.person,
            now=key.created_at,
        )
        added = self.values(
            "account.add_key",
            id=key.id,
            principal_id=principal_id,
            prefix=key.prefix,
            secret_hash=secret_hash,
            now=key.created_at,
            expires_at=key.expires_at,
            token_subject=key.token_subject,
        )
        if not added:
            raise Conflict(
                "Tokens of this subject open another key already; revoke that first.",
                reason="token-subject",
            )

    def all(self) -> Sequence[KeyView]:
        """Return every key, newest first."""
        workspace = {"workspace_id": self.principal.workspace_id}
        with self.connection.cursor(row_factory=kwargs_row(_key_view)) as cursor:
            return cursor.execute(query("account.keys"), workspace).fetchall()

    def revoke(self, key_id: UUID, now: datetime) -> None:
        """Mark a key as revoked."""
        self.run("account.revoke", id=key_id, now=now)


@dataclass(frozen=True)
class Admit:
    """Say who holds an API key and whether one more of its requests may run: one round trip.

    Malformed, unknown, truncated, revoked and expired keys get one and the same Unauthenticated;
    the hash is compared by the database, and the secret's length makes guessing it hopeless.
    Each key has a bucket of `per_minute` tokens, refilled evenly; a request takes one. A workspace
    has one for each of its `allowances`, which all of its keys take from, in whatever process.
    What a registered agent may narrows its keys; one of another `edition` is barred.
    """

    database: Database
    clock: Clock
    per_minute: int = REQUESTS_A_MINUTE
    allowances: Allowances = USUAL
    edition: Edition = FULL

    def __call__(self, key: str, load: Load = NO_LOAD, /) -> Admission:
        """Return the principal of a key that is good now, and the decision on its rate."""
        parts = read_key(key)
        admission = None
        if parts:
            prefix, hash_ = parts
            admission = self._admission("tenancy.admit", load, prefix=prefix, secret_hash=hash_)
        if admission is None:
            raise Unauthenticated("This API key opens nothing.", reason="unknown-key")
        return admission

    def of_subjects(self, subjects: Sequence[str], load: Load = NO_LOAD, /) -> Admission | None:
        """Return the same of the key of an access token, which is good; None without such a key."""
        return self._admission("tenancy.admit_token", load, subjects=list(subjects))

    def _admission(self, name: str, load: Load, **credentials: Any) -> Admission | None:
        parameters = {
            **credentials,
            "now": self.clock(),
            "requests": float(self.per_minute),
            "asked": [float(getattr(load, kind)) for kind in KINDS],
            "allowed": [float(getattr(self.allowances, kind)) for kind in KINDS],
        }
        with self.database.connection() as connection:
            cursor = connection.cursor(row_factory=kwargs_row(self._admitted))
            return cursor.execute(query(name), parameters).fetchone()

    def _admitted(
        self,
        *,
        role: str,
        allowed_scopes: Sequence[str],
        tools: Sequence[str] | None,
        agent_tools: Sequence[str] | None,
        edition: str | None,
        barred: Barred | Literal["snapshot"] | None,
        rate: float,
        remaining: float,
        refused: int | None,
        seconds: float,
        **row: Any,
    ) -> Admission:
        principal = Principal(
            role=Role(role),
            allowed_scopes=frozenset(Scope(scope) for scope in allowed_scopes),
            tools=frozenset(tools) if tools is not None else None,
            agent_tools=frozenset(agent_tools) if agent_tools is not None else None,
            barred=(None if barred == "snapshot" else barred)
            or ("edition" if edition not in (None, "", self.edition.name) else None),
            left_out=self.edition.without,
            live_memory=barred != "snapshot",
            **row,
        )
        return Admission(
            principal=principal,
            rate=_decision(remaining, int(rate)),
            refusal=self._refusal(refused, seconds) if refused else None,
        )

    def _refusal(self, number: int, seconds: float) -> Refusal:
        kind = KINDS[number - 1]
        return Refusal(kind=kind, limit=getattr(self.allowances, kind), retry_after=seconds)


def _decision(remaining: float, limit: int) -> RateDecision:
    return RateDecision(
        allowed=remaining >= 0,
        limit=limit,
        remaining=max(0, int(remaining)),
        retry_after=max(0.0, -remaining * 60 / limit),
    )


@dataclass(frozen=True)
class RedeemClaim:
    """Exchange the one-time first-run token for a workspace and its first admin key."""

    database: Database
    clock: Clock
    new_id: IdSource
    random_bytes: Callable[[int], bytes] = os.urandom

    def __call__(self, *, token: str, workspace_name: str) -> KeyCreated:
        """Return the key. Unauthenticated when the token is wrong or old, Conflict when used."""
        now, workspace_id = self.clock(), self.new_id()
        parameters = {
            "token_hash": secret_hash(token),
            "now": now,
            "workspace_id": workspace_id,
            "name": workspace_name,
        }
        admin = _first_admin(workspace_id, self.new_id())
        with bound(self.database, admin, read_only=False) as connection:
            _require_claimed(scalar(connection, "account.claim_workspace", parameters) or "unknown")
            return _open_workspace(connection, admin, now, self.new_id, self.random_bytes)


def create_workspace(
    owner_url: str,
    name: str,
    *,
    clock: Clock,
    new_id: IdSource,
    random_bytes: Callable[[int], bytes] = os.urandom,
) -> tuple[UUID, str]:
    """Return the id of the workspace called `name`, made if missing, and a new admin key for it.

    Runs as the database's owner. The key is shown this once: only a hash of it is stored.
    """
    now = clock()
    with as_owner(owner_url) as connection:
        existing: UUID | None = scalar(connection, "account.workspace_named", {"name": name})
        workspace_id = existing or new_id()
        admin = _first_admin(workspace_id, new_id())
        if existing:
            connection.execute(query("ledger.lock_head"), {"workspace_id": workspace_id})
            created = _first_key(connection, admin, now, new_id, random_bytes)
        else:
            parameters = {"workspace_id": workspace_id, "name": name, "now": now}
            empty = {"genesis": genesis(workspace_id), "beginning": EMPTY_CHAIN_TIME}
            connection.execute(query("account.add_workspace"), parameters)
            connection.execute(query("account.add_head"), parameters | empty)
            created = _open_workspace(connection, admin, now, new_id, random_bytes)
    return workspace_id, created.secret


def list_workspaces(owner_url: str) -> list[dict[str, Any]]:
    """Return every workspace: id, name, when it was made, how many entries, when the last came."""
    with as_owner(owner_url, snapshot=True) as connection:
        return (
            connection.cursor(row_factory=dict_row).execute(query("account.workspaces")).fetchall()
        )


@contextmanager
def as_owner(owner_url: str, *, snapshot: bool = False) -> Generator[Connection]:
    """Open one transaction across workspaces as the owner (role cairn_migrator).

    With `snapshot` it sees one moment of the database and can change nothing.
    """
    options = session_options(statement_timeout_ms=0, lock_timeout_ms=0)
    with translated(), psycopg.connect(owner_url, options=options) as connection:
        if snapshot:
            connection.execute(query("ledger.snapshot"))
        connection.execute(query("account.act_as_owner"))
        yield connection


def _open_workspace(
    connection: Connection,
    admin: Principal,
    now: datetime,
    new_id: IdSource,
    random_bytes: Callable[[int], bytes],
) -> KeyCreated:
    record(
        PostgresStores(connection, admin),
        workspace_id=admin.workspace_id,
        type_="workspace.created",
        meta={"workspace_id": str(admin.workspace_id)},
        actor=SYSTEM,
        now=now,
        new_id=new_id,
    )
    return _first_key(connection, admin, now, new_id, random_bytes)


def _first_key(
    connection: Connection,
    admin: Principal,
    now: datetime,
    new_id: IdSource,
    random_bytes: Callable[[int], bytes],
) -> KeyCreated:
    secret = make_key(random_bytes)
    view = add_key(
        PostgresStores(connection, admin),
        workspace_id=admin.workspace_id,
        actor=SYSTEM,
        new=NewKey(name=FIRST_KEY, role=Role.ADMIN),
        secret=secret,
        now=now,
        new_id=new_id,
    )
    return KeyCreated(key=view, secret=secret.text)


def _first_admin(workspace_id: UUID, principal_id: UUID) -> Principal:
    return Principal(
        workspace_id=workspace_id,
        principal_id=principal_id,
        role=Role.ADMIN,
        allowed_scopes=ALL_SCOPES,
        name=FIRST_KEY,
    )


def _require_claimed(outcome: str) -> None:
    if outcome == "used":
        raise Conflict("This deployment was claimed already.", reason="claim-used")
    if outcome != "claimed":
        raise Unauthenticated("This token opens nothing, or no longer.", reason="claim")


def _key_view(**row: Any) -> KeyView:
    row["role"] = Role(row["role"])
    row["scopes"] = tuple(Scope(scope) for scope in row["scopes"])
    row["tools"] = None if row["tools"] is None else tuple(row["tools"])
    return KeyView(**row)
