-- Who is told of what happens, and what is on its way to them. Configuration, not a projection: the
-- ledger says that a webhook was made or removed, its secret stands here only, sealed.
-- depends: 0014.search-run-retention

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

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['webhook', 'webhook_delivery'] LOOP
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

GRANT SELECT (workspace_id, id, updated_at, state), DELETE ON webhook_delivery TO cairn_finder;
CREATE POLICY finder ON webhook_delivery TO cairn_finder USING (true);
GRANT CREATE ON SCHEMA public TO cairn_finder;
REVOKE ALL ON FUNCTION drop_webhook_deliveries(timestamptz, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drop_webhook_deliveries(timestamptz, integer) TO cairn_app;
ALTER FUNCTION drop_webhook_deliveries(timestamptz, integer) OWNER TO cairn_finder;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
