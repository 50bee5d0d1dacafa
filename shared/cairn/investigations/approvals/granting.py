"""A standing grant made from a question: "do not ask again" for what a person was just asked.

Not what a grant covers or how narrow it must be: `safety.grants` says that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from cairn.kernel.access import Role
from cairn.kernel.errors import NotFound, ValidationFailed
from cairn.safety.grants import exactly

if TYPE_CHECKING:
    from uuid import UUID

    from cairn.investigations.approvals.views import ApprovalView
    from cairn.investigations.ports import ApprovalStore
    from cairn.kernel.access import Principal
    from cairn.kernel.transaction import Transactions
    from cairn.safety.grants import Grant, NewGrant


class MakeGrant(Protocol):
    """Makes a grant; `lifecycle.grants.Grants.make`."""

    def __call__(self, principal: Principal, new: NewGrant, /) -> Grant: ...


class ShowApproval(Protocol):
    """Shows a question with the values the tool would get; `agent.approvals.Approvals.get`."""

    def __call__(self, principal: Principal, approval_id: UUID, /) -> ApprovalView: ...


class AskedStores(Protocol):
    """What making a grant from a question needs of a transaction."""

    @property
    def approvals(self) -> ApprovalStore: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantFromQuestion:
    """Makes grants, from a question where one is named."""

    transactions: Transactions[AskedStores]
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
            asked = stores.approvals.find(new.approval_id)
        if asked is None:
            raise NotFound("There is no such approval.", approval_id=str(new.approval_id))
        if asked.tool != new.tool:
            raise ValidationFailed("The approval was asked for another tool.", reason="grant")
        if as_asked:
            shown = self.show(principal, new.approval_id)
            new = replace(new, arguments=exactly(shown.arguments))
        return self.make(principal, replace(new, data_subjects=asked.data_subjects))
