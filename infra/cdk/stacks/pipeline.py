"""The pipeline stack: the functions that write and search, their queue, machine and schedules."""

# pyright: reportArgumentType=false
# jsii's interfaces name parameters otherwise than the classes that implement them.

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import CfnOutput, Duration, Environment, Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda_event_sources as sources
from aws_cdk import aws_stepfunctions as sfn

from infra.cdk.constructs.cairn_function import CairnFunction
from infra.cdk.constructs.step_machine import TASKS, StepMachine, machine_arn
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
DELIVERIES_AT_ONCE = 2
BATCHING_WINDOW = Duration.seconds(1)  # a memory is found by meaning within two seconds
SCHEDULES = {
    "Daily": (events.Schedule.cron(hour="3", minute="17"), "verify_and_anchor"),
    "Hourly": (events.Schedule.rate(Duration.hours(1)), "sweep_outbox"),
    "Accesses": (events.Schedule.rate(Duration.hours(1)), "count_accesses"),
}

INDEX_SCHEDULE = {
    "HourlyIndex": (events.Schedule.rate(Duration.hours(1)), "maintain_search_index"),
}


MACHINE_SCHEDULES = {"consolidation": events.Schedule.rate(Duration.hours(6))}


class PipelineStack(Stack):
    """`functions` and `machines` by name, `embed` the queue, and `values` grown by their names."""

    def __init__(
        self,
        scope: Construct,
        *,
        config: Config,
        env: Environment,
        specs: Mapping[str, FunctionSpec],
        data: DataStack,
        network: PrivateNetwork | None,
    ) -> None:
        """Makes the functions of `specs`, all but the api."""
        super().__init__(scope, config.stack("pipeline"), env=env)
        self.stage = config.stage
        self.embed = self._queue(config, "embed", specs["embed"])
        self.webhook = self._queue(config, "webhook", specs["act"])
        arns = {name: machine_arn(self, config, name) for name in TASKS}
        self.values = (
            data.values
            | {"CAIRN_EMBED_QUEUE_URL": self.embed.queue.queue_url}
            | {"CAIRN_WEBHOOK_QUEUE_URL": self.webhook.queue.queue_url}
            | {f"CAIRN_{name.upper()}_MACHINE_ARN": arn for name, arn in arns.items()}
        )
        made = {
            name: CairnFunction(
                self, spec, config=config, values=self.values, layers=data.layers, network=network
            )
            for name, spec in specs.items()
        }
        self.functions = {name: each.function for name, each in made.items()}
        self.machines = {
            name: StepMachine(self, name, config=config, functions=self.functions).machine
            for name in TASKS
        }
        data.share_uploads(made["ingest"])
        data.share_uploads(made["audit"], forgets=True)
        data.share_anchors(made["audit"], adds=True)
        for name, keeps in (("embed", True), ("audit", True), ("retrieve", False)):
            data.admit_to_search(made[name], keeps=keeps)
        self._grant(data, arns)
        self._consume(config)
        indexed = config.opensearch or bool(config.opensearch_url)
        self._schedule_machines()
        self._schedule(self.functions["audit"], SCHEDULES | (INDEX_SCHEDULE if indexed else {}))
        self._outputs()

    def _grant(self, data: DataStack, arns: Mapping[str, str]) -> None:
        ingest, embed, retrieve, audit = (
            self.functions[name] for name in ("ingest", "embed", "retrieve", "audit")
        )
        for function in (ingest, embed, audit, self.functions["consolidate"]):
            data.admit(function, bodies=True)
            self.embed.queue.grant_send_messages(function)
        for function in (audit, self.functions["consolidate"]):
            self.webhook.queue.grant_send_messages(function)
        data.admit(self.functions["act"], bodies=True)
        data.admit(retrieve, bodies=False)
        for name, arn in arns.items():
            known_as = f"{name.capitalize()}ByName"
            by_name = sfn.StateMachine.from_state_machine_arn(self, known_as, arn)
            by_name.grant_start_execution(audit)

    def _queue(self, config: Config, name: str, consumer: FunctionSpec) -> WorkedQueue:
        return WorkedQueue(
            self,
            f"{name.capitalize()}Queue",
            physical=f"cairn-{config.stage}-{name}",
            hidden=_hidden(config, consumer),
            enforce_ssl=not config.is_local,  # the emulator speaks plain HTTP
        )

    def _consume(self, config: Config) -> None:
        self.functions["embed"].add_event_source(
            sources.SqsEventSource(
                self.embed.queue,
                batch_size=BATCH,
                max_batching_window=BATCHING_WINDOW,
                max_concurrency=config.embed_concurrency,
                report_batch_item_failures=True,
            )
        )
        self.functions["act"].add_event_source(
            sources.SqsEventSource(
                self.webhook.queue,
                batch_size=1,  # one receiver that is slow keeps nobody else waiting
                max_concurrency=DELIVERIES_AT_ONCE,
                report_batch_item_failures=True,
            )
        )

    def _schedule(
        self, audit: lambda_.Function, schedules: Mapping[str, tuple[events.Schedule, str]]
    ) -> None:
        for name, (schedule, step) in schedules.items():
            rule = events.Rule(self, name, description=f"Cairn: {step}", schedule=schedule)
            rule.add_target(
                targets.LambdaFunction(
                    audit,
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

    def _outputs(self) -> None:
        CfnOutput(self, "EmbedQueueUrl", value=self.embed.queue.queue_url)
        CfnOutput(self, "EmbedDeadLetterQueueUrl", value=self.embed.dead_letters.queue_url)
        CfnOutput(self, "WebhookQueueUrl", value=self.webhook.queue.queue_url)
        for name, machine in self.machines.items():
            output = f"{name.capitalize()}MachineArn"
            CfnOutput(self, output, value=machine.state_machine_arn)


def _hidden(config: Config, consumer: FunctionSpec) -> Duration:
    """Six times the consumer's timeout, as Lambda advises; a laptop waits for one try only."""
    return Duration.seconds(consumer.timeout_seconds * (1 if config.is_local else 6))
