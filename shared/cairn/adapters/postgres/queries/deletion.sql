-- name: find
-- A workspace, and where its ledger ends.
SELECT w.name, w.deleted_at, h.position, h.hash
  FROM workspace w JOIN ledger_head h ON h.workspace_id = w.id WHERE w.id = %(workspace_id)s

-- name: close
-- Let no key of a workspace in any more.
DELETE FROM api_key WHERE workspace_id = %(workspace_id)s

-- name: subjects
-- Whose keys seal anything of a workspace; its own is under its id.
SELECT %(workspace_id)s::uuid
UNION SELECT unnest(data_subjects) FROM ledger WHERE workspace_id = %(workspace_id)s
UNION SELECT id FROM data_subject WHERE workspace_id = %(workspace_id)s

-- name: tables
-- Every table with rows of workspaces; the catalogue names them, so that none is forgotten.
SELECT format('%I.%I', n.nspname, c.relname) AS place, ARRAY[n.nspname::text, c.relname::text] AS name
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'workspace_id' AND NOT a.attisdropped
 WHERE n.nspname IN ('public', 'replay') AND c.relkind IN ('r', 'p') AND NOT c.relispartition
 ORDER BY 1

-- name: references
-- Which of them refer to which: the rows that refer go first.
SELECT format('%I.%I', n.nspname, c.relname), format('%I.%I', m.nspname, d.relname)
  FROM pg_constraint k
  JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_class d ON d.oid = k.confrelid JOIN pg_namespace m ON m.oid = d.relnamespace
 WHERE k.contype = 'f' AND k.conrelid <> k.confrelid AND k.conparentid = 0

-- name: erase
-- Remove a workspace's rows from a table.
DELETE FROM {table} WHERE workspace_id = %(workspace_id)s

-- name: count
-- How many rows of a workspace a table has.
SELECT count(*) FROM {table} WHERE workspace_id = %(workspace_id)s

-- name: mark
-- Nothing is left of a workspace but its chain.
UPDATE workspace SET name = 'deleted', settings = '{}', deleted_at = %(now)s
 WHERE id = %(workspace_id)s
