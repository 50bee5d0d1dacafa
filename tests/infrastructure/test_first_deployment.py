"""A first deployment that fails leaves nothing in the way of the next one."""

import importlib.util
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber
from infra.cdk.failed_creation import release
from tests.infrastructure.assembly import ROOT

HANDLER = ROOT / "infra" / "cdk" / "protector" / "handler.py"
CONTEXT = SimpleNamespace(log_stream_name="2026/03/01/[$LATEST]abc")
STACK = "cairn-prod-data"


class Aws:
    """boto3 with clients whose calls are checked against AWS's own description of them."""

    def __init__(self) -> None:
        given = {"aws_access_key_id": "a", "aws_secret_access_key": "b"}
        session: Any = boto3.Session(region_name="eu-central-1", **given)
        names = ("cloudformation", "dynamodb", "rds")
        self.clients = {name: session.client(name) for name in names}
        self.answers = {name: Stubber(client) for name, client in self.clients.items()}

    def client(self, name: str) -> Any:
        return self.clients[name]

    def expect_protection(self, *, protected: bool, of: str = "dynamodb rds") -> None:
        if "dynamodb" in of:
            wanted = {"TableName": "keys", "DeletionProtectionEnabled": protected}
            self.answers["dynamodb"].add_response("update_table", {}, wanted)
        if "rds" in of:
            wanted = {
                "DBClusterIdentifier": "cluster",
                "DeletionProtection": protected,
                "ApplyImmediately": True,
            }
            self.answers["rds"].add_response("modify_db_cluster", {}, wanted)

    def fail(self, service: str, call: str) -> None:
        self.answers[service].add_client_error(call, "Throttling")

    def expect_stack(self, status: str, *, protected: bool) -> None:
        stack = {
            "StackName": STACK,
            "CreationTime": "2026-03-01T12:00:00Z",
            "StackStatus": status,
            "EnableTerminationProtection": protected,
        }
        self.answers["cloudformation"].add_response("describe_stacks", {"Stacks": [stack]})


@pytest.fixture
def aws() -> Iterator[Aws]:
    made = Aws()
    for answers in made.answers.values():
        answers.activate()
    yield made
    for answers in made.answers.values():
        answers.assert_no_pending_responses()


@pytest.fixture
def protector(monkeypatch: pytest.MonkeyPatch, aws: Aws) -> ModuleType:
    """The handler as Lambda loads it; what it tells CloudFormation is kept in `told`."""
    monkeypatch.setenv("CAIRN_KEY_TABLE", "keys")
    monkeypatch.setenv("CAIRN_DATABASE_CLUSTER", "cluster")
    spec = importlib.util.spec_from_file_location("protector_handler", HANDLER)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "boto3", aws)
    told: list[dict[str, Any]] = []

    def answer(_event: Any, *, status: str, reason: str, resource: str) -> dict[str, Any]:
        told.append({"Status": status, "Reason": reason})
        return {"status": status}

    monkeypatch.setattr(module, "answer_request", answer)
    monkeypatch.setattr(module, "told", told, raising=False)
    return module


def request(type_: str) -> dict[str, Any]:
    ids = {name: name for name in ("StackId", "RequestId", "LogicalResourceId", "ResponseURL")}
    return ids | {"RequestType": type_}


@pytest.mark.parametrize("type_", ["Create", "Update"])
def test_what_stands_is_protected(protector: ModuleType, aws: Aws, type_: str) -> None:
    aws.expect_protection(protected=True)
    assert protector.handler(request(type_), CONTEXT) == {"status": "SUCCESS"}
    assert protector.told[0]["Status"] == "SUCCESS"


def test_a_creation_that_fails_at_the_last_step_can_be_rolled_back(
    protector: ModuleType, aws: Aws
) -> None:
    aws.expect_protection(protected=True, of="dynamodb")
    aws.fail("rds", "modify_db_cluster")
    aws.expect_protection(protected=False)
    assert protector.handler(request("Create"), CONTEXT) == {"status": "FAILED"}
    assert "Throttling" in protector.told[0]["Reason"]


def test_an_update_that_fails_takes_no_protection_away(protector: ModuleType, aws: Aws) -> None:
    aws.expect_protection(protected=True, of="dynamodb")
    aws.fail("rds", "modify_db_cluster")
    assert protector.handler(request("Update"), CONTEXT) == {"status": "FAILED"}


def test_a_stack_that_is_deleted_leaves_its_data_protected(protector: ModuleType) -> None:
    assert protector.handler(request("Delete"), CONTEXT) == {"status": "SUCCESS"}


@pytest.mark.parametrize("status", ["ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED"])
def test_cdk_may_delete_what_a_failed_creation_left(aws: Aws, status: str) -> None:
    aws.expect_stack(status, protected=True)
    aws.answers["cloudformation"].add_response(
        "update_termination_protection",
        {"StackId": STACK},
        {"StackName": STACK, "EnableTerminationProtection": False},
    )
    assert release(aws, stack=STACK)


@pytest.mark.parametrize("status", ["CREATE_COMPLETE", "UPDATE_ROLLBACK_COMPLETE"])
def test_a_stack_that_stands_keeps_its_protection(aws: Aws, status: str) -> None:
    aws.expect_stack(status, protected=True)
    assert not release(aws, stack=STACK)


def test_an_account_without_the_stack_is_left_to_cdk(aws: Aws) -> None:
    aws.fail("cloudformation", "describe_stacks")
    assert not release(aws, stack=STACK)
