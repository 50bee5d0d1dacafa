"""An OpenSearch domain inside the network, where the context asks for one (`-c opensearch=true`).

It holds nothing that PostgreSQL does not: it can be deleted and is filled again by the schedule.
"""

# pyright: reportArgumentType=false
# jsii's interfaces name parameters otherwise than the classes that implement them.

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import Aws, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_opensearchservice as opensearch
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from infra.cdk.constructs.acknowledgement import acknowledge, finding_arn

if TYPE_CHECKING:
    from aws_cdk import aws_kms as kms

    from infra.cdk.config import Config
    from infra.cdk.constructs.cairn_function import CairnFunction
    from infra.cdk.constructs.private_network import PrivateNetwork

ENGINE = "OpenSearch_2.19"
VOLUME_GB = 20
HTTPS = ec2.Port.tcp(443)
INDEXES = "cairn-nodes*"
LOGGED = {"SEARCH_SLOW_LOGS", "INDEX_SLOW_LOGS", "ES_APPLICATION_LOGS"}

# What each use sends, as `method: paths`; the names of indexes end in random digits.
SEARCHING = {
    "es:ESHttpGet": ("_alias/cairn-nodes",),
    "es:ESHttpPost": (f"{INDEXES}/_search",),
}
KEEPING = {
    "es:ESHttpGet": ("_alias/cairn-nodes", f"{INDEXES}/_alias", INDEXES),
    "es:ESHttpPost": ("_aliases", "_bulk", f"{INDEXES}/_search", f"{INDEXES}/_refresh"),
    "es:ESHttpPut": (INDEXES, "_bulk"),
    "es:ESHttpDelete": (INDEXES,),
}


class SearchDomain(Construct):
    """`domain`, encrypted everywhere, reached by the functions' security group with signatures.

    Other stacks know its ARN by its name and its address by a parameter, not by exports: these
    would keep the option from being turned off.
    """

    def __init__(
        self, scope: Construct, *, config: Config, network: PrivateNetwork, key: kms.Key
    ) -> None:
        """A node in each of two zones; the index is copied to both."""
        super().__init__(scope, "Search")
        self._name = name = f"cairn-{config.stage}"
        self.domain = opensearch.CfnDomain(
            self,
            "Domain",
            domain_name=name,
            engine_version=ENGINE,
            access_policies=self._policy(name),
            cluster_config={
                "instanceType": config.opensearch_instance,
                "instanceCount": 2,
                "zoneAwarenessEnabled": True,
                "zoneAwarenessConfig": {"availabilityZoneCount": 2},
            },
            ebs_options={"ebsEnabled": True, "volumeType": "gp3", "volumeSize": VOLUME_GB},
            encryption_at_rest_options={"enabled": True, "kmsKeyId": key.key_id},
            node_to_node_encryption_options={"enabled": True},
            domain_endpoint_options={
                "enforceHttps": True,
                "tlsSecurityPolicy": "Policy-Min-TLS-1-2-2019-07",
            },
            vpc_options={
                "subnetIds": self._subnets(network),
                "securityGroupIds": [self._door(network).security_group_id],
            },
            log_publishing_options=self._logs(),
            software_update_options={"autoSoftwareUpdateEnabled": True},
        )
        self.domain.apply_removal_policy(RemovalPolicy.DESTROY)
        self._address = f"/cairn/{config.stage}/opensearch-url"
        ssm.StringParameter(
            self,
            "Address",
            parameter_name=self._address,
            description="Cairn: where the search domain answers",
            string_value=f"https://{self.domain.attr_domain_endpoint}",
        )
        self._acknowledge()

    def values_for(self, scope: Construct) -> dict[str, str]:
        """The settings that functions in `scope`'s stack reach it with."""
        url = ssm.StringParameter.value_for_string_parameter(scope, self._address)
        return {"CAIRN_OPENSEARCH_URL": url, "CAIRN_OPENSEARCH_AUTH": "iam"}

    def admit(self, function: CairnFunction, *, keeps: bool) -> None:
        """Let `function` search, and with `keeps` also make, fill and drop the indexes."""
        allowed = KEEPING if keeps else SEARCHING
        place = {"service": "es", "resource": "domain", "resource_name": self._name}
        arn = Stack.of(function).format_arn(**place)
        known_as = finding_arn(Stack.of(function), **place)
        for action, paths in allowed.items():
            resources = [f"{arn}/{path}" for path in paths]
            function.function.add_to_role_policy(
                iam.PolicyStatement(actions=[action], resources=resources)
            )
        patterns = sorted({path for paths in allowed.values() for path in paths if "*" in path})
        acknowledge(
            function,
            "An index is named by random digits made at run time: the function reaches every "
            "index of this one domain whose name begins with cairn-nodes, and no other.",
            *(f"AwsSolutions-IAM5[Resource::{known_as}/{path}]" for path in patterns),
        )

    def _policy(self, name: str) -> dict[str, object]:
        """Leave it to the roles' own policies; a request nobody signed is refused."""
        arn = f"arn:{Aws.PARTITION}:es:{Aws.REGION}:{Aws.ACCOUNT_ID}:domain/{name}/*"
        account = f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:root"
        return {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Principal": {"AWS": account},
                    "Action": "es:ESHttp*",
                    "Resource": arn,
                }
            ],
        }

    def _subnets(self, network: PrivateNetwork) -> list[str]:
        return network.vpc.select_subnets(subnet_group_name="functions").subnet_ids[:2]

    def _door(self, network: PrivateNetwork) -> ec2.SecurityGroup:
        door = ec2.SecurityGroup(
            self,
            "Door",
            vpc=network.vpc,
            description="Cairn search domain, for Cairn functions only",
            allow_all_outbound=False,
        )
        door.add_ingress_rule(network.functions, HTTPS, "from the functions")
        return door

    def _logs(self) -> dict[str, object]:
        group = logs.LogGroup(
            self,
            "Logs",
            retention=logs.RetentionDays.ONE_MONTH,
            removal_policy=RemovalPolicy.DESTROY,
        )
        logs.CfnResourcePolicy(
            self,
            "LogsPolicy",
            policy_name=f"{Stack.of(self).stack_name}-search",
            policy_document=Stack.of(self).to_json_string(
                {
                    "Version": "2012-10-17",
                    "Statement": [
                        {
                            "Effect": "Allow",
                            "Principal": {"Service": "es.amazonaws.com"},
                            "Action": ["logs:PutLogEvents", "logs:CreateLogStream"],
                            "Resource": group.log_group_arn,
                            "Condition": {"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
                        }
                    ],
                }
            ),
        )
        each: dict[str, object] = {
            "enabled": True,
            "cloudWatchLogsLogGroupArn": group.log_group_arn,
        }
        return dict[str, object].fromkeys(sorted(LOGGED), each)

    def _acknowledge(self) -> None:
        acknowledge(
            self.domain,
            "Two data nodes elect among themselves; the index is a copy that PostgreSQL answers "
            "for while it is away, so masters of its own would cost more than they protect.",
            "AwsSolutions-OS4",
        )
        acknowledge(
            self.domain,
            "Only the functions' security group reaches it, inside the network, and every request "
            "is signed: addresses to allow would be those of short-lived network interfaces.",
            "AwsSolutions-OS3",
        )
