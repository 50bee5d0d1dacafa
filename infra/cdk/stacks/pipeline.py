"""The pipeline stack: the functions that write and search, their queue, machine and schedules."""

# pyright: reportArgumentType=false
# jsii's interfaces name parameters otherwise than the classes that implement them.

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from aws_cdk import CfnOutput, Duration, Environment, Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_stepfunctions as sfn

from infra.cdk.constructs.cairn_function import CairnFunction
from infra.cdk.constructs.dependency_layers import DependencyLayers
from infra.cdk.constructs.source_buckets import let_read
from infra.cdk.constructs.step_machine import (
    SCHEDULED_ONLY,
    TASKS,
    StepMachine,
    let_answer,
    machine_arn,
)
from infra.cdk.constructs.worked_queue import WorkedQueue

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aws_cdk import aws_lambda as lambda_
    from constructs import Construct

    from infra.cdk.config import Config
    from infra.cdk.constructs.private_network import PrivateNetwork
    from infra.cdk.functions import FunctionSpec
    from infra.cdk.stacks.data import DataStack

BATCH = 10
AT_ONCE = MappingProxyType({"webhook": 2, "escalation": 2, "ticket": 4, "source": 2})
"""Messages a queue's consumer works at the same time, one an invocation."""

QUEUES = MappingProxyType(
    {
        "embed": "embed",
        "webhook": "act",
        "ticket": "plan",
        "escalation": "act",
        "source": "sync",
        "channel": "api",
    }
)
"""Each queue and the function that consumes it; the api's stack lets the api."""

INVESTIGATING = ("plan", "retrieve", "act", "audit")
STARTERS = MappingProxyType({"investigation": INVESTIGATING, "ingestion": ("audit", "sync", "act")})
"""Who starts a machine; others are started by the sweep alone, and by the API."""
LONGEST_WAIT_ON_A_LAPTOP = 60  # seconds until a message is tried again
BUSY_ON_A_LAPTOP = 30  # what a batch to embed may wait for a worker there, after it was received

EMBED_TRIES = 5
"""What Lambda advises: a batch that it cannot start for lack of room was received, too."""

BATCHING_WINDOW = Duration.seconds(1)  # a memory is found by meaning within two seconds
HOURLY = events.Schedule.cron(minute="17")
"""All at the same minute, also those of a day: a database that may pause is woken once an hour."""

GAUGES, GAUGES_OF_A_SLEEPER = events.Schedule.rate(Duration.minutes(5)), HOURLY
"""A database that may pause is not woken to be counted."""

SCHEDULES = {
    "Hourly": (HOURLY, "sweep_outbox"),
    "Accesses": (HOURLY, "count_accesses"),
    "Investigations": (HOURLY, "sweep_investigations"),
    "Feeds": (HOURLY, "maintain_feeds"),
}

OUTWARD_SCHEDULES = {
    "Tickets": (events.Schedule.rate(Duration.minutes(5)), "poll_tickets"),
    "Connectors": (events.Schedule.rate(Duration.minutes(5)), "check_connectors"),
}
"""Where something may leave: elsewhere no help desk is reached, and the database may sleep."""

INWARD_SCHEDULES = {
    "Connectors": (HOURLY, "check_connectors"),
}

OUTWARD_SOURCES = {"Sources": (events.Schedule.rate(Duration.minutes(5)), "sync_sources")}
INWARD_SOURCES = {"Sources": (HOURLY, "sync_sources")}

INDEX_SCHEDULE = {
    "HourlyIndex": (HOURLY, "maintain_search_index"),
}


MACHINE_SCHEDULES = {
    "consolidation": events.Schedule.cron(minute="17", hour="0/6"),
    "verification": events.Schedule.cron(hour="3", minute="17"),
}


class PipelineStack(Stack):
    """`functions`, `queues` and `machines` by name, and `values` grown by their names."""

    def __init__(
        self,
        scope: Construct,
        *,
        config: Config,
        env: Environment,
        specs: Mapping[str, FunctionSpec],
        api: FunctionSpec,
        data: DataStack,
        network: PrivateNetwork | None,
    ) -> None:
        """Makes the functions of `specs`, all but the api."""
        super().__init__(scope, config.stack("pipeline"), env=env)
        self.stage = config.stage
        self.queues = self._queues(config, {**specs, api.name: api})
        arns = {
            name: machine_arn(self, config, name) for name in TASKS if name not in SCHEDULED_ONLY
        }
        self.values = (
            data.values
            | {
                f"CAIRN_{name.upper()}_QUEUE_URL": worked.queue.queue_url
                for name, worked in self.queues.items()
            }
            | {f"CAIRN_{name.upper()}_MACHINE_ARN": arn for name, arn in arns.items()}
        )
        layers = None if config.is_local else DependencyLayers(self, config=config)
        values = self.values | data.search_values(self)
        functions = {
            name: CairnFunction(
                self, spec, config=config, values=values, layers=layers, network=network
            )
            for name, spec in specs.items()
        }
        self.functions = {name: each.function for name, each in functions.items()}
        self.machines = {
            name: StepMachine(self, name, config=config, functions=self.functions).machine
            for name in TASKS
        }
        for name in ("ingest", "sync", "act"):
            data.share_uploads(functions[name])
        let_read(functions["sync"], config.source_buckets)
        data.share_uploads(functions["audit"], forgets=True)
        data.share_anchors(functions["audit"], adds=True)
        for name, keeps in (("embed", True), ("audit", True), ("retrieve", False)):
            data.admit_to_search(functions[name], keeps=keeps)
        self._grant(config, data, arns)
        self._consume(config)
        indexed = config.opensearch or bool(config.opensearch_url)
        self._schedule_machines()
        self._tell_of_ends(arns["investigation"])
        self._schedule(self.functions["audit"], SCHEDULES | (INDEX_SCHEDULE if indexed else {}))
        counted = GAUGES if config.min_acu > 0 else GAUGES_OF_A_SLEEPER
        often = {"Gauges": (counted, "tell_gauges"), "Workflows": (counted, "start_workflows")}
        self._schedule(self.functions["audit"], often)
        self._schedule(self.functions["retrieve"], {"Discovery": (counted, "sweep_discovery")})
        outward = config.webhooks != "off"
        self._schedule(self.functions["act"], OUTWARD_SCHEDULES if outward else INWARD_SCHEDULES)
        self._schedule(self.functions["sync"], OUTWARD_SOURCES if outward else INWARD_SOURCES)
        self._outputs()

    def _grant(self, config: Config, data: DataStack, arns: Mapping[str, str]) -> None:
        for function in self.functions.values():
            data.admit(function)
            self.queues["embed"].queue.grant_send_messages(function)
        self.queues["webhook"].queue.grant_send_messages(self.functions["consolidate"])
        self.queues["webhook"].queue.grant_send_messages(self.functions["sync"])
        for name in ("sync", "audit"):
            self.queues["source"].queue.grant_send_messages(self.functions[name])
        for name in INVESTIGATING:
            for queue in ("webhook", "ticket", "escalation", "channel"):
                self.queues[queue].queue.grant_send_messages(self.functions[name])
        for name, arn in arns.items():
            known_as = f"{name.capitalize()}ByName"
            by_name = sfn.StateMachine.from_state_machine_arn(self, known_as, arn)
            for starter in STARTERS.get(name, ("audit",)):
                by_name.grant_start_execution(self.functions[starter])
                if name == "investigation":
                    let_answer(by_name, self.functions[starter], config=config)

    def _queues(self, config: Config, specs: Mapping[str, FunctionSpec]) -> dict[str, WorkedQueue]:
        return {
            name: self._queue(config, name, specs[consumer]) for name, consumer in QUEUES.items()
        }

    def _queue(self, config: Config, name: str, consumer: FunctionSpec) -> WorkedQueue:
        return WorkedQueue(
            self,
            f"{name.capitalize()}Queue",
            physical=f"cairn-{config.stage}-{name}",
            hidden=_hidden(config, consumer),
            enforce_ssl=not config.is_local,  # the emulator speaks plain HTTP
            **({"tries": EMBED_TRIES} if name == "embed" else {}),
        )

    def _consume(self, config: Config) -> None:
        self.functions["embed"].add_event_source(
            sources.SqsEventSource(
                self.queues["embed"].queue,
                batch_size=BATCH,
                max_batching_window=BATCHING_WINDOW,
                max_concurrency=config.embed_concurrency,
                report_batch_item_failures=True,
            )
        )
        for name, at_once in AT_ONCE.items():
            self.functions[QUEUES[name]].add_event_source(
                sources.SqsEventSource(
                    self.queues[name].queue,
                    batch_size=1,  # one receiver that is slow keeps nobody else waiting
                    max_concurrency=at_once,
                    report_batch_item_failures=True,
                )
            )

    def _schedule(
        self, function: lambda_.Function, schedules: Mapping[str, tuple[events.Schedule, str]]
    ) -> None:
        for name, (schedule, step) in schedules.items():
            rule = events.Rule(self, name, description=f"Cairn: {step}", schedule=schedule)
            rule.add_target(
                targets.LambdaFunction(
                    function,
                    event=events.RuleTargetInput.from_object({"step": step}),
                    retry_attempts=2,
                    max_event_age=Duration.hours(1),
                )
            )

    def _schedule_machines(self) -> None:
        for name, schedule in MACHINE_SCHEDULES.items():
            rule = events.Rule(
                self,
                f"{name.capitalize()}Schedule",
                rule_name=f"cairn-{self.stage}-{name}",
                description=f"Cairn: {name}",
                schedule=schedule,
            )
            rule.add_target(
                targets.SfnStateMachine(
                    self.machines[name],
                    input=events.RuleTargetInput.from_object({"trigger": "schedule"}),
                    retry_attempts=2,
                    max_event_age=Duration.hours(1),
                )
            )

    def _tell_of_ends(self, arn: str) -> None:
        """Tell audit of executions of investigations that ended without closing theirs."""
        rule = events.Rule(
            self,
            "InvestigationEnds",
            description="Cairn: an execution of an investigation failed",
            event_pattern=events.EventPattern(
                source=["aws.states"],
                detail_type=["Step Functions Execution Status Change"],
                detail={"stateMachineArn": [arn], "status": ["FAILED", "TIMED_OUT", "ABORTED"]},
            ),
        )
        rule.add_target(
            targets.LambdaFunction(
                self.functions["audit"], retry_attempts=10, max_event_age=Duration.hours(6)
            )
        )

    def _outputs(self) -> None:
        for name, worked in self.queues.items():
            output = f"{name.capitalize()}QueueUrl"
            CfnOutput(self, output, value=worked.queue.queue_url)
        dead = self.queues["embed"].dead_letters
        CfnOutput(self, "EmbedDeadLetterQueueUrl", value=dead.queue_url)
        for name, machine in self.machines.items():
            output = f"{name.capitalize()}MachineArn"
            CfnOutput(self, output, value=machine.state_machine_arn)


def _hidden(config: Config, consumer: FunctionSpec) -> Duration:
    """Six times the consumer's timeout, as Lambda advises; a laptop waits for one try only."""
    once = consumer.timeout_seconds
    if config.is_local:
        waits = BUSY_ON_A_LAPTOP if consumer.name == "embed" else 0
        return Duration.seconds(min(once, LONGEST_WAIT_ON_A_LAPTOP) + waits)
    return Duration.seconds(6 * once)
