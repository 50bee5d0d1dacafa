"""CloudFront in front of the API: a distribution for the console and the API, one for the sites.

Static files are kept at the edge by their path; everything else is passed on whole, and kept by
nobody. Each request carries a secret that the API knows, and who asked for which host
(`cairn.api.edge`). Not the rules against floods, which have a stack of their own.
"""

# pyright: reportArgumentType=false
# jsii's interfaces name parameters otherwise than the classes that implement them.

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from aws_cdk import Duration, Stack
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_cloudfront as cloudfront
from aws_cdk import aws_cloudfront_origins as origins
from aws_cdk import aws_secretsmanager as secrets
from constructs import Construct

from infra.cdk.constructs.acknowledgement import acknowledge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aws_cdk import aws_apigatewayv2 as apigw

    from infra.cdk.config import Config, FrontOptions

SECRET_CHARS = 64
SECRET_HEADER, VIEWER_HEADER, HOST_HEADER = "x-cairn-edge", "x-cairn-viewer", "x-cairn-host"
STATIC = ("/console/static/*", "/widget.js")
"""What is the same for everybody, and says itself how long it may be kept."""

ERRORS = (400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504)
"""Answers that CloudFront would keep for ten seconds, and give to others, if it were not told."""

PRICE_CLASSES = {
    "100": cloudfront.PriceClass.PRICE_CLASS_100,
    "200": cloudfront.PriceClass.PRICE_CLASS_200,
    "all": cloudfront.PriceClass.PRICE_CLASS_ALL,
}


class Front(Construct):
    """`url` is where people and programs ask, `secrets` what the API believes."""

    def __init__(
        self, scope: Construct, *, config: Config, options: FrontOptions, api: apigw.HttpApi
    ) -> None:
        """Two secrets stand at a time: the one that is sent, and the one that will be."""
        super().__init__(scope, "Front")
        self._options = options
        sent, coming = (self._secret(options.secret + each) for each in range(2))
        self.secrets = ",".join(
            each.secret_value.unsafe_unwrap()  # resolved at a deployment, in no template
            for each in (sent, coming)
        )
        stack = Stack.of(self)
        self._origin = origins.HttpOrigin(
            f"{api.http_api_id}.execute-api.{stack.region}.{stack.url_suffix}",
            protocol_policy=cloudfront.OriginProtocolPolicy.HTTPS_ONLY,
            origin_ssl_protocols=[cloudfront.OriginSslPolicy.TLS_V1_2],
            read_timeout=Duration.seconds(30),  # the gateway's own
            custom_headers={SECRET_HEADER: sent.secret_value.unsafe_unwrap()},
        )
        self._viewer = cloudfront.Function(
            self,
            "Viewer",
            comment="Cairn: tells the API who asks, and for which host",
            code=cloudfront.FunctionCode.from_file(
                file_path=str(Path(__file__).with_suffix(".js"))
            ),
            runtime=cloudfront.FunctionRuntime.JS_2_0,
        )
        self._headers = self._security_headers()
        console = config.people.get("console_url", "") if options.console_certificate_arn else ""
        self.console = self._console(console)
        self.url = console or f"https://{self.console.distribution_domain_name}"
        self.sites = self._sites(config.sites_url) if options.sites_certificate_arn else None

    def _name(self, what: str) -> str:
        """Return the name of a policy: an account has them for all regions together."""
        stack = Stack.of(self)
        return f"{stack.stack_name}-{stack.region}-{what}"

    def _secret(self, number: int) -> secrets.Secret:
        secret = secrets.Secret(
            self,
            f"Secret{number}",
            description="Cairn: what CloudFront proves itself to the API with",
            generate_secret_string=secrets.SecretStringGenerator(
                password_length=SECRET_CHARS, exclude_punctuation=True
            ),
        )
        acknowledge(
            secret,
            "CloudFront and the function take its value at a deployment only, so it is changed by "
            "one: the option edge_secret, with two values accepted all the time.",
            "AwsSolutions-SMG4",
        )
        return secret

    def _security_headers(self) -> cloudfront.ResponseHeadersPolicy:
        """Return those that also an answer of CloudFront itself has; policies of content are the
        app's."""
        year = Duration.days(365)
        return cloudfront.ResponseHeadersPolicy(
            self,
            "Headers",
            response_headers_policy_name=self._name("headers"),
            comment="Cairn: what every answer says to browsers",
            security_headers_behavior=cloudfront.ResponseSecurityHeadersBehavior(
                content_type_options=cloudfront.ResponseHeadersContentTypeOptions(override=True),
                frame_options=cloudfront.ResponseHeadersFrameOptions(
                    frame_option=cloudfront.HeadersFrameOption.DENY, override=False
                ),
                referrer_policy=cloudfront.ResponseHeadersReferrerPolicy(
                    referrer_policy=cloudfront.HeadersReferrerPolicy.NO_REFERRER, override=False
                ),
                strict_transport_security=cloudfront.ResponseHeadersStrictTransportSecurity(
                    access_control_max_age=year, override=True
                ),
            ),
            remove_headers=["server"],
        )

    def _console(self, url: str) -> cloudfront.Distribution:
        static = self._behavior(cache_policy=cloudfront.CachePolicy.CACHING_OPTIMIZED)
        return self._distribution(
            "Console",
            comment="Cairn: the console and the API",
            url=url,
            certificate_arn=self._options.console_certificate_arn,
            default=self._behavior(
                allowed_methods=cloudfront.AllowedMethods.ALLOW_ALL,
                cache_policy=cloudfront.CachePolicy.CACHING_DISABLED,
                origin_request_policy=(
                    cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER
                ),
            ),
            others=dict.fromkeys(STATIC, static),
        )

    def _sites(self, url: str) -> cloudfront.Distribution:
        """Return what serves sites: no cookie reaches them, and the API says what may be kept."""
        kept_as_told = cloudfront.CachePolicy(
            self,
            "SitesCache",
            cache_policy_name=self._name("sites"),
            comment="Cairn: sites are kept as the API says, a page is asked for each time",
            min_ttl=Duration.seconds(0),
            default_ttl=Duration.seconds(0),
            max_ttl=Duration.hours(1),
            query_string_behavior=cloudfront.CacheQueryStringBehavior.all(),
            header_behavior=cloudfront.CacheHeaderBehavior.allow_list(HOST_HEADER),
            enable_accept_encoding_brotli=True,
            enable_accept_encoding_gzip=True,
        )
        bare = cloudfront.OriginRequestPolicy(
            self,
            "SitesRequests",
            origin_request_policy_name=self._name("sites"),
            comment="Cairn: who asks, and no cookies; the host is the cache's",
            header_behavior=cloudfront.OriginRequestHeaderBehavior.allow_list(VIEWER_HEADER),
            cookie_behavior=cloudfront.OriginRequestCookieBehavior.none(),
            query_string_behavior=cloudfront.OriginRequestQueryStringBehavior.all(),
        )
        return self._distribution(
            "Sites",
            comment="Cairn: published sites",
            url=url,
            certificate_arn=self._options.sites_certificate_arn,
            default=self._behavior(cache_policy=kept_as_told, origin_request_policy=bare),
            others={},
        )

    def _behavior(
        self,
        *,
        cache_policy: cloudfront.ICachePolicy,
        allowed_methods: cloudfront.AllowedMethods = cloudfront.AllowedMethods.ALLOW_GET_HEAD,
        origin_request_policy: cloudfront.IOriginRequestPolicy | None = None,
    ) -> cloudfront.BehaviorOptions:
        return cloudfront.BehaviorOptions(
            origin=self._origin,
            viewer_protocol_policy=cloudfront.ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
            allowed_methods=allowed_methods,
            cache_policy=cache_policy,
            origin_request_policy=origin_request_policy,
            response_headers_policy=self._headers,
            function_associations=[
                cloudfront.FunctionAssociation(
                    function=self._viewer, event_type=cloudfront.FunctionEventType.VIEWER_REQUEST
                )
            ],
        )

    def _distribution(
        self,
        name: str,
        *,
        comment: str,
        url: str,
        certificate_arn: str,
        default: cloudfront.BehaviorOptions,
        others: Mapping[str, cloudfront.BehaviorOptions],
    ) -> cloudfront.Distribution:
        certificate = (
            acm.Certificate.from_certificate_arn(self, f"{name}Certificate", certificate_arn)
            if certificate_arn
            else None
        )
        distribution = cloudfront.Distribution(
            self,
            name,
            comment=comment,
            default_behavior=default,
            additional_behaviors=others,
            domain_names=[urlsplit(url).netloc] if certificate else None,
            certificate=certificate,
            minimum_protocol_version=(
                cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021 if certificate else None
            ),
            error_responses=[
                cloudfront.ErrorResponse(http_status=status, ttl=Duration.seconds(0))
                for status in ERRORS
            ],
            http_version=cloudfront.HttpVersion.HTTP2_AND_3,
            price_class=PRICE_CLASSES[self._options.price_class],
            web_acl_id=self._options.web_acl_arn or None,
        )
        _accept(distribution)
        return distribution


def _accept(distribution: cloudfront.Distribution) -> None:
    acknowledge(
        distribution,
        "Who may ask is decided by keys and sessions, not by country; an operator who sells in one "
        "country alone says so in rules of their own (web_acl_arn).",
        "AwsSolutions-CFR1",
    )
    acknowledge(
        distribution,
        "The rules are a stack of us-east-1, which `make deploy` deploys first and whose ARN it "
        "passes; waf=off is an operator's choice and in the guide.",
        "AwsSolutions-CFR2",
    )
    acknowledge(
        distribution,
        "The gateway writes a line for each request that is passed on, without addresses of "
        "people; a log of CloudFront's own would hold them.",
        "AwsSolutions-CFR3",
    )
    acknowledge(
        distribution,
        "Without a certificate the name is CloudFront's own, whose oldest protocol is CloudFront's "
        "choice; with one it is TLS 1.2.",
        "AwsSolutions-CFR4",
    )
