"""Protects the database and the key table against deletion, once the data stack stands.

A protected resource cannot be rolled back, so a first deployment that fails would leave it behind
and every later one would meet it. CloudFormation runs this last, and with each change of options.
"""

from __future__ import annotations

import os
from typing import Any

import boto3

from cairn.adapters.aws.custom_resource import answer_request


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer CloudFormation; a stack that is deleted leaves what it held protected."""
    status, reason = "SUCCESS", ""
    try:
        if event["RequestType"] != "Delete":
            _protect(first=event["RequestType"] == "Create")
    except Exception as error:  # noqa: BLE001 - CloudFormation must always get an answer
        status, reason = "FAILED", f"{type(error).__name__}: {error}"
    why = f"{reason[:800]}; log stream {context.log_stream_name}"
    return answer_request(event, resource="cairn-protection", status=status, reason=why)


def _protect(*, first: bool) -> None:
    """Protect both or, the first time, neither: CloudFormation is to roll both back then."""
    try:
        _set(protected=True)
    except Exception:
        if first:
            _set(protected=False)
        raise


def _set(*, protected: bool) -> None:
    aws: Any = boto3
    table, cluster = os.environ["CAIRN_KEY_TABLE"], os.environ["CAIRN_DATABASE_CLUSTER"]
    aws.client("dynamodb").update_table(TableName=table, DeletionProtectionEnabled=protected)
    aws.client("rds").modify_db_cluster(
        DBClusterIdentifier=cluster, DeletionProtection=protected, ApplyImmediately=True
    )
