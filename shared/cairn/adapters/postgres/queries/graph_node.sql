-- name: find
-- Nodes that the asking agent may see, deleted ones too where the transaction sees them.
SELECT n.id, n.label, n.kind, n.canonical_name AS name, n.state, n.scope, n.agents, n.data_subjects,
  n.client_id, n.created_position, n.position, n.superseded_by, n.superseded_at,
  n.extra_labels
  FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s)
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))

-- name: edges_of
-- The edges that hold now and touch a node, by id.
SELECT * FROM (
  (SELECT e.id, e.view, e.relation, e.source_id, e.target_id, e.weight, e.properties FROM edge e
    WHERE e.workspace_id = %(workspace_id)s AND e.source_id = %(id)s AND e.superseded_at IS NULL
    ORDER BY e.id LIMIT %(limit)s)
  UNION
  (SELECT e.id, e.view, e.relation, e.source_id, e.target_id, e.weight, e.properties FROM edge e
    WHERE e.workspace_id = %(workspace_id)s AND e.target_id = %(id)s AND e.superseded_at IS NULL
    ORDER BY e.id LIMIT %(limit)s)
) AS touching ORDER BY id LIMIT %(limit)s

-- name: edges_closed_at
-- The edges of a node that one entry closed, by id.
SELECT * FROM (
  (SELECT e.id, e.view, e.relation, e.source_id, e.target_id, e.weight, e.properties FROM edge e
    WHERE e.workspace_id = %(workspace_id)s AND e.source_id = %(id)s AND e.superseded_at = %(moment)s
    ORDER BY e.id LIMIT %(limit)s)
  UNION
  (SELECT e.id, e.view, e.relation, e.source_id, e.target_id, e.weight, e.properties FROM edge e
    WHERE e.workspace_id = %(workspace_id)s AND e.target_id = %(id)s AND e.superseded_at = %(moment)s
    ORDER BY e.id LIMIT %(limit)s)
) AS touching ORDER BY id LIMIT %(limit)s

-- name: aliases
-- The other names that hold in one audience.
SELECT a.alias, a.canonical_name, a.entity_type FROM entity_alias a
 WHERE a.workspace_id = %(workspace_id)s AND a.scope = %(scope)s AND a.readers = %(readers)s

-- name: entity_types
-- What the visible entities of a scope with these names are, the oldest last; concepts are left out.
SELECT named.name, n.kind AS type, n.agents
  FROM find_entities(%(names)s::text[], ARRAY(SELECT NULL::text FROM unnest(%(names)s::text[])),
                     %(limit)s::integer) AS named
  JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = named.node_id
 WHERE n.scope = %(scope)s AND n.kind <> 'concept'
 ORDER BY n.id DESC

-- name: set_aliases
-- Let names mean entities; an older entry changes nothing.
INSERT INTO entity_alias (
  workspace_id, scope, agents, readers, alias, canonical_name, entity_type, origin, position
)
SELECT %(workspace_id)s, scope, agents, readers, alias, canonical_name, entity_type, origin, position
  FROM jsonb_to_recordset(%(rows)s::jsonb) AS r (
    scope text, agents text[], readers text, alias text, canonical_name text, entity_type text,
    origin text, position bigint)
ON CONFLICT (workspace_id, alias, scope, readers) DO UPDATE
   SET canonical_name = excluded.canonical_name, entity_type = excluded.entity_type,
       origin = excluded.origin, position = excluded.position
 WHERE entity_alias.position < excluded.position

-- name: remove_aliases
-- Take names from entities, unless they were set later.
DELETE FROM entity_alias AS a
 USING jsonb_to_recordset(%(rows)s::jsonb) AS r (
    scope text, readers text, alias text, position bigint)
 WHERE a.workspace_id = %(workspace_id)s AND a.scope = r.scope AND a.readers = r.readers
   AND a.alias = r.alias AND a.position <= r.position
