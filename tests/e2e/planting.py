"""Rows of an investigation put into a running stack's database, for tests of who may see them."""

from datetime import timedelta
from uuid import UUID

from cairn.adapters.postgres.accounts import as_owner
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id


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
