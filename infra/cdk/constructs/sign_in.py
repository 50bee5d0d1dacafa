"""Who signs clients of MCP in: any OpenID Connect issuer, or a Cognito user pool made here.

A token is for this API's `/mcp` (RFC 8707) and has one of its scopes; which agent it opens is said
by an API key with its `token_subject`. Not the checking of tokens: the application does that.
"""

# pyright: reportArgumentType=false
# jsii's interfaces name parameters otherwise than the classes that implement them.

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import Aws, CfnOutput, RemovalPolicy
from aws_cdk import aws_cognito as cognito
from constructs import Construct

from infra.cdk.constructs.acknowledgement import acknowledge

if TYPE_CHECKING:
    from aws_cdk import aws_lambda as lambda_

    from infra.cdk.config import Config

SCOPES = {
    "public": "Read what is public",
    "shared": "Read and write what is shared",
    "admin": "Read and write the workspace's own",
}


class SignIn(Construct):
    """Tells `function` whose tokens are good; the issuer of `config` does the rest."""

    def __init__(
        self, scope: Construct, *, config: Config, url: str, function: lambda_.Function
    ) -> None:
        """The audience is `/mcp` of `url`, where it is asked, unless `oidc_audience` is set."""
        super().__init__(scope, "SignIn")
        chosen = config.sign_in
        audience = chosen.get("oidc_audience") or f"{url}/mcp"
        issuer, scopes = chosen.get("oidc_issuer", ""), chosen.get("oidc_scopes", "")
        if "cognito_callbacks" in chosen:
            issuer = self._user_pool(config, audience)
            scopes = " ".join(f"{audience}/{name}" for name in SCOPES)
        function.add_environment("CAIRN_OIDC_ISSUER", issuer)
        function.add_environment("CAIRN_OIDC_AUDIENCE", audience)
        if scopes:
            function.add_environment("CAIRN_OIDC_SCOPES", scopes)

    def _user_pool(self, config: Config, audience: str) -> str:
        """Return the address of a user pool whose users and one public client sign in."""
        pool = cognito.UserPool(
            self,
            "Users",
            user_pool_name=f"cairn-{config.stage}",
            feature_plan=cognito.FeaturePlan.ESSENTIALS,  # whose tokens name their audience
            self_sign_up_enabled=False,
            sign_in_aliases=cognito.SignInAliases(email=True),
            mfa=cognito.Mfa.REQUIRED,
            mfa_second_factor=cognito.MfaSecondFactor(otp=True, sms=False),
            account_recovery=cognito.AccountRecovery.EMAIL_ONLY,
            password_policy=cognito.PasswordPolicy(
                min_length=14,
                require_digits=True,
                require_lowercase=True,
                require_symbols=True,
                require_uppercase=True,
            ),
            deletion_protection=True,
            removal_policy=RemovalPolicy.RETAIN,
        )
        pool.add_domain(
            "Domain",
            cognito_domain=cognito.CognitoDomainOptions(
                domain_prefix=f"cairn-{config.stage}-{config.account or Aws.ACCOUNT_ID}"
            ),
        )
        client = self._client(config, pool, audience)
        acknowledge(
            pool,
            "Threat protection is of the Plus plan, which costs by the user; sign-in needs a "
            "second factor, and a token opens nothing until an admin binds it to an agent.",
            "AwsSolutions-COG3",
            "AwsSolutions-COG8",
        )
        CfnOutput(self, "UserPoolId", value=pool.user_pool_id)
        CfnOutput(self, "ClientId", value=client.user_pool_client_id)
        return pool.user_pool_provider_url

    def _client(
        self, config: Config, pool: cognito.UserPool, audience: str
    ) -> cognito.UserPoolClient:
        scopes = [
            cognito.ResourceServerScope(scope_name=name, scope_description=text)
            for name, text in SCOPES.items()
        ]
        server = pool.add_resource_server(
            "Mcp", identifier=audience, user_pool_resource_server_name="cairn", scopes=scopes
        )
        return pool.add_client(
            "Client",
            user_pool_client_name="mcp",
            generate_secret=False,  # clients of MCP are public, and prove themselves with PKCE
            prevent_user_existence_errors=True,
            o_auth=cognito.OAuthSettings(
                flows=cognito.OAuthFlows(authorization_code_grant=True),
                scopes=[cognito.OAuthScope.resource_server(server, scope) for scope in scopes],
                callback_urls=config.sign_in["cognito_callbacks"].split(","),
            ),
        )
