"""A deployment over another one: no stack takes away or replaces what the next one still imports.

Stacks are deployed one after the other, and CloudFormation refuses to change or delete an export
while another stack imports it.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER
from infra.cdk.functions import discover
from tests.infrastructure.assembly import Assembly
from tests.infrastructure.conftest import OTHER_OPTIONS, PROD_OPTIONS, USER_POOL_OPTIONS
from tests.infrastructure.test_config import NOT_FOR_OPERATORS, option_names

REGION = "us-east-1"
WAKING_SECONDS = 15
THIRD_ZONE = re.compile(r"Subnet3")


def imports(assembly: Assembly) -> set[str]:
    """The names of the exports that any stack imports."""
    text = json.dumps(assembly.templates)
    return set(re.findall(r'"Fn::ImportValue": "([^"]+)"', text))


def refused(before: Assembly, after: Assembly) -> Iterator[str]:
    """Exports of `before` that are imported, and that `after` no longer makes as they were."""
    old, new = before.exports(), after.exports()
    for name in sorted(imports(before)):
        if new.get(name) != old[name]:
            yield name
            continue
        id_ = old[name].get("Ref") or old[name]["Fn::GetAtt"][0]
        was, becomes = (_resource(assembly, name, id_) for assembly in (before, after))
        if was["Type"] != becomes["Type"] or set(_changed(was, becomes)) & _replacing(was["Type"]):
            yield name


def _resource(assembly: Assembly, export: str, id_: str) -> dict[str, Any]:
    [found] = [
        template["Resources"][id_]
        for template in assembly.templates.values()
        if any(
            output.get("Export", {}).get("Name") == export
            for output in template.get("Outputs", {}).values()
        )
    ]
    return found


def _changed(was: dict[str, Any], becomes: dict[str, Any]) -> Iterator[str]:
    old, new = was.get("Properties", {}), becomes.get("Properties", {})
    return (name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def _replacing(type_: str) -> set[str]:
    """The properties whose change makes a new resource, as AWS's own schema says."""
    schema = PROVIDER_SCHEMA_MANAGER.get_resource_schema(REGION, type_).schema
    return {path.split("/")[2] for path in schema.get("createOnlyProperties", [])}


def test_another_lock_model_and_options_can_be_deployed_over_the_first(
    prod: Assembly, other_prod: Assembly
) -> None:
    assert imports(prod)
    assert not list(refused(prod, other_prod))


def test_a_user_pool_can_be_deployed_over_the_first(prod: Assembly, user_pool: Assembly) -> None:
    assert not list(refused(prod, user_pool))


def test_everything_can_be_turned_back_but_a_third_zone(
    prod: Assembly, other_prod: Assembly
) -> None:
    lost = list(refused(other_prod, prod))
    assert lost  # what runs in a subnet stands in the way of deleting it
    assert all(THIRD_ZONE.search(name) for name in lost)


def test_no_stack_lends_what_every_upgrade_replaces(prod: Assembly, other_prod: Assembly) -> None:
    for assembly in (prod, other_prod):
        for name, value in assembly.exports().items():
            id_ = value.get("Ref") or value["Fn::GetAtt"][0]
            type_ = _resource(assembly, name, id_)["Type"]
            assert "Version" not in type_, name


def test_the_third_zone_and_the_way_out_move_no_subnet(
    prod: Assembly, other_prod: Assembly
) -> None:
    def addresses(assembly: Assembly) -> dict[str, str]:
        subnets = assembly.resources("AWS::EC2::Subnet")
        return {subnet.id: subnet.properties["CidrBlock"] for subnet in subnets}

    before, after = addresses(prod), addresses(other_prod)
    assert len(before) == 4
    assert len(set(after.values())) == 9
    assert before.items() <= after.items()


def test_three_zones_are_three_and_nothing_is_looked_up(other_prod: Assembly) -> None:
    zones = {
        json.dumps(subnet.properties["AvailabilityZone"])
        for subnet in other_prod.resources("AWS::EC2::Subnet")
    }
    assert len(zones) == 3
    for function in other_prod.resources("AWS::Lambda::Function"):
        if "VpcConfig" in function.properties:
            assert len(function.properties["VpcConfig"]["SubnetIds"]) == 3, function.path
    manifest = json.loads((other_prod.folder / "manifest.json").read_text(encoding="utf-8"))
    assert "missing" not in manifest


def test_the_account_and_region_asked_for_are_the_stacks_own(other_prod: Assembly) -> None:
    manifest = json.loads((other_prod.folder / "manifest.json").read_text(encoding="utf-8"))
    environments = {
        artifact["environment"]
        for artifact in manifest["artifacts"].values()
        if artifact["type"] == "aws:cloudformation:stack"
    }
    assert environments == {"aws://111122223333/eu-central-1"}


def test_every_option_differs_between_the_two_deployments() -> None:
    assert PROD_OPTIONS.items().isdisjoint(OTHER_OPTIONS.items())
    either = PROD_OPTIONS.keys() | OTHER_OPTIONS.keys()
    apart = USER_POOL_OPTIONS.keys() - either
    assert apart == {"cognito_callbacks", "edge"}  # refused beside oidc_issuer; without the rest
    assert option_names() - NOT_FOR_OPERATORS <= either | apart


def test_the_throttle_of_everybody_together_is_an_option(other_prod: Assembly) -> None:
    (stage,) = other_prod.resources("AWS::ApiGatewayV2::Stage")
    limits = stage.properties["DefaultRouteSettings"]
    assert (limits["ThrottlingRateLimit"], limits["ThrottlingBurstLimit"]) == (200, 400)


def test_functions_wait_for_a_database_that_may_pause_and_still_answer_in_time(
    prod: Assembly, other_prod: Assembly
) -> None:
    setting = "CAIRN_DATABASE_WAIT_SECONDS"
    for function in prod.resources("AWS::Lambda::Function"):
        assert setting not in function.properties["Environment"]["Variables"], function.path
    for function in other_prod.resources("AWS::Lambda::Function"):
        name = function.properties["FunctionName"].removeprefix("cairn-prod-")
        if name in discover():
            wait = int(function.properties["Environment"]["Variables"][setting])
            assert WAKING_SECONDS + 5 <= wait <= function.properties["Timeout"] - 5, name
