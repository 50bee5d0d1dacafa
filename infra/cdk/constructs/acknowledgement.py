"""Says aloud why a cdk-nag finding is accepted. Not a way to silence one without a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import Acknowledgment, Stack, Token, Validations

from infra.cdk.config import SynthRefused

if TYPE_CHECKING:
    from constructs import IConstruct

SHORTEST_REASON = 30


def acknowledge(construct: IConstruct, reason: str, *findings: str) -> None:
    """Accept `findings` (as cdk-nag prints them, e.g. `AwsSolutions-S1`) on `construct`."""
    if len(reason) < SHORTEST_REASON:
        raise SynthRefused(f"{construct.node.path}: give a real reason for {findings}")
    accepted = [Acknowledgment(id=finding, reason=reason) for finding in findings]
    Validations.of(construct).acknowledge(*accepted)


def finding_arn(
    stack: Stack, *, service: str, resource: str, resource_name: str, sep: str = "/"
) -> str:
    """An ARN as cdk-nag prints it in a finding: `<AWS::Region>` where the stack's is not fixed."""
    region = "<AWS::Region>" if Token.is_unresolved(stack.region) else stack.region
    account = "<AWS::AccountId>" if Token.is_unresolved(stack.account) else stack.account
    return f"arn:<AWS::Partition>:{service}:{region}:{account}:{resource}{sep}{resource_name}"
