"""Whether a deployment has CloudFront's rules made for it, and where they are once they stand.

`make deploy` deploys the stack of the rules first, in us-east-1, and gives its output to the others
as the option `web_acl_arn`: CloudFormation refers to nothing of another region.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from infra.cdk.config import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

STACK = "cairn-prod-waf"


def is_made(options: Sequence[str]) -> bool:
    """Return whether the stack of the rules is one of a deployment with these command options."""
    context = _context(options)
    has_front = context.get("edge", "on") != "off"
    return has_front and context.get("waf", "block") != "off" and not context.get("web_acl_arn")


def arn_in(outputs: Path) -> str:
    """Return the ARN that CDK wrote down after the deployment of the rules."""
    return json.loads(outputs.read_text(encoding="utf-8"))[STACK]["WebAclArn"]


def _context(options: Sequence[str]) -> Mapping[str, str]:
    """Return the context as CDK reads it: the project's, and over it what the command says."""
    written: dict[str, str] = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
    texts = [option.removeprefix("--context=") for option in options]
    pairs = [text.partition("=") for text in texts]
    return {**written, **{name: value for name, sign, value in pairs if sign}}
