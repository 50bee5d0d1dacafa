"""`cairn cost --templates`: what a deployment costs before it serves anybody."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.fakes import Shell

from cairn.cli.cost.bill import HOURS, monthly
from cairn.kernel.errors import ValidationFailed


def bill(*resources: tuple[str, dict[str, Any]]) -> dict[str, float]:
    """Dollars by price, without the series of metrics that every deployment writes."""
    made = {
        f"R{number}": {"Type": kind, "Properties": properties}
        for number, (kind, properties) in enumerate(resources)
    }
    lines = monthly([{"Resources": made}])
    return {line.name: round(float(line.usd), 2) for line in lines if line.name != "metric_month"}


def cluster(least: float) -> tuple[str, dict[str, Any]]:
    capacity = {"MinCapacity": least, "MaxCapacity": 4}
    return "AWS::RDS::DBCluster", {"ServerlessV2ScalingConfiguration": capacity}


def rule(expression: str) -> tuple[str, dict[str, Any]]:
    return "AWS::Events::Rule", {"ScheduleExpression": expression, "Targets": [{"Arn": "F"}]}


def test_an_endpoint_is_paid_for_in_each_zone_and_a_gateway_is_not() -> None:
    interface = {"VpcEndpointType": "Interface", "SubnetIds": ["a", "b"]}
    gateway = {"VpcEndpointType": "Gateway"}
    endpoint = "AWS::EC2::VPCEndpoint"
    assert bill((endpoint, interface), (endpoint, gateway)) == {"endpoint_hour": 14.6}


def test_a_database_that_may_pause_is_paid_for_while_schedules_wake_it() -> None:
    assert bill(cluster(0.5))["acu_second"] == round(0.06 * HOURS, 2)
    assert "acu_second" not in bill(cluster(0))
    hourly = bill(cluster(0), rule("cron(17 * * * ? *)"))["acu_second"]
    assert hourly == round(0.06 * HOURS * 7 / 60, 2)
    together = bill(cluster(0), rule("cron(17 * * * ? *)"), rule("cron(17 0/6 * * ? *)"))
    assert together["acu_second"] == hourly
    apart = bill(cluster(0), rule("cron(17 * * * ? *)"), rule("rate(1 hour)"))
    assert apart["acu_second"] == round(2 * 0.06 * HOURS * 7 / 60, 2)
    assert bill(cluster(0), rule("rate(5 minutes)"))["acu_second"] == round(0.06 * HOURS, 2)


@pytest.mark.parametrize(
    ("kind", "properties"),
    [
        ("AWS::Gold::Bar", {}),
        ("AWS::RDS::DBInstance", {"DBInstanceClass": "db.r6g.large"}),
        (
            "AWS::OpenSearchService::Domain",
            {
                "ClusterConfig": {"InstanceType": "x9.huge.search", "InstanceCount": 2},
                "EBSOptions": {"VolumeSize": 10},
            },
        ),
    ],
)
def test_a_resource_without_a_price_is_refused_by_name(
    kind: str, properties: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(ValidationFailed, match=rf"R0 \({kind}\)"):
        bill((kind, properties))
    template = {"Resources": {"R0": {"Type": kind, "Properties": properties}}}
    (tmp_path / "data.template.json").write_text(json.dumps(template), encoding="utf-8")
    shown = Shell().run("cost", "--templates", str(tmp_path))
    assert shown.exit_code == 1
    assert kind in shown.stderr


def test_the_bill_is_shown_with_its_sum(tmp_path: Path) -> None:
    template = {"Resources": {"Key": {"Type": "AWS::KMS::Key", "Properties": {}}}}
    (tmp_path / "data.template.json").write_text(json.dumps(template), encoding="utf-8")
    told = json.loads(Shell().run("cost", "--templates", str(tmp_path), "--json").stdout)
    assert {row["name"]: row["usd"] for row in told["rows"]}["kms_key_month"] == 1
    assert told["month_usd"] == round(sum(row["usd"] for row in told["rows"]), 2)
    assert "2.50 USD" in Shell().run("cost", "--templates", str(tmp_path)).stdout


def test_a_folder_without_templates_says_where_they_come_from(tmp_path: Path) -> None:
    assert "make synth" in Shell().run("cost", "--templates", str(tmp_path)).stderr
