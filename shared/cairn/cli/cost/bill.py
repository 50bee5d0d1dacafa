"""What a deployment costs a month before it serves anybody: its templates times list prices.

Every resource of the templates has a rule here or is paid by use alone; one of a type that is
neither is refused by name, so that nothing new is forgotten. Not a bill: no free tiers, no
discounts, no taxes, no traffic.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cairn.cli.cost.million import price_list
from cairn.kernel.errors import ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

HOURS = 730  # of a month
AWAKE_MINUTES = 7
"""That one schedule keeps a database awake which may pause: its work and the functions' idle
connections, a minute each, and the five that Aurora waits."""

POLLS = 5 * 3 * 60 * HOURS
"""Requests a month of the five pollers of an event source, twenty seconds each."""

IDLE_SERIES = 5
"""Series of metrics that audit writes every hour although nothing happens: the gauges' totals."""

SMALLEST_ACU = Decimal("0.5")  # of a database that is awake

BY_USE = frozenset(
    {
        "AWS::ApiGatewayV2::Api",
        "AWS::ApiGatewayV2::Authorizer",
        "AWS::ApiGatewayV2::Integration",
        "AWS::ApiGatewayV2::Route",
        "AWS::ApiGatewayV2::Stage",
        "AWS::CDK::Metadata",
        "AWS::CloudFront::CachePolicy",
        "AWS::CloudFront::Distribution",
        "AWS::CloudFront::Function",
        "AWS::CloudFront::OriginRequestPolicy",
        "AWS::CloudFront::ResponseHeadersPolicy",
        "AWS::Cognito::UserPool",  # paid for by who signs in, above 10,000 a month
        "AWS::Cognito::UserPoolClient",
        "AWS::Cognito::UserPoolDomain",
        "AWS::Cognito::UserPoolResourceServer",
        "AWS::DynamoDB::Table",
        "AWS::EC2::FlowLog",
        "AWS::EC2::InternetGateway",
        "AWS::EC2::Route",
        "AWS::EC2::RouteTable",
        "AWS::EC2::SecurityGroup",
        "AWS::EC2::SecurityGroupEgress",
        "AWS::EC2::SecurityGroupIngress",
        "AWS::EC2::Subnet",
        "AWS::EC2::SubnetRouteTableAssociation",
        "AWS::EC2::VPC",
        "AWS::EC2::VPCGatewayAttachment",
        "AWS::IAM::Policy",
        "AWS::IAM::Role",
        "AWS::IAM::ServiceLinkedRole",
        "AWS::Lambda::Function",
        "AWS::Lambda::LayerVersion",
        "AWS::Lambda::Permission",
        "AWS::Logs::LogGroup",
        "AWS::Logs::ResourcePolicy",
        "AWS::RDS::DBClusterParameterGroup",
        "AWS::RDS::DBSubnetGroup",
        "AWS::S3::Bucket",
        "AWS::S3::BucketPolicy",
        "AWS::SNS::Subscription",
        "AWS::SNS::Topic",
        "AWS::SNS::TopicPolicy",
        "AWS::SQS::Queue",
        "AWS::SQS::QueuePolicy",
        "AWS::SSM::Parameter",
        "AWS::SecretsManager::SecretTargetAttachment",
        "AWS::StepFunctions::StateMachine",
        "Custom::CairnMigrations",
        "Custom::CairnProtection",
    }
)
"""Types that cost nothing while nothing is asked of them."""

Properties = dict[str, Any]
Units = dict[str, Decimal]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One price of the bill: how many units a month, and US dollars."""

    name: str
    units: Decimal
    usd: Decimal


def templates_in(folder: Path) -> list[dict[str, Any]]:
    """Return the templates of a synthesis; ValidationFailed when there is none."""
    files = sorted(folder.glob("*.template.json"))
    if not files:
        raise ValidationFailed(
            f"{folder} holds no templates: `make synth STAGE=prod` writes them to cdk.out.",
            reason="no-templates",
        )
    return [json.loads(path.read_text(encoding="utf-8")) for path in files]


def monthly(templates: Iterable[Mapping[str, Any]]) -> tuple[Line, ...]:
    """Return what the resources of `templates` cost a month, dearest first.

    Raises ValidationFailed for resources without a price, all of them named.
    """
    resources = [
        (name, body["Type"], body.get("Properties", {}))
        for template in templates
        for name, body in template.get("Resources", {}).items()
    ]
    units: Units = {"metric_month": Decimal(IDLE_SERIES)}
    unpriced: list[str] = []
    awake = _awake([properties for _, kind, properties in resources if kind == RULE])
    for name, kind, properties in resources:
        record = _units(kind, properties, awake)
        if record is None or record.keys() - price_list()["prices"].keys():
            unpriced.append(f"{name} ({kind})")
            continue
        for price, number in record.items():
            units[price] = units.get(price, Decimal(0)) + number
    if unpriced:
        raise ValidationFailed(f"No price for {', '.join(sorted(unpriced))}.", reason="no-price")
    lines = (_line(price, number) for price, number in units.items() if number)
    return tuple(sorted(lines, key=lambda line: -line.usd))


def _line(price: str, units: Decimal) -> Line:
    return Line(name=price, units=units, usd=units * Decimal(price_list()["prices"][price]["usd"]))


def _units(kind: str, properties: Properties, awake: Decimal) -> Units | None:
    if kind in BY_USE:
        return {}
    if kind == CLUSTER:
        return _database(properties, awake)
    rule = RULES.get(kind)
    return rule(properties) if rule else None


def _endpoint(properties: Properties) -> Units:
    if properties.get("VpcEndpointType") != "Interface":
        return {}
    return {"endpoint_hour": Decimal(len(properties["SubnetIds"]) * HOURS)}


def _database(properties: Properties, awake: Decimal) -> Units | None:
    if properties.get("StorageType"):
        return None  # another price of input and output
    least = Decimal(str(properties["ServerlessV2ScalingConfiguration"]["MinCapacity"]))
    hours = HOURS * least if least else HOURS * awake * SMALLEST_ACU
    return {"acu_second": hours * 3600, "aurora_gb_month": Decimal(1)}


def _instance(properties: Properties) -> Units | None:
    return {} if properties.get("DBInstanceClass") == "db.serverless" else None


def _domain(properties: Properties) -> Units:
    cluster = properties["ClusterConfig"]
    nodes = Decimal(cluster["InstanceCount"])
    return {
        f"{cluster['InstanceType']}_hour": nodes * HOURS,
        "search_gb_month": nodes * properties["EBSOptions"]["VolumeSize"],
    }


def _schedule(properties: Properties) -> Units:
    """Return the units of a schedule: a fifth of a second of a small function each time."""
    times = _times(properties)
    if "Machine" in json.dumps(properties.get("Targets")):
        return {"state_transition": 8 * times}
    return {
        "lambda_request": times,
        "lambda_gb_second": times / 10,
        "log_gb": times / 1_000_000,
    }


def _web_acl(properties: Properties) -> Units:
    rules = Decimal(len(properties["Rules"]))
    return {"web_acl_month": Decimal(1), "waf_rule_month": rules}


def _times(properties: Properties) -> Decimal:
    """Return how often a month a rule's schedule comes; never for a rule of events."""
    text = str(properties.get("ScheduleExpression", ""))
    if rate := re.fullmatch(r"rate\((\d+) (minute|hour|day)s?\)", text):
        minutes = int(rate[1]) * {"minute": 1, "hour": 60, "day": 1440}[rate[2]]
        return Decimal(HOURS * 60) / minutes
    if cron := re.fullmatch(r"cron\(\d+ (\S+) \S+ \S+ \S+ \S+\)", text):
        hours = cron[1]
        every = 1 if hours == "*" else int(hours[2:]) if hours.startswith(("*/", "0/")) else 24
        return Decimal(HOURS) / every
    return Decimal(0)


def _awake(rules: list[Properties]) -> Decimal:
    """Return the share of time in which schedules keep a database awake that may pause.

    Schedules at the same minute wake it once.
    """
    slots: dict[str, Decimal] = {}
    for number, properties in enumerate(rules):
        text = str(properties.get("ScheduleExpression", ""))
        cron = re.match(r"cron\((\d+) ", text)
        slot = f"minute {cron[1]}" if cron else str(number)
        slots[slot] = max(slots.get(slot, Decimal(0)), _times(properties))
    return min(Decimal(1), sum(slots.values(), Decimal(0)) * AWAKE_MINUTES / (HOURS * 60))


def _one_unit(price: str) -> Callable[[Properties], Units]:
    return lambda properties: {price: Decimal(1)}


CLUSTER = "AWS::RDS::DBCluster"
RULE = "AWS::Events::Rule"
RULES: Mapping[str, Callable[[Properties], Units | None]] = {
    "AWS::CloudWatch::Alarm": _one_unit("alarm_month"),
    "AWS::CloudWatch::Dashboard": _one_unit("dashboard_month"),
    "AWS::EC2::EIP": lambda properties: {"address_hour": Decimal(HOURS)},
    "AWS::EC2::NatGateway": lambda properties: {"nat_hour": Decimal(HOURS)},
    "AWS::EC2::VPCEndpoint": _endpoint,
    "AWS::Events::Rule": _schedule,
    "AWS::KMS::Key": _one_unit("kms_key_month"),
    "AWS::Lambda::EventSourceMapping": lambda properties: {"sqs_request": Decimal(POLLS)},
    "AWS::OpenSearchService::Domain": _domain,
    "AWS::RDS::DBInstance": _instance,
    "AWS::SecretsManager::Secret": _one_unit("secret_month"),
    "AWS::WAFv2::WebACL": _web_acl,
}
