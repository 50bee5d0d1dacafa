"""The benchmark of belonging: whether an intent is assigned to its member's network, over HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from benchmarks.discovery.statements import Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from benchmarks.api import TimedApi
    from benchmarks.discovery.statements import Case
    from benchmarks.locomo.run import Progress


@dataclass(frozen=True, kw_only=True)
class IndexerBench:
    """Measures. `open_workspace` makes one and returns its id and API."""

    open_workspace: Callable[[str], tuple[UUID, TimedApi]]
    progress: Progress

    def run(self, cases: Sequence[Case]) -> dict[str, Any]:
        """Return how often the answer is right, clear and borderline cases apart."""
        _, api = self.open_workspace("indexer")
        tally = Tally()
        with self.progress("indexer", len(cases)) as done:
            for case in cases:
                is_right = self._belongs(api, case) == case["belongs"]
                tally.count(case["margin"], case["id"], is_right=is_right)
                done(1)
        return {"cases": len(cases), "of": tally.total, **tally.shares()}

    @staticmethod
    def _belongs(api: TimedApi, case: Case) -> bool:
        """Return whether the intent is assigned: each case has a network and member of its own."""
        client_id = case["id"]
        body = {"name": client_id, "prompt": case["index_prompt"] or "", "join_policy": "anyone"}
        network, _ = api.post("/v1/networks", body)
        joining = {"prompt": case["member_prompt"] or "", "client_id": client_id}
        api.post(f"/v1/networks/{network['id']}/join", joining)
        intent = {"text": case["intent"], "side": "both", "infer": False, "client_id": client_id}
        made, _ = api.post("/v1/intents", intent)
        path = f"/v1/intents/{made['intents'][0]['id']}/networks?client_id={quote(client_id)}"
        return any(each["network_id"] == network["id"] for each in api.get(path)["items"])
