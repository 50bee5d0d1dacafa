-- name: find
-- One registered agent.
-- columns: cairn.accounts.agents.Agent
SELECT {columns} FROM agent WHERE workspace_id = %(workspace_id)s AND slug = %(slug)s

-- name: all
-- Every registered agent, by slug.
-- columns: cairn.accounts.agents.Agent
SELECT {columns} FROM agent WHERE workspace_id = %(workspace_id)s ORDER BY slug

-- name: count
-- How many there are, and how many of them registered themselves since a moment.
SELECT count(*) AS total, count(*) FILTER (WHERE joined AND registered_at > %(since)s) AS joined
  FROM agent WHERE workspace_id = %(workspace_id)s

-- name: keep
-- Keep an agent as it is now.
INSERT INTO agent (workspace_id, slug, id, version, name, owner, owner_subject, description,
  specialists, persona, edition, tools, scopes, requests_a_minute, live_memory, disabled, joined,
  registered_at, changed_at)
VALUES (%(workspace_id)s, %(slug)s, %(id)s, %(version)s, %(name)s, %(owner)s, %(owner_subject)s,
  %(description)s, %(specialists)s, %(persona)s, %(edition)s, %(tools)s, %(scopes)s,
  %(requests_a_minute)s, %(live_memory)s, %(disabled)s, %(joined)s, %(registered_at)s,
  %(changed_at)s)
ON CONFLICT (workspace_id, slug) DO UPDATE
  SET version = excluded.version, name = excluded.name, owner = excluded.owner,
    owner_subject = excluded.owner_subject, description = excluded.description,
    specialists = excluded.specialists, persona = excluded.persona, edition = excluded.edition,
    tools = excluded.tools, scopes = excluded.scopes,
    requests_a_minute = excluded.requests_a_minute, live_memory = excluded.live_memory,
    disabled = excluded.disabled,
    changed_at = excluded.changed_at

-- name: join
-- Let who holds a key that belongs to no agent belong to this one.
UPDATE principal SET agent = %(slug)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND agent IS NULL AND agent_slug IS NULL
   AND role = 'agent'
