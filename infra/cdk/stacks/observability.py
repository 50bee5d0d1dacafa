"""The observability stack: the alarms that say something is wrong, and one dashboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import Environment, Stack

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
