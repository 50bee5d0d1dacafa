"""The connector `accounts`: users and their sign-ins in a customer's PostgreSQL.

The tables are those of samples/accounts/schema.sql. A write, the row of its idempotency key and its
answer are committed together: a call repeated under its key changes nothing and answers the same.
Not a directory service, and no passwords: it never sees one. Secret: `dsn`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, SecretStr, model_validator

from cairn.bundled.configuration import ConnectorConfig, configured, run
from cairn.bundled.database import CustomerDatabase, checked_dsn, query, secrets_of
from cairn.bundled.serving import (
    Answer,
    Arguments,
    Line,
    Tool,
    WriteArguments,
    connector_server,
    reads,
    writes,
)
from cairn.kernel.errors import Conflict, NotFound
from cairn.safety.tools import Autonomy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import psycopg
    from mcp.server.lowlevel import Server
    from psycopg.rows import TupleRow

    from cairn.kernel.text.json_value import JsonValue

    Connection = psycopg.Connection[TupleRow]

NAME, VERSION, PREFIX = "accounts", "1.0.0", "ACCOUNTS_"
MAX_USERS = 20

UserId = Annotated[
    str, Field(pattern=r"^[A-Za-z0-9._-]{1,64}$", description="The id find_user gives.")
]


class AccountsConfig(ConnectorConfig):
    """Where the accounts are."""

    dsn: SecretStr
    statement_seconds: float = Field(default=5.0, gt=0, le=60)


class FindUser(Arguments):
    """Whom to look for: exactly one of the three."""

    email: Line | None = Field(default=None, description="The whole e-mail address.")
    user_id: UserId | None = None
    name: Line | None = Field(default=None, description="Part of the name.")

    @model_validator(mode="after")
    def _require_one_key(self) -> FindUser:
        if sum(each is not None for each in (self.email, self.user_id, self.name)) != 1:
            raise ValueError("needs exactly one of email, user_id and name")
        return self


class SignIns(Arguments):
    """Whose sign-ins."""

    user_id: UserId
    limit: int = Field(default=20, ge=1, le=100, description="The newest so many.")


class OnUser(WriteArguments):
    """Whom a change is for."""

    user_id: UserId


class OnUserBecause(OnUser):
    """Whom a change is for, and why."""

    reason: Line | None = Field(default=None, description="Why, for the account's record.")


Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a tool does to a user. `after` is None when the user is gone."""

    tool: str
    after: Callable[[Row, str | None], Row | None]


def _unlocked(user: Row, reason: str | None) -> Row:
    if user["status"] == "suspended":
        raise Conflict("The user is suspended; only people lift that.", reason="user-suspended")
    return {**user, "status": "active", "locked_reason": None, "failed_sign_ins": 0}


def _locked(user: Row, reason: str | None) -> Row:
    if user["status"] == "suspended":
        raise Conflict("The user is suspended, which is more than locked.", reason="user-suspended")
    return {**user, "status": "locked", "locked_reason": reason or "locked by the help desk"}


def _reset(user: Row, reason: str | None) -> Row:
    return {**user, "must_reset": True}


UNLOCK = Change(tool="unlock_user", after=_unlocked)
LOCK = Change(tool="lock_user", after=_locked)
RESET = Change(tool="reset_password", after=_reset)
DELETE = Change(tool="delete_user", after=lambda user, reason: None)


class Accounts:
    """The tools over one database."""

    def __init__(self, config: AccountsConfig) -> None:
        self._database = CustomerDatabase(
            dsn=checked_dsn(config.dsn.get_secret_value()),
            statement_seconds=config.statement_seconds,
        )

    def health(self) -> Mapping[str, JsonValue]:
        """Connect and look for the tables."""
        with self._database.reading() as connection:
            connection.execute(query("account.done"), {"key": ""})
            connection.execute(query("account.read"), {"user_id": ""})
            connection.execute(query("account.sign_ins"), {"user_id": "", "limit": 1})
            return {"server_version": connection.info.server_version}

    def find_user(self, arguments: FindUser) -> Answer:
        """Return the users that fit, with the state of their accounts."""
        values = {**arguments.model_dump(), "limit": MAX_USERS + 1}
        with self._database.reading() as connection:
            users: list[JsonValue] = [
                _user(row) for row in connection.execute(query("account.find"), values)
            ]
        return Answer(value={"users": users[:MAX_USERS], "truncated": len(users) > MAX_USERS})

    def sign_ins(self, arguments: SignIns) -> Answer:
        """Return a user's newest sign-ins, failed ones included."""
        with self._database.reading() as connection:
            rows = connection.execute(query("account.sign_ins"), arguments.model_dump()).fetchall()
        return Answer(
            value={
                "user_id": arguments.user_id,
                "sign_ins": [
                    {"at": at.isoformat(), "outcome": outcome, "address": address, "device": device}
                    for at, outcome, address, device in rows
                ],
            }
        )

    def change(self, change: Change) -> Callable[[OnUser], Answer]:
        """Return the tool that makes a change."""

        def tool(arguments: OnUser) -> Answer:
            reason = arguments.reason if isinstance(arguments, OnUserBecause) else None
            if arguments.dry_run:
                with self._database.reading() as connection:
                    return Answer(value=_would(connection, change, arguments, reason))
            with self._database.writing() as connection:
                return Answer(value=_done(connection, change, arguments, reason))

        return tool


def _would(
    connection: Connection, change: Change, arguments: OnUser, reason: str | None
) -> dict[str, JsonValue]:
    """Return what a change would do; it reads only."""
    user = _user_of(connection, arguments.user_id, "account.read")
    return {"dry_run": True, **_change_record(change, user, change.after(user, reason))}


def _done(
    connection: Connection, change: Change, arguments: OnUser, reason: str | None
) -> dict[str, JsonValue]:
    """Make the change, or return what was answered when it was made under this key."""
    connection.execute(query("account.alone"), {"key": arguments.idempotency_key})
    earlier = connection.execute(
        query("account.done"), {"key": arguments.idempotency_key}
    ).fetchone()
    if earlier is not None:
        return _repeated(earlier, change, arguments)
    user = _user_of(connection, arguments.user_id, "account.hold")
    after = change.after(user, reason)
    answer = _change_record(change, user, after)
    if after is None:
        connection.execute(query("account.delete"), {"user_id": arguments.user_id})
    elif after != user:
        connection.execute(query("account.change"), {**after, "user_id": arguments.user_id})
    row = {"key": arguments.idempotency_key, "tool": change.tool, "user_id": arguments.user_id}
    connection.execute(query("account.remember"), {**row, "answer": json.dumps(answer)})
    return answer


def _user_of(connection: Connection, user_id: str, statement: str) -> Row:
    row = connection.execute(query(statement), {"user_id": user_id}).fetchone()
    if row is None:
        raise NotFound("There is no such user.")
    return _user(row)


def _user(row: TupleRow) -> Row:
    names = (
        "user_id",
        "email",
        "name",
        "department",
        "status",
        "locked_reason",
        "failed_sign_ins",
        "must_reset",
    )
    return dict(zip(names, row, strict=True))


def _change_record(change: Change, before: Row, after: Row | None) -> dict[str, JsonValue]:
    """Return what changed: no name and no address, since it is kept beside the key."""
    fields = ("status", "locked_reason", "failed_sign_ins", "must_reset")
    record: dict[str, JsonValue] = {
        "tool": change.tool,
        "user_id": before["user_id"],
        "before": {name: before[name] for name in fields},
        "after": None if after is None else {name: after[name] for name in fields},
    }
    if after == before:
        record["note"] = "It was so already."
    return record


def _repeated(earlier: TupleRow, change: Change, arguments: OnUser) -> dict[str, JsonValue]:
    tool, user_id, answer = earlier
    if (tool, user_id) != (change.tool, arguments.user_id):
        raise Conflict(
            "The idempotency key was used for another action.", reason="idempotency-key-reused"
        )
    return {**answer, "repeated": True}


def tools(accounts: Accounts) -> list[Tool]:
    """Return the tools with what they declare."""
    return [
        reads("find_user", "Find users by e-mail address, id or name.", FindUser,
              accounts.find_user),
        reads("sign_ins", "List a user's newest sign-ins: when, from where, how they ended.",
              SignIns, accounts.sign_ins, resource="users/{user_id}/sign_ins"),
        writes("unlock_user", "Unlock a locked account and forget its failed sign-ins.",
               OnUserBecause, accounts.change(UNLOCK), resource="users/{user_id}/unlock",
               asks_above=Autonomy.PROPOSE, rollback="lock_user"),
        writes("lock_user", "Lock an account: nobody signs in to it until it is unlocked.",
               OnUserBecause, accounts.change(LOCK), resource="users/{user_id}/lock",
               asks_above=Autonomy.PROPOSE, rollback="unlock_user"),
        writes("reset_password", "Make a user set a new password at the next sign-in.",
               OnUser, accounts.change(RESET), resource="users/{user_id}/reset_password",
               dangerous=True),
        writes("delete_user", "Delete a user and all sign-ins for good. There is no way back.",
               OnUser, accounts.change(DELETE), resource="users/{user_id}/delete",
               dangerous=True, forbidden=(Autonomy.INVESTIGATE, Autonomy.PROPOSE)),
    ]  # fmt: skip


def server(config: Mapping[str, JsonValue], secrets: Mapping[str, str]) -> Server[Any]:
    """Return the server; ValidationFailed names settings it cannot work with."""
    settings = configured(AccountsConfig, config, secrets)
    accounts = Accounts(settings)
    return connector_server(
        NAME,
        VERSION,
        tools(accounts),
        health=accounts.health,
        instructions="Users of one organisation: their state, their sign-ins, and what to do.",
        secrets=secrets_of(settings.dsn.get_secret_value()),
    )


if __name__ == "__main__":
    run(server, AccountsConfig, PREFIX)
