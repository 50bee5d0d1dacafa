"""Send what the workflow's HTTP Request nodes send, in its order; print what the last one got."""

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx


def filled(text: str) -> str:
    """Return an expression of n8n with the environment's values."""
    return re.sub(r"\{\{ \$env\.(\w+) \}\}", lambda found: os.environ[found[1]], text).lstrip("=")


def in_order(workflow: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the nodes after the trigger as the workflow connects them."""
    nodes = {node["name"]: node for node in workflow["nodes"]}
    name = "Start"
    while name in workflow["connections"]:
        ((following,),) = workflow["connections"][name]["main"]
        name = following["node"]
        yield nodes[name]


def main() -> None:
    """Run the nodes."""
    workflow = json.loads(Path(__file__).with_name("workflow.json").read_text(encoding="utf-8"))
    answer = None
    for node in in_order(workflow):
        asked = node["parameters"]
        headers = {
            each["name"]: filled(each["value"]) for each in asked["headerParameters"]["parameters"]
        }
        body = json.loads(asked["jsonBody"])
        url = filled(asked["url"])
        answer = httpx.request(asked["method"], url, headers=headers, json=body, timeout=60)
        answer.raise_for_status()
    assert answer is not None
    sys.stdout.write(f"{answer.json()['context']}\n")


if __name__ == "__main__":
    main()
