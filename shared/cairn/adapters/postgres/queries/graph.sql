-- name: find_entities
-- The entities that names and aliases mean to the reader.
WITH asked AS (
  SELECT DISTINCT name FROM unnest(%(names)s::text[]) AS name
), meant AS (
  SELECT name, name AS canonical, NULL::text AS type FROM asked
   UNION
  SELECT asked.name, lower(a.canonical_name), a.entity_type
    FROM asked JOIN entity_alias a ON a.workspace_id = %(workspace_id)s AND a.alias = asked.name
), found AS (
  SELECT f.name AS canonical, f.node_id
    FROM (SELECT array_agg(meant.canonical) AS names, array_agg(meant.type) AS types FROM meant) AS m,
         find_entities(m.names, m.types, %(limit)s::integer) AS f
)
SELECT n.id AS node_id, min(meant.name) AS name, n.canonical_name, n.kind AS type
  FROM found
  JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = found.node_id
  JOIN meant ON meant.canonical = found.canonical AND (meant.type IS NULL OR meant.type = n.kind)
 WHERE current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}'))
 GROUP BY n.id, n.canonical_name, n.kind

-- name: find_entities_as_of
-- The same of the entities as they stood at a ledger position; aliases are the present ones.
WITH asked AS (
  SELECT DISTINCT name FROM unnest(%(names)s::text[]) AS name
), meant AS (
  SELECT name, name AS canonical, NULL::text AS type FROM asked
   UNION
  SELECT asked.name, lower(a.canonical_name), a.entity_type
    FROM asked JOIN entity_alias a ON a.workspace_id = %(workspace_id)s AND a.alias = asked.name
     AND a.position <= %(as_of_position)s
)
SELECT n.id AS node_id, min(meant.name) AS name, n.canonical_name, n.kind AS type
  FROM node_version n
  JOIN meant ON lower(n.canonical_name) = meant.canonical AND (meant.type IS NULL OR meant.type = n.kind)
 WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Entity'
   AND n.from_position <= %(as_of_position)s
   AND %(as_of_position)s < coalesce(n.to_position, 9223372036854775807)
   AND n.state NOT IN ('deleted', 'quarantined')
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))
 GROUP BY n.id, n.canonical_name, n.kind
 LIMIT %(limit)s

-- name: limit_time
-- Let the next statements of this transaction take so long and no longer.
SELECT set_config('statement_timeout', %(timeout_ms)s, true)

-- name: starts
-- Which of some nodes the reader may start a walk from.
SELECT n.id, n.label FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s)
   AND n.state NOT IN ('deleted', 'quarantined')
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))

-- name: starts_as_of
-- The same at a ledger position.
SELECT n.id, n.label FROM node_version n
 WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s)
   AND n.from_position <= %(as_of_position)s
   AND %(as_of_position)s < coalesce(n.to_position, 9223372036854775807)
   AND n.state NOT IN ('deleted', 'quarantined')
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))

-- name: extra_labels
-- What nodes that have several labels are beside their first.
SELECT n.id, n.extra_labels FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s) AND n.extra_labels <> '{}'

-- name: extra_labels_as_of
-- The same at a ledger position.
SELECT n.id, n.extra_labels FROM node_version n
 WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s) AND n.extra_labels <> '{}'
   AND n.from_position <= %(as_of_position)s
   AND %(as_of_position)s < coalesce(n.to_position, 9223372036854775807)

-- name: hop
-- The edges at a frontier, both ways, the heaviest of each node; co-occurrence has its own share.
-- OFFSET 0 keeps the far ends from being read before the edges are in order: a hub has thousands.
SELECT e.id, e.view, e.relation, e.source_id, e.target_id,
  CASE WHEN e.outgoing THEN near.label ELSE e.label END AS source_label,
  CASE WHEN e.outgoing THEN e.label ELSE near.label END AS target_label,
  e.weight, (e.properties ->> 'score')::double precision, e.properties ->> 'mechanism',
  e.properties ->> 'role'
  FROM node near
 CROSS JOIN (VALUES (true), (false)) AS co (occurs)
 CROSS JOIN LATERAL (
   (SELECT x.*, far.label, true AS outgoing
      FROM (SELECT e.id, e.view, e.relation, e.source_id, e.target_id, e.weight, e.properties
              FROM edge e
             WHERE e.workspace_id = %(workspace_id)s AND e.source_id = near.id
               AND e.superseded_at IS NULL
               AND (e.relation = 'CO_OCCURRENCE') = co.occurs
               AND (%(relations)s::text[] IS NULL OR e.relation = ANY (%(relations)s))
             ORDER BY e.weight DESC, e.id DESC) AS x
     CROSS JOIN LATERAL (
        SELECT n.label FROM node n
         WHERE n.workspace_id = %(workspace_id)s AND n.id = x.target_id
           AND n.state NOT IN ('deleted', 'quarantined')
           AND (current_agent() IS NULL OR n.agents IS NULL OR current_agent() = ANY (n.agents))
        OFFSET 0) AS far
     ORDER BY x.weight DESC, x.id DESC LIMIT %(per_node)s)
   UNION ALL
   (SELECT x.*, far.label, false AS outgoing
      FROM (SELECT e.id, e.view, e.relation, e.source_id, e.target_id, e.weight, e.properties
              FROM edge e
             WHERE e.workspace_id = %(workspace_id)s AND e.target_id = near.id
               AND e.superseded_at IS NULL AND e.source_id <> e.target_id
               AND (e.relation = 'CO_OCCURRENCE') = co.occurs
               AND (%(relations)s::text[] IS NULL OR e.relation = ANY (%(relations)s))
             ORDER BY e.weight DESC, e.id DESC) AS x
     CROSS JOIN LATERAL (
        SELECT n.label FROM node n
         WHERE n.workspace_id = %(workspace_id)s AND n.id = x.source_id
           AND n.state NOT IN ('deleted', 'quarantined')
           AND (current_agent() IS NULL OR n.agents IS NULL OR current_agent() = ANY (n.agents))
        OFFSET 0) AS far
     ORDER BY x.weight DESC, x.id DESC LIMIT %(per_node)s)
 ) AS e
 WHERE near.workspace_id = %(workspace_id)s AND near.id = ANY (%(frontier)s)
   AND near.state NOT IN ('deleted', 'quarantined')
   AND (current_agent() IS NULL OR near.agents IS NULL OR current_agent() = ANY (near.agents))
 LIMIT %(limit)s

-- name: hop_as_of
-- The same of the versions that held at a ledger position.
SELECT e.id, e.view, e.relation, e.source_id, e.target_id,
  CASE WHEN e.outgoing THEN near.label ELSE e.label END AS source_label,
  CASE WHEN e.outgoing THEN e.label ELSE near.label END AS target_label,
  e.weight, (e.properties ->> 'score')::double precision, e.properties ->> 'mechanism',
  e.properties ->> 'role'
  FROM node_version near
 CROSS JOIN (VALUES (true), (false)) AS co (occurs)
 CROSS JOIN LATERAL (
   (SELECT x.*, far.label, true AS outgoing
      FROM (SELECT e.id, e.view, e.relation, e.source_id, e.target_id, e.weight, e.properties
              FROM edge_version e
             WHERE e.workspace_id = %(workspace_id)s AND e.source_id = near.id
               AND e.superseded_at IS NULL
               AND e.from_position <= %(as_of_position)s
               AND %(as_of_position)s < coalesce(e.to_position, 9223372036854775807)
               AND (e.relation = 'CO_OCCURRENCE') = co.occurs
               AND (%(relations)s::text[] IS NULL OR e.relation = ANY (%(relations)s))
             ORDER BY e.weight DESC, e.id DESC) AS x
     CROSS JOIN LATERAL (
        SELECT n.label FROM node_version n
         WHERE n.workspace_id = %(workspace_id)s AND n.id = x.target_id
           AND n.from_position <= %(as_of_position)s
           AND %(as_of_position)s < coalesce(n.to_position, 9223372036854775807)
           AND n.state NOT IN ('deleted', 'quarantined')
           AND (current_agent() IS NULL OR n.agents IS NULL OR current_agent() = ANY (n.agents))
        OFFSET 0) AS far
     ORDER BY x.weight DESC, x.id DESC LIMIT %(per_node)s)
   UNION ALL
   (SELECT x.*, far.label, false AS outgoing
      FROM (SELECT e.id, e.view, e.relation, e.source_id, e.target_id, e.weight, e.properties
              FROM edge_version e
             WHERE e.workspace_id = %(workspace_id)s AND e.target_id = near.id
               AND e.superseded_at IS NULL AND e.source_id <> e.target_id
               AND e.from_position <= %(as_of_position)s
               AND %(as_of_position)s < coalesce(e.to_position, 9223372036854775807)
               AND (e.relation = 'CO_OCCURRENCE') = co.occurs
               AND (%(relations)s::text[] IS NULL OR e.relation = ANY (%(relations)s))
             ORDER BY e.weight DESC, e.id DESC) AS x
     CROSS JOIN LATERAL (
        SELECT n.label FROM node_version n
         WHERE n.workspace_id = %(workspace_id)s AND n.id = x.source_id
           AND n.from_position <= %(as_of_position)s
           AND %(as_of_position)s < coalesce(n.to_position, 9223372036854775807)
           AND n.state NOT IN ('deleted', 'quarantined')
           AND (current_agent() IS NULL OR n.agents IS NULL OR current_agent() = ANY (n.agents))
        OFFSET 0) AS far
     ORDER BY x.weight DESC, x.id DESC LIMIT %(per_node)s)
 ) AS e
 WHERE near.workspace_id = %(workspace_id)s AND near.id = ANY (%(frontier)s)
   AND near.from_position <= %(as_of_position)s
   AND %(as_of_position)s < coalesce(near.to_position, 9223372036854775807)
   AND near.state NOT IN ('deleted', 'quarantined')
   AND (current_agent() IS NULL OR near.agents IS NULL OR current_agent() = ANY (near.agents))
 LIMIT %(limit)s

-- name: eligible
-- Which of some nodes may be results: the filters, and the guard of searches.
SELECT n.id FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s)
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))
   AND (n.state IN ('active', 'provisional')
     OR n.state IN ('superseded', 'archived') AND (%(include_superseded)s OR %(valid_at)s::timestamptz IS NOT NULL))
   AND (n.label = ANY (%(labels)s) OR n.extra_labels && %(labels)s OR %(labels)s::text[] IS NULL AND n.label NOT IN ('Entity', 'Summary'))
   AND (%(kinds)s::text[] IS NULL OR n.kind = ANY (%(kinds)s))
   AND (%(client_id)s::text IS NULL OR n.client_id = %(client_id)s)
   AND (%(scopes)s::text[] IS NULL OR n.scope = ANY (%(scopes)s))
   AND (%(occurred_from)s::timestamptz IS NULL OR n.occurred_at >= %(occurred_from)s)
   AND (%(occurred_to)s::timestamptz IS NULL OR n.occurred_at < %(occurred_to)s)
   AND (%(valid_at)s::timestamptz IS NULL
     OR n.valid_from <= %(valid_at)s AND %(valid_at)s < coalesce(n.valid_to, 'infinity'))

-- name: eligible_as_of
-- The same of the versions that held at a ledger position.
SELECT n.id FROM node_version n
 WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s)
   AND n.from_position <= %(as_of_position)s
   AND %(as_of_position)s < coalesce(n.to_position, 9223372036854775807)
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))
   AND (n.state IN ('active', 'provisional')
     OR n.state IN ('superseded', 'archived') AND (%(include_superseded)s OR %(valid_at)s::timestamptz IS NOT NULL))
   AND (n.label = ANY (%(labels)s) OR n.extra_labels && %(labels)s OR %(labels)s::text[] IS NULL AND n.label NOT IN ('Entity', 'Summary'))
   AND (%(kinds)s::text[] IS NULL OR n.kind = ANY (%(kinds)s))
   AND (%(client_id)s::text IS NULL OR n.client_id = %(client_id)s)
   AND (%(scopes)s::text[] IS NULL OR n.scope = ANY (%(scopes)s))
   AND (%(occurred_from)s::timestamptz IS NULL OR n.occurred_at >= %(occurred_from)s)
   AND (%(occurred_to)s::timestamptz IS NULL OR n.occurred_at < %(occurred_to)s)
   AND (%(valid_at)s::timestamptz IS NULL
     OR n.valid_from <= %(valid_at)s AND %(valid_at)s < coalesce(n.valid_to, 'infinity'))

-- name: read
-- Nodes on a walk as their reader may see them, untagged ones too.
-- columns: cairn.recall.records.FoundNode
SELECT {n.columns}, n.created_position AS position, coalesce(n.agents, '{}') AS agents,
  coalesce(n.headings, '{}') AS headings, coalesce(n.keywords, '{}') AS keywords,
  n.compiled_truth IS NOT NULL AS compiled_truth
  FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s)
   AND n.state NOT IN ('deleted', 'quarantined')
   AND (current_agent() IS NULL OR n.agents IS NULL OR current_agent() = ANY (n.agents))

-- name: read_as_of
-- The versions of them that held at a ledger position.
-- columns: cairn.recall.records.FoundNode
SELECT {n.columns}, n.created_position AS position, coalesce(n.agents, '{}') AS agents,
  coalesce(n.headings, '{}') AS headings, coalesce(n.keywords, '{}') AS keywords,
  n.compiled_truth IS NOT NULL AS compiled_truth
  FROM node_version n
 WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s)
   AND n.from_position <= %(as_of_position)s
   AND %(as_of_position)s < coalesce(n.to_position, 9223372036854775807)
   AND n.state NOT IN ('deleted', 'quarantined')
   AND (current_agent() IS NULL OR n.agents IS NULL OR current_agent() = ANY (n.agents))

-- name: summaries
-- Summaries of one scope and thing, the latest first; what is held of people is none.
SELECT n.id FROM node n
 WHERE n.workspace_id = %(workspace_id)s
   AND n.label = 'Summary' AND n.state IN ('active', 'provisional')
   AND coalesce(n.kind, '') NOT IN ('profile', 'pattern')
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))
   AND (%(scope)s::text IS NULL OR n.kind = %(scope)s)
   AND (%(scope_id)s::text IS NULL OR CASE n.kind WHEN 'agent' THEN n.source_agent = %(scope_id)s
     ELSE %(scope_id)s IN (n.session_id, n.trace_id) END)
   AND (%(id)s::uuid IS NULL OR (n.occurred_at, n.id) < (%(moment)s::timestamptz, %(id)s::uuid))
 ORDER BY n.occurred_at DESC, n.id DESC LIMIT %(limit)s

-- name: summaries_as_of
-- The same at a ledger position.
SELECT n.id FROM node_version n
 WHERE n.workspace_id = %(workspace_id)s
   AND n.from_position <= %(as_of_position)s
   AND %(as_of_position)s < coalesce(n.to_position, 9223372036854775807)
   AND n.label = 'Summary' AND n.state IN ('active', 'provisional')
   AND coalesce(n.kind, '') NOT IN ('profile', 'pattern')
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))
   AND (%(scope)s::text IS NULL OR n.kind = %(scope)s)
   AND (%(scope_id)s::text IS NULL OR CASE n.kind WHEN 'agent' THEN n.source_agent = %(scope_id)s
     ELSE %(scope_id)s IN (n.session_id, n.trace_id) END)
   AND (%(id)s::uuid IS NULL OR (n.occurred_at, n.id) < (%(moment)s::timestamptz, %(id)s::uuid))
 ORDER BY n.occurred_at DESC, n.id DESC LIMIT %(limit)s

-- name: related
-- What hangs on each result by one edge, the heaviest first, and how many there are up to a count.
SELECT one.of_id, one.id AS node_id, one.label, one.kind, one.relation, one.view, one.outgoing, one.text,
  one.title, one.canonical_name, one.importance, one.occurred_at, one.weight, one.counted
  FROM (
    SELECT near.id AS of_id, beside.*,
      row_number() OVER (PARTITION BY near.id
        ORDER BY beside.weight DESC, beside.relation, beside.id, beside.edge_id) AS place,
      count(*) OVER (PARTITION BY near.id) AS counted
      FROM node near
     CROSS JOIN LATERAL (
     (SELECT x.id AS edge_id, x.relation, x.view, x.weight, true AS outgoing, far.*
        FROM (SELECT e.id, e.view, e.relation, e.weight, e.target_id AS far_id
                FROM edge e
               WHERE e.workspace_id = %(workspace_id)s AND e.source_id = near.id
                 AND e.superseded_at IS NULL
               ORDER BY e.weight DESC, e.id DESC) AS x
       CROSS JOIN LATERAL (
          SELECT n.id, n.label, n.kind, left(n.text, %(characters)s) AS text, n.title,
            n.canonical_name, n.importance, n.occurred_at
            FROM node n
           WHERE n.workspace_id = %(workspace_id)s AND n.id = x.far_id
             AND n.state NOT IN ('deleted', 'quarantined')
             AND (current_agent() IS NULL OR n.agents IS NULL OR current_agent() = ANY (n.agents))
          OFFSET 0) AS far
       ORDER BY x.weight DESC, x.id DESC LIMIT %(counted)s)
     UNION ALL
     (SELECT x.id AS edge_id, x.relation, x.view, x.weight, false AS outgoing, far.*
        FROM (SELECT e.id, e.view, e.relation, e.weight, e.source_id AS far_id
                FROM edge e
               WHERE e.workspace_id = %(workspace_id)s AND e.target_id = near.id
                 AND e.superseded_at IS NULL AND e.source_id <> e.target_id
               ORDER BY e.weight DESC, e.id DESC) AS x
       CROSS JOIN LATERAL (
          SELECT n.id, n.label, n.kind, left(n.text, %(characters)s) AS text, n.title,
            n.canonical_name, n.importance, n.occurred_at
            FROM node n
           WHERE n.workspace_id = %(workspace_id)s AND n.id = x.far_id
             AND n.state NOT IN ('deleted', 'quarantined')
             AND (current_agent() IS NULL OR n.agents IS NULL OR current_agent() = ANY (n.agents))
          OFFSET 0) AS far
       ORDER BY x.weight DESC, x.id DESC LIMIT %(counted)s)
     ) AS beside
     WHERE near.workspace_id = %(workspace_id)s AND near.id = ANY (%(ids)s)
       AND near.state NOT IN ('deleted', 'quarantined')
       AND (current_agent() IS NULL OR near.agents IS NULL OR current_agent() = ANY (near.agents))
  ) AS one
 WHERE one.place <= %(cap)s
 ORDER BY one.of_id, one.place

-- name: related_as_of
-- The same of the versions that held at a ledger position.
SELECT one.of_id, one.id AS node_id, one.label, one.kind, one.relation, one.view, one.outgoing, one.text,
  one.title, one.canonical_name, one.importance, one.occurred_at, one.weight, one.counted
  FROM (
    SELECT near.id AS of_id, beside.*,
      row_number() OVER (PARTITION BY near.id
        ORDER BY beside.weight DESC, beside.relation, beside.id, beside.edge_id) AS place,
      count(*) OVER (PARTITION BY near.id) AS counted
      FROM node_version near
     CROSS JOIN LATERAL (
     (SELECT x.id AS edge_id, x.relation, x.view, x.weight, true AS outgoing, far.*
        FROM (SELECT e.id, e.view, e.relation, e.weight, e.target_id AS far_id
                FROM edge_version e
               WHERE e.workspace_id = %(workspace_id)s AND e.source_id = near.id
                 AND e.superseded_at IS NULL
                 AND e.from_position <= %(as_of_position)s
                 AND %(as_of_position)s < coalesce(e.to_position, 9223372036854775807)
               ORDER BY e.weight DESC, e.id DESC) AS x
       CROSS JOIN LATERAL (
          SELECT n.id, n.label, n.kind, left(n.text, %(characters)s) AS text, n.title,
            n.canonical_name, n.importance, n.occurred_at
            FROM node_version n
           WHERE n.workspace_id = %(workspace_id)s AND n.id = x.far_id
             AND n.from_position <= %(as_of_position)s
             AND %(as_of_position)s < coalesce(n.to_position, 9223372036854775807)
             AND n.state NOT IN ('deleted', 'quarantined')
             AND (current_agent() IS NULL OR n.agents IS NULL OR current_agent() = ANY (n.agents))
          OFFSET 0) AS far
       ORDER BY x.weight DESC, x.id DESC LIMIT %(counted)s)
     UNION ALL
     (SELECT x.id AS edge_id, x.relation, x.view, x.weight, false AS outgoing, far.*
        FROM (SELECT e.id, e.view, e.relation, e.weight, e.source_id AS far_id
                FROM edge_version e
               WHERE e.workspace_id = %(workspace_id)s AND e.target_id = near.id
                 AND e.superseded_at IS NULL AND e.source_id <> e.target_id
                 AND e.from_position <= %(as_of_position)s
                 AND %(as_of_position)s < coalesce(e.to_position, 9223372036854775807)
               ORDER BY e.weight DESC, e.id DESC) AS x
       CROSS JOIN LATERAL (
          SELECT n.id, n.label, n.kind, left(n.text, %(characters)s) AS text, n.title,
            n.canonical_name, n.importance, n.occurred_at
            FROM node_version n
           WHERE n.workspace_id = %(workspace_id)s AND n.id = x.far_id
             AND n.from_position <= %(as_of_position)s
             AND %(as_of_position)s < coalesce(n.to_position, 9223372036854775807)
             AND n.state NOT IN ('deleted', 'quarantined')
             AND (current_agent() IS NULL OR n.agents IS NULL OR current_agent() = ANY (n.agents))
          OFFSET 0) AS far
       ORDER BY x.weight DESC, x.id DESC LIMIT %(counted)s)
     ) AS beside
     WHERE near.workspace_id = %(workspace_id)s AND near.id = ANY (%(ids)s)
       AND near.from_position <= %(as_of_position)s
       AND %(as_of_position)s < coalesce(near.to_position, 9223372036854775807)
       AND near.state NOT IN ('deleted', 'quarantined')
       AND (current_agent() IS NULL OR near.agents IS NULL OR current_agent() = ANY (near.agents))
  ) AS one
 WHERE one.place <= %(cap)s
 ORDER BY one.of_id, one.place

-- name: recurring
-- What ended things in earlier sessions that are very like some nodes, and those things.
WITH here AS (
  SELECT n.id, n.session_id, n.occurred_at FROM node n
   WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s)
), alike AS (
  SELECT n.id, here.id AS because, like_it.score
    FROM here
   CROSS JOIN LATERAL (
     (SELECT e.target_id AS id, (e.properties ->> 'score')::double precision AS score FROM edge e
       WHERE e.workspace_id = %(workspace_id)s AND e.source_id = here.id
         AND e.superseded_at IS NULL AND e.relation = 'SIMILAR_TO')
     UNION ALL
     (SELECT e.source_id, (e.properties ->> 'score')::double precision FROM edge e
       WHERE e.workspace_id = %(workspace_id)s AND e.target_id = here.id
         AND e.superseded_at IS NULL AND e.relation = 'SIMILAR_TO')
   ) AS like_it
    JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = like_it.id
   WHERE like_it.score >= %(minimum)s
     AND n.session_id IS NOT NULL AND n.session_id IS DISTINCT FROM here.session_id
     AND n.occurred_at <= here.occurred_at
     AND n.state IN ('active', 'provisional')
   AND (current_agent() IS NULL OR n.agents IS NULL OR current_agent() = ANY (n.agents))
   ORDER BY like_it.score DESC, n.id LIMIT 20
), ended AS (
  SELECT n.id, alike.because, alike.score, alike.id AS like_id
    FROM alike
   CROSS JOIN LATERAL (
     (SELECT e.source_id AS id FROM edge e
       WHERE e.workspace_id = %(workspace_id)s AND e.target_id = alike.id
         AND e.superseded_at IS NULL AND e.relation IN ('SOLVES', 'ADDRESSES', 'CAUSED_BY')
       ORDER BY e.weight DESC, e.id LIMIT 20)
     UNION ALL
     (SELECT e.target_id FROM edge e
       WHERE e.workspace_id = %(workspace_id)s AND e.source_id = alike.id
         AND e.superseded_at IS NULL AND e.relation = 'LEADS_TO'
       ORDER BY e.weight DESC, e.id LIMIT 20)
   ) AS ending
    JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = ending.id
   WHERE n.state IN ('active', 'provisional')
   AND (current_agent() IS NULL OR n.agents IS NULL OR current_agent() = ANY (n.agents))
), shown AS (
  SELECT ended.id, ended.because, ended.score, 0 AS after FROM ended
   UNION ALL
  SELECT alike.id, alike.because, alike.score, 1 FROM alike
   WHERE alike.id IN (SELECT like_id FROM ended)
)
SELECT id, (array_agg(because ORDER BY score DESC, because))[1], max(score) AS best
  FROM shown WHERE id <> ALL (%(ids)s)
 GROUP BY id ORDER BY best DESC, min(after), id LIMIT %(limit)s

-- name: important_connections
-- Important nodes at some entities, among the newest of each.
SELECT n.id, (array_agg(near.id ORDER BY near.id))[1], n.importance::double precision
  FROM node near
 CROSS JOIN LATERAL (
   (SELECT e.source_id AS id FROM edge e
     WHERE e.workspace_id = %(workspace_id)s AND e.target_id = near.id
       AND e.superseded_at IS NULL AND e.relation <> 'CO_OCCURRENCE'
     ORDER BY e.id DESC LIMIT 500)
   UNION ALL
   (SELECT e.target_id FROM edge e
     WHERE e.workspace_id = %(workspace_id)s AND e.source_id = near.id
       AND e.superseded_at IS NULL AND e.relation <> 'CO_OCCURRENCE'
     ORDER BY e.id DESC LIMIT 500)
 ) AS beside
  JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = beside.id
 WHERE near.workspace_id = %(workspace_id)s AND near.id = ANY (%(ids)s) AND near.label = 'Entity'
   AND near.state IN ('active', 'provisional')
   AND (current_agent() IS NULL OR near.agents IS NULL OR current_agent() = ANY (near.agents))
   AND n.label <> 'Entity' AND n.importance >= %(minimum)s AND n.state IN ('active', 'provisional')
   AND (current_agent() IS NULL OR n.agents IS NULL OR current_agent() = ANY (n.agents))
 GROUP BY n.id, n.importance, n.occurred_at
 ORDER BY n.importance DESC, n.occurred_at DESC, n.id LIMIT %(limit)s

-- name: used_again
-- Nodes that several of a principal's latest searches in a session returned.
WITH earlier AS (
  SELECT r.id, r.returned, r.recorded_at FROM search_run r
   WHERE r.workspace_id = %(workspace_id)s AND r.session_id = %(session_id)s
     AND r.principal_id = %(principal_id)s AND r.counts_as_access
   ORDER BY r.recorded_at DESC LIMIT 50
), again AS (
  SELECT shown.id, count(*) AS times, (array_agg(earlier.id ORDER BY earlier.recorded_at DESC))[1] AS last
    FROM earlier CROSS JOIN LATERAL unnest(earlier.returned) AS shown (id)
   GROUP BY shown.id HAVING count(*) >= %(minimum)s
)
SELECT n.id, again.last, again.times::double precision
  FROM again JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = again.id
 WHERE n.state IN ('active', 'provisional')
   AND (current_agent() IS NULL OR n.agents IS NULL OR current_agent() = ANY (n.agents))
 ORDER BY again.times DESC, n.id LIMIT %(limit)s

-- name: searched
-- Whether a search of the principal's (anyone's, for an admin) returned a node.
SELECT %(node_id)s = ANY (r.returned) FROM search_run r
 WHERE r.workspace_id = %(workspace_id)s AND r.id = %(search_id)s
   AND (%(anyone)s OR r.principal_id = %(principal_id)s)

-- name: keep_feedback
-- What a principal says of a node a search returned; its last word counts.
INSERT INTO search_feedback (workspace_id, search_id, node_id, principal_id, useful,
  retrieval_reason, signal, recorded_at, recipe)
SELECT %(workspace_id)s, %(search_id)s, %(node_id)s, %(principal_id)s, %(useful)s,
  %(retrieval_reason)s, %(signal)s, %(now)s, r.recipe
  FROM search_run r WHERE r.workspace_id = %(workspace_id)s AND r.id = %(search_id)s
ON CONFLICT (workspace_id, search_id, node_id, principal_id)
  DO UPDATE SET useful = EXCLUDED.useful, retrieval_reason = EXCLUDED.retrieval_reason,
     signal = EXCLUDED.signal, recorded_at = EXCLUDED.recorded_at
RETURNING recipe

-- name: judged
-- What people and agents said of proactive nodes since a moment, by signal: how many, how many useful.
SELECT f.signal, count(*) AS judged, count(*) FILTER (WHERE f.useful) AS useful
  FROM search_feedback f
  JOIN principal p ON p.workspace_id = %(workspace_id)s AND p.id = f.principal_id
 WHERE f.workspace_id = %(workspace_id)s AND f.signal IS NOT NULL AND f.recorded_at >= %(since)s
   AND p.role <> 'public'
 GROUP BY f.signal
