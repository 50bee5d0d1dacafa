-- name: commit_lightly
-- Let this transaction's commit not wait for the disk.
SELECT set_config('synchronous_commit', 'off', true)

-- name: record
-- Keep what a search did; what comes a second time is known.
INSERT INTO search_run (workspace_id, id, principal_id, recipe, recorded_at, returned, candidates,
  degraded, duration_ms, counts_as_access, request_digest, recipe_used, wanted, retrieval_class,
  intents, seeds, scored, reranked, merged, edges, as_of_position, session_id, cached_from, stages_ms)
VALUES (%(workspace_id)s, %(id)s, %(principal_id)s, %(recipe)s, %(recorded_at)s, %(returned)s,
  %(candidates)s, %(degraded)s, %(duration_ms)s, %(counts_as_access)s, %(request_digest)s,
  %(recipe_used)s, %(wanted)s, %(retrieval_class)s, %(intents)s, %(seeds)s, %(scored)s,
  %(reranked)s, %(merged)s, %(edges)s, %(as_of_position)s, %(session_id)s, %(cached_from)s,
  %(stages_ms)s)
ON CONFLICT (workspace_id, id) DO NOTHING

-- name: find
-- One search, of whoever asked it.
SELECT id, workspace_id, principal_id, recipe, recorded_at AS started_at, returned, candidates,
  degraded, duration_ms, counts_as_access, request_digest, recipe_used, wanted, retrieval_class,
  intents, seeds, scored, reranked, merged, edges, as_of_position, session_id, cached_from, stages_ms
  FROM search_run WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: page
-- Searches before one, the newest first, of one principal or anybody.
SELECT r.id, r.recorded_at AS asked_at, r.principal_id, coalesce(p.name, n.name) AS asked_by,
  r.session_id, r.recipe, cardinality(r.returned) AS returned, NULL::integer AS rank, r.duration_ms,
  r.as_of_position
  FROM search_run r
  LEFT JOIN principal p ON p.workspace_id = r.workspace_id AND p.id = r.principal_id
  LEFT JOIN person n ON n.workspace_id = r.workspace_id AND n.id = r.principal_id
 WHERE r.workspace_id = %(workspace_id)s
   AND (%(of)s::uuid IS NULL OR r.principal_id = %(of)s)
   AND (%(before)s::uuid IS NULL OR r.id < %(before)s)
 ORDER BY r.id DESC LIMIT %(limit)s

-- name: page_of_node
-- Searches that returned a node, as above, with its place among the results.
SELECT r.id, r.recorded_at AS asked_at, r.principal_id, coalesce(p.name, n.name) AS asked_by,
  r.session_id, r.recipe, cardinality(r.returned) AS returned,
  array_position(r.returned, %(node_id)s::uuid) AS rank, r.duration_ms, r.as_of_position
  FROM search_run r
  LEFT JOIN principal p ON p.workspace_id = r.workspace_id AND p.id = r.principal_id
  LEFT JOIN person n ON n.workspace_id = r.workspace_id AND n.id = r.principal_id
 WHERE r.workspace_id = %(workspace_id)s AND r.returned @> ARRAY[%(node_id)s::uuid]
   AND (%(of)s::uuid IS NULL OR r.principal_id = %(of)s)
   AND (%(before)s::uuid IS NULL OR r.id < %(before)s)
 ORDER BY r.id DESC LIMIT %(limit)s

-- name: asked_by
-- The name of the key or the person who searched.
SELECT coalesce(
  (SELECT name FROM principal WHERE workspace_id = %(workspace_id)s AND id = %(id)s),
  (SELECT name FROM person WHERE workspace_id = %(workspace_id)s AND id = %(id)s))

-- name: uncounted
-- The oldest searches whose results have not been counted as accesses, without what readers said of
-- and nobody found useful.
WITH useless AS MATERIALIZED (
  SELECT node_id FROM search_feedback WHERE workspace_id = %(workspace_id)s
   GROUP BY node_id HAVING NOT bool_or(useful)
)
SELECT r.id, r.recorded_at AS started_at, ARRAY(
    SELECT id FROM unnest(r.returned) WITH ORDINALITY AS shown (id, place)
     WHERE id NOT IN (SELECT node_id FROM useless) ORDER BY place
  ) AS returned
  FROM search_run r
 WHERE r.workspace_id = %(workspace_id)s AND r.counted_position IS NULL AND r.counts_as_access
 ORDER BY r.recorded_at, r.id LIMIT %(limit)s

-- name: counted
-- These searches are counted by the entry at a ledger position.
UPDATE search_run SET counted_position = %(position)s
 WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s) AND counted_position IS NULL

-- name: drop_old
-- Old searches of any workspace that have been counted.
SELECT drop_search_runs(%(before)s, %(limit)s)
