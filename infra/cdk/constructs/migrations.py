"""Brings the database's schema up to date during a deployment, as the owner.

A function of its own behind a custom resource that changes whenever a migration file does. The
same function issues the first-key claim; see `infra/cdk/migrator/handler.py`.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from aws_cdk import CustomResource, Duration
from constructs import Construct

from infra.cdk.config import ROOT
from infra.cdk.constructs.cairn_function import CairnFunction
from infra.cdk.constructs.database import AUTHORITIES
from infra.cdk.functions import FunctionSpec

if TYPE_CHECKING:
    from infra.cdk.config import Config
    from infra.cdk.constructs.database import Database
    from infra.cdk.constructs.dependency_layers import DependencyLayers
    from infra.cdk.constructs.private_network import PrivateNetwork

FILES = ROOT / "shared" / "cairn" / "storage" / "postgres" / "migrations"
TIMEOUT_SECONDS = 900
MIGRATOR = FunctionSpec(
    name="migrator",
    folder=ROOT / "infra" / "cdk" / "migrator",
    description="Migrates the database at a deployment, and issues the first-key claim",
    layers=("base",),
    memory_mb=512,
    timeout_seconds=TIMEOUT_SECONDS,
    settings=("CAIRN_STAGE", "CAIRN_OWNER_SECRET_ARN", "CAIRN_DATABASE_CA"),
)


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
        migrator = CairnFunction(
            self,
            MIGRATOR,
            config=config,
            values={
                "CAIRN_STAGE": config.stage,
                "CAIRN_OWNER_SECRET_ARN": database.owner.secret_arn,
                "CAIRN_DATABASE_CA": AUTHORITIES,
            },
            layers=layers,
            network=network,
        ).function
        database.owner.grant_read(migrator)
        run = CustomResource(
            self,
            "Run",
            service_token=migrator.function_arn,
            resource_type="Custom::CairnMigrations",
            service_timeout=Duration.seconds(TIMEOUT_SECONDS),
            properties={"Files": _digest()},
        )
        run.node.add_dependency(database.cluster)


def _digest() -> str:
    """Changes when a migration does, so that the next deployment runs it."""
    digest = hashlib.sha256()
    for path in sorted(FILES.glob("*.sql")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
