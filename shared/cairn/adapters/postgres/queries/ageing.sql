-- name: now
-- The database's clock.
SELECT clock_timestamp()

-- name: event_ttl
-- Old event memories: where the page ends, and those nobody used and nobody called important.
WITH looked_at AS MATERIALIZED (
  SELECT n.id, n.recorded_at, n.access_count, n.importance, n.pinned FROM node n
   WHERE n.workspace_id = %(workspace_id)s AND n.state = 'active' AND n.label = 'Memory'
     AND n.namespace IS NULL
     AND n.kind = 'event' AND n.recorded_at < %(event)s
     AND (n.recorded_at, n.id) > (%(after_at)s, %(after_id)s)
   ORDER BY n.recorded_at, n.id LIMIT %(limit)s
), in_use AS MATERIALIZED (
  SELECT DISTINCT used.id FROM search_run r CROSS JOIN LATERAL unnest(r.returned) AS used (id)
   WHERE r.workspace_id = %(workspace_id)s AND r.counted_position IS NULL AND r.counts_as_access
)
SELECT (SELECT ARRAY[l.recorded_at::text, l.id::text] FROM looked_at l
         ORDER BY l.recorded_at DESC, l.id DESC LIMIT 1),
  (SELECT coalesce(array_agg(l.id ORDER BY l.recorded_at, l.id), '{}') FROM looked_at l
    WHERE l.access_count = 0 AND l.importance <= %(medium)s AND NOT l.pinned
      AND NOT EXISTS (SELECT FROM in_use u WHERE u.id = l.id))

-- name: fact_unused
-- Old facts: where the page ends, and those unused for as long; verified ones last as knowledge does.
WITH looked_at AS MATERIALIZED (
  SELECT n.id, n.recorded_at, coalesce(n.last_accessed_at, n.recorded_at) AS used_at,
    coalesce(n.metadata -> 'verified' = 'true'::jsonb, false) AS verified, n.pinned FROM node n
   WHERE n.workspace_id = %(workspace_id)s AND n.state = 'active' AND n.label = 'Memory'
     AND n.namespace IS NULL
     AND n.kind = 'fact' AND n.recorded_at < %(fact)s
     AND (n.recorded_at, n.id) > (%(after_at)s, %(after_id)s)
   ORDER BY n.recorded_at, n.id LIMIT %(limit)s
), in_use AS MATERIALIZED (
  SELECT DISTINCT used.id FROM search_run r CROSS JOIN LATERAL unnest(r.returned) AS used (id)
   WHERE r.workspace_id = %(workspace_id)s AND r.counted_position IS NULL AND r.counts_as_access
)
SELECT (SELECT ARRAY[l.recorded_at::text, l.id::text] FROM looked_at l
         ORDER BY l.recorded_at DESC, l.id DESC LIMIT 1),
  (SELECT coalesce(array_agg(l.id ORDER BY l.recorded_at, l.id), '{}') FROM looked_at l
    WHERE l.used_at < CASE WHEN l.verified THEN %(knowledge)s::timestamptz ELSE %(fact)s END
      AND NOT l.pinned AND NOT EXISTS (SELECT FROM in_use u WHERE u.id = l.id))

-- name: graph_unused
-- Old facts, observations and resolutions of the memory graph: where the page ends, and those unused
-- for as long. Planners are shown what is stated of a customer or user: a ticket of theirs is a use.
WITH looked_at AS MATERIALIZED (
  SELECT one.id, one.recorded_at, one.used_at, one.verified
    FROM unnest(ARRAY['Fact', 'Observation', 'Resolution']) AS w (label)
   CROSS JOIN LATERAL (
     SELECT n.id, n.recorded_at, coalesce(n.last_accessed_at, n.recorded_at) AS used_at,
       coalesce(n.metadata -> 'properties' -> 'verified' = 'true'::jsonb, false) AS verified FROM node n
      WHERE n.workspace_id = %(workspace_id)s AND n.state = 'active' AND n.label = w.label
        AND n.kind IS NULL AND n.key IS NOT NULL AND n.recorded_at < %(fact)s
        AND (n.recorded_at, n.id) > (%(after_at)s, %(after_id)s)
      ORDER BY n.recorded_at, n.id LIMIT %(limit)s) AS one
   ORDER BY one.recorded_at, one.id LIMIT %(limit)s
), in_use AS MATERIALIZED (
  SELECT DISTINCT used.id FROM search_run r CROSS JOIN LATERAL unnest(r.returned) AS used (id)
   WHERE r.workspace_id = %(workspace_id)s AND r.counted_position IS NULL AND r.counts_as_access
), about AS MATERIALIZED (
  SELECT DISTINCT l.id, p.id AS whom FROM looked_at l
    JOIN edge e ON e.workspace_id = %(workspace_id)s AND e.superseded_at IS NULL
     AND e.view = 'knowledge' AND (e.source_id = l.id OR e.target_id = l.id)
    JOIN node p ON p.workspace_id = %(workspace_id)s AND p.label IN ('Customer', 'User')
     AND p.id = CASE WHEN e.source_id = l.id THEN e.target_id ELSE e.source_id END
), shown AS MATERIALIZED (
  SELECT a.id, max(t.recorded_at) AS at FROM about a
    JOIN edge e ON e.workspace_id = %(workspace_id)s AND e.superseded_at IS NULL
     AND e.view = 'knowledge' AND (e.source_id = a.whom OR e.target_id = a.whom)
    JOIN node t ON t.workspace_id = %(workspace_id)s AND t.label IN ('Ticket', 'Investigation')
     AND t.id = CASE WHEN e.source_id = a.whom THEN e.target_id ELSE e.source_id END
   GROUP BY a.id
)
SELECT (SELECT ARRAY[l.recorded_at::text, l.id::text] FROM looked_at l
         ORDER BY l.recorded_at DESC, l.id DESC LIMIT 1),
  (SELECT coalesce(array_agg(l.id ORDER BY l.recorded_at, l.id), '{}')
     FROM looked_at l LEFT JOIN shown s ON s.id = l.id
    WHERE greatest(l.used_at, s.at)
      < CASE WHEN l.verified THEN %(knowledge)s::timestamptz ELSE %(fact)s END
      AND NOT EXISTS (SELECT FROM in_use u WHERE u.id = l.id))

-- name: knowledge_unused
-- Old documents: where the page ends, and those of which no part was used or written for as long.
WITH looked_at AS MATERIALIZED (
  SELECT n.id, n.recorded_at, n.last_accessed_at FROM node n
   WHERE n.workspace_id = %(workspace_id)s AND n.state = 'active' AND n.label = 'Document'
     AND n.kind IS NULL AND n.recorded_at < %(knowledge)s
     AND (n.recorded_at, n.id) > (%(after_at)s, %(after_id)s)
   ORDER BY n.recorded_at, n.id LIMIT %(limit)s
), in_use AS MATERIALIZED (
  SELECT DISTINCT coalesce(n.document_id, n.id) AS id
    FROM search_run r CROSS JOIN LATERAL unnest(r.returned) AS used (id)
    JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = used.id
   WHERE r.workspace_id = %(workspace_id)s AND r.counted_position IS NULL AND r.counts_as_access
)
SELECT (SELECT ARRAY[l.recorded_at::text, l.id::text] FROM looked_at l
         ORDER BY l.recorded_at DESC, l.id DESC LIMIT 1),
  (SELECT coalesce(array_agg(l.id ORDER BY l.recorded_at, l.id), '{}') FROM looked_at l
    WHERE coalesce(l.last_accessed_at, l.recorded_at) < %(knowledge)s
      AND NOT EXISTS (SELECT FROM node p
        WHERE p.workspace_id = %(workspace_id)s AND p.document_id = l.id
          AND greatest(p.last_accessed_at, p.recorded_at) >= %(knowledge)s)
      AND NOT EXISTS (SELECT FROM ingestion i
        WHERE i.workspace_id = %(workspace_id)s AND i.document_id = l.id
          AND i.created_at >= %(knowledge)s)
      AND NOT EXISTS (SELECT FROM in_use u WHERE u.id = l.id))

-- name: deleted
-- What was deleted long ago: where the page ends, and all of it.
WITH looked_at AS MATERIALIZED (
  SELECT n.id, n.deleted_at FROM node n
   WHERE n.workspace_id = %(workspace_id)s AND n.state = 'deleted' AND n.deleted_at < %(deleted)s
     AND (n.deleted_at, n.id) > (%(after_at)s, %(after_id)s)
   ORDER BY n.deleted_at, n.id LIMIT %(limit)s
)
SELECT (SELECT ARRAY[l.deleted_at::text, l.id::text] FROM looked_at l
         ORDER BY l.deleted_at DESC, l.id DESC LIMIT 1),
  (SELECT coalesce(array_agg(l.id ORDER BY l.deleted_at, l.id), '{}') FROM looked_at l)

-- name: expired
-- What lasted for a time that is over, versions that were replaced included.
SELECT n.id FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.expires_at <= %(now)s
 ORDER BY n.expires_at, n.id LIMIT %(limit)s

-- name: document_parts
-- The active parts of a document, its own row last.
SELECT n.id FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.state = 'active'
   AND (n.document_id = %(document_id)s OR n.id = %(document_id)s)
 ORDER BY n.id = %(document_id)s, n.ordinal, n.id LIMIT %(limit)s

-- name: entities
-- Entities in the order they were made: where the page ends, and those nothing refers to.
WITH looked_at AS MATERIALIZED (
  SELECT n.id, n.created_position, n.recorded_at, n.state, n.superseded_by FROM node n
   WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Entity'
     AND (n.created_position, n.id) > (%(after)s, %(after_id)s)
   ORDER BY n.created_position, n.id LIMIT %(limit)s
)
SELECT (SELECT ARRAY[l.created_position::text, l.id::text] FROM looked_at l
         ORDER BY l.created_position DESC, l.id DESC LIMIT 1),
  (SELECT coalesce(array_agg(l.id ORDER BY l.created_position, l.id), '{}') FROM looked_at l
    WHERE l.recorded_at < %(before)s AND l.state <> 'deleted'
      AND EXISTS (SELECT FROM ledger e
        WHERE e.workspace_id = %(workspace_id)s AND e.position = l.created_position
          AND e.type NOT IN ('node.written', 'entity.split'))
      AND NOT EXISTS (SELECT FROM node s
        WHERE s.workspace_id = %(workspace_id)s AND s.id = l.superseded_by)
      AND NOT EXISTS (SELECT FROM edge r
         JOIN node s ON s.workspace_id = %(workspace_id)s AND s.id = r.source_id
        WHERE r.workspace_id = %(workspace_id)s AND r.target_id = l.id AND r.superseded_at IS NULL
          AND (s.label <> 'Entity' OR r.view <> 'entity'))
      AND NOT EXISTS (SELECT FROM edge r
         JOIN node t ON t.workspace_id = %(workspace_id)s AND t.id = r.target_id
        WHERE r.workspace_id = %(workspace_id)s AND r.source_id = l.id AND r.superseded_at IS NULL
          AND (t.label <> 'Entity' OR r.view <> 'entity')))

-- name: archived
-- What of the used nodes is archived, documents whole; of twins the youngest, if none is active. What
-- a person archived, or a forgetting, does not come back by being found.
WITH used AS MATERIALIZED (
  SELECT n.id, n.document_id, n.state FROM node n
   WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(used)s)
), wanted AS MATERIALIZED (
  SELECT u.id FROM used u WHERE u.state = 'archived'
   UNION
  SELECT d.document_id FROM used d WHERE d.document_id IS NOT NULL
   UNION
  SELECT p.id FROM (SELECT DISTINCT coalesce(u.document_id, u.id) AS id FROM used u) AS d
    JOIN node p ON p.workspace_id = %(workspace_id)s AND p.document_id = d.id
     AND p.state = 'archived'
)
SELECT n.id FROM wanted w
  JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = w.id
 WHERE n.state = 'archived'
   AND NOT EXISTS (SELECT FROM ledger a
     WHERE a.workspace_id = %(workspace_id)s AND a.type = 'node.archived'
       AND a.meta::jsonb ->> 'rule' IN ('marked', 'forgotten')
       AND a.meta::jsonb -> 'node_ids' ? n.id::text)
   AND NOT EXISTS (SELECT FROM node t
     WHERE t.workspace_id = %(workspace_id)s AND t.dedup_key = n.dedup_key AND t.id <> n.id
       AND (t.state IN ('active', 'provisional') OR t.state = 'archived' AND t.id > n.id))
   AND NOT EXISTS (SELECT FROM node t
     WHERE t.workspace_id = %(workspace_id)s AND t.chain_key = n.chain_key AND t.id <> n.id
       AND (t.state IN ('active', 'provisional') OR t.state = 'archived' AND t.id > n.id))
 ORDER BY n.id
