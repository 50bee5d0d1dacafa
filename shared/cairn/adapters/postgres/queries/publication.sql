-- name: workspace_of
-- Whose an address is; of any workspace.
SELECT workspace_of_publication(%(site)s, %(name)s)

-- name: source
-- What may be published: a report or a document that is in use.
SELECT id, coalesce(title, source_uri, '') AS title, text, data_subjects FROM node
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND label = %(label)s
   AND state IN ('active', 'provisional')
   AND (current_agent() IS NULL OR current_agent() = ANY (coalesce(agents, '{""}')))

-- name: parts
-- The sections and chunks of a document, as they stand in it.
SELECT part.id, part.label, part.text, coalesce(part.headings, '{}') AS headings, part.data_subjects,
  part.state = 'quarantined' AS held_back
  FROM node AS part
  LEFT JOIN node AS section ON section.workspace_id = part.workspace_id AND section.id = part.parent_id
   AND section.label = 'Section'
 WHERE part.workspace_id = %(workspace_id)s AND part.document_id = %(id)s
   AND part.label IN ('Section', 'Chunk') AND part.deleted_at IS NULL
 ORDER BY coalesce(section.ordinal, part.ordinal), section.id IS NOT NULL, part.ordinal, part.id

-- name: count
-- How many publications the workspace has.
SELECT count(*)::integer FROM publication
 WHERE workspace_id = %(workspace_id)s AND state <> 'withdrawn'

-- name: is_taken
-- Whether an address leads somewhere.
SELECT EXISTS (SELECT FROM publication
  WHERE workspace_id = %(workspace_id)s AND site = %(site)s AND name = %(slug)s AND state = 'public')

-- name: add
-- A publication whose files are being stored.
INSERT INTO publication (workspace_id, id, site, name, state, kind, title, node_id, shown,
  data_subjects, files, published_by, published_at)
VALUES (%(workspace_id)s, %(id)s, %(site)s, %(name)s, 'pending', %(kind)s, %(title)s, %(node_id)s,
  %(shown)s, %(data_subjects)s, %(files)s, %(published_by)s, %(published_at)s)

-- name: show
-- Let everybody read what is stored; nothing when it went meanwhile.
UPDATE publication SET state = 'public'
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = 'pending'

-- name: withdraw
-- Let nobody read it any more.
UPDATE publication SET state = 'withdrawn'
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = 'public'

-- name: give_up
-- A publication that will not be stored.
UPDATE publication SET state = 'withdrawn'
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = 'pending'

-- name: left_over
-- What is not public and whose files are to be removed: withdrawn, or given up while they were stored.
SELECT id FROM publication
 WHERE workspace_id = %(workspace_id)s
   AND (state = 'withdrawn' OR state = 'pending' AND published_at < %(before)s)
 ORDER BY id LIMIT 20

-- name: remove
-- The row of a publication whose files are gone.
DELETE FROM publication WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND state = 'withdrawn'

-- name: list
-- What is public, newest first.
SELECT p.id, p.site, p.name, p.kind, p.title, p.node_id, p.files, p.published_by, p.published_at,
  p.node_id IS NULL OR EXISTS (SELECT FROM node n WHERE n.workspace_id = p.workspace_id
      AND n.id = p.node_id AND n.state IN ('active', 'provisional'))
    AND NOT EXISTS (SELECT FROM node n WHERE n.workspace_id = p.workspace_id
      AND n.id = ANY (p.shown) AND n.state = 'quarantined') AS is_served
  FROM publication p
 WHERE p.workspace_id = %(workspace_id)s AND p.state = 'public'
 ORDER BY p.published_at DESC, p.id DESC

-- name: served
-- What an address leads to, unless what it shows was deleted or is held back.
SELECT p.id, p.files FROM publication p
 WHERE p.workspace_id = %(workspace_id)s AND p.site = %(site)s AND p.name = %(slug)s
   AND p.state = 'public'
   AND (p.node_id IS NULL OR EXISTS (SELECT FROM node n WHERE n.workspace_id = p.workspace_id
      AND n.id = p.node_id AND n.state IN ('active', 'provisional'))
    AND NOT EXISTS (SELECT FROM node n WHERE n.workspace_id = p.workspace_id
      AND n.id = ANY (p.shown) AND n.state = 'quarantined'))
