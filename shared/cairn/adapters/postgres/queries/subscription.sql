-- name: by_subscription
-- Nodes that carry or mention what the agent subscribes to, whoever they are tagged for.
SELECT node_id, keyword, rank, tagged FROM find_by_subscription(%(keywords)s::text[],
  %(limit)s::integer, %(labels)s::text[], %(kinds)s::text[], %(client_id)s::text, %(scopes)s::text[],
  %(occurred_from)s::timestamptz, %(occurred_to)s::timestamptz, %(valid_at)s::timestamptz,
  %(include_superseded)s::boolean)

-- name: by_subscription_as_of
-- The same as they stood at a ledger position.
SELECT node_id, keyword, rank, tagged FROM find_by_subscription_as_of(%(as_of_position)s::bigint,
  %(keywords)s::text[], %(limit)s::integer, %(labels)s::text[], %(kinds)s::text[],
  %(client_id)s::text, %(scopes)s::text[], %(occurred_from)s::timestamptz,
  %(occurred_to)s::timestamptz, %(valid_at)s::timestamptz, %(include_superseded)s::boolean)

-- name: of_agent
-- What an agent subscribes to.
SELECT agent_slug AS agent, keywords, position FROM subscription
 WHERE workspace_id = %(workspace_id)s AND agent_slug = %(agent)s AND keywords <> '{}'

-- name: all
-- What every agent subscribes to.
SELECT agent_slug AS agent, keywords, position FROM subscription
 WHERE workspace_id = %(workspace_id)s AND keywords <> '{}' ORDER BY agent_slug

-- name: put
-- An agent's keywords from now on; an older change does nothing.
INSERT INTO subscription (workspace_id, agent_slug, keywords, position)
VALUES (%(workspace_id)s, %(agent)s, %(keywords)s, %(position)s)
ON CONFLICT (workspace_id, agent_slug) DO UPDATE
   SET keywords = excluded.keywords, position = excluded.position
 WHERE subscription.position < excluded.position
