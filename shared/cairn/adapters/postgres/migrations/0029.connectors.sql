-- Connectors that agents act through, and how each is. Configuration and run state, no projections:
-- the ledger says what was registered, changed and seen; secrets stand here only, sealed.
-- depends: 0026.replay-sets

CREATE TABLE connector (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  name text NOT NULL CHECK (name ~ '^[a-z][a-z0-9-]{0,39}$'),
  transport text NOT NULL CHECK (transport IN ('stdio', 'http', 'in_process')),
  builtin text,
  command text[] NOT NULL DEFAULT '{}',
  url text CHECK (length(url) <= 2048),
  config json NOT NULL, -- settings in clear
  secrets bytea NOT NULL, -- sealed under the workspace's own key
  secret_names text[] NOT NULL DEFAULT '{}',
  scopes text NOT NULL DEFAULT '',
  autonomy text NOT NULL CHECK (autonomy IN ('off', 'investigate', 'propose', 'act')),
  criticality text NOT NULL CHECK (criticality IN ('skip', 'halt')),
  revision integer NOT NULL DEFAULT 1, -- counts changes of what runs
  created_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, id),
  UNIQUE (workspace_id, name),
  -- exactly one of them says what runs
  CHECK ((builtin IS NOT NULL)::int + (cardinality(command) > 0)::int + (url IS NOT NULL)::int = 1)
);

-- Written by whatever runs the connector, at its calls and at the scheduled check.
CREATE TABLE connector_state (
  workspace_id uuid NOT NULL,
  connector_id uuid NOT NULL,
  -- the transitions stand in mcp_host/lifecycle.py
  state text NOT NULL DEFAULT 'configured' CHECK (state IN ('configured', 'launching', 'ready',
    'busy', 'timeout', 'crashed', 'restarting', 'degraded', 'shutdown')),
  failures timestamptz[] NOT NULL DEFAULT '{}', -- of the last five minutes
  error text, -- a code
  detail text, -- what its process said when it did not start, without secrets
  checked_at timestamptz,
  manifest_version text,
  manifest_hash text,
  manifest json, -- its tools as it listed them; json, not jsonb: the hash is over these very numbers
  PRIMARY KEY (workspace_id, connector_id),
  FOREIGN KEY (workspace_id, connector_id) REFERENCES connector (workspace_id, id)
    ON DELETE CASCADE,
  CHECK ((manifest IS NULL) = (manifest_hash IS NULL)
    AND (manifest IS NULL) = (manifest_version IS NULL))
);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['connector', 'connector_state'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY migrator ON %I TO cairn_migrator USING (true) WITH CHECK (true)', name);
    EXECUTE format($p$CREATE POLICY tenant ON %I TO cairn_app
      USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
      WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)$p$, name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO cairn_app, cairn_migrator', name);
  END LOOP;
END
$$;

-- Connectors of every workspace nobody looked at since a moment, the longest first, at most `most`.
CREATE FUNCTION connectors_to_check(before timestamptz, most integer)
  RETURNS TABLE (workspace_id uuid, name text)
  LANGUAGE sql STABLE STRICT SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT c.workspace_id, c.name
    FROM connector c
    JOIN connector_state s ON s.workspace_id = c.workspace_id AND s.connector_id = c.id
   WHERE c.autonomy <> 'off' AND (s.checked_at IS NULL OR s.checked_at < before)
   ORDER BY s.checked_at NULLS FIRST, c.workspace_id, c.name LIMIT most
$$;

GRANT SELECT (workspace_id, id, name, autonomy) ON connector TO cairn_finder;
GRANT SELECT (workspace_id, connector_id, checked_at) ON connector_state TO cairn_finder;
CREATE POLICY finder ON connector TO cairn_finder USING (true);
CREATE POLICY finder ON connector_state TO cairn_finder USING (true);
GRANT CREATE ON SCHEMA public TO cairn_finder;
REVOKE ALL ON FUNCTION connectors_to_check(timestamptz, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION connectors_to_check(timestamptz, integer) TO cairn_app;
ALTER FUNCTION connectors_to_check(timestamptz, integer) OWNER TO cairn_finder;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
