"""Answers CloudFormation's request to a custom resource. The standard library alone: no layer."""

from __future__ import annotations

import json
import ssl
import urllib.request
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

SECONDS_TO_ANSWER = 30


def answer_request(
    event: Mapping[str, Any], *, resource: str, status: str, reason: str
) -> dict[str, Any]:
    """PUT how the request `event` ended where CloudFormation waits, and return the status.

    That is a presigned S3 URL, which functions in the network reach by the S3 gateway. `resource`
    names what was asked for the first time.
    """
    answer = {
        "PhysicalResourceId": event.get("PhysicalResourceId", resource),
        "StackId": event["StackId"],
        "RequestId": event["RequestId"],
        "LogicalResourceId": event["LogicalResourceId"],
        "Status": status,
        "Reason": reason,
    }
    request = urllib.request.Request(
        event["ResponseURL"],
        data=json.dumps(answer).encode(),
        method="PUT",
        headers={"Content-Type": ""},
    )
    trusted = ssl.create_default_context()
    urllib.request.urlopen(request, timeout=SECONDS_TO_ANSWER, context=trusted).close()
    return {"status": status}
