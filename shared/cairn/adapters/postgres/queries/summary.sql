-- name: sessions
-- The next sessions with sources: who they are for, how many sources, and what these are. The
-- exclusive or of hashes is `consolidation.episodes.fingerprint`. OFFSET 0: a session at a time, by the
-- index, instead of reading all nodes for each page.
WITH page AS (
  SELECT DISTINCT n.session_id FROM node n
   WHERE n.workspace_id = %(workspace_id)s AND n.session_id > %(after)s
     AND n.label IN ('Event', 'Memory', 'Message') AND n.conversation_id IS NULL
     AND n.state IN ('active', 'provisional', 'expired', 'archived')
   ORDER BY n.session_id LIMIT %(limit)s
)
SELECT n.client_id, n.scope, n.agents, n.data_subjects, n.session_id, NULL::text AS trace_id,
  NULL::text AS agent, CASE n.label WHEN 'Message' THEN n.parent_id END AS conversation_id,
  count(*) AS sources,
  bit_xor(('x' || left(md5(n.id::text || ':' || n.content_hash), 16))::bit(64)::bigint) AS mixed
  FROM page
 CROSS JOIN LATERAL (
   SELECT n.id, n.client_id, n.scope, n.agents, n.data_subjects, n.session_id, n.trace_id, n.label,
     n.parent_id, n.content_hash FROM node n
    WHERE n.workspace_id = %(workspace_id)s AND n.session_id = page.session_id
      AND n.label IN ('Event', 'Memory', 'Message') AND n.conversation_id IS NULL
      AND n.state IN ('active', 'provisional', 'expired', 'archived')
   OFFSET 0) AS n
 GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
 ORDER BY n.session_id, 8, 2, 3, 4, 1

-- name: traces
-- The same of the next traces with events of no session.
WITH page AS (
  SELECT DISTINCT n.trace_id FROM node n
   WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Event' AND n.trace_id > %(after)s
     AND n.session_id IS NULL AND n.state IN ('active', 'provisional', 'expired', 'archived')
   ORDER BY n.trace_id LIMIT %(limit)s
)
SELECT n.client_id, n.scope, n.agents, n.data_subjects, NULL::text AS session_id, n.trace_id,
  NULL::text AS agent, NULL::uuid AS conversation_id, count(*) AS sources,
  bit_xor(('x' || left(md5(n.id::text || ':' || n.content_hash), 16))::bit(64)::bigint) AS mixed
  FROM page
 CROSS JOIN LATERAL (
   SELECT n.id, n.client_id, n.scope, n.agents, n.data_subjects, n.session_id, n.trace_id, n.label,
     n.parent_id, n.content_hash FROM node n
    WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Event' AND n.trace_id = page.trace_id
      AND n.session_id IS NULL AND n.state IN ('active', 'provisional', 'expired', 'archived')
   OFFSET 0) AS n
 GROUP BY 1, 2, 3, 4, 6
 ORDER BY n.trace_id, 2, 3, 4, 1

-- name: agents
-- The same of the next agents that have a part in sessions, or in traces without one; these count as
-- changed when anything below them is.
WITH part AS (
  SELECT n.client_id, n.scope, n.agents, n.data_subjects, said.agent, n.id, n.metadata ->> 'covers' AS covers
    FROM node n CROSS JOIN LATERAL unnest(n.observed_by) AS said (agent)
   WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Summary' AND n.metadata ? 'made_of'
     AND (n.kind = 'session' OR n.kind = 'episode' AND n.session_id IS NULL)
     AND n.state IN ('active', 'provisional', 'expired', 'archived')
     AND said.agent > %(after)s
), page AS (
  SELECT DISTINCT agent FROM part ORDER BY agent LIMIT %(limit)s
)
SELECT p.client_id, p.scope, p.agents, p.data_subjects, NULL::text AS session_id,
  NULL::text AS trace_id, p.agent, NULL::uuid AS conversation_id, count(*) AS sources,
  bit_xor(('x' || left(md5(p.id::text || ':' || p.covers), 16))::bit(64)::bigint) AS mixed
  FROM part p JOIN page ON page.agent = p.agent
 GROUP BY 1, 2, 3, 4, 7
 ORDER BY p.agent, 2, 3, 4, 1

-- name: session_sources
-- What happened in a session, for one audience, behind a place.
SELECT n.id, left(n.text, %(characters)s) AS text, n.content_hash, n.occurred_at,
  coalesce(n.sequence, -1) AS sequence, n.trace_id, n.source_agent, n.importance
  FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.session_id = %(session_id)s
   AND n.label IN ('Event', 'Memory', 'Message') AND n.conversation_id IS NULL
   AND n.state IN ('active', 'provisional', 'expired', 'archived')
   AND n.scope = %(scope)s AND n.agents IS NOT DISTINCT FROM %(agents)s::text[]
   AND n.data_subjects = %(data_subjects)s::uuid[] AND n.client_id = %(client_id)s
   AND CASE n.label WHEN 'Message' THEN n.parent_id END IS NOT DISTINCT FROM %(conversation_id)s::uuid
   AND (%(id)s::uuid IS NULL OR (coalesce(n.trace_id, ''), n.occurred_at, coalesce(n.sequence, -1), n.id)
     > (%(trace)s::text, %(moment)s::timestamptz, %(sequence)s::bigint, %(id)s::uuid))
 ORDER BY coalesce(n.trace_id, ''), n.occurred_at, coalesce(n.sequence, -1), n.id LIMIT %(limit)s

-- name: trace_sources
-- What happened in a trace outside any session, for one audience, behind a place.
SELECT n.id, left(n.text, %(characters)s) AS text, n.content_hash, n.occurred_at,
  coalesce(n.sequence, -1) AS sequence, n.trace_id, n.source_agent, n.importance
  FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Event' AND n.trace_id = %(trace_id)s
   AND n.session_id IS NULL AND n.state IN ('active', 'provisional', 'expired', 'archived')
   AND n.scope = %(scope)s AND n.agents IS NOT DISTINCT FROM %(agents)s::text[]
   AND n.data_subjects = %(data_subjects)s::uuid[] AND n.client_id = %(client_id)s
   AND (%(id)s::uuid IS NULL OR (n.occurred_at, coalesce(n.sequence, -1), n.id)
     > (%(moment)s::timestamptz, %(sequence)s::bigint, %(id)s::uuid))
 ORDER BY n.occurred_at, coalesce(n.sequence, -1), n.id LIMIT %(limit)s

-- name: session_children
-- The newest episodes of a session, for one audience.
SELECT n.id, n.text, n.content_hash, n.occurred_at, n.observed_by, n.importance, n.metadata
  FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.session_id = %(session_id)s AND n.label = 'Summary' AND n.metadata ? 'made_of'
   AND n.kind = 'episode' AND n.state IN ('active', 'provisional', 'expired', 'archived')
   AND n.scope = %(scope)s AND n.agents IS NOT DISTINCT FROM %(agents)s::text[]
   AND n.data_subjects = %(data_subjects)s::uuid[] AND n.client_id = %(client_id)s
   AND n.parent_id IS NOT DISTINCT FROM %(conversation_id)s::uuid
 ORDER BY n.occurred_at DESC, n.id DESC LIMIT %(limit)s

-- name: agent_children
-- The newest sessions, and traces without one, that an agent has a part in, for one audience.
SELECT n.id, n.text, n.content_hash, n.occurred_at, n.observed_by, n.importance, n.metadata
  FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Summary' AND n.metadata ? 'made_of'
   AND (n.kind = 'session' OR n.kind = 'episode' AND n.session_id IS NULL)
   AND n.state IN ('active', 'provisional', 'expired', 'archived')
   AND %(agent)s = ANY (n.observed_by)
   AND n.scope = %(scope)s AND n.agents IS NOT DISTINCT FROM %(agents)s::text[]
   AND n.data_subjects = %(data_subjects)s::uuid[] AND n.client_id = %(client_id)s
 ORDER BY n.occurred_at DESC, n.id DESC LIMIT %(limit)s

-- name: of_session
-- The summaries of a session, for one audience.
SELECT n.id, n.kind, n.state, n.metadata FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.session_id = %(session_id)s AND n.label = 'Summary' AND n.metadata ? 'made_of'
   AND n.kind IN ('episode', 'session') AND n.state <> 'deleted'
   AND n.scope = %(scope)s AND n.agents IS NOT DISTINCT FROM %(agents)s::text[]
   AND n.data_subjects = %(data_subjects)s::uuid[] AND n.client_id = %(client_id)s
   AND n.parent_id IS NOT DISTINCT FROM %(conversation_id)s::uuid

-- name: of_trace
-- The summaries of a trace outside any session, for one audience.
SELECT n.id, n.kind, n.state, n.metadata FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.trace_id = %(trace_id)s AND n.label = 'Summary' AND n.metadata ? 'made_of'
   AND n.session_id IS NULL AND n.kind = 'episode' AND n.state <> 'deleted'
   AND n.scope = %(scope)s AND n.agents IS NOT DISTINCT FROM %(agents)s::text[]
   AND n.data_subjects = %(data_subjects)s::uuid[] AND n.client_id = %(client_id)s

-- name: summed_up
-- Those of the sessions that have any summary.
SELECT DISTINCT n.session_id FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.session_id = ANY (%(sessions)s)
   AND n.label = 'Summary' AND n.metadata ? 'made_of' AND n.state <> 'deleted'

-- name: stored
-- Summaries as they stand, deleted ones too where the transaction sees them.
SELECT n.id, n.kind, n.state, n.metadata FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s) AND n.label = 'Summary' AND n.metadata ? 'made_of'

-- name: orphans
-- Summaries of one kind none of whose sources may be summarised any more.
SELECT n.id FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Summary' AND n.metadata ? 'made_of' AND n.kind = %(kind)s
   AND n.id > %(after)s AND n.state IN ('active', 'provisional', 'expired', 'archived')
   AND NOT EXISTS (
     SELECT FROM edge e
       JOIN node s ON s.workspace_id = %(workspace_id)s AND s.id = e.target_id
      WHERE e.workspace_id = %(workspace_id)s AND e.source_id = n.id AND e.view = 'hierarchical'
        AND e.relation = 'SUMMARIZES' AND e.superseded_at IS NULL
        AND s.state IN ('active', 'provisional', 'expired', 'archived'))
 ORDER BY n.id LIMIT %(limit)s

-- name: contents
-- The content hashes of nodes that may be summarised now.
SELECT n.id, n.content_hash FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s)
   AND n.state IN ('active', 'provisional', 'expired', 'archived')

-- name: edges
-- The open edges from derived nodes to what they are made of.
SELECT e.id, e.relation, e.source_id, e.target_id FROM edge e
 WHERE e.workspace_id = %(workspace_id)s AND e.source_id = ANY (%(ids)s)
   AND (e.view, e.relation) IN (('hierarchical', 'SUMMARIZES'), ('provenance', 'DERIVED_FROM'))
   AND e.superseded_at IS NULL
 ORDER BY e.id

-- name: entities
-- Entities with what is held true of them, and what the facts of their own audience are now.
SELECT n.id, n.data_subjects, n.metadata, n.compiled_truth, facts.sources, facts.mixed
  FROM node n
 CROSS JOIN LATERAL (
   SELECT count(*) AS sources,
     coalesce(bit_xor(('x' || left(md5(f.id::text || ':' || f.content_hash), 16))::bit(64)::bigint), 0)
       AS mixed
     FROM edge r
     JOIN node f ON f.workspace_id = %(workspace_id)s AND f.id = r.source_id
    WHERE r.workspace_id = %(workspace_id)s AND r.target_id = n.id AND r.view = 'entity'
      AND r.relation = 'REFERENCES' AND r.superseded_at IS NULL
      AND r.properties ->> 'role' IS DISTINCT FROM 'source'
      AND f.label = 'Memory' AND f.kind IN ('fact', 'status') AND f.state IN ('active', 'provisional')
      AND (f.conversation_id IS NULL OR f.scope = 'admin')
      AND f.scope = n.scope AND f.agents IS NOT DISTINCT FROM n.agents
      AND f.data_subjects = n.data_subjects
 ) AS facts
 WHERE n.workspace_id = %(workspace_id)s AND n.label = 'Entity' AND n.id > %(after)s
   AND n.state IN ('active', 'provisional')
   AND (facts.sources > 0 OR n.compiled_truth IS NOT NULL)
 ORDER BY n.id LIMIT %(limit)s

-- name: entity
-- One entity and what is held true of it.
SELECT n.id, n.data_subjects, n.metadata, n.compiled_truth, 0 AS sources, 0 AS mixed FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.id = %(id)s AND n.label = 'Entity'
   AND n.state IN ('active', 'provisional')

-- name: facts
-- What refers to an entity in its own audience, the most important first, then the latest.
SELECT f.id, left(f.text, %(characters)s) AS text, f.content_hash, f.valid_from AS occurred_at,
  coalesce(f.sequence, -1) AS sequence, NULL::text AS trace_id, f.source_agent, f.importance
  FROM node n
  JOIN edge r ON r.workspace_id = %(workspace_id)s AND r.target_id = n.id AND r.view = 'entity'
   AND r.relation = 'REFERENCES' AND r.superseded_at IS NULL
   AND r.properties ->> 'role' IS DISTINCT FROM 'source'
  JOIN node f ON f.workspace_id = %(workspace_id)s AND f.id = r.source_id
   AND f.label = 'Memory' AND f.kind IN ('fact', 'status') AND f.state IN ('active', 'provisional')
   AND (f.conversation_id IS NULL OR f.scope = 'admin')
   AND f.scope = n.scope AND f.agents IS NOT DISTINCT FROM n.agents
   AND f.data_subjects = n.data_subjects
 WHERE n.workspace_id = %(workspace_id)s AND n.id = %(id)s
 ORDER BY f.importance DESC, f.valid_from DESC, f.id DESC LIMIT %(limit)s

-- name: undescribed
-- Stored documents or sections whose summary is not one of what they are now.
SELECT n.id, n.label, n.document_id, n.data_subjects, n.content_hash, n.metadata FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.label = %(label)s AND n.id > %(after)s
   AND n.state IN ('active', 'provisional') AND n.document_id IS NOT NULL AND n.content_hash <> ''
   AND n.metadata #>> '{cairn,summary,covers}' IS DISTINCT FROM %(covering)s || n.content_hash
 ORDER BY n.id LIMIT %(limit)s

-- name: described_parts
-- Documents and sections that are there.
SELECT n.id, n.label, n.document_id, n.data_subjects, n.content_hash, n.metadata FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.id = ANY (%(ids)s)
   AND n.label IN ('Document', 'Section') AND n.document_id IS NOT NULL
   AND n.state IN ('active', 'provisional')

-- name: part_tokens
-- How long the chunks of a document, or of one of its sections, are together.
SELECT coalesce(sum(n.token_count), 0)::bigint FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.document_id = %(document_id)s
   AND (%(section_id)s::uuid IS NULL OR n.parent_id = %(section_id)s)
   AND n.label = 'Chunk' AND n.state IN ('active', 'provisional')

-- name: section_texts
-- The chunks of a section.
SELECT left(n.text, %(characters)s) FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.document_id = %(document_id)s
   AND n.parent_id = %(id)s AND n.label = 'Chunk' AND n.state IN ('active', 'provisional')
 ORDER BY n.ordinal, n.id LIMIT %(limit)s

-- name: document_texts
-- The summaries of a document's sections.
SELECT left(n.summary, %(characters)s) FROM node n
 WHERE n.workspace_id = %(workspace_id)s AND n.document_id = %(document_id)s
   AND n.label = 'Section' AND n.summary <> '' AND n.state IN ('active', 'provisional')
 ORDER BY n.ordinal, n.id LIMIT %(limit)s
