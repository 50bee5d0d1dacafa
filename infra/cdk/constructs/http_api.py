"""The HTTP API in front of the api function: one default route, throttled and logged.

Not an authorizer: API keys are checked in the application. With `jwt_issuer` a second prefix,
`/jwt`, leads to the same routes and wants a token of that issuer besides, in a header of its own
(`Authorization` carries the API key).
"""

# pyright: reportArgumentType=false
# jsii's interfaces name parameters otherwise than the classes that implement them.

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from aws_cdk import RemovalPolicy
from aws_cdk import aws_apigatewayv2 as apigw
from aws_cdk import aws_apigatewayv2_authorizers as authorizers
from aws_cdk import aws_apigatewayv2_integrations as integrations
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.cdk.config import SynthRefused
from infra.cdk.constructs.acknowledgement import acknowledge

if TYPE_CHECKING:
    from aws_cdk import aws_lambda as lambda_

    from infra.cdk.config import Config

TOKEN_HEADER = "$request.header.X-Identity-Token"
LOGGED = {
    "request_id": "$context.requestId",
    "time": "$context.requestTime",
    "method": "$context.httpMethod",
    "route": "$context.routeKey",
    "status": "$context.status",
    "latency_ms": "$context.responseLatency",
    "response_bytes": "$context.responseLength",
    "integration_error": "$context.integrationErrorMessage",
}


class HttpApi(Construct):
    """`api` is the API, `url` where its default stage answers."""

    def __init__(self, scope: Construct, *, config: Config, function: lambda_.Function) -> None:
        """All routes go to `function`, which does its own routing."""
        super().__init__(scope, "HttpApi")
        integration = integrations.HttpLambdaIntegration("Api", function)
        self.api = apigw.HttpApi(
            self,
            "Api",
            api_name=f"cairn-{config.stage}",
            default_integration=integration,
            create_default_stage=False,
        )
        stage = apigw.HttpStage(
            self,
            "Stage",
            http_api=self.api,
            stage_name="$default",
            auto_deploy=True,
            throttle=apigw.ThrottleSettings(
                rate_limit=config.requests_a_second, burst_limit=config.request_burst
            ),
        )
        self.url = stage.url
        self._log_access(stage, config)
        if config.jwt_issuer:
            self._take_tokens(config.jwt_issuer, config.jwt_audience, integration)
        acknowledge(
            self.api,
            "API keys are checked by the application, in the database, on every request; "
            "health, readiness and the API description are open on purpose.",
            "AwsSolutions-APIG4",
        )

    def _log_access(self, stage: apigw.HttpStage, config: Config) -> None:
        log_group = logs.LogGroup(
            self,
            "AccessLogs",
            log_group_name=f"/aws/vendedlogs/apigateway/cairn-{config.stage}",
            retention=logs.RetentionDays.THREE_MONTHS,
            removal_policy=RemovalPolicy.DESTROY,
        )
        resource = stage.node.default_child
        assert isinstance(resource, apigw.CfnStage)
        resource.access_log_settings = apigw.CfnStage.AccessLogSettingsProperty(
            destination_arn=log_group.log_group_arn, format=json.dumps(LOGGED)
        )

    def _take_tokens(
        self,
        issuer: str,
        audience: tuple[str, ...],
        integration: integrations.HttpLambdaIntegration,
    ) -> None:
        if not audience:
            raise SynthRefused("jwt_issuer needs jwt_audience: a token for anyone proves nothing")
        path = "/jwt/{proxy+}"
        self.api.add_routes(  # a browser sends no token ahead of the request it asks about
            path=path, methods=[apigw.HttpMethod.OPTIONS], integration=integration
        )
        self.api.add_routes(
            path=path,
            methods=[apigw.HttpMethod.ANY],
            integration=integration,
            authorizer=authorizers.HttpJwtAuthorizer(
                "Tokens", issuer, jwt_audience=list(audience), identity_source=[TOKEN_HEADER]
            ),
        )
