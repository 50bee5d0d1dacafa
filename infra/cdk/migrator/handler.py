"""Migrates the database at a deployment, and issues the claim for the first admin key.

Connects as the owner, whom no other function knows. CloudFormation's answer is sent here, in
Python; an operator's call gets a plain result. Not reachable through the API.
"""

from __future__ import annotations

import json
import os
import ssl
import urllib.request
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import boto3
import psycopg
from claims import issue_claim

from cairn.storage.postgres.migrate import migrate

SECONDS_TO_ANSWER = 30


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """A CloudFormation event migrates; `{"step": "issue_claim"}` returns a one-time token."""
    if "RequestType" in event:
        return _deployment(event, context)
    if event.get("step") == "issue_claim":
        with psycopg.connect(_owner_url()) as connection:
            return issue_claim(connection, now=datetime.now(UTC))
    raise ValueError("the migrator answers CloudFormation and the step issue_claim")


def _deployment(event: dict[str, Any], context: Any) -> dict[str, Any]:
    answer = {
        "PhysicalResourceId": event.get("PhysicalResourceId", "cairn-migrations"),
        "StackId": event["StackId"],
        "RequestId": event["RequestId"],
        "LogicalResourceId": event["LogicalResourceId"],
        "Status": "SUCCESS",
    }
    try:
        if event["RequestType"] != "Delete":
            migrate(_owner_url(), iam=True)
    except Exception as error:  # noqa: BLE001 - CloudFormation must always get an answer
        where = f"; log stream {context.log_stream_name}"
        answer |= {"Status": "FAILED", "Reason": f"{type(error).__name__}: {error}"[:800] + where}
    _send(event["ResponseURL"], answer)
    return {"status": answer["Status"]}


def _owner_url() -> str:
    """The owner's connection URL, from the secret that only this function may read."""
    arn = os.environ["CAIRN_OWNER_SECRET_ARN"]
    aws: Any = boto3
    stored: str = aws.client("secretsmanager").get_secret_value(SecretId=arn)["SecretString"]
    secret: dict[str, Any] = json.loads(stored)
    person = f"{quote(secret['username'])}:{quote(secret['password'], safe='')}"
    place = f"{secret['host']}:{secret['port']}/{secret['dbname']}"
    authorities = os.environ["CAIRN_DATABASE_CA"]
    return f"postgresql://{person}@{place}?sslmode=verify-full&sslrootcert={authorities}"


def _send(url: str, answer: dict[str, Any]) -> None:
    """PUT the answer where CloudFormation waits: a presigned S3 URL, reached by the S3 gateway."""
    request = urllib.request.Request(
        url, data=json.dumps(answer).encode(), method="PUT", headers={"Content-Type": ""}
    )
    with urllib.request.urlopen(
        request, timeout=SECONDS_TO_ANSWER, context=ssl.create_default_context()
    ):
        pass
