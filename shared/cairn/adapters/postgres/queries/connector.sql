-- name: add
-- Keep a connector and its state; a name that is taken changes nothing.
WITH made AS (
  INSERT INTO connector (workspace_id, id, name, transport, builtin, command, url, config, secrets,
    secret_names, scopes, autonomy, criticality, revision, created_at, changed_at)
  VALUES (%(workspace_id)s, %(id)s, %(called)s, %(transport)s, %(builtin)s, %(command)s, %(url)s,
    %(config)s, %(secrets)s, %(secret_names)s, %(scopes)s, %(autonomy)s, %(criticality)s,
    %(revision)s, %(created_at)s, %(changed_at)s)
  ON CONFLICT (workspace_id, name) DO NOTHING
  RETURNING workspace_id, id
)
SELECT id FROM made

-- name: add_state
-- The state a new connector begins with.
INSERT INTO connector_state (workspace_id, connector_id) VALUES (%(workspace_id)s, %(id)s)

-- name: change
-- Another shape of a connector; other secrets when there are any.
UPDATE connector SET transport = %(transport)s, builtin = %(builtin)s, command = %(command)s,
  url = %(url)s, config = %(config)s, secrets = coalesce(%(secrets)s, secrets),
  secret_names = %(secret_names)s, scopes = %(scopes)s, autonomy = %(autonomy)s,
  criticality = %(criticality)s, revision = %(revision)s, changed_at = %(changed_at)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: remove
-- A connector leaves with its state, and with what it was signed in by.
WITH signed_out AS (
  DELETE FROM oauth_sign_in s USING connector c
   WHERE c.workspace_id = %(workspace_id)s AND c.name = %(called)s
     AND s.workspace_id = c.workspace_id AND s.holder_id = c.id
)
DELETE FROM connector WHERE workspace_id = %(workspace_id)s AND name = %(called)s

-- name: all
-- Every connector with its state, or the one of a name.
SELECT c.id, c.name, c.transport, c.builtin, c.command, c.url, c.config, c.secret_names, c.scopes,
  c.autonomy, c.criticality, c.revision, c.created_at, c.changed_at, s.state, s.failures, s.error,
  s.detail, s.checked_at, s.manifest_version, s.manifest_hash, s.manifest
  FROM connector c
  JOIN connector_state s ON s.workspace_id = c.workspace_id AND s.connector_id = c.id
 WHERE c.workspace_id = %(workspace_id)s AND (%(called)s::text IS NULL OR c.name = %(called)s)
 ORDER BY c.name

-- name: secrets
-- The sealed secrets of a connector.
SELECT secrets FROM connector WHERE workspace_id = %(workspace_id)s AND name = %(called)s

-- name: hold_health
-- How a connector is, which nobody else changes until the transaction ends.
SELECT state, failures, error, detail, checked_at FROM connector_state
 WHERE workspace_id = %(workspace_id)s AND connector_id = %(id)s FOR UPDATE

-- name: keep_health
-- How a connector is.
UPDATE connector_state SET state = %(state)s, failures = %(failures)s, error = %(error)s,
  detail = %(detail)s, checked_at = %(checked_at)s
 WHERE workspace_id = %(workspace_id)s AND connector_id = %(id)s

-- name: keep_listing
-- What a connector listed; nothing any more when it is NULL.
UPDATE connector_state SET manifest_version = %(version)s, manifest_hash = %(hash)s,
  manifest = %(tools)s
 WHERE workspace_id = %(workspace_id)s AND connector_id = %(id)s

-- name: to_check
-- Connectors of any workspace nobody looked at since a moment.
SELECT workspace_id, name FROM connectors_to_check(%(before)s, %(limit)s)
