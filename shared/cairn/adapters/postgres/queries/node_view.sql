-- name: one
-- One node of any label.
SELECT n.id, n.created_position AS position, n.label, n.kind, n.text, n.state, n.client_id, n.scope,
  n.importance, n.title, n.canonical_name AS name, n.summary, n.slug, n.keywords, n.compiled_truth,
  n.confidence, coalesce(n.agents, '{}') AS agents, n.valid_from, n.valid_to, n.supersedes,
  n.superseded_by, n.document_id, n.parent_id, n.backlink_count, n.access_count, n.metadata,
  n.entry_id, n.occurred_at, n.recorded_at, n.session_id, n.source_agent, n.trace_id,
  n.label || n.extra_labels AS labels,
  EXISTS (SELECT FROM embedding e
           WHERE e.workspace_id = %(workspace_id)s AND e.node_id = n.id) AS embedded
  FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.id = %(id)s AND n.state <> 'quarantined'
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))

-- name: page
-- Nodes of one label, newest first, below a position and id when asked.
SELECT n.id, n.created_position AS position, n.label, n.kind, n.text, n.state, n.client_id, n.scope,
  n.importance, n.title, n.canonical_name AS name, n.summary, n.slug, n.keywords, n.compiled_truth,
  n.confidence, coalesce(n.agents, '{}') AS agents, n.valid_from, n.valid_to, n.supersedes,
  n.superseded_by, n.document_id, n.parent_id, n.backlink_count, n.access_count, n.metadata,
  n.entry_id, n.occurred_at, n.recorded_at, n.session_id, n.source_agent, n.trace_id,
  n.label || n.extra_labels AS labels,
  EXISTS (SELECT FROM embedding e
           WHERE e.workspace_id = %(workspace_id)s AND e.node_id = n.id) AS embedded
  FROM find_nodes(%(labels)s::text[], %(kind)s::text, %(client_id)s::text, %(matching)s::jsonpath,
         %(position)s::bigint, %(after)s::uuid, %(most)s::integer) f
  JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = f.node_id
 WHERE n.state IN ('active', 'provisional')
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))
   AND (%(own)s::jsonpath IS NULL OR jsonb_strip_nulls(jsonb_build_object('name', n.canonical_name,
     'title', n.title, 'summary', n.summary, 'text', n.text, 'slug', n.slug,
     'keywords', CASE WHEN n.keywords <> '{}' THEN to_jsonb(n.keywords) END,
     'compiled_truth', n.compiled_truth, 'kind', n.kind, 'client_id', n.client_id,
     'source_agent', n.source_agent, 'session_id', n.session_id, 'trace_id', n.trace_id,
     'importance', n.importance, 'confidence', n.confidence, 'backlink_count', n.backlink_count,
     'occurred_at', n.occurred_at, 'valid_from', n.valid_from, 'valid_to', n.valid_to,
     'recorded_at', n.recorded_at)) @@ %(own)s::jsonpath)
   AND (%(times)s::jsonb IS NULL OR NOT EXISTS (
     SELECT FROM jsonb_to_recordset(%(times)s::jsonb) AS t (path text[], sign text, moments timestamptz[])
       CROSS JOIN LATERAL (SELECT CASE t.path[1] WHEN 'occurred_at' THEN n.occurred_at
           WHEN 'valid_from' THEN n.valid_from WHEN 'valid_to' THEN n.valid_to
           WHEN 'recorded_at' THEN n.recorded_at ELSE stated_time(n.metadata #>> t.path) END AS at) AS s
      WHERE NOT coalesce(CASE t.sign WHEN '>' THEN s.at > t.moments[1] WHEN '>=' THEN s.at >= t.moments[1]
          WHEN '<' THEN s.at < t.moments[1] WHEN '<=' THEN s.at <= t.moments[1]
          WHEN '<>' THEN s.at IS DISTINCT FROM t.moments[1] ELSE s.at = ANY (t.moments) END, false)))
 ORDER BY n.created_position DESC, n.id DESC LIMIT %(limit)s

-- name: observed
-- The properties of the newest nodes of some labels, with the types of their values; how many they are.
WITH newest AS MATERIALIZED (
  SELECT n.metadata
    FROM find_nodes(%(labels)s::text[], %(kind)s::text, %(client_id)s::text, NULL, NULL, NULL,
           %(most)s::integer) f
    JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = f.node_id
)
SELECT p.key AS name, CASE jsonb_typeof(p.value)
    WHEN 'array' THEN 'list'
    WHEN 'string' THEN CASE
      WHEN p.value #>> '{}' ~ '^\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?$' THEN 'time'
      WHEN p.value #>> '{}' ~ '^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$' THEN 'number in a text'
      ELSE 'text' END
    ELSE jsonb_typeof(p.value) END AS type,
  (SELECT count(*) FROM newest) AS nodes
  FROM (SELECT '{}'::jsonb AS metadata UNION ALL SELECT metadata FROM newest) AS seen
  LEFT JOIN LATERAL jsonb_each(seen.metadata) AS p ON true
 GROUP BY 1, 2 LIMIT 1000

-- name: edges
-- The strongest edges of a node to nodes the reader sees; their kinds are counted, up to a limit.
WITH touching AS (
  (SELECT e.id, e.view, e.relation, 'out' AS direction, e.target_id AS other_id, e.weight, e.properties
     FROM edge e
    WHERE e.workspace_id = %(workspace_id)s AND e.source_id = %(id)s AND e.superseded_at IS NULL
    LIMIT %(most)s)
  UNION ALL
  (SELECT e.id, e.view, e.relation, 'in', e.source_id, e.weight, e.properties
     FROM edge e
    WHERE e.workspace_id = %(workspace_id)s AND e.target_id = %(id)s AND e.superseded_at IS NULL
    LIMIT %(most)s)
), seen AS (
  SELECT t.id, t.view, t.relation, t.direction, t.weight, t.properties, n.id AS node_id, n.label,
    n.kind, left(coalesce(n.canonical_name, n.title, n.text), 200) AS title,
    count(*) OVER (PARTITION BY t.view, t.relation, t.direction) AS alike,
    row_number() OVER (PARTITION BY t.view, t.relation, t.direction
                       ORDER BY t.weight DESC, t.id) AS place,
    row_number() OVER (ORDER BY t.weight DESC, t.id) AS rank
    FROM touching t JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = t.other_id
   WHERE n.state IN ('active', 'provisional', 'superseded')
     AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))
)
SELECT seen.*, (SELECT greatest(count(*) FILTER (WHERE direction = 'out'),
                                count(*) FILTER (WHERE direction = 'in')) FROM touching) AS touching
  FROM seen WHERE place = 1 OR rank <= %(limit)s ORDER BY rank

-- name: entity
-- One entity, merged or not, with its aliases and what its visible mentions add up to.
WITH mention AS (
  SELECT n.occurred_at, coalesce(r.properties ->> 'role', 'mentioned') AS role
    FROM (SELECT e.source_id, e.properties FROM edge e
           WHERE e.workspace_id = %(workspace_id)s AND e.target_id = %(id)s
             AND e.superseded_at IS NULL AND e.relation = 'REFERENCES' LIMIT %(most)s) AS r
    JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = r.source_id
   WHERE n.state IN ('active', 'provisional', 'superseded')
     AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))
)
SELECT n.id, n.created_position AS position, n.canonical_name AS name, n.kind AS type, n.state,
  n.scope, coalesce(n.agents, '{}') AS agents, n.backlink_count, n.summary, n.compiled_truth,
  n.superseded_by, n.metadata, n.entry_id, n.occurred_at, n.recorded_at, n.session_id,
  n.source_agent, n.trace_id,
  ARRAY(SELECT a.alias FROM entity_alias a
         WHERE a.workspace_id = %(workspace_id)s AND lower(a.canonical_name) = lower(n.canonical_name)
           AND a.entity_type = n.kind AND a.scope = n.scope AND a.agents IS NOT DISTINCT FROM n.agents
         ORDER BY a.alias LIMIT 200) AS aliases,
  (SELECT count(*) FROM mention) AS mention_count,
  (SELECT min(occurred_at) FROM mention) AS first_seen,
  (SELECT max(occurred_at) FROM mention) AS last_seen,
  (SELECT coalesce(jsonb_object_agg(role, many), '{}')
     FROM (SELECT role, count(*) AS many FROM mention GROUP BY role) AS by_role) AS roles
  FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.id = %(id)s AND n.label = 'Entity'
   AND n.state IN ('active', 'provisional', 'superseded')
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))

-- name: entity_relations
-- An entity's strongest relations to other entities the reader sees.
SELECT r.relation, r.direction, r.weight AS strength, n.id, n.kind, n.canonical_name AS title
  FROM (
    (SELECT e.id, e.relation, 'out' AS direction, e.target_id AS other_id, e.weight FROM edge e
      WHERE e.workspace_id = %(workspace_id)s AND e.source_id = %(id)s AND e.superseded_at IS NULL
        AND e.relation <> 'REFERENCES' LIMIT %(most)s)
    UNION ALL
    (SELECT e.id, e.relation, 'in', e.source_id, e.weight FROM edge e
      WHERE e.workspace_id = %(workspace_id)s AND e.target_id = %(id)s AND e.superseded_at IS NULL
        AND e.relation <> 'REFERENCES' LIMIT %(most)s)
  ) AS r
  JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = r.other_id AND n.label = 'Entity'
 WHERE n.state IN ('active', 'provisional')
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))
 ORDER BY r.weight DESC, r.id LIMIT %(limit)s

-- name: entities
-- Present entities by name, above a name and id when asked.
SELECT n.id, n.created_position AS position, n.canonical_name AS name, n.kind AS type, n.state,
  n.scope, lower(n.canonical_name) AS sort_key, coalesce(n.agents, '{}') AS agents,
  n.backlink_count, n.compiled_truth
  FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Entity' AND n.state IN ('active', 'provisional')
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))
   AND (%(type)s::text IS NULL OR n.kind = %(type)s)
   AND (%(sort_key)s::text IS NULL
     OR (lower(n.canonical_name), n.id) > (%(sort_key)s::text, %(after)s::uuid))
   AND (%(q)s::text IS NULL OR strpos(lower(n.canonical_name), lower(%(q)s)) > 0
     OR EXISTS (SELECT FROM entity_alias a
         WHERE a.workspace_id = %(workspace_id)s AND lower(a.canonical_name) = lower(n.canonical_name)
           AND a.entity_type = n.kind AND a.scope = n.scope AND a.agents IS NOT DISTINCT FROM n.agents
           AND strpos(a.alias, lower(%(q)s)) > 0))
 ORDER BY lower(n.canonical_name), n.id LIMIT %(limit)s
