-- Connectors that agents act through, and webhooks that are told of what happens. Configuration and run
-- state, no projections: the ledger says what was made, changed, removed and seen; secrets stand here
-- only, sealed.
-- depends: 0054.tickets
-- squashes: 0044.allowances

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
  -- the transitions stand in connectors/lifecycle.py
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

CREATE TABLE webhook (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  url text NOT NULL CHECK (length(url) <= 2048),
  events text[] NOT NULL CHECK (cardinality(events) > 0),
  secret bytea NOT NULL, -- sealed under the workspace's own key
  created_at timestamptz NOT NULL,
  disabled_at timestamptz, -- its receiver said that it is gone
  PRIMARY KEY (workspace_id, id)
);

CREATE TABLE webhook_delivery (
  workspace_id uuid NOT NULL,
  id uuid NOT NULL,
  webhook_id uuid NOT NULL,
  event text NOT NULL,
  entry_id uuid NOT NULL,
  position bigint NOT NULL,
  occurred_at timestamptz NOT NULL,
  data jsonb NOT NULL, -- ids, kinds and counts, never texts
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'delivered', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  status integer, -- of the last answer
  error text, -- why the last try failed: a code
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, webhook_id) REFERENCES webhook (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX webhook_delivery_newest ON webhook_delivery (workspace_id, webhook_id, id);
CREATE INDEX webhook_delivery_updated_at ON webhook_delivery (updated_at);

-- Deliveries of every workspace that ended before a moment, the oldest first, at most `most`.
CREATE FUNCTION drop_webhook_deliveries(before timestamptz, most integer) RETURNS bigint
  LANGUAGE sql VOLATILE STRICT SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
  WITH due AS (
    SELECT d.workspace_id, d.id FROM webhook_delivery d
     WHERE d.updated_at < least(before, now() - interval '1 day') AND d.state <> 'waiting'
     ORDER BY d.updated_at LIMIT most
  ), gone AS (
    DELETE FROM webhook_delivery d USING due
     WHERE d.workspace_id = due.workspace_id AND d.id = due.id RETURNING 1
  )
  SELECT count(*) FROM gone
$$;
