-- Sources of knowledge: folders, repositories, sites and buckets that documents are read of.
-- depends: 0096.beside-the-ledger

CREATE TABLE source (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  name text NOT NULL CHECK (length(name) <= 64),
  kind text NOT NULL CHECK (kind IN ('folder', 'git', 'site', 'bucket')),
  config jsonb NOT NULL,
  secrets bytea NOT NULL, -- sealed under the workspace's own key
  client_id text NOT NULL,
  document_scope text NOT NULL,
  data_subjects uuid[] NOT NULL, -- the source itself, and its client
  -- active <-> paused ; either -> removing, whose documents are deleted before it is
  state text NOT NULL CHECK (state IN ('active', 'paused', 'removing')),
  sync_seconds integer NOT NULL CHECK (sync_seconds >= 300),
  max_items integer NOT NULL CHECK (max_items > 0),
  max_bytes bigint NOT NULL CHECK (max_bytes > 0),
  created_at timestamptz NOT NULL,
  next_sync_at timestamptz NOT NULL,
  synced_at timestamptz,
  failures integer NOT NULL DEFAULT 0,
  error text,
  error_detail text,
  -- the run under way, and how far it is; null between two runs
  run_id uuid,
  run_mode text CHECK (run_mode IN ('sync', 'preview', 'remove')),
  run_started_at timestamptz,
  run_cursor text,
  run_report jsonb,
  accept_deletions boolean NOT NULL DEFAULT false,
  -- one worker at a time holds it, and renews this with every page
  lease uuid,
  leased_until timestamptz,
  last_sync jsonb,
  version text, -- of the whole source, when it was last read to its end
  last_preview jsonb,
  PRIMARY KEY (workspace_id, id),
  UNIQUE (workspace_id, name),
  CHECK ((run_id IS NULL) = (run_mode IS NULL) AND (run_id IS NULL) = (run_report IS NULL))
);
CREATE INDEX source_due ON source (next_sync_at) WHERE state = 'active' AND run_id IS NULL;
CREATE INDEX source_running ON source (leased_until) WHERE run_id IS NOT NULL;
CREATE INDEX source_subjects ON source USING gin (data_subjects);

-- What a source held when it was last read, by the name it has there.
CREATE TABLE source_item (
  workspace_id uuid NOT NULL,
  source_id uuid NOT NULL,
  key text NOT NULL CHECK (length(key) <= 1500),
  mark text NOT NULL, -- the reader's own: says whether it changed
  document_id uuid, -- null for what was refused
  bytes bigint NOT NULL DEFAULT 0,
  reason text, -- why it was refused
  seen uuid NOT NULL, -- the run that saw it last
  PRIMARY KEY (workspace_id, source_id, key),
  FOREIGN KEY (workspace_id, source_id) REFERENCES source (workspace_id, id) ON DELETE CASCADE
);
CREATE INDEX source_item_document ON source_item (workspace_id, document_id);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['source', 'source_item'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY migrator ON %I TO cairn_migrator USING (true) WITH CHECK (true)', name);
    EXECUTE format($p$CREATE POLICY tenant ON %I TO cairn_app
      USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
      WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)$p$, name);
    -- where documents come from is no business of a key that is bound to a client
    EXECUTE format('CREATE POLICY no_client ON %I AS RESTRICTIVE TO cairn_app
      USING ((SELECT current_client()) IS NULL)', name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO cairn_app, cairn_migrator', name);
  END LOOP;
END
$$;

GRANT SELECT (workspace_id, id, state, next_sync_at, run_id, leased_until) ON source TO cairn_finder;
CREATE POLICY finder ON source FOR SELECT TO cairn_finder USING (true);

-- The sources of every workspace that are to be read: due, or left behind by a worker.
CREATE FUNCTION knowledge_sources_due(moment timestamptz, most integer)
  RETURNS TABLE (workspace_id uuid, id uuid)
  LANGUAGE sql STABLE STRICT SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
  (SELECT s.workspace_id, s.id FROM source s
    WHERE s.run_id IS NOT NULL AND s.leased_until <= moment ORDER BY s.leased_until LIMIT most)
  UNION ALL
  (SELECT s.workspace_id, s.id FROM source s
    WHERE s.state = 'active' AND s.run_id IS NULL AND s.next_sync_at <= moment
    ORDER BY s.next_sync_at LIMIT most)
$$;
REVOKE ALL ON FUNCTION knowledge_sources_due(timestamptz, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION knowledge_sources_due(timestamptz, integer) TO cairn_app;
GRANT CREATE ON SCHEMA public TO cairn_finder;
ALTER FUNCTION knowledge_sources_due(timestamptz, integer) OWNER TO cairn_finder;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
