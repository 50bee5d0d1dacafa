"""No taints: what is tainted and held back is tested over PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from uuid import UUID

    from cairn.graph.node import State


class NoTaints:
    """`PostgresTaints` where nothing is ever tainted."""

    def arrived(self, node_ids: Collection[UUID]) -> Mapping[UUID, Mapping[UUID, State]]:
        """Return, by standing taint, those of these nodes that it must hold: none."""
        return {}
