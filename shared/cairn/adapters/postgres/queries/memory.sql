-- name: known
-- The active and superseded memories of these identities.
SELECT dedup_key, id, created_position AS position, observed_by, valid_from, state <> 'superseded' AS active
  FROM node
 WHERE workspace_id = %(workspace_id)s AND dedup_key = ANY (%(dedup_keys)s)
   AND state IN ('active', 'provisional', 'superseded')

-- name: links
-- The links just before and just after each (chain, moment).
SELECT DISTINCT asked.chain_key, link.id, link.valid_from, link.valid_to,
  link.created_position AS position
  FROM unnest(%(chain_keys)s::text[], %(moments)s::timestamptz[]) AS asked (chain_key, moment)
 CROSS JOIN LATERAL (
   (SELECT n.id, n.valid_from, n.valid_to, n.created_position FROM node n
     WHERE n.workspace_id = %(workspace_id)s AND n.chain_key = asked.chain_key
       AND n.valid_from <= asked.moment AND n.state NOT IN ('deleted', 'quarantined')
     ORDER BY n.valid_from DESC, n.created_position DESC LIMIT 1)
   UNION ALL
   (SELECT n.id, n.valid_from, n.valid_to, n.created_position FROM node n
     WHERE n.workspace_id = %(workspace_id)s AND n.chain_key = asked.chain_key
       AND n.valid_from > asked.moment AND n.state NOT IN ('deleted', 'quarantined')
     ORDER BY n.valid_from, n.created_position LIMIT 1)
 ) AS link

-- name: stated
-- What was drawn from what the same people said before: what is public, or nobody's by name, from one
-- conversation only. The latest first.
SELECT id, text, parent_id AS message_id, conversation_id FROM node
 WHERE workspace_id = %(workspace_id)s AND label = 'Memory' AND conversation_id IS NOT NULL
   AND parent_id IS NOT NULL AND state IN ('active', 'provisional') AND client_id = %(client_id)s
   AND scope = %(scope)s AND agents IS NOT DISTINCT FROM %(agents)s::text[]
   AND data_subjects = %(data_subjects)s::uuid[]
   AND (conversation_id = %(conversation_id)s OR scope <> 'public' AND data_subjects <> '{}')
 ORDER BY created_position DESC LIMIT %(limit)s

-- name: messages
-- A session's messages between two sequence numbers and two more on either side, for one audience.
WITH message AS (
  SELECT id, sequence, text FROM node
   WHERE workspace_id = %(workspace_id)s AND session_id = %(session_id)s AND sequence IS NOT NULL
     AND label = 'Memory' AND state IN ('active', 'provisional')
     AND scope = %(scope)s AND agents IS NOT DISTINCT FROM %(agents)s::text[]
     AND data_subjects = %(data_subjects)s::uuid[]
)
(SELECT id, sequence, text FROM message WHERE sequence BETWEEN %(first)s AND %(last)s)
UNION ALL
(SELECT id, sequence, text FROM message WHERE sequence < %(first)s ORDER BY sequence DESC, id DESC LIMIT 4)
UNION ALL
(SELECT id, sequence, text FROM message WHERE sequence > %(last)s ORDER BY sequence, id LIMIT 4)

-- name: find
-- A memory, deleted or not, that the asking agent may see.
SELECT id, position, state = 'deleted' AS deleted, data_subjects, session_id, sequence, scope, agents, text
  FROM node
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND label = 'Memory'
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(agents, '{""}')))
