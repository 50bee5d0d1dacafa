-- name: enrichable
-- Nodes to be found, each with the texts of the two messages before it (same session and audience).
SELECT n.id, n.label, n.text, coalesce(c.texts, '{}')
  FROM node n
  LEFT JOIN LATERAL (
    SELECT array_agg(before.text) AS texts
      FROM (SELECT p.text FROM node p
             WHERE p.workspace_id = %(workspace_id)s AND p.session_id = n.session_id
               AND (p.sequence, p.id) < (n.sequence, n.id)
               AND p.label = 'Memory' AND p.state IN ('active', 'provisional')
               AND p.scope = n.scope AND p.agents IS NOT DISTINCT FROM n.agents
               AND p.data_subjects = n.data_subjects
             ORDER BY p.sequence DESC, p.id DESC LIMIT 2) AS before
  ) AS c ON n.label = 'Memory' AND n.sequence IS NOT NULL
 WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s)
   AND n.state IN ('active', 'provisional', 'superseded')

-- name: cached
-- The vectors of texts seen before.
SELECT text_hash, v FROM embedding_cache
 WHERE workspace_id = %(workspace_id)s AND text_hash = ANY (%(hashes)s) AND model_id = %(model_id)s

-- name: cache
-- Keep the vectors of texts.
INSERT INTO embedding_cache (workspace_id, text_hash, model_id, v, created_at)
SELECT %(workspace_id)s, asked.text_hash, %(model_id)s, asked.v, %(now)s
  FROM unnest(%(hashes)s::bytea[], %(vectors)s::halfvec[]) AS asked (text_hash, v)
ON CONFLICT DO NOTHING

-- name: store
-- Replace the vectors of nodes, with the guards as the nodes have them now.
INSERT INTO embedding (workspace_id, node_id, model_id, ordinal, v, position, label, kind, scope,
  agents, client_id, state, occurred_at, valid_from, valid_to)
SELECT n.workspace_id, n.id, %(model_id)s, asked.ordinal, asked.v, %(position)s, n.label, n.kind,
  n.scope, n.agents, n.client_id, n.state, n.occurred_at, n.valid_from, n.valid_to
  FROM unnest(%(ids)s::uuid[], %(ordinals)s::smallint[], %(vectors)s::halfvec[])
    AS asked (id, ordinal, v)
  JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = asked.id
ON CONFLICT (workspace_id, node_id, model_id, ordinal) DO UPDATE
   SET v = excluded.v, position = excluded.position
 WHERE embedding.position <= excluded.position

-- name: trim
-- Remove the windows a node no longer has.
DELETE FROM embedding AS e
 USING unnest(%(ids)s::uuid[], %(counts)s::smallint[]) AS asked (id, windows)
 WHERE e.workspace_id = %(workspace_id)s AND e.node_id = asked.id AND e.model_id = %(model_id)s
   AND e.ordinal >= asked.windows AND e.position <= %(position)s

-- name: of_workspace
-- Every vector of a workspace, for exact search.
SELECT node_id, v FROM embedding
 WHERE workspace_id = %(workspace_id)s AND model_id = %(model_id)s AND ordinal = 0
