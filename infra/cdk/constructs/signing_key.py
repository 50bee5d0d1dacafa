"""The key that signs anchors and tombstones on AWS: it never leaves KMS, and outlives the stack.

Not the key that encrypts: whoever may read data has no reason to sign for it.
"""

# pyright: reportArgumentType=false
# jsii's interfaces name parameters otherwise than the classes that implement them.

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import RemovalPolicy
from aws_cdk import aws_kms as kms
from constructs import Construct

if TYPE_CHECKING:
    from aws_cdk import aws_iam as iam

SIGNING = ("kms:GetPublicKey", "kms:Sign")
CHECKING = ("kms:GetPublicKey",)


class SigningKey(Construct):
    """`key`: ECC_NIST_P256. KMS does not rotate such a key; its public half stays valid."""

    def __init__(self, scope: Construct) -> None:
        """Nobody may sign until `admit` says so."""
        super().__init__(scope, "SigningKey")
        self.key = kms.Key(
            self,
            "Key",
            description="Cairn: signs heads of ledgers and tombstones",
            key_spec=kms.KeySpec.ECC_NIST_P256,
            key_usage=kms.KeyUsage.SIGN_VERIFY,
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )

    def admit(self, grantee: iam.IGrantable, *, signs: bool) -> None:
        """Let `grantee` check signatures, and with `signs` also make them."""
        self.key.grant(grantee, *(SIGNING if signs else CHECKING))
