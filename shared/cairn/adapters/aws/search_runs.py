"""What searches did, on the embed queue, for when the database takes longer than an answer may.

Ids, numbers and codes: a search's words are not part of a run.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from cairn.adapters.aws.messages import require_sent

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from cairn.recall.records import SearchRun


@dataclass(frozen=True, slots=True)
class QueuedSearchRuns:
    """Sends runs to the queue that the embed function works off."""

    queue_url: str

    def __call__(self, run: SearchRun) -> None:
        """Send one run; Unavailable when the queue does not take it."""
        body = {"workspace_id": str(run.workspace_id), "search_run": run_json(run)}
        require_sent(self.queue_url, json.dumps(body), workspace_id=run.workspace_id)


def run_json(run: SearchRun) -> dict[str, Any]:
    """Return a run as JSON values."""
    values = _runs().dump_python(replace(run, request_digest=b""), mode="json")
    return values | {"request_digest": run.request_digest.hex()}


def read_run(values: dict[str, Any]) -> SearchRun:
    """Return the run that `run_json` was made of; pydantic's ValidationError when it is none."""
    digest = values.get("request_digest")
    run = _runs().validate_python(values | {"request_digest": b""})
    return replace(run, request_digest=bytes.fromhex(digest) if isinstance(digest, str) else b"")


@cache
def _runs() -> TypeAdapter[SearchRun]:
    from pydantic import TypeAdapter

    from cairn.recall.records import SearchRun

    return TypeAdapter(SearchRun)
