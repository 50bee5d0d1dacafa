"""Migrates the database at a deployment, and issues the claim for the first admin key.

Connects as the owner, whom no other function knows. A deployment starts the machine of
`migration.asl.json`, which calls this function step by step, for as long as CloudFormation waits,
and not only as long as a function lives. Not reachable through the API.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import boto3
import psycopg
from claims import issue_claim

from cairn.adapters.aws.custom_resource import answer_request
from cairn.adapters.postgres.migrate import MigrationsLeft, migrate
from cairn.adapters.postgres.register_model import register_model
from cairn.embedding.models import is_known, model_named

SECONDS_TO_END = 100  # of an invocation, kept for what comes after its last statement


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Start the machine for CloudFormation, and do the steps it and the operator ask for."""
    if "RequestType" in event:
        return _deployment(event)
    if event.get("step") == "migrate":
        return _migrate(context)
    if event.get("step") == "register_model":
        return _register(event["model"], context)
    if event.get("step") == "answer":
        return _answer(event["event"], event["status"], event["reason"])
    if event.get("step") == "issue_claim":
        with psycopg.connect(_owner_url()) as connection:
            return issue_claim(connection, now=datetime.now(UTC))
    raise ValueError("the migrator answers CloudFormation and its own steps")


def _deployment(event: dict[str, Any]) -> dict[str, Any]:
    """Start migrating; the machine answers when it is done. Nothing is undone at a deletion."""
    if event["RequestType"] == "Delete":
        return _answer(event, "SUCCESS", "")
    aws: Any = boto3
    try:
        aws.client("stepfunctions").start_execution(
            stateMachineArn=os.environ["CAIRN_MIGRATION_MACHINE_ARN"],
            name=event["RequestId"],  # asked twice, it starts once
            input=json.dumps({"event": event}),
        )
    except Exception as error:  # noqa: BLE001 - CloudFormation must always get an answer
        return _answer(event, "FAILED", f"{type(error).__name__}: {error}")
    return {"status": "STARTED"}


def _migrate(context: Any) -> dict[str, Any]:
    """Apply what this invocation has time for; `left` is how many migrations it had not."""
    try:
        applied = migrate(_owner_url(), iam=True, seconds=_seconds(context))
        if described := os.environ.get("CAIRN_EMBEDDING_MODEL"):
            _register(described, context)
    except MigrationsLeft as unfinished:
        return {"applied": unfinished.applied, "left": len(unfinished.left)}
    return {"applied": applied, "left": 0}


def _register(described: str, context: Any) -> dict[str, Any]:
    """Let the database know an embedding model; the operator asks before a change to it."""
    model = model_named(described)
    new = not is_known(model) and register_model(_owner_url(), model, seconds=_seconds(context))
    return {"model": model.name, "dimensions": model.dimensions, "new": new}


def _seconds(context: Any) -> float:
    return context.get_remaining_time_in_millis() / 1000 - SECONDS_TO_END


def _answer(event: dict[str, Any], status: str, reason: str) -> dict[str, Any]:
    """Tell CloudFormation how its request `event` ended."""
    why = f"{reason[:800]}; execution {event['RequestId']} of the machine migration"
    return answer_request(event, resource="cairn-migrations", status=status, reason=why)


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
