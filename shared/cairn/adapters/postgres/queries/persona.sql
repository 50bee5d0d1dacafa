-- name: find
-- The present version of a persona.
SELECT id, name, version, instructions, escalation, autonomy, max_tokens, max_usd, max_seconds,
  max_iterations, redaction, changed_at, changed_by, removed
  FROM persona WHERE workspace_id = %(workspace_id)s AND name = %(called)s AND present

-- name: all
-- The present versions of all, by name.
SELECT id, name, version, instructions, escalation, autonomy, max_tokens, max_usd, max_seconds,
  max_iterations, redaction, changed_at, changed_by, removed
  FROM persona WHERE workspace_id = %(workspace_id)s AND present ORDER BY name

-- name: versions
-- Every version of a name, the newest first.
SELECT id, name, version, instructions, escalation, autonomy, max_tokens, max_usd, max_seconds,
  max_iterations, redaction, changed_at, changed_by, removed
  FROM persona WHERE workspace_id = %(workspace_id)s AND name = %(called)s ORDER BY version DESC

-- name: retire
-- What was the present version is so no longer.
UPDATE persona SET present = false
 WHERE workspace_id = %(workspace_id)s AND name = %(called)s AND present

-- name: add
-- Keep a version; it is the present one unless it says that the persona was removed.
INSERT INTO persona (workspace_id, name, version, id, instructions, escalation, autonomy,
  max_tokens, max_usd, max_seconds, max_iterations, redaction, changed_at, changed_by, present,
  removed)
VALUES (%(workspace_id)s, %(called)s, %(version)s, %(id)s, %(instructions)s, %(escalation)s,
  %(autonomy)s, %(max_tokens)s, %(max_usd)s, %(max_seconds)s, %(max_iterations)s, %(redaction)s,
  %(changed_at)s, %(changed_by)s, NOT %(removed)s, %(removed)s)
