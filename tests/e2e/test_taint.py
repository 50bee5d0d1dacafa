"""A tainted agent over HTTP: out of recall at once, told to whom it matters, and back again."""

from typing import TYPE_CHECKING

import pytest
from tests.e2e.cli import cairn
from tests.e2e.tenant import Tenant, open_workspace, refused

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop

QUERY = "Where does the ferry land?"
LIE = "The ferry lands at the quarry."
TRUTH = "The ferry lands at the old pier."


@pytest.fixture
def tenant(laptop: "Laptop") -> Tenant:
    opened = open_workspace(laptop, "taint")
    opened.tell(TRUTH, source_agent="keeper")
    opened.tell(LIE, source_agent="scout")
    opened.all_embedded()
    return opened


def test_what_a_tainted_agent_wrote_is_found_no_more_and_again_when_lifted(
    tenant: Tenant,
) -> None:
    assert set(tenant.texts(QUERY)) == {TRUTH, LIE}
    before = tenant.get("/v1/status")["ledger_position"]
    told = tenant.post("/v1/taint", {"agent": "scout", "reason": "its tool was taken over"})
    assert (told["held"], told["complete"]) == (1, True)
    [seen] = told["searches"]
    assert seen["node_ids"] == told["node_ids"]
    assert tenant.texts(QUERY) == [TRUTH]
    assert LIE not in str(tenant.get("/v1/memories"))
    assert set(tenant.texts(QUERY, as_of=before)) == {TRUTH, LIE}
    late = tenant.tell("The ferry lands at the mine.", source_agent="scout")
    assert "quarantined" in late["warnings"]
    tenant.all_embedded()
    assert tenant.texts(QUERY) == [TRUTH]
    assert tenant.get(f"/v1/taints/{told['taint_id']}")["taint"]["quarantined"] == 2
    lifted = tenant.post(f"/v1/taints/{told['taint_id']}/lift", {})
    assert (lifted["restored"], lifted["complete"]) == (2, True)
    tenant.all_embedded()
    assert len(tenant.texts(QUERY)) == 3
    assert tenant.chain_holds()


def test_the_command_taints_lists_and_lifts(tenant: Tenant) -> None:
    dry = cairn(tenant, "taint", "--agent", "scout", "--dry-run", "--json", owner=False)
    assert (dry.status, dry.json()["held"]) == (0, 1)
    done = cairn(tenant, "taint", "--agent", "scout", "--reason", "x", "--json", owner=False)
    taint_id = done.json()["taint_id"]
    [listed] = cairn(tenant, "taints", "list", "--json", owner=False).json()["items"]
    assert (listed["id"], listed["quarantined"]) == (taint_id, 1)
    lifted = cairn(tenant, "taints", "lift", taint_id, "--json", owner=False)
    assert (lifted.status, lifted.json()["restored"]) == (0, 1)


def test_another_workspaces_taints_and_nodes_are_not_found(
    tenant: Tenant, workspace: Tenant
) -> None:
    told = tenant.post("/v1/taint", {"agent": "scout", "reason": "x"})
    taint_id, [node] = told["taint_id"], told["node_ids"]
    refused(workspace.call("GET", f"/v1/taints/{taint_id}"), 404, "not-found")
    refused(workspace.call("POST", f"/v1/taints/{taint_id}/lift", json={}), 404, "not-found")
    asked = {"node": node, "reason": "x"}
    refused(workspace.call("POST", "/v1/taint", json=asked), 404, "not-found")
    assert workspace.get("/v1/taints")["items"] == []
    assert tenant.texts(QUERY) == [TRUTH]


def test_agents_may_not_taint(tenant: Tenant) -> None:
    key = tenant.new_key("agent")
    asked = {"agent": "scout", "reason": "x"}
    refused(tenant.call("POST", "/v1/taint", key=key, json=asked), 403, "denied")
    refused(tenant.call("GET", "/v1/taints", key=key), 403, "denied")
