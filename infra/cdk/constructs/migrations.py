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
