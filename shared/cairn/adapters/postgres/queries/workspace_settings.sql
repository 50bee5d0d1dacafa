-- name: stored
-- What the workspace has set, and how often it was changed.
SELECT coalesce(s.document, w.settings) AS document, coalesce(s.version, 0) AS version,
  coalesce(s.position, 0) AS position
  FROM workspace w LEFT JOIN workspace_settings s ON s.workspace_id = w.id
 WHERE w.id = %(workspace_id)s

-- name: put
-- The settings from now on; an older change does nothing.
INSERT INTO workspace_settings (workspace_id, version, document, position)
VALUES (%(workspace_id)s, %(version)s, %(document)s, %(position)s)
ON CONFLICT (workspace_id) DO UPDATE
   SET version = excluded.version, document = excluded.document, position = excluded.position
 WHERE workspace_settings.position < excluded.position
