-- name: around
-- A caller's query: each row as JSON text, cut by the server where all rows together exceed {cut} bytes, and their bytes so far; {row} is a name the caller cannot guess.
SELECT left(said, greatest({cut} - (size - octet_length(said)), 0)::integer), size
FROM (
SELECT said, sum(octet_length(said)) OVER (ROWS UNBOUNDED PRECEDING) AS size
FROM (
SELECT row_to_json({row})::text AS said FROM (
{query}
) AS {row}
) AS whole
) AS counted

-- name: outside
-- A table outside the granted schemas that the role may read, or a role it can become, if there is one.
SELECT names.nspname::text, things.relname::text
FROM pg_class AS things JOIN pg_namespace AS names ON names.oid = things.relnamespace
WHERE things.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND names.nspname <> ALL (%(system)s) AND NOT starts_with(names.nspname, 'pg_')
  AND names.nspname <> ALL (%(schemas)s)
  AND EXISTS (
    SELECT FROM pg_roles AS become
    WHERE pg_has_role(become.oid, 'MEMBER')
      AND has_schema_privilege(become.oid, names.oid, 'USAGE')
      AND (has_table_privilege(become.oid, things.oid, 'SELECT')
        OR has_any_column_privilege(become.oid, things.oid, 'SELECT')))
LIMIT 1

-- name: tables
-- Tables and views of the granted schemas that the role may read, by name.
SELECT names.nspname::text, things.relname::text, things.relkind::text
FROM pg_class AS things JOIN pg_namespace AS names ON names.oid = things.relnamespace
WHERE things.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND names.nspname = ANY (%(schemas)s)
  AND has_schema_privilege(names.oid, 'USAGE')
  AND (has_table_privilege(things.oid, 'SELECT') OR has_any_column_privilege(things.oid, 'SELECT'))
  AND (%(part)s::text IS NULL OR position(lower(%(part)s) IN lower(things.relname)) > 0)
ORDER BY 1, 2 LIMIT %(limit)s

-- name: columns
-- Columns of a table that the role may read, in the table's order.
SELECT columns.attname::text, format_type(columns.atttypid, columns.atttypmod),
  columns.attnotnull, col_description(things.oid, columns.attnum)
FROM pg_attribute AS columns
  JOIN pg_class AS things ON things.oid = columns.attrelid
  JOIN pg_namespace AS names ON names.oid = things.relnamespace
WHERE names.nspname = %(schema)s AND things.relname = %(table)s
  AND things.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND columns.attnum > 0 AND NOT columns.attisdropped
  AND has_column_privilege(things.oid, columns.attnum, 'SELECT')
ORDER BY columns.attnum
