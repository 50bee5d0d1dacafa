"""What lost what it belongs to: rows without entries, edges without ends. Finds; repairs nothing.

A rebuild repairs most of it; unreferenced entities go with the next cleanup.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from cairn.kernel.access import Principal, Role
from cairn.kernel.access.system import system_principal
from cairn.kernel.stores import Stores
from cairn.kernel.transaction import Transactions

EXAMPLES = 5
COUNTED = 1_000
"""Orphans of a kind that are counted; where there are more, the count says so by being this."""


class Orphan(StrEnum):
    """What lacks what."""

    NODE_WITHOUT_ENTRY = "node_without_entry"  # the ledger has no entry that made it
    EDGE_WITHOUT_END = "edge_without_end"  # it holds, and a node at an end of it is not there
    VECTOR_WITHOUT_NODE = "vector_without_node"
    ENTITY_WITHOUT_REFERENCE = "entity_without_reference"  # found in texts, and in none any more
    ENTRY_WITHOUT_ROW = "entry_without_row"  # it made a node that is there no more, and not purged


@dataclass(frozen=True, slots=True, kw_only=True)
class Orphans:
    """How many there are of one kind, at most COUNTED, and some of their ids."""

    count: int
    examples: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FindOrphans:
    """Looks over the whole workspace, whatever scopes the admin's key has: ids, no texts."""

    transactions: Transactions[Stores]

    def __call__(self, principal: Principal, /) -> Mapping[str, Orphans]:
        """Return orphans by kind; Denied unless the principal is an admin."""
        principal.require(Role.ADMIN)
        found: dict[str, Orphans] = {}
        for kind in Orphan:
            with self.transactions.reading(system_principal(principal.workspace_id)) as stores:
                found[kind.value] = stores.stats.orphans(kind, limit=COUNTED, examples=EXAMPLES)
        return found
