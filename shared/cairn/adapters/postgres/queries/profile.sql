-- name: due
-- The next clients with memories or events behind what their profiles looked at, or whose profiles rest
-- on what is no more. Later positions tell nothing: each edge to a node moves it on. What stays apart of
-- others (a namespace, what is not clean) makes none due.
WITH said AS (
  SELECT n.client_id, max(n.created_position) AS last FROM node n
   WHERE n.workspace_id = %(workspace_id)s AND n.label IN ('Memory', 'Event') AND n.state = 'active'
     AND n.namespace IS NULL AND n.screening = 'clean' AND n.client_id <> 'global'
   GROUP BY n.client_id
), kept AS (
  SELECT p.client_id, array_agg(p.id ORDER BY p.id) AS profiles,
    min((p.metadata #>> '{cairn,up_to}')::bigint) AS up_to,
    bool_or(EXISTS (SELECT FROM edge e
      WHERE e.workspace_id = %(workspace_id)s AND e.source_id = p.id AND e.superseded_at IS NULL
        AND e.relation = 'DERIVED_FROM'
        AND NOT EXISTS (SELECT FROM node n
          WHERE n.workspace_id = %(workspace_id)s AND n.id = e.target_id AND n.state = 'active'))) AS stale
    FROM node p
   WHERE p.workspace_id = %(workspace_id)s AND p.label = 'Summary' AND p.kind = 'profile'
     AND p.state = 'active'
   GROUP BY p.client_id
)
SELECT client_id, coalesce(kept.profiles, '{}') AS profiles
  FROM said FULL JOIN kept USING (client_id)
 WHERE client_id > %(after)s
   AND (kept.up_to IS NULL OR said.last IS NULL OR said.last > kept.up_to OR kept.stale)
 ORDER BY client_id LIMIT %(limit)s

-- name: holders
-- Whose memories and events these are: whom the graph says has them, else the client they are about. Not
-- what a public key sees of one conversation only: what is made of several is everybody's.
SELECT n.id, h.id AS entity_id, h.name, n.scope, n.agents, n.data_subjects
  FROM node n
 CROSS JOIN LATERAL (
   SELECT id, name FROM (
     SELECT t.id, t.canonical_name AS name, 0 AS place FROM edge e
       JOIN node t ON t.workspace_id = %(workspace_id)s AND t.id = e.source_id
      WHERE e.workspace_id = %(workspace_id)s AND e.target_id = n.id AND e.superseded_at IS NULL
        AND e.view = 'knowledge' AND e.relation IN ('HAS_FACT', 'HAS_PREFERENCE', 'HAS_SKILL')
        AND t.label = 'Entity' AND t.state = 'active'
     UNION ALL
     SELECT t.id, t.canonical_name, 1 FROM edge e
       JOIN node t ON t.workspace_id = %(workspace_id)s AND t.id = e.target_id
      WHERE e.workspace_id = %(workspace_id)s AND e.source_id = n.id AND e.superseded_at IS NULL
        AND e.view = 'entity' AND e.relation = 'REFERENCES' AND e.properties ->> 'role' = 'about'
        AND t.label = 'Entity' AND t.kind = 'client' AND t.state = 'active'
   ) AS either ORDER BY place, id LIMIT 1) AS h
 WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s) AND n.state = 'active'
   AND n.namespace IS NULL AND n.screening = 'clean'
   AND (n.conversation_id IS NULL OR n.scope = 'admin')

-- name: profile_holders
-- Whose profiles these are.
SELECT p.id, h.id AS entity_id, h.canonical_name AS name, p.scope, p.agents, p.data_subjects
  FROM node p
  JOIN node h ON h.workspace_id = %(workspace_id)s AND h.id = (p.metadata #>> '{cairn,holder}')::uuid
 WHERE p.workspace_id = %(workspace_id)s AND p.id = ANY (%(ids)s)

-- name: claims
-- What models read in the memories that profiles are of.
SELECT p.id, p.metadata #> '{cairn,claims}' AS told FROM node p
 WHERE p.workspace_id = %(workspace_id)s AND p.id = ANY (%(ids)s) AND p.state = 'active'
   AND p.metadata #> '{cairn,claims}' IS NOT NULL

-- name: taken_out
-- Which of these nodes somebody deleted, however long ago: the ledger knows when no row does any more.
SELECT (meta::jsonb ->> 'node_id')::uuid FROM ledger
 WHERE workspace_id = %(workspace_id)s AND type = 'node.deleted'
   AND meta::jsonb ->> 'node_id' = ANY (%(ids)s)

-- name: held
-- The open edges of these relations that begin at some nodes, or at a pattern or skill that one has.
WITH own AS (
  SELECT e.id, e.view, e.relation, e.source_id, e.target_id, e.weight, e.properties FROM edge e
   WHERE e.workspace_id = %(workspace_id)s AND e.source_id = ANY (%(ids)s) AND e.superseded_at IS NULL
     AND e.relation = ANY (%(relations)s)
), theirs AS (
  SELECT e.id, e.view, e.relation, e.source_id, e.target_id, e.weight, e.properties FROM edge e
   WHERE e.workspace_id = %(workspace_id)s AND e.superseded_at IS NULL AND e.relation = ANY (%(relations)s)
     AND e.source_id IN (SELECT o.target_id FROM own o WHERE o.relation IN ('EXHIBITS_PATTERN', 'HAS_SKILL'))
)
SELECT id, view, relation, source_id, target_id, weight, properties ->> 'profile' AS profile
  FROM (SELECT * FROM own UNION SELECT * FROM theirs) AS edges ORDER BY id

-- name: memories
-- What a client is known by at this moment, the newest first.
-- columns: cairn.reading.views.MemoryView but importance_band
SELECT {n.columns}, n.created_position AS position, n.kind AS type,
  coalesce(n.agents, '{}') AS agents,
  (SELECT coalesce(jsonb_agg(DISTINCT jsonb_build_object('name', t.canonical_name, 'type', t.kind)), '[]')
     FROM edge r JOIN node t ON t.workspace_id = %(workspace_id)s AND t.id = r.target_id
    WHERE r.workspace_id = %(workspace_id)s AND r.source_id = n.id AND r.view = 'entity'
      AND r.relation = 'REFERENCES' AND r.superseded_at IS NULL AND t.label = 'Entity'
      AND t.state IN ('active', 'provisional')
      AND (current_agent() IS NULL OR t.agents IS NULL OR current_agent() = ANY (t.agents))
  ) AS entities, false AS embedded
  FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Memory'
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))
   AND n.client_id = %(client_id)s AND n.state = 'active' AND n.kind IN ('fact', 'status')
   AND n.namespace IS NULL AND n.screening = 'clean' AND NOT n.never_recall
   AND (n.expires_at IS NULL OR n.expires_at > %(now)s)
 ORDER BY n.created_position DESC, n.id DESC LIMIT %(limit)s

-- name: memories_as_of
-- The same as it was known at a ledger position.
-- columns: cairn.reading.views.MemoryView but importance_band
SELECT {n.columns}, n.created_position AS position, n.kind AS type,
  coalesce(n.agents, '{}') AS agents,
  (SELECT coalesce(jsonb_agg(DISTINCT jsonb_build_object('name', t.canonical_name, 'type', t.kind)), '[]')
     FROM edge r JOIN node t ON t.workspace_id = %(workspace_id)s AND t.id = r.target_id
    WHERE r.workspace_id = %(workspace_id)s AND r.source_id = n.id AND r.view = 'entity'
      AND r.relation = 'REFERENCES' AND r.superseded_at IS NULL AND t.label = 'Entity'
      AND t.state IN ('active', 'provisional')
      AND (current_agent() IS NULL OR t.agents IS NULL OR current_agent() = ANY (t.agents))
  ) AS entities, false AS embedded
  FROM node_version n
 WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Memory'
   AND n.from_position <= %(as_of_position)s
   AND %(as_of_position)s < coalesce(n.to_position, 9223372036854775807)
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))
   AND n.client_id = %(client_id)s AND n.state = 'active' AND n.kind IN ('fact', 'status')
   AND n.namespace IS NULL AND n.screening = 'clean' AND NOT n.never_recall
 ORDER BY n.created_position DESC, n.id DESC LIMIT %(limit)s
