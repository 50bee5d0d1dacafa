-- name: known
-- The document of one source and audience, deleted or not.
SELECT id, position, deleted_at, data_subjects, state = 'archived' AS archived FROM node
 WHERE workspace_id = %(workspace_id)s AND dedup_key = %(identity)s AND label = 'Document'
 ORDER BY created_position LIMIT 1

-- name: at
-- Which places have a document, deleted or not.
SELECT source_uri FROM node
 WHERE workspace_id = %(workspace_id)s AND source_uri = ANY (%(source_uris)s) AND label = 'Document'

-- name: visible
-- A document, deleted or not, that the asking agent may see.
SELECT id, position, deleted_at, data_subjects, state = 'archived' OR EXISTS (SELECT FROM node part
     WHERE part.workspace_id = %(workspace_id)s AND part.document_id = %(document_id)s
       AND part.state = 'archived') AS archived
  FROM node
 WHERE workspace_id = %(workspace_id)s AND id = %(document_id)s AND label = 'Document'
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(agents, '{""}')))

-- name: parts
-- The sections and chunks of a document; of a deleted one, those deleted with it.
SELECT part.id, part.label, part.ordinal, part.content_hash, coalesce(part.headings, '{}') AS headings,
  part.parent_id, part.line_from, part.line_to, part.page_from, part.page_to
  FROM node AS part
 WHERE part.workspace_id = %(workspace_id)s AND part.document_id = %(document_id)s
   AND part.label IN ('Section', 'Chunk')
   AND part.deleted_at IS NOT DISTINCT FROM %(deleted_at)s::timestamptz
 ORDER BY part.ordinal, part.id

-- name: edges
-- The edges that hold now between a document's parts.
SELECT e.id, e.relation, e.source_id, e.target_id
  FROM edge e JOIN node n ON n.workspace_id = %(workspace_id)s AND n.id = e.source_id
 WHERE e.workspace_id = %(workspace_id)s AND e.view = 'document' AND e.superseded_at IS NULL
   AND n.document_id = %(document_id)s
