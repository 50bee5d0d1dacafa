-- name: page
-- The next nodes by id that are to be found by vector: the last one, how many lack a vector of the
-- model, which of these no waiting work names, with them messages nobody drew memories from yet; and
-- whose words are not as they would be made now.
WITH looked_at AS MATERIALIZED (
  SELECT n.id, n.label,
    n.label = 'Message' AND n.kind = 'user' AND NOT n.consolidated AND n.state = 'active'
      AND NOT n.metadata @> '{"cairn": {"accepted": false}}'
      AND NOT n.metadata @> '{"cairn": {"infer": false}}' AS undrawn,
    n.search_tsv IS DISTINCT FROM search_words(n.title, n.canonical_name, n.text, n.compiled_truth,
      n.context_text) AS stale
    FROM node n
   WHERE n.workspace_id = %(workspace_id)s AND n.id > %(after)s
     AND n.state IN ('active', 'provisional', 'superseded')
   ORDER BY n.id LIMIT %(limit)s
), lacking AS MATERIALIZED (
  SELECT s.id FROM looked_at s
   WHERE NOT EXISTS (SELECT FROM embedding e WHERE e.workspace_id = %(workspace_id)s
                       AND e.node_id = s.id AND e.model_id = %(model_id)s)
     AND (s.label NOT IN ('Conversation', 'Entity')
       OR EXISTS (SELECT FROM embedding e
                   WHERE e.workspace_id = %(workspace_id)s AND e.node_id = s.id))
), wanted AS MATERIALIZED (
  SELECT l.id FROM lacking l UNION SELECT s.id FROM looked_at s WHERE s.undrawn
), waiting AS MATERIALIZED (
  SELECT DISTINCT named.id FROM outbox o CROSS JOIN LATERAL unnest(o.node_ids) AS named (id)
   WHERE o.workspace_id = %(workspace_id)s AND o.topic = 'embed' AND EXISTS (SELECT FROM wanted)
)
SELECT (SELECT s.id FROM looked_at s ORDER BY s.id DESC LIMIT 1) AS last,
  (SELECT count(*) FROM lacking) AS missing,
  (SELECT coalesce(array_agg(s.id), '{}') FROM looked_at s WHERE s.stale) AS stale,
  (SELECT coalesce(array_agg(l.id ORDER BY l.id), '{}') FROM wanted l
     LEFT JOIN waiting w ON w.id = l.id WHERE w.id IS NULL) AS unqueued

-- name: index_words
-- Make the words of nodes anew, as a release or a PostgreSQL with other rules makes them: by a trigger.
UPDATE node SET search_tsv = NULL WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s::uuid[])

-- name: count
-- How many nodes of the workspace lack a vector of the model, and how many of these work waits for.
WITH lacking AS MATERIALIZED (
  SELECT n.id FROM node n
   WHERE n.workspace_id = %(workspace_id)s
     AND n.state IN ('active', 'provisional', 'superseded')
     AND NOT EXISTS (SELECT FROM embedding e WHERE e.workspace_id = %(workspace_id)s
                       AND e.node_id = n.id AND e.model_id = %(model_id)s)
     AND (n.label NOT IN ('Conversation', 'Entity')
       OR EXISTS (SELECT FROM embedding e
                   WHERE e.workspace_id = %(workspace_id)s AND e.node_id = n.id))
), waiting AS MATERIALIZED (
  SELECT DISTINCT named.id FROM outbox o CROSS JOIN LATERAL unnest(o.node_ids) AS named (id)
   WHERE o.workspace_id = %(workspace_id)s AND o.topic = 'embed' AND EXISTS (SELECT FROM lacking)
)
SELECT count(*) AS missing, count(w.id) AS waiting FROM lacking l LEFT JOIN waiting w ON w.id = l.id
