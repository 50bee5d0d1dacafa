"""What directories bring by SCIM, in PostgreSQL: their tokens, whom they keep, groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psycopg.rows import dict_row

from cairn.accounts.scim import GroupName, ScimGroup, ScimToken, ScimUser
from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import Store, record
from cairn.kernel.access import PersonRole

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.accounts.scim import Page
    from cairn.adapters.postgres.database import Database


class PostgresScim(Store):
    """The directories of a workspace. Lists come with how many there are in all."""

    def add_token(self, token: ScimToken, token_hash: bytes) -> None:
        """Keep a token."""
        self.write("scim.add_token", token, token_hash=token_hash)

    def tokens(self) -> Sequence[ScimToken]:
        """Return every token, the newest first."""
        return self.all_of(record(ScimToken), "scim.tokens")

    def revoke_token(self, token_id: UUID) -> bool:
        """Take a token away; False where there is none."""
        return bool(self.values("scim.revoke_token", id=token_id))

    def see_token(self, token_id: UUID, now: datetime) -> None:
        """Note that a token was used."""
        self.run("scim.see_token", id=token_id, now=now)

    def users(
        self,
        page: Page,
        *,
        id_: UUID | None = None,
        login: str | None = None,
        external_id: str | None = None,
    ) -> tuple[Sequence[ScimUser], int]:
        """Return people whom a directory sees."""
        narrow = {"id": id_, "login": login, "external_id": external_id}
        return self._page(_user, "scim.users", page, narrow)

    def removed_user(self, login: str) -> UUID | None:
        """Return whom a directory deleted who signed in under a name."""
        return self.value("scim.removed_user", login=login)

    def keep_user(
        self,
        person_id: UUID,
        external_id: str | None,
        now: datetime,
        *,
        removed_at: datetime | None = None,
    ) -> None:
        """Keep what a directory says of somebody."""
        times = {"now": now, "removed_at": removed_at}
        self.run("scim.keep_user", person_id=person_id, external_id=external_id, **times)

    def groups(
        self,
        page: Page,
        *,
        id_: UUID | None = None,
        name: str | None = None,
        external_id: str | None = None,
    ) -> tuple[Sequence[ScimGroup], int]:
        """Return groups, by name."""
        narrow = {"id": id_, "called": name, "external_id": external_id}
        return self._page(_group, "scim.groups", page, narrow)

    def keep_group(self, group: ScimGroup, now: datetime) -> bool:
        """Keep a group's names; False where another has its name."""
        return bool(
            self.values(
                "scim.keep_group",
                id=group.id,
                called=group.name,
                external_id=group.external_id,
                role=group.role.value if group.role else None,
                created_at=group.created_at,
                now=now,
            )
        )

    def give_role(self, group_id: UUID, role: PersonRole | None, now: datetime) -> bool:
        """Keep the role that a group gives; False where the database lets nobody do so."""
        value = role.value if role else None
        return bool(self.values("scim.give_role", id=group_id, role=value, now=now))

    def remove_group(self, group_id: UUID) -> None:
        """Take a group away."""
        self.run("scim.remove_group", id=group_id)

    def members(self, groups: Collection[UUID]) -> Mapping[UUID, Mapping[UUID, str]]:
        """Return who is in groups, each by their id with their login."""
        members: dict[UUID, dict[UUID, str]] = {group: {} for group in groups}
        for row in self.rows("scim.members", groups=list(groups)):
            members[row["group_id"]][row["id"]] = row["login"]
        return members

    def seen_people(self, people: Collection[UUID]) -> Sequence[UUID]:
        """Return those of people whom a directory sees."""
        return self.values("scim.seen_people", people=list(people))

    def add_members(self, group_id: UUID, people: Collection[UUID]) -> Sequence[UUID]:
        """Put people into a group; returns who was not in it yet."""
        return self.values("scim.add_members", group_id=group_id, people=list(people))

    def remove_members(self, group_id: UUID, people: Collection[UUID]) -> Sequence[UUID]:
        """Take people out of a group; returns who was in it."""
        return self.values("scim.remove_members", group_id=group_id, people=list(people))

    def leave_groups(self, person_id: UUID) -> None:
        """Take somebody out of every group."""
        self.run("scim.leave_groups", person_id=person_id)

    def roles(self, people: Collection[UUID]) -> Mapping[UUID, frozenset[PersonRole]]:
        """Return the roles of people by their groups; who has none is not in it."""
        rows = self.rows("scim.roles", people=list(people))
        return {row["person_id"]: frozenset(map(PersonRole, row["roles"])) for row in rows}

    def _page(
        self, make: Any, name: str, page: Page, narrow: Mapping[str, object]
    ) -> tuple[Sequence[Any], int]:
        rows = self.rows(name, limit=page.limit, offset=page.offset, **narrow)
        counted = rows or self.rows(name, limit=1, offset=0, **narrow)
        total = counted[0]["total"] if counted else 0
        for row in rows:
            del row["total"]
        return [make(**row) for row in rows], total


@dataclass(frozen=True)
class FindScim:
    """What leads to a workspace: a directory's token."""

    database: Database

    def token(
        self, token_hash: bytes, now: datetime
    ) -> tuple[UUID, tuple[UUID, datetime | None]] | None:
        """Return the workspace of a token that is good now; its id, and when it was used last."""
        parameters = {"token_hash": token_hash, "now": now}
        with self.database.connection() as connection:
            cursor = connection.cursor(row_factory=dict_row)
            row = cursor.execute(query("scim.admit"), parameters).fetchone()
        return (row["workspace_id"], (row["id"], row["used_at"])) if row else None


def _user(*, role: str, groups: Sequence[Mapping[str, str]], **row: Any) -> ScimUser:
    from uuid import UUID

    names = tuple(GroupName(id=UUID(each["id"]), name=each["name"]) for each in groups)
    return ScimUser(role=PersonRole(role), groups=names, **row)


def _group(*, role: str | None, **row: Any) -> ScimGroup:
    return ScimGroup(role=PersonRole(role) if role else None, **row)
