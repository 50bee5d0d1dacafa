import json
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.unit.cli.fakes import START, FakeHistory, Shell, event

from cairn.cli.trace import CAUGHT, FAILED, RUNNING, SUCCEEDED, Span, build

ARN = "arn:aws:states:eu-west-1:1:execution:ingestion:run-1"

AWS = [
    event(1, "ExecutionStarted", 0),
    event(2, "TaskStateEntered", 1, name="Parse"),
    event(3, "TaskScheduled", 2),
    event(4, "TaskFailed", 3, taskFailedEventDetails={"error": "Unavailable", "cause": "busy"}),
    event(5, "TaskScheduled", 4),
    event(6, "TaskSucceeded", 5),
    event(7, "TaskStateExited", 6, name="Parse"),
    event(8, "MapStateEntered", 7, name="EmbedBatches"),
    event(9, "MapStateStarted", 8),
    event(10, "MapIterationStarted", 9, mapIterationStartedEventDetails={"index": 0}),
    event(11, "MapIterationStarted", 9, mapIterationStartedEventDetails={"index": 1}),
    event(12, "TaskStateEntered", 10, name="Embed"),
    event(13, "TaskStateEntered", 11, name="Embed"),
    event(14, "TaskScheduled", 12),
    event(15, "TaskScheduled", 13),
    event(16, "TaskSucceeded", 15),
    event(17, "TaskStateExited", 16, name="Embed"),
    event(18, "MapIterationSucceeded", 17),
    event(19, "TaskSucceeded", 14),
    event(20, "TaskStateExited", 19, name="Embed"),
    event(21, "MapIterationSucceeded", 20),
    event(22, "MapStateSucceeded", 21),
    event(23, "MapStateExited", 22, name="EmbedBatches"),
    event(24, "PassStateEntered", 23, name="Done"),
    event(25, "PassStateExited", 24, name="Done"),
    event(26, "ExecutionSucceeded", 25),
]
EMULATED = [
    event(1, "ExecutionStarted"),
    event(2, "TaskStateEntered", name="Parse"),
    event(3, "TaskScheduled"),
    event(4, "TaskSucceeded"),
    event(5, "TaskStateExited", name="Parse"),
    event(6, "MapStateEntered", name="EmbedBatches"),
    event(7, "TaskScheduled"),
    event(8, "TaskScheduled"),
    event(9, "TaskSucceeded"),
    event(10, "TaskSucceeded"),
    event(11, "MapStateExited", name="EmbedBatches"),
    event(12, "ExecutionSucceeded"),
]


def shape(span: Span) -> Any:
    return (span.name, [shape(child) for child in span.children])


def test_concurrent_branches_are_kept_apart_by_the_events_before_them() -> None:
    root = build(AWS, name="run-1")
    assert shape(root) == (
        "run-1",
        [
            ("Parse", []),
            ("EmbedBatches", [("#0", [("Embed", [])]), ("#1", [("Embed", [])])]),
            ("Done", []),
        ],
    )
    first, second = root.children[1].children
    assert (first.children[0].seconds(START), second.children[0].seconds(START)) == (8.0, 4.0)
    assert {root.status, first.status, root.children[1].status} == {SUCCEEDED}


def test_attempts_are_counted_and_a_retried_state_succeeded_in_the_end() -> None:
    parse = build(AWS, name="run-1").children[0]
    assert (parse.attempts, parse.status, parse.seconds(START)) == (2, SUCCEEDED, 5.0)


def test_without_links_calls_belong_to_the_state_that_is_open() -> None:
    root = build(EMULATED, name="run-1")
    assert shape(root) == (
        "run-1",
        [("Parse", []), ("EmbedBatches", [("call 0", []), ("call 1", [])])],
    )
    calls = root.children[1].children
    assert [call.seconds(START) for call in calls] == [2.0, 2.0]
    assert root.children[0].attempts == 1


def test_a_caught_error_and_a_failed_execution_are_told_apart() -> None:
    events = [
        event(1, "ExecutionStarted"),
        event(2, "TaskStateEntered", name="Parse"),
        event(3, "TaskScheduled"),
        event(4, "TaskFailed", taskFailedEventDetails={"error": "ValidationFailed", "cause": "no"}),
        event(5, "TaskStateExited", name="Parse"),
        event(6, "FailStateEntered", name="Failed"),
        event(7, "ExecutionFailed", executionFailedEventDetails={"error": "ValidationFailed"}),
    ]
    root = build(events, name="run-1")
    parse, failed = root.children
    assert (parse.status, parse.error) == (CAUGHT, "ValidationFailed: no")
    assert (failed.status, root.status, root.error) == (FAILED, FAILED, "ValidationFailed")


def test_a_running_execution_is_drawn_up_to_now() -> None:
    root = build(AWS[:15], name="run-1")
    assert root.status == RUNNING
    assert root.seconds(START + timedelta(seconds=20)) == 19.0


def test_no_history_is_an_error() -> None:
    with pytest.raises(ValueError, match="no history"):
        build([], name="x")


def test_trace_draws_a_tree_of_states_with_times() -> None:
    shown = Shell(aws={"stepfunctions": FakeHistory(events=AWS)}).run("trace", ARN)
    assert shown.exit_code == 0
    lines = shown.stdout.splitlines()
    assert "run-1" in lines[0] and "25.00 s" in lines[0]
    assert any("Parse" in line and "2 attempts" in line for line in lines)
    assert sum("Embed " in line for line in lines) == 2


def test_trace_reads_every_page_without_the_data_of_the_states() -> None:
    history = FakeHistory(events=AWS)
    shown = Shell(aws={"stepfunctions": history}).run("trace", ARN, "--json")
    tree = json.loads(shown.stdout)
    assert (tree["status"], len(tree["children"])) == ("succeeded", 3)
    assert history.asked == [{"executionArn": ARN, "includeExecutionData": False}]


def test_an_ingestions_id_names_its_execution() -> None:
    history = FakeHistory(events=AWS)
    machine = "arn:aws:states:eu-west-1:1:stateMachine:ingestion"
    shell = Shell(aws={"stepfunctions": history}, settings={"ingestion_machine_arn": machine})
    assert shell.run("trace", str(UUID(int=2))).exit_code == 0
    assert history.asked[0]["executionArn"] == (
        f"arn:aws:states:eu-west-1:1:execution:ingestion:{UUID(int=2)}"
    )
    assert Shell().run("trace", str(UUID(int=2))).exit_code == 1


def test_a_lambda_errors_message_is_taken_out_of_its_cause() -> None:
    cause = json.dumps({"errorMessage": "no text layer", "errorType": "ValidationFailed"})
    details = {"error": "ValidationFailed", "cause": cause}
    events = [
        event(1, "ExecutionStarted"),
        event(2, "TaskStateEntered", name="Parse"),
        event(3, "TaskFailed", taskFailedEventDetails=details),
    ]
    assert build(events, name="x").children[0].error == "ValidationFailed: no text layer"
