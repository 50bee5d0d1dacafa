"""What stands at this moment in every workspace, told as metrics; nothing is changed.

Totals are told beside the parts; parts of the workspaces that have the most only, so that a
deployment with many tenants has a bounded number of series.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean
from typing import TYPE_CHECKING, Any

from cairn.connectors.port import ConnectorState
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError
from cairn.kernel.metrics import Metric

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from cairn.connectors.connector import Registered
    from cairn.kernel.metrics import Metrics
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions

MOST_WORKSPACES = 100
MOST_TICKETS = 100_000
"""Up to which a queue is counted."""

SICK = frozenset({ConnectorState.TIMEOUT, ConnectorState.CRASHED, ConnectorState.DEGRADED})
UNKNOWN = frozenset({ConnectorState.CONFIGURED, ConnectorState.SHUTDOWN})
"""Never started, or ended on purpose: neither well nor unwell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Standing:
    """What waits in one workspace, and how its connectors are, by name."""

    workspace_id: UUID
    pending: int
    depth: int
    well: Mapping[str, bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class TellGauges:
    """Counts every workspace. One that fails is told to `report`; the others are counted."""

    workspaces: Callable[[], Sequence[UUID]]
    transactions: Transactions[Stores]
    metrics: Metrics
    report: Callable[[str, dict[str, Any]], None]

    def __call__(self) -> dict[str, int]:
        """Tell the gauges and return the totals."""
        standings = [item for item in map(self._standing, self.workspaces()) if item is not None]
        self._tell(
            Metric.APPROVALS_PENDING, {item.workspace_id: item.pending for item in standings}
        )
        self._tell(Metric.TICKET_QUEUE_DEPTH, {item.workspace_id: item.depth for item in standings})
        self._tell_connectors(standings)
        for seldom in (Metric.CHAT_SESSIONS, Metric.CHAT_HANDOFFS):
            self.metrics(seldom, 0)
        return {
            "approvals_pending": sum(item.pending for item in standings),
            "tickets_queued": sum(item.depth for item in standings),
            "connectors": sum(len(item.well) for item in standings),
        }

    def _standing(self, workspace_id: UUID) -> _Standing | None:
        try:
            with self.transactions.reading(system_principal(workspace_id)) as stores:
                return _Standing(
                    workspace_id=workspace_id,
                    pending=stores.approvals.pending(),
                    depth=stores.tickets.depth(MOST_TICKETS),
                    well=dict(filter(None, map(_well, stores.connectors.all()))),
                )
        except CairnError as error:
            fields = {"workspace_id": str(workspace_id), "reason": error.reason}
            self.report("gauges.not_told", fields)
            return None

    def _tell(self, metric: Metric, counts: Mapping[UUID, int]) -> None:
        self.metrics(metric, sum(counts.values()))
        most = sorted(counts.items(), key=lambda item: -item[1])[:MOST_WORKSPACES]
        for workspace_id, count in most:
            if count:
                self.metrics(metric, count, workspace=workspace_id)

    def _tell_connectors(self, standings: Sequence[_Standing]) -> None:
        every = [well for standing in standings for well in standing.well.values()]
        if every:
            self.metrics(Metric.CONNECTOR_HEALTH, mean(map(float, every)))
        worst = sorted(standings, key=lambda standing: all(standing.well.values()))[
            :MOST_WORKSPACES
        ]
        for item in worst:
            for name, well in item.well.items():
                self.metrics(
                    Metric.CONNECTOR_HEALTH,
                    float(well),
                    workspace=item.workspace_id,
                    connector=name,
                )


def _well(connector: Registered) -> tuple[str, bool] | None:
    """Return a connector's name and whether it is well; None while nobody knows."""
    health = connector.health
    if health.state in UNKNOWN and health.error is None:
        return None
    return connector.connector.name, health.state not in SICK and health.error is None
