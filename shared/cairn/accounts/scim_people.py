"""What a directory does by SCIM about people and groups. Not the protocol (`api/scim`).

Every change is one transaction and an entry of the ledger; whoever a directory takes out is signed
out with it. The last owner stays one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cairn.accounts.people import clean_login
from cairn.accounts.scim import Page, ScimGroup, ScimUser
from cairn.kernel.access import PersonRole
from cairn.kernel.errors import Conflict, FieldError, NotFound, TooLarge, ValidationFailed
from cairn.writing.checks import clean_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.accounts.scim import Scim
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores

MAX_GROUPS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class UserChange:
    """What a directory says of somebody; None says nothing. `external_id` empty takes it away."""

    login: str | None = None
    name: str | None = None
    external_id: str | None = None
    active: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChange:
    """What a directory says of a group; None says nothing.

    `members` are everybody in it from now on; otherwise who joins and who leaves it, which are told
    in this order.
    """

    name: str | None = None
    external_id: str | None = None
    members: frozenset[UUID] | None = None
    joining: frozenset[UUID] = frozenset()
    leaving: frozenset[UUID] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScimPeople:
    """People and groups, as the holder of a directory's token changes them."""

    scim: Scim

    # People

    def users(
        self,
        directory: Principal,
        page: Page,
        *,
        login: str | None = None,
        external_id: str | None = None,
    ) -> tuple[Sequence[ScimUser], int]:
        """Return people, the oldest first, and how many there are; by `login`, `external_id`."""
        login = None if login is None else login.strip().lower()
        with self.scim.platform.transactions.reading(directory) as stores:
            return stores.scim.users(page, login=login, external_id=external_id)

    def user(self, directory: Principal, user_id: UUID) -> ScimUser:
        """Return somebody; NotFound for nobody, and for whom a directory has deleted."""
        with self.scim.platform.transactions.reading(directory) as stores:
            return _user(stores, user_id)

    def add_user(self, directory: Principal, new: UserChange) -> ScimUser:
        """Add somebody, as a reader until a group says more; Conflict where the name is taken.

        Who was deleted before comes back as who they were, with nothing to sign in with.
        """
        login, people = clean_login(new.login or ""), self.scim.people
        with self.scim.platform.transactions.writing(directory) as stores:
            stores.people.lock()
            person_id = stores.scim.removed_user(login)
            if person_id is None:
                added = people.added(stores, directory, login, new.name or login, PersonRole.READER)
                person_id = added.id
            stores.scim.keep_user(person_id, new.external_id or None, self.scim.platform.clock())
            people.changed(stores, directory, person_id, disabled=new.active is False)
            self._rename(stores, directory, _user(stores, person_id), login, new.name or login)
            return _user(stores, person_id)

    def change_user(self, directory: Principal, user_id: UUID, change: UserChange) -> ScimUser:
        """Change somebody; who is not active any more is signed out and cannot come back."""
        with self.scim.platform.transactions.writing(directory) as stores:
            stores.people.lock()
            user = _user(stores, user_id)
            login = user.login if change.login is None else clean_login(change.login)
            name = user.name if change.name is None else change.name or login
            self._rename(stores, directory, user, login, name)
            external_id = change.external_id
            if external_id is not None and (external_id or None) != user.external_id:
                stores.scim.keep_user(user_id, external_id or None, self.scim.platform.clock())
            if change.active is not None and change.active is not user.active:
                self.scim.people.changed(stores, directory, user_id, disabled=not change.active)
            return _user(stores, user_id)

    def remove_user(self, directory: Principal, user_id: UUID) -> None:
        """Take somebody out: signed out, of no group, a reader, with nothing to sign in with.

        Who they were stays for the ledger and for the console, where an admin removes it.
        """
        with self.scim.platform.transactions.writing(directory) as stores:
            stores.people.lock()
            user = _user(stores, user_id)
            self.scim.people.changed(
                stores, directory, user_id, role=PersonRole.READER, disabled=True
            )
            stores.people.drop_credentials(user_id)
            stores.scim.leave_groups(user_id)
            now = self.scim.platform.clock()
            stores.scim.keep_user(user_id, user.external_id, now, removed_at=now)
            self.scim.record(stores, directory, "scim.user_removed", person_id=str(user_id))

    def _rename(
        self, stores: Stores, directory: Principal, user: ScimUser, login: str, name: str
    ) -> None:
        name = clean_name(name, "name") or login
        if (login, name) == (user.login, user.name):
            return
        if not stores.people.rename(user.id, login, name, self.scim.platform.clock()):
            raise Conflict("Somebody signs in under this name already.", reason="login-taken")
        self.scim.record(stores, directory, "scim.user_renamed", person_id=str(user.id))

    # Groups

    def groups(
        self,
        directory: Principal,
        page: Page,
        *,
        members: bool = True,
        name: str | None = None,
        external_id: str | None = None,
    ) -> tuple[Sequence[tuple[ScimGroup, Mapping[UUID, str]]], int]:
        """Return groups by name, each with its people where `members`, and how many there are."""
        with self.scim.platform.transactions.reading(directory) as stores:
            groups, total = stores.scim.groups(page, name=name, external_id=external_id)
            people = stores.scim.members([group.id for group in groups] if members else [])
            return [(group, people.get(group.id, {})) for group in groups], total

    def group(self, directory: Principal, group_id: UUID) -> tuple[ScimGroup, Mapping[UUID, str]]:
        """Return a group with its people; NotFound without it."""
        with self.scim.platform.transactions.reading(directory) as stores:
            return _group(stores, group_id), stores.scim.members([group_id])[group_id]

    def add_group(
        self, directory: Principal, new: GroupChange
    ) -> tuple[ScimGroup, Mapping[UUID, str]]:
        """Add a group, which gives no role until an admin says so; Conflict for a name it has."""
        now = self.scim.platform.clock()
        with self.scim.platform.transactions.writing(directory) as stores:
            stores.people.lock()
            _, total = stores.scim.groups(Page(limit=1))
            if total >= MAX_GROUPS:
                raise TooLarge(f"A workspace has at most {MAX_GROUPS} groups.", reason="groups")
            group = ScimGroup(
                id=self.scim.platform.new_id(),
                name=_group_name(new.name),
                external_id=new.external_id or None,
                created_at=now,
                changed_at=now,
            )
            self._keep_group(stores, directory, group, "scim.group_added")
            self._people(stores, directory, group, new)
            return _group(stores, group.id), stores.scim.members([group.id])[group.id]

    def change_group(
        self, directory: Principal, group_id: UUID, change: GroupChange
    ) -> tuple[ScimGroup, Mapping[UUID, str]]:
        """Change a group's names or who is in it; roles follow at once."""
        with self.scim.platform.transactions.writing(directory) as stores:
            stores.people.lock()
            group = _group(stores, group_id)
            new = replace(
                group,
                name=group.name if change.name is None else _group_name(change.name),
                external_id=group.external_id
                if change.external_id is None
                else change.external_id or None,
            )
            if new != group:
                self._keep_group(stores, directory, new, "scim.group_changed")
            self._people(stores, directory, new, change)
            return _group(stores, group_id), stores.scim.members([group_id])[group_id]

    def remove_group(self, directory: Principal, group_id: UUID) -> None:
        """Take a group away; its people lose the role that it gave."""
        with self.scim.platform.transactions.writing(directory) as stores:
            stores.people.lock()
            group = _group(stores, group_id)
            people = stores.scim.members([group_id])[group_id]
            stores.scim.remove_group(group_id)
            self.scim.record(stores, directory, "scim.group_removed", group_id=str(group_id))
            if group.role is not None:
                self.scim.settle(stores, directory, people)

    def _keep_group(
        self, stores: Stores, directory: Principal, group: ScimGroup, type_: str
    ) -> None:
        if not stores.scim.keep_group(group, self.scim.platform.clock()):
            raise Conflict("There is a group of this name already.", reason="group-taken")
        self.scim.record(stores, directory, type_, group_id=str(group.id))

    def _people(
        self, stores: Stores, directory: Principal, group: ScimGroup, change: GroupChange
    ) -> None:
        """Let people join and leave a group."""
        joining, leaving = change.joining, change.leaving
        if change.members is not None:
            present = frozenset(stores.scim.members([group.id])[group.id])
            joining, leaving = change.members - present, present - change.members
        _require_people(stores, joining)
        joined = stores.scim.add_members(group.id, joining) if joining else ()
        left = stores.scim.remove_members(group.id, leaving) if leaving else ()
        moved = frozenset((*joined, *left))
        if not moved:
            return
        self.scim.record(
            stores, directory, "scim.group_changed",
            group_id=str(group.id), joined=len(joined), left=len(left),
        )  # fmt: skip
        if group.role is not None:
            self.scim.settle(stores, directory, moved)


def _user(stores: Stores, user_id: UUID) -> ScimUser:
    users, _ = stores.scim.users(Page(limit=1), id_=user_id)
    if not users:
        raise NotFound("There is no such user.", user_id=str(user_id))
    return users[0]


def _group(stores: Stores, group_id: UUID) -> ScimGroup:
    groups, _ = stores.scim.groups(Page(limit=1), id_=group_id)
    if not groups:
        raise NotFound("There is no such group.", group_id=str(group_id))
    return groups[0]


def _group_name(name: str | None) -> str:
    return clean_name(name or "", "displayName") or ""


def _require_people(stores: Stores, people: frozenset[UUID]) -> None:
    """Raise ValidationFailed where some of these are nobody that a directory sees."""
    if people and people - frozenset(stores.scim.seen_people(people)):
        wrong = "names somebody whom this workspace does not know"
        raise ValidationFailed(f"members {wrong}.", errors=[FieldError("members", wrong)])
