"""Lets the function that reads sources of knowledge read the owner's buckets. Only those named.

Not their keys: a bucket under a KMS key of somebody's own is readable once that key's policy says
so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import Stack
from aws_cdk import aws_iam as iam

from infra.cdk.constructs.acknowledgement import acknowledge

if TYPE_CHECKING:
    from collections.abc import Collection

    from infra.cdk.constructs.cairn_function import CairnFunction


def let_read(function: CairnFunction, buckets: Collection[str]) -> None:
    """Let `function` list these buckets and get their objects, and nothing else."""
    partition = Stack.of(function).partition
    for bucket in buckets:
        arn = f"arn:{partition}:s3:::{bucket}"
        for action, resource in (("s3:ListBucket", arn), ("s3:GetObject", f"{arn}/*")):
            function.function.add_to_role_policy(
                iam.PolicyStatement(actions=[action], resources=[resource])
            )
        acknowledge(
            function,
            "What a source's bucket holds is its owner's and changes, so the objects of this one "
            "bucket cannot be listed beforehand.",
            f"AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:s3:::{bucket}/*]",
        )
