-- name: columns
-- Every column of every table there is, whether it may be read, and where a row says its workspace.
SELECT s.nspname AS schema, c.relname AS table, a.attname AS name, t.typname AS type,
  has_column_privilege(c.oid, a.attnum, 'SELECT') AS readable,
  EXISTS (SELECT FROM pg_attribute w
    WHERE w.attrelid = c.oid AND w.attname = 'workspace_id' AND NOT w.attisdropped) AS by_workspace
  FROM pg_class c
  JOIN pg_namespace s ON s.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_type t ON t.oid = a.atttypid
 WHERE c.relkind IN ('r', 'p', 'm') AND NOT c.relispartition
   AND s.nspname !~ '^pg_' AND s.nspname <> 'information_schema' AND c.relname !~ '^_?yoyo'
   AND has_schema_privilege(s.oid, 'USAGE')
 ORDER BY 1, 2, a.attnum

-- name: rows
-- How many rows of the workspace a table has, and in how many each column has what is looked for.
SELECT count(*), {counts} FROM {table} AS t WHERE {workspace}

-- name: in_text
-- One column of texts, JSON or lists, compared without regard to case.
count(*) FILTER (WHERE EXISTS (SELECT FROM unnest(%(texts)s::text[]) AS x
  WHERE position(x IN lower(t.{column}::text)) > 0))

-- name: in_bytes
-- One column of bytes.
count(*) FILTER (WHERE EXISTS (SELECT FROM unnest(%(bytes)s::bytea[]) AS x
  WHERE position(x IN t.{column}) > 0))

-- name: in_id
-- One column of ids.
count(*) FILTER (WHERE t.{column} = ANY (%(ids)s::uuid[]))

-- name: in_ids
-- One column of lists of ids.
count(*) FILTER (WHERE t.{column} && %(ids)s::uuid[])

-- name: purged
-- The nodes a forgetting purged.
SELECT jsonb_array_elements_text(meta::jsonb -> 'node_ids')::uuid FROM ledger
 WHERE workspace_id = %(workspace_id)s AND type IN ('subject.forgotten', 'source.forgotten')
   AND meta::jsonb ->> 'forgetting_id' = %(id)s::text

-- name: texts
-- Some texts of nodes, to choose words from.
SELECT concat_ws(' ', title, text) FROM node
 WHERE workspace_id = %(workspace_id)s AND id = ANY (%(ids)s) ORDER BY id LIMIT 200

-- name: distinctive
-- Those of the words that no other node's text has, nor a type of entries; entities are named after
-- texts.
SELECT word FROM unnest(%(words)s::text[]) AS word
 WHERE NOT EXISTS (SELECT FROM node n
   WHERE n.workspace_id = %(workspace_id)s AND n.id <> ALL (%(ids)s) AND n.label <> 'Entity'
     AND position(lower(word) IN lower(concat_ws(' ', n.title, n.text))) > 0)
   AND NOT EXISTS (SELECT FROM ledger l
     WHERE l.workspace_id = %(workspace_id)s AND position(lower(word) IN l.type) > 0)
