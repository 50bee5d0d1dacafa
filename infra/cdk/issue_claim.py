"""Asks a deployment's migrator for the one-time claim: `python -m infra.cdk.issue_claim`.

For the operator whose AWS credentials may invoke that function; whoever holds the token within
fifteen minutes becomes the first admin. It is printed here and stored nowhere.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import boto3


def issue(aws: Any, *, stage: str) -> dict[str, str]:
    """The token, when it expires, and the API's URL; RuntimeError with the migrator's refusal."""
    answer = aws.client("lambda").invoke(
        FunctionName=f"cairn-{stage}-migrator", Payload=json.dumps({"step": "issue_claim"})
    )
    issued: dict[str, str] = json.loads(answer["Payload"].read())
    if "FunctionError" in answer:
        raise RuntimeError(issued.get("errorMessage", "the migrator failed; see its log"))
    stacks = aws.client("cloudformation").describe_stacks(StackName=f"cairn-{stage}-api")
    outputs = {out["OutputKey"]: out["OutputValue"] for out in stacks["Stacks"][0]["Outputs"]}
    return issued | {"url": (outputs.get("Url") or outputs["HttpApiUrl"]).rstrip("/")}


def main() -> None:
    """Print the two lines that turn the claim into the first admin key."""
    parser = argparse.ArgumentParser(description="Issue the claim for the first admin key.")
    parser.add_argument("--stage", default="prod")
    try:
        claim = issue(boto3, stage=parser.parse_args().stage)
    except RuntimeError as refused:
        sys.exit(f"cairn: {refused}")
    sys.stdout.write(
        f"Valid until {claim['expires_at']}, once:\n\n"
        f"  export CAIRN_URL={claim['url']}\n"
        f"  cairn claim {claim['token']}\n"
    )


if __name__ == "__main__":
    main()
