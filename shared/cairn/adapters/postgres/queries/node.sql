-- name: insert
-- Write new nodes; the first position is also the present one.
-- columns: cairn.graph.node.Node but access_count last_accessed_at
INSERT INTO node ({columns}, created_position)
SELECT {columns}, position
  FROM jsonb_populate_recordset(NULL::node, %(rows)s::jsonb)
ON CONFLICT (workspace_id, id) DO NOTHING

-- name: change
-- Change nodes, each by one ledger entry; columns that are null stay, older changes do nothing.
UPDATE node AS n
   SET position = c.position,
       state = CASE WHEN c.revive THEN 'active' ELSE coalesce(c.state, n.state) END,
       deleted_at = CASE WHEN c.revive THEN NULL ELSE coalesce(c.deleted_at, n.deleted_at) END,
       context_text = CASE WHEN c.context_text = '' THEN NULL ELSE coalesce(c.context_text, n.context_text) END,
       occurred_at = coalesce(c.occurred_at, n.occurred_at),
       valid_from = coalesce(c.valid_from, n.valid_from),
       valid_to = CASE WHEN c.revive AND n.superseded_by IS NOT NULL THEN NULL ELSE coalesce(c.valid_to, n.valid_to) END,
       supersedes = coalesce(c.supersedes, n.supersedes),
       superseded_by = CASE WHEN c.revive THEN NULL ELSE coalesce(c.superseded_by, n.superseded_by) END,
       superseded_at = CASE WHEN c.revive THEN NULL ELSE coalesce(c.superseded_at, n.superseded_at) END,
       observed_by = coalesce(c.observed_by, n.observed_by),
       observation_count = coalesce(c.observation_count, n.observation_count),
       text = coalesce(c.text, n.text),
       title = coalesce(c.title, n.title),
       summary = coalesce(c.summary, n.summary),
       metadata = coalesce(c.metadata, n.metadata),
       keywords = coalesce(c.keywords, n.keywords),
       importance = coalesce(c.importance, n.importance),
       compiled_truth = CASE WHEN c.compiled_truth = '' THEN NULL ELSE coalesce(c.compiled_truth, n.compiled_truth) END,
       screening = coalesce(c.screening, n.screening),
       canonical_name = coalesce(c.canonical_name, n.canonical_name),
       headings = coalesce(c.headings, n.headings),
       parent_id = coalesce(c.parent_id, n.parent_id),
       ordinal = coalesce(c.ordinal, n.ordinal),
       line_from = coalesce(c.line_from, n.line_from),
       line_to = coalesce(c.line_to, n.line_to),
       page_from = coalesce(c.page_from, n.page_from),
       page_to = coalesce(c.page_to, n.page_to),
       content_hash = coalesce(c.content_hash, n.content_hash),
       consolidated = coalesce(c.consolidated, n.consolidated),
       knowledge_category = coalesce(c.knowledge_category, n.knowledge_category),
       -- added once: what is at this position already has them
       access_count = n.access_count + CASE WHEN n.position < c.position THEN coalesce(c.accesses, 0) ELSE 0 END,
       last_accessed_at = greatest(n.last_accessed_at, c.last_accessed_at),
       pinned = coalesce(c.pinned, n.pinned),
       never_recall = coalesce(c.never_recall, n.never_recall),
       expires_at = coalesce(c.expires_at, n.expires_at),
       extra_labels = coalesce(c.extra_labels, n.extra_labels)
  FROM jsonb_to_recordset(%(rows)s::jsonb) AS c (
    id uuid, position bigint, state text, occurred_at timestamptz, valid_from timestamptz,
    valid_to timestamptz, screening text, supersedes uuid, superseded_by
    uuid, superseded_at timestamptz, deleted_at timestamptz, observed_by text[],
    observation_count integer, context_text text, text text, title text, summary text, metadata
    jsonb, keywords text[], importance smallint, compiled_truth text, canonical_name text,
    headings text[], parent_id uuid, ordinal integer, line_from integer, line_to integer,
    page_from integer, page_to integer, content_hash text, consolidated boolean,
    knowledge_category text, accesses integer, last_accessed_at timestamptz, pinned boolean,
    never_recall boolean, expires_at timestamptz, extra_labels text[], revive boolean
  )
 WHERE n.workspace_id = %(workspace_id)s AND n.id = c.id AND n.position <= c.position

-- name: describe
-- What was derived of nodes; `change` would index their texts again.
UPDATE node AS n
   SET position = c.position,
       keywords = coalesce(c.keywords, n.keywords),
       importance = coalesce(c.importance, n.importance),
       consolidated = coalesce(c.consolidated, n.consolidated),
       knowledge_category = coalesce(c.knowledge_category, n.knowledge_category),
       metadata = coalesce(c.metadata, n.metadata),
       summary = coalesce(c.summary, n.summary),
       expires_at = coalesce(c.expires_at, n.expires_at),
       extra_labels = coalesce(c.extra_labels, n.extra_labels)
  FROM jsonb_to_recordset(%(rows)s::jsonb) AS c (
    id uuid, position bigint, keywords text[], importance smallint, consolidated boolean,
    knowledge_category text, metadata jsonb, summary text, expires_at timestamptz,
    extra_labels text[]
  )
 WHERE n.workspace_id = %(workspace_id)s AND n.id = c.id AND n.position <= c.position

-- name: mark_versions
-- Let what nodes were be found again, or not, and for how long: a question about the past is one, too.
UPDATE node_version AS v SET never_recall = coalesce(c.never_recall, v.never_recall),
    expires_at = coalesce(c.expires_at, v.expires_at)
  FROM jsonb_to_recordset(%(rows)s::jsonb) AS c (id uuid, never_recall boolean, expires_at timestamptz)
 WHERE v.workspace_id = %(workspace_id)s AND v.id = c.id

-- name: insert_edges
-- Write edges; one that holds already stays as it is.
INSERT INTO edge (
  workspace_id, id, view, relation, source_id, target_id, valid_from, recorded_at, position,
  weight, properties
)
SELECT
  workspace_id, id, view, relation, source_id, target_id, valid_from, recorded_at, position,
  weight, properties
  FROM jsonb_populate_recordset(NULL::edge, %(rows)s::jsonb)
ON CONFLICT DO NOTHING

-- name: close_edges
-- Let edges stop holding on our clock.
UPDATE edge AS e SET superseded_at = c.superseded_at, position = c.position
  FROM jsonb_to_recordset(%(rows)s::jsonb) AS c (id uuid, superseded_at timestamptz, position bigint)
 WHERE e.workspace_id = %(workspace_id)s AND e.id = c.id AND e.superseded_at IS NULL

-- name: strengthen_edges
-- Let edges grow, each once a position; where none holds between two nodes, one is made.
WITH more AS (
  SELECT * FROM jsonb_to_recordset(%(rows)s::jsonb) AS c (
    id uuid, view text, relation text, source_id uuid, target_id uuid, amount double precision,
    recorded_at timestamptz, position bigint)
), grown AS (
  UPDATE edge AS e SET weight = e.weight + m.amount, position = m.position
    FROM more AS m
   WHERE e.workspace_id = %(workspace_id)s AND e.view = m.view AND e.relation = m.relation
     AND e.source_id = m.source_id AND e.target_id = m.target_id AND e.superseded_at IS NULL
     AND e.position < m.position
)
INSERT INTO edge (
  workspace_id, id, view, relation, source_id, target_id, valid_from, recorded_at, position, weight
)
SELECT %(workspace_id)s, m.id, m.view, m.relation, m.source_id, m.target_id, m.recorded_at,
  m.recorded_at, m.position, m.amount
  FROM more AS m
 WHERE NOT EXISTS (SELECT FROM edge AS e
   WHERE e.workspace_id = %(workspace_id)s AND e.view = m.view AND e.relation = m.relation
     AND e.source_id = m.source_id AND e.target_id = m.target_id AND e.superseded_at IS NULL)
ON CONFLICT DO NOTHING

-- name: delete_document
-- Hide a document with its sections and chunks.
UPDATE node SET state = 'deleted', deleted_at = %(deleted_at)s, position = %(position)s
 WHERE workspace_id = %(workspace_id)s AND (document_id = %(document_id)s OR id = %(document_id)s)
   AND state <> 'deleted' AND position <= %(position)s
