-- name: bind
-- Tell the policies and candidate functions who this transaction is for. Plans are made once a
-- connection: planning over 16 partitions costs more than most of these queries; the candidate
-- functions, whose plans depend on what is asked, set the opposite for themselves.
SELECT set_config('cairn.workspace_id', %(workspace_id)s, true),
  set_config('cairn.scopes', %(scopes)s, true),
  set_config('cairn.agent', %(agent)s, true),
  set_config('cairn.client', %(client)s, true),
  set_config('cairn.person', %(person)s, true),
  set_config('cairn.person_id', %(person_id)s, true),
  set_config('cairn.sees_deleted', %(sees_deleted)s, true),
  set_config('cairn.sees_expired', %(sees_expired)s, true),
  set_config('cairn.conversations', %(conversations)s, true),
  set_config('plan_cache_mode', 'force_generic_plan', true),
  set_config('transaction_read_only', %(read_only)s, true),
  set_config('lock_timeout', %(lock_timeout)s, true),
  set_config('statement_timeout', %(statement_timeout)s, true)

-- name: admit
-- Who holds an API key that is good now, what this request leaves in its bucket, and what its
-- workspace has asked too much of.
SELECT workspace_id, principal_id, key_id, name, role, agent_slug, allowed_scopes, tools, client_id,
    agent, agent_tools, edition, barred, rate, remaining, refused, seconds
  FROM admit_caller(%(prefix)s, %(secret_hash)s, %(now)s, %(requests)s, %(asked)s, %(allowed)s)

-- name: admit_token
-- The same of who holds an access token, by the subjects that it names.
SELECT workspace_id, principal_id, key_id, name, role, agent_slug, allowed_scopes, tools, client_id,
    agent, agent_tools, edition, barred, rate, remaining, refused, seconds
  FROM admit_token(%(subjects)s, %(now)s, %(requests)s, %(asked)s, %(allowed)s)

-- name: list_workspaces
-- Every workspace's id, but of deleted ones.
SELECT workspace_id FROM list_workspaces()

-- name: list_chains
-- The id of every workspace that has a chain, deleted or not.
SELECT workspace_id FROM list_chains()

