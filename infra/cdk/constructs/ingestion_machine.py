"""The state machine that takes a document from accepted to searchable.

Its steps are in `statemachines/ingestion.asl.json`; here are only its tokens, role and logs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import ArnFormat, RemovalPolicy, Stack
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from infra.cdk.config import ROOT
from infra.cdk.constructs.acknowledgement import acknowledge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aws_cdk import aws_lambda as lambda_

    from infra.cdk.config import Config

TASKS = {
    "AuditFunctionArn": "audit",
    "EmbedFunctionArn": "embed",
    "IngestFunctionArn": "ingest",
}
DEFINITION = ROOT / "statemachines" / "ingestion.asl.json"


def machine_name(config: Config) -> str:
    """The machine's name: fixed, so that functions it calls can be told its ARN beforehand."""
    return f"cairn-{config.stage}-ingestion"


def machine_arn(scope: Construct, config: Config) -> str:
    """The machine's ARN from its name alone, without a reference that would close a circle."""
    return Stack.of(scope).format_arn(
        service="states",
        resource="stateMachine",
        resource_name=machine_name(config),
        arn_format=ArnFormat.COLON_RESOURCE_NAME,
    )


class IngestionMachine(Construct):
    """A Standard machine: a document may take minutes, and each step stays visible."""

    def __init__(
        self,
        scope: Construct,
        *,
        config: Config,
        functions: Mapping[str, lambda_.Function],
    ) -> None:
        """`functions` by name; those of `TASKS` are called."""
        super().__init__(scope, "IngestionMachine")
        name = machine_name(config)
        tasks = {token: functions[called] for token, called in TASKS.items()}
        self.machine = sfn.StateMachine(
            self,
            "Machine",
            state_machine_name=name,
            state_machine_type=sfn.StateMachineType.STANDARD,
            definition_body=sfn.DefinitionBody.from_string(DEFINITION.read_text(encoding="utf-8")),
            definition_substitutions={
                token: function.function_arn for token, function in tasks.items()
            },
            tracing_enabled=True,
            logs=sfn.LogOptions(
                destination=logs.LogGroup(
                    self,
                    "Logs",
                    log_group_name=f"/aws/vendedlogs/states/{name}",
                    retention=logs.RetentionDays.THREE_MONTHS,
                    removal_policy=RemovalPolicy.DESTROY,
                ),
                level=sfn.LogLevel.ALL,
                include_execution_data=False,
            ),
        )
        for function in tasks.values():
            function.grant_invoke_latest_version(self.machine)
        acknowledge(
            self.machine,
            "Log delivery and X-Ray take no resource, so AWS documents * for these actions.",
            "AwsSolutions-IAM5[Resource::*]",
        )
