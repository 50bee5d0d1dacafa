"""A queue with its dead-letter queue: some tries, then the message waits there for a person."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_sqs as sqs
from constructs import Construct

TRIES = 3
KEPT = Duration.days(14)


class WorkedQueue(Construct):
    """`queue`, and `dead_letters` where a message goes after `tries` failed ones."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        physical: str,
        hidden: Duration,
        enforce_ssl: bool,
        tries: int = TRIES,
    ) -> None:
        """`hidden`: how long a message stays away after a try, at least the consumer's timeout."""
        super().__init__(scope, name)
        self.dead_letters = sqs.Queue(
            self,
            "DeadLetters",
            queue_name=f"{physical}-dead-letters",
            retention_period=KEPT,
            enforce_ssl=enforce_ssl,
            encryption=sqs.QueueEncryption.SQS_MANAGED,
        )
        self.queue = sqs.Queue(
            self,
            "Queue",
            queue_name=physical,
            visibility_timeout=hidden,
            retention_period=KEPT,
            enforce_ssl=enforce_ssl,
            encryption=sqs.QueueEncryption.SQS_MANAGED,
            dead_letter_queue=sqs.DeadLetterQueue(queue=self.dead_letters, max_receive_count=tries),
        )
