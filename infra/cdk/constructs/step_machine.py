"""The state machines: `statemachines/<name>.asl.json` with its tokens, role and logs.

Standard machines: a run takes minutes, or waits for a person, and its steps stay visible. Not the
steps.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from aws_cdk import ArnFormat, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from infra.cdk.config import ROOT
from infra.cdk.constructs.acknowledgement import acknowledge, finding_arn

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from aws_cdk import aws_lambda as lambda_

    from infra.cdk.config import Config

DEFINITIONS = ROOT / "statemachines"
TASKS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "ingestion": {
            "AuditFunctionArn": "audit",
            "EmbedFunctionArn": "embed",
            "IngestFunctionArn": "ingest",
        },
        "consolidation": {"ConsolidateFunctionArn": "consolidate"},
        "rebuild": {"ConsolidateFunctionArn": "consolidate"},
        "verification": {"AuditFunctionArn": "audit"},
        "investigation": {
            "ActFunctionArn": "act",
            "AuditFunctionArn": "audit",
            "PlanFunctionArn": "plan",
            "RetrieveFunctionArn": "retrieve",
        },
        "workflow": {
            "ActFunctionArn": "act",
            "PlanFunctionArn": "plan",
            "RetrieveFunctionArn": "retrieve",
        },
    }
)
"""Each machine's tokens, and the functions whose ARNs fill them."""


PAGED = frozenset({"consolidation", "verification"})
"""Machines whose execution takes a page of workspaces and starts the next page's."""

SCHEDULED_ONLY = frozenset({"verification"})
"""Machines that no function starts."""


def machine_name(config: Config, name: str) -> str:
    """A machine's physical name: fixed, so that functions it calls can be told its ARN before."""
    return f"cairn-{config.stage}-{name}"


def machine_arn(scope: Construct, config: Config, name: str) -> str:
    """A machine's ARN from its name alone, without a reference that would close a circle."""
    return Stack.of(scope).format_arn(
        service="states",
        resource="stateMachine",
        resource_name=machine_name(config, name),
        arn_format=ArnFormat.COLON_RESOURCE_NAME,
    )


def let_answer(machine: sfn.IStateMachine, function: lambda_.Function, *, config: Config) -> None:
    """Let a function answer tasks of investigations that wait, and see which executions live."""
    stack = Stack.of(function)
    place = {
        "service": "states",
        "resource": "execution",
        "resource_name": f"{machine_name(config, 'investigation')}:*",
    }
    executions = stack.format_arn(**place, arn_format=ArnFormat.COLON_RESOURCE_NAME)
    # the emulator cannot tell whose token it is
    answered = "*" if config.is_local else machine.state_machine_arn
    for action, resource in (
        ("states:SendTaskSuccess", answered),
        ("states:DescribeExecution", executions),
    ):
        function.add_to_role_policy(iam.PolicyStatement(actions=[action], resources=[resource]))
    acknowledge(
        function.node.scope or function,
        "Executions are named after random ids made at run time, so those of this one machine "
        "cannot be listed beforehand.",
        f"AwsSolutions-IAM5[Resource::{finding_arn(stack, **place, sep=':')}]",
    )


def logged_machine(
    scope: Construct,
    name: str,
    *,
    config: Config,
    definition: Path,
    tasks: Mapping[str, lambda_.Function],
    logs_id: str = "Logs",
) -> sfn.StateMachine:
    """Make a machine of a definition, which may call `tasks` (by token), with its log and traces.

    `logs_id` names the log group in its stack: another id would replace a group of a fixed name.
    """
    physical = machine_name(config, name)
    machine = sfn.StateMachine(
        scope,
        "Machine",
        state_machine_name=physical,
        state_machine_type=sfn.StateMachineType.STANDARD,
        definition_body=sfn.DefinitionBody.from_string(definition.read_text(encoding="utf-8")),
        definition_substitutions={token: called.function_arn for token, called in tasks.items()},
        tracing_enabled=True,
        logs=sfn.LogOptions(
            destination=logs.LogGroup(
                scope,
                logs_id,
                log_group_name=f"/aws/vendedlogs/states/{physical}",
                retention=logs.RetentionDays.THREE_MONTHS,
                removal_policy=RemovalPolicy.DESTROY,
            ),
            level=sfn.LogLevel.ALL,
            include_execution_data=False,
        ),
    )
    for function in tasks.values():
        function.grant_invoke_latest_version(machine)
    acknowledge(
        machine,
        "Log delivery and X-Ray take no resource, so AWS documents * for these actions.",
        "AwsSolutions-IAM5[Resource::*]",
    )
    return machine


class StepMachine(Construct):
    """The machine called `name`; it may call the functions that `TASKS` names."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        config: Config,
        functions: Mapping[str, lambda_.Function],
    ) -> None:
        """`functions` by name."""
        super().__init__(scope, f"{name.capitalize()}Machine")
        self.machine = logged_machine(
            self,
            name,
            config=config,
            definition=DEFINITIONS / f"{name}.asl.json",
            tasks={token: functions[called] for token, called in TASKS[name].items()},
        )
        if name in PAGED:
            itself = machine_arn(self, config, name)
            self.machine.add_to_role_policy(
                iam.PolicyStatement(actions=["states:StartExecution"], resources=[itself])
            )
