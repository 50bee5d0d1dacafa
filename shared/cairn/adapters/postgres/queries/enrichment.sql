-- name: outgoing
-- What nodes refer to, follow and came of, at present.
SELECT id, relation, source_id, target_id, properties ->> 'role' AS role FROM edge
 WHERE workspace_id = %(workspace_id)s AND source_id = ANY (%(ids)s) AND superseded_at IS NULL
   AND (view, relation) IN (('entity', 'REFERENCES'), ('temporal', 'FOLLOWS'), ('causal', 'CAUSED_BY'))

-- name: likenesses
-- What nodes are like, at present, whichever end they are.
SELECT source_id, target_id, weight AS score, id AS edge_id FROM edge
 WHERE workspace_id = %(workspace_id)s AND source_id = ANY (%(ids)s)
   AND view = 'semantic' AND relation = 'SIMILAR_TO' AND superseded_at IS NULL
UNION
SELECT source_id, target_id, weight AS score, id AS edge_id FROM edge
 WHERE workspace_id = %(workspace_id)s AND target_id = ANY (%(ids)s)
   AND view = 'semantic' AND relation = 'SIMILAR_TO' AND superseded_at IS NULL

-- name: audiences
-- Who may see nodes that are there to be seen.
SELECT id, scope, agents FROM node
 WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s)
   AND state NOT IN ('deleted', 'quarantined')

-- name: before_in_trace
-- What came just before each event in its trace, for the same audience. The time is compared alone
-- too: under row security only that condition may go through the index.
SELECT n.id AS node_id, before.id AS before_id, before.kind AS type,
  before.metadata ->> 'tool_name' AS tool_name
  FROM node n
 CROSS JOIN LATERAL (
   SELECT p.id, p.kind, p.metadata FROM node p
    WHERE p.workspace_id = %(workspace_id)s AND p.label = 'Event' AND p.trace_id = n.trace_id
      AND p.occurred_at <= n.occurred_at
      AND (p.occurred_at, coalesce(p.sequence, -1), p.id)
        < (n.occurred_at, coalesce(n.sequence, -1), n.id)
      AND p.state IN ('active', 'provisional')
      AND p.scope = n.scope AND p.agents IS NOT DISTINCT FROM n.agents
    ORDER BY p.occurred_at DESC, coalesce(p.sequence, -1) DESC, p.id DESC LIMIT 1) AS before
 WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s)
