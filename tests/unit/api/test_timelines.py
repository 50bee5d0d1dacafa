"""Open timelines: one look for all of a workspace, nothing lost, nothing left behind."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import anyio
from tests.support.remembering import NOON

from cairn.api.console.timelines import Part, Reader, Timelines, event, followed
from cairn.api.options import Pace
from cairn.investigations.ports import Progress
from cairn.kernel.errors import Unavailable
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

QUICK = Pace(look=0.001, heartbeat=0.0)
PAGE = 2


@dataclass
class Desk:
    """Investigations that are `seq` lines long; it counts who looks and what is written."""

    latest: dict[UUID, Progress] = field(default_factory=dict["UUID", Progress])
    looks: list[int] = field(default_factory=list[int])
    written: Counter[tuple[UUID, int]] = field(default_factory=Counter["tuple[UUID, int]"])
    away: int = 0

    def add(self, seq: int = 1) -> UUID:
        id_ = new_id()
        self.latest[id_] = Progress(id=id_, moved_at=NOON, ended_at=None, seq=seq)
        return id_

    def end(self, id_: UUID, seq: int) -> None:
        self.latest[id_] = replace(self.latest[id_], ended_at=NOON, seq=seq)

    def look(self, ids: Sequence[UUID]) -> Mapping[UUID, Progress]:
        self.looks.append(len(ids))
        if self.away:
            self.away -= 1
            raise Unavailable("The database is away.")
        return {each: self.latest[each] for each in ids}

    def reader(self, workspace_id: UUID, id_: UUID) -> Reader:
        def write(after: int) -> Part:
            self.written[id_, after] += 1
            last = min(after + PAGE, self.latest[id_].seq)
            lines = " ".join(str(number) for number in range(after + 1, last + 1))
            return Part(html=lines.encode(), last=last)

        return Reader(
            workspace_id=workspace_id,
            investigation_id=id_,
            look=self.look,
            write=write,
            admit=lambda: None,
        )


async def read(timelines: Timelines, reader: Reader, pace: Pace, after: int = 0) -> list[str]:
    parts = [part.decode() async for part in followed(timelines, reader, pace, after)]
    return [part for part in parts if not part.startswith(":")]


def test_many_who_watch_cost_one_look_and_one_writing() -> None:
    desk, timelines, workspace = Desk(), Timelines(), new_id()
    ids = [desk.add() for _ in range(5)]
    for id_ in ids:
        desk.end(id_, 1)
    texts: list[list[str]] = []

    async def one(id_: UUID) -> None:
        reader = desk.reader(workspace, id_)
        texts.append(await read(timelines, reader, Pace(look=60.0)))

    async def main() -> None:
        async with anyio.create_task_group() as group:
            for number in range(100):
                group.start_soon(one, ids[number % 5])

    anyio.run(main)
    assert len(desk.looks) <= len(ids)
    assert set(desk.written.values()) == {1}
    assert len(texts) == 100
    assert {text[-1] for text in texts} == {"event: end\ndata: ended\n\n"}


def test_a_reader_gets_every_line_after_its_last_however_many_there_are() -> None:
    desk, timelines = Desk(), Timelines()
    id_ = desk.add()
    desk.end(id_, 5)
    reader = desk.reader(new_id(), id_)
    texts = anyio.run(read, timelines, reader, QUICK, 1)
    assert texts == [
        "event: lines\nid: 3\ndata: 2 3\n\n",
        "event: lines\nid: 5\ndata: 4 5\n\n",
        "event: end\ndata: ended\n\n",
    ]


def test_a_database_that_is_away_for_a_moment_ends_nothing() -> None:
    desk, timelines = Desk(away=3), Timelines()
    id_ = desk.add()
    desk.end(id_, 1)
    texts = anyio.run(read, timelines, desk.reader(new_id(), id_), QUICK)
    assert texts[-1].startswith("event: end")


def test_who_leaves_is_not_looked_at_any_more() -> None:
    desk, timelines, workspace = Desk(), Timelines(), new_id()
    stays, left = desk.add(), desk.add()

    async def main() -> None:
        leaving = followed(timelines, desk.reader(workspace, left), QUICK, 0)
        await anext(leaving)
        await leaving.aclose()
        desk.end(stays, 1)
        desk.looks.clear()
        await read(timelines, desk.reader(workspace, stays), QUICK)

    anyio.run(main)
    assert set(desk.looks) == {1}


def test_each_line_of_an_event_is_data_so_that_no_text_makes_another_event() -> None:
    text = "a\n\nevent: end\ndata: x\r\nid: 9\rdata"
    written = event("lines", text.encode(), id_=1).decode()
    assert written.endswith("\n\n")
    body = written.removesuffix("\n\n").split("\n")
    assert body[:2] == ["event: lines", "id: 1"]
    assert all(line.startswith("data: ") for line in body[2:])
    assert "\r" not in written
