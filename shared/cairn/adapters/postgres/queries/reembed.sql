-- name: stale
-- The next nodes by id that are to be found by vector: the last one, and which of them have no
-- vector of the model, or one older than another model's or than work that waits, or no token vectors
-- where the model gives some.
WITH looked_at AS MATERIALIZED (
  SELECT n.id, n.label FROM node n
   WHERE n.workspace_id = %(workspace_id)s AND n.id > %(after)s
     AND n.state IN ('active', 'provisional', 'superseded')
   ORDER BY n.id LIMIT %(limit)s
), waiting AS MATERIALIZED (
  SELECT named.id, max(o.position) AS position
    FROM outbox o CROSS JOIN LATERAL unnest(o.node_ids) AS named (id)
   WHERE o.workspace_id = %(workspace_id)s AND o.topic = 'embed' GROUP BY named.id
), aged AS (
  SELECT s.id, s.label, v.own, v.other, v.bare, w.position AS waits
    FROM looked_at s LEFT JOIN waiting w ON w.id = s.id
    LEFT JOIN LATERAL (
      SELECT max(e.position) FILTER (WHERE e.model_id = %(model_id)s) AS own,
             max(e.position) FILTER (WHERE e.model_id <> %(model_id)s) AS other,
             bool_or(e.tokens IS NULL) FILTER (WHERE e.model_id = %(model_id)s) AS bare
        FROM embedding e WHERE e.workspace_id = %(workspace_id)s AND e.node_id = s.id) AS v ON true
)
SELECT (SELECT s.id FROM looked_at s ORDER BY s.id DESC LIMIT 1) AS last,
  (SELECT count(*) FROM looked_at) AS looked_at,
  (SELECT coalesce(array_agg(a.id ORDER BY a.id), '{}') FROM aged a
    WHERE a.own < greatest(a.other, a.waits) OR a.bare AND %(with_tokens)s
       OR a.own IS NULL AND (a.label NOT IN ('Conversation', 'Entity') OR a.other IS NOT NULL)) AS node_ids

-- name: text_positions
-- Where nodes' present texts come from: the newest work that asked for vectors, done or waiting.
SELECT asked.id, max(asked.position) FROM (
  SELECT e.node_id AS id, e.position FROM embedding e
   WHERE e.workspace_id = %(workspace_id)s AND e.node_id = ANY (%(ids)s)
   UNION ALL
  SELECT named.id, o.position FROM outbox o CROSS JOIN LATERAL unnest(o.node_ids) AS named (id)
   WHERE o.workspace_id = %(workspace_id)s AND o.topic = 'embed' AND named.id = ANY (%(ids)s)
) AS asked GROUP BY asked.id

-- name: findable
-- How many nodes are to be found at all: what a progress bar goes to.
SELECT count(*) FROM node
 WHERE workspace_id = %(workspace_id)s AND state IN ('active', 'provisional', 'superseded')

-- name: sample
-- Nodes that searches find and that have vectors of both models, the same ones every time.
SELECT n.id, n.title, n.text FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.state IN ('active', 'provisional')
   AND n.label NOT IN ('Conversation', 'Message', 'Entity')
   AND (SELECT count(DISTINCT e.model_id) FROM embedding e
         WHERE e.workspace_id = %(workspace_id)s AND e.node_id = n.id
           AND e.model_id IN (%(model_id)s, %(other_id)s)) = 2
 ORDER BY md5(n.id::text), n.id LIMIT %(limit)s

-- name: indexed
-- Whether the model's vectors have an HNSW index in every partition.
SELECT count(*) = (SELECT count(*) FROM pg_inherits WHERE inhparent = 'public.embedding'::regclass)
  FROM pg_indexes
 WHERE schemaname = 'public' AND tablename ~ '^embedding_p[0-9]+$'
   AND indexname ~ ('_hnsw_' || %(model_id)s::text || '$')

-- name: drop_vectors
-- Remove some vectors of other models.
WITH gone AS (
  SELECT e.node_id, e.model_id, e.ordinal FROM embedding e
   WHERE e.workspace_id = %(workspace_id)s AND e.model_id <> %(model_id)s LIMIT %(limit)s
)
DELETE FROM embedding e USING gone g
 WHERE e.workspace_id = %(workspace_id)s AND e.node_id = g.node_id AND e.model_id = g.model_id
   AND e.ordinal = g.ordinal

-- name: drop_cached
-- Remove some cached vectors of other models: a rebuild would bring the rows back from them.
WITH gone AS (
  SELECT c.text_hash, c.model_id FROM embedding_cache c
   WHERE c.workspace_id = %(workspace_id)s AND c.model_id <> %(model_id)s LIMIT %(limit)s
)
DELETE FROM embedding_cache c USING gone g
 WHERE c.workspace_id = %(workspace_id)s AND c.text_hash = g.text_hash AND c.model_id = g.model_id
