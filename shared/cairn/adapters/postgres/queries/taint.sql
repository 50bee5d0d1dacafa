-- name: insert
-- Write a taint; one that is there stays.
INSERT INTO taint (workspace_id, id, kind, value, roots, causes, reason, position, applied_at)
VALUES (%(workspace_id)s, %(id)s, %(kind)s, %(value)s, %(roots)s, %(causes)s, %(reason)s,
  %(position)s, %(applied_at)s)
ON CONFLICT DO NOTHING

-- name: hold
-- Keep which nodes a taint holds; what it holds already stays as it is.
INSERT INTO taint_node (workspace_id, taint_id, node_id, state, revived_for, position)
SELECT %(workspace_id)s, %(taint_id)s, node_id, state, revived_for, %(position)s
  FROM unnest(%(node_ids)s::uuid[], %(states)s::text[], %(revived_for)s::uuid[])
    AS given (node_id, state, revived_for)
ON CONFLICT (workspace_id, taint_id, node_id) DO UPDATE
   SET state = CASE WHEN taint_node.revived_for IS NULL THEN taint_node.state ELSE excluded.state END,
       revived_for = excluded.revived_for, position = excluded.position
 WHERE taint_node.revived_for IS NOT NULL AND excluded.revived_for IS NULL

-- name: lift
-- A taint no longer stands; the first lifting counts.
UPDATE taint SET lifted_position = %(position)s, lifted_at = %(lifted_at)s
 WHERE workspace_id = %(workspace_id)s AND id = %(taint_id)s AND lifted_position IS NULL

-- name: arrived
-- Which of these nodes fall under which standing taint; nothing is looked at while none stands.
WITH fresh AS MATERIALIZED (
  SELECT n.id, n.state, n.source_agent, n.session_id, n.document_id,
    CASE n.label WHEN 'Message' THEN n.parent_id END AS conversation_id
    FROM node n
   WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s)
     AND n.label <> 'Entity' AND n.state NOT IN ('deleted', 'quarantined')
     AND EXISTS (SELECT FROM taint
       WHERE workspace_id = %(workspace_id)s AND lifted_position IS NULL)
), made AS MATERIALIZED (
  SELECT n.id, of.id AS node_id, of.caused FROM fresh n
   CROSS JOIN LATERAL (
     SELECT n.id, false AS caused
     UNION ALL SELECT n.document_id, false WHERE n.document_id IS NOT NULL
     UNION ALL SELECT n.conversation_id, false WHERE n.conversation_id IS NOT NULL
     UNION ALL SELECT e.target_id, e.relation = 'CAUSED_BY' FROM edge e
       WHERE e.workspace_id = %(workspace_id)s AND e.source_id = n.id AND e.superseded_at IS NULL
         AND e.relation IN ('DERIVED_FROM', 'CAUSED_BY')
     UNION ALL SELECT e.source_id, false FROM edge e
       WHERE e.workspace_id = %(workspace_id)s AND e.target_id = n.id AND e.superseded_at IS NULL
         AND e.relation = 'PRODUCED'
   ) AS of
)
SELECT t.id AS taint_id, n.id, n.state FROM fresh n JOIN taint t
    ON t.workspace_id = %(workspace_id)s AND t.lifted_position IS NULL
   AND (t.kind = 'agent' AND n.source_agent = t.value
     OR t.kind = 'session' AND n.session_id = t.value)
UNION
SELECT t.id, n.id, n.state FROM made m
  JOIN fresh n ON n.id = m.id
  JOIN taint_node h ON h.workspace_id = %(workspace_id)s AND h.node_id = m.node_id
   AND h.revived_for IS NULL
  JOIN taint t ON t.workspace_id = %(workspace_id)s AND t.id = h.taint_id
   AND t.lifted_position IS NULL AND (t.causes OR NOT m.caused)

-- name: walk
-- All that a taint reaches, one node more than the bound; an entity is not gone past.
WITH RECURSIVE walked AS (
  SELECT n.id, n.label = 'Entity' AND NOT n.id = ANY (%(roots)s) AS entity FROM node n
   WHERE n.workspace_id = %(workspace_id)s
     AND (n.id = ANY (%(roots)s)
       OR n.label <> 'Entity' AND (%(kind)s = 'agent' AND n.source_agent = %(value)s::text
         OR %(kind)s = 'session' AND n.session_id = %(value)s::text))
  UNION
  SELECT made.id, n.label = 'Entity' FROM walked
   CROSS JOIN LATERAL (
     SELECT v.source_id AS id FROM edge_version v
      WHERE v.workspace_id = %(workspace_id)s AND v.target_id = walked.id
        AND (v.relation = 'DERIVED_FROM' OR v.relation = 'CAUSED_BY' AND %(causes)s)
     UNION ALL
     SELECT v.target_id FROM edge_version v
      WHERE v.workspace_id = %(workspace_id)s AND v.source_id = walked.id
        AND v.relation = 'PRODUCED'
     UNION ALL
     SELECT p.id FROM node p WHERE p.workspace_id = %(workspace_id)s AND p.document_id = walked.id
     UNION ALL
     SELECT p.id FROM node p
      WHERE p.workspace_id = %(workspace_id)s AND p.parent_id = walked.id AND p.label = 'Message'
   ) AS made
   JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = made.id
   WHERE NOT walked.entity
)
SELECT id, bool_and(entity) FROM walked GROUP BY id ORDER BY id LIMIT %(limit)s

-- name: to_hold
-- Nodes that a taint does not hold, with the state each would have without any.
SELECT n.id, coalesce((SELECT h.state FROM taint_node h JOIN taint t
      ON t.workspace_id = %(workspace_id)s AND t.id = h.taint_id AND t.lifted_position IS NULL
     WHERE n.state = 'quarantined' AND h.workspace_id = %(workspace_id)s AND h.node_id = n.id
       AND h.revived_for IS NULL ORDER BY h.position, h.taint_id LIMIT 1),
    CASE n.state WHEN 'quarantined' THEN 'active' ELSE n.state END)
  FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s) AND n.state <> 'deleted'
   AND NOT EXISTS (SELECT FROM taint_node h
     WHERE h.workspace_id = %(workspace_id)s AND h.taint_id = %(taint_id)s AND h.node_id = n.id
       AND h.revived_for IS NULL)

-- name: revivable
-- What was superseded by nodes that are held back and can stand again: nothing else stands there.
-- Of several of one chain the newest.
SELECT DISTINCT ON (coalesce(n.chain_key, n.id::text)) n.id, n.superseded_by FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.superseded_by = ANY (%(ids)s)
   AND n.state = 'superseded' AND n.label <> 'Entity' AND n.id <> ALL (%(reached)s)
   AND NOT EXISTS (SELECT FROM node o
     WHERE o.workspace_id = n.workspace_id AND o.id <> n.id AND o.id <> ALL (%(ids)s)
       AND o.state IN ('active', 'provisional')
       AND (o.dedup_key = n.dedup_key OR o.chain_key = n.chain_key))
 ORDER BY coalesce(n.chain_key, n.id::text), n.valid_from DESC, n.id

-- name: truths
-- Entities of which something is held true.
SELECT id FROM node
 WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s) AND compiled_truth IS NOT NULL
 ORDER BY id

-- name: documents
-- The documents of a source.
SELECT id FROM node
 WHERE workspace_id = %(workspace_id)s AND label = 'Document' AND source_uri = %(source_uri)s
 ORDER BY id

-- name: exists
-- Whether there is such a node.
SELECT FROM node WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state <> 'deleted'

-- name: standing
-- The standing taint of exactly this.
SELECT id, kind, value, roots, causes, reason, position, applied_at FROM taint
 WHERE workspace_id = %(workspace_id)s AND lifted_position IS NULL AND kind = %(kind)s
   AND value IS NOT DISTINCT FROM %(value)s::text AND roots = %(roots)s::uuid[]
   AND causes = %(causes)s
 ORDER BY position LIMIT 1

-- name: find
-- A taint, lifted or not.
SELECT id, kind, value, roots, causes, reason, position, applied_at
  FROM taint WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: is_lifted
-- Whether a taint was lifted.
SELECT lifted_position IS NOT NULL FROM taint
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: to_restore
-- Nodes that only a lifted taint holds, with what has taken their place.
SELECT n.id, h.state, n.dedup_key, n.chain_key, n.valid_from,
  CASE WHEN h.state IN ('active', 'provisional') THEN (SELECT o.id FROM node o
     WHERE o.workspace_id = %(workspace_id)s AND o.id <> n.id
       AND o.state IN ('active', 'provisional')
       AND (o.dedup_key = n.dedup_key OR o.chain_key = n.chain_key)
       AND NOT EXISTS (SELECT FROM taint_node r
         WHERE r.workspace_id = %(workspace_id)s AND r.taint_id = h.taint_id
           AND r.node_id = o.id AND r.revived_for = n.id)
     ORDER BY o.valid_from DESC, o.id LIMIT 1) END AS stands
  FROM taint_node h
  JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = h.node_id AND n.state = 'quarantined'
   AND NOT n.never_recall
 WHERE h.workspace_id = %(workspace_id)s AND h.taint_id = %(taint_id)s AND h.revived_for IS NULL
   AND NOT EXISTS (SELECT FROM taint_node s JOIN taint t
       ON t.workspace_id = %(workspace_id)s AND t.id = s.taint_id AND t.lifted_position IS NULL
     WHERE s.workspace_id = %(workspace_id)s AND s.node_id = h.node_id
       AND s.taint_id <> %(taint_id)s AND s.revived_for IS NULL)
 ORDER BY n.created_position, n.id LIMIT %(limit)s

-- name: revived_by
-- Predecessors that stand for nodes which come back: these nodes' place is theirs again.
SELECT p.id, b.id AS by, b.valid_from FROM taint_node h
  JOIN node p ON p.workspace_id = %(workspace_id)s AND p.id = h.node_id
   AND p.state IN ('active', 'provisional')
  JOIN node b ON b.workspace_id = %(workspace_id)s AND b.id = h.revived_for
 WHERE h.workspace_id = %(workspace_id)s AND h.taint_id = %(taint_id)s
   AND h.revived_for = ANY (%(ids)s)
 ORDER BY p.id

-- name: views
-- Taints as they are shown, the newest first, or the one asked for.
SELECT t.id, t.kind, t.value,
  (SELECT min(d.source_uri) FROM node d
    WHERE t.kind = 'source' AND d.workspace_id = %(workspace_id)s AND d.id = ANY (t.roots)) AS source,
  t.roots, t.causes, t.reason, t.position, t.applied_at, t.lifted_position, t.lifted_at,
  count(h.node_id)::integer AS nodes, count(n.id)::integer AS quarantined
  FROM taint t
  LEFT JOIN taint_node h ON h.workspace_id = %(workspace_id)s AND h.taint_id = t.id
    AND h.revived_for IS NULL
  LEFT JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = h.node_id
    AND n.state = 'quarantined'
 WHERE t.workspace_id = %(workspace_id)s AND (%(id)s::uuid IS NULL OR t.id = %(id)s)
   AND (%(after)s::bigint IS NULL OR t.position < %(after)s)
 GROUP BY t.workspace_id, t.id
 ORDER BY t.position DESC LIMIT %(limit)s

-- name: held
-- Every node a taint holds or held.
SELECT node_id FROM taint_node
 WHERE workspace_id = %(workspace_id)s AND taint_id = %(taint_id)s AND revived_for IS NULL
 ORDER BY node_id

-- name: actions
-- Executed actions on evidence that is among these nodes.
SELECT l.position, l.id AS entry_id, l.type, l.recorded_at, used.ids AS node_ids
  FROM ledger l
 CROSS JOIN LATERAL (
   SELECT array_agg(one::uuid ORDER BY one) AS ids
     FROM jsonb_array_elements_text(l.meta::jsonb -> 'evidence_ids') AS one
    WHERE one = ANY (%(ids)s)
 ) AS used
 WHERE l.workspace_id = %(workspace_id)s AND l.type LIKE 'action.%%'
   AND jsonb_typeof(l.meta::jsonb -> 'evidence_ids') = 'array' AND used.ids IS NOT NULL
 ORDER BY l.position DESC LIMIT %(limit)s

-- name: searches
-- Searches that returned one of these nodes.
SELECT id AS search_id, principal_id, recorded_at,
  ARRAY(SELECT unnest(returned) INTERSECT SELECT unnest(%(ids)s::uuid[]) ORDER BY 1) AS node_ids
  FROM search_run
 WHERE workspace_id = %(workspace_id)s AND returned && %(ids)s::uuid[]
 ORDER BY recorded_at DESC, id DESC LIMIT %(limit)s
