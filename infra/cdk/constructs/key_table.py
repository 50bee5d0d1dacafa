"""Where data subjects' wrapped keys live on AWS: a table without backups, on purpose.

Forgetting someone destroys their key. A backup would bring it back.
"""

# pyright: reportArgumentType=false
# jsii's interfaces name parameters otherwise than the classes that implement them.

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct

from infra.cdk.constructs.acknowledgement import acknowledge

if TYPE_CHECKING:
    from aws_cdk import aws_kms as kms


class KeyTable(Construct):
    """`table`: one item for each (workspace_id, subject_id)."""

    def __init__(self, scope: Construct, *, key: kms.Key) -> None:
        """`key` encrypts the table at rest; the items hold keys wrapped by it besides."""
        super().__init__(scope, "SubjectKeys")
        self.table = dynamodb.Table(
            self,
            "Table",
            partition_key=dynamodb.Attribute(
                name="workspace_id", type=dynamodb.AttributeType.STRING
            ),
            sort_key=dynamodb.Attribute(name="subject_id", type=dynamodb.AttributeType.STRING),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            encryption=dynamodb.TableEncryption.CUSTOMER_MANAGED,
            encryption_key=key,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=False
            ),
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        acknowledge(
            self.table,
            "Destroying a key is how a person is forgotten; a restore would undo it. The table is "
            "protected against deletion instead, and replicated across zones by DynamoDB.",
            "AwsSolutions-DDB3",
        )
