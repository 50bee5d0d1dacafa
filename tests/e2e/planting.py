"""What tests of who may see it put into a running stack: an investigation, two who could meet."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.adapters.postgres.accounts import as_owner
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from tests.e2e.tenant import Tenant


def plant_meeting(tenant: "Tenant", network: dict[str, Any], canary: str) -> dict[str, str]:
    """A second member of a network, an opportunity of the two, and its negotiation; the ids."""
    whom, path = {"client_id": canary}, f"/v1/networks/{network['id']}"
    guest = {"client_id": f"guest of {canary}"}
    invite = tenant.post(f"{path}/invites", whom)
    tenant.post("/v1/networks/join", {"token": invite["token"], **guest})
    wish = {"text": f"I offer a {canary}.", "infer": False, "side": "offering"}
    tenant.post("/v1/intents", {**wish, "networks": [network["id"]], **guest})
    there = tenant.get(f"{path}/members", **whom)["items"]
    (other,) = (each["id"] for each in there if each["id"] != network["owner_id"])
    look = {"query": f"somebody with a {canary}", "members": [other], **whom}
    (draft,) = tenant.post("/v1/opportunities", look)["items"]
    begun = tenant.post("/v1/negotiations", {"opportunity_id": draft["id"], **whom})
    return {
        "opportunity_id": draft["id"],
        "negotiation_id": begun["id"],
        "other_member_id": other,
    }


def plant_investigation(
    owner_url: str, workspace_id: UUID, ticket_id: str, canary: str
) -> dict[str, str]:
    """A halted investigation with all that belongs to one, and a channel; the ids by name.

    The canary stands in what is kept in clear: the persona and the names of tools.
    """
    now = utc_now()
    named = ("investigation_id", "approval_id", "grant_id", "action_id")
    ids = {name: new_id() for name in (*named, "escalation_id", "candidate_id")}
    given = {
        **ids,
        "workspace_id": workspace_id,
        "ticket_id": ticket_id,
        "tool": f"lamp.{canary}",
        "canary": canary,
        "now": now,
        "later": now + timedelta(hours=24),
        "any": new_id(),
    }
    with as_owner(owner_url) as connection:
        for statement in _STATEMENTS:
            connection.execute(statement, given)
    shown = {name: str(value) for name, value in ids.items()}
    return {**shown, "name": canary, "seq": "1"}


_STATEMENTS = (
    b"""INSERT INTO investigation (workspace_id, id, ticket_id, persona, state, verdict, snapshot,
          created_at, moved_at, ended_at)
        VALUES (%(workspace_id)s, %(investigation_id)s, %(ticket_id)s, %(canary)s, 'HALTED',
          'needs_tech', '', %(now)s, %(now)s, %(now)s)""",
    b"""INSERT INTO investigation_step (workspace_id, investigation_id, seq, state, system, action,
          kind, ms, position, line, at)
        VALUES (%(workspace_id)s, %(investigation_id)s, 1, 'ACTING', %(tool)s, %(canary)s,
          'action', 1, 1, 0, %(now)s)""",
    b"""INSERT INTO approval (workspace_id, id, investigation_id, ticket_id, action_id, tool,
          binding, policy_version, content, state, asked_at, expires_at)
        VALUES (%(workspace_id)s, %(approval_id)s, %(investigation_id)s, %(ticket_id)s,
          %(action_id)s, %(tool)s, repeat('a', 64), 'p', '', 'pending', %(now)s, %(later)s)""",
    b"""INSERT INTO tool_call (workspace_id, id, investigation_id, connector, tool, lane, digest,
          state, dry_run, is_error, input, output, proposed_at)
        VALUES (%(workspace_id)s, %(action_id)s, %(investigation_id)s, %(canary)s, 'light', 'read',
          'd', 'denied', false, false, '', '', %(now)s)""",
    b"""INSERT INTO standing_grant (workspace_id, id, tool, declaration, content, expires_at,
          max_uses, made_by, made_at)
        VALUES (%(workspace_id)s, %(grant_id)s, %(tool)s, 'd', '', %(later)s, 3, %(any)s,
          %(now)s)""",
    b"""INSERT INTO escalation (workspace_id, id, investigation_id, ticket_id, verdict,
          channel, state, why, queued_at, updated_at)
        VALUES (%(workspace_id)s, %(escalation_id)s, %(investigation_id)s, %(ticket_id)s,
          'needs_tech', %(canary)s, 'failed', '', %(now)s, %(now)s)""",
    b"""INSERT INTO escalation_channel (workspace_id, name, kind, url, created_at, created_by)
        VALUES (%(workspace_id)s, %(canary)s, 'slack', '', %(now)s, %(any)s)""",
    b"""INSERT INTO kb_candidate (workspace_id, id, investigation_id, ticket_id, cause,
          state, content, staged_at)
        VALUES (%(workspace_id)s, %(candidate_id)s, %(investigation_id)s, %(ticket_id)s, 'rated',
          'staged', '', %(now)s)""",
)
