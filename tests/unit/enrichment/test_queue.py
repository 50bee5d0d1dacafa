"""What an invocation of the embed stage works off, and what costs a message one of its tries."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from cairn.enrichment.queue import NODES_AT_ONCE, SPARE_SECONDS, EmbedMessage, WorkOff
from cairn.kernel.errors import Unavailable
from cairn.kernel.transaction import LedgerBusy

ROOMY = 10 * SPARE_SECONDS


@dataclass
class Stage:
    """An embed stage: each part takes `takes` seconds, rows of `raising` raise."""

    left: float = ROOMY
    takes: float = 0.0
    raising: dict[int, Exception] = field(default_factory=dict[int, Exception])
    full: bool = False
    tried: list[list[int]] = field(default_factory=list[list[int]])
    anew: list[str] = field(default_factory=list[str])

    def rows(self, _workspace_id: UUID, outbox_ids: Collection[UUID]) -> int:
        self.tried.append([row.int for row in outbox_ids])
        self.left -= self.takes
        for row in outbox_ids:
            if row.int in self.raising:
                raise self.raising[row.int]
        return len(outbox_ids)

    def send_anew(self, message: EmbedMessage) -> None:
        if self.full:
            raise Unavailable("The queue does not take messages.", reason="queue")
        self.anew.append(message.id)

    def work_off(self, *messages: EmbedMessage) -> Sequence[str]:
        def say(_event: str, _fields: dict[str, Any]) -> None: ...

        made = WorkOff(rows=self.rows, send_anew=self.send_anew, inform=say, warn=say)
        return made(messages, lambda: self.left)


def message(row: int, *, nodes: int = 1, workspace: int = 9) -> EmbedMessage:
    return EmbedMessage(
        id=str(row),
        workspace_id=UUID(int=workspace),
        outbox_ids=(UUID(int=row),),
        nodes=nodes,
        body="{}",
    )


def test_messages_of_a_workspace_are_embedded_together() -> None:
    stage = Stage()
    assert stage.work_off(message(1), message(2), message(3, workspace=8)) == []
    assert stage.tried == [[1, 2], [3]]


def test_one_bad_message_comes_again_and_the_others_do_not() -> None:
    stage = Stage(raising={2: Unavailable("The embedder did not answer.")})
    assert stage.work_off(message(1), message(2), message(3)) == ["2"]
    assert stage.anew == []


def test_a_workspace_with_a_backlog_leaves_the_others_their_turn() -> None:
    stage = Stage()
    greedy = [message(row, nodes=NODES_AT_ONCE) for row in (1, 2, 3)]
    stage.work_off(*greedy, message(4, workspace=8))
    assert stage.tried == [[1], [4], [2], [3]]


def test_what_there_is_no_time_for_is_sent_anew_and_costs_no_try() -> None:
    stage = Stage(left=SPARE_SECONDS, takes=1.0)
    assert stage.work_off(*(message(row, nodes=NODES_AT_ONCE) for row in (1, 2, 3))) == []
    assert (stage.tried, stage.anew) == ([[1]], ["2", "3"])


def test_the_first_part_is_always_begun_so_that_no_message_goes_round_for_good() -> None:
    stage = Stage(left=0.0)
    assert stage.work_off(message(1)) == []
    assert (stage.tried, stage.anew) == ([[1]], [])


def test_a_ledger_that_others_hold_costs_no_try() -> None:
    busy = LedgerBusy(retry_after=1.0)
    stage = Stage(raising={1: busy})
    assert stage.work_off(message(1), message(2), message(3, workspace=8)) == []
    assert (stage.tried, stage.anew) == ([[1, 2], [3]], ["1", "2"])


def test_what_the_queue_does_not_take_back_comes_again_by_itself() -> None:
    busy = LedgerBusy(retry_after=1.0)
    stage = Stage(raising={1: busy}, full=True)
    assert stage.work_off(message(1)) == ["1"]
