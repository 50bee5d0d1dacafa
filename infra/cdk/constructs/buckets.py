"""The buckets: uploads that leave after a week and published sites; anchors that nobody changes.

On AWS both are encrypted and log who reads them; on the laptop they are plain.
"""

# pyright: reportArgumentType=false
# jsii's interfaces name parameters otherwise than the classes that implement them.

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.cdk.constructs.acknowledgement import acknowledge

if TYPE_CHECKING:
    from aws_cdk import aws_kms as kms

    from infra.cdk.config import Config

DAYS_OF_UPLOADS = 7  # a document is in the ledger within minutes; its upload is not kept
EXPIRING = ("ingestions/", "uploads/")  # published sites stay until they are withdrawn
DAYS_OF_ACCESS_LOGS = 90
UPLOAD_HEADERS = ("content-type", "if-none-match", "x-amz-checksum-sha256")
"""What the signature of an upload covers beside its size; browsers ask before they send these."""


class Buckets(Construct):
    """`uploads` and `anchors`."""

    def __init__(self, scope: Construct, *, config: Config, key: kms.Key | None) -> None:
        """`key` encrypts the uploads; without one they rely on S3's own key (the laptop)."""
        super().__init__(scope, "Buckets")
        logs = None if config.is_local else self._access_logs()
        self.uploads = s3.Bucket(
            self,
            "Uploads",
            encryption=s3.BucketEncryption.KMS if key else s3.BucketEncryption.S3_MANAGED,
            encryption_key=key,
            bucket_key_enabled=key is not None,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            enforce_ssl=not config.is_local,  # the emulator speaks plain HTTP
            server_access_logs_bucket=logs,
            server_access_logs_prefix="uploads/" if logs else None,
            lifecycle_rules=[
                s3.LifecycleRule(abort_incomplete_multipart_upload_after=Duration.days(1)),
                *(
                    s3.LifecycleRule(prefix=prefix, expiration=Duration.days(DAYS_OF_UPLOADS))
                    for prefix in EXPIRING
                ),
            ],
            cors=None if config.is_local else [_from_pages(self, config)],  # there, the guard's
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.anchors = s3.Bucket(
            self,
            "Anchors",
            encryption=s3.BucketEncryption.S3_MANAGED,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            enforce_ssl=not config.is_local,
            versioned=True,
            object_lock_enabled=not config.is_local,
            object_lock_default_retention=None
            if config.is_local
            else s3.ObjectLockRetention.compliance(Duration.days(config.anchor_retention_days)),
            server_access_logs_bucket=logs,
            server_access_logs_prefix="anchors/" if logs else None,
            removal_policy=RemovalPolicy.DESTROY
            if config.is_local
            else RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )

    def _access_logs(self) -> s3.Bucket:
        logs = s3.Bucket(
            self,
            "AccessLogs",
            encryption=s3.BucketEncryption.S3_MANAGED,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            enforce_ssl=True,
            lifecycle_rules=[s3.LifecycleRule(expiration=Duration.days(DAYS_OF_ACCESS_LOGS))],
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        acknowledge(
            logs,
            "This bucket receives the access logs of the others; logging itself would loop.",
            "AwsSolutions-S1",
        )
        return logs


def _from_pages(scope: Construct, config: Config) -> s3.CorsRule:
    """Let pages of the console upload: of its own name, else of CloudFront's and the gateway's.

    What an upload may be, its signature says; no cookie is sent, so an origin gives no right.
    """
    stack = Stack.of(scope)
    gateway = f"https://*.execute-api.{stack.region}.{stack.url_suffix}"
    own = config.people.get("console_url", "")
    return s3.CorsRule(
        allowed_origins=[own] if own else ["https://*.cloudfront.net", gateway],
        allowed_methods=[s3.HttpMethods.PUT],
        allowed_headers=list(UPLOAD_HEADERS),
        max_age=3_600,
    )
