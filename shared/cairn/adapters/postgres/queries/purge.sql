-- name: aliases
-- Take the other names of entities that go.
DELETE FROM entity_alias AS a USING node AS n
 WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s) AND n.label = 'Entity'
   AND a.workspace_id = n.workspace_id AND lower(a.canonical_name) = lower(n.canonical_name)
   AND a.entity_type = n.kind AND a.scope = n.scope AND a.agents IS NOT DISTINCT FROM n.agents

-- name: edges
-- Take every edge at these nodes, and what it counted for at its other end. An arm an index.
WITH gone AS (
  DELETE FROM edge
   WHERE workspace_id = %(workspace_id)s
     AND (source_id = ANY (%(ids)s) AND superseded_at IS NULL
       OR target_id = ANY (%(ids)s) AND superseded_at IS NULL
       OR source_id = ANY (%(ids)s) AND superseded_at IS NOT NULL
       OR target_id = ANY (%(ids)s) AND superseded_at IS NOT NULL)
  RETURNING target_id, relation, superseded_at
)
UPDATE node AS n
   SET backlink_count = greatest(0, n.backlink_count - c.fewer),
       position = greatest(n.position, %(position)s)
  FROM (SELECT target_id, count(*)::integer AS fewer FROM gone
         WHERE superseded_at IS NULL AND is_backlink(relation) AND target_id <> ALL (%(ids)s)
         GROUP BY target_id) AS c
 WHERE n.workspace_id = %(workspace_id)s AND n.id = c.target_id

-- name: edge_versions
-- Take their history too.
DELETE FROM edge_version
 WHERE workspace_id = %(workspace_id)s
   AND (source_id = ANY (%(ids)s) OR target_id = ANY (%(ids)s))

-- name: embeddings
-- Take the vectors of nodes.
DELETE FROM embedding WHERE workspace_id = %(workspace_id)s AND node_id = ANY (%(ids)s)

-- name: nodes
-- Take the nodes.
DELETE FROM node WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s)

-- name: node_versions
-- Take what they were before.
DELETE FROM node_version WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s)

-- name: outbox
-- Work that waits for these nodes no longer names them; what names none is done.
WITH fewer AS (
  UPDATE outbox
     SET node_ids = ARRAY(SELECT one FROM unnest(node_ids) AS one WHERE one <> ALL (%(ids)s))
   WHERE workspace_id = %(workspace_id)s AND topic = 'embed' AND reference IS NULL
     AND node_ids && %(ids)s AND NOT node_ids <@ %(ids)s
)
DELETE FROM outbox
 WHERE workspace_id = %(workspace_id)s AND topic = 'embed' AND reference IS NULL
   AND node_ids && %(ids)s AND node_ids <@ %(ids)s

-- name: remember
-- Keep that nodes are gone, so that indexes outside the database take them out.
INSERT INTO purged_node (workspace_id, id, position)
SELECT %(workspace_id)s, id, %(position)s FROM unnest(%(ids)s::uuid[]) AS id
ON CONFLICT (workspace_id, id) DO UPDATE
   SET position = greatest(purged_node.position, excluded.position)

-- name: clear_truths
-- What was compiled about these nodes from what goes is true no longer.
UPDATE node SET compiled_truth = NULL, position = greatest(position, %(position)s)
 WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s) AND compiled_truth IS NOT NULL

-- name: clear_past_truths
-- Nor was it before; the words of versions are copies, made here as the node's are.
UPDATE node_version
   SET compiled_truth = NULL,
       search_tsv = search_words(title, canonical_name, text, NULL, context_text)
 WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s) AND compiled_truth IS NOT NULL
