"""The CDK app: `python -m infra.cdk.app` synthesises the stage named by the context.

`-c stage=local` leaves out what the laptop has without a cloud (network, database, keys, layers,
alarms); `-c stage=prod` is everything. Nothing is looked up: synthesis works offline.
"""

from __future__ import annotations

import sys

from aws_cdk import App, Environment, Tags, Validations
from cdk_nag import AwsSolutionsChecks

from infra.cdk.config import Config, SynthRefused, read_config
from infra.cdk.functions import discover
from infra.cdk.stacks.api import ApiStack
from infra.cdk.stacks.data import DataStack
from infra.cdk.stacks.network import NetworkStack
from infra.cdk.stacks.observability import ObservabilityStack
from infra.cdk.stacks.pipeline import PipelineStack
from infra.cdk.stacks.waf import WafStack


def build(app: App, config: Config) -> None:
    """Put the stacks of `config.stage` into `app`."""
    env = Environment(account=config.account, region=config.region)
    specs = discover()
    api = specs.pop("api")
    network = None if config.is_local else NetworkStack(app, config=config, env=env).network
    data = DataStack(app, config=config, env=env, network=network)
    pipeline = PipelineStack(
        app, config=config, env=env, specs=specs, api=api, data=data, network=network
    )
    front = ApiStack(
        app, config=config, env=env, spec=api, data=data, pipeline=pipeline, network=network
    )
    if config.front and config.front.waf != "off" and not config.front.web_acl_arn:
        WafStack(app, config=config, front=config.front)
    if not config.is_local:
        ObservabilityStack(app, config=config, env=env, pipeline=pipeline, front=front)
        hold_to_rules(app)
    Tags.of(app).add("cairn:stage", config.stage)


def hold_to_rules(app: App) -> None:
    """Refuse a synthesis with a finding of cdk-nag's AwsSolutions that nobody acknowledged."""
    Validations.of(app).add_plugins(
        AwsSolutionsChecks(app, write_suppressions_to_cloud_formation=True)
    )


def main() -> None:
    """Synthesise, or say in one line why not."""
    app = App()
    try:
        build(app, read_config(app.node))
    except SynthRefused as refused:
        sys.exit(f"cairn: {refused}")
    app.synth()


if __name__ == "__main__":
    main()
