"""The api stack: the api function and the HTTP API and CloudFront in front of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import CfnOutput, Environment, Stack
from aws_cdk import aws_lambda_event_sources as sources

from infra.cdk.constructs.cairn_function import CairnFunction
from infra.cdk.constructs.dependency_layers import DependencyLayers
from infra.cdk.constructs.front import Front
from infra.cdk.constructs.http_api import HttpApi
from infra.cdk.constructs.sign_in import SignIn
from infra.cdk.constructs.step_machine import SCHEDULED_ONLY, let_answer

if TYPE_CHECKING:
    from constructs import Construct

    from infra.cdk.config import Config, FrontOptions
    from infra.cdk.constructs.private_network import PrivateNetwork
    from infra.cdk.functions import FunctionSpec
    from infra.cdk.stacks.data import DataStack
    from infra.cdk.stacks.pipeline import PipelineStack

CHANNELS_AT_ONCE = 4
"""Messages of messaging channels that are worked at the same time, one an invocation."""


class ApiStack(Stack):
    """`function` is the api's Lambda, `http` its front."""

    def __init__(
        self,
        scope: Construct,
        *,
        config: Config,
        env: Environment,
        spec: FunctionSpec,
        data: DataStack,
        pipeline: PipelineStack,
        network: PrivateNetwork | None,
    ) -> None:
        """The api writes memories itself, starts ingestions and hands out upload links."""
        super().__init__(scope, config.stack("api"), env=env)
        layers = None if config.is_local else DependencyLayers(self, config=config)
        values = pipeline.values | data.search_values(self)
        function = CairnFunction(
            self, spec, config=config, values=values, layers=layers, network=network
        )
        self.function = function.function
        data.admit(self.function)
        data.share_uploads(function, forgets=True)
        data.share_anchors(function, adds=True)  # forgetting leaves a signed tombstone
        data.admit_to_search(function, keeps=False)
        for worked in pipeline.queues.values():
            worked.queue.grant_send_messages(self.function)
        self.function.add_event_source(
            sources.SqsEventSource(
                pipeline.queues["channel"].queue,
                batch_size=1,  # one answer that is slow keeps nobody else waiting
                max_concurrency=CHANNELS_AT_ONCE,
                report_batch_item_failures=True,
            )
        )
        for name, machine in pipeline.machines.items():
            if name not in SCHEDULED_ONLY:
                machine.grant_start_execution(self.function)
        let_answer(pipeline.machines["investigation"], self.function, config=config)
        self.http = HttpApi(self, config=config, function=self.function)
        url = self._put_behind(config.front, config) if config.front else self.http.api.api_endpoint
        if not config.is_local:
            own = config.people.get("console_url") or url
            self.function.add_environment("CAIRN_CONSOLE_URL", own)
            CfnOutput(self, "Url", value=url)
        if config.has_issuer:
            SignIn(self, config=config, url=url, function=self.function)
        CfnOutput(self, "HttpApiId", value=self.http.api.http_api_id)
        CfnOutput(self, "HttpApiUrl", value=self.http.url)

    def _put_behind(self, options: FrontOptions, config: Config) -> str:
        """Put CloudFront in front of the API and let it believe it; return where it is asked."""
        front = Front(self, config=config, options=options, api=self.http.api)
        self.function.add_environment("CAIRN_EDGE_SECRETS", front.secrets)
        self.function.add_environment("CAIRN_EDGE_ONLY", "on" if options.only else "off")
        # CloudFront sends another secret before the function forgets the last one
        for name, distribution in (("Console", front.console), ("Sites", front.sites)):
            if distribution:
                self.function.node.add_dependency(distribution)
                CfnOutput(self, f"{name}DomainName", value=distribution.distribution_domain_name)
        return front.url
