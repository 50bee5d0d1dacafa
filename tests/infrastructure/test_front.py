"""CloudFront and its rules, as the templates have them."""

import json
from typing import Any

import pytest
from infra.cdk.config import SynthRefused
from tests.infrastructure.assembly import Assembly, Resource
from tests.infrastructure.conftest import OTHER_OPTIONS
from tests.infrastructure.test_config import config

pytestmark = pytest.mark.xdist_group("templates")


def one(assembly: Assembly, type_: str) -> Resource:
    (resource,) = assembly.resources(type_)
    return resource


def distribution(assembly: Assembly, comment: str) -> dict[str, Any]:
    every = [each.properties for each in assembly.resources("AWS::CloudFront::Distribution")]
    configs = [each["DistributionConfig"] for each in every]
    return next(each for each in configs if comment in each["Comment"])


def api_variables(assembly: Assembly) -> dict[str, Any]:
    return next(
        function.properties["Environment"]["Variables"]
        for function in assembly.resources("AWS::Lambda::Function")
        if function.properties["FunctionName"].endswith("-api")
    )


def test_all_of_the_api_is_passed_on_and_only_what_is_static_is_kept(prod: Assembly) -> None:
    console = distribution(prod, "console")
    default = console["DefaultCacheBehavior"]
    assert set(default["AllowedMethods"]) >= {"GET", "POST", "PUT", "PATCH", "DELETE"}
    assert default["CachePolicyId"] == "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"  # kept by nobody
    assert default["OriginRequestPolicyId"] == "b689b0a8-53d0-40ab-baf2-68738e2966ac"
    assert {each["PathPattern"] for each in console["CacheBehaviors"]} == {
        "/console/static/*",
        "/widget.js",
    }
    for behavior in (default, *console["CacheBehaviors"]):
        assert behavior["ViewerProtocolPolicy"] == "redirect-to-https"
        assert behavior["FunctionAssociations"][0]["EventType"] == "viewer-request"
    assert all(each["ErrorCachingMinTTL"] == 0 for each in console["CustomErrorResponses"])


def test_the_front_proves_itself_with_a_secret_that_is_in_no_template(prod: Assembly) -> None:
    (origin,) = distribution(prod, "console")["Origins"]
    (header,) = origin["OriginCustomHeaders"]
    assert header["HeaderName"] == "x-cairn-edge"
    assert "resolve:secretsmanager" in json.dumps(header["HeaderValue"])
    variables = api_variables(prod)
    assert json.dumps(variables["CAIRN_EDGE_SECRETS"]).count("resolve:secretsmanager") == 2
    assert variables["CAIRN_EDGE_ONLY"] == "off"


def test_another_secret_is_sent_while_the_api_still_accepts_it(
    prod: Assembly, other_prod: Assembly
) -> None:
    def numbers(value: Any) -> list[str]:
        text = json.dumps(value)
        return [name for name in ("Secret1", "Secret2", "Secret3") if f"Front{name}" in text]

    (header,) = distribution(other_prod, "console")["Origins"][0]["OriginCustomHeaders"]
    assert numbers(header["HeaderValue"]) == ["Secret2"]
    assert numbers(api_variables(prod)["CAIRN_EDGE_SECRETS"]) == ["Secret1", "Secret2"]
    assert numbers(api_variables(other_prod)["CAIRN_EDGE_SECRETS"]) == ["Secret2", "Secret3"]


def test_names_of_ones_own_have_their_certificates_and_sites_get_no_cookies(
    other_prod: Assembly,
) -> None:
    console, sites = distribution(other_prod, "console"), distribution(other_prod, "sites")
    assert console["Aliases"] == ["cairn.example.org"]
    assert sites["Aliases"] == ["sites.example.org"]
    assert sites["ViewerCertificate"]["MinimumProtocolVersion"] == "TLSv1.2_2021"
    assert sites["DefaultCacheBehavior"]["AllowedMethods"] == ["GET", "HEAD"]
    policy = one(other_prod, "AWS::CloudFront::OriginRequestPolicy").properties
    cookies = policy["OriginRequestPolicyConfig"]["CookiesConfig"]
    assert cookies == {"CookieBehavior": "none"}
    (kept,) = other_prod.resources("AWS::CloudFront::CachePolicy")
    key = kept.properties["CachePolicyConfig"]["ParametersInCacheKeyAndForwardedToOrigin"]
    assert key["HeadersConfig"] == {"HeaderBehavior": "whitelist", "Headers": ["x-cairn-host"]}
    assert key["CookiesConfig"] == {"CookieBehavior": "none"}
    default = sites["DefaultCacheBehavior"]
    assert default["CachePolicyId"] == {"Ref": kept.id}
    assert console["WebACLId"] == OTHER_OPTIONS["web_acl_arn"]
    assert not list(other_prod.resources("AWS::WAFv2::WebACL"))


def test_browsers_are_told_to_come_by_tls_alone(prod: Assembly) -> None:
    policy = one(prod, "AWS::CloudFront::ResponseHeadersPolicy").properties
    headers = policy["ResponseHeadersPolicyConfig"]["SecurityHeadersConfig"]
    assert headers["StrictTransportSecurity"]["AccessControlMaxAgeSec"] == 31_536_000
    assert headers["ContentTypeOptions"] == {"Override": True}
    assert "ContentSecurityPolicy" not in headers  # the app's own, which differs by page


def test_an_address_that_asks_too_often_is_told_when_to_come_back(prod: Assembly) -> None:
    acl = one(prod, "AWS::WAFv2::WebACL")
    assert acl.stack == "cairn-prod-waf"
    rules = {each["Name"]: each for each in acl.properties["Rules"]}
    assert list(rules) == ["SignIn", "Widget", "Chat", "Address", "Common"]
    assert [each["Priority"] for each in rules.values()] == sorted(
        each["Priority"] for each in rules.values()
    )
    for name in ("SignIn", "Widget", "Chat", "Address"):
        limit = rules[name]["Statement"]["RateBasedStatement"]
        assert (limit["AggregateKeyType"], limit["EvaluationWindowSec"]) == ("IP", 300)
        response = rules[name]["Action"]["Block"]["CustomResponse"]
        assert response["ResponseCode"] == 429
        assert {"Name": "Retry-After", "Value": "300"} in response["ResponseHeaders"]
    common = rules["Common"]["Statement"]["ManagedRuleGroupStatement"]["RuleActionOverrides"]
    assert {each["Name"] for each in common} >= {"SizeRestrictions_QUERYSTRING"}
    assert {next(iter(each["ActionToUse"])) for each in common} == {"Count"}
    strictest = rules["SignIn"]["Statement"]["RateBasedStatement"]["Limit"]
    assert strictest < rules["Address"]["Statement"]["RateBasedStatement"]["Limit"]


def test_rules_that_only_count_block_nobody(user_pool: Assembly, smallest: Assembly) -> None:
    assert not list(smallest.resources("AWS::WAFv2::WebACL"))
    assert not list(user_pool.resources("AWS::CloudFront::Distribution"))
    assert "CAIRN_EDGE_SECRETS" not in api_variables(user_pool)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"edge": "maybe"}, "edge"),
        ({"price_class": "300"}, "price_class"),
        ({"edge_secret": "0"}, "edge_secret"),
        ({"waf": "perhaps"}, "waf"),
        ({"requests_an_address": "1"}, "requests_an_address"),
        ({"web_acl_arn": "arn:aws:wafv2:eu-west-1:111122223333:x"}, "us-east-1"),
        ({"console_certificate_arn": "arn:aws:acm:us-east-1:111122223333:c/1"}, "console_url"),
        ({"edge_only": "on", "console_url": "https://a.example"}, "console_certificate_arn"),
    ],
)
def test_options_that_cannot_be_are_refused_with_the_reason(
    options: dict[str, str], reason: str
) -> None:
    with pytest.raises(SynthRefused, match=reason):
        config(stage="prod", **options)
