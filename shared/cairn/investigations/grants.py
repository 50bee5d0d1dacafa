"""Making, listing and revoking standing grants: each change is a ledger entry. Not their matching.

In clear stand ids, counts and times; the arguments and the reason are sealed for the data subjects
of the approval a grant was made from, or under the workspace's own key.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from cairn.kernel.access import Principal, Role
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import Conflict, NotFound, ValidationFailed
from cairn.kernel.records import convert
from cairn.kernel.text.canonical import format_timestamp
from cairn.ledger.keys import BodyUnreadable, key_subjects
from cairn.safety.grants import Grant, GrantRow, check_grant, declaration, exactly
from cairn.writing.writer import Write, open_write

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from cairn.investigations.views import ApprovalView
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.ledger.keys import BodyCipher, KeyStore
    from cairn.safety.grants import NewGrant
    from cairn.safety.rules import Policies
    from cairn.safety.tools import ToolSpec
    from cairn.writing.platform import Platform


MakeGrant: TypeAlias = "Callable[[Principal, NewGrant], Grant]"
"""Makes a grant; `Grants.make`."""


ShowApproval: TypeAlias = "Callable[[Principal, UUID], ApprovalView]"
"""Shows a question with the values the tool would get; `approvals.Approvals.get`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantFromQuestion:
    """Makes grants, from a question where one is named."""

    transactions: Transactions[Stores]
    show: ShowApproval
    make: MakeGrant

    def __call__(self, principal: Principal, new: NewGrant, *, as_asked: bool = False) -> Grant:
        """Make a grant; `as_asked` takes its arguments from the question it names.

        It is sealed for whom the question was about. Raises what making one raises, NotFound for
        an unknown question, ValidationFailed for a question about another tool.
        """
        principal.require(Role.ADMIN)
        if new.approval_id is None:
            if as_asked:
                raise ValidationFailed("arguments are needed without an approval.", reason="grant")
            return self.make(principal, new)
        with self.transactions.reading(principal) as stores:
            question = stores.approvals.find(new.approval_id)
        if question is None:
            raise NotFound("There is no such approval.", approval_id=str(new.approval_id))
        if question.tool != new.tool:
            raise ValidationFailed("The approval was asked for another tool.", reason="grant")
        if as_asked:
            shown = self.show(principal, new.approval_id)
            new = replace(new, arguments=exactly(shown.arguments))
        return self.make(principal, replace(new, data_subjects=question.data_subjects))


MAX_GRANTS = 200
"""In force at once in a workspace."""
MAX_LISTED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Grants:
    """Makes, lists and revokes grants: an admin's work."""

    platform: Platform
    policies: Policies

    def make(self, principal: Principal, new: NewGrant) -> Grant:
        """Make a grant for a tool as it is declared now.

        Raises ValidationFailed when it is not narrow enough, NotFound when the workspace has no
        such tool, Conflict (`too-many-grants`) above 200 in force.
        """
        principal.require(Role.ADMIN)
        checked = check_grant(new, self.platform.clock())
        workspace_id, tool = principal.workspace_id, self._tool(principal, checked.tool)
        subjects = tuple(sorted(set(checked.data_subjects)))
        keys = self.platform.keys.get_or_create(workspace_id, key_subjects(workspace_id, subjects))
        row = self._row(principal, checked, tool, subjects, keys)
        with open_write(self.platform, principal, keys=keys) as write:
            grants = write.stores.grants
            if grants.open_count(row.made_at) >= MAX_GRANTS:
                raise Conflict(
                    f"A workspace has at most {MAX_GRANTS} grants in force.",
                    reason="too-many-grants",
                )
            grants.add(row)
            _note(write, "grant.made", row, _content(checked))
        return _opened(row, _content(checked))

    def page(
        self, principal: Principal, *, before: UUID | None = None, limit: int = MAX_LISTED
    ) -> Sequence[Grant]:
        """Return grants, those that are over too, the newest first; at most 100 at once."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(principal) as stores:
            rows = stores.grants.page(before=before, limit=min(limit, MAX_LISTED))
        return self._shown(principal.workspace_id, rows)

    def get(self, principal: Principal, grant_id: UUID) -> Grant:
        """Return a grant; NotFound when there is none."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(principal) as stores:
            row = stores.grants.find(grant_id)
        if row is None:
            raise _no_such(grant_id)
        (grant,) = self._shown(principal.workspace_id, [row])
        return grant

    def revoke(self, principal: Principal, grant_id: UUID) -> Grant:
        """Revoke a grant at once; a second time changes nothing. NotFound when there is none."""
        principal.require(Role.ADMIN)
        grant = self.get(principal, grant_id)
        subjects, keys = self._readable(principal, grant)
        with open_write(self.platform, principal, keys=keys) as write:
            row = write.stores.grants.find(grant_id)
            if row is None:
                raise _no_such(grant_id)
            if write.stores.grants.revoke(grant_id, write.now):
                _note(write, "grant.revoked", replace(row, data_subjects=subjects), {})
                return replace(grant, revoked_at=write.now)
        return grant

    def _readable(
        self, principal: Principal, grant: Grant
    ) -> tuple[tuple[UUID, ...], Mapping[UUID, bytes]]:
        """Return whom an entry about it is about, nobody once they were forgotten; the keys."""
        workspace_id = principal.workspace_id
        subjects = key_subjects(workspace_id, grant.data_subjects)
        held = self.platform.keys.get(workspace_id, subjects)
        if all(item in held for item in subjects):
            return grant.data_subjects, held
        return (), self.platform.keys.get_or_create(workspace_id, (workspace_id,))

    def _tool(self, principal: Principal, key: str) -> ToolSpec:
        connector, _, name = key.partition(".")
        policy = self.policies(principal.workspace_id).connectors.get(connector)
        tool = policy.tool(name) if policy is not None else None
        if tool is None:
            raise NotFound("The workspace has no such tool.", reason="unknown-tool")
        return tool

    def _row(
        self,
        principal: Principal,
        new: NewGrant,
        tool: ToolSpec,
        subjects: tuple[UUID, ...],
        keys: Mapping[UUID, bytes],
    ) -> GrantRow:
        grant_id, workspace_id = self.platform.new_id(), principal.workspace_id
        return GrantRow(
            id=grant_id,
            tool=tool.key,
            declaration=declaration(tool),
            content=self.platform.cipher.seal(grant_id, workspace_id, keys, _content(new)),
            data_subjects=subjects,
            expires_at=new.expires_at,
            max_uses=new.max_uses,
            made_by=principal.principal_id,
            made_at=self.platform.clock(),
            approval_id=new.approval_id,
        )

    def _shown(self, workspace_id: UUID, rows: Sequence[GrantRow]) -> list[Grant]:
        grants = opened(workspace_id, rows, self.platform.keys, self.platform.cipher)
        return [
            _opened(row, _FORGOTTEN) if grant is None else grant
            for row, grant in zip(rows, grants, strict=True)
        ]


def _note(write: Write, type_: str, row: GrantRow, body: Mapping[str, Any]) -> None:
    meta = {"grant_id": str(row.id), "max_uses": row.max_uses, "uses": row.uses}
    meta["expires_at"] = format_timestamp(row.expires_at)
    if row.approval_id is not None:
        meta["approval_id"] = str(row.approval_id)
    content = {"tool": row.tool, "declaration": row.declaration, **body}
    write.entries.add(type_, meta, content, data_subjects=row.data_subjects, occurred_at=write.now)


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingGrants:
    """Implements `safety.grants.GrantsInForce`. A grant that cannot be opened is none."""

    platform: Platform

    def __call__(self, workspace_id: UUID, tool: str) -> Sequence[Grant]:
        """Return the grants in force for `connector.tool`, the oldest first."""
        with self.platform.transactions.reading(system_principal(workspace_id)) as stores:
            rows = stores.grants.in_force(tool, self.platform.clock())
        grants = opened(workspace_id, rows, self.platform.keys, self.platform.cipher)
        return [item for item in grants if item is not None]


def opened(
    workspace_id: UUID, rows: Sequence[GrantRow], keys: KeyStore, cipher: BodyCipher
) -> list[Grant | None]:
    """Return stored grants with what they cover, with one look for their keys.

    None in the place of one that cannot be opened: whom it is about was forgotten.
    """
    subjects = [key_subjects(workspace_id, row.data_subjects) for row in rows]
    held = keys.get(workspace_id, {item for each in subjects for item in each})
    grants: list[Grant | None] = []
    for row, own in zip(rows, subjects, strict=True):
        try:
            content = cipher.open(row.id, workspace_id, own, held, row.content)
        except BodyUnreadable:
            grants.append(None)
        else:
            grants.append(_opened(row, content))
    return grants


_FORGOTTEN: Mapping[str, Any] = {"arguments": {}, "reason": ""}


def _opened(row: GrantRow, content: Mapping[str, Any]) -> Grant:
    return convert(row, Grant, arguments=content["arguments"], reason=content["reason"])


def _content(new: NewGrant) -> dict[str, Any]:
    arguments = dict(new.arguments) if new.arguments is not None else None
    return {"arguments": arguments, "reason": new.reason}


def _no_such(grant_id: UUID) -> NotFound:
    return NotFound("There is no such grant.", grant_id=str(grant_id))
