-- name: counts
-- How many nodes there are by each of some columns, one pass; the empty set is the whole.
SELECT label, kind, state, category, knowledge_category,
  CASE 0 WHEN grouping(label) THEN 'label' WHEN grouping(kind) THEN 'kind'
    WHEN grouping(state) THEN 'state' WHEN grouping(category) THEN 'category'
    WHEN grouping(knowledge_category) THEN 'knowledge_category' END AS grouped,
  count(*) AS nodes,
  count(*) FILTER (WHERE is_memory AND state = 'active') AS memories,
  count(*) FILTER (WHERE is_memory AND state = 'active' AND kind = 'fact') AS facts
  FROM (SELECT n.label, n.state, n.category, n.knowledge_category, n.label = 'Memory' AS is_memory,
          CASE WHEN n.label = 'Memory' THEN n.kind END AS kind
          FROM node n WHERE n.workspace_id = %(workspace_id)s) AS n
 GROUP BY GROUPING SETS ((label), (kind), (state), (category), (knowledge_category), ())

-- name: facts
-- The confidence of active facts and since when they were not used.
SELECT n.confidence, coalesce(n.last_accessed_at, n.recorded_at) AS since FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.state = 'active' AND n.label = 'Memory'
   AND n.kind = 'fact' LIMIT %(limit)s

-- name: random_facts
-- The same of random facts.
SELECT n.confidence, coalesce(n.last_accessed_at, n.recorded_at) AS since FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.state = 'active' AND n.label = 'Memory'
   AND n.kind = 'fact' ORDER BY random() LIMIT %(limit)s

-- name: chosen
-- Active memories.
SELECT n.id FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.state = 'active' AND n.label = 'Memory'
 LIMIT %(limit)s

-- name: chosen_randomly
-- Random active memories.
SELECT n.id FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.state = 'active' AND n.label = 'Memory'
 ORDER BY random() LIMIT %(limit)s

-- name: sketches
-- Memories with whether an older one says the same to the same readers, and whether one contradicts.
SELECT n.id, n.text,
  EXISTS (SELECT FROM edge e JOIN node o ON o.workspace_id = %(workspace_id)s AND o.id = e.target_id
    WHERE e.workspace_id = %(workspace_id)s AND e.source_id = n.id AND e.superseded_at IS NULL
      AND e.view = 'semantic' AND e.relation = 'SIMILAR_TO'
      AND (e.properties ->> 'score')::double precision >= %(cosine)s
      AND o.state = 'active' AND o.id < n.id
      AND (o.label, o.kind, o.client_id, o.scope) = (n.label, n.kind, n.client_id, n.scope)
      AND o.agents IS NOT DISTINCT FROM n.agents AND o.data_subjects = n.data_subjects) AS duplicate,
  EXISTS (SELECT FROM edge e JOIN node c ON c.workspace_id = %(workspace_id)s AND c.id = e.source_id
    WHERE e.workspace_id = %(workspace_id)s AND e.target_id = n.id AND e.superseded_at IS NULL
      AND (e.relation = 'CONTRADICTS'
        OR e.relation = 'DERIVED_FROM' AND c.metadata ? 'contradiction')
      AND c.state IN ('active', 'provisional'))
  OR EXISTS (SELECT FROM edge e
    WHERE e.workspace_id = %(workspace_id)s AND e.source_id = n.id AND e.superseded_at IS NULL
      AND e.relation = 'CONTRADICTS') AS contradicted
  FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s)

-- name: chain_head
-- Where the ledger ends.
SELECT position, hash, recorded_at FROM ledger_head WHERE workspace_id = %(workspace_id)s

-- name: storage_bytes
-- Bytes of rows as they are stored, without indexes.
SELECT 'ledger', coalesce(sum(pg_column_size(t.*)), 0)::bigint FROM ledger t
 WHERE t.workspace_id = %(workspace_id)s
UNION ALL
SELECT 'nodes', coalesce(sum(pg_column_size(t.*)), 0)::bigint FROM node t
 WHERE t.workspace_id = %(workspace_id)s
UNION ALL
SELECT 'versions', coalesce(sum(pg_column_size(t.*)), 0)::bigint FROM node_version t
 WHERE t.workspace_id = %(workspace_id)s
UNION ALL
SELECT 'edges', coalesce(sum(pg_column_size(t.*)), 0)::bigint FROM edge t
 WHERE t.workspace_id = %(workspace_id)s
UNION ALL
SELECT 'vectors', coalesce(sum(pg_column_size(t.*)), 0)::bigint FROM embedding t
 WHERE t.workspace_id = %(workspace_id)s
UNION ALL
SELECT 'vector_cache', coalesce(sum(pg_column_size(t.*)), 0)::bigint FROM embedding_cache t
 WHERE t.workspace_id = %(workspace_id)s

-- name: vectors
-- Vectors by model.
SELECT m.name, count(*) FROM embedding e JOIN embedding_model m ON m.id = e.model_id
 WHERE e.workspace_id = %(workspace_id)s GROUP BY m.name ORDER BY m.name

-- name: feedback
-- What readers said of results, by recipe, reason and signal.
SELECT recipe, retrieval_reason, signal, count(*) AS judged,
  count(*) FILTER (WHERE useful) AS useful
  FROM search_feedback WHERE workspace_id = %(workspace_id)s
 GROUP BY recipe, retrieval_reason, signal
 ORDER BY recipe NULLS LAST, retrieval_reason, signal NULLS LAST

-- name: outbox
-- What waits, by topic.
SELECT topic, count(*) FROM outbox WHERE workspace_id = %(workspace_id)s
 GROUP BY topic ORDER BY topic
