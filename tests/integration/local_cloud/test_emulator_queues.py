"""Queues of the emulator do what the embed queue relies on: partial batches, DLQ, redrive."""

import json
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError
from tests.plugins.waiting import eventually

if TYPE_CHECKING:
    from tests.plugins.cloud import EmptyCloud

FAILS_THE_POISON = """
import os
from pathlib import Path

def handler(event, context):
    seen = Path(os.environ["SEEN"])
    failed = []
    for record in event["Records"]:
        with seen.open("a") as stream:
            stream.write(record["body"] + "\\n")
        if record["body"] == "poison" and not Path(os.environ["MENDED"]).exists():
            failed.append({"itemIdentifier": record["messageId"]})
    return {"batchItemFailures": failed}
"""


def queue_arn(sqs: Any, url: str) -> str:
    names = ["QueueArn"]
    return sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]["QueueArn"]


def waiting(sqs: Any, url: str) -> int:
    names = ["ApproximateNumberOfMessages"]
    found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
    return int(found[names[0]])


def move_all(sqs: Any, source: str, target: str) -> None:
    """What a redrive command does where StartMessageMoveTask is missing: receive, send, delete."""
    while messages := sqs.receive_message(QueueUrl=source, WaitTimeSeconds=0).get("Messages"):
        for message in messages:
            sqs.send_message(QueueUrl=target, MessageBody=message["Body"])
            sqs.delete_message(QueueUrl=source, ReceiptHandle=message["ReceiptHandle"])


def test_the_emulator_has_no_move_task_so_a_redrive_moves_messages_itself(
    cloud: "EmptyCloud",
) -> None:
    sqs = cloud.client("sqs")
    url = sqs.create_queue(QueueName="immovable")["QueueUrl"]
    with pytest.raises(ClientError, match="InvalidAction"):
        sqs.start_message_move_task(SourceArn=queue_arn(sqs, url))


def test_only_the_failed_message_returns_then_rests_in_the_dlq_and_comes_back_by_redrive(
    cloud: "EmptyCloud", tmp_path: Any
) -> None:
    sqs = cloud.client("sqs")
    seen, mended = tmp_path / "seen", tmp_path / "mended"
    dead = sqs.create_queue(QueueName="partial-dead")["QueueUrl"]
    redrive = {"deadLetterTargetArn": queue_arn(sqs, dead), "maxReceiveCount": "2"}
    live = sqs.create_queue(
        QueueName="partial",
        Attributes={"VisibilityTimeout": "4", "RedrivePolicy": json.dumps(redrive)},
    )["QueueUrl"]
    env = {"SEEN": str(seen), "MENDED": str(mended)}
    cloud.create_function("partial", FAILS_THE_POISON, env=env)
    cloud.client("lambda").invoke(FunctionName="partial", Payload=b'{"Records": []}')  # warm
    for body in ("good", "poison"):
        sqs.send_message(QueueUrl=live, MessageBody=body)
    cloud.client("lambda").create_event_source_mapping(
        FunctionName="partial",
        EventSourceArn=queue_arn(sqs, live),
        BatchSize=10,
        FunctionResponseTypes=["ReportBatchItemFailures"],
    )

    eventually(lambda: waiting(sqs, dead) == 1, seconds=60, what="the poison in the DLQ")
    assert sorted(seen.read_text().split()) == ["good", "poison", "poison"]

    mended.touch()
    move_all(sqs, dead, live)
    eventually(lambda: seen.read_text().count("poison") == 3, seconds=60, what="the redrive")
    eventually(lambda: waiting(sqs, dead) == 0, what="an empty DLQ")


def test_groups_of_messages_take_turns_so_that_a_backlog_keeps_nobody_waiting(
    cloud: "EmptyCloud",
) -> None:
    sqs = cloud.client("sqs")
    url = sqs.create_queue(QueueName="turns")["QueueUrl"]
    for number in range(12):
        sqs.send_message(QueueUrl=url, MessageBody=f"greedy {number}", MessageGroupId="greedy")
    sqs.send_message(QueueUrl=url, MessageBody="quiet", MessageGroupId="quiet")

    first = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=2)["Messages"]
    assert {item["Body"] for item in first} == {"greedy 0", "quiet"}
    sqs.send_message(QueueUrl=url, MessageBody="late", MessageGroupId="late")
    second = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=1)["Messages"]
    assert [item["Body"] for item in second] == ["late"]
