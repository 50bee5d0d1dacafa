"""Outbox rows to messages and executions; a failed send is marked, and made good by the next."""

# pyright: basic

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from tests.fakes.stores import InMemoryTransactions
from tests.support.remembering import NOON, admin_of

from cairn.adapters.aws import dispatch
from cairn.adapters.aws import messages as sent_messages
from cairn.adapters.aws.dispatch import (
    EMBED_NODES,
    EMBED_ROWS,
    NOBODY_WAITS,
    STALE_AFTER,
    SWEEP_ROWS,
    AwsDispatcher,
)
from cairn.investigations.run.resume import Answer
from cairn.kernel import traces
from cairn.kernel.access import Principal
from cairn.kernel.errors import Unavailable
from cairn.kernel.ids import new_id
from cairn.ledger.entry import SYSTEM
from cairn.writing.append import append
from cairn.writing.entries import Entries
from cairn.writing.ports import OutboxRow, Topic

MACHINE = "arn:aws:states:eu-central-1:111122223333:stateMachine:ingestion"
ANSWER = Answer(token="t", execution="i-1", output={"state": "ACTING", "run": 1})
EXECUTIONS = "arn:aws:states:eu-central-1:111122223333:execution:ingestion:"


class AlreadyExistsError(Exception):
    pass


@dataclass
class Cloud:
    """The queue and the machine; while `down`, nothing gets through."""

    messages: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    attributes: list[dict[str, Any] | None] = field(default_factory=list["dict[str, Any] | None"])
    executions: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    answered: list[tuple[str, dict[str, Any]]] = field(
        default_factory=list[tuple[str, dict[str, Any]]]
    )
    refuses: str = ""  # an answer: with this code
    forbids: str = ""  # to look at executions: with this code
    running: set[str] = field(default_factory=set[str])
    ended: set[str] = field(default_factory=set[str])
    down: bool = False

    @property
    def exceptions(self) -> Any:
        return type("Exceptions", (), {"ExecutionAlreadyExists": AlreadyExistsError})

    def client(self, _service: str) -> "Cloud":
        return self

    def send_message(
        self,
        *,
        QueueUrl: str,
        MessageBody: str,
        MessageGroupId: str,
        MessageAttributes: dict[str, Any] | None = None,
    ) -> None:
        self._answer(QueueUrl)
        assert json.loads(MessageBody)["workspace_id"] == MessageGroupId  # they take turns
        self.messages.append(json.loads(MessageBody))
        self.attributes.append(MessageAttributes)

    def start_execution(self, *, stateMachineArn: str, name: str, input: str) -> None:
        self._answer(stateMachineArn)
        if name in self.executions:
            raise AlreadyExistsError
        self.executions[name] = json.loads(input)

    def send_task_success(self, *, taskToken: str, output: str) -> None:
        self._answer("states")
        if self.refuses:
            raise ClientError({"Error": {"Code": self.refuses}}, "SendTaskSuccess")
        self.answered.append((taskToken, json.loads(output)))

    def describe_execution(self, *, executionArn: str) -> dict[str, str]:
        name = executionArn.removeprefix(EXECUTIONS)
        if self.forbids:
            raise ClientError({"Error": {"Code": self.forbids}}, "DescribeExecution")
        if name not in self.running | self.ended:
            raise ClientError({"Error": {"Code": "ExecutionDoesNotExist"}}, "DescribeExecution")
        return {"status": "RUNNING" if name in self.running else "ABORTED"}

    def _answer(self, place: str) -> None:
        if self.down:
            raise EndpointConnectionError(endpoint_url=place)


@dataclass
class Outbox:
    """A workspace's outbox with a dispatcher; what is claimed is recorded."""

    cloud: Cloud
    transactions: InMemoryTransactions
    principal: Principal
    claims: list[tuple[int, datetime, datetime]] = field(
        default_factory=list[tuple[int, datetime, datetime]]
    )
    log: list[str] = field(default_factory=list[str])
    decided: Answer | None = ANSWER
    resumed: list[UUID | None] = field(default_factory=list["UUID | None"])

    def __post_init__(self) -> None:
        queues = (Topic.EMBED, Topic.WEBHOOK, Topic.TICKET, Topic.ESCALATION)
        self.dispatcher = AwsDispatcher(
            queues=dict.fromkeys(queues, "https://queue.example.org"),
            machines=dict.fromkeys((Topic.INGESTION, Topic.INVESTIGATION), MACHINE),
            answer=lambda _: self.decided,
            again=lambda row: self.resumed.append(row.reference),
            transactions=self.transactions,  # pyright: ignore
            claim=self._claim,
            clock=lambda: NOON,
            log=lambda event, _: self.log.append(event),
        )

    @property
    def tables(self) -> Any:
        return self.transactions.workspaces[self.principal.workspace_id]

    def add(self, topic: str = Topic.EMBED, **changes: Any) -> OutboxRow:
        row = OutboxRow(
            workspace_id=self.principal.workspace_id,
            id=new_id(),
            topic=topic,
            position=7,
            **changes,
        )
        with self.transactions.writing(self.principal) as stores:
            stores.outbox.add(row, NOON)
        return row

    def _claim(self, limit: int, stale: datetime, now: datetime) -> Sequence[OutboxRow]:
        self.claims.append((limit, stale, now))
        return [row for row in self.tables.outbox.values() if row.id in self.tables.unsent]


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Cloud:
    cloud = Cloud()
    for module in (dispatch, sent_messages):
        monkeypatch.setattr(module, "aws_client", cloud.client)
    return cloud


@pytest.fixture
def outbox(cloud: Cloud) -> Outbox:
    transactions, principal = InMemoryTransactions(), admin_of(new_id())
    transactions.create_workspace(principal.workspace_id)
    return Outbox(cloud, transactions, principal)


def test_a_message_holds_ids_and_a_position(outbox: Outbox, cloud: Cloud) -> None:
    row = outbox.add(node_ids=(new_id(),))
    outbox.dispatcher.send([row])
    assert cloud.messages == [
        {
            "workspace_id": str(row.workspace_id),
            "outbox_ids": [str(row.id)],
            "position": 7,
            "nodes": 1,
        }
    ]
    assert not outbox.tables.unsent


def test_rows_to_embed_go_together_and_others_one_by_one(outbox: Outbox, cloud: Cloud) -> None:
    embeds = [outbox.add() for _ in range(EMBED_ROWS + 1)]
    hooks = [outbox.add(Topic.WEBHOOK) for _ in range(2)]
    outbox.dispatcher.send([embeds[0], hooks[0], *embeds[1:], hooks[1]])

    named = [message["outbox_ids"] for message in cloud.messages if "outbox_ids" in message]
    assert named == [[str(embed.id) for embed in embeds[:-1]], [str(embeds[-1].id)]]
    assert len(cloud.messages) == 4


def test_a_message_names_no_more_nodes_than_one_try_embeds_in_its_time(
    outbox: Outbox, cloud: Cloud
) -> None:
    batch = tuple(new_id() for _ in range(EMBED_NODES))
    rows = [outbox.add(node_ids=some) for some in (batch, batch[:60], batch[:40], batch[:1])]
    outbox.dispatcher.send(rows)
    assert [message["nodes"] for message in cloud.messages] == [100, 100, 1]


def test_rows_whose_message_fails_are_all_unsent(outbox: Outbox, cloud: Cloud) -> None:
    cloud.down = True
    rows = [outbox.add(), outbox.add()]
    outbox.dispatcher.send(rows)
    assert outbox.tables.unsent == {row.id for row in rows}


def test_a_message_of_a_trace_carries_it_as_an_attribute(outbox: Outbox, cloud: Cloud) -> None:
    traceparent = traces.begun(new_id())
    with traces.within(traceparent):
        outbox.dispatcher.send([outbox.add()])
    outbox.dispatcher.send([outbox.add()])
    assert cloud.attributes == [
        {"traceparent": {"DataType": "String", "StringValue": traceparent}},
        None,
    ]


def test_a_swept_ticket_carries_the_trace_of_its_entry(cloud: Cloud) -> None:
    transactions, principal = InMemoryTransactions(), admin_of(new_id())
    transactions.create_workspace(principal.workspace_id)
    trace_id = new_id().hex
    with (
        transactions.writing(principal) as stores,
        traces.within(traces.joined(trace_id, new_id())),
    ):
        entries = Entries(
            workspace_id=principal.workspace_id,
            actor=SYSTEM,
            now=NOON,
            next_position=1,
            new_id=new_id,
            seal=lambda *_: b"",
        )
        position = entries.add("ticket.received", {}, {}, data_subjects=(), occurred_at=NOON)
        append(stores, entries.planned, NOON, new_id)  # pyright: ignore
    row = OutboxRow(
        workspace_id=principal.workspace_id,
        id=new_id(),
        topic=Topic.TICKET,
        position=position,
        reference=new_id(),
    )
    dispatcher = AwsDispatcher(
        queues={Topic.TICKET: "https://queue.example.org"},
        machines={},
        transactions=transactions,  # pyright: ignore
        claim=lambda *_: [row],
        clock=lambda: NOON,
        log=lambda *_: None,
    )
    dispatcher.sweep()
    [attributes] = cloud.attributes
    assert attributes is not None
    carried = traces.carried(
        {
            "messageAttributes": {
                "traceparent": {"stringValue": attributes["traceparent"]["StringValue"]}
            }
        }
    )
    assert traces.trace_id_of(carried) == trace_id


def test_an_ingestion_starts_the_machine_under_its_own_name(outbox: Outbox, cloud: Cloud) -> None:
    ingestion = new_id()
    outbox.dispatcher.send([outbox.add(Topic.INGESTION, reference=ingestion)])
    assert cloud.executions == {
        str(ingestion): {
            "workspace_id": str(outbox.principal.workspace_id),
            "ingestion_id": str(ingestion),
        }
    }


@pytest.mark.parametrize(
    ("topic", "named"), [(Topic.TICKET, "ticket_id"), (Topic.ESCALATION, "investigation_id")]
)
def test_the_queues_of_investigations_are_told_whom_it_is_about(
    outbox: Outbox, cloud: Cloud, topic: str, named: str
) -> None:
    row = outbox.add(topic, reference=new_id())
    outbox.dispatcher.send([row])
    (sent,) = cloud.messages
    assert sent == {
        "workspace_id": str(row.workspace_id),
        "outbox_id": str(row.id),
        named: str(row.reference),
    }
    assert set(outbox.tables.outbox) == {row.id}  # whoever takes it from the queue ends it


def test_a_run_of_an_investigation_is_one_execution_and_its_row_is_done(
    outbox: Outbox, cloud: Cloud
) -> None:
    investigation = new_id()
    rows = [outbox.add(Topic.INVESTIGATION, reference=investigation, batch=n) for n in (1, 2)]
    outbox.dispatcher.send([*rows, rows[0]])
    assert {name: given["run"] for name, given in cloud.executions.items()} == {
        f"{investigation}-1": 1,
        f"{investigation}-2": 2,
    }
    assert outbox.log == ["outbox.execution_exists"]
    assert not outbox.tables.outbox


def test_whoever_waits_for_a_person_is_told_where_the_investigation_is(
    outbox: Outbox, cloud: Cloud
) -> None:
    outbox.dispatcher.send([outbox.add(Topic.APPROVAL, reference=new_id())])
    assert cloud.answered == [("t", {"state": "ACTING", "run": 1})]
    assert not outbox.tables.outbox


def test_nobody_is_told_while_nothing_is_decided(outbox: Outbox, cloud: Cloud) -> None:
    outbox.decided = None
    outbox.dispatcher.send([outbox.add(Topic.APPROVAL, reference=new_id())])
    assert (cloud.answered, outbox.log, outbox.resumed) == ([], [], [])
    assert not outbox.tables.outbox


@pytest.mark.parametrize("ended", [True, False], ids=["ended", "unheard of"])
@pytest.mark.parametrize("code", [*NOBODY_WAITS, None])
def test_another_execution_goes_on_where_the_one_that_waited_is_gone(
    outbox: Outbox, cloud: Cloud, code: str | None, ended: bool
) -> None:
    cloud.refuses = code or ""
    cloud.ended = {ANSWER.execution} if ended else set()
    outbox.decided = ANSWER if code else replace(ANSWER, token=None)
    row = outbox.add(Topic.APPROVAL, reference=new_id())
    outbox.dispatcher.send([row])
    assert outbox.log == ["outbox.nobody_waits"]
    assert outbox.resumed == [row.reference]
    assert not outbox.tables.outbox


@pytest.mark.parametrize("code", [*NOBODY_WAITS, None])
def test_none_is_started_beside_one_that_lives(
    outbox: Outbox, cloud: Cloud, code: str | None
) -> None:
    cloud.refuses, cloud.running = code or "", {ANSWER.execution}
    outbox.decided = ANSWER if code else replace(ANSWER, token=None)
    outbox.dispatcher.send([outbox.add(Topic.APPROVAL, reference=new_id())])
    assert (cloud.answered, outbox.log, outbox.resumed) == ([], [], [])
    assert not outbox.tables.outbox


def test_none_is_started_while_nobody_can_look_whether_one_lives(
    outbox: Outbox, cloud: Cloud
) -> None:
    cloud.refuses, cloud.forbids = NOBODY_WAITS[0], "AccessDeniedException"
    row = outbox.add(Topic.APPROVAL, reference=new_id())
    outbox.dispatcher.send([row])
    assert outbox.resumed == []
    assert outbox.tables.unsent == {row.id}


def test_an_answer_that_does_not_get_through_is_sent_again(outbox: Outbox, cloud: Cloud) -> None:
    cloud.refuses = "ThrottlingException"
    row = outbox.add(Topic.APPROVAL, reference=new_id())
    outbox.dispatcher.send([row])
    assert outbox.tables.unsent == {row.id}
    cloud.refuses = ""
    assert outbox.dispatcher.sweep() == 1
    assert len(cloud.answered) == 1


def test_starting_an_attempt_twice_starts_it_once(outbox: Outbox, cloud: Cloud) -> None:
    row = outbox.add(Topic.INGESTION, reference=new_id())
    outbox.dispatcher.send([row, row])
    assert len(cloud.executions) == 1
    assert outbox.log == ["outbox.execution_exists"]
    assert not outbox.tables.unsent


def test_another_attempt_is_another_execution(outbox: Outbox, cloud: Cloud) -> None:
    ingestion = new_id()
    rows = [outbox.add(Topic.INGESTION, reference=ingestion, attempt=n) for n in (0, 1)]
    outbox.dispatcher.send(rows)
    assert set(cloud.executions) == {str(ingestion), f"{ingestion}-1"}


def test_a_failed_send_raises_nothing_and_marks_the_row(outbox: Outbox, cloud: Cloud) -> None:
    cloud.down = True
    row = outbox.add()
    outbox.dispatcher.send([row])
    assert outbox.tables.unsent == {row.id}
    assert not outbox.claims


def test_the_next_good_send_sweeps_what_was_left(outbox: Outbox, cloud: Cloud) -> None:
    cloud.down = True
    lost = outbox.add()
    outbox.dispatcher.send([lost])
    cloud.down = False
    row = outbox.add()
    outbox.dispatcher.send([row])
    sent = [message["outbox_ids"] for message in cloud.messages]
    assert sent == [[str(row.id)], [str(lost.id)]]
    assert outbox.claims == [(SWEEP_ROWS, NOON - STALE_AFTER, NOON)]


def test_a_send_that_follows_a_good_one_sweeps_nothing(outbox: Outbox, cloud: Cloud) -> None:
    cloud.down = True
    outbox.dispatcher.send([outbox.add()])
    cloud.down = False
    for _ in range(3):
        outbox.dispatcher.send([outbox.add()])
    assert len(outbox.claims) == 1


def test_one_row_that_fails_does_not_hold_up_the_others(outbox: Outbox, cloud: Cloud) -> None:
    class Choosy(Cloud):
        def start_execution(self, **_: object) -> None:
            raise EndpointConnectionError(endpoint_url="machine")

    cloud.start_execution = Choosy().start_execution  # the machine alone is out of reach
    bad, good = outbox.add(Topic.INGESTION, reference=new_id()), outbox.add()
    outbox.dispatcher.send([bad, good])
    assert outbox.tables.unsent == {bad.id}
    assert len(cloud.messages) == 1


def test_a_sweep_counts_what_it_sent_and_arms_itself_again(outbox: Outbox, cloud: Cloud) -> None:
    cloud.down = True
    outbox.dispatcher.send([outbox.add(), outbox.add()])
    assert outbox.dispatcher.sweep() == 0
    cloud.down = False
    assert outbox.dispatcher.sweep() == 2


def test_when_marking_fails_too_the_request_is_answered_all_the_same(
    outbox: Outbox, cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unavailable(*_: object, **__: object) -> object:
        raise Unavailable("The database did not answer.")

    row = outbox.add()
    cloud.down = True
    monkeypatch.setattr(outbox.transactions, "writing", unavailable)
    outbox.dispatcher.send([row])
    assert outbox.log == ["outbox.send_failed", "outbox.mark_failed"]


def test_a_row_goes_stale_after_a_quarter_of_an_hour() -> None:
    assert timedelta(minutes=15) == STALE_AFTER
