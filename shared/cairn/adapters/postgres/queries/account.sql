-- name: add_workspace
-- A new tenant.
INSERT INTO workspace (id, name, created_at) VALUES (%(workspace_id)s, %(name)s, %(now)s)

-- name: add_head
-- Its empty chain.
INSERT INTO ledger_head (workspace_id, position, hash, recorded_at)
VALUES (%(workspace_id)s, 0, %(genesis)s, %(beginning)s)

-- name: workspace_named
-- The oldest workspace of this name.
SELECT id FROM workspace WHERE name = %(name)s AND deleted_at IS NULL ORDER BY created_at, id LIMIT 1

-- name: workspaces
-- Every workspace with where its ledger ends, the oldest first.
SELECT w.id, w.name, w.created_at, h.position AS entries, h.recorded_at AS last_entry_at
  FROM workspace w JOIN ledger_head h ON h.workspace_id = w.id
 WHERE w.deleted_at IS NULL ORDER BY w.created_at, w.id

-- name: act_as_owner
-- Work across workspaces: the owner itself sees nothing under forced row level security.
SET LOCAL ROLE cairn_migrator

-- name: claim_workspace
-- Spend the first-run token on a new workspace; says what became of it.
SELECT claim_workspace(%(token_hash)s, %(now)s, %(workspace_id)s, %(name)s)

-- name: add_principal
-- Who acts.
INSERT INTO principal (workspace_id, id, name, role, agent_slug, allowed_scopes, tools, client_id,
  agent, of_person, created_at)
VALUES (%(workspace_id)s, %(id)s, %(holder)s, %(role)s, %(agent_slug)s, %(scopes)s, %(tools)s,
  %(client_id)s, %(agent)s, %(person)s, %(now)s)

-- name: add_key
-- How they prove it; nothing where tokens of the subject open another key.
INSERT INTO api_key (workspace_id, id, principal_id, prefix, secret_hash, created_at, expires_at,
  token_subject)
VALUES (%(workspace_id)s, %(id)s, %(principal_id)s, %(prefix)s, %(secret_hash)s, %(now)s,
  %(expires_at)s, %(token_subject)s)
ON CONFLICT (token_subject) WHERE token_subject IS NOT NULL AND revoked_at IS NULL DO NOTHING
RETURNING id

-- name: keys
-- Every key, newest first, without secrets.
SELECT k.id, p.name, k.prefix, p.role, p.allowed_scopes AS scopes, k.created_at, p.agent_slug,
  p.tools, p.client_id, p.agent, p.of_person AS person, k.expires_at, k.revoked_at,
  k.token_subject, u.used_at AS last_used_at
  FROM api_key k
  JOIN principal p ON p.workspace_id = k.workspace_id AND p.id = k.principal_id
  LEFT JOIN key_uses() u ON u.key_id = k.id
 WHERE k.workspace_id = %(workspace_id)s
 ORDER BY k.created_at DESC, k.id DESC

-- name: revoke
-- Let a key open nothing any more.
UPDATE api_key SET revoked_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND revoked_at IS NULL
