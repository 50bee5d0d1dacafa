-- name: reindex
-- How many of these nodes lack a vector; those that no work waiting names are queued, for the next
-- sweep to send.
WITH lacking AS (
  SELECT n.id, n.position,
    EXISTS (SELECT FROM outbox o WHERE o.workspace_id = n.workspace_id
              AND o.topic = 'embed' AND n.id = ANY (o.node_ids)) AS waiting
    FROM node n
   WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s)
     AND NOT EXISTS (SELECT FROM embedding e WHERE e.workspace_id = n.workspace_id
                       AND e.node_id = n.id AND e.model_id = %(model_id)s)
), queued AS (
  INSERT INTO outbox (workspace_id, id, topic, node_ids, position, created_at)
  SELECT %(workspace_id)s, %(id)s, 'embed', array_agg(id), max(position), %(now)s
    FROM lacking WHERE NOT waiting
  HAVING count(*) > 0
)
SELECT count(*) FROM lacking
