"""The waf stack: rules that stop floods and known attacks in CloudFront, before the API.

In us-east-1 wherever the rest is: CloudFront takes its rules from there alone. No stack refers
to it: its output is the option `web_acl_arn` of the others, and `make deploy` passes it on.
Not the API's own limits, which count people and workspaces.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from aws_cdk import BootstraplessSynthesizer, CfnOutput, Environment, Stack
from aws_cdk import aws_wafv2 as wafv2

if TYPE_CHECKING:
    from constructs import Construct

    from infra.cdk.config import Config, FrontOptions

REGION = "us-east-1"
WINDOW_SECONDS = 300
STRICTER = {
    "SignIn": (300, ("/console/sign-in", "/console/link", "/console/saml", "/oauth/", "/v1/claim")),
    "Widget": (600, ("/v1/widget/",)),
    "Chat": (1_200, ("/v1/chat",)),
}
"""Rules by name: requests of an address in five minutes, and what their paths have in them.

Several people have one address (an office, a carrier), and a device that waits for its sign-in
asks every five seconds: below these are the API's limits of people, sessions and workspaces.
"""

COUNTED = (
    "CrossSiteScripting_BODY",
    "CrossSiteScripting_QUERYARGUMENTS",
    "EC2MetaDataSSRF_BODY",
    "EC2MetaDataSSRF_QUERYARGUMENTS",
    "GenericLFI_BODY",
    "GenericLFI_QUERYARGUMENTS",
    "GenericRFI_BODY",
    "GenericRFI_QUERYARGUMENTS",
    "NoUserAgent_HEADER",
    "RestrictedExtensions_QUERYARGUMENTS",
    "SizeRestrictions_BODY",
    "SizeRestrictions_QUERYSTRING",
)
"""Rules of AWS's common set that only count, since what they look for is honest here: a memory may
be about markup, paths and addresses, a document has more than 8 KB, a search in the console more
than 2 KB in its query, the source of a document ends in `.log`, a client of MCP on somebody's own
machine is sent back to `http://127.0.0.1`, and programs call the API. No page shows stored text
as markup, and no stored address is fetched without the guards of the fetch."""

REFUSED = {
    "type": "urn:cairn:error:rate-limited",
    "title": "Too many requests",
    "status": 429,
    "detail": "Too many requests from this address; wait five minutes.",
    "reason": "address",
}


class WafStack(Stack):
    """One web ACL; each rule a metric of its name in CloudWatch of us-east-1."""

    def __init__(self, scope: Construct, *, config: Config, front: FrontOptions) -> None:
        """Needs no bootstrap of us-east-1: the template is small, and nothing is uploaded."""
        super().__init__(
            scope,
            config.stack("waf"),
            env=Environment(account=config.account, region=REGION),
            synthesizer=BootstraplessSynthesizer(),
        )
        self._counts = front.waf == "count"
        limits = [
            self._rate(1 + at, name, limit, paths)
            for at, (name, (limit, paths)) in enumerate(STRICTER.items())
        ]
        rules = [*limits, self._rate(8, "Address", front.requests_an_address, ()), self._common()]
        acl = wafv2.CfnWebACL(
            self,
            "WebAcl",
            name=f"cairn-{config.stage}",
            scope="CLOUDFRONT",
            default_action=wafv2.CfnWebACL.DefaultActionProperty(allow={}),
            rules=rules,
            custom_response_bodies={
                "rate-limited": wafv2.CfnWebACL.CustomResponseBodyProperty(
                    content=json.dumps(REFUSED), content_type="APPLICATION_JSON"
                )
            },
            visibility_config=_metric("cairn"),
        )
        CfnOutput(self, "WebAclArn", value=acl.attr_arn)

    def _rate(
        self, priority: int, name: str, limit: int, paths: tuple[str, ...]
    ) -> wafv2.CfnWebACL.RuleProperty:
        """Return a limit of an address, of requests whose path has one of `paths` in it."""
        scope_down = [_has(path) for path in paths]
        statement = wafv2.CfnWebACL.RateBasedStatementProperty(
            aggregate_key_type="IP",
            evaluation_window_sec=WINDOW_SECONDS,
            limit=limit,
            scope_down_statement=_any(scope_down),
        )
        return wafv2.CfnWebACL.RuleProperty(
            name=name,
            priority=priority,
            statement=wafv2.CfnWebACL.StatementProperty(rate_based_statement=statement),
            action=wafv2.CfnWebACL.RuleActionProperty(count={}) if self._counts else _too_many(),
            visibility_config=_metric(name),
        )

    def _common(self) -> wafv2.CfnWebACL.RuleProperty:
        """Return AWS's common set, with what is honest here counted."""
        count = wafv2.CfnWebACL.RuleActionProperty(count={})
        group = wafv2.CfnWebACL.ManagedRuleGroupStatementProperty(
            vendor_name="AWS",
            name="AWSManagedRulesCommonRuleSet",
            rule_action_overrides=[
                wafv2.CfnWebACL.RuleActionOverrideProperty(name=name, action_to_use=count)
                for name in COUNTED
            ],
        )
        return wafv2.CfnWebACL.RuleProperty(
            name="Common",
            priority=9,
            statement=wafv2.CfnWebACL.StatementProperty(managed_rule_group_statement=group),
            override_action=wafv2.CfnWebACL.OverrideActionProperty(
                **{"count" if self._counts else "none": {}}
            ),
            visibility_config=_metric("Common"),
        )


def _any(
    statements: list[wafv2.CfnWebACL.StatementProperty],
) -> wafv2.CfnWebACL.StatementProperty | None:
    if len(statements) < 2:  # an or of one is refused by AWS
        return statements[0] if statements else None
    either = wafv2.CfnWebACL.OrStatementProperty(statements=statements)
    return wafv2.CfnWebACL.StatementProperty(or_statement=either)


def _has(path: str) -> wafv2.CfnWebACL.StatementProperty:
    """Return whether a path has `path` in it, as the API reads it, and below any prefix."""
    return wafv2.CfnWebACL.StatementProperty(
        byte_match_statement=wafv2.CfnWebACL.ByteMatchStatementProperty(
            field_to_match=wafv2.CfnWebACL.FieldToMatchProperty(uri_path={}),
            positional_constraint="CONTAINS",
            search_string=path,
            text_transformations=[
                wafv2.CfnWebACL.TextTransformationProperty(priority=0, type="URL_DECODE"),
            ],
        )
    )


def _too_many() -> wafv2.CfnWebACL.RuleActionProperty:
    """Return 429 as the API says it, which also the widget on a customer's page can read."""
    headers = {
        "Retry-After": str(WINDOW_SECONDS),
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Expose-Headers": "Retry-After",
        "Cache-Control": "no-store",
    }
    response = wafv2.CfnWebACL.CustomResponseProperty(
        response_code=429,
        custom_response_body_key="rate-limited",
        response_headers=[
            wafv2.CfnWebACL.CustomHTTPHeaderProperty(name=name, value=value)
            for name, value in headers.items()
        ],
    )
    return wafv2.CfnWebACL.RuleActionProperty(
        block=wafv2.CfnWebACL.BlockActionProperty(custom_response=response)
    )


def _metric(name: str) -> wafv2.CfnWebACL.VisibilityConfigProperty:
    return wafv2.CfnWebACL.VisibilityConfigProperty(
        cloud_watch_metrics_enabled=True,
        metric_name=name,
        sampled_requests_enabled=False,  # samples hold addresses and headers of people
    )
