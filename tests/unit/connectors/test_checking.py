"""The scheduled look at connectors."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from tests.support.remembering import NOON

from cairn.connectors.lifecycle import EVERY, CheckConnectors, Health
from cairn.connectors.port import ConnectorState
from cairn.kernel.errors import NotFound
from cairn.kernel.ids import new_id

WELL = Health(state=ConnectorState.READY)
DEGRADED = Health(state=ConnectorState.DEGRADED, error="manifest-changed")


@dataclass
class Fleet:
    """Connectors that are due; looking at one takes ten seconds."""

    health: dict[str, Health | Exception]
    workspace_id: UUID = field(default_factory=new_id)
    asked: list[tuple[datetime, int]] = field(default_factory=list[tuple[datetime, int]])
    looked: list[str] = field(default_factory=list[str])
    told: list[tuple[str, object]] = field(default_factory=list[tuple[str, object]])

    def due(self, before: datetime, limit: int) -> Sequence[tuple[UUID, str]]:
        self.asked.append((before, limit))
        return [(self.workspace_id, name) for name in self.health]

    def check(self, workspace_id: UUID, name: str) -> Health:
        self.looked.append(name)
        found = self.health[name]
        if isinstance(found, Exception):
            raise found
        return found

    def run(self, seconds: float) -> dict[str, int]:
        return CheckConnectors(
            due=self.due,
            host=self,
            clock=lambda: NOON,
            stopwatch=lambda: 10.0 * len(self.looked),
            report=lambda event, fields: self.told.append((event, fields["connector"])),
        )(seconds=seconds)


def test_all_that_are_due_are_looked_at_and_those_not_well_are_told() -> None:
    fleet = Fleet({"a": WELL, "b": DEGRADED, "c": NotFound("gone"), "d": WELL})

    assert fleet.run(60) == {"looked_at": 4, "well": 2, "left": 0}
    assert fleet.told == [("connector.not_well", "b"), ("connector.not_checked", "c")]
    assert fleet.asked[0][0] == NOON - EVERY


def test_what_there_is_no_time_for_is_left() -> None:
    fleet = Fleet(dict.fromkeys("abcd", WELL))

    assert fleet.run(15) == {"looked_at": 2, "well": 2, "left": 2}


def test_the_schedule_comes_more_often_than_one_is_due() -> None:
    assert timedelta(minutes=5) > EVERY
