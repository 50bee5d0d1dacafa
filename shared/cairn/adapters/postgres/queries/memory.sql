-- name: known
-- The active and superseded memories of these identities, and those that no recall may find again.
SELECT dedup_key, id, created_position AS position, observed_by, valid_from, state <> 'superseded' AS active
  FROM node
 WHERE workspace_id = %(workspace_id)s AND dedup_key = ANY (%(dedup_keys)s)
   AND (state IN ('active', 'provisional', 'superseded') OR never_recall AND state = 'quarantined')

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
SELECT id, position, state = 'deleted' AS deleted, data_subjects, session_id, sequence, scope, agents, text,
  client_id
  FROM node
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND label = 'Memory'
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(agents, '{""}')))

-- name: whole
-- All of some memories, deleted or not, that the asking agent may see.
-- columns: cairn.memories.edit_plan.WholeMemory
SELECT {columns}, created_position AS position
  FROM node
 WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s) AND label = 'Memory'
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(agents, '{""}')))

-- name: standing
-- The memory that stands where another would: of the same identity, or at the end of the same chain.
SELECT id FROM node
 WHERE workspace_id = %(workspace_id)s AND id <> ALL (%(without)s)
   AND state IN ('active', 'provisional') AND (dedup_key = %(dedup_key)s OR chain_key = %(chain_key)s)
 ORDER BY id LIMIT 1

-- name: state_before_deletion
-- The state that a memory had before it was deleted.
SELECT state FROM node_version
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state <> 'deleted'
 ORDER BY from_position DESC LIMIT 1

-- name: edges
-- The edges of memories that are not derived anew: stated ones, causes, what they come from and made.
SELECT view, relation, source_id, target_id, weight, properties FROM edge
 WHERE workspace_id = %(workspace_id)s AND superseded_at IS NULL
   AND (source_id = ANY (%(ids)s) OR target_id = ANY (%(ids)s) AND relation <> 'DERIVED_FROM')
   AND relation NOT IN ('FOLLOWS', 'SIMILAR_TO', 'REFERENCES', 'SUPERSEDES', 'SUMMARIZES', 'CO_OCCURRENCE', 'PART_OF')
 ORDER BY id

-- name: made_of
-- Summaries and entities' truths that were made of a memory, directly or by way of other summaries.
WITH RECURSIVE made AS (
  SELECT %(id)s::uuid AS id
  UNION
  SELECT e.source_id FROM made
    JOIN edge e ON e.workspace_id = %(workspace_id)s AND e.target_id = made.id
     AND e.superseded_at IS NULL AND e.relation IN ('DERIVED_FROM', 'SUMMARIZES')
    JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = e.source_id
     AND n.label IN ('Summary', 'Entity')
)
SELECT n.id, n.label = 'Entity' AS entity FROM made
  JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = made.id
 WHERE n.label = 'Summary' AND n.state <> 'deleted'
    OR n.label = 'Entity' AND n.compiled_truth IS NOT NULL
 ORDER BY n.id
