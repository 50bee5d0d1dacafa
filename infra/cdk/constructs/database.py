"""Aurora Serverless v2 PostgreSQL: encrypted, kept, and entered with IAM tokens.

The owner's password exists for the migrator alone; functions connect as `cairn_app`, which owns
nothing and has no password.
"""

# pyright: reportArgumentType=false
# jsii's interfaces name parameters otherwise than the classes that implement them.

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_rds as rds
from constructs import Construct

from infra.cdk.constructs.acknowledgement import acknowledge

if TYPE_CHECKING:
    from aws_cdk import aws_iam as iam
    from aws_cdk import aws_kms as kms

    from infra.cdk.config import Config
    from infra.cdk.constructs.private_network import PrivateNetwork

ENGINE = rds.DatabaseClusterEngine.aurora_postgres(version=rds.AuroraPostgresEngineVersion.VER_17_5)
PORT = 5432
DATABASE = "cairn"
OWNER = "cairn_owner"
APPLICATION = "cairn_app"
KEPT = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE  # but not of a first deployment that failed
IDLE_MILLISECONDS = "60000"
AUTHORITIES = "/opt/certificates/rds.pem"  # in the base layer


class Database(Construct):
    """`cluster`, the `owner`'s secret, and the URL functions connect with."""

    def __init__(
        self, scope: Construct, *, config: Config, network: PrivateNetwork, key: kms.Key
    ) -> None:
        """In isolated subnets; only the functions' security group is let in."""
        super().__init__(scope, "Database")
        credentials = rds.DatabaseSecret(self, "Owner", username=OWNER, encryption_key=key)
        self.cluster = rds.DatabaseCluster(
            self,
            "Cluster",
            engine=ENGINE,
            writer=rds.ClusterInstance.serverless_v2(
                "Writer", publicly_accessible=False, enable_performance_insights=True
            ),
            serverless_v2_min_capacity=config.min_acu,
            serverless_v2_max_capacity=config.max_acu,
            credentials=rds.Credentials.from_secret(credentials),
            default_database_name=DATABASE,
            iam_authentication=True,
            storage_encryption_key=key,
            vpc=network.vpc,
            vpc_subnets=network.database_subnets,
            security_groups=[self._door(network)],
            parameters=_parameters(config),
            backup=rds.BackupProps(retention=Duration.days(config.backup_days)),
            copy_tags_to_snapshot=True,
            cloudwatch_logs_exports=["postgresql"],
            removal_policy=KEPT,
        )
        attached = self.cluster.secret
        assert attached is not None
        self.owner = attached
        for part in self.cluster.node.find_all():  # a kept cluster cannot be without them
            if isinstance(part, rds.CfnDBInstance | rds.CfnDBSubnetGroup):
                part.apply_removal_policy(KEPT)
        self._acknowledge(credentials)

    def _door(self, network: PrivateNetwork) -> ec2.SecurityGroup:
        door = ec2.SecurityGroup(
            self,
            "Door",
            vpc=network.vpc,
            description="Cairn database, for Cairn functions only",
            allow_all_outbound=False,
        )
        door.add_ingress_rule(network.functions, ec2.Port.tcp(PORT), "from the functions")
        return door

    def _acknowledge(self, credentials: rds.DatabaseSecret) -> None:
        acknowledge(
            credentials,
            "Only the migrator reads the owner's password, at deployments; functions use IAM "
            "tokens. Rotation would need another function in the network for a secret nobody uses.",
            "AwsSolutions-SMG4",
        )
        acknowledge(
            self.cluster,
            "The port is reached by the functions' security group only; another number would "
            "hide nothing from them and surprise every operator.",
            "AwsSolutions-RDS11",
        )
        acknowledge(
            self.cluster,
            "The protector turns deletion protection on as the last step of the deployment: what "
            "is protected before it stands could not be rolled back.",
            "AwsSolutions-RDS10",
        )

    @property
    def application_url(self) -> str:
        """What functions connect with: no password, the certificate checked."""
        host = self.cluster.cluster_endpoint.hostname
        checked = f"sslmode=verify-full&sslrootcert={AUTHORITIES}"
        return f"postgresql://{APPLICATION}@{host}:{PORT}/{DATABASE}?{checked}"

    def admit(self, grantee: iam.IGrantable) -> None:
        """Let `grantee` ask for tokens of the application role."""
        self.cluster.grant_connect(grantee, APPLICATION)


def _parameters(config: Config) -> dict[str, str] | None:
    """Return the parameters of a database that may pause: it does not while anybody is connected.

    A frozen function keeps its connections; the pool opens others when it is woken.
    """
    return None if config.min_acu else {"idle_session_timeout": IDLE_MILLISECONDS}
