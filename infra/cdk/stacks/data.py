"""The data stack: whatever must outlive a deployment, and the migrations that shape it.

On the laptop only the buckets: database and keys are files there.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from aws_cdk import CfnOutput, Environment, RemovalPolicy, SecretValue, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms

from infra.cdk.constructs.acknowledgement import acknowledge
from infra.cdk.constructs.buckets import Buckets
from infra.cdk.constructs.cairn_function import SAML_METADATA
from infra.cdk.constructs.database import Database
from infra.cdk.constructs.dependency_layers import DependencyLayers
from infra.cdk.constructs.key_table import KeyTable
from infra.cdk.constructs.migrations import Migrations
from infra.cdk.constructs.protection import Protection
from infra.cdk.constructs.search_domain import SearchDomain
from infra.cdk.constructs.signing_key import SigningKey

if TYPE_CHECKING:
    from constructs import Construct

    from infra.cdk.config import Config
    from infra.cdk.constructs.cairn_function import CairnFunction
    from infra.cdk.constructs.private_network import PrivateNetwork

KEY_ITEMS = (
    "dynamodb:BatchGetItem",
    "dynamodb:GetItem",
    "dynamodb:PutItem",
    "dynamodb:UpdateItem",
)
SEALING = ("kms:Decrypt", "kms:GenerateDataKey")
READ = frozenset({"s3:GetObject"})
WRITE = frozenset({"s3:PutObject"})
CLEAN_UP = frozenset({"s3:DeleteObject"})
EVERY_VERSION = frozenset({"s3:GetObjectVersion", "s3:DeleteObjectVersion"})
CODE_ON_AWS, MODELS_ON_AWS = "/var/task", "/opt/model"


class DataStack(Stack):
    """`buckets`, `values` of the settings this stack decides, and who may reach the data."""

    def __init__(
        self,
        scope: Construct,
        *,
        config: Config,
        env: Environment,
        network: PrivateNetwork | None,
    ) -> None:
        """Without a `network` (the laptop) only the buckets are made."""
        super().__init__(
            scope, config.stack("data"), env=env, termination_protection=not config.is_local
        )
        self.key: kms.Key | None = None
        self._database: Database | None = None
        self._key_table: KeyTable | None = None
        self._signing: SigningKey | None = None
        self._search: SearchDomain | None = None
        if network:
            self._make_database_and_keys(config, network)
        self.buckets = Buckets(self, config=config, key=self.key)
        self._exported = {
            name: self.export_value(bucket.bucket_arn, name=self._export(name))
            for name, bucket in (
                ("uploads", self.buckets.uploads),
                ("anchors", self.buckets.anchors),
            )
        }
        self.values = self._values(config)
        if self._database and self._key_table:
            Protection(self, config=config, database=self._database, key_table=self._key_table)
        CfnOutput(self, "UploadsBucketName", value=self.buckets.uploads.bucket_name)
        CfnOutput(self, "AnchorBucketName", value=self.buckets.anchors.bucket_name)

    def _make_database_and_keys(self, config: Config, network: PrivateNetwork) -> None:
        self.key = kms.Key(
            self,
            "Key",
            description="Cairn: database, uploads, and the wrapping of data subjects' keys",
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
        self._database = Database(self, config=config, network=network, key=self.key)
        self._key_table = KeyTable(self, key=self.key)
        self._signing = SigningKey(self)
        if config.opensearch:
            self._search = SearchDomain(self, config=config, network=network, key=self.key)
        layers = DependencyLayers(self, config=config)
        Migrations(self, config=config, database=self._database, layers=layers, network=network)

    def admit(self, grantee: iam.IGrantable) -> None:
        """Let `grantee` into the database, and to the keys bodies are sealed with."""
        if self._database:
            self._database.admit(grantee)
        if self._key_table and self.key:
            self._key_table.table.grant(grantee, *KEY_ITEMS)
            self.key.grant(grantee, *SEALING)

    def admit_to_search(self, function: CairnFunction, *, keeps: bool) -> None:
        """Let `function` search the index, if there is one, and with `keeps` also keep it."""
        if self._search:
            self._search.admit(function, keeps=keeps)

    def search_values(self, scope: Construct) -> dict[str, str]:
        """The settings of the index for functions in `scope`'s stack, if there is one."""
        return self._search.values_for(scope) if self._search else {}

    def share_uploads(self, function: CairnFunction, *, forgets: bool = False) -> None:
        """Let `function` read, write and clean up uploads, and with `forgets` every version."""
        actions = READ | WRITE | CLEAN_UP
        self._share(function, "uploads", actions | EVERY_VERSION if forgets else actions)
        if forgets:
            function.function.add_to_role_policy(
                iam.PolicyStatement(
                    actions=["s3:ListBucketVersions"], resources=[self._exported["uploads"]]
                )
            )
        if self.key:
            self.key.grant(function.function, *SEALING)

    def share_anchors(self, function: CairnFunction, *, adds: bool) -> None:
        """Let `function` read and check anchors, and with `adds` sign and add some.

        Nobody may delete one.
        """
        self._share(function, "anchors", READ | WRITE if adds else READ)
        if self._signing:
            self._signing.admit(function.function, signs=adds)

    def _share(self, function: CairnFunction, name: str, actions: frozenset[str]) -> None:
        """Named actions on the objects of one bucket, found by other stacks by its export."""
        arn = self._exported[name]
        principal = function.function
        principal.add_to_role_policy(
            iam.PolicyStatement(actions=sorted(actions), resources=[f"{arn}/*"])
        )
        principal.add_to_role_policy(
            iam.PolicyStatement(actions=["s3:ListBucket"], resources=[arn])
        )
        acknowledge(
            function,
            "Object names are random ids made at run time, so the objects of this one bucket "
            "cannot be listed beforehand.",
            f"AwsSolutions-IAM5[Resource::{self._export(name)}/*]",
        )

    def _export(self, name: str) -> str:
        return f"{self.stack_name}-{name}"

    def _values(self, config: Config) -> dict[str, str]:
        values = {
            "CAIRN_STAGE": config.stage,
            "CAIRN_LOG_LEVEL": config.log_level,
            **_optional_setting("CAIRN_OTLP_ENDPOINT", config.otlp_endpoint),
            "CAIRN_CORS_ORIGINS": config.cors_origins,
            "CAIRN_SITES_URL": config.sites_url,
            "CAIRN_EDITION": config.edition,
            "CAIRN_EMBEDDER": config.embedder,
            **_optional_setting("CAIRN_ONNX_EMBEDDING_MODEL", config.onnx_embedding_model),
            "CAIRN_SIMILAR_EDGES": config.similar_edges,
            "CAIRN_WEBHOOKS": config.webhooks,
            "CAIRN_SEARCH_RUN_DAYS": str(config.search_run_days),
            "CAIRN_INVESTIGATIONS": str(config.investigations),
            "CAIRN_DEGRADED_ABOVE": str(config.degraded_above),
            **{
                f"CAIRN_{name.upper()}": str(number)
                for name, number in (*config.ageing.items(), *config.allowances.items())
            },
            **{
                f"CAIRN_{name.upper()}": value
                for name, value in (
                    *config.openai.items(),
                    *config.chat.items(),
                    *config.constants.items(),
                    *(
                        (name, value)
                        for name, value in config.people.items()
                        if "secret_arn" not in name
                    ),
                )
            },
            "CAIRN_SOURCE_BUCKETS": ",".join(config.source_buckets),
            "CAIRN_UPLOADS_BUCKET": self.buckets.uploads.bucket_name,
            "CAIRN_ANCHOR_BUCKET": self.buckets.anchors.bucket_name,
        }
        if self._database and self._key_table and self._signing and self.key:
            return values | {
                "CAIRN_APP_DATABASE_URL": self._database.application_url,
                "CAIRN_DATABASE_AUTH": "iam",
                "CAIRN_KEY_STORE": f"dynamodb:{self._key_table.table.table_name}",
                "CAIRN_KMS_KEY_ARN": self.key.key_arn,
                "CAIRN_SIGNING_KEY": f"kms:{self._signing.key.key_arn}",
                "CAIRN_MODEL_DIR": f"{MODELS_ON_AWS}/{Path(config.model_dir).name}",
                **_key("CAIRN_OPENAI_API_KEY", config.openai_secret_arn),
                **_key("CAIRN_ANTHROPIC_API_KEY", config.anthropic_secret_arn),
                **_in_asset("CAIRN_SIGN_IN_SAML", config.saml_metadata),
                **_key("CAIRN_SIGN_IN_CLIENT_SECRET", config.people.get("sign_in_secret_arn", "")),
            }
        if config.opensearch_url:
            values["CAIRN_OPENSEARCH_URL"] = config.opensearch_url
        return values | {
            "CAIRN_APP_DATABASE_URL": config.app_database_url,
            "CAIRN_DATABASE_AUTH": "password",
            "CAIRN_CONNECTOR_COMMANDS": config.connector_commands,
            **{f"CAIRN_{name.upper()}": value for name, value in config.sources.items()},
            "CAIRN_KEY_STORE": config.key_store,
            "CAIRN_SIGNING_KEY": config.signing_key,
            "CAIRN_MODEL_DIR": config.model_dir,
        }


def _optional_setting(setting: str, value: str) -> dict[str, str]:
    return {setting: value} if value else {}


def _in_asset(setting: str, source: Path | None) -> dict[str, str]:
    """A setting that names a file of the deployment's own, as the function finds it."""
    return {setting: f"{CODE_ON_AWS}/{SAML_METADATA}"} if source else {}


def _key(setting: str, secret_arn: str) -> dict[str, str]:
    """An API key as CloudFormation resolves it at a deployment: never in a template."""
    if not secret_arn:
        return {}
    return {setting: SecretValue.secrets_manager(secret_arn).unsafe_unwrap()}
