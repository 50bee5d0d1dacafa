-- name: settings
-- What the workspace has set.
SELECT settings FROM workspace WHERE id = %(workspace_id)s

-- name: reindex
-- Queue nodes that lack a vector and that no work waiting names, for the next sweep to send.
INSERT INTO outbox (workspace_id, id, topic, node_ids, position, created_at)
SELECT %(workspace_id)s, %(id)s, 'embed', array_agg(n.id), max(n.position), %(now)s
  FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s)
   AND NOT EXISTS (SELECT FROM embedding e WHERE e.workspace_id = n.workspace_id
                     AND e.node_id = n.id AND e.model_id = %(model_id)s)
   AND NOT EXISTS (SELECT FROM outbox o WHERE o.workspace_id = n.workspace_id
                     AND o.topic = 'embed' AND n.id = ANY (o.node_ids))
HAVING count(*) > 0
RETURNING cardinality(node_ids)
