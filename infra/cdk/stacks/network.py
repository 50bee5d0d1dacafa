"""The network stack: AWS only, the laptop cloud has no network of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import Environment, Fn, Stack

from infra.cdk.constructs.private_network import PrivateNetwork

if TYPE_CHECKING:
    from constructs import Construct

    from infra.cdk.config import Config


class NetworkStack(Stack):
    """`network` is where functions and database live."""

    def __init__(self, scope: Construct, *, config: Config, env: Environment) -> None:
        """Chosen by `config.egress` and `config.zones`."""
        self._zones = [Fn.select(zone, Fn.get_azs()) for zone in range(config.zones)]
        super().__init__(scope, config.stack("network"), env=env)
        self.network = PrivateNetwork(self, config=config)

    @property
    def availability_zones(self) -> list[str]:
        """The region's first zones, found at the deployment: nothing is looked up before."""
        return self._zones
