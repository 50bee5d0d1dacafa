"""The one Lambda function construct, used by every function: same runtime, role, logs, tracing.

Not what starts a function, nor what it may touch: stacks add triggers and `grant_*` calls.
"""

# pyright: reportArgumentType=false
# jsii's interfaces name parameters otherwise than the classes that implement them.

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.cdk.config import SynthRefused
from infra.cdk.constructs.acknowledgement import acknowledge
from infra.cdk.constructs.bedrock import let_ask
from infra.cdk.staging import stage_function

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from infra.cdk.config import Config
    from infra.cdk.constructs.dependency_layers import DependencyLayers
    from infra.cdk.constructs.private_network import PrivateNetwork
    from infra.cdk.functions import FunctionSpec

LONGEST_WAIT_SECONDS = 60  # a paused cluster takes about 15 to wake
RUNTIME = lambda_.Runtime.PYTHON_3_13
SAML_METADATA = "saml-metadata.xml"
NETWORK_ACTIONS = (
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
)


class CairnFunction(Construct):
    """One function from `functions/<name>/`; its `.function` is the Lambda."""

    def __init__(
        self,
        scope: Construct,
        spec: FunctionSpec,
        *,
        config: Config,
        values: Mapping[str, str],
        layers: DependencyLayers | None,
        network: PrivateNetwork | None,
    ) -> None:
        """`values` holds every setting that could be passed; the function gets those it reads."""
        super().__init__(scope, spec.name.capitalize())
        name = f"cairn-{config.stage}-{spec.name}"
        log_group = self._log_group(name)
        self.function = lambda_.Function(
            self,
            "Function",
            function_name=name,
            description=spec.description,
            runtime=RUNTIME,
            architecture=lambda_.Architecture.ARM_64,
            handler="handler.handler",
            code=lambda_.Code.from_asset(str(_asset(spec, config))),
            memory_size=spec.memory_mb,
            timeout=Duration.seconds(spec.timeout_seconds),
            environment=_environment(spec, {**values, **_patience(spec, config)}),
            role=self._role(log_group, in_network=network is not None),
            log_group=log_group,
            tracing=lambda_.Tracing.ACTIVE if config.xray else lambda_.Tracing.PASS_THROUGH,
            layers=layers.of(spec.layers) if layers else None,
            reserved_concurrent_executions=config.reserved_concurrency,
            vpc=network.vpc if network else None,
            vpc_subnets=network.function_subnets if network else None,
            security_groups=[network.functions] if network else None,
        )

        if "CAIRN_CHAT_MODEL" in spec.settings and not config.is_local:
            let_ask(self, self.function, config.bedrock_models)

    def _log_group(self, name: str) -> logs.LogGroup:
        return logs.LogGroup(
            self,
            "Logs",
            log_group_name=f"/aws/lambda/{name}",
            retention=logs.RetentionDays.THREE_MONTHS,
            removal_policy=RemovalPolicy.DESTROY,
        )

    def _role(self, log_group: logs.LogGroup, *, in_network: bool) -> iam.Role:
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        log_group.grant_write(role)
        if in_network:
            role.add_to_principal_policy(
                iam.PolicyStatement(actions=list(NETWORK_ACTIONS), resources=["*"])
            )
        acknowledge(
            self,
            "X-Ray segments and Lambda's own network interfaces have no resource to name: "
            "IAM takes only * for these actions.",
            "AwsSolutions-IAM5[Resource::*]",
        )
        acknowledge(
            self,
            "Every dependency in uv.lock has wheels for Python 3.13, and the laptop runs the same; "
            "the newest runtime is taken when that is true of it.",
            "AwsSolutions-L1",
        )
        return role


def _patience(spec: FunctionSpec, config: Config) -> dict[str, str]:
    """How long a function waits for the database, where that may have paused."""
    if config.is_local or config.min_acu > 0:
        return {}
    wait = min(LONGEST_WAIT_SECONDS, spec.timeout_seconds * 4 // 5)
    return {"CAIRN_DATABASE_WAIT_SECONDS": str(wait)}


def _asset(spec: FunctionSpec, config: Config) -> Path:
    """Return the function's code, with the metadata of the provider that signs people in."""
    source = config.saml_metadata if "CAIRN_SIGN_IN_SAML" in spec.settings else None
    return stage_function(spec.folder, config.build, {SAML_METADATA: source} if source else None)


def _environment(spec: FunctionSpec, values: Mapping[str, str]) -> dict[str, str]:
    """The settings of `spec` that this stage has; an optional one may have no value."""
    missing = [name for name in spec.settings if name not in values and name not in OPTIONAL]
    if missing:
        raise SynthRefused(f"functions/{spec.name} reads {missing}, which nothing provides")
    return FASTER | {name: values[name] for name in spec.settings if name in values}


FASTER = {"PYDANTIC_DISABLE_PLUGINS": "__all__"}
"""There are none; looking for them reads a file of every package at each cold start."""


OPTIONAL = frozenset(
    {
        "CAIRN_ANTHROPIC_API_KEY",
        "CAIRN_ANTHROPIC_BASE_URL",
        "CAIRN_BEDROCK_API_KEY",
        "CAIRN_BEDROCK_BASE_URL",
        "CAIRN_CAUSAL_BOOST",
        "CAIRN_CHAT_MODEL",
        "CAIRN_CONNECTOR_COMMANDS",
        "CAIRN_CONSOLE_URL",
        "CAIRN_DATABASE_WAIT_SECONDS",
        "CAIRN_DECAY_FACTOR",
        "CAIRN_EDGE_ONLY",
        "CAIRN_EDGE_SECRETS",
        "CAIRN_EMBEDDING_MODEL",
        "CAIRN_GRAPH_SEARCH_DECAY",
        "CAIRN_KMS_KEY_ARN",
        "CAIRN_MAX_DEPTH",
        "CAIRN_MODEL_BUDGETS",
        "CAIRN_OIDC_AUDIENCE",
        "CAIRN_OIDC_ISSUER",
        "CAIRN_OIDC_SCOPES",
        "CAIRN_ONNX_EMBEDDING_MODEL",
        "CAIRN_OPENAI_API_KEY",
        "CAIRN_OPENAI_BASE_URL",
        "CAIRN_OPENAI_EMBEDDING_MODEL",
        "CAIRN_OPENSEARCH_AUTH",
        "CAIRN_OPENSEARCH_URL",
        "CAIRN_OTLP_ENDPOINT",
        "CAIRN_RERANKER_DIR",
        "CAIRN_RRF_K",
        "CAIRN_SIGN_IN_CLAIM",
        "CAIRN_SIGN_IN_CLIENT_ID",
        "CAIRN_SIGN_IN_CLIENT_SECRET",
        "CAIRN_SIGN_IN_DOMAINS",
        "CAIRN_SIGN_IN_ISSUER",
        "CAIRN_SIGN_IN_ROLES",
        "CAIRN_SIGN_IN_SAML",
        "CAIRN_SIGN_IN_SAML_UNASKED",
        "CAIRN_SIGN_IN_WORKSPACE",
        "CAIRN_SOURCE_FOLDERS",
        "CAIRN_SOURCE_PRIVATE_HOSTS",
    }
)
