"""Gauges: totals beside parts, of the workspaces that have the most, whatever fails in one."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from cairn.connectors.lifecycle import Health
from cairn.connectors.port import ConnectorState
from cairn.investigations.gauges import MOST_WORKSPACES, TellGauges
from cairn.kernel.access import Principal
from cairn.kernel.errors import Unavailable
from cairn.kernel.metrics import Metric


@dataclass
class Standing:
    pending: int = 0
    depth: int = 0
    connectors: dict[str, Health] = field(default_factory=dict[str, Health])


@dataclass
class Deployment:
    """Workspaces as the gauges see them; `away` does not answer."""

    standing: dict[UUID, Standing]
    away: UUID | None = None
    told: list[tuple[Metric, float, dict[str, object]]] = field(default_factory=list[Any])
    reports: list[str] = field(default_factory=list[str])

    @contextmanager
    def reading(self, principal: Principal, *, timeout_ms: int | None = None) -> Generator[Any]:
        if principal.workspace_id == self.away:
            raise Unavailable("The database does not answer.")
        one = self.standing[principal.workspace_id]
        connectors = [
            SimpleNamespace(connector=SimpleNamespace(name=name), health=health)
            for name, health in one.connectors.items()
        ]
        yield SimpleNamespace(
            approvals=SimpleNamespace(pending=lambda: one.pending),
            tickets=SimpleNamespace(depth=lambda most: min(most, one.depth)),
            connectors=SimpleNamespace(all=lambda: connectors),
        )

    writing = reading

    def tell(self, metric: Metric, value: float = 1, /, **labels: object) -> None:
        self.told.append((metric, value, labels))

    def gauges(self) -> dict[str, int]:
        return TellGauges(
            workspaces=lambda: list(self.standing),
            transactions=self,
            metrics=self.tell,
            report=lambda event, _: self.reports.append(event),
        )()

    def of(self, metric: Metric) -> Sequence[tuple[float, dict[str, object]]]:
        return [(value, labels) for one, value, labels in self.told if one is metric]


ONE, TWO = UUID(int=1), UUID(int=2)


def test_totals_are_told_beside_the_parts_that_have_something() -> None:
    deployment = Deployment({ONE: Standing(pending=2, depth=3), TWO: Standing(depth=4)})
    assert deployment.gauges() == {"approvals_pending": 2, "tickets_queued": 7, "connectors": 0}
    assert deployment.of(Metric.APPROVALS_PENDING) == [(2, {}), (2, {"workspace": ONE})]
    assert deployment.of(Metric.TICKET_QUEUE_DEPTH) == [
        (7, {}),
        (4, {"workspace": TWO}),
        (3, {"workspace": ONE}),
    ]


def test_nothing_waiting_is_a_zero_and_not_silence() -> None:
    deployment = Deployment({})
    deployment.gauges()
    assert deployment.of(Metric.APPROVALS_PENDING) == [(0, {})]
    assert deployment.of(Metric.TICKET_QUEUE_DEPTH) == [(0, {})]
    assert deployment.of(Metric.CONNECTOR_HEALTH) == []


def test_no_chat_is_a_zero_and_not_silence() -> None:
    deployment = Deployment({})
    deployment.gauges()
    assert deployment.of(Metric.CHAT_SESSIONS) == [(0, {})]
    assert deployment.of(Metric.CHAT_HANDOFFS) == [(0, {})]


def test_a_connector_is_well_or_not_and_one_never_started_neither() -> None:
    connectors = {
        "good": Health(state=ConnectorState.READY),
        "signed-out": Health(state=ConnectorState.READY, error="connector-unauthorised"),
        "gone": Health(state=ConnectorState.DEGRADED, error="connector-crashed"),
        "new": Health(),
    }
    deployment = Deployment({ONE: Standing(connectors=connectors)})
    assert deployment.gauges()["connectors"] == 3
    (share, _), *parts = deployment.of(Metric.CONNECTOR_HEALTH)
    assert share == 1 / 3
    assert parts == [
        (1.0, {"workspace": ONE, "connector": "good"}),
        (0.0, {"workspace": ONE, "connector": "signed-out"}),
        (0.0, {"workspace": ONE, "connector": "gone"}),
    ]


def test_a_workspace_that_fails_leaves_the_others_counted() -> None:
    deployment = Deployment({ONE: Standing(pending=2), TWO: Standing(pending=1)}, away=ONE)
    assert deployment.gauges()["approvals_pending"] == 1
    assert deployment.reports == ["gauges.not_told"]


def test_of_many_workspaces_those_with_the_most_are_told() -> None:
    many = {UUID(int=n): Standing(depth=n) for n in range(1, MOST_WORKSPACES + 51)}
    deployment = Deployment(many)
    deployment.gauges()
    (total, labels), *parts = deployment.of(Metric.TICKET_QUEUE_DEPTH)
    assert (total, labels) == (sum(item.depth for item in many.values()), {})
    assert [value for value, _ in parts] == list(range(MOST_WORKSPACES + 50, 50, -1))
