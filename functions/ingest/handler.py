"""A placeholder that echoes its event, until the stage's behaviour arrives."""

from typing import Any


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """The event as it came."""
    return {"echo": event}
