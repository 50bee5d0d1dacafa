"""Many clients at once fail nowhere, and who asks for more than a share is the one who waits."""

from functools import partial
from typing import TYPE_CHECKING, Any

from tests.e2e.broken import allowing
from tests.e2e.cli import cairn
from tests.e2e.tenant import Tenant, at_once, good, open_workspace, refused

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop


def test_many_clients_at_once_fail_nowhere(workspace: Tenant) -> None:
    options = ("--clients", "1,16", "--requests", "mixed", "--seconds", "2", "--json")
    ran = cairn(workspace, "bench", "load", *options)

    assert ran.status == 0, ran.err
    found = ran.json()["mixed"]
    assert all(not item["failures"] for item in found.values())
    assert found["16"]["per_second"] >= 0.7 * found["1"]["per_second"]  # it was a tenth


def facts(count: int) -> dict[str, Any]:
    return {"items": [{"type": "fact", "text": f"Fact number {n}."} for n in range(count)]}


def test_all_processes_count_what_a_workspace_asks_together_and_others_notice_nothing(
    laptop: "Laptop", workspace: Tenant
) -> None:
    gateway, other = workspace.through_gateway(), open_workspace(laptop, "other").through_gateway()
    keys = [workspace.key, workspace.new_key("agent")]
    with allowing(laptop, items=20):
        good(gateway.call("POST", "/v1/memories", json=facts(200)))  # overdrawn, for ten minutes
        calls = [
            partial(gateway.call, "POST", "/v1/memories", key=key, json=facts(1))
            for key in keys * 2
        ]
        for response in at_once(calls):
            problem = refused(response, 429, "rate-limited")
            assert problem["reason"] == "workspace-items"
            assert 300 < int(response.headers["retry-after"]) <= 600
        assert gateway.found("fact")  # reading is another allowance
        assert good(other.call("POST", "/v1/memories", json=facts(1)))["counts"]["created"] == 1
    assert workspace.get("/v1/status")["memories"] == 200
