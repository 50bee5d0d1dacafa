"""Sends what the outbox holds: messages, executions of machines, answers to those that wait.

A send that fails loses nothing: the row stays, is marked unsent, and is sent by the next write of
this process or by the hourly sweep.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from cairn.adapters.aws.clients import aws_client
from cairn.adapters.aws.messages import send_message
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError
from cairn.kernel.traces import TRACEPARENT, current, current_trace_id, joined
from cairn.writing.ports import Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from botocore.exceptions import ClientError

    from cairn.investigations.run.resume import Answer
    from cairn.kernel.clock import Clock
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.writing.ports import OutboxRow

STALE_AFTER = timedelta(minutes=15)
"""How long a sent row may stay unfinished before it is sent again."""

SWEEP_ROWS = 200

EMBED_ROWS = 25
"""Rows that one message to the embed stage names at the most."""

EMBED_NODES = 100
"""Nodes that they name together: one try of a message has to end within the function's time."""

TRACED = frozenset({Topic.TICKET, Topic.INVESTIGATION, Topic.ESCALATION, Topic.WORKFLOW})
"""Rows whose trace is their entry's, also when a sweep sends them; others have the sender's."""

REFERENCES = MappingProxyType(
    {
        Topic.INGESTION: "ingestion_id",
        Topic.CONSOLIDATION: "run_id",
        Topic.REBUILD: "rebuild_id",
        Topic.INVESTIGATION: "investigation_id",
        Topic.TICKET: "ticket_id",
        Topic.ESCALATION: "investigation_id",
        Topic.WORKFLOW: "workflow_run_id",
        Topic.ASSIGNMENT: "network_id",
        Topic.SOURCE: "source_id",
        Topic.CHANNEL: "about_id",
    }
)
"""What a machine or a queue's reader calls the id it is woken for."""

RERUN = (Topic.INVESTIGATION, Topic.WORKFLOW)
"""Topics whose machines may run again and again for one thing: rows say which run it is."""

DONE_WHEN_SENT = (*RERUN, Topic.APPROVAL, Topic.SOURCE)
"""Topics whose rows are done once they are sent: what is lost later is found standing still."""

NOBODY_WAITS = ("TaskDoesNotExist", "TaskTimedOut", "InvalidToken")
"""Answers of a machine whose execution is gone or has gone on."""

NO_EXECUTION = "ExecutionDoesNotExist"


@dataclass
class AwsDispatcher:
    """Implements `Dispatcher`; one a process.

    `queues` are URLs and `machines` ARNs by topic. `claim(limit, stale, now)` hands out
    unfinished rows of any workspace, each to one caller. `answer` returns what the execution that
    waits for an approval is told, None while nothing is decided; `again` lets another one begin
    where that one is gone.
    """

    queues: Mapping[str, str]
    machines: Mapping[str, str]
    transactions: Transactions[Stores]
    claim: Callable[[int, datetime, datetime], Sequence[OutboxRow]]
    clock: Clock
    log: Callable[[str, dict[str, Any]], None]
    answer: Callable[[OutboxRow], Answer | None] | None = None
    again: Callable[[OutboxRow], object] | None = None
    _armed: bool = field(default=False, init=False)

    def send(self, rows: Sequence[OutboxRow]) -> None:
        """Send rows; when the last send failed, what it left behind is sent too."""
        failed = self._send_each(rows) if rows else []
        if failed:
            self._armed = True
            self._mark_unsent(failed)
        elif self._armed:
            self._armed = False
            self.sweep()

    def sweep(self) -> int:
        """Send rows that were never sent or not finished in time; return how many."""
        now = self.clock()
        rows = self.claim(SWEEP_ROWS, now - STALE_AFTER, now)
        failed = self._send_each(rows)
        if failed:
            self._armed = True
            self._mark_unsent(failed)
        return len(rows) - len(failed)

    def _send_each(self, rows: Sequence[OutboxRow]) -> list[OutboxRow]:
        from botocore.exceptions import BotoCoreError, ClientError

        failed: list[OutboxRow] = []
        for some in _messages(rows):
            try:
                self._send_one(some[0], some[1:])
            except (BotoCoreError, ClientError, CairnError) as exc:
                detail = {"topic": some[0].topic, "error": type(exc).__name__}
                self.log("outbox.send_failed", detail)
                failed += some
        self._forget([row for row in rows if row.topic in DONE_WHEN_SENT and row not in failed])
        return failed

    def _send_one(self, row: OutboxRow, more: Sequence[OutboxRow]) -> None:
        if row.topic in self.queues:
            self._queue(row, more)
        elif row.topic in self.machines:
            self._start(row)
        elif row.topic == Topic.APPROVAL and self.answer is not None:
            self._tell(row, self.answer(row))
        else:
            raise RuntimeError(f"this function has neither queue nor machine for {row.topic}")

    def _queue(self, row: OutboxRow, more: Sequence[OutboxRow]) -> None:
        ids: dict[str, Any] = (
            {
                "outbox_ids": [str(item.id) for item in (row, *more)],
                "position": max(item.position for item in (row, *more)),
                "nodes": sum(len(item.node_ids) for item in (row, *more)),
            }
            if row.topic == Topic.EMBED
            else {"outbox_id": str(row.id)}
        )
        if row.topic in REFERENCES and row.reference is not None:
            ids[REFERENCES[row.topic]] = str(row.reference)
        body = json.dumps({"workspace_id": str(row.workspace_id), **ids})
        send_message(
            self.queues[row.topic],
            body,
            workspace_id=row.workspace_id,
            traceparent=self._trace(row),
        )

    def _trace(self, row: OutboxRow) -> str | None:
        """Return the trace of a row: of agents' work, that of the entry it was kept with."""
        if row.topic not in TRACED:
            return current()
        with self.transactions.reading(system_principal(row.workspace_id)) as stores:
            trace_id = stores.ledger.trace_at(row.position)
        elsewhere = trace_id is not None and trace_id != current_trace_id()
        return joined(trace_id, row.id) if elsewhere else current()

    def _start(self, row: OutboxRow) -> None:
        """Start a machine; the name makes a second start of the same attempt or run do nothing."""
        machines = aws_client("stepfunctions")
        reference = row.reference or row.id
        start: dict[str, Any] = {
            "workspace_id": str(row.workspace_id),
            REFERENCES[row.topic]: str(reference),
        }
        name = f"{reference}-{row.attempt}" if row.attempt else str(reference)
        if row.topic in RERUN:
            name, start["run"] = f"{reference}-{row.batch}", row.batch
        start |= {TRACEPARENT: trace} if (trace := self._trace(row)) else {}
        try:
            machines.start_execution(
                stateMachineArn=self.machines[row.topic], name=name, input=json.dumps(start)
            )
        except machines.exceptions.ExecutionAlreadyExists:
            self.log("outbox.execution_exists", {"reference": str(reference)})

    def _tell(self, row: OutboxRow, answer: Answer | None) -> None:
        """Answer the execution that waits; where it is gone, another one goes on."""
        if answer is None or (answer.token is not None and self._send_answer(answer.token, answer)):
            return
        if self._lives(answer.execution):
            return  # it has its answer, or looks for itself before it waits
        self.log("outbox.nobody_waits", {"reference": str(row.reference)})
        if self.again is not None:
            self.again(row)

    def _send_answer(self, token: str, answer: Answer) -> bool:
        """Send the answer; False when nobody waits with this token (any more)."""
        from botocore.exceptions import ClientError

        machines = aws_client("stepfunctions")
        try:
            machines.send_task_success(taskToken=token, output=json.dumps(answer.output))
        except ClientError as exc:
            if _code(exc) not in NOBODY_WAITS:
                raise
            return False
        return True

    def _lives(self, execution: str) -> bool:
        """Return whether an execution of an investigation is under way."""
        from botocore.exceptions import ClientError

        machine = self.machines[Topic.INVESTIGATION]
        arn = f"{machine.replace(':stateMachine:', ':execution:')}:{execution}"
        try:
            description = aws_client("stepfunctions").describe_execution(executionArn=arn)
        except ClientError as exc:
            if _code(exc) != NO_EXECUTION:
                raise
            return False
        return description["status"] == "RUNNING"

    def _forget(self, rows: Sequence[OutboxRow]) -> None:
        """Remove rows whose work is done with the sending; one that stays is sent again."""
        for workspace_id in {row.workspace_id for row in rows}:
            ids = [row.id for row in rows if row.workspace_id == workspace_id]
            try:
                with self.transactions.writing(system_principal(workspace_id)) as stores:
                    stores.outbox.done(ids)
            except CairnError as exc:
                self.log("outbox.mark_failed", {"error": exc.code})

    def _mark_unsent(self, rows: Sequence[OutboxRow]) -> None:
        for workspace_id in {row.workspace_id for row in rows}:
            ids = [row.id for row in rows if row.workspace_id == workspace_id]
            try:
                with self.transactions.writing(system_principal(workspace_id)) as stores:
                    stores.outbox.unsent(ids)
            except CairnError as exc:  # the row goes stale in 15 minutes and is sent then
                self.log("outbox.mark_failed", {"error": exc.code})


def _messages(rows: Sequence[OutboxRow]) -> list[list[OutboxRow]]:
    """Return the rows of each message: rows to embed go together, others one by one."""
    messages: list[list[OutboxRow]] = []
    embeds: dict[UUID, list[OutboxRow]] = {}
    for row in rows:
        some = embeds.get(row.workspace_id, [])
        if row.topic == Topic.EMBED and _fits(some, row):
            some.append(row)
            continue
        messages.append([row])
        if row.topic == Topic.EMBED:
            embeds[row.workspace_id] = messages[-1]
    return messages


def _fits(some: Sequence[OutboxRow], row: OutboxRow) -> bool:
    nodes = sum(len(item.node_ids) for item in (*some, row))
    return 0 < len(some) < EMBED_ROWS and nodes <= EMBED_NODES


def _code(exc: ClientError) -> str:
    return str(exc.response.get("Error", {}).get("Code"))
