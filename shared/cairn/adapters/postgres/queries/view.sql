-- name: see_deleted
-- Let the rest of this transaction see soft-deleted rows.
SELECT set_config('cairn.sees_deleted', 'on', true)

-- name: memory
-- One memory.
-- columns: cairn.reading.views.MemoryView but importance_band
SELECT {n.columns}, n.created_position AS position, n.kind AS type,
  coalesce(n.agents, '{}') AS agents,
  (SELECT coalesce(jsonb_agg(DISTINCT jsonb_build_object('name', t.canonical_name, 'type', t.kind)), '[]')
     FROM edge r JOIN node t ON t.workspace_id = %(workspace_id)s AND t.id = r.target_id
    WHERE r.workspace_id = %(workspace_id)s AND r.source_id = n.id AND r.view = 'entity'
      AND r.relation = 'REFERENCES' AND r.superseded_at IS NULL AND t.label = 'Entity'
      AND t.state IN ('active', 'provisional')
      AND (current_agent() IS NULL OR t.agents IS NULL OR current_agent() = ANY (t.agents))
  ) AS entities,
  EXISTS (SELECT FROM embedding e
           WHERE e.workspace_id = %(workspace_id)s AND e.node_id = n.id) AS embedded
  FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.id = %(id)s AND n.label = 'Memory'
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))

-- name: memory_versions
-- What a memory was, and those it is a correction or a merge of, oldest first; nothing when its present
-- row is not to be seen.
-- columns: cairn.reading.views.MemoryView but importance_band
WITH RECURSIVE line (id) AS (
  SELECT %(id)s::uuid
  UNION
  SELECT e.target_id FROM line
    JOIN node m ON m.workspace_id = %(workspace_id)s AND m.id = line.id
     AND m.metadata #> '{cairn,edit}' IS NOT NULL
    JOIN edge e ON e.workspace_id = %(workspace_id)s AND e.source_id = m.id
     AND e.view = 'temporal' AND e.relation = 'SUPERSEDES'
)
SELECT n.from_position, n.to_position, l.recorded_at AS changed_at, l.type AS entry_type, {n.columns}, n.created_position AS position, n.kind AS type,
  coalesce(n.agents, '{}') AS agents,
  (SELECT coalesce(jsonb_agg(DISTINCT jsonb_build_object('name', t.canonical_name, 'type', t.kind)), '[]')
     FROM edge r JOIN node t ON t.workspace_id = %(workspace_id)s AND t.id = r.target_id
    WHERE r.workspace_id = %(workspace_id)s AND r.source_id = n.id AND r.view = 'entity'
      AND r.relation = 'REFERENCES' AND r.superseded_at IS NULL AND t.label = 'Entity'
      AND t.state IN ('active', 'provisional')
      AND (current_agent() IS NULL OR t.agents IS NULL OR current_agent() = ANY (t.agents))
  ) AS entities,
  EXISTS (SELECT FROM embedding e
           WHERE e.workspace_id = %(workspace_id)s AND e.node_id = n.id) AS embedded
  FROM node_version n
  LEFT JOIN ledger l ON l.workspace_id = %(workspace_id)s AND l.position = n.from_position
 WHERE n.workspace_id = %(workspace_id)s AND n.id IN (SELECT id FROM line) AND n.label = 'Memory'
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))
   AND EXISTS (SELECT FROM node present
     WHERE present.workspace_id = %(workspace_id)s AND present.id = %(id)s
       AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(present.agents, '{""}'))))
 ORDER BY n.from_position, n.created_position

-- name: memories
-- Memories, newest first, below a ledger position when asked.
-- columns: cairn.reading.views.MemoryView but importance_band
SELECT {n.columns}, n.created_position AS position, n.kind AS type,
  coalesce(n.agents, '{}') AS agents,
  (SELECT coalesce(jsonb_agg(DISTINCT jsonb_build_object('name', t.canonical_name, 'type', t.kind)), '[]')
     FROM edge r JOIN node t ON t.workspace_id = %(workspace_id)s AND t.id = r.target_id
    WHERE r.workspace_id = %(workspace_id)s AND r.source_id = n.id AND r.view = 'entity'
      AND r.relation = 'REFERENCES' AND r.superseded_at IS NULL AND t.label = 'Entity'
      AND t.state IN ('active', 'provisional')
      AND (current_agent() IS NULL OR t.agents IS NULL OR current_agent() = ANY (t.agents))
  ) AS entities,
  EXISTS (SELECT FROM embedding e
           WHERE e.workspace_id = %(workspace_id)s AND e.node_id = n.id) AS embedded
  FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Memory'
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))
   AND (%(after)s::bigint IS NULL OR n.created_position < %(after)s)
   AND (%(type)s::text IS NULL OR n.kind = %(type)s)
   AND (%(client_id)s::text IS NULL OR n.client_id = %(client_id)s)
   AND (%(key)s::text IS NULL OR n.key = %(key)s)
   AND (%(subject)s::text IS NULL OR n.subject = %(subject)s)
   AND (%(session_id)s::text IS NULL OR n.session_id = %(session_id)s)
   AND (%(state)s::text IS NULL OR n.state = %(state)s)
   AND (%(namespaced)s::boolean IS NULL OR (n.namespace IS NOT NULL) = %(namespaced)s)
   AND (%(occurred_from)s::timestamptz IS NULL OR n.occurred_at >= %(occurred_from)s)
   AND (%(occurred_to)s::timestamptz IS NULL OR n.occurred_at < %(occurred_to)s)
   AND (%(id_prefix)s::text IS NULL OR n.id BETWEEN rpad(%(id_prefix)s, 32, '0')::uuid AND rpad(%(id_prefix)s, 32, 'f')::uuid)
 ORDER BY n.created_position DESC, n.id DESC LIMIT %(limit)s

-- name: memories_found
-- The same of those in a namespace, or whose metadata say something.
-- columns: cairn.reading.views.MemoryView but importance_band
SELECT {n.columns}, n.created_position AS position, n.kind AS type,
  coalesce(n.agents, '{}') AS agents,
  (SELECT coalesce(jsonb_agg(DISTINCT jsonb_build_object('name', t.canonical_name, 'type', t.kind)), '[]')
     FROM edge r JOIN node t ON t.workspace_id = %(workspace_id)s AND t.id = r.target_id
    WHERE r.workspace_id = %(workspace_id)s AND r.source_id = n.id AND r.view = 'entity'
      AND r.relation = 'REFERENCES' AND r.superseded_at IS NULL AND t.label = 'Entity'
      AND t.state IN ('active', 'provisional')
      AND (current_agent() IS NULL OR t.agents IS NULL OR current_agent() = ANY (t.agents))
  ) AS entities,
  EXISTS (SELECT FROM embedding e
           WHERE e.workspace_id = %(workspace_id)s AND e.node_id = n.id) AS embedded
  FROM find_memories(%(namespace)s::text, %(below)s::text, %(matching)s::jsonpath, %(key)s::text, NULL) f
  JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = f.node_id
 WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Memory'
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))
   AND (%(after)s::bigint IS NULL OR n.created_position < %(after)s)
   AND (%(type)s::text IS NULL OR n.kind = %(type)s)
   AND (%(client_id)s::text IS NULL OR n.client_id = %(client_id)s)
   AND (%(key)s::text IS NULL OR n.key = %(key)s)
   AND (%(subject)s::text IS NULL OR n.subject = %(subject)s)
   AND (%(session_id)s::text IS NULL OR n.session_id = %(session_id)s)
   AND (%(state)s::text IS NULL OR n.state = %(state)s)
   AND (%(occurred_from)s::timestamptz IS NULL OR n.occurred_at >= %(occurred_from)s)
   AND (%(occurred_to)s::timestamptz IS NULL OR n.occurred_at < %(occurred_to)s)
   AND (%(id_prefix)s::text IS NULL OR n.id BETWEEN rpad(%(id_prefix)s, 32, '0')::uuid AND rpad(%(id_prefix)s, 32, 'f')::uuid)
 ORDER BY n.created_position DESC, n.id DESC LIMIT %(limit)s

-- name: memories_as_of
-- The same as they were at a ledger position.
-- columns: cairn.reading.views.MemoryView but importance_band
SELECT {n.columns}, n.created_position AS position, n.kind AS type,
  coalesce(n.agents, '{}') AS agents,
  (SELECT coalesce(jsonb_agg(DISTINCT jsonb_build_object('name', t.canonical_name, 'type', t.kind)), '[]')
     FROM edge r JOIN node t ON t.workspace_id = %(workspace_id)s AND t.id = r.target_id
    WHERE r.workspace_id = %(workspace_id)s AND r.source_id = n.id AND r.view = 'entity'
      AND r.relation = 'REFERENCES' AND r.superseded_at IS NULL AND t.label = 'Entity'
      AND t.state IN ('active', 'provisional')
      AND (current_agent() IS NULL OR t.agents IS NULL OR current_agent() = ANY (t.agents))
  ) AS entities,
  EXISTS (SELECT FROM embedding e
           WHERE e.workspace_id = %(workspace_id)s AND e.node_id = n.id) AS embedded
  FROM node_version n
 WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Memory'
   AND n.from_position <= %(as_of)s AND %(as_of)s < coalesce(n.to_position, 9223372036854775807)
   AND (%(namespace)s::text IS NULL OR n.namespace = %(namespace)s)
   AND (%(below)s::text IS NULL OR n.namespace = %(below)s
     OR n.namespace >= %(below)s || '/' AND n.namespace < %(below)s || '0')
   AND (%(matching)s::jsonpath IS NULL OR n.metadata @@ %(matching)s::jsonpath)
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))
   AND (%(after)s::bigint IS NULL OR n.created_position < %(after)s)
   AND (%(type)s::text IS NULL OR n.kind = %(type)s)
   AND (%(client_id)s::text IS NULL OR n.client_id = %(client_id)s)
   AND (%(key)s::text IS NULL OR n.key = %(key)s)
   AND (%(subject)s::text IS NULL OR n.subject = %(subject)s)
   AND (%(session_id)s::text IS NULL OR n.session_id = %(session_id)s)
   AND (%(state)s::text IS NULL OR n.state = %(state)s)
   AND (%(namespaced)s::boolean IS NULL OR (n.namespace IS NOT NULL) = %(namespaced)s)
   AND (%(occurred_from)s::timestamptz IS NULL OR n.occurred_at >= %(occurred_from)s)
   AND (%(occurred_to)s::timestamptz IS NULL OR n.occurred_at < %(occurred_to)s)
   AND (%(id_prefix)s::text IS NULL OR n.id BETWEEN rpad(%(id_prefix)s, 32, '0')::uuid AND rpad(%(id_prefix)s, 32, 'f')::uuid)
 ORDER BY n.created_position DESC, n.id DESC LIMIT %(limit)s

-- name: namespaces
-- Namespaces of active memories, cut to a number of labels; `*` of a pattern stands for any label.
SELECT DISTINCT array_to_string(labels[:coalesce(%(max_depth)s::integer, 20)], '/') COLLATE "C" AS name
  FROM (SELECT n.namespace, string_to_array(n.namespace, '/') AS labels
          FROM find_memories(NULL, %(below)s::text, NULL, NULL, NULL) f
          JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = f.node_id
         WHERE n.namespace IS NOT NULL AND n.state IN ('active', 'provisional')
           AND (%(client_id)s::text IS NULL OR n.client_id = %(client_id)s)) AS named
 WHERE cardinality(labels) >= greatest(cardinality(%(prefix)s::text[]), cardinality(%(suffix)s::text[]))
   AND NOT EXISTS (SELECT FROM unnest(%(prefix)s::text[]) WITH ORDINALITY AS p (label, at)
     WHERE p.label <> '*' AND p.label <> labels[p.at])
   AND NOT EXISTS (SELECT FROM unnest(%(suffix)s::text[]) WITH ORDINALITY AS p (label, at)
     WHERE p.label <> '*'
       AND p.label <> labels[cardinality(labels) - cardinality(%(suffix)s::text[]) + p.at])
 ORDER BY name LIMIT %(limit)s OFFSET %(offset)s

-- name: document
-- One document with its newest ingestion and counts.
SELECT n.id, n.created_position AS position, n.source_uri, n.title, n.metadata, n.client_id, n.scope,
  n.recorded_at, n.state, n.summary, run.id AS ingestion_id, run.status, run.error,
  parts.section_count, parts.chunk_count, parts.embedded_count
  FROM node n
  LEFT JOIN LATERAL (
    SELECT i.id, i.status, i.error FROM ingestion i
     WHERE i.workspace_id = %(workspace_id)s AND i.document_id = n.id
     ORDER BY i.created_at DESC, i.id DESC LIMIT 1) AS run ON true
 CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE p.label = 'Section') AS section_count,
      count(*) FILTER (WHERE p.label = 'Chunk') AS chunk_count,
      count(*) FILTER (WHERE p.label = 'Chunk' AND EXISTS (SELECT FROM embedding e
        WHERE e.workspace_id = %(workspace_id)s AND e.node_id = p.id)) AS embedded_count
      FROM node p
     WHERE p.workspace_id = %(workspace_id)s AND p.document_id = n.id
       AND p.label IN ('Section', 'Chunk') AND p.state = 'active') AS parts
 WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Document'
   AND n.id = %(id)s
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))

-- name: documents
-- Documents, newest first, below a ledger position when asked; of a source, also as citations write it.
SELECT n.id, n.created_position AS position, n.source_uri, n.title, n.metadata, n.client_id, n.scope,
  n.recorded_at, n.state, n.summary, run.id AS ingestion_id, run.status, run.error,
  parts.section_count, parts.chunk_count, parts.embedded_count
  FROM node n
  LEFT JOIN LATERAL (
    SELECT i.id, i.status, i.error FROM ingestion i
     WHERE i.workspace_id = %(workspace_id)s AND i.document_id = n.id
     ORDER BY i.created_at DESC, i.id DESC LIMIT 1) AS run ON true
 CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE p.label = 'Section') AS section_count,
      count(*) FILTER (WHERE p.label = 'Chunk') AS chunk_count,
      count(*) FILTER (WHERE p.label = 'Chunk' AND EXISTS (SELECT FROM embedding e
        WHERE e.workspace_id = %(workspace_id)s AND e.node_id = p.id)) AS embedded_count
      FROM node p
     WHERE p.workspace_id = %(workspace_id)s AND p.document_id = n.id
       AND p.label IN ('Section', 'Chunk') AND p.state = 'active') AS parts
 WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Document'
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))
   AND (%(after)s::bigint IS NULL OR n.created_position < %(after)s)
   AND (%(client_id)s::text IS NULL OR n.client_id = %(client_id)s)
   AND (%(source_uri)s::text IS NULL OR %(source_uri)s
     IN (n.source_uri, btrim(regexp_replace(n.source_uri, '[][#[:space:]]+', ' ', 'g'))))
 ORDER BY n.created_position DESC, n.id DESC LIMIT %(limit)s

-- name: sections
-- A document's sections in order, each with how many chunks it has.
SELECT s.id, s.ordinal, coalesce(s.headings, '{}') AS headings, s.summary,
  (SELECT count(*) FROM node c
    WHERE c.workspace_id = %(workspace_id)s AND c.document_id = s.document_id
      AND c.parent_id = s.id AND c.label = 'Chunk' AND c.state = 'active') AS chunks
  FROM node s
 WHERE s.workspace_id = %(workspace_id)s AND s.document_id = %(id)s AND s.label = 'Section'
   AND s.state = 'active'
 ORDER BY s.ordinal

-- name: ingestion
-- One run of a document through the machine, for who may see the document.
SELECT i.id, i.document_id, i.status, i.created_at, i.updated_at, i.execution, i.counts, i.error,
  (SELECT count(*) FROM node c
    WHERE c.workspace_id = %(workspace_id)s AND c.document_id = i.document_id AND c.label = 'Chunk'
      AND c.state = 'active' AND EXISTS (SELECT FROM embedding e
        WHERE e.workspace_id = %(workspace_id)s AND e.node_id = c.id)) AS embedded
  FROM ingestion i
  JOIN node n ON n.workspace_id = i.workspace_id AND n.id = i.document_id
 WHERE i.workspace_id = %(workspace_id)s AND i.id = %(id)s
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))

-- name: counts
-- What waits and what there is.
SELECT
  (SELECT coalesce(sum(cardinality(o.node_ids)), 0) FROM outbox o
    WHERE o.workspace_id = %(workspace_id)s AND o.topic = 'embed') AS pending_embeddings,
  (SELECT coalesce(sum(cardinality(o.node_ids)), 0) FROM outbox o
    WHERE o.workspace_id = %(workspace_id)s AND o.topic = 'embed' AND o.error IS NOT NULL)
    AS failed_embeddings,
  (SELECT min(o.created_at) FROM outbox o
    WHERE o.workspace_id = %(workspace_id)s AND o.topic = 'embed' AND o.error IS NULL)
    AS oldest_pending_at,
  (SELECT count(*) FROM node n WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Memory'
     AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))) AS memories,
  (SELECT count(*) FROM node n WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Document'
     AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(n.agents, '{""}')))) AS documents,
  (SELECT count(*) FROM intent i WHERE i.workspace_id = %(workspace_id)s AND i.state = 'active'
     AND NOT EXISTS (SELECT 1 FROM intent_network x WHERE x.workspace_id = i.workspace_id
       AND x.intent_id = i.id AND x.removed_at IS NULL)
     AND NOT EXISTS (SELECT 1 FROM network_member nm WHERE nm.workspace_id = i.workspace_id
       AND nm.member_id = i.member_id AND nm.left_at IS NULL AND nm.judge_since IS NOT NULL))
    AS intents_in_no_network,
  ((SELECT count(*) FROM intent i WHERE i.workspace_id = %(workspace_id)s AND i.state = 'active'
     AND i.tries >= 3)
   + (SELECT count(*) FROM opportunity o WHERE o.workspace_id = %(workspace_id)s AND o.tries >= 3
     AND o.state NOT IN ('accepted', 'rejected', 'expired'))
   + (SELECT count(*) FROM negotiation t WHERE t.workspace_id = %(workspace_id)s AND t.tries >= 3
     AND t.state <> 'ended')) AS failing_discovery,
  (SELECT h.position FROM ledger_head h WHERE h.workspace_id = %(workspace_id)s) AS ledger_position
