"""Brings the database's schema up to date during a deployment, as the owner.

A function of its own behind a custom resource that changes whenever a migration file or the
embedding model does, and a machine that calls it until it is done. The same function issues the
first-key claim; see
`infra/cdk/migrator/handler.py`.
"""

# pyright: reportArgumentType=false
# jsii's interfaces name parameters otherwise than the classes that implement them.

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from aws_cdk import CustomResource, Duration
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.cdk.config import ROOT
from infra.cdk.constructs.cairn_function import CairnFunction
from infra.cdk.constructs.database import AUTHORITIES
from infra.cdk.constructs.step_machine import logged_machine, machine_arn
from infra.cdk.functions import FunctionSpec

if TYPE_CHECKING:
    from aws_cdk import aws_lambda as lambda_
    from aws_cdk import aws_stepfunctions as sfn

    from infra.cdk.config import Config
    from infra.cdk.constructs.database import Database
    from infra.cdk.constructs.dependency_layers import DependencyLayers
    from infra.cdk.constructs.private_network import PrivateNetwork

FILES = ROOT / "shared" / "cairn" / "adapters" / "postgres" / "migrations"
TIMEOUT_SECONDS = 900
LONGEST = Duration.hours(1)  # CloudFormation waits no longer for a custom resource
MIGRATOR = FunctionSpec(
    name="migrator",
    folder=ROOT / "infra" / "cdk" / "migrator",
    description="Migrates the database at a deployment, and issues the first-key claim",
    layers=("base",),
    memory_mb=512,
    timeout_seconds=TIMEOUT_SECONDS,
    settings=(
        "CAIRN_STAGE",
        "CAIRN_OWNER_SECRET_ARN",
        "CAIRN_DATABASE_CA",
        "CAIRN_MIGRATION_MACHINE_ARN",
        "CAIRN_EMBEDDING_MODEL",
    ),
)
MACHINE = "migration"
DEFINITION = MIGRATOR.folder / "migration.asl.json"


class Migrations(Construct):
    """The migrator and the custom resource that runs it."""

    def __init__(
        self,
        scope: Construct,
        *,
        config: Config,
        database: Database,
        layers: DependencyLayers,
        network: PrivateNetwork,
    ) -> None:
        """Runs after `database` has an instance to connect to."""
        super().__init__(scope, "Migrations")
        model = config.described_model
        described = {"CAIRN_EMBEDDING_MODEL": model} if model else {}
        migrator = CairnFunction(
            self,
            MIGRATOR,
            config=config,
            values={
                **described,
                "CAIRN_STAGE": config.stage,
                "CAIRN_OWNER_SECRET_ARN": database.owner.secret_arn,
                "CAIRN_DATABASE_CA": AUTHORITIES,
                "CAIRN_MIGRATION_MACHINE_ARN": machine_arn(self, config, MACHINE),
            },
            layers=layers,
            network=network,
        ).function
        database.owner.grant_read(migrator)
        machine = self._machine(config, migrator)
        run = CustomResource(
            self,
            "Run",
            service_token=migrator.function_arn,
            resource_type="Custom::CairnMigrations",
            service_timeout=LONGEST,
            properties={"Files": _digest(), "EmbeddingModel": model},
        )
        run.node.add_dependency(database.cluster, machine)

    def _machine(self, config: Config, migrator: lambda_.Function) -> sfn.StateMachine:
        """Make the machine that calls the migrator until nothing is left."""
        machine = logged_machine(
            self,
            MACHINE,
            config=config,
            definition=DEFINITION,
            tasks={"MigratorFunctionArn": migrator},
            logs_id="MachineLogs",
        )
        migrator.add_to_role_policy(
            iam.PolicyStatement(
                actions=["states:StartExecution"], resources=[machine_arn(self, config, MACHINE)]
            )
        )
        return machine


def _digest() -> str:
    """Changes when a migration does, so that the next deployment runs it."""
    digest = hashlib.sha256()
    for path in sorted(FILES.rglob("*.sql")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
