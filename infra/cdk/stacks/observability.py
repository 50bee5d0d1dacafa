"""The observability stack: the alarms that say something is wrong, and two dashboards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import Environment, Stack

from infra.cdk.constructs.agents_dashboard import agents_dashboard
from infra.cdk.constructs.alarms import SEARCHING, Alarms
from infra.cdk.constructs.dashboard import dashboard

if TYPE_CHECKING:
    from constructs import Construct

    from infra.cdk.config import Config
    from infra.cdk.stacks.api import ApiStack
    from infra.cdk.stacks.pipeline import PipelineStack


class ObservabilityStack(Stack):
    """Alarms and dashboard over what the other stacks made."""

    def __init__(
        self,
        scope: Construct,
        *,
        config: Config,
        env: Environment,
        pipeline: PipelineStack,
        front: ApiStack,
    ) -> None:
        """Alarms reach a person only with `alarm_email`; without it they show in the console."""
        super().__init__(scope, config.stack("observability"), env=env)
        functions = pipeline.functions | {"api": front.function}
        alarms = Alarms(self, email=config.alarm_email)
        for name, function in functions.items():
            alarms.watch_function(name, function)
        for name in SEARCHING:
            alarms.watch_searches(name)
        for name, worked in pipeline.queues.items():
            alarms.watch_queue(name, worked)
        alarms.watch_outbox()
        for name, machine in pipeline.machines.items():
            alarms.watch_machine(name, machine)
        alarms.watch_api("api", front.http.api)
        # exported with and without a dashboard: an export in use cannot be taken back
        front.export_value(front.function.log_group.log_group_name)
        if not config.dashboards:
            return
        agents_dashboard(self, config=config)
        dashboard(self, config=config, functions=functions, pipeline=pipeline, front=front)
