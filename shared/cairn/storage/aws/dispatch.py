"""Sends what the outbox holds: messages to the embed queue, executions of the machines.

A send that fails loses nothing: the row stays, is marked unsent, and is sent by the next write of
this process or by the hourly sweep.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from cairn.access.system import system_principal
from cairn.errors import CairnError
from cairn.ingestion.ports import Topic
from cairn.storage.aws.clients import aws_client
from cairn.traces import TRACEPARENT, current

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from cairn.clock import Clock
    from cairn.ingestion.ports import OutboxRow, WriteStores
    from cairn.transaction import Transactions

STALE_AFTER = timedelta(minutes=15)
"""How long a sent row may stay unfinished before it is sent again."""

SWEEP_ROWS = 200

REFERENCES = MappingProxyType(
    {
        Topic.INGESTION: "ingestion_id",
        Topic.CONSOLIDATION: "run_id",
        Topic.REBUILD: "rebuild_id",
    }
)
"""What the machine that a topic wakes calls the id it is woken for."""


@dataclass
class AwsDispatcher:
    """Implements `ingestion.ports.Dispatcher`; one a process.

    `queues` are URLs and `machines` ARNs by topic. `claim(limit, stale, now)` hands out
    unfinished rows of any workspace, each to one caller.
    """

    queues: Mapping[str, str]
    machines: Mapping[str, str]
    transactions: Transactions[WriteStores]
    claim: Callable[[int, datetime, datetime], Sequence[OutboxRow]]
    clock: Clock
    log: Callable[[str, dict[str, Any]], None]
    _armed: bool = field(default=False, init=False)

    def send(self, rows: Sequence[OutboxRow]) -> None:
        """Send rows; when the last send failed, what it left behind is sent too."""
        failed = self._send_each(rows)
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
        for row in rows:
            try:
                self._send_one(row)
            except (BotoCoreError, ClientError) as exc:
                self.log("outbox.send_failed", {"topic": row.topic, "error": type(exc).__name__})
                failed.append(row)
        return failed

    def _send_one(self, row: OutboxRow) -> None:
        if row.topic in self.queues:
            self._queue(row)
        elif row.topic in self.machines:
            self._start(row)
        else:
            raise RuntimeError(f"this function has neither queue nor machine for {row.topic}")

    def _queue(self, row: OutboxRow) -> None:
        ids = (
            {"outbox_ids": [str(row.id)], "position": row.position}
            if row.topic == Topic.EMBED
            else {"outbox_id": str(row.id)}
        )
        body = json.dumps({"workspace_id": str(row.workspace_id), **ids})
        aws_client("sqs").send_message(
            QueueUrl=self.queues[row.topic], MessageBody=body, **_traced()
        )

    def _start(self, row: OutboxRow) -> None:
        """Start a machine; the name makes a second start of the same attempt do nothing."""
        machines = aws_client("stepfunctions")
        reference = row.reference or row.id
        given = {"workspace_id": str(row.workspace_id), REFERENCES[row.topic]: str(reference)}
        name = f"{reference}-{row.attempt}" if row.attempt else str(reference)
        try:
            machines.start_execution(
                stateMachineArn=self.machines[row.topic], name=name, input=json.dumps(given)
            )
        except machines.exceptions.ExecutionAlreadyExists:
            self.log("outbox.execution_exists", {"reference": str(reference)})

    def _mark_unsent(self, rows: Sequence[OutboxRow]) -> None:
        for workspace_id in {row.workspace_id for row in rows}:
            ids = [row.id for row in rows if row.workspace_id == workspace_id]
            try:
                with self.transactions.writing(system_principal(workspace_id)) as stores:
                    stores.outbox.unsent(ids)
            except CairnError as exc:  # the row goes stale in 15 minutes and is sent then
                self.log("outbox.mark_failed", {"error": exc.code})


def _traced() -> dict[str, Any]:
    """Return the attributes that carry the present trace with a message, none without one."""
    traceparent = current()
    if traceparent is None:
        return {}
    value = {"DataType": "String", "StringValue": traceparent}
    return {"MessageAttributes": {TRACEPARENT: value}}
