"""Lets CDK clear away a data stack whose first deployment failed; `make deploy` runs it first.

CDK protects the stack against deletion before it creates it, so it could not delete what a failed
creation leaves: a stack that holds nothing any more. Not for a stack that ever stood.
"""

from __future__ import annotations

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

NEVER_STOOD = {"CREATE_FAILED", "ROLLBACK_COMPLETE", "ROLLBACK_FAILED"}


def release(aws: Any, *, stack: str) -> bool:
    """Take the protection off `stack` if its creation failed; whether that was so."""
    try:
        cloudformation = aws.client("cloudformation")
        [description] = cloudformation.describe_stacks(StackName=stack)["Stacks"]
        if (
            description["StackStatus"] not in NEVER_STOOD
            or not description["EnableTerminationProtection"]
        ):
            return False
        cloudformation.update_termination_protection(
            StackName=stack, EnableTerminationProtection=False
        )
    except (BotoCoreError, ClientError):
        return False  # there is no such stack, or no way to it: CDK will say so
    return True
