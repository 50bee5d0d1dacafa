"""The private network: isolated database subnets, function subnets, and how far out they reach.

`egress=bedrock` gives functions AWS services by endpoint and nothing else; `egress=nat` gives
them the internet through one NAT gateway and needs no interface endpoints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_logs as logs
from constructs import Construct

if TYPE_CHECKING:
    from infra.cdk.config import Config

Service = ec2.InterfaceVpcEndpointAwsService
ALWAYS = {
    "Kms": Service.KMS,
    "Sqs": Service.SQS,
    "StepFunctions": Service.STEP_FUNCTIONS,
}
ASKED = {"BedrockRuntime": Service.BEDROCK_RUNTIME}  # only where a model of it is configured
IN_ONE_ZONE = {"SecretsManager": Service.SECRETS_MANAGER}  # read once a deployment, by the migrator
HTTPS = ec2.Port.tcp(443)
ADDRESSES = {
    "functions": ("10.0.0.0/22", "10.0.4.0/22", "10.0.12.0/22"),
    "database": ("10.0.8.0/26", "10.0.8.64/26", "10.0.9.0/26"),
    "public": ("10.0.8.128/26", "10.0.8.192/26", "10.0.9.64/26"),
}
"""Of the subnets by zone: fixed, so that another zone or a way out moves none of the others."""


class PrivateNetwork(Construct):
    """`vpc`, the `functions` security group, and the subnets of functions and database."""

    def __init__(self, scope: Construct, *, config: Config) -> None:
        """Two or three zones, as `config.zones` says."""
        super().__init__(scope, "Network")
        outward = config.egress == "nat"
        self.vpc = ec2.Vpc(
            self,
            "Vpc",
            max_azs=config.zones,
            nat_gateways=1 if outward else 0,
            subnet_configuration=_subnets(outward=outward),
            restrict_default_security_group=False,
        )
        self._fix_addresses(outward=outward)
        self.function_subnets = ec2.SubnetSelection(subnet_group_name="functions")
        self.database_subnets = ec2.SubnetSelection(subnet_group_name="database")
        self.functions = ec2.SecurityGroup(
            self, "Functions", vpc=self.vpc, description="Cairn functions: outward only"
        )
        self._log_flows()
        self._gateways()
        if not outward:
            self._endpoints(config)

    def _fix_addresses(self, *, outward: bool) -> None:
        for configuration in _subnets(outward=outward):
            chosen = self.vpc.select_subnets(subnet_group_name=configuration.name)
            of_zones = ADDRESSES[configuration.name]
            for subnet, addresses in zip(chosen.subnets, of_zones, strict=False):
                resource = subnet.node.default_child
                assert isinstance(resource, ec2.CfnSubnet)
                resource.cidr_block = addresses

    def _log_flows(self) -> None:
        log_group = logs.LogGroup(
            self,
            "FlowLogs",
            retention=logs.RetentionDays.ONE_MONTH,
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.vpc.add_flow_log(
            "Flows",
            destination=ec2.FlowLogDestination.to_cloud_watch_logs(log_group),
            traffic_type=ec2.FlowLogTrafficType.REJECT,
        )

    def _gateways(self) -> None:
        for name, service in {
            "S3": ec2.GatewayVpcEndpointAwsService.S3,
            "DynamoDb": ec2.GatewayVpcEndpointAwsService.DYNAMODB,
        }.items():
            self.vpc.add_gateway_endpoint(name, service=service)

    def _endpoints(self, config: Config) -> None:
        """Make the interface endpoints, each paid for in every zone it stands in."""
        door = ec2.SecurityGroup(
            self,
            "Endpoints",
            vpc=self.vpc,
            description="Endpoints of AWS services, for Cairn functions only",
            allow_all_outbound=False,
        )
        door.add_ingress_rule(self.functions, HTTPS, "from the functions")
        zones = self.vpc.select_subnets(subnet_group_name="functions").subnets
        spread = ALWAYS | (ASKED if config.bedrock_models else {})
        for name, service in (spread | IN_ONE_ZONE).items():
            subnets = zones[: config.endpoint_zones] if name in spread else zones[:1]
            self.vpc.add_interface_endpoint(
                name,
                service=service,
                subnets=ec2.SubnetSelection(subnets=subnets),
                security_groups=[door],
                open=False,
                private_dns_enabled=True,
            )


def _subnets(*, outward: bool) -> list[ec2.SubnetConfiguration]:
    isolated = ec2.SubnetType.PRIVATE_ISOLATED
    functions = ec2.SubnetType.PRIVATE_WITH_EGRESS if outward else isolated
    subnets = [
        ec2.SubnetConfiguration(name="functions", subnet_type=functions, cidr_mask=22),
        ec2.SubnetConfiguration(name="database", subnet_type=isolated, cidr_mask=26),
    ]
    public = ec2.SubnetConfiguration(name="public", subnet_type=ec2.SubnetType.PUBLIC, cidr_mask=26)
    return [*subnets, public] if outward else subnets
