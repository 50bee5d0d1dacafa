"""The api stack: the api function and the HTTP API in front of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import CfnOutput, Environment, Stack

from infra.cdk.constructs.cairn_function import CairnFunction
from infra.cdk.constructs.dependency_layers import DependencyLayers
from infra.cdk.constructs.http_api import HttpApi
from infra.cdk.constructs.sign_in import SignIn
from infra.cdk.constructs.step_machine import SCHEDULED_ONLY, let_answer

if TYPE_CHECKING:
    from constructs import Construct

    from infra.cdk.config import Config
    from infra.cdk.constructs.private_network import PrivateNetwork
    from infra.cdk.functions import FunctionSpec
    from infra.cdk.stacks.data import DataStack
    from infra.cdk.stacks.pipeline import PipelineStack


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
        for name, machine in pipeline.machines.items():
            if name not in SCHEDULED_ONLY:
                machine.grant_start_execution(self.function)
        let_answer(pipeline.machines["investigation"], self.function, config=config)
        self.http = HttpApi(self, config=config, function=self.function)
        if not config.is_local:
            own = config.people.get("console_url") or self.http.api.api_endpoint
            self.function.add_environment("CAIRN_CONSOLE_URL", own)
        if config.has_issuer:
            SignIn(self, config=config, api=self.http.api, function=self.function)
        CfnOutput(self, "HttpApiId", value=self.http.api.http_api_id)
        CfnOutput(self, "HttpApiUrl", value=self.http.url)
