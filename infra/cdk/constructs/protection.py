"""Protects what holds the ledger against deletion, as the last step of the data stack's deployment.

Not a property of the resources: CloudFormation could not take them back when their first deployment
fails. See `infra/cdk/protector/handler.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import CustomResource, Duration, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.cdk.config import ROOT
from infra.cdk.constructs.cairn_function import CairnFunction
from infra.cdk.functions import FunctionSpec

if TYPE_CHECKING:
    from infra.cdk.config import Config
    from infra.cdk.constructs.database import Database
    from infra.cdk.constructs.key_table import KeyTable

TIMEOUT_SECONDS = 60
PROTECTOR = FunctionSpec(
    name="protector",
    folder=ROOT / "infra" / "cdk" / "protector",
    description="Protects the database and the key table against deletion, once they stand",
    layers=(),
    memory_mb=128,
    timeout_seconds=TIMEOUT_SECONDS,
    settings=("CAIRN_DATABASE_CLUSTER", "CAIRN_KEY_TABLE"),
)


class Protection(Construct):
    """The protector and the custom resource that runs it after everything else in its stack."""

    def __init__(
        self, scope: Construct, *, config: Config, database: Database, key_table: KeyTable
    ) -> None:
        """To be made last: what is made afterwards could fail while the resources are protected."""
        super().__init__(scope, "Protection")
        cluster, table = database.cluster, key_table.table
        protector = CairnFunction(
            self,
            PROTECTOR,
            config=config,
            values={
                "CAIRN_DATABASE_CLUSTER": cluster.cluster_identifier,
                "CAIRN_KEY_TABLE": table.table_name,
            },
            layers=None,
            network=None,  # the private one leads to neither service's control plane
        ).function
        for action, resource in (
            ("rds:ModifyDBCluster", cluster.cluster_arn),
            ("dynamodb:UpdateTable", table.table_arn),
        ):
            protector.add_to_role_policy(
                iam.PolicyStatement(actions=[action], resources=[resource])
            )
        run = CustomResource(
            self,
            "Run",
            service_token=protector.function_arn,
            resource_type="Custom::CairnProtection",
            service_timeout=Duration.seconds(TIMEOUT_SECONDS),
            properties={  # what changes the cluster, after which it is protected again
                "Capacity": f"{config.min_acu:g}-{config.max_acu:g}",
                "BackupDays": str(config.backup_days),
                "Zones": str(config.zones),
            },
        )
        run.node.add_dependency(
            *(child for child in Stack.of(self).node.children if child is not self)
        )
        run.node.add_dependency(protector)
