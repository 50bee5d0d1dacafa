-- name: admissible
-- Those of the ids an index named that their reader may find, under the guards of the keyword leg.
SELECT n.id
  FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s)
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))
   AND (n.state IN ('active', 'provisional')
     OR n.state IN ('superseded', 'archived')
        AND (%(include_superseded)s::boolean OR %(valid_at)s::timestamptz IS NOT NULL))
   AND (%(labels)s::text[] IS NULL AND (n.label <> 'Entity' OR n.compiled_truth IS NOT NULL)
     OR n.label = ANY (%(labels)s::text[]) OR n.extra_labels && %(labels)s::text[])
   AND (%(kinds)s::text[] IS NULL OR n.kind = ANY (%(kinds)s::text[]))
   AND (%(client_id)s::text IS NULL OR n.client_id = %(client_id)s::text)
   AND (%(scopes)s::text[] IS NULL OR n.scope = ANY (%(scopes)s::text[]))
   AND (%(occurred_from)s::timestamptz IS NULL OR n.occurred_at >= %(occurred_from)s::timestamptz)
   AND (%(occurred_to)s::timestamptz IS NULL OR n.occurred_at < %(occurred_to)s::timestamptz)
   AND (%(valid_at)s::timestamptz IS NULL
     OR n.valid_from <= %(valid_at)s::timestamptz
        AND %(valid_at)s::timestamptz < coalesce(n.valid_to, 'infinity'))

-- name: reached
-- The position up to which an index has followed the workspace; no row for one that is not known.
SELECT position FROM search_index_state
 WHERE workspace_id = %(workspace_id)s AND index_name = %(index_name)s

-- name: oldest_missing
-- Where the reader's first node past a position stands. The position is given, not looked up here:
-- under row level security a subquery is no condition an index takes.
SELECT from_position FROM node_version
 WHERE workspace_id = %(workspace_id)s AND to_position IS NULL AND from_position > %(position)s
 ORDER BY from_position LIMIT 1

-- name: recorded_at
-- When the entry at a position was recorded.
SELECT recorded_at FROM ledger
 WHERE workspace_id = %(workspace_id)s AND position = %(position)s

-- name: changed
-- Nodes changed after a place in the order of changes, as they are now, gone and purged ones too.
(SELECT v.workspace_id, v.id AS node_id, v.from_position AS position, v.label, v.extra_labels, v.kind, v.scope,
   v.agents, v.client_id, v.state, v.occurred_at, v.valid_from, v.valid_to,
   v.compiled_truth IS NOT NULL AS described,
   concat_ws(' ', v.title, v.canonical_name, v.text, v.compiled_truth) AS own,
   coalesce(v.context_text, '') AS context
   FROM node_version v
  WHERE v.workspace_id = %(workspace_id)s AND v.to_position IS NULL
    AND (v.from_position, v.id) > (%(position)s, %(after)s)
  ORDER BY v.from_position, v.id LIMIT %(limit)s)
UNION ALL
(SELECT p.workspace_id, p.id, p.position, 'Purged', '{}', NULL, 'admin', NULL, '', 'deleted', 'epoch',
   'epoch', NULL, false, '', ''
   FROM purged_node p
  WHERE p.workspace_id = %(workspace_id)s AND (p.position, p.id) > (%(position)s, %(after)s)
  ORDER BY p.position, p.id LIMIT %(limit)s)
ORDER BY position, node_id LIMIT %(limit)s

-- name: documents
-- The same of named nodes.
SELECT v.workspace_id, v.id AS node_id, v.from_position AS position, v.label, v.extra_labels, v.kind, v.scope,
  v.agents, v.client_id, v.state, v.occurred_at, v.valid_from, v.valid_to,
  v.compiled_truth IS NOT NULL AS described,
  concat_ws(' ', v.title, v.canonical_name, v.text, v.compiled_truth) AS own,
  coalesce(v.context_text, '') AS context
  FROM node_version v
 WHERE v.workspace_id = %(workspace_id)s AND v.to_position IS NULL AND v.id = ANY (%(ids)s)

-- name: state
-- How far an index has followed the workspace.
SELECT position, refused, indexed_at, failed_at, failure FROM search_index_state
 WHERE workspace_id = %(workspace_id)s AND index_name = %(index_name)s

-- name: advance
-- Everything up to a position is in the index.
INSERT INTO search_index_state AS s (workspace_id, index_name, position, refused, indexed_at)
VALUES (%(workspace_id)s, %(index_name)s, %(position)s, %(refused)s, %(now)s)
ON CONFLICT (workspace_id, index_name) DO UPDATE
   SET position = greatest(s.position, excluded.position), refused = s.refused + excluded.refused,
       indexed_at = excluded.indexed_at, failed_at = NULL, failure = NULL

-- name: fail
-- Keep why an update failed; how far it got stays.
INSERT INTO search_index_state AS s (workspace_id, index_name, failed_at, failure)
VALUES (%(workspace_id)s, %(index_name)s, %(now)s, %(failure)s)
ON CONFLICT (workspace_id, index_name) DO UPDATE
   SET failed_at = excluded.failed_at, failure = excluded.failure

-- name: forget
-- Drop what is known of indexes that are gone; all but one.
DELETE FROM search_index_state
 WHERE workspace_id = %(workspace_id)s AND index_name <> %(index_name)s

-- name: rewind
-- Let an index follow the workspace from its beginning again.
DELETE FROM search_index_state
 WHERE workspace_id = %(workspace_id)s AND index_name = %(index_name)s

-- name: pending
-- How many nodes changed or were purged after a position.
SELECT (SELECT count(*) FROM node_version
         WHERE workspace_id = %(workspace_id)s AND to_position IS NULL
           AND from_position > %(position)s)
     + (SELECT count(*) FROM purged_node
         WHERE workspace_id = %(workspace_id)s AND position > %(position)s)

-- name: buckets
-- What an index should hold, by the last two digits of the id: how many, and the sum of their marks.
SELECT right(id::text, 2) AS bucket, count(*) AS nodes,
  sum(('x' || left(md5(id::text || ':' || position), 8))::bit(32)::bigint & 1073741823)::bigint AS marks
  FROM node
 WHERE workspace_id = %(workspace_id)s AND state IN ('active', 'provisional', 'superseded', 'archived')
 GROUP BY 1

-- name: positions
-- The nodes of one bucket an index should hold, and the position each changed last.
SELECT id, position FROM node
 WHERE workspace_id = %(workspace_id)s AND state IN ('active', 'provisional', 'superseded', 'archived')
   AND right(id::text, 2) = %(bucket)s
