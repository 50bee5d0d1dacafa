"""Protects the database and the key table against deletion, once the data stack stands.

A protected resource cannot be rolled back, so a first deployment that fails would leave it behind
and every later one would meet it. CloudFormation runs this last, and with each change of options.
"""

from __future__ import annotations

import json
import os
import ssl
import urllib.request
from typing import Any

import boto3

SECONDS_TO_ANSWER = 30


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer CloudFormation; a stack that is deleted leaves what it held protected."""
    answer = {
        "PhysicalResourceId": event.get("PhysicalResourceId", "cairn-protection"),
        "StackId": event["StackId"],
        "RequestId": event["RequestId"],
        "LogicalResourceId": event["LogicalResourceId"],
        "Status": "SUCCESS",
    }
    try:
        if event["RequestType"] != "Delete":
            _protect(first=event["RequestType"] == "Create")
    except Exception as error:  # noqa: BLE001 - CloudFormation must always get an answer
        where = f"; log stream {context.log_stream_name}"
        answer |= {"Status": "FAILED", "Reason": f"{type(error).__name__}: {error}"[:800] + where}
    _send(event["ResponseURL"], answer)
    return {"status": answer["Status"]}


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


def _send(url: str, answer: dict[str, Any]) -> None:
    """PUT the answer where CloudFormation waits: a presigned S3 URL."""
    request = urllib.request.Request(
        url, data=json.dumps(answer).encode(), method="PUT", headers={"Content-Type": ""}
    )
    with urllib.request.urlopen(
        request, timeout=SECONDS_TO_ANSWER, context=ssl.create_default_context()
    ):
        pass
