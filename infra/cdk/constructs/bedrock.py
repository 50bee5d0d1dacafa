"""Lets a function ask the chosen models of Amazon Bedrock, and no others.

Not the way there: the network has an endpoint, or a NAT gateway, when a model is chosen.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aws_cdk import Stack
from aws_cdk import aws_iam as iam

from infra.cdk.constructs.acknowledgement import acknowledge

if TYPE_CHECKING:
    from collections.abc import Collection

    from aws_cdk import aws_lambda as lambda_
    from constructs import Construct

PROFILE = re.compile(r"(?P<where>us|eu|apac|au|ca|jp|us-gov|global)\.(?P<model>.+)")
"""An inference profile of AWS: a model's id after the part of the world that answers."""


def let_ask(construct: Construct, grantee: lambda_.Function, models: Collection[str]) -> None:
    """Let `grantee` invoke `models`, by id or inference profile."""
    for model in models:
        profile = PROFILE.fullmatch(model)
        resources = _arns(construct, model, profile)
        grantee.add_to_role_policy(
            iam.PolicyStatement(actions=["bedrock:InvokeModel"], resources=resources)
        )
        if profile:
            acknowledge(
                construct,
                "An inference profile answers from whichever region of its part of the world has "
                "room, so the one model it stands for is allowed in every region.",
                # cdk-nag writes the partition so; a token cannot be a part of what is acknowledged
                f"AwsSolutions-IAM5[Resource::{_everywhere('<AWS::Partition>', profile['model'])}]",
            )


def _arns(construct: Construct, model: str, profile: re.Match[str] | None) -> list[str]:
    stack = Stack.of(construct)
    here = f"arn:{stack.partition}:bedrock:{stack.region}"
    if profile is None:
        return [f"{here}::foundation-model/{model}"]
    profile_arn = f"{here}:{stack.account}:inference-profile/{model}"
    return [profile_arn, _everywhere(stack.partition, profile["model"])]


def _everywhere(partition: str, model: str) -> str:
    return f"arn:{partition}:bedrock:*::foundation-model/{model}"
